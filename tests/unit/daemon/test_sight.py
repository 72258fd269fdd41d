"""What is known of a folder's files may be asked while another thread looks at them."""

from __future__ import annotations

from typing import cast

from reverie.sync.node import Refusal, refused
from reverie.sync.scan import Limits
from reveried.folders.sight import Sight


class Looking(dict[str, Refusal]):
    """What is refused, while every question is followed at once by a look in another thread."""

    def __contains__(self, path: object) -> bool:
        there = super().__contains__(path)
        self.pop(cast("str", path), None)
        return there


class Busy:
    """A refusal that another one joins while it is asked for its reason."""

    def __init__(self, sight: Sight) -> None:
        self._sight = sight

    @property
    def reason(self) -> str:
        self._sight.refused[f"{len(self._sight.refused)}.md"] = refused("b.md", "symlink")
        return "symlink"


def test_files_that_grow_are_told_while_others_are_refused() -> None:
    """A look that goes on changes what is being asked."""
    sight = Sight(Limits())
    sight.refused["a.md"] = cast("Refusal", Busy(sight))
    sight.refused["c.md"] = refused("c.md", "growing")
    assert sight.growing == {"c.md"}


def test_what_covers_a_path_is_told_while_it_is_looked_at() -> None:
    """It is the refusal, or none; never an error."""
    sight = Sight(Limits())
    sight.refused = Looking({"facts": refused("facts", "symlink")})
    found = sight.covering("facts/a.md")
    assert found is not None
    assert found.path == "facts"
