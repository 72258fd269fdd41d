"""Checks that failed and passed later, with the files edited in between."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reverie.distill import commands as shell_commands_and_commits
from reverie.distill.tools import EDITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.distill.commands import Purpose, Run
    from reverie.distill.facts import KeySentence
    from reverie.distill.steps import Trace

__all__ = ["FixedFailure", "match_failures"]

_BUILD = (shell_commands_and_commits.Purpose.BUILD, "")


@dataclass(frozen=True, slots=True)
class FixedFailure:
    """A command that failed and later passed, with the files edited in between."""

    failed: Run
    passed: Run
    files: tuple[str, ...]
    why: str


def match_failures(
    runs: Sequence[Run], trace: Trace, findings: Sequence[KeySentence]
) -> tuple[list[FixedFailure], list[Run]]:
    """Return the failures that edits and a later passing run of their purpose fixed, and the runs that still fail."""
    fixes: list[FixedFailure] = []
    first_runs: dict[tuple[Purpose, str], Run] = {}
    last_runs: dict[tuple[Purpose, str], Run] = {}
    for run in runs:
        key = (run.purpose, _run_key(run))
        before = first_runs.get(key)
        if run.failed:
            first_runs.setdefault(key, run)
            last_runs.pop(key, None)
            last_runs[key] = run
        elif before is not None:
            del first_runs[key], last_runs[key]
            files = _edited_between(trace, before.seq, run.seq)
            if files:
                fixes.append(FixedFailure(before, run, files, _why(findings, before.seq, run.seq)))
        if not run.failed and run.purpose is shell_commands_and_commits.Purpose.TEST:
            built = first_runs.get(_BUILD)
            if built is not None and _edited_between(trace, built.seq, run.seq):
                del first_runs[_BUILD], last_runs[_BUILD]  # what was mended and is tested has been built
    return fixes, list(last_runs.values())


def _run_key(run: Run) -> str:
    """Return the key by which runs are compared: the purpose for checks, else the program."""
    if run.purpose is not shell_commands_and_commits.Purpose.OTHER:
        return ""
    words = run.command.split()
    return " ".join(words[:2])


def _edited_between(trace: Trace, after: int, before: int) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys(
            trace.relative(call.path)
            for call in trace.calls
            if call.tool in EDITS and after <= call.seq <= before and call.path and not call.failed
        )
    )


def _why(findings: Sequence[KeySentence], after: int, before: int) -> str:
    return next((mark.text for mark in findings if after <= mark.seq <= before), "")
