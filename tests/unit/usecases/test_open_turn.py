"""A transcript has no open turn, whatever lines its client writes after the last message."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from reverie.importers.join import main_line
from reverie.usecases.limits import open_turn
from support.story import Story, call, result, text
from support.talk import thread_entries

BEHIND = [
    [],
    [{"type": "last-prompt", "lastPrompt": "Go on.", "sessionId": "s"}, {"type": "cost-state", "totalCostUSD": 0.1}],
]


@pytest.mark.parametrize("behind", BEHIND)
def test_a_transcript_has_no_open_turn(behind: list[dict[str, object]]) -> None:
    """A transcript that breaks off behind a tool's result has no open turn; an agent's own thread has one."""
    transcript = Story()
    transcript.user("Please oil the winch.")
    transcript.assistant(text("I will look at it."), call("look", command="cat winch.log"))
    transcript.user([result("look", "dry")])
    data = transcript.bytes() + b"".join(json.dumps(line).encode() + b"\n" for line in behind)
    entries = thread_entries(data)
    messages = main_line(entries)
    assert open_turn(entries, messages) == len(messages) > 1
    assert open_turn([replace(entry, id=None) for entry in entries], messages) == 0
