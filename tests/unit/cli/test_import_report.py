"""The report of an import whose files failed: each reason once."""

from __future__ import annotations

from collections import Counter

import pytest

from reveried.cli.imports import print_reports, print_why_none
from reveried.cli.send_sessions import FileReport


def test_one_reason_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    """Files that failed for the same reason are counted behind the first of them; others have lines of their own."""
    full = "the disk is full (free some space)"
    reports = [FileReport(f"/s/{number}.jsonl", error=full) for number in range(3)]
    reports.append(FileReport("/s/odd.jsonl", error="/s/odd.jsonl is no file"))
    print_reports(reports)
    assert capsys.readouterr().err.splitlines() == [
        f"/s/0.jsonl and 2 more files: {full}",
        "/s/odd.jsonl is no file",
    ]


@pytest.mark.parametrize(
    ("decisions", "said"),
    [
        ({}, "Memories: none; no wish, rule, decision or habit was recognised"),
        ({"SKIP": 2, "KEEP": 70}, "Memories: none new; 2 statements of these sessions changed nothing"),
        ({"ADD": 1, "SKIP": 1}, ""),
    ],
)
def test_why_nothing_was_learnt(capsys: pytest.CaptureFixture[str], decisions: dict[str, int], said: str) -> None:
    """New lines that make no memory are said to, with the reason; where one was made nothing is said."""
    print_why_none([FileReport("/s/1.jsonl"), FileReport("/s/2.jsonl", added=3)], Counter(decisions))
    out = capsys.readouterr().out
    assert said in out
    assert bool(out) == bool(said)
    print_why_none([FileReport("/s/1.jsonl")], Counter(decisions))
    assert capsys.readouterr().out == ""  # nothing new was read
