"""Removes a thread with every version of everything kept under it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie.store.schema import RULES, Kind

if TYPE_CHECKING:
    from reverie.store.writer import Writer

__all__ = ["THREAD_KINDS", "purge_thread"]

# The thread's own record goes last, so that a purge that was interrupted is found and finished.
THREAD_KINDS = (
    *(kind for kind, rule in RULES.items() if rule.parts[:1] == ("thread",) and kind is not Kind.THREAD),
    Kind.THREAD,
)


def purge_thread(writer: Writer, thread: str, limit: int = 1000) -> int:
    """Removes at most `limit` records of a thread in this write, versions beside; how many went.

    Also what was deleted before and is only left as versions. Call it until its THREAD record is gone, or it gives 0.

    What was derived only from the thread and is kept elsewhere (memories, archives) is for the caller to delete.
    The bytes leave the file at the next `Store.compact`.
    """
    gone = 0
    for kind in THREAD_KINDS:
        gone += writer.purge(kind, (thread,), limit - gone)
        if gone >= limit:
            break
    return gone
