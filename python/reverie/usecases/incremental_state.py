"""Follows a thread for its working state: what came since the last time, on top of the gist of what was before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from reverie.store import Kind
from reverie.usecases import states, threads
from reverie.usecases.contexts import sealed_since

if TYPE_CHECKING:
    from reverie.store import Reader

__all__ = ["Followed", "StateJob", "StatePlan", "snapshot", "state_mark"]


class Followed(msgspec.Struct):
    """A thread as far as entry `seq`, where a turn was over: its gist stands in for it.

    It holds for the thread made at `created` and distilled as far as `through`. What stands behind entry `since` is
    not in the gist. `said` is what the person said last, `calls` a checksum of the id of every call.
    """

    created: str
    through: int
    since: int
    seq: int
    said: str
    calls: bytes
    gist: bytes


class StateJob(msgspec.Struct):
    """What bringing a thread's working state up to date needs.

    `previous` is the kept state, `version` the operation that kept it; what stands behind entry `since` is not in it.
    `entries` are those after what was `followed`, else after the last distillation.
    """

    thread: dict[str, Any]
    entries: list[tuple[int, bytes]]
    followed: Followed | None
    previous: dict[str, Any] | None
    since: int
    version: int | None


class StatePlan(msgspec.Struct):
    """A thread's working state as of entry `seq`, and the query that recalls what belongs to it.

    `followed` is where the next one may begin.
    """

    state: dict[str, Any]
    query: str
    seq: int
    version: int | None
    followed: Followed | None = None


def state_mark(reader: Reader, thread_id: str) -> tuple[int | None, int | None]:
    """What changes whenever the working state may: the operations that last wrote the thread and its kept state."""
    return reader.version(Kind.THREAD, (thread_id,)), reader.version(Kind.STATE, (thread_id,))


def snapshot(reader: Reader, thread_id: str, followed: Followed | None = None) -> StateJob:
    """Reads what the working state is made from, from where it was `followed` on. Raises NotFound."""
    thread = threads.get(reader, thread_id)
    through, held = int(thread["throughSeq"]), states.kept(reader, thread_id)
    since = states.read_from(held, through)
    if followed is not None and not _still_holds(followed, thread, since):
        followed = None
    return StateJob(
        thread=thread,
        entries=sealed_since(reader, thread_id, followed.seq if followed is not None else through),
        followed=followed,
        previous=held.get("state"),
        since=since,
        version=reader.version(Kind.STATE, (thread_id,)),
    )


def _still_holds(followed: Followed, thread: dict[str, Any], since: int) -> bool:
    """Whether the thread is the one that was followed, and no state was kept of a place inside what was followed."""
    same = (followed.created, followed.through) == (thread["createdAt"], int(thread["throughSeq"]))
    return same and (since == followed.since or since >= followed.seq)
