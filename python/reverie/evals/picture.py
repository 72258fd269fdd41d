"""SVG picture of the continuity report: share of needed names by tier and budget, beside simpler ways."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from xml.sax.saxutils import escape

from reverie.evals.continuity import CLIENT, REVERIE, TAIL, TALK, TIERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reverie.evals.continuity import Report, Row, TierRow

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
