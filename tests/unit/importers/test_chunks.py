"""Parsing a chunk of a transcript: complete lines only, exact line numbers, resumable at any byte."""

from __future__ import annotations

import pytest

from reverie.errors import ValidationError
from reverie.importers import chunks, detect, lines
from reverie.importers.chunks import ChunkPlan, PartialLine, plan_chunk
from reverie.models import EntryKind

ONE, TWO = b'{"role":"user","content":"one"}', b'{"role":"assistant","content":"two"}'


def contents(planned: ChunkPlan) -> list[tuple[int, object]]:
    return [(entry.line, entry.content) for entry in planned.entries]


def test_text_after_a_consumed_object_is_reported_on_its_line() -> None:
    """Text that follows a consumed last line without newline becomes a bad entry of that line."""
    planned = plan_chunk(b"xyz\n" + TWO + b"\n", first_line=2, final=False, inside=PartialLine.TAKEN)
    assert [(entry.kind, entry.line) for entry in planned.entries] == [(EntryKind.BAD, 1), (EntryKind.SPEECH, 2)]
    assert planned.counts == {EntryKind.BAD: 1, EntryKind.SPEECH: 1}
    waiting = plan_chunk(b"xyz", first_line=2, final=False, inside=PartialLine.TAKEN)
    assert (waiting.consumed, waiting.inside, waiting.lines) == (0, PartialLine.TAKEN, 0)


@pytest.fixture
def limit(monkeypatch: pytest.MonkeyPatch) -> int:
    """Set the line limit to 100 bytes, so that tests can try every cut; return it."""
    for module in (chunks, detect, lines):
        monkeypatch.setattr(module, "LINE_BYTES_MAX", 100)
    monkeypatch.setattr(lines, "HEAD_BYTES", 9)
    return 100


def test_an_overlong_line_that_never_ends_costs_no_memory(limit: int) -> None:
    """Later chunks of an overlong line are consumed without an entry."""
    first = plan_chunk(b"x" * (limit + 2), first_line=1, final=False)
    assert (first.consumed, first.lines, first.inside) == (limit + 2, 1, PartialLine.OVERLONG)
    more = plan_chunk(b"y" * 500, first_line=2, final=True, inside=first.inside)
    assert (more.consumed, more.lines, more.inside, more.entries) == (500, 0, PartialLine.OVERLONG, ())


def test_a_complete_last_line_of_nearly_the_limit_waits(limit: int) -> None:
    """A last line of one byte over the limit is not consumed yet, as that byte may be half of a CRLF."""
    planned = plan_chunk(b"{" + b" " * (limit - 1) + b"}", first_line=1, final=True)
    assert (planned.consumed, planned.inside) == (0, PartialLine.NOTHING)


def test_the_stored_beginning_of_an_overlong_line_is_valid_utf8(limit: int) -> None:
    """The stored beginning of an overlong line does not end inside a character."""
    entry = plan_chunk("é".encode() * limit + b"\n", first_line=1, final=False).entries[0]
    assert entry.raw == "éééé"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16le", "utf-16be", "utf-32", "utf-32be"])
def test_another_encoding_is_refused_by_its_name(encoding: str) -> None:
    """A transcript in UTF-16 or UTF-32 is refused, with the encoding's name and a hint on converting it."""
    mark = "\ufeff" if encoding == "utf-32be" else ""
    data = (mark + ONE.decode() + "\n").encode(encoding)
    with pytest.raises(ValidationError, match=encoding[:6].upper()) as caught:
        plan_chunk(data, first_line=1, final=False)
    assert "iconv" in str(caught.value.hint)


def test_a_byte_order_mark_is_skipped() -> None:
    """A byte order mark is skipped, also if it is cut between two chunks."""
    data = b"\xef\xbb\xbf" + ONE + b"\n"
    for cut in range(5):
        first = plan_chunk(data[:cut], first_line=1, final=False)
        rest = plan_chunk(data[first.consumed :], first_line=1, final=False)
        assert contents(rest) == [(1, "one")]


def test_an_incomplete_line_is_not_consumed() -> None:
    """An incomplete last line of a chunk is not consumed, so that it is read again with its rest."""
    planned = plan_chunk(ONE + b"\n" + TWO[:20], first_line=1, final=True)
    assert (planned.consumed, planned.lines, len(planned.entries)) == (len(ONE) + 1, 1, 1)


def test_a_complete_object_without_newline_waits_unless_final() -> None:
    """A last line without a newline is consumed only in the final chunk."""
    assert plan_chunk(ONE, first_line=1, final=False).consumed == 0
    last = plan_chunk(ONE, first_line=1, final=True)
    assert (last.consumed, last.lines, last.inside) == (len(ONE), 1, PartialLine.TAKEN)


@pytest.mark.parametrize("rest", [b"1", b'"text"', b"[1]", b"hello", b"  ", b"", b"\r"])
def test_an_unterminated_line_that_is_no_object_is_left(rest: bytes) -> None:
    """An unterminated rest that is not a JSON object is not consumed, even in the final chunk."""
    planned = plan_chunk(ONE + b"\n" + rest, first_line=1, final=True)
    assert planned.consumed == len(ONE) + 1
    assert not planned.problems
