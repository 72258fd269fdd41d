"""What survives a distillation of real sessions: this project's context beside simpler ones, at several budgets."""

from __future__ import annotations

import statistics
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from reverie import tokens
from reverie.context import render
from reverie.errors import ReverieError, ValidationError
from reverie.evals.baselines import plain_tail, talk_alone
from reverie.evals.events import events
from reverie.evals.measures import Mean, Scores, held, mean_over_sessions, score
from reverie.evals.texts import context_of
from reverie.importers.files import read_entries

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from reverie.context import Context
    from reverie.evals.events import Event

__all__ = ["BUDGETS", "CLIENT", "REVERIE", "TAIL", "TALK", "TIERS", "Report", "Row", "TierRow", "continuity"]

BUDGETS: Final = (4_000, 8_000, 16_000, 32_000)

REVERIE: Final = "reverie"
TAIL: Final = "plain tail"
TALK: Final = "talk alone"
CLIENT: Final = "client's own summary"

TIERS: Final = ("workingState", "digest", "summary", "excerpts", "tail")
"""The tiers of a context made from a transcript alone. A name that stands in several is counted for the first."""


@dataclass(frozen=True, slots=True)
class Row:
    """One way to go on after an event, at one budget in tokens (None: as long as it is): means over the sessions."""

    way: str
    budget: int | None
    in_context: Mean
    needed: Mean
    asked: Mean | None
    tokens_median: int
    tokens_max: int


@dataclass(frozen=True, slots=True)
class TierRow:
    """What one tier takes and keeps at one budget: tokens, and percent of what was needed; means over the sessions."""

    budget: int
    tier: str
    tokens: float
    kept: float


@dataclass(frozen=True, slots=True)
class Report:
    """The whole measurement. `unread` are files that are no transcripts, each with the reason."""

    sessions: int
    events: int
    needed_median: float
    rows: tuple[Row, ...]
    tiers: tuple[TierRow, ...]
    unread: tuple[tuple[str, str], ...]


@dataclass(slots=True)
class _Tally:
    """Scores as they come in, by way and budget; of the texts themselves nothing is kept."""

    scores: dict[tuple[str, int | None], list[tuple[str, Scores, int]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    tiers: dict[tuple[int, str], list[tuple[str, float, float]]] = field(default_factory=lambda: defaultdict(list))
    needed: list[int] = field(default_factory=list)
    sessions: set[str] = field(default_factory=set)


def continuity(
    paths: Sequence[Path],
    *,
    budgets: Sequence[int] = BUDGETS,
    cuts: int = 0,
    each: Callable[[], None] = lambda: None,
) -> Report:
    """The measures over every event of the transcripts at `paths`; `each` is called after every file.

    Events are the compactions in a session; one without any is cut at `cuts` points instead. A text is cut at its
    budget before it is scored.

    Raises:
        ValidationError: there is no event in any of them.
        TokenBudgetExceeded: a budget is too small for any context.
    """
    tally = _Tally()
    unread: list[tuple[str, str]] = []
    for path in paths:
        try:
            read = list(read_entries(path, tokens=False))
        except ReverieError as error:
            unread.append((str(path), error.message))
            read = []
        for event in events(str(path), read, cuts=cuts):
            _measure(event, budgets, tally)
        each()
    if not tally.needed:
        more = "give more or longer sessions"
        raise ValidationError(
            f"no session of {len(paths)} was {'cut' if cuts else 'compacted'} with enough before and after to measure",
            hint=more if cuts else f"--cuts 3 cuts sessions without compactions at three points; or {more}",
        )
    return _report(tally, budgets, unread)


def _measure(event: Event, budgets: Sequence[int], tally: _Tally) -> None:
    tally.needed.append(len(event.needed))
    tally.sessions.add(event.session)
    if event.summary:
        _add(tally, CLIENT, None, event, event.summary)
    for budget in budgets:
        context = context_of(event.entries, budget)
        text = render(context)
        _add(tally, REVERIE, budget, event, text)
        _add_tiers(tally, budget, event, context, text)
        _add(tally, TAIL, budget, event, plain_tail(event.before, budget))
        _add(tally, TALK, budget, event, talk_alone(event.before, budget))


def _add(tally: _Tally, way: str, budget: int | None, event: Event, text: str) -> None:
    kept = text if budget is None else tokens.truncate(text, budget)
    tally.scores[way, budget].append((event.session, score(kept, event), tokens.count(kept)))


def _add_tiers(tally: _Tally, budget: int, event: Event, context: Context, text: str) -> None:
    total = held(text, event)
    rest = set(total)
    for tier in TIERS:
        here = rest if tier == "tail" else rest & held("\n".join(context.texts.get(tier, ())), event)
        rest = rest - here
        share = len(here) / len(event.needed)
        tally.tiers[budget, tier].append((event.session, float(context.tokens[tier]), share))


def _report(tally: _Tally, budgets: Sequence[int], unread: list[tuple[str, str]]) -> Report:
    order = [(way, budget) for way in (REVERIE, TAIL, TALK) for budget in budgets]
    return Report(
        sessions=len(tally.sessions),
        events=len(tally.needed),
        needed_median=statistics.median(tally.needed),
        rows=tuple(_row(key, tally.scores[key]) for key in [*order, (CLIENT, None)] if tally.scores[key]),
        tiers=tuple(_tier_row(budget, tier, tally.tiers[budget, tier]) for budget in budgets for tier in TIERS),
        unread=tuple(unread),
    )


def _row(key: tuple[str, int | None], scores: Sequence[tuple[str, Scores, int]]) -> Row:
    in_context = mean_over_sessions((session, each.in_context) for session, each, _ in scores)
    needed = mean_over_sessions((session, each.needed) for session, each, _ in scores)
    assert in_context is not None
    assert needed is not None
    sizes = [size for _, _, size in scores]
    return Row(
        way=key[0],
        budget=key[1],
        in_context=in_context,
        needed=needed,
        asked=mean_over_sessions((session, each.asked) for session, each, _ in scores),
        tokens_median=int(statistics.median(sizes)),
        tokens_max=max(sizes),
    )


def _tier_row(budget: int, tier: str, rows: Sequence[tuple[str, float, float]]) -> TierRow:
    size = mean_over_sessions((session, size / 100) for session, size, _ in rows)
    kept = mean_over_sessions((session, share) for session, _, share in rows)
    assert size is not None
    assert kept is not None
    return TierRow(budget, tier, size.percent, kept.percent)
