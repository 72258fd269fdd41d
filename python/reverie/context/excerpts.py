"""The excerpts of a context: which ranked lines of the messages left out fit in the room, and their text by file.

Which lines are worth quoting is decided before, in `reverie.distill.excerpts`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from reverie import tokenizer
from reverie.context.tiers import Tier
from reverie.context.token_cost import BLOCK
from reverie.models import Dropped, Passage

if TYPE_CHECKING:
    from collections.abc import Sequence

HEADING: Final = "## Excerpts (verbatim, oldest first)"

_ROUNDS: Final = 6
"""Packings tried: the sum of the passages' own counts misses the exact count of the joined text by a little."""

_SLACK: Final = 12
"""Tokens that may stay unused."""

_BY_RANK: Final = attrgetter("rank", "seq")
_BY_PLACE: Final = attrgetter("seq", "place", "rank")


class ExcerptCache(tuple[Passage, ...]):
    """The passages of one distillation, with a cache of the tiers packed from them for recent sizes.

    Its hash is cheap, since a lookup that finds the same shelf compares nothing else.
    """

    __slots__ = ()

    def __hash__(self) -> int:
        return hash((len(self), *self[:1]))


def total_tokens(passages: Sequence[Passage]) -> int:
    """Return the tokens of all passages as one block."""
    return _remembered_demand(passages) if isinstance(passages, ExcerptCache) else _demand(passages)


@lru_cache(maxsize=16)
def _remembered_demand(shelf: ExcerptCache) -> int:
    return _demand(shelf)


def _demand(passages: Sequence[Passage]) -> int:
    return _frame() + sum(max(1, passage.tokens) + 1 for passage in passages) if passages else 0


def pack_excerpts(passages: Sequence[Passage], room: int) -> Tier:
    """Return the excerpts tier: the best passages within `room` tokens; an oversized one is skipped.

    Pieces of one origin stand together under its name; without one, an empty line marks a gap.
    """
    return _remembered(passages, room) if isinstance(passages, ExcerptCache) else _packed(passages, room)


@lru_cache(maxsize=16)
def _remembered(shelf: ExcerptCache, room: int) -> Tier:
    return _packed(shelf, room)


def _packed(passages: Sequence[Passage], room: int) -> Tier:
    ranked = sorted((passage for passage in passages if passage.text.strip()), key=_BY_RANK)
    headings = _heading_costs(ranked)
    left = room - _frame()
    best = Tier("excerpts")
    best_kept: list[Passage] = []
    for _ in range(_ROUNDS):
        kept = _chosen(ranked, headings, left)
        tier = Tier("excerpts", (_grouped_by_origin(kept),) if kept else ())
        if best.cost < tier.cost <= room:
            best, best_kept = tier, kept
        if (len(kept) == len(passages) and tier.cost <= room) or 0 <= room - tier.cost < _SLACK:
            break
        if tier.cost > room + room // 2:
            ranked = [replace(passage, tokens=tokenizer.count(f"{passage.text}\n")) for passage in ranked]
            left = room - _frame()
            continue
        left += room - tier.cost
    best.dropped.extend(_dropped(passages, best_kept))
    return best


def _heading_costs(passages: Sequence[Passage]) -> dict[str, int]:
    """Return the tokens of each origin's heading."""
    origins = list(dict.fromkeys(passage.origin for passage in passages))
    return dict(zip(origins, tokenizer.count_many([_heading(origin) for origin in origins]), strict=True))


def _chosen(ranked: Sequence[Passage], headings: dict[str, int], left: int) -> list[Passage]:
    kept: list[Passage] = []
    opened = {""}
    for passage in ranked:
        cost = passage.tokens or 1
        if passage.origin not in opened:
            cost += headings[passage.origin]
        if cost <= left:
            kept.append(passage)
            opened.add(passage.origin)
            left -= cost
    return kept


def _heading(origin: str) -> str:
    return f"\n[{origin}]\n"


def _dropped(passages: Sequence[Passage], kept: Sequence[Passage]) -> list[Dropped]:
    """Return the count and tokens of the passages that had no room, as an item of `dropped`; empty for none."""
    if len(kept) == len(passages):
        return []
    lost = sum(passage.tokens for passage in passages) - sum(passage.tokens for passage in kept)
    return [Dropped("excerpts", count=len(passages) - len(kept), tokens=lost)]


def _frame() -> int:
    return BLOCK + tokenizer.count(HEADING) + 1


def _grouped_by_origin(kept: list[Passage]) -> str:
    """Return passages grouped under their origin, the most recently used origin last, in thread order inside."""
    groups: dict[str, list[Passage]] = {}
    for passage in sorted(kept, key=_BY_PLACE):
        groups.setdefault(passage.origin, []).append(passage)
    out = [HEADING]
    for origin, group in sorted(groups.items(), key=lambda item: (item[1][-1].seq, item[1][-1].place)):
        if origin:
            out.append(_heading(origin).rstrip("\n"))
        for before, passage in zip([None, *group], group, strict=False):
            if not origin and before is not None and passage.seq - before.seq > 1:
                out.append("")
            out.append(passage.text)
    return "\n".join(out)
