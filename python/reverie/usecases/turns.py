"""Whether anybody waits for the next word of a thread."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from reverie.context import is_turn_finished
from reverie.importers.messages import main_line
from reverie.store import Kind
from reverie.usecases.records import opened_entry

if TYPE_CHECKING:
    from reverie.store import Reader

__all__ = ["is_open"]

LAST_ENTRIES = 32  # one reply of a transcript is one entry for each of its calls, and one for each result


def is_open(reader: Reader, thread_id: str) -> bool:
    """Whether the thread's last turn is still going on: a person waits for a reply, or a call for its result."""
    newest = list(islice(reader.scan_sealed(Kind.ENTRY, (thread_id,), reverse=True), LAST_ENTRIES))
    entries = (opened_entry(thread_id, int(key[-1]), data) for key, data in reversed(newest))
    return not is_turn_finished(main_line(entries))
