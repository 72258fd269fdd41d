"""What agents have seen is kept for as many as there is room for."""

from __future__ import annotations

from reverie.usecases.lost_update_merge import Seen
from reveried import read_versions as module
from reveried.read_versions import SeenFiles


def place(path: str) -> tuple[str, str, str, str]:
    return "default", "owner", "", path


def test_what_was_looked_at_longest_ago_is_forgotten() -> None:
    """When all texts together are too long; one that is looked at again is the newest, and counts once."""
    held = SeenFiles()
    half = "x" * (module.CHARS_MAX // 2)
    held.put(place("a"), Seen(1, half))
    held.put(place("b"), Seen(1, half))
    held.put(place("a"), Seen(2, half))
    held.put(place("c"), Seen(1, "y"))

    assert held.get(place("a")) == Seen(2, half)
    assert held.get(place("b")) is None
    assert held.get(place("c")) == Seen(1, "y")


def test_a_text_that_alone_is_too_long_is_kept() -> None:
    """Else its agent could never write it again."""
    held = SeenFiles()
    long = Seen(1, "x" * (module.CHARS_MAX + 1))
    held.put(place("a"), Seen(1, "y"))
    held.put(place("b"), long)
    assert (held.get(place("a")), held.get(place("b"))) == (None, long)
