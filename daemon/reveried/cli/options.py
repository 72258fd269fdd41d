"""Options that several commands share, with one wording."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["Budget", "Interval", "Json", "Limit", "Paths"]

Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, help="How many to show.")]
Budget = Annotated[
    int | None, typer.Option("--budget", min=1, metavar="TOKENS", help="At most this many tokens, in and out together.")
]
Paths = Annotated[list[Path], typer.Argument(metavar="PATH...", help="Session files, or folders that hold some.")]
Interval = Annotated[
    float, typer.Option("--every", min=0.05, metavar="SECONDS", help="How often --follow looks again.")
]
