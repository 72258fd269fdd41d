"""What was replaced in a person's folder is let go of, in a real daemon."""

from __future__ import annotations

from reverie import wire
from support.folder import tree
from support.waiting import until


def test_nothing_is_left_once_all_is_quiet() -> None:
    """Documents and what is made from them are replaced again and again: the swap folder is empty in the end."""
    with tree() as made:
        for number in range(5):
            made.client.remember(wire.CreateMemory(f"The build number {number} is green"))
            made.agree()
        swap = made.root / ".reverie/swap"
        until(lambda: "number 4" in made.read("memory/long-term-memory.json"), "the last projection")
        until(lambda: not list(swap.iterdir()), "an empty swap folder")
