"""Continuity: how much of what a session needs after a cut is in a context, compared with simpler ways to go on.

Three shares are measured of each text. `needed`: of the names that the work after the cut used, those that occur in
the text. `in_context`: those that occur beside the words that they occurred beside before the cut; a list of names
scores nothing. `asked`: of the word sequences of the person's last messages, those that occur.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from xml.sax.saxutils import escape

from reverie import tokenizer
from reverie.context.text import render
from reverie.errors import ReverieError, ValidationError
from reverie.evals.after_transcript import context_of
from reverie.evals.cuts import GRAMS_MIN, find_cuts, names, word_sequences, words_beside
from reverie.importers.find import read_entries
from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from reverie.context.inputs import Context
    from reverie.evals.cuts import Cut, Line


BUDGETS: Final = (4_000, 8_000, 16_000, 32_000)

REVERIE: Final = "reverie"
TAIL: Final = "plain tail"
TALK: Final = "talk alone"
CLIENT: Final = "client's own summary"

TIERS: Final = ("workingState", "digest", "summary", "excerpts", "tail")
"""Tiers of a context made from a transcript alone. A name that occurs in several counts for the first."""

_PASSAGE_CHARS: Final = 300  # about a sentence or two: words farther away are not beside a name
_NAMES_MAX: Final = 4  # in a passage: more are a list of names, which says nothing about any of them
_WORDS_MIN: Final = 3  # words beside the name in the text and before the cut
_SHARE_MIN: Final = 0.4  # of the passage's words, or a name among any words would count
_SENTENCE_END: Final = lazy_regex(r"(?<=[.;!?])\s+")


@dataclass(frozen=True, slots=True)
class Scores:
    """Shares from 0 to 1 of one text for one cut; `asked` is None if the person's messages are too short for it."""

    in_context: float
    needed: float
    asked: float | None


@dataclass(frozen=True, slots=True)
class Mean:
    """Mean over sessions in percent, and one standard error; None for a single session."""

    percent: float
    error: float | None


@dataclass(frozen=True, slots=True)
class Row:
    """Mean scores over the sessions of one kind of continuation, at one budget in tokens (None: the text's length)."""

    way: str
    budget: int | None
    in_context: Mean
    needed: Mean
    asked: Mean | None
    tokens_median: int
    tokens_max: int


@dataclass(frozen=True, slots=True)
class TierRow:
    """Mean size (tokens) of one tier, and share (percent) of needed names that it is the first to have."""

    budget: int
    tier: str
    tokens: float
    in_context: float


@dataclass(frozen=True, slots=True)
class Report:
    """Result of the evaluation. `unread` are files that are no transcripts, each with the reason."""

    sessions: int
    cuts: int
    needed_median: float
    rows: tuple[Row, ...]
    tiers: tuple[TierRow, ...]
    unread: tuple[tuple[str, str], ...]


@dataclass(slots=True)
class _Samples:
    """The scores of all cuts so far, by way to go on and by budget, without the texts."""

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
    points: int = 0,
    on_file: Callable[[], None] = lambda: None,
) -> Report:
    """Return the report about every cut of the transcripts at `paths`; `on_file` is called after each file.

    Cuts are the compactions in a session; one without any is cut at `points` points instead. A text is truncated to
    its budget before it is scored.

    Raises:
        ValidationError: there is no cut in any of them.
        TokenBudgetExceeded: a budget is too small for any context.
    """
    samples = _Samples()
    unread: list[tuple[str, str]] = []
    for path in paths:
        try:
            entries = list(read_entries(path))
        except ReverieError as error:
            unread.append((str(path), error.message))
            entries = []
        for cut in find_cuts(str(path), entries, points=points):
            _measure(cut, budgets, samples)
        on_file()
    if not samples.needed:
        action, more = "cut" if points else "compacted", "give more or longer sessions"
        raise ValidationError(
            f"no session of {len(paths)} was {action} with enough before and after to measure",
            hint=more if points else f"--cuts 3 cuts sessions without compactions at three points; or {more}",
        )
    return _report(samples, budgets, unread)


def plain_tail(before: Sequence[Line], max_tokens: int) -> str:
    """Return the last lines before a cut, unchanged and without a gap, as many as fit in `max_tokens`."""
    tail: list[str] = []
    room = max_tokens
    for line in reversed(before):
        room -= tokenizer.count(line.text)
        if room < 0:
            break
        tail.append(line.text)
    return "\n".join(reversed(tail))


def talk_alone(before: Sequence[Line], max_tokens: int) -> str:
    """Return the newest words of person and agent, without tools, that fit in `max_tokens`; longer ones are skipped."""
    talk: list[str] = []
    room = max_tokens
    for line in reversed(before):
        cost = tokenizer.count(line.words)
        if line.words and cost <= room:
            talk.append(line.words)
            room -= cost
    return "\n".join(reversed(talk))


def score(text: str, cut: Cut) -> Scores:
    """Return the shares of `text` for what followed `cut`."""
    asked = cut.asked
    return Scores(
        in_context=len(names_in_context(text, cut)) / len(cut.needed),
        needed=sum(name in text for name in cut.needed) / len(cut.needed),
        asked=len(asked & word_sequences(text)) / len(asked) if len(asked) >= GRAMS_MIN else None,
    )


def names_in_context(text: str, cut: Cut) -> frozenset[str]:
    """Return the needed names that occur in `text` beside words that they occurred beside before the cut.

    A passage counts if it has at most four names, and at least three of its words, and four in ten of them, occurred
    beside the name before. Example: "parse_header drops the last byte of chunked bodies" counts for `parse_header` if
    the session discussed bytes and chunked bodies on rows with it; "parse_header, parse_body, read_all" does not.
    """
    context_names: set[str] = set()
    for passage in _passages(text):
        present = [name for name in cut.needed if name not in context_names and name in passage]
        if present and len(names(passage)) <= _NAMES_MAX:
            context_names.update(name for name in present if _has_known_words(passage, name, cut.near[name]))
    return frozenset(context_names)


def mean_over_sessions(rows: Iterable[tuple[str, float | None]]) -> Mean | None:
    """Return the mean of the sessions' means in percent, with its standard error; None if no row has a share."""
    by_session: dict[str, list[float]] = {}
    for session, share in rows:
        if share is not None:
            by_session.setdefault(session, []).append(share)
    means = [100 * statistics.fmean(shares) for shares in by_session.values()]
    if not means:
        return None
    error = statistics.stdev(means) / math.sqrt(len(means)) if len(means) > 1 else None
    return Mean(statistics.fmean(means), error)


def _has_known_words(passage: str, name: str, near: set[str]) -> bool:
    """Return True if enough of the passage's words are among those that occurred near the name before the cut."""
    words = words_beside(passage, name)
    shared = len(words & near)
    return shared >= min(_WORDS_MIN, len(near)) and shared >= _SHARE_MIN * len(words)


def _passages(text: str) -> Iterator[str]:
    """Yield the lines of a text; of longer ones the sentences, cut to _PASSAGE_CHARS characters."""
    for line in text.split("\n"):
        if len(line) <= _PASSAGE_CHARS:
            yield line
            continue
        for sentence in _SENTENCE_END.split(line):
            for at in range(0, len(sentence), _PASSAGE_CHARS):
                yield sentence[at : at + _PASSAGE_CHARS]


def _measure(cut: Cut, budgets: Sequence[int], samples: _Samples) -> None:
    """Score each kind of continuation (summary, context, tail, talk) after one cut at every budget, into `samples`."""
    samples.needed.append(len(cut.needed))
    samples.sessions.add(cut.session)
    if cut.summary:
        _add_scores(samples, CLIENT, None, cut, cut.summary)
    for budget in budgets:
        context = context_of(cut.entries, budget)
        text = render(context.request)
        _add_scores(samples, REVERIE, budget, cut, text)
        _add_tiers(samples, budget, cut, context, text)
        _add_scores(samples, TAIL, budget, cut, plain_tail(cut.before, budget))
        _add_scores(samples, TALK, budget, cut, talk_alone(cut.before, budget))


def _add_scores(samples: _Samples, way: str, budget: int | None, cut: Cut, text: str) -> None:
    """Truncate a text to the budget, and add its scores to the samples."""
    truncated = text if budget is None else tokenizer.truncate(text, budget)
    samples.scores[way, budget].append((cut.session, score(truncated, cut), tokenizer.count(truncated)))


def _add_tiers(samples: _Samples, budget: int, cut: Cut, context: Context, text: str) -> None:
    """Attribute the names of a context to its tiers, each to the first that has it; the rest to the tail."""
    rest = set(names_in_context(text, cut))
    for tier in TIERS:
        in_tier = rest if tier == "tail" else rest & names_in_context("\n".join(context.texts.get(tier, ())), cut)
        rest = rest - in_tier
        share = len(in_tier) / len(cut.needed)
        samples.tiers[budget, tier].append((cut.session, float(context.tokens[tier]), share))


def _report(samples: _Samples, budgets: Sequence[int], unread: list[tuple[str, str]]) -> Report:
    """Return the report with the means of all samples."""
    order = [(way, budget) for way in (REVERIE, TAIL, TALK) for budget in budgets]
    return Report(
        sessions=len(samples.sessions),
        cuts=len(samples.needed),
        needed_median=statistics.median(samples.needed),
        rows=tuple(_row(key, samples.scores[key]) for key in [*order, (CLIENT, None)] if samples.scores[key]),
        tiers=tuple(_tier_row(budget, tier, samples.tiers[budget, tier]) for budget in budgets for tier in TIERS),
        unread=tuple(unread),
    )


def _row(key: tuple[str, int | None], samples: Sequence[tuple[str, Scores, int]]) -> Row:
    """Return the means of one way to go on at one budget; samples are (session, scores, tokens)."""
    in_context = mean_over_sessions((session, scores.in_context) for session, scores, _ in samples)
    needed = mean_over_sessions((session, scores.needed) for session, scores, _ in samples)
    assert in_context is not None
    assert needed is not None
    sizes = [size for _, _, size in samples]
    return Row(
        way=key[0],
        budget=key[1],
        in_context=in_context,
        needed=needed,
        asked=mean_over_sessions((session, scores.asked) for session, scores, _ in samples),
        tokens_median=int(statistics.median(sizes)),
        tokens_max=max(sizes),
    )


def _tier_row(budget: int, tier: str, samples: Sequence[tuple[str, float, float]]) -> TierRow:
    """Return the means of one tier at one budget; samples are (session, tokens, share)."""
    size = mean_over_sessions((session, size / 100) for session, size, _ in samples)  # a mean is times 100
    in_context = mean_over_sessions((session, share) for session, _, share in samples)
    assert size is not None
    assert in_context is not None
    return TierRow(budget, tier, size.percent, in_context.percent)


_WORDS: Final = {
    "workingState": "working state",
    "digest": "thread digest",
    "summary": "structured summary",
    "excerpts": "excerpts",
    "tail": "preserved tail",
}
_COLOURS: Final = {
    "workingState": "#d55e00",
    "digest": "#cc79a7",
    "summary": "#0072b2",
    "excerpts": "#56b4e9",
    "tail": "#009e73",
}
"""Colours of the tiers, distinguishable with colour blindness (Okabe and Ito)."""

_DARK: Final = "#222222"
_LIGHT: Final = "#ffffff"
_NUMBER_COLOURS: Final = {"excerpts": _DARK}  # of a number on a part of a bar; white on the others

_OTHERS: Final = {TAIL: "#8a8a8a", TALK: "#bdbdbd"}

_WIDTH: Final = 860
_LEFT: Final = 150  # x of the bars
_BAR: Final = 600  # width of 100 %
_TOP: Final = 96
_MAIN: Final = 22  # heights of bars
_THIN: Final = 12
_STEP: Final = 74  # y distance of two budgets
_SIZE_STEP: Final = 34
_NARROW: Final = 26  # a narrower part of a bar has no room for its number


def svg(report: Report) -> str:
    """Return the SVG document: for each budget a bar of Reverie's context by tier, and the simpler ways below it."""
    budgets = sorted({row.budget for row in report.tiers})
    sizes_top = _TOP + _STEP * len(budgets) + 56
    height = sizes_top + _SIZE_STEP * len(budgets) + 24
    body = [
        _text(20, 28, "What was kept of the names that the work went on to need", size=17, weight="bold"),
        _text(
            20,
            48,
            f"in context, percent, mean over {report.sessions} sessions ({report.cuts} cuts); by budget in tokens",
            size=12,
        ),
        *_legend(),
        *_axis(_TOP, _TOP + _STEP * len(budgets) - 8),
        *_client(report.rows, _TOP, _TOP + _STEP * len(budgets) - 8),
    ]
    for number, budget in enumerate(budgets):
        body += _group(report, budget, _TOP + _STEP * number)
    body.append(_text(20, sizes_top - 16, "How the budget was used, tokens by tier (mean)", size=14, weight="bold"))
    for number, budget in enumerate(budgets):
        body += _sizes([row for row in report.tiers if row.budget == budget], budget, sizes_top + _SIZE_STEP * number)
    size = f'viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="system-ui, sans-serif">',
            "<title>What was kept by tier and budget</title>",
            f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
            *body,
            "</svg>",
            "",
        ]
    )


def _legend() -> Iterator[str]:
    """Yield the colour and name of each tier and way."""
    at = 20
    entries = [(_WORDS[tier], _COLOURS[tier]) for tier in TIERS] + list(_OTHERS.items())
    for words, colour in entries:
        yield f'<rect x="{at}" y="60" width="12" height="12" fill="{colour}"/>'
        yield _text(at + 17, 70, words, size=12)
        at += 17 + round(6.4 * len(words)) + 18


def _axis(top: float, bottom: float) -> Iterator[str]:
    """Yield a grid line with its number for each 20 %."""
    for percent in range(0, 101, 20):
        at = _LEFT + _BAR * percent / 100
        yield f'<line x1="{at:g}" y1="{top}" x2="{at:g}" y2="{bottom}" stroke="#e4e4e4"/>'
        yield _text(at, bottom + 14, f"{percent} %", size=11, anchor="middle")


def _group(report: Report, budget: int, top: float) -> Iterator[str]:
    """Yield one budget: the bar by tier with its sum, then thin bars of the simpler ways."""
    rows = {row.way: row for row in report.rows if row.budget == budget}
    yield _text(_LEFT - 12, top + 21, f"{budget:,}", size=14, weight="bold", anchor="end")
    at = float(_LEFT)
    for tier in (row for row in report.tiers if row.budget == budget):
        yield from _part((at, top + 6), _BAR * tier.in_context / 100, tier.tier, f"{tier.in_context:.0f}", " %")
        at += _BAR * tier.in_context / 100
    ours = rows[REVERIE].in_context
    error = "" if ours.error is None else f" ± {ours.error:.1f}"
    yield _text(at + 6, top + 22, f"{ours.percent:.1f}{error}", size=13, weight="bold")
    for number, (way, colour) in enumerate(_OTHERS.items()):
        mean = rows[way].in_context
        y = top + 6 + _MAIN + 3 + number * (_THIN + 2)
        length = _BAR * mean.percent / 100
        yield f'<rect x="{_LEFT}" y="{y}" width="{length:.1f}" height="{_THIN}" fill="{colour}"/>'
        yield _text(_LEFT + length + 6, y + _THIN - 2, f"{mean.percent:.1f}", size=11)


def _client(rows: Sequence[Row], top: float, bottom: float) -> Iterator[str]:
    """Yield a dashed line at the share of the client's own summaries, if there are any."""
    for row in rows:
        if row.way == CLIENT:
            at = _LEFT + _BAR * row.in_context.percent / 100
            yield (
                f'<line x1="{at:.1f}" y1="{top}" x2="{at:.1f}" y2="{bottom}" stroke="{_DARK}" stroke-dasharray="5 4"/>'
            )
            words = f"client's own summary {row.in_context.percent:.1f} ({row.tokens_median:,} tokens)"
            yield _text(at + 5, top + 1, words, size=11)


def _sizes(rows: Sequence[TierRow], budget: int, top: float) -> Iterator[str]:
    """Yield one bar of the tokens of each tier within a budget."""
    yield _text(_LEFT - 12, top + 16, f"{budget:,}", size=14, weight="bold", anchor="end")
    at = float(_LEFT)
    for row in rows:
        length = _BAR * row.tokens / budget
        yield from _part((at, top), length, row.tier, f"{row.tokens:,.0f}", " tokens")
        at += length
    yield f'<rect x="{_LEFT}" y="{top}" width="{_BAR}" height="{_MAIN}" fill="none" stroke="#8a8a8a"/>'


def _part(corner: tuple[float, float], length: float, tier: str, number: str, unit: str) -> Iterator[str]:
    """Yield one tier's part of a bar, with its number if there is room, and a tooltip."""
    at, top = corner
    yield (
        f'<rect x="{at:.1f}" y="{top:g}" width="{length:.1f}" height="{_MAIN}" fill="{_COLOURS[tier]}">'
        f"<title>{escape(_WORDS[tier])}: {number}{unit}</title></rect>"
    )
    if length >= max(_NARROW, 8 * len(number)):
        colour = _NUMBER_COLOURS.get(tier, _LIGHT)
        yield _text(at + length / 2, top + 15, number, size=11, anchor="middle", colour=colour)


def _text(
    x: float, y: float, words: str, *, size: int, weight: str = "normal", anchor: str = "start", colour: str = _DARK
) -> str:
    """Return a text element; dark text has a white edge, so that lines behind it stay readable."""
    edge = f' paint-order="stroke" stroke="{_LIGHT}" stroke-width="3"' if colour == _DARK and anchor == "start" else ""
    return (
        f'<text x="{x:.1f}" y="{y:g}" font-size="{size}" font-weight="{weight}" text-anchor="{anchor}"'
        f' fill="{colour}"{edge}>{escape(words)}</text>'
    )
