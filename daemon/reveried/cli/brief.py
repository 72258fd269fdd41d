"""`reverie brief`: what the sessions of a project taught, and the commands that drop, keep or correct a line of it."""

from __future__ import annotations

import shlex
from typing import Annotated, Literal

from reverie.client import Client
from reverie.errors import NotFound
from reveried.cli.command import Answer, Argument, Option, joined_text
from reveried.cli.output import say, wrapped
from reveried.cli.projects import ProjectOption, given_project

MaxTokens = Annotated[int | None, Option("--max-tokens", min=1, metavar="N", help="At most this many tokens of text.")]
LineId = Annotated[str, Argument("LINE", "The id of a line, as `reverie brief` prints it.")]
_TEXT_CHARS_MAX = 2_000  # as the API allows
_HEADINGS = {
    "wish": "What you said",
    "mistake": "What failed, and what worked",
    "command": "Commands that worked",
    "finding": "What was found out",
    "decision": "What was found out",
    "names": "Names used most",
    "last": "The last session",
}


def brief(client: Client, project: ProjectOption = None, max_tokens: MaxTokens = None) -> Answer:
    """Show what the sessions of a project taught: each line with its id, to drop, keep or edit it.

    Example: reverie brief --project .
    """
    answer = client.brief(_project(client, project), max_tokens=max_tokens)
    yield answer
    if not answer.lines:
        say(f"Nothing is known of {answer.project} yet.")
        return
    heading = ""
    for line in answer.lines:
        if _HEADINGS[line.kind] != heading:
            heading = _HEADINGS[line.kind]
            say(f"{heading}:")
        day = line.at[:10] if line.at and line.kind != "last" else ""
        noted = ", ".join(filter(None, (day, line.note)))
        say(wrapped(f"  {line.id}  {line.text}" + (f" ({noted})" if noted else "")))
    if answer.model_tokens_per_session is not None:
        say(f"Read by a model: about {answer.model_tokens_per_session:,} tokens a session.")
    name = shlex.quote(answer.project)
    say(f"{answer.tokens:,} of {answer.max_tokens:,} tokens.")
    say(f"To change a line: reverie brief drop|keep|edit LINE --project {name}")


def drop(client: Client, line: LineId, project: ProjectOption = None) -> Answer:
    """Take a line out of the brief for good, also where another session says the same; undo brings it back.

    Example: reverie brief drop LINE
    """
    return _change(client, line, "drop", None, project)


def keep(client: Client, line: LineId, project: ProjectOption = None) -> Answer:
    """Make a line a memory of yours, which stands above what agents found; undo takes it back.

    Example: reverie brief keep LINE
    """
    return _change(client, line, "keep", None, project)


def edit(
    client: Client,
    line: LineId,
    text: Annotated[list[str], Argument("TEXT...", "The corrected words.")],
    project: ProjectOption = None,
) -> Answer:
    """Correct a line: your words become a memory, and the line goes; undo takes both back.

    Example: reverie brief edit LINE "Pull requests are opened as drafts."
    """
    return _change(client, line, "edit", joined_text(text, "TEXT", max_chars=_TEXT_CHARS_MAX), project)


def _change(
    client: Client, line: str, action: Literal["drop", "keep", "edit"], text: str | None, project: str | None
) -> Answer:
    answer = client.change_brief_line(_project(client, project), line, action, text)
    yield answer
    done = {"drop": "Dropped", "keep": "Kept as a memory", "edit": "Corrected and kept as a memory"}[answer.action]
    where = "" if answer.memory is None else f" in {answer.memory.document}"
    say(f"{done}{where}.")
    if answer.operation is not None:
        say(f"To undo: reverie undo {answer.operation}")


def _project(client: Client, project: str | None) -> str:
    """Return the name of the project that is given, or of the folder here. Raises NotFound for an unknown one."""
    of = given_project(project or ".")
    found = client.projects(of=of).items
    if not found:
        where = "this folder" if project is None else repr(project)
        raise NotFound(f"no project is known by {where}", hint="reverie projects lists them")
    return found[0].joined or found[0].name
