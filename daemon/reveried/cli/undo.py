"""`reverie undo`: one operation, by default the last that can be undone."""

from typing import TYPE_CHECKING, Annotated

import typer

from reverie import wire
from reverie.errors import NotFound
from reveried.cli import local_daemon
from reveried.cli.history import effects
from reveried.cli.local_daemon import all_items
from reveried.cli.options import Json, Yes, confirm
from reveried.cli.output import print_json, say, when

if TYPE_CHECKING:
    from reverie.client import Client

__all__ = ["undo"]


def undo(
    operation: Annotated[
        str | None,
        typer.Argument(
            metavar="[OP]", help="An operation's id; default: the last that can be undone, after a question."
        ),
    ] = None,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Undo one operation by a new one.

    Example: reverie undo
    """
    with local_daemon.client() as client:
        if operation is not None:
            target = client.operation(operation)
        else:
            target = _last_undoable(client)
            if not yes:
                _confirm(client, target, json=json)
        answer = client.undo(target.id)
    if json:
        print_json(answer)
        return
    if answer.operation is None:
        say(f"Nothing to undo: no change of operation {target.id} is in effect any more.")
        return
    say(f"Undone: {target.why} ({when(target.at)}, {target.who}). To redo it: reverie undo {answer.operation}")


def _confirm(client: "Client", target: wire.Operation, *, json: bool) -> None:
    """Print what the operation did, and ask whether to undo it."""
    heading = f"Operation {target.id}: {target.why} ({when(target.at)}, {target.who})"
    confirm("\n".join([heading, *effects(client, target)]), "Undo it?", json=json)


def _last_undoable(client: "Client") -> wire.Operation:
    """Return the newest operation that can be undone and has not been."""
    # Newest first: an undo comes before the operation that it undoes. An undo that was itself undone does not count.
    undone: set[str] = set()
    for item in all_items(lambda after: client.operations(after=after)):
        if item.undoes is not None:
            if item.id not in undone:
                undone.add(item.undoes)
        elif item.undoable and item.id not in undone:
            return item
    raise NotFound("there is nothing to undo", hint="reverie log lists the operations")
