"""A line that a defect keeps from being read, counted or redacted is an error of this line alone."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from reverie import _native
from reverie.importers import chunks
from reverie.importers.chunks import plan_chunk
from reverie.importers.detect import read_line
from reverie.importers.entry import with_token_counts
from reverie.models import EntryKind
from reverie.store import seal
from reverie.usecases import imports

LINES = [orjson.dumps({"role": "user", "content": words}) for words in ("one", "two BREAKS", "three")]
DATA = b"\n".join(LINES) + b"\n"


def _breaking(function: Any) -> Any:
    """Return a function that panics on what has the word BREAKS in it."""

    def broken(*values: Any) -> Any:
        if "BREAKS" in str(values):
            _native.panic_with(str(values))
        return function(*values)

    return broken


def test_a_line_that_cannot_be_read_is_kept_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its text is its entry, and the problem names the line and the function."""
    monkeypatch.setattr(chunks, "read_line", _breaking(read_line))

    planned = plan_chunk(DATA, first_line=7, final=False)

    assert [(entry.line, entry.kind) for entry in planned.entries] == [
        (7, EntryKind.SPEECH),
        (8, EntryKind.BAD),
        (9, EntryKind.SPEECH),
    ]
    assert planned.entries[1].raw == LINES[1].decode()
    (problem,) = planned.problems
    assert problem.line == 8
    assert "core_failed: panic_with rust/native" in problem.why
    assert planned.consumed == len(DATA)


def test_a_line_that_cannot_be_counted_counts_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """The others have their tokens."""
    monkeypatch.setattr(chunks, "with_token_counts", _breaking(with_token_counts))

    planned = plan_chunk(DATA, first_line=1, final=False)

    assert [entry.tokens for entry in planned.entries] == [1, 0, 1]


def test_a_line_that_cannot_be_redacted_is_not_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its place in the file is, with the reason; the import goes on behind it."""
    monkeypatch.setattr(imports, "seal", _breaking(seal))

    plan = imports.decide(imports.ChunkJob(data=DATA, first_line=1, final=False))

    assert (plan.consumed, plan.lines, len(plan.sealed)) == (len(DATA), 3, 3)
    assert [problem.line for problem in plan.problems] == [2]
    assert "its text is not stored" in plan.problems[0].why
    assert not any(b"BREAKS" in (_native.unpack(sealed[2:], 1 << 20) or b"") for sealed in plan.sealed)
    assert not any(b"BREAKS" in sealed for sealed in plan.sealed)
