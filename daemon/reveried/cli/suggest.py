"""What was probably meant by a command that is not there: only a word that a slip of the hand explains."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typer.core import TyperGroup
from typer.exceptions import TyperException

if TYPE_CHECKING:
    from collections.abc import Iterable

    import typer

__all__ = ["Suggesting", "nearest", "slips"]

_CHARS_PER_SLIP = 3


class Suggesting(TyperGroup):
    """A group of commands that names the nearest one, where one is near."""

    def resolve_command(self, ctx: typer.Context, args: list[str]) -> tuple[str | None, object, list[str]]:  # type: ignore[override] # the vendored parser's types are not public
        """The command, or the error with a suggestion."""
        try:
            return super().resolve_command(ctx, args)
        except TyperException as error:
            meant = nearest(args[0], self.commands)
            if meant is not None:
                error.message = f"{error.message.rstrip('.')}. Did you mean {meant!r}?"
            raise


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word with the fewest slips, where there is at most one for every three characters typed."""
    found = min(known, key=lambda name: slips(word, name), default=None)
    return found if found is not None and slips(word, found) <= max(1, len(word) // _CHARS_PER_SLIP) else None


def slips(typed: str, meant: str) -> int:
    """Characters left out, too many, wrong, or swapped with the next (optimal string alignment)."""
    before: list[int] = []
    row = list(range(len(meant) + 1))
    for i, left in enumerate(typed, 1):
        older, before, row = before, row, [i]
        for j, right in enumerate(meant, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (left != right))
            if i > 1 and j > 1 and (left, typed[i - 2]) == (meant[j - 2], right):
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
    return row[-1]
