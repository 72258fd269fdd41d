"""The built-in distiller: deterministic, no network, no model; it reads the structure that agents leave.

`Extractive` is loaded when it is first asked for. Its rules are a hundred regular expressions that take a sixth of a
second to compile, and the daemon needs none of them: they run in its compute process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reverie.distill.distiller import Extractive

__all__ = ["Extractive"]


def __getattr__(name: str) -> object:
    """Return the class `Extractive`. Raises AttributeError for any other name."""
    if name != "Extractive":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from reverie.distill.distiller import Extractive

    return Extractive
