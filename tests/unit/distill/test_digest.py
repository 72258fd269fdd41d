"""The thread digest: who the user is and what the usual work is, in at most 500 tokens."""

from __future__ import annotations

from reverie import count_and_truncate_tokens
from reverie.distill.extractive import Extractive
from support.thread import Thread, logger_fix

ENGINE = Extractive()


def test_digest_lists_style_work_preferences_and_topics() -> None:
    """The digest has a line each for style, usual work, checks, wishes and topics of the thread."""
    lines = ENGINE.digest(logger_fix().messages).split("\n")
    assert lines[0].startswith("- The user writes ")
    assert "- Usual work: edits .ts files under /home/ann/app/src" in lines
    assert "- Usual checks: tests, commits" in lines
    assert "- Wishes: We always use conventional commits." in lines
    assert any(line.startswith("- Worked on: 2026-03-05 The logger writes to stdout") for line in lines)


def test_an_updated_digest_stays_within_its_limit() -> None:
    """An updated digest stays within 500 tokens: old topics are dropped first, preferences stay."""
    text = ENGINE.digest(logger_fix().messages)
    for number in range(60):
        thread = Thread().user(f"Please write chapter number {number} of the manual about pumps and valves")
        text = ENGINE.digest(thread.messages, text)
        assert count_and_truncate_tokens.count(text) <= 500
    assert "chapter number 59" in text
    assert "chapter number 2 " not in text
    assert "We always use conventional commits." in text


def test_a_thread_without_user_messages_keeps_the_digest() -> None:
    """A thread without a message of the user leaves the digest unchanged."""
    assert ENGINE.digest([], "- Wishes: x") == "- Wishes: x"
