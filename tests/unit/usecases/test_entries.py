"""The cache of opened entries: equal to opening anew, damage raised each time, bounded in bytes."""

from __future__ import annotations

import pytest

from reverie.errors import Damaged
from reverie.models import Entry, EntryKind
from reverie.redact import Redactor
from reverie.store import seal
from reverie.usecases import stored_entries
from reverie.usecases.stored_entries import OpenedEntries, entry_record, opened_entry


def sealed(text: str) -> bytes:
    return seal(entry_record(Entry(kind=EntryKind.SPEECH, role="user", content=text)), Redactor()).data


def test_a_cached_entry_equals_one_opened_anew() -> None:
    """Also where another entry has the same bytes: each has its own sequence number."""
    cache, data = OpenedEntries(), sealed("hello")
    first = cache.open("t", 1, data)
    assert first == opened_entry("t", 1, data)
    assert cache.open("t", 1, bytes(bytearray(data))) is first
    assert cache.open("t", 2, data) == opened_entry("t", 2, data)
    assert cache.open("t", 1, data) == first


def test_damage_is_raised_each_time() -> None:
    """A damaged entry is not cached."""
    cache, data = OpenedEntries(), bytearray(sealed("hello"))
    data[-1] ^= 1
    for _ in range(2):
        with pytest.raises(Damaged, match="entry 7 of thread t"):
            cache.open("t", 7, bytes(data))


def test_the_least_recently_used_entry_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound is in bytes; an entry that is large by itself is never cached."""
    rows = [sealed(f"entry {number:03}") for number in range(10)]
    monkeypatch.setattr(stored_entries, "CACHE_BYTES", 4 * len(rows[0]))
    cache = OpenedEntries()
    opened = [cache.open("t", seq, data) for seq, data in enumerate(rows)]
    assert cache.open("t", 9, rows[9]) is opened[9]
    assert cache.open("t", 0, rows[0]) is not opened[0]
    monkeypatch.setattr(stored_entries, "CACHED_ENTRY_BYTES", 10)
    assert cache.open("t", 50, rows[5]) is not cache.open("t", 50, rows[5])
