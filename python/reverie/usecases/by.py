"""Who writes, and the form of a use case that writes: a function on a transaction, which a driver commits."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import (
    Any,
    Concatenate,
    Final,
    Generic,
    Literal,
    NamedTuple,
    NoReturn,
    ParamSpec,
    TypeAlias,
    TypeVar,
)

from reverie.documents.layout import PERSON
from reverie.lazy_regex import lazy_regex
from reverie.store import Write, Writer

P = ParamSpec("P")
A = TypeVar("A")
T = TypeVar("T")

_NAMES: Final = lazy_regex(r"\w+")

Author: TypeAlias = Literal["person", "agent", "engine"]
Place: TypeAlias = tuple[Literal["thread", "memory", "document"], str]


PERSONS: Final = frozenset({"owner", "person"})
"""Authors of what a person did: by a call without an agent's token, or by a save in the folder."""

OWN_AUTHORS: Final = frozenset(
    {
        *("backup", "distiller", "follower", "index", "purge", "recall", "redaction", "retention"),
        *("reveried", "schedule", "sync"),
        *PERSONS,
    }
)
"""Authors that are no agents. An agent of such a name could undo what they did, as if it were its own."""

ANY_AGENT: Final = "agent"
"""The author of what an agent did that gave no name."""


def is_agent(who: str | None) -> bool:
    """Return True if the author of a write of memories is an agent; None is an engine."""
    return who is not None and who not in PERSONS


def agent_author(name: str | None) -> str:
    """Return the author of what the agent of this name does: the name, unless it is an author's that is no agent.

    `import:codex` would be the author of imports: it becomes `import-codex`, and `owner` becomes `agent`.
    """
    plain = (name or "").replace(":", "-").strip()
    return ANY_AGENT if not plain or plain.casefold() in OWN_AUTHORS else plain


def _no_new_ids(kind: str) -> NoReturn:
    raise AssertionError(f"a {kind} got no id")


@dataclass(frozen=True, slots=True)
class By:
    """Whose write it is, and what else is the same for every write of a call.

    `who` is the author of the operation, `author` the trust that new words get. New memories are of `project` and name
    `origin`, the tool and the thread of an agent's write. `key` is the idempotency key with the hash of the request.
    `if_match` is the ETag of the version that the caller has read, `*` any version, empty no document. `seen` is what
    the driver read for the caller (`Files.seen`). `new_id("mem")` returns a new id of that kind.
    """

    space: str
    who: str
    author: Author = "agent"
    new_id: Callable[[str], str] = _no_new_ids
    project: str = PERSON
    origin: Mapping[str, Any] = field(default_factory=dict)
    key: tuple[str, str] | None = None
    if_match: str | None = None
    seen: Any = None

    @property
    def provenance(self) -> dict[str, Any]:
        """Return the provenance of new memories."""
        return {"by": self.who, **self.origin} if self.who else dict(self.origin)


ENGINE: Final = By("", "", "engine")
"""The author of words that are taken over with their records, or are of no memory."""


class Files(NamedTuple):
    """The files around a write, as they are known before it.

    People's saves at `paths` are committed first. A file must be possible at each path of `written`, no other spelling
    of `named` may exist, and `deleted` is the text that goes from a path, "" for all of it. `seen` is what the caller
    can have read: the use case refuses to replace what was saved only now.
    """

    paths: Collection[str] = ()
    written: Collection[str] = ()
    named: str | None = None
    deleted: Mapping[str, str] = {}
    seen: Any = None


@dataclass(frozen=True)
class UseCase(Generic[P, A]):
    """A function on a transaction that writes, with what its driver has to know; another use case just calls it.

    `answers` is the type of an answer that is stored under the idempotency key; without it the key is not used.
    Parameters whose annotation has `Text`, and the texts in a struct or dataclass, are redacted before the write is
    queued. `files` gets a reader and the parameters by name:
    files of documents that the write changes are on disk before the answer, with `projects` also the projections, and
    with `scans` it runs in a thread. `found` returns where redacted values were found.
    """

    body: Callable[Concatenate[Writer, By, P], A]
    why: str | Callable[..., str]
    answers: type[A] | None
    files: Callable[..., Files] | None
    scans: bool
    projects: bool
    bulk: bool
    found: Callable[..., Place] | None

    def __call__(self, to: Writer, by: By, /, *args: P.args, **given: P.kwargs) -> A:
        """Make the changes in a transaction that is open."""
        return self.body(to, by, *args, **given)

    def write(self, by: By, /, *args: P.args, **given: P.kwargs) -> Write[A]:
        """Return the write of its own that the single writer commits."""
        why = self.why if isinstance(self.why, str) else self.why(**self.named(args, given))
        key = None if self.answers is None else by.key
        return Write(by.space, by.who, why, lambda to: self.body(to, by, *args, **given), key, answers=self.answers)

    @cached_property
    def texts(self) -> frozenset[str]:
        """Return the parameters whose annotation has `Text`, as in `patches: Sequence[tuple[Text, Text]]`."""
        return frozenset(name for name, kind in self.body.__annotations__.items() if "Text" in _NAMES.findall(kind))

    def named(self, args: tuple[Any, ...], given: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of a call by the names of their parameters."""
        names = self.body.__code__.co_varnames[2 : self.body.__code__.co_argcount]
        assert len(args) <= len(names)
        return {**dict(zip(names, args, strict=False)), **given}


@dataclass(frozen=True, slots=True)
class Decided(Generic[T, A]):
    """A use case whose plan is decided from a snapshot, in the compute process by a job of `compute_jobs`.

    `commit` takes the plan first. One that `learns` may ask a model, and writes memories. A `bulk` job waits behind
    those that somebody waits for.
    """

    job: str
    plan: type[T]
    commit: UseCase[..., A]
    learns: bool = False
    bulk: bool = False


def writes(
    why: str | Callable[..., str],
    *,
    answers: type[Any] | None = None,
    files: Callable[..., Files] | None = None,
    scans: bool = False,
    projects: bool = False,
    bulk: bool = False,
    found: Callable[..., Place] | None = None,
) -> Callable[[Callable[Concatenate[Writer, By, P], A]], UseCase[P, A]]:
    """Make a use case of a function on a transaction; `why`, or what it returns, names its operation in the history."""
    return lambda body: UseCase(body, why, answers, files, scans, projects, bulk, found)
