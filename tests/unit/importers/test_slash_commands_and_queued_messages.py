"""Slash commands, and words sent while the agent works: typed by the person, but no prompts of their own."""

from __future__ import annotations

import pytest

from reverie.importers.join_main_line_entries_and_pair_tool_results import main_line
from reverie.importers.slash_commands_and_queued_messages import typed_asides, with_asides
from support.transcripts import Transcript, call, result, text


def queue(transcript: Transcript, operation: str, content: str | None = None) -> None:
    """Add an operation of the queue of words that were sent while the agent worked."""
    line = {
        "type": "queue-operation",
        "operation": operation,
        "sessionId": "s1",
        "timestamp": "2026-01-02T03:04:05.000Z",
    }
    transcript.lines.append(line if content is None else {**line, "content": content})


def command(name: str, arguments: str = "") -> str:
    """Return a slash command as the client writes it."""
    parts = (("message", name), ("name", f"/{name}"), ("args", arguments))
    return "\n".join(f"<command-{part}>{words}</command-{part}>" for part, words in parts)


def asides(transcript: Transcript) -> list[str]:
    """Return the slash commands and interjections of a transcript, as texts."""
    return [str(message.content) for message in typed_asides(transcript.entries())]


def test_words_sent_meanwhile_are_the_persons() -> None:
    """Words sent while the agent works are a user's message at the step where the agent got them."""
    transcript = Transcript()
    transcript.user("Paint the fence.")
    transcript.assistant(call("a"))
    queue(transcript, "enqueue", "oh, and use no red")
    queue(transcript, "remove")
    transcript.user([result("a")])
    transcript.assistant(text("It is green."))
    entries = transcript.entries()

    messages = with_asides(main_line(entries), entries)

    assert [message.role for message in messages][:3] == ["user", "assistant", "user"]
    assert messages[2].content == "oh, and use no red"
    assert messages[2].first_seq == 3


def test_words_that_become_a_prompt_are_not_doubled() -> None:
    """A queued text that becomes a prompt is no interjection, nor is one that was taken back."""
    transcript = Transcript()
    transcript.user("Paint the fence.")
    queue(transcript, "enqueue", "and the door")
    queue(transcript, "enqueue", "never mind")
    queue(transcript, "dequeue")
    queue(transcript, "popAll")
    queue(transcript, "enqueue", "in blue")
    queue(transcript, "remove")

    assert asides(transcript) == ["in blue"]


@pytest.mark.parametrize("words", ["<task-notification>done</task-notification>", '{"kind": "news"}', "/compact", " "])
def test_news_of_the_client_is_no_speech(words: str) -> None:
    """Notices of background tasks and commands to the client in the queue are no interjections."""
    transcript = Transcript()
    queue(transcript, "enqueue", words)
    queue(transcript, "remove")

    assert asides(transcript) == []


def test_commands_of_the_person_are_shown_with_their_arguments() -> None:
    """A command of the person's own or of a plugin is a request; one to the client, and its output, are not."""
    transcript = Transcript()
    transcript.user(command("review", "158"))
    transcript.user(command("clear"))
    transcript.user("<local-command-stdout>cleared</local-command-stdout>")
    transcript.user(command("guild:plan"))

    assert asides(transcript) == ["/review 158", "/guild:plan"]


def test_a_queue_of_any_shape_is_read() -> None:
    """Queue operations without words, of another form or on an empty queue are ignored."""
    transcript = Transcript()
    queue(transcript, "remove")
    queue(transcript, "dequeue")
    queue(transcript, "enqueue")
    queue(transcript, "remove")
    transcript.lines.append({"type": "queue-operation", "operation": 7, "timestamp": "2026-01-02T03:04:05.000Z"})

    assert asides(transcript) == []
