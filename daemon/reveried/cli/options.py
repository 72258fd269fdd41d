"""Typer options and arguments that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reverie.errors import ValidationError
from reveried.cli.output import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, help="How many to show at most.")]
Budget = Annotated[
    int | None, typer.Option("--budget", min=1, metavar="TOKENS", help="At most this many tokens, input and output.")
]
Paths = Annotated[list[Path], typer.Argument(metavar="PATH...", help="Session files, or folders with session files.")]
Interval = Annotated[float, typer.Option("--every", min=0.05, metavar="SECONDS", help="Poll interval of --follow.")]


Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def confirm(preview: str, question: str, *, json: bool) -> None:
    """Print what would happen and ask; a "no", or the end of the input, aborts the command.

    With `json` both go to standard error: standard output is one JSON document.
    """
    typer.echo(clean(preview, keep="\n"), err=json)
    typer.confirm(question, abort=True, err=json)


def joined_text(words: Sequence[str], name: str, *, max_chars: int) -> str:
    """Return the words of an argument called `name` as one text.

    Raises:
        ValidationError: it is empty, or longer than `max_chars` characters.
    """
    text = " ".join(words)
    if not text.strip():
        raise ValidationError(f"{name} is empty", hint=f"give {name} in words")
    if len(text) > max_chars:
        raise ValidationError(f"{name} has {len(text):,} characters; {max_chars:,} are allowed", hint="shorten it")
    return text
