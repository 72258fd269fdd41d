"""The daemon's components, passed to routes, actions and scheduled jobs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from reverie.ids import ID_RANDOM_BYTES, new_id
from reverie.usecases.agent_writes import ReadVersions
from reverie.usecases.briefs import BriefCache
from reverie.usecases.by import By
from reverie.usecases.projections import ProjectListings
from reverie.usecases.waiting import WaitingCandidates
from reveried.actions.hooks import SessionMemory
from reveried.actions.trust import OpenCalls
from reveried.follower import Follower
from reveried.mcp.client_identity import McpState
from reveried.session_texts import SessionTexts
from reveried.working_states import BackgroundState, StateCache

if TYPE_CHECKING:
    from collections.abc import Callable

    from reverie.places import Layout
    from reverie.redact import Redactor
    from reverie.store import Store
    from reverie.usecases.access_counts import AccessCounts
    from reverie.usecases.fingerprints import FingerprintKeeper
    from reverie.usecases.message_search import MessageSearch
    from reverie.usecases.nearest import NearestMemories
    from reverie.usecases.recall import Recall
    from reverie.usecases.redactions import RedactRules
    from reveried.compute import Compute
    from reveried.config import Config
    from reveried.http.auth import Caller
    from reveried.http.limits import Admission
    from reveried.http.metrics import Metrics
    from reveried.jobs import Jobs
    from reveried.models.ask import Models
    from reveried.scheduler import Scheduler
    from reveried.sync.loop import SyncService
    from reveried.wakeups import Events
    from reveried.worker import Submit, Worker


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

    def by(self, space: str, who: str) -> By:
        """Return `who` as the author of writes to a space, with an agent's trust."""
        return By(space, who, new_id=self.new_id)

    def new_id(self, kind: str) -> str:
        """Return a new id such as `mem_…`, sortable by its time."""
        return new_id(kind, self.now_ms(), self.random(ID_RANDOM_BYTES))
