"""The daemon's components, passed to routes, actions and scheduled jobs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from reverie.usecases.by import By

if TYPE_CHECKING:
    from collections.abc import Callable

    from reverie.places import Layout
    from reverie.redact import Redactor
    from reverie.store import Store
    from reverie.usecases.access_counts import AccessCounts
    from reverie.usecases.agent_writes import ReadVersions
    from reverie.usecases.briefs import BriefCache
    from reverie.usecases.fingerprints import FingerprintKeeper
    from reverie.usecases.message_search import MessageSearch
    from reverie.usecases.nearest import NearestMemories
    from reverie.usecases.projections import ProjectListings
    from reverie.usecases.recall import Recall
    from reverie.usecases.redactions import RedactRules
    from reverie.usecases.waiting import WaitingCandidates
    from reveried.actions.hooks import SessionMemory
    from reveried.actions.trust import OpenCalls
    from reveried.compute import Compute
    from reveried.config import Config
    from reveried.follower import Follower
    from reveried.http.auth import Caller
    from reveried.http.limits import Admission
    from reveried.http.metrics import Metrics
    from reveried.jobs import Jobs
    from reveried.mcp.client_identity import McpState
    from reveried.models.ask import Models
    from reveried.scheduler import Scheduler
    from reveried.session_texts import SessionTexts
    from reveried.sync.service import SyncService
    from reveried.wakeups import Events
    from reveried.worker import Submit, Worker
    from reveried.working_states import BackgroundState, StateCache


def _made(module: str, name: str) -> Any:
    return cached_property(lambda _: getattr(import_module(module), name)())


class _Made:
    """What is kept in memory alone; each is imported and made at its first use, since the start needs none of it."""

    states: StateCache = _made("reveried.working_states", "StateCache")
    follower: Follower = _made("reveried.follower", "Follower")
    texts: SessionTexts = _made("reveried.session_texts", "SessionTexts")
    briefs: BriefCache = _made("reverie.usecases.briefs", "BriefCache")
    hooks: SessionMemory = _made("reveried.actions.hooks", "SessionMemory")
    mcp: McpState = _made("reveried.mcp.client_identity", "McpState")
    open_calls: OpenCalls = _made("reveried.actions.trust", "OpenCalls")
    read_versions: ReadVersions = _made("reverie.usecases.agent_writes", "ReadVersions")
    project_listings: ProjectListings = _made("reverie.usecases.projections", "ProjectListings")
    waiting: WaitingCandidates = _made("reverie.usecases.waiting", "WaitingCandidates")
    background_state: BackgroundState = _made("reveried.working_states", "BackgroundState")

    async def close(self, name: str) -> None:
        """Close a component, if it was ever made."""
        if name in vars(self):
            await getattr(self, name).close()


@dataclass(frozen=True)
class Services(_Made):
    """Every component of the process, assembled by `reveried.app`.

    `clock()` returns the time as RFC 3339 UTC with milliseconds, `random(n)` returns n random bytes.
    """

    config: Config
    layout: Layout
    store: Store
    store_id: str
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
    messages: MessageSearch
    accesses: AccessCounts
    clock: Callable[[], str]
    now_ms: Callable[[], int]  # the same clock, as milliseconds since 1970
    random: Callable[[int], bytes]
    new_id: Callable[[str], str]  # of a kind, such as `mem_…`; sortable by its time
    started: float  # monotonic seconds at which the process began
    models: Models | None = None  # None: everything is decided by rule

    @cached_property
    def sync_service(self) -> SyncService:
        """The folders of all spaces."""
        from reveried.sync.service import SyncService  # noqa: PLC0415 - as above

        return SyncService(
            self.store,
            self.submit,
            self.redactor,
            self.config,
            store_id=self.store_id,
            now_ms=self.now_ms,
            random=self.random,
        )

    @cached_property
    def nearest(self) -> NearestMemories:
        """The memories that candidates can change."""
        from reverie.usecases.nearest import NearestMemories  # noqa: PLC0415 - as above

        return NearestMemories(self.recall)

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
