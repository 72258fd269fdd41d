"""Ranks the lines of the distilled part by what the work is likely to need next, for the excerpts tier."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie import tokens
from reverie.distill.extractive.lines import Line, Source
from reverie.distill.extractive.pick import Seen, pick
from reverie.distill.extractive.prose import names
from reverie.distill.extractive.scoring import worths
from reverie.models import Passage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.distill.extractive.trace import Said

__all__ = ["rank"]

_REQUESTS = 6  # of the person's last messages are kept word for word
_REQUEST_LENGTH = 640  # characters of each


def rank(
    found: Sequence[Line],
    *,
    asked: Sequence[Said],
    stays: Sequence[str],
    tail_from_seq: int,
    budget: int,
) -> tuple[Passage, ...]:
    """Passages of `found` within `budget` tokens, the one to keep first at rank 0.

    What the person asked last comes first, in their own words (`asked`, oldest first). The rest is greedy by worth
    for each token: a line is worth the names on it and, where it is talk, the words in it, each less once it stands
    in another line or in `stays`, the texts that are in context anyhow. Lines from `tail_from_seq` on only count as
    context that stays.
    """
    words = [line for line in _in_own_words(asked) if line.seq < tail_from_seq]
    seen = Seen()
    for text in (*stays, *(line.text for line in words)):
        for piece in text.split("\n"):
            seen.add(piece, names(piece))
    on_line = {text: names(text) for text in dict.fromkeys(line.text for line in found)}
    named = [on_line[line.text] for line in found]
    pool: dict[str, Line] = {}
    oldest = words[-1].seq if words else tail_from_seq
    for line, mentioned in zip(found, named, strict=True):
        if line.seq >= tail_from_seq:
            seen.add(line.text, mentioned)
            pool.pop(line.text, None)
        elif line.source is not Source.USER or line.seq < oldest:
            pool[line.text] = line
    kept = []
    for line, cost in zip(words, tokens.count_many([line.text + "\n" for line in words]), strict=True):
        if cost <= budget:
            kept.append((line, cost))
            budget -= cost
    kept += pick([(line, on_line[line.text]) for line in pool.values()], worths(found, named), seen, budget)
    return tuple(
        Passage(text=line.text, seq=line.seq, rank=rank, tokens=cost, origin=line.origin, place=line.order)
        for rank, (line, cost) in enumerate(kept)
    )


def _in_own_words(asked: Sequence[Said]) -> list[Line]:
    """The last things that the person said, newest first, each as one piece."""
    return [Line(_shortened(said.text), "The user", Source.USER, said.seq, 0) for said in reversed(asked[-_REQUESTS:])]


def _shortened(text: str) -> str:
    if len(text) <= _REQUEST_LENGTH:
        return text
    cut = text[:_REQUEST_LENGTH]
    return f"{cut[: cut.rfind(' ')] if ' ' in cut else cut} […]"
