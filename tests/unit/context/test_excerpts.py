"""Excerpts of one distillation, packed for context after context."""

from __future__ import annotations

from reverie.context import Limits, Parts, assemble
from reverie.context.excerpts import ExcerptCache, pack_excerpts
from reverie.models import Passage
from reverie.tokens import count
from support.talk import Talk


def passages(number: int, word: str = "pier") -> tuple[Passage, ...]:
    """Lines of a few origins, best rank first, the oldest best."""
    texts = [f"{word} {place} leans a little more than it did" for place in range(number)]
    return tuple(
        Passage(text, seq=place, rank=place, tokens=count(f"{text}\n"), origin=("", "a.log", "b.log")[place % 3])
        for place, text in enumerate(texts)
    )


def test_a_shelf_packs_as_its_passages_do() -> None:
    """At any room the same texts, the same cost and the same losses, again and again."""
    given = passages(200)
    shelf = ExcerptCache(given)
    for room in (0, 40, 300, 1_000, 50_000):
        plain = pack_excerpts(given, room)
        assert pack_excerpts(shelf, room) == pack_excerpts(shelf, room) == plain
        assert plain.cost <= room or not plain.texts


def test_shelves_that_begin_alike_are_told_apart() -> None:
    """Their hashes are equal, what is packed from them is not."""
    one, other = ExcerptCache(passages(30)), ExcerptCache((*passages(1), *passages(30, "crane")[1:]))
    assert hash(one) == hash(other)
    assert pack_excerpts(one, 10_000).texts != pack_excerpts(other, 10_000).texts
    assert pack_excerpts(ExcerptCache(), 10_000).texts == ()


def test_contexts_do_not_alter_what_is_remembered() -> None:
    """Two contexts from one shelf are equal, whatever the caller does with the first."""
    talk = Talk().user("go").done()
    parts = Parts(
        summary="# Conversation Summary", distillation=1, passages=ExcerptCache(passages(3_000)), messages=talk
    )
    first = assemble(parts, Limits())
    kept = str(first)
    first.dropped.clear()
    first.request["messages"][0]["content"].clear()
    assert str(assemble(parts, Limits())) == kept
