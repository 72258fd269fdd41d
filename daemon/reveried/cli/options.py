"""Typer options and arguments that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["Budget", "Interval", "Json", "Limit", "Paths"]

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, help="How many to show at most.")]
Budget = Annotated[
    int | None, typer.Option("--budget", min=1, metavar="TOKENS", help="At most this many tokens, input and output.")
]
Paths = Annotated[list[Path], typer.Argument(metavar="PATH...", help="Session files, or folders with session files.")]
Interval = Annotated[float, typer.Option("--every", min=0.05, metavar="SECONDS", help="Poll interval of --follow.")]
