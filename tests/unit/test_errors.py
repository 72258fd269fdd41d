"""The errors that cross the wire: each class that has a code of its own is known by it again."""

from __future__ import annotations

import pytest

from reverie import errors
from reverie.errors import ReverieError

KINDS = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, ReverieError) and "code" in vars(kind)
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_an_error_is_the_same_class_after_the_wire(kind: type[ReverieError]) -> None:
    """`from_code` returns the class whose code it is, with message, hint and details."""
    error = errors.from_code(kind.code, "It failed.", {"hint": "try again", "reason": "timeout"})
    assert (type(error), error.message, error.hint) == (kind, "It failed.", "try again")
