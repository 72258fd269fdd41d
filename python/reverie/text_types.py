"""The types of fields that hold words of people and agents, by which `reverie.texts` finds them.

A module of its own, since the types of the wire are loaded by each command.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple, TypeAlias


class Words(NamedTuple):
    """The mark of a field's type by which `reverie.texts` finds words of people and agents in a value.

    `derived`: the field repeats words that were given elsewhere, so a purge of those takes them out of it. Of a JSON
    object with `names` only what is below these names is text; without them all of it, names of its fields too.
    """

    derived: bool = False
    names: tuple[str, ...] = ()


Text: TypeAlias = Annotated[str, Words()]
"""Words that a person or an agent gave."""

DerivedText: TypeAlias = Annotated[str, Words(derived=True)]
"""Words that repeat, shorten or judge words that were given elsewhere."""

JsonText: TypeAlias = Annotated[Any, Words()]
"""A JSON value whose strings are words that a person or an agent gave."""

Provenance: TypeAlias = Annotated[dict[str, Any], Words(derived=True, names=("workingMemory",))]
"""Where a memory is from: ids, times, paths, and the name that an agent gave an entry of its working memory."""

Decision: TypeAlias = Annotated[
    dict[str, Any], Words(derived=True, names=("content", "tags", "title", "fields", "why"))
]
"""Stored JSON of the API's `Proposal` or `RunResult`: what was decided about memories, with their words."""
