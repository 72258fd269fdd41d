"""The continuity report: agrees with an independent judge, is bounded, deterministic, and drawn as it is."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from reverie import tokens
from reverie.context import render
from reverie.errors import ValidationError
from reverie.evals.continuity import CLIENT, REVERIE, TAIL, TALK, TIERS, continuity
from reverie.evals.events import events
from reverie.evals.picture import svg
from reverie.evals.texts import context_of
from reverie.importers.files import read_entries
from support.compacted import compacted_session
from support.shared import SHARED, real_sessions

if TYPE_CHECKING:
    from pathlib import Path

    from reverie.evals.continuity import Report

JUDGED = ("2026-01-05-", "1a289c77-")  # the two smallest sessions that were compacted
BUDGETS = (4_000, 16_000)


@pytest.fixture
def session(tmp_path: Path) -> Path:
    path = tmp_path / "s.jsonl"
    path.write_bytes(compacted_session())
    return path


def row(report: Report, way: str, budget: int | None) -> Any:
    return next(row for row in report.rows if (row.way, row.budget) == (way, budget))


def test_every_way_is_measured_at_every_budget(session: Path) -> None:
    """Ours, the tail, the talk; the client's own summary as long as it is. No text is over its budget."""
    report = continuity([session], budgets=(800, 3_000))
    assert (report.sessions, report.events, report.needed_median) == (1, 1, 10)
    assert [(each.way, each.budget) for each in report.rows] == [
        *((way, budget) for way in (REVERIE, TAIL, TALK) for budget in (800, 3_000)),
        (CLIENT, None),
    ]
    assert all(each.tokens_max <= each.budget for each in report.rows if each.budget is not None)
    assert row(report, REVERIE, 3_000).in_context.percent > row(report, CLIENT, None).in_context.percent
    assert report == continuity([session], budgets=(800, 3_000))


def test_tiers_add_up(session: Path) -> None:
    """What the tiers keep is what the whole keeps, and what they take is not above the budget."""
    report = continuity([session], budgets=(800, 3_000))
    for budget in (800, 3_000):
        tiers = [each for each in report.tiers if each.budget == budget]
        assert [each.tier for each in tiers] == list(TIERS)
        assert sum(each.kept for each in tiers) == pytest.approx(row(report, REVERIE, budget).in_context.percent)
        assert sum(each.tokens for each in tiers) <= budget


def test_files_that_are_no_sessions_are_told(session: Path, tmp_path: Path) -> None:
    """One broken file does not end a long measurement; `each` is told of every file."""
    broken = tmp_path / "b.jsonl.gz"
    broken.write_bytes(b"PK\x03\x04 an archive")
    told: list[int] = []
    report = continuity([broken, session], budgets=(3_000,), each=lambda: told.append(1))
    assert len(told) == 2
    assert report.events == 1
    assert [path for path, _ in report.unread] == [str(broken)]


@pytest.mark.parametrize("cuts", [0, 2])
def test_nothing_to_measure_says_what_to_do(tmp_path: Path, cuts: int) -> None:
    """Sessions without an event are an error with the next step."""
    path = tmp_path / "s.jsonl"
    path.write_bytes(compacted_session(compacted=False, tasks=1))
    with pytest.raises(ValidationError, match="cut" if cuts else "compacted") as refused:
        continuity([path], cuts=cuts)
    assert "sessions" in str(refused.value.hint)


def test_the_picture_is_what_the_report_says(session: Path) -> None:
    """Well-formed SVG with every tier, every budget and the figures; a tier's bar is as long as what it kept."""
    report = continuity([session], budgets=(800, 3_000))
    root = ET.fromstring(svg(report))  # noqa: S314 - our own text
    space = {"s": "http://www.w3.org/2000/svg"}
    shown = [element.text or "" for element in root.iterfind(".//s:text", space)]
    assert {"800", "3,000", "working state", "excerpts", "plain tail", "talk alone"} <= set(shown)
    assert f"{row(report, REVERIE, 3_000).in_context.percent:.1f}" in shown
    assert any(words.startswith("client's own summary") for words in shown)
    told = {
        title.text: float(bar.get("width", "-1"))
        for bar in root.iterfind(".//s:rect", space)
        if (title := bar.find("s:title", space)) is not None
    }
    kept = next(each for each in report.tiers if each.budget == 3_000 and each.tier == "excerpts")
    assert told[f"excerpts: {kept.kept:.0f} %"] == pytest.approx(6 * kept.kept, abs=0.1)


def test_the_picture_of_chosen_cuts_has_no_client(tmp_path: Path) -> None:
    """Where no client compacted anything there is no summary of its own to compare with."""
    path = tmp_path / "s.jsonl"
    path.write_bytes(compacted_session(compacted=False, tasks=9))
    report = continuity([path], budgets=(3_000,), cuts=2)
    assert all(each.way != CLIENT for each in report.rows)
    assert CLIENT not in svg(report)


@pytest.mark.measures("eval/continuity_bench.py", "data/transcripts/claude-code")
@pytest.mark.parametrize("name", JUDGED)
def test_figures_agree_with_the_judge(name: str) -> None:
    """Within one point of an independent program, for our context and for every baseline, on a real session."""
    judge = _judge(SHARED / "eval/continuity_bench.py")
    path = next(path for path in real_sessions() if path.name.startswith(name))
    report = continuity([path], budgets=BUDGETS)
    (event,) = judge.events(str(path))
    before = list(read_entries(path, tokens=False))
    cut = next(place for place, entry in enumerate(before) if entry.extra.get("isCompactSummary"))
    assert len(event["needed"]) == report.needed_median
    for budget in BUDGETS:
        ours = render(context_of(before[:cut], budget))
        assert tokens.count(ours) <= budget
        _agrees(judge, event, ours, row(report, REVERIE, budget))
        _agrees(judge, event, judge.cut(judge.tail(event["pre"], 10**6, budget), budget), row(report, TAIL, budget))
        _agrees(judge, event, judge.cut(judge.prose(event["pre"], budget), budget), row(report, TALK, budget))
    _agrees(judge, event, event["summary"], row(report, CLIENT, None))


@pytest.mark.measures("eval/continuity_bench.py", "data/transcripts/claude-code")
def test_events_agree_with_the_judge() -> None:
    """Recorded sessions have the judge's events: the same needed names, the words near each and what was asked."""
    judge = _judge(SHARED / "eval/continuity_bench.py")
    for path in real_sessions():
        ours = [(list(e.needed), e.near, e.asked) for e in events(str(path), list(read_entries(path, tokens=False)))]
        assert ours == [(e["needed"], e["around"], e["asked"]) for e in judge.events(str(path))], path.name


def _agrees(judge: Any, event: Any, text: str, ours: Any) -> None:
    assert ours.in_context.percent == pytest.approx(100 * judge.in_context(text, event), abs=1)
    assert ours.needed.percent == pytest.approx(100 * judge.occurs(text, event), abs=1)
    asked = 100 * len(event["asked"] & judge.grams(text)) / len(event["asked"])
    assert ours.asked.percent == pytest.approx(asked, abs=1)


def _judge(path: Path) -> Any:
    """Return the judge as a module."""
    spec = importlib.util.spec_from_file_location("judge", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
