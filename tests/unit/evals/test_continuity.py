"""The continuity report: an independent program agrees, texts fit their budgets, and the picture has its figures."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from reverie import tokenizer
from reverie.context.text import render
from reverie.errors import ValidationError
from reverie.evals.after_transcript import context_of
from reverie.evals.continuity import CLIENT, REVERIE, TAIL, TALK, TIERS, Report, continuity, svg
from reverie.evals.cuts import find_cuts
from reverie.importers.find import read_entries
from support.shared import SHARED, real_sessions
from support.soak import count
from support.story import compacted_session

JUDGED = ("2026-01-05-", "1a289c77-")  # the two smallest sessions that were compacted
BUDGETS = (4_000, 16_000)


def load_program(path: Path) -> Any:
    """Return a Python file outside of the project, such as a judge of measurements, as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def session(tmp_path: Path) -> Path:
    path = tmp_path / "s.jsonl"
    path.write_bytes(compacted_session())
    return path


def row(report: Report, way: str, budget: int | None) -> Any:
    return next(row for row in report.rows if (row.way, row.budget) == (way, budget))


def test_every_way_is_measured_at_every_budget(session: Path) -> None:
    """The continuity report measures each way of keeping context at each budget; no text exceeds its budget."""
    report = continuity([session], budgets=(800, 3_000))
    assert (report.sessions, report.cuts, report.needed_median) == (1, 1, 10)
    assert [(row_.way, row_.budget) for row_ in report.rows] == [
        *((way, budget) for way in (REVERIE, TAIL, TALK) for budget in (800, 3_000)),
        (CLIENT, None),
    ]
    assert all(row_.tokens_max <= row_.budget for row_ in report.rows if row_.budget is not None)
    assert row(report, REVERIE, 3_000).in_context.percent > row(report, CLIENT, None).in_context.percent
    assert report == continuity([session], budgets=(800, 3_000))


def test_tiers_add_up(session: Path) -> None:
    """The shares of the tiers add up to that of the context, and their tokens to no more than the budget."""
    report = continuity([session], budgets=(800, 3_000))
    for budget in (800, 3_000):
        tiers = [tier for tier in report.tiers if tier.budget == budget]
        assert [tier.tier for tier in tiers] == list(TIERS)
        assert sum(tier.in_context for tier in tiers) == pytest.approx(row(report, REVERIE, budget).in_context.percent)
        assert sum(tier.tokens for tier in tiers) <= budget


def test_unreadable_files(session: Path, tmp_path: Path) -> None:
    """An unreadable file is listed and does not stop the evaluation; `on_file` is called for every file."""
    broken = tmp_path / "b.jsonl.gz"
    broken.write_bytes(b"PK\x03\x04 an archive")
    calls: list[int] = []
    report = continuity([broken, session], budgets=(3_000,), on_file=lambda: calls.append(1))
    assert len(calls) == 2
    assert report.cuts == 1
    assert [path for path, _ in report.unread] == [str(broken)]


@pytest.mark.parametrize("points", [0, 2])
def test_sessions_without_cuts(tmp_path: Path, points: int) -> None:
    """Sessions without a cut, or without a compaction, raise ValidationError with a hint."""
    path = tmp_path / "s.jsonl"
    path.write_bytes(compacted_session(compacted=False, tasks=1))
    with pytest.raises(ValidationError, match="cut" if points else "compacted") as refused:
        continuity([path], points=points)
    assert "sessions" in str(refused.value.hint)


def test_picture(session: Path) -> None:
    """The picture is well-formed SVG with tiers, budgets and figures; a bar is as long as its share."""
    report = continuity([session], budgets=(800, 3_000))
    root = ET.fromstring(svg(report))  # noqa: S314 - our own text
    space = {"s": "http://www.w3.org/2000/svg"}
    texts = [element.text or "" for element in root.iterfind(".//s:text", space)]
    assert {"800", "3,000", "working state", "excerpts", "plain tail", "talk alone"} <= set(texts)
    assert f"{row(report, REVERIE, 3_000).in_context.percent:.1f}" in texts
    assert any(words.startswith("client's own summary") for words in texts)
    widths = {
        title.text: float(bar.get("width", "-1"))
        for bar in root.iterfind(".//s:rect", space)
        if (title := bar.find("s:title", space)) is not None
    }
    excerpts = next(tier for tier in report.tiers if tier.budget == 3_000 and tier.tier == "excerpts")
    assert widths[f"excerpts: {excerpts.in_context:.0f} %"] == pytest.approx(6 * excerpts.in_context, abs=0.1)


def test_picture_without_compactions(tmp_path: Path) -> None:
    """Without compactions the report and the picture have no client's summary."""
    path = tmp_path / "s.jsonl"
    path.write_bytes(compacted_session(compacted=False, tasks=9))
    report = continuity([path], budgets=(3_000,), points=2)
    assert all(row_.way != CLIENT for row_ in report.rows)
    assert CLIENT not in svg(report)


@pytest.mark.measures("eval/continuity_bench.py", "data/transcripts/claude-code")
@pytest.mark.parametrize("name", JUDGED)
def test_figures_agree_with_the_judge(name: str) -> None:
    """On a recorded session our continuity figures are within one point of an independent program's."""
    judge = load_program(SHARED / "eval/continuity_bench.py")
    path = next(path for path in real_sessions() if path.name.startswith(name))
    report = continuity([path], budgets=BUDGETS)
    (event,) = judge.events(str(path))
    before = list(read_entries(path))
    cut = next(at for at, entry in enumerate(before) if entry.extra.get("isCompactSummary"))
    assert len(event["needed"]) == report.needed_median
    for budget in BUDGETS:
        ours = render(context_of(before[:cut], budget).request)
        assert tokenizer.count(ours) <= budget
        _agrees(judge, event, ours, row(report, REVERIE, budget))
        _agrees(judge, event, judge.cut(judge.tail(event["pre"], 10**6, budget), budget), row(report, TAIL, budget))
        _agrees(judge, event, judge.cut(judge.prose(event["pre"], budget), budget), row(report, TALK, budget))
    _agrees(judge, event, event["summary"], row(report, CLIENT, None))


@pytest.mark.measures("eval/continuity_bench.py", "data/transcripts/claude-code")
def test_cuts_agree_with_the_judge() -> None:
    """On recorded sessions (in a soak all of them) an independent program finds the same cuts and needed names."""
    judge = load_program(SHARED / "eval/continuity_bench.py")
    for path in real_sessions()[:: count(2, 1)]:
        ours = [(list(e.needed), e.near, e.asked) for e in find_cuts(str(path), list(read_entries(path, tokens=False)))]
        assert ours == [(e["needed"], e["around"], e["asked"]) for e in judge.events(str(path))], path.name


def _agrees(judge: Any, event: Any, text: str, ours: Any) -> None:
    """Assert that the judge's shares of a text are within one point of ours."""
    assert ours.in_context.percent == pytest.approx(100 * judge.in_context(text, event), abs=1)
    assert ours.needed.percent == pytest.approx(100 * judge.occurs(text, event), abs=1)
    asked = 100 * len(event["asked"] & judge.grams(text)) / len(event["asked"])
    assert ours.asked.percent == pytest.approx(asked, abs=1)
