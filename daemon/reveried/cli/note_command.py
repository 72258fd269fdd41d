"""`reverie note`: what an agent said to remember in a thread, and adding to it by hand."""

from typing import Annotated, get_args

import typer

from reverie import wire
from reverie.errors import ValidationError
from reverie.models import NoteCategory
from reveried.cli import daemon_handle
from reveried.cli.options import Json
from reveried.cli.output import as_json, say, table, when
from reveried.cli.pagination import every
from reveried.cli.thread_commands import ThreadId
from reveried.cli.thread_names import on_thread

__all__ = ["note"]

_CATEGORIES = get_args(NoteCategory)


def note(
    thread: ThreadId,
    text: Annotated[list[str] | None, typer.Argument(metavar="[TEXT...]", help="What to remember; none: list.")] = None,
    category: Annotated[
        str, typer.Option("--category", "-c", help="task, decision, preference, correction or context.")
    ] = "context",
    json: Json = False,
) -> None:
    """Write a note that stays in front of a thread's agent, or list those there are.

    Example: reverie note THREAD the release waits for Ann --category task
    """
    if not text:
        _listed(thread, json=json)
        return
    if category not in _CATEGORIES:
        raise ValidationError(f"there is no category {category[:40]!r}", hint=f"give {', '.join(_CATEGORIES)}")
    asked = wire.parse(wire.CreateNote, {"content": " ".join(text), "category": category})
    with daemon_handle.client() as client:
        made = on_thread(client, thread, lambda whole: client.add_note(whole, asked.content, asked.category))
    if json:
        as_json(made)
        return
    say("Noted: it stands in the thread's context from now on. To take it back: reverie undo")


def _listed(thread: str, *, json: bool) -> None:
    """The notes of a thread, newest first, as its agent reads them."""
    with daemon_handle.client() as client:
        found = on_thread(client, thread, lambda whole: list(every(lambda after: client.notes(whole, after=after))))
    found.reverse()
    if json:
        as_json({"items": found})
        return
    if not found:
        say("No notes yet. Agents write them with the tool `note`.")
        return
    rows = [(when(each.at), each.category, each.content) for each in found]
    table(["When (UTC)", "Category", "Note"], rows, wraps=(2,))
