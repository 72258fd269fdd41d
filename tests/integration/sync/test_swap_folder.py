"""The swap folder of a real daemon is emptied."""

from __future__ import annotations

from reverie import wire
from support.daemon_folder import tree
from support.waiting import wait_until


def test_the_swap_folder_is_empty_at_rest() -> None:
    """After many replaced documents and projections the swap folder is empty."""
    with tree() as made:
        for number in range(5):
            made.client.remember(wire.CreateMemory(f"The build number {number} is green"))
            made.agree()
        swap = made.root / ".reverie/swap"
        wait_until(lambda: "number 4" in made.read("memory/long-term-memory.json"), "the last projection")
        wait_until(lambda: not list(swap.iterdir()), "an empty swap folder")
