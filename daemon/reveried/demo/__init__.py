"""The demo: imports one session into a temporary daemon, distills it, and prints its context and memories."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reveried.cli.output import print_json, spinner
from reveried.demo.steps import (
    DemoResult,
    Selection,
    TemporaryDaemon,
    distill_threads,
    import_sessions,
    select_sessions,
    temporary_daemon,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


def run_demo(paths: Sequence[Path], *, keep: bool, json: bool) -> None:
    """Run the demo and print it; its daemon and folder are removed at the end unless `keep`.

    Raises:
        NotFound: no session is at a given path, or it has no messages.
    """
    with temporary_daemon(keep=keep, quiet=json) as daemon:
        selection = select_sessions(paths, Path.home(), daemon.home)
        if json:
            print_json(_json_result(_run_quietly(daemon, selection), daemon, keep=keep))
        else:
            _run_with_report(daemon, selection, keep=keep)


def _run_with_report(daemon: TemporaryDaemon, selection: Selection, *, keep: bool) -> None:
    """Run the steps and print a page after each."""
    from reveried.demo.report import Report  # noqa: PLC0415 - --json prints no pages

    report = Report()
    report.print_introduction(selection, daemon.home)
    files, thread = import_sessions(daemon.client, selection.files)
    report.print_import(files, thread)
    with spinner("Distilling and extracting memories"):
        result = distill_threads(daemon.client, files, thread, selection)
    report.print_context(result)
    report.print_working_state(result.state)
    report.print_memories(result)
    report.print_recall(result.question, result.recalled)
    report.print_files(Path(result.root))
    report.print_measured(result.measured)
    report.print_next_steps(daemon.home, Path(result.root), daemon.pid, keep=keep)
    if not keep and sys.stdin.isatty() and sys.stdout.isatty():
        input(f"The files are in {result.root} until you press Enter; then the folder and its daemon are removed. ")


def _run_quietly(daemon: TemporaryDaemon, selection: Selection) -> DemoResult:
    """Run the steps of the demo without output, and return their result."""
    files, thread = import_sessions(daemon.client, selection.files, quiet=True)
    return distill_threads(daemon.client, files, thread, selection)


def _json_result(result: DemoResult, daemon: TemporaryDaemon, *, keep: bool) -> dict[str, Any]:
    """Return the result of the demo as JSON values."""
    return {
        "before": result.before,
        "after": result.context.tokens,
        "distilled": result.distilled,
        "workingState": result.state,
        "memories": result.memories,
        "asked": result.question,
        "recalled": result.recalled,
        "measured": None if result.measured is None else result.measured.rows,
        "root": result.root,
        "home": str(daemon.home),
        "kept": keep,
    }
