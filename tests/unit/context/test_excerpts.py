"""Cached excerpts of one distillation, packed for several contexts."""

from __future__ import annotations

from reverie.context import Limits, Parts, assemble
from reverie.context.tiers import ExcerptCache, pack_excerpts
from reverie.models import Passage
from reverie.tokenizer import count
from support.talk import Talk


def passages(number: int, word: str = "pier") -> tuple[Passage, ...]:
    """Return excerpts of a few origins, best rank first, the oldest best."""
    texts = [f"{word} {index} leans a little more than it did" for index in range(number)]
    return tuple(
        Passage(text, seq=index, rank=index, tokens=count(f"{text}\n"), origin=("", "a.log", "b.log")[index % 3])
        for index, text in enumerate(texts)
    )


def test_cached_excerpts_pack_like_uncached_ones() -> None:
    """At any budget the texts, the cost and the dropped list are equal, also when packed repeatedly."""
    uncached = passages(200)
    cached = ExcerptCache(uncached)
    for budget in (0, 40, 300, 1_000, 50_000):
        plain = pack_excerpts(uncached, budget)
        assert pack_excerpts(cached, budget) == pack_excerpts(cached, budget) == plain
        assert plain.cost <= budget or not plain.texts


def test_excerpts_with_equal_beginnings_are_distinct_cache_entries() -> None:
    """Two lists of excerpts with the same beginning have equal hashes, and still are packed each by its own texts."""
    one, other = ExcerptCache(passages(30)), ExcerptCache((*passages(1), *passages(30, "crane")[1:]))
    assert hash(one) == hash(other)
    assert pack_excerpts(one, 10_000).texts != pack_excerpts(other, 10_000).texts
    assert pack_excerpts(ExcerptCache(), 10_000).texts == ()


def test_contexts_do_not_change_the_cached_excerpts() -> None:
    """Two contexts from the same cached excerpts are equal, even if the caller modifies the first."""
    talk = Talk().user("go").done()
    parts = Parts(
        summary="# Conversation Summary", distillation=1, passages=ExcerptCache(passages(3_000)), messages=talk
    )
    first = assemble(parts, Limits())
    expected = str(first)
    first.dropped.clear()
    first.request["messages"][0]["content"].clear()
    assert str(assemble(parts, Limits())) == expected
