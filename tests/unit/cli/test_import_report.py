"""The report of an import whose files failed: each reason once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reveried.cli.imports import print_reports
from reveried.cli.send_session_files import FileReport

if TYPE_CHECKING:
    import pytest


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
