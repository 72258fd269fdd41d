"""A transcript has no open turn, whatever lines its client writes after the last message."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from reverie.context.units import has_open_call
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


def test_what_waits_for_a_result() -> None:
    """A call without its result does, and one of two; an interrupted turn and a reply without calls do not."""
    transcript, waiting = Story(), []

    def then(step: object) -> None:
        del step
        waiting.append(has_open_call(main_line(thread_entries(transcript.bytes()), verbatim=True)))

    then(transcript.user("Please oil the winch."))
    then(transcript.assistant(text("I will look."), call("one", command="ls"), call("two", command="cat winch.log")))
    then(transcript.user([result("one", "winch.log")]))
    then(transcript.user([result("two", "dry")]))
    then(transcript.assistant(call("three", command="oil")))
    then(transcript.user("[Request interrupted by user]"))
    then(transcript.assistant(text("Stopped.")))
    assert waiting == [False, True, True, False, True, False, False]
