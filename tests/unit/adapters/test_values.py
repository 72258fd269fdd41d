"""Values that an adapter stores as JSON."""

from __future__ import annotations

from typing import Any

import pytest

from reverie.adapters.values import value_message
from reverie.errors import ValidationError


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_numbers_that_json_does_not_have_are_refused(number: float) -> None:
    """NaN and infinite numbers are refused, also deep in lists, tuples and dicts."""
    with pytest.raises(ValidationError, match="JSON has no number"):
        value_message({"a": [1.5, ({"b": number},)]})


def test_a_value_that_holds_itself_is_refused() -> None:
    """A value that contains itself is refused, with the error for values that are nested too deeply."""
    circle: dict[str, Any] = {"n": 1}
    circle["self"] = circle
    with pytest.raises(ValidationError, match="too deeply"):
        value_message(circle)
