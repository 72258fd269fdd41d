"""The daemon's components, passed to routes, actions and scheduled jobs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from reverie.time_sorted_and_content_ids import ID_RANDOM_BYTES, new_id
from reverie.usecases.agent_read_versions_and_write_merge import ReadVersions
from reverie.usecases.briefs import BriefCache
from reverie.usecases.counts_of_candidates_waiting_for_review import WaitingCandidates
from reverie.usecases.projections import ProjectListings
from reveried.actions.agent_trust_for_files_written_by_tool_calls import OpenCalls
from reveried.actions.client_hooks import SessionMemory
from reveried.background_working_states import BackgroundState, StateCache
from reveried.mcp.client_identity import McpState
from reveried.session_texts import SessionTexts
from reveried.transcript_follower import Follower

if TYPE_CHECKING:
    from collections.abc import Callable

    from reverie.installation_paths import Layout
    from reverie.redact import Redactor
    from reverie.store import Store
    from reverie.usecases.access_counts import AccessCounts
    from reverie.usecases.fingerprints_of_redacted_values import FingerprintKeeper
    from reverie.usecases.memory_indexes_and_recall import Recall
    from reverie.usecases.nearest import NearestMemories
    from reverie.usecases.redactions import RedactRules
    from reverie.usecases.search_and_save_message_indexes import MessageSearch
    from reveried.commit_worker import Submit, Worker
    from reveried.compute_process import Compute
    from reveried.config import Config
    from reveried.event_wakeups import Events
    from reveried.http.authentication import Caller
    from reveried.http.connection_limits import Admission
    from reveried.http.request_duration_histogram import Metrics
    from reveried.model_transports.redact_and_send_model_requests import Models
    from reveried.scheduler import Scheduler
    from reveried.start_await_and_cancel_background_jobs import Jobs
    from reveried.sync_service import SyncService


@dataclass(frozen=True, slots=True)
class Services:
    """Every component of the process, assembled by `reveried.app`.

    `clock()` returns the time as RFC 3339 UTC with milliseconds, `random(n)` returns n random bytes.
    """

    config: Config
    layout: Layout
    store: Store
    keeper: FingerprintKeeper
    callers: Callable[[str], Caller | None]  # by the hash of a token
    submit: Submit
    worker: Worker
    compute: Compute
    events: Events
    jobs: Jobs
    scheduler: Scheduler
    admission: Admission
    metrics: Metrics
    description: Callable[[], dict[str, Any]]  # openapi.json
    recall: Recall
    nearest: NearestMemories
    messages: MessageSearch
    accesses: AccessCounts
    sync_service: SyncService
    background_state: BackgroundState
    clock: Callable[[], str]
    now_ms: Callable[[], int]  # the same clock, as milliseconds since 1970
    random: Callable[[int], bytes]
    started: float  # monotonic seconds at which the process began
    states: StateCache = field(default_factory=StateCache)
    follower: Follower = field(default_factory=Follower)
    texts: SessionTexts = field(default_factory=SessionTexts)
    briefs: BriefCache = field(default_factory=BriefCache)
    hooks: SessionMemory = field(default_factory=SessionMemory)
    mcp: McpState = field(default_factory=McpState)
    open_calls: OpenCalls = field(default_factory=OpenCalls)
    read_versions: ReadVersions = field(default_factory=ReadVersions)
    project_listings: ProjectListings = field(default_factory=ProjectListings)
    waiting: WaitingCandidates = field(default_factory=WaitingCandidates)
    models: Models | None = None  # None: everything is decided by rule

    @property
    def redactor(self) -> Redactor:
        """The redactor that remembers what it has redacted."""
        return self.keeper.redactor

    @property
    def redact_rules(self) -> RedactRules:
        """What makes a redactor in another process."""
        return self.keeper.rules

    def new_id(self, kind: str) -> str:
        """Return a new id such as `mem_…`, sortable by its time."""
        return new_id(kind, self.now_ms(), self.random(ID_RANDOM_BYTES))
