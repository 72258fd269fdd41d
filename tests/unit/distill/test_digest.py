"""The thread digest: who this is and what we usually do, in at most 500 tokens."""

from __future__ import annotations

from reverie import tokens
from reverie.distill.extractive import Extractive
from support.thread import Thread, logger_fix

ENGINE = Extractive()


def test_digest_tells_manner_work_wishes_and_topics() -> None:
    """One fact a line."""
    lines = ENGINE.digest(logger_fix().messages).split("\n")
    assert lines[0].startswith("- The user writes ")
    assert "- Usual work: edits .ts files under /home/ann/app/src" in lines
    assert "- Usual checks: tests, commits" in lines
    assert "- Wishes: We always use conventional commits." in lines
    assert any(line.startswith("- Worked on: 2026-03-05 The logger writes to stdout") for line in lines)


def test_digest_runs_on_within_its_bound() -> None:
    """Old topics give way, wishes stay."""
    text = ENGINE.digest(logger_fix().messages)
    for number in range(60):
        thread = Thread().user(f"Please write chapter number {number} of the manual about pumps and valves")
        text = ENGINE.digest(thread.messages, text)
        assert tokens.count(text) <= 500
    assert "chapter number 59" in text
    assert "chapter number 2 " not in text
    assert "We always use conventional commits." in text


def test_nothing_said_keeps_the_digest() -> None:
    """A thread without a word from a person changes nothing."""
    assert ENGINE.digest([], "- Wishes: x") == "- Wishes: x"
