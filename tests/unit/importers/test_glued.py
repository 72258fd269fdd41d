"""Records behind a stub, behind NUL bytes and beside other records on one line, and bytes that are not UTF-8."""

from __future__ import annotations

import orjson
import pytest

from reverie.importers.chunks import plan_chunk
from reverie.models import Entry, EntryKind

SESSION = "0d3f9b14-1f89-4bc8-b69c-2396e3aa6d50"
TEXT = 'say "{a: \\"}" é 🦊 \\'
FIRST = {"type": "user", "uuid": "u1", "sessionId": SESSION, "message": {"role": "user", "content": TEXT}}
NESTED = {"type": "progress", "uuid": "u2", "sessionId": SESSION, "data": {"message": {"uuid": "in", "type": "user"}}}
ROLLOUT = {
    "type": "response_item",
    "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": TEXT}]},
}


def entries_of(data: bytes, *, final: bool = False) -> tuple[Entry, ...]:
    """Return the entries of these bytes."""
    return plan_chunk(data, first_line=1, final=final).entries


@pytest.mark.parametrize("record", [FIRST, NESTED, ROLLOUT])
@pytest.mark.parametrize("between", [b"", b"\0" * 5])
def test_a_record_behind_any_stub_is_read(record: dict[str, object], between: bytes) -> None:
    """Wherever a record was cut, the whole one behind it is an entry, and the stub is kept as raw text before it."""
    whole = orjson.dumps(record)
    expected = entries_of(whole + b"\n")[0]
    for cut in range(len(whole) + 1):
        for end, final in ((b"\n", False), (b"", True)):
            *before, last = entries_of(whole[:cut] + between + whole + end, final=final)
            assert last == expected
            if cut < len(whole):
                assert [entry.kind for entry in before] == ([EntryKind.BAD] if cut else [])
            else:
                assert before == [expected]


def test_what_is_within_a_stub_is_no_record() -> None:
    """A line that was cut behind an object within it is raw text alone, and at the end of a file it is waited for."""
    line = orjson.dumps(NESTED)
    cut = line[: line.rindex(b"}}")]
    assert [entry.kind for entry in entries_of(cut + b"\n")] == [EntryKind.BAD]
    assert entries_of(cut, final=True) == ()


def test_two_stubs_and_two_records() -> None:
    """A record, a stub and a record are three entries of one line, and only the stub is a problem."""
    whole = orjson.dumps(FIRST)
    plan = plan_chunk(whole + whole[:50] + whole + b"\n" + whole + b"\n", first_line=1, final=False)
    assert [(entry.line, entry.id) for entry in plan.entries] == [(1, "u1"), (1, None), (1, "u1"), (2, "u1")]
    assert [problem.line for problem in plan.problems] == [1]
    assert plan.lines == 2


def test_bytes_that_are_no_text_do_not_cost_the_record() -> None:
    """In place of a byte that is not UTF-8 stands U+FFFD, a control character stays; both are reported."""
    for byte, shown in ((b"\xff", "\ufffd"), (b"\xe2\x82", "\ufffd"), (b"\0", "\0"), (b"\t", "\t")):
        line = orjson.dumps(FIRST).replace("🦊".encode(), byte)
        plan = plan_chunk(line + b"\n", first_line=1, final=False)
        assert plan.entries[0].content == TEXT.replace("🦊", shown)
        assert len(plan.problems) == 1


def test_nuls_alone_are_reported_and_no_entry() -> None:
    """A line of NUL bytes has nothing to keep."""
    plan = plan_chunk(b"\0" * 99 + b"\n", first_line=1, final=False)
    assert (plan.entries, [problem.line for problem in plan.problems]) == ((), [1])


def test_a_line_of_very_many_objects_and_quotes() -> None:
    """Half a megabyte of the worst that is no record: objects, backslashes before quotes, braces that nothing opens."""
    for worst in (b"{}" * 250_000, b'\\"' * 250_000, b"}" * 500_000, b'{"a' * 170_000, b'{"a":' * 100_000):
        entries_of(b"{" + worst + b"}\n")
        entries_of(b'"' + worst + b"}\n")
