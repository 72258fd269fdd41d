"""`reverie ignore`, `pause` and `resume`: what is kept out of the store."""

from pathlib import Path
from typing import Annotated

import typer

from reverie import wire
from reveried.cli import local_daemon
from reveried.cli.options import Json
from reveried.cli.output import print_json, say

__all__ = ["ignore", "pause", "resume"]


def ignore(
    path: Annotated[
        Path | None, typer.Argument(metavar="[PATH]", help="A folder; without one, the ignored folders are listed.")
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Record sessions in the folder again.")] = False,
    json: Json = False,
) -> None:
    """Record no sessions in a folder and below it; lines of it are left out of imports too.

    Example: reverie ignore ~/diary
    """
    with local_daemon.client() as client:
        if path is None:
            answer = client.privacy()
        else:
            folder = str(path.expanduser().absolute())
            change = wire.ChangePrivacy(unignore=folder) if remove else wire.ChangePrivacy(ignore=folder)
            answer = client.change_privacy(change)
    if json:
        print_json(answer)
    elif path is not None:
        say("Sessions there are recorded again." if remove else "Sessions there are not recorded any more.")
        if not remove:
            say("What is stored already stays. To look for it: reverie threads, reverie memories")
    elif not answer.ignored:
        say("No folder is ignored. Next: reverie ignore PATH")
    else:
        for folder in answer.ignored:
            say(folder)


def pause(json: Json = False) -> None:
    """Stop recording sessions; what is said until `reverie resume` is never stored, by no later import either.

    Example: reverie pause
    """
    with local_daemon.client() as client:
        answer = client.change_privacy(wire.ChangePrivacy(paused=True))
    if json:
        print_json(answer)
    else:
        say("Recording is paused: no session is stored, and hooks show nothing. Tools that an agent calls go on.")
        say("To record again: reverie resume")


def resume(json: Json = False) -> None:
    """Record sessions again after `reverie pause`.

    Example: reverie resume
    """
    with local_daemon.client() as client:
        answer = client.change_privacy(wire.ChangePrivacy(paused=False))
    if json:
        print_json(answer)
    else:
        say("Sessions are recorded again; what was said in the pause is left out.")
