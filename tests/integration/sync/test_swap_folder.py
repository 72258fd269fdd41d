"""What was replaced in a person's folder is let go of, in a real daemon."""

from __future__ import annotations

import time

import pytest

from reverie import wire
from support.folder import tree


@pytest.mark.timeout(120)
def test_nothing_is_left_once_all_is_quiet() -> None:
    """Documents and what is made from them are replaced again and again: the swap folder is empty in the end."""
    with tree() as made:
        for number in range(5):
            made.client.remember(wire.CreateMemory(f"The build number {number} is green"))
            made.agree()
        swap = made.root / ".reverie/swap"
        deadline = time.monotonic() + 30
        while list(swap.iterdir()) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert list(swap.iterdir()) == []
        assert "number 4" in made.read("memory/long-term-memory.json")
