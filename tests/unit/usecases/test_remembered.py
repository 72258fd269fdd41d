"""Entries that are opened again and again: the same as anew, damage told each time, no more kept than allowed."""

from __future__ import annotations

import pytest

from reverie.errors import Damaged
from reverie.models import Entry, EntryKind
from reverie.redact import Redactor
from reverie.store import seal
from reverie.usecases.decide import entry_cache
from reverie.usecases.decide.entry_cache import OpenedEntries
from reverie.usecases.records import entry_record, opened_entry


def sealed(text: str) -> bytes:
    return seal(entry_record(Entry(kind=EntryKind.SPEECH, role="user", content=text)), Redactor()).data


def test_an_entry_opened_again_is_the_same() -> None:
    """Also where another entry has the same bytes: each has its own place."""
    held, data = OpenedEntries(), sealed("hello")
    first = held.open("t", 1, data)
    assert first == opened_entry("t", 1, data)
    assert held.open("t", 1, bytes(bytearray(data))) is first
    assert held.open("t", 2, data) == opened_entry("t", 2, data)
    assert held.open("t", 1, data) == first


def test_damage_is_told_each_time() -> None:
    """Nothing of a damaged entry is remembered."""
    held, data = OpenedEntries(), bytearray(sealed("hello"))
    data[-1] ^= 1
    for _ in range(2):
        with pytest.raises(Damaged, match="entry 7 of thread t"):
            held.open("t", 7, bytes(data))


def test_what_was_used_longest_ago_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """By bytes; an entry that is large by itself is never kept."""
    rows = [sealed(f"entry {number:03}") for number in range(10)]
    monkeypatch.setattr(entry_cache, "BYTES_MAX", 4 * len(rows[0]))
    held = OpenedEntries()
    opened = [held.open("t", seq, data) for seq, data in enumerate(rows)]
    assert held.open("t", 9, rows[9]) is opened[9]
    assert held.open("t", 0, rows[0]) is not opened[0]
    monkeypatch.setattr(entry_cache, "ENTRY_BYTES_MAX", 10)
    assert held.open("t", 50, rows[5]) is not held.open("t", 50, rows[5])
