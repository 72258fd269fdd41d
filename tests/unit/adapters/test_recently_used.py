"""Values of the adapters: a bounded number is kept, and none is made twice while it is in use."""

from __future__ import annotations

from reverie.adapters.values import RecentlyUsed


class Value:
    """Something that can be referred to weakly."""


def test_the_ones_used_last_are_kept() -> None:
    """Of a thousand keys only the newest values are kept, and one that was used again and again."""
    values = RecentlyUsed[Value](3)
    first = id(values.get("first", Value))
    for number in range(1_000):
        values.get(number, Value)
        assert id(values.get("first", Value)) == first
    assert len(values._alive) == len(values._recent) == 3


def test_a_value_in_use_stays_the_same() -> None:
    """A value in use stays the same object, however many others come; once removed, a new one is made."""
    values = RecentlyUsed[Value](2)
    used = values.get("used", Value)
    for number in range(10):
        values.get(number, Value)
    assert values.get("used", Value) is used
    values.remove("used")
    values.remove("unknown")
    assert values.get("used", Value) is not used
