"""Comparison of `reverie eval continuity` with the reference judge, and how often a long thread is distilled.

    python tests/bench/bench_eval.py

Needs the measurement data beside the project. Every figure of the continuity judge is printed with ours; the largest
difference must stay within one point.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from reverie.context.inputs import Limits
from reverie.context.text import render
from reverie.evals.after_transcript import context_of
from reverie.evals.continuity import BUDGETS, CLIENT, REVERIE, TAIL, TALK, Report, continuity
from reverie.evals.frequency import frequency, one_thread
from reverie.importers.find import read_entries
from reverie.importers.join import main_line
from support.shared import SHARED, load_program

GOAL_POINTS = 1.0
FEWER_GOAL = 0.60
WINDOW = 200_000


def main() -> None:
    """Print one table for continuity, one line for frequency."""
    paths = sorted((SHARED / "data" / "transcripts" / "claude-code").glob("*.jsonl.gz"))
    if not paths:
        print("needs the measurement data: ../shared is not here")
        return
    judged(paths)
    report = frequency(
        one_thread([main_line(read_entries(path, tokens=False)) for path in paths]), Limits(window=WINDOW)
    )
    print(
        f"distillations of {report.messages:,} messages at {WINDOW:,} tokens: {report.without_editing} without context"
        f" editing, {report.with_editing} with it: {report.fewer or 0:.1%} fewer (goal {FEWER_GOAL:.0%})"
    )


def judged(paths: list[Path]) -> None:
    """Return our report and the judge's figures for the same texts."""
    judge = load_program(SHARED / "eval" / "continuity_bench.py")
    report = continuity(paths)
    events = [event for path in paths for event in judge.events(str(path))]
    print(f"{len({event['path'] for event in events})} sessions, {len(events)} events (ours: {report.cuts})")
    print(f"{'':22s} {'':>7s}  {'in context':>15s}  {'needed':>15s}  {'asked':>15s}   ours, judge")
    worst = 0.0
    for way, budget, texts in _texts(judge, events):
        cells = []
        for ours, theirs in zip(_ours(report, way, budget), _theirs(judge, events, texts), strict=True):
            worst = max(worst, abs(ours - theirs))
            cells.append(f"{ours:7.1f} {theirs:7.1f}")
        print(f"{way:22s} {budget or '':>7}  {'  '.join(cells)}")
    print(f"largest difference {worst:.2f} points (goal: at most {GOAL_POINTS})\n")


def _texts(judge: Any, events: list[Any]) -> Any:
    """Yield each method, each budget, and the method's text for every cut, truncated as the judge does."""
    for budget in BUDGETS:
        yield REVERIE, budget, [_context(event, budget) for event in events]
        yield TAIL, budget, [judge.cut(judge.tail(event["pre"], 10**6, budget), budget) for event in events]
        yield TALK, budget, [judge.cut(judge.prose(event["pre"], budget), budget) for event in events]
    yield CLIENT, None, [event["summary"] for event in events]


def _context(event: Any, budget: int) -> str:
    """Return our context of the entries before a cut in its file, as text within the budget."""
    last = event["all_pre"][-1]["raw"]["uuid"]
    read = list(read_entries(Path(event["path"]), tokens=False))
    end = next(index for index, entry in enumerate(read) if entry.id == last) + 1
    return render(context_of(read[:end], budget).request)


def _ours(report: Report, way: str, budget: int | None) -> tuple[float, float, float]:
    row = next(candidate for candidate in report.rows if (candidate.way, candidate.budget) == (way, budget))
    return row.in_context.percent, row.needed.percent, row.asked.percent if row.asked else 0.0


def _theirs(judge: Any, events: list[Any], texts: list[str]) -> tuple[float, float, float]:
    pairs = list(zip(events, texts, strict=True))
    questions = [
        (event["path"], len(event["asked"] & judge.grams(text)) / len(event["asked"]))
        for event, text in pairs
        if len(event["asked"]) >= 8
    ]
    return (
        judge.mean_se([(event["path"], judge.in_context(text, event)) for event, text in pairs])[0],
        judge.mean_se([(event["path"], judge.occurs(text, event)) for event, text in pairs])[0],
        judge.mean_se(questions)[0],
    )


if __name__ == "__main__":
    main()
