"""The daemon's components, passed to routes, actions and scheduled jobs."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from reverie.usecases.by import By

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
    from reveried.sync.service import SyncService
    from reveried.wakeups import Events
    from reveried.worker import Submit, Worker

T = TypeVar("T")


@dataclass(frozen=True)
class Services:
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
    sync_service: SyncService
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
    _made: dict[Callable[[], Any], Any] = field(default_factory=dict, init=False, repr=False)

    def made(self, kind: Callable[[], T]) -> T:
        """Return this process's one object of a class, made at its first use: the start needs none of them."""
        if kind not in self._made:
            self._made.setdefault(kind, kind())
        made: T = self._made[kind]
        return made

    async def close(self, name: str) -> None:
        """Close the object of the class of this name, if it was ever made."""
        for made in [made for made in self._made.values() if type(made).__name__ == name]:
            await made.close()

    @cached_property
    def nearest(self) -> NearestMemories:
        """The memories that candidates can change."""
        from reverie.usecases.nearest import NearestMemories  # noqa: PLC0415 - the start does not need it

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
