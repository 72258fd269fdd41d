"""The table of formats: what a row of it does for a program, and that the API takes each."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, get_args

import orjson

from reverie import wire
from reverie.importers import detect, find
from reverie.importers.entry import new_entry
from reverie.models import Entry, EntryKind
from reverie.store import ThreadRecord
from reverie.usecases.projects import is_project_unknown

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_the_api_takes_every_format() -> None:
    """A session can be sent for every program whose format is known, and for ChatGPT, whose exports are converted."""
    assert set(get_args(wire.ImportClient)) == {*detect.FORMATS, "chatgpt"}


def test_a_format_that_is_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines of an added format are known, read and written back; without a folder its session's project is unknown."""

    def entry_of(value: dict[str, Any], number: int) -> tuple[Entry, None]:
        entry, _ = new_entry(EntryKind.SPEECH, value, number, role="user", content=value.pop("words"))
        return entry, None

    harbour = SimpleNamespace(
        is_line=lambda line: line.get("ship") == "log",
        entry_of=entry_of,
        json_object_of=lambda entry: {**entry.extra, "words": entry.content},
    )
    monkeypatch.setattr(detect, "FORMATS", {"harbour": harbour, **detect.FORMATS})
    value = {"ship": "log", "words": "paint the gate"}
    line = orjson.dumps(value)
    path = tmp_path / "one.jsonl"
    path.write_bytes(line + b"\n")

    entry, problem = detect.read_line(line, 1)
    assert (entry.content, problem) == ("paint the gate", None)
    assert detect.json_object_of(entry) == value
    assert detect.is_understood(Entry(kind=EntryKind.OTHER, extra={"ship": "log"}, line=1))
    assert detect.is_record(line)
    assert find.read_identity(path).program == "harbour"
    assert is_project_unknown(ThreadRecord(id="t", agent="harbour", created_at="", updated_at=""))
