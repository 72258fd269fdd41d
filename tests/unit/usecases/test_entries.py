"""The cache of opened entries: equal to opening anew, damage raised each time, bounded in bytes."""

from __future__ import annotations

import pytest

from reverie.errors import Damaged
from reverie.importers.chunks import plan_chunk
from reverie.importers.join import main_line
from reverie.importers.rewinds import CURRENT
from reverie.models import Entry, EntryKind
from reverie.redact import Redactor
from reverie.store import seal
from reverie.usecases import entries as use_entries
from reverie.usecases.entries import (
    OpenedEntries,
    conversation_entry,
    entry_record,
    messages_of,
    opened_entry,
    speech_entry,
)
from support.story import generate


def sealed(text: str) -> bytes:
    return seal(entry_record(Entry(kind=EntryKind.SPEECH, role="user", content=text)), Redactor()).data


def test_a_cached_entry_equals_one_opened_anew() -> None:
    """A cached entry equals one opened anew; two entries of equal bytes keep their own sequence numbers."""
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
    monkeypatch.setattr(use_entries, "CACHE_BYTES", 4 * len(rows[0]))
    cache = OpenedEntries()
    opened = [cache.open("t", seq, data) for seq, data in enumerate(rows)]
    assert cache.open("t", 9, rows[9]) is opened[9]
    assert cache.open("t", 0, rows[0]) is not opened[0]
    monkeypatch.setattr(use_entries, "CACHED_ENTRY_BYTES", 10)
    assert cache.open("t", 50, rows[5]) is not cache.open("t", 50, rows[5])


MARK = Entry(kind=EntryKind.OTHER, extra={"type": "reverie.rewind", "to": 3})
UNUSUAL = (
    Entry(kind=EntryKind.SPEECH, role="user", content="hi", extra={"parentUuid": None, "sessionId": 4, "other": [1]}),
    Entry(
        kind=EntryKind.SPEECH, role="assistant", content=[{"type": "n", "big": 2**64 - 1, "x": 1e300}], usage={"a": 0.5}
    ),
    Entry(kind=EntryKind.META, role="user", content="<command-name>/x", extra={"isMeta": True}),
    Entry(kind=EntryKind.BOUNDARY, extra={"logicalParentUuid": "x", "compactMetadata": {"preTokens": 3}}),
    Entry(kind=EntryKind.BAD, raw="{", extra={"problem": "none"}),
)

BRANCHES = (
    Entry(kind=EntryKind.SPEECH, id="u1", role="user", content="Which lamp?"),
    Entry(kind=EntryKind.SPEECH, id="a1", parent="u1", role="assistant", content="The left one."),
    Entry(kind=EntryKind.SPEECH, id="a2", parent="u1", role="assistant", content="The right one."),
    Entry(kind=EntryKind.OTHER, extra={"type": CURRENT, "node": "a1"}),
)

ROLLED_BACK = (
    Entry(kind=EntryKind.SPEECH, role="user", content="Which lamp?"),
    Entry(kind=EntryKind.SPEECH, role="assistant", content="The left one.", extra={"payload": {"type": "message"}}),
    Entry(
        kind=EntryKind.OTHER,
        extra={"type": "event_msg", "payload": {"type": "thread_rolled_back", "num_turns": 1}},
        line=3,
    ),
    Entry(kind=EntryKind.SPEECH, role="user", content="Which harbour?"),
)


def test_messages_are_made_without_the_rest_of_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages made from stored entries equal those of fully opened entries, without any entry being opened fully."""
    redactor = Redactor()
    sessions = [plan_chunk(generate(number).data, first_line=1, final=True).entries for number in range(3)]
    for entries in [*sessions, (*sessions[0], MARK, *UNUSUAL), BRANCHES, ROLLED_BACK]:
        rows = [(seq, seal(entry_record(entry), redactor).data) for seq, entry in enumerate(entries, 1)]
        for verbatim in (False, True):
            whole = main_line((opened_entry("t", *row) for row in rows), verbatim=verbatim)
            with monkeypatch.context() as patched:
                patched.setattr(use_entries, "opened_entry", None)
                assert messages_of("t", rows, verbatim=verbatim) == whole


def test_fields_of_an_unknown_shape_are_read_as_they_are() -> None:
    """An entry that an importer would not have written is opened whole."""
    data = seal({"kind": "other", "id": 7, "extra": {"type": "x"}}, Redactor()).data

    assert conversation_entry("t", 1, data) == opened_entry("t", 1, data)


@pytest.mark.parametrize("kind", EntryKind)
def test_an_entry_that_is_no_speech_is_not_decoded(kind: EntryKind) -> None:
    """An entry that is no speech gives None, unless its kind is not its first field; a damaged one raises Damaged."""
    record = entry_record(Entry(kind=kind, id="a", role="user", content="hello"))
    data = seal(record, Redactor()).data
    found = speech_entry("t", 7, data)
    assert found == (conversation_entry("t", 7, data) if kind is EntryKind.SPEECH else None)
    other_order = seal(dict(reversed(record.items())), Redactor()).data
    assert speech_entry("t", 7, other_order) == conversation_entry("t", 7, other_order)
    with pytest.raises(Damaged, match="entry 7 of thread t"):
        speech_entry("t", 7, data[:-1] + bytes([data[-1] ^ 1]))
