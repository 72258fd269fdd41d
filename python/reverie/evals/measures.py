"""How much of what a session went on to need stands in a text: in context, at all, and in the person's own words."""

from __future__ import annotations

import math
import re
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reverie.evals.events import LEAST_GRAMS, grams
from reverie.evals.names import names, words_beside

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from reverie.evals.events import Event

__all__ = ["Mean", "Scores", "held", "mean_over_sessions", "score"]

_PIECE_CHARS: Final = 300
_NAMES_MAX: Final = 4
_WORDS_LEAST: Final = 3
_SHARE_LEAST: Final = 0.4
_SENTENCE_END: Final = re.compile(r"(?<=[.;!?])\s+")


@dataclass(frozen=True, slots=True)
class Scores:
    """Shares from 0 to 1 of one text for one event; `asked` is None where the person said too little to measure it."""

    in_context: float
    needed: float
    asked: float | None


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over sessions in percent, and one standard error; of a single session there is none."""

    percent: float
    error: float | None


def score(text: str, event: Event) -> Scores:
    """What `text` keeps for what followed `event`."""
    asked = event.asked
    return Scores(
        in_context=len(held(text, event)) / len(event.needed),
        needed=sum(name in text for name in event.needed) / len(event.needed),
        asked=len(asked & grams(text)) / len(asked) if len(asked) >= LEAST_GRAMS else None,
    )


def held(text: str, event: Event) -> frozenset[str]:
    """The needed names that stand in `text` with words that they stood with before.

    A piece counts with at most four names in it, when at least three of its words, and four in ten of them, stood
    beside the name: a list of names is worth nothing, and neither are names among any words.
    """
    found: set[str] = set()
    for piece in _pieces(text):
        present = [name for name in event.needed if name not in found and name in piece]
        if present and len(names(piece)) <= _NAMES_MAX:
            found.update(name for name in present if _at_home(piece, name, event.near[name]))
    return frozenset(found)


def mean_over_sessions(rows: Iterable[tuple[str, float | None]]) -> Mean | None:
    """The mean of each session's mean, so that a session with many events counts once; rows are (session, share).

    None where no row has a share.
    """
    by_session: dict[str, list[float]] = {}
    for session, share in rows:
        if share is not None:
            by_session.setdefault(session, []).append(share)
    means = [100 * statistics.fmean(shares) for shares in by_session.values()]
    if not means:
        return None
    error = statistics.stdev(means) / math.sqrt(len(means)) if len(means) > 1 else None
    return Mean(statistics.fmean(means), error)


def _at_home(piece: str, name: str, near: set[str]) -> bool:
    words = words_beside(piece, name)
    shared = len(words & near)
    return shared >= min(_WORDS_LEAST, len(near)) and shared >= _SHARE_LEAST * len(words)


def _pieces(text: str) -> Iterator[str]:
    """Lines; longer ones sentence by sentence, and those in stretches."""
    for line in text.split("\n"):
        if len(line) <= _PIECE_CHARS:
            yield line
            continue
        for sentence in _SENTENCE_END.split(line):
            for at in range(0, len(sentence), _PIECE_CHARS):
                yield sentence[at : at + _PIECE_CHARS]
