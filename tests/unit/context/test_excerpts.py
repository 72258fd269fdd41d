"""Excerpts of one distillation, packed for several contexts."""

from __future__ import annotations

from reverie.context.assemble import assemble
from reverie.context.inputs import Limits, Parts
from reverie.context.tiers import pack_excerpts
from reverie.models import Passage
from reverie.tokenizer import count
from support.talk import Talk


def passages(number: int) -> tuple[Passage, ...]:
    """Return excerpts of a few origins, best rank first, the oldest best."""
    texts = [f"pier {index} leans a little more than it did" for index in range(number)]
    return tuple(
        Passage(text, seq=index, rank=index, tokens=count(f"{text}\n"), origin=("", "a.log", "b.log")[index % 3])
        for index, text in enumerate(texts)
    )


def test_excerpts_never_exceed_their_room() -> None:
    """At any budget the excerpts cost no more than it, and what has no room is told."""
    for budget in (0, 40, 300, 1_000, 50_000):
        packed = pack_excerpts(passages(200), budget)
        assert packed.cost <= budget or not packed.texts
        assert bool(packed.dropped) == (budget < 50_000)


def test_contexts_do_not_change_the_excerpts() -> None:
    """Two contexts from the same excerpts are equal, even if the caller modifies the first."""
    talk = Talk().user("go").done()
    parts = Parts(summary="# Conversation Summary", distillation=1, passages=passages(3_000), messages=talk)
    first = assemble(parts, Limits())
    expected = str(first)
    first.dropped.clear()
    first.request["messages"][0]["content"].clear()
    assert str(assemble(parts, Limits())) == expected
