"""A context as one plain text: chosen tiers, a size in characters, and refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

from reverie.client import Client
from reverie.context.text import TEXT_TIERS
from reverie.context.tiers import FRAME
from reverie.errors import NotFound, ValidationError
from reverie.wire.contexts import TIERS
from reveried.cli import send_sessions
from support.daemon import Daemon, check_refused
from support.story import Story, text

TURNS = 40


@pytest.fixture
def thread(client: Client) -> str:
    """Return a thread with many turns, a note and a task, which was distilled once."""
    name = client.create_thread(title="Gates").id
    for number in range(TURNS):
        question = {"role": "user", "content": f"Please paint gate {number} in src/gate_{number}.py green."}
        words = " ".join(f"{word}{number}" for word in ("hinge", "latch", "paint", "brush", "post", "wall") * 8)
        reply = {"role": "assistant", "content": f"Decision: gate {number} is green because of {words}."}
        client.append(name, [question, reply])
    client.add_note(name, "the north gate stays red", "correction")
    client.set_working_state(name, current_task="paint the gates", next_steps=["gate 41"])
    client.distill(name)
    return name


def test_a_text_of_tiers_has_every_one_in_order(client: Client, thread: str) -> None:
    """The text begins with one frame sentence; then come state, note, summary and last messages in this order."""
    text = client.context_text(thread, tiers=list(TEXT_TIERS))
    assert text.startswith(FRAME)
    assert text.count(FRAME) == 1
    places = [
        text.rindex(part)
        for part in (
            "Current task: paint the gates",
            "the north gate stays red",
            "# Conversation Summary (Distillation #1)",
            "## The last messages",
            "Please paint gate 39",
        )
    ]
    assert places == sorted(places)


def test_tiers_are_chosen(client: Client, thread: str) -> None:
    """Only the named tiers are in the text, in the order of tiers and not of the names."""
    text = client.context_text(thread, tiers=["notes", "workingState"])
    assert "the north gate stays red" in text
    assert text.index("Current task") < text.index("the north gate")
    assert "Summary" not in text
    assert "## The last messages" not in text
    assert client.context_text(thread, tiers=["bootstrap"]) == ""
    assert TEXT_TIERS == TIERS


@pytest.mark.parametrize("chars", [1, 120, 400, 1000, 3000, 9500, 40_000])
def test_a_text_is_within_its_size(client: Client, thread: str, chars: int) -> None:
    """A text has at most `maxChars` characters, uses most of them, and from 400 on has the current task."""
    text = client.context_text(thread, max_chars=chars)
    assert len(text) <= chars
    if chars >= 400:
        assert "Current task: paint the gates" in text
    if chars <= 9500:
        assert len(text) >= (chars - 120) * 0.5
    if chars >= 3000:
        assert "the north gate stays red" in text
        assert "gate 39" in text


def test_an_open_turn_larger_than_the_text_is_shortened(client: Client) -> None:
    """An open turn that is longer than `maxChars` is shortened, without an error."""
    name = client.create_thread().id
    client.append(name, [{"role": "user", "content": "Read this: " + "wall " * 20_000}])
    text = client.context_text(name, max_chars=2000)
    assert len(text) <= 2000
    assert "Read this: wall wall" in text


def test_what_does_not_fit_together_is_refused(daemon: Daemon, client: Client, thread: str) -> None:
    """`maxChars` or `tiers` without `format=text`, an unknown tier and size 0 are refused, as is an unknown thread."""
    for query in ("maxChars=100", "tiers=notes", "format=text&tiers=notes,nonsense", "format=text&maxChars=0"):
        answer = daemon.ask("GET", f"/v1/threads/{thread}/context?{query}")
        check_refused(answer, 400, "validation_error")
    plain = daemon.ask("GET", f"/v1/threads/{thread}/context?format=text&maxChars=300")
    assert plain.headers["content-type"] == "text/plain; charset=utf-8"
    with pytest.raises(NotFound):
        client.context_text("nobody", max_chars=100)
    with pytest.raises(ValidationError):
        client.context_text(thread, tiers=["tails"])


def test_a_thread_with_a_summary_of_its_client_has_a_text(client: Client, tmp_path: Path) -> None:
    """A short thread that its client had compacted has a text with the words of its messages."""
    writer = Story(77, "/home/ann/harbour")
    writer.user("paint the north gate green")
    writer.reply(text("It is green."))
    writer.compact("They talked about a gate.", 90_000)
    writer.user("and the fence")
    path = tmp_path / f"{writer.session}.jsonl"
    path.write_bytes(writer.bytes())
    thread = send_sessions.import_file(client, path, program="claude-code").thread
    assert thread is not None
    assert "north gate" in client.context_text(thread, max_chars=8_000)
