"""The demo: Reverie on one session, in a place of its own, from the full conversation to what is kept of it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reverie.errors import NotFound
from reveried.cli.output import as_json
from reveried.cli.progress import working
from reveried.demo.choose import choose
from reveried.demo.scenario import Shown, distil, take_in
from reveried.demo.scratch import Scratch, scratch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reveried.demo.choose import Choice

__all__ = ["show"]


def show(given: Sequence[Path], *, keep: bool, json: bool) -> None:
    """Run the demo and print it; the daemon and its folder go afterwards unless they are to be kept.

    Raises:
        NotFound: no session is at a given path, or none of them could be read.
    """
    with scratch(keep=keep, quiet=json) as place:
        choice = choose(given, Path.home(), place.home)
        if json:
            as_json(_as_json(_quietly(place, choice), place, keep=keep))
        else:
            _tell(place, choice, keep=keep)


def _tell(place: Scratch, choice: Choice, *, keep: bool) -> None:
    from reveried.demo.report import Teller  # noqa: PLC0415 - a demo for machines needs no pages

    teller = Teller()
    teller.opening(choice, place.home)
    reports, thread = take_in(place.client, choice.files)
    _require_speech(thread.message_count)
    teller.taken_in(reports, thread)
    with working("Reading it all and deciding what to keep"):
        shown = distil(place.client, reports, thread, choice)
    teller.distilled(shown)
    teller.state(shown.state)
    teller.learnt(shown)
    teller.recalled(shown.asked, shown.recalled)
    teller.folder(Path(shown.root))
    teller.ending(place.home, Path(shown.root), place.pid, keep=keep)
    if not keep and sys.stdin.isatty() and sys.stdout.isatty():
        input(f"Have a look around in {shown.root}, then press Enter: the folder and its daemon go. ")


def _quietly(place: Scratch, choice: Choice) -> Shown:
    reports, thread = take_in(place.client, choice.files, quiet=True)
    _require_speech(thread.message_count)
    return distil(place.client, reports, thread, choice)


def _require_speech(messages: int) -> None:
    if messages == 0:
        raise NotFound("nobody says anything in there", hint="give a session with messages, or none for the sample")


def _as_json(shown: Shown, place: Scratch, *, keep: bool) -> dict[str, Any]:
    return {
        "before": shown.before,
        "after": shown.context.tokens,
        "distilled": shown.distilled,
        "workingState": shown.state,
        "memories": shown.memories,
        "asked": shown.asked,
        "recalled": shown.recalled,
        "root": shown.root,
        "home": str(place.home),
        "kept": keep,
    }
