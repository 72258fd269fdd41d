"""The text of a person's last requests: latest first, short ones whole, each once, within a token limit."""

from __future__ import annotations

from reverie import tokenizer
from reverie.importers.join import main_line
from reverie.usecases.resume_text import HEADING, REQUEST_TOKENS, last_requests
from support.story import Story, call, result, text
from support.talk import thread_entries


def requests_of(*said: str, max_tokens: int = 2_000) -> str:
    """Return the text of the person's last requests, for a session in which they said these, each with a reply."""
    transcript = Story()
    for words in said:
        transcript.user(words)
        transcript.assistant(text("It is done."))
    return last_requests(main_line(thread_entries(transcript.bytes())), max_tokens)


def test_latest_first_and_each_once() -> None:
    """Requests are listed latest first, each once, with all lines, and without what the client adds."""
    found = requests_of("yes", "Paint the gate:\n- green\n- twice", "<system-reminder>x</system-reminder>", "yes")
    assert found == f"{HEADING}\n- yes\n- Paint the gate:\n  - green\n  - twice"


def test_words_of_a_refusal_and_beside_a_result() -> None:
    """Words with which a person refuses or interrupts a call are listed as requests."""
    refused = "The user doesn't want to take this action right now. STOP.\n\nthe user said:\nOil it first"
    transcript = Story()
    transcript.assistant(call("paint"))
    transcript.user([{**result("paint", refused), "is_error": True}])
    transcript.assistant(call("oil"))
    transcript.user([result("oil"), text("[Request interrupted by user]"), text("No, wait for the rain.")])
    found = last_requests(main_line(thread_entries(transcript.bytes())), 200)
    assert found == f"{HEADING}\n- No, wait for the rain.\n- Oil it first"


def test_a_long_one_keeps_beginning_and_end() -> None:
    """A long request is shortened in its middle, so that the request before it is listed too."""
    words = " ".join(f"plank{number}" for number in range(2_000))
    found = requests_of("Count the planks.", f"Look: {words} Which one is missing?")
    assert found.startswith(f"{HEADING}\n- Look: plank0 ")
    assert "Which one is missing?\n- Count the planks." in found
    assert tokenizer.count(found) < REQUEST_TOKENS + 50


def test_older_ones_are_left_out() -> None:
    """Older requests are left out so that the text is within `max_tokens`; it is empty if none fits."""
    said = [f"Paint gate {number} as green as the others, and the hinges black." for number in range(40)]
    found = requests_of(*said, max_tokens=200)
    assert 150 < tokenizer.count(found) <= 200
    assert [line[2:] for line in found.split("\n")[1:9]] == said[:-9:-1]
    assert requests_of(*said, max_tokens=20) == ""
    assert requests_of() == ""
