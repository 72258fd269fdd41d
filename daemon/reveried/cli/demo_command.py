"""`reverie demo`: the whole of it on one session, in a place of its own."""

from pathlib import Path
from typing import Annotated

import typer

from reveried.cli.options import Json

__all__ = ["demo"]


def demo(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[PATH...]", help="Sessions to show it on; else your own newest, else a sample."),
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Leave the daemon running and the folder in place.")] = False,
    json: Json = False,
) -> None:
    """See what Reverie does with one session, without touching anything of yours.

    Example: reverie demo
    """
    from reveried.demo import show  # noqa: PLC0415 - only this command needs it

    show(paths or [], keep=keep, json=json)
