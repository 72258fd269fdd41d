"""`reverie brief`: what the sessions of a project taught, and the commands that drop, keep or correct a line of it."""

import shlex
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from reverie.errors import NotFound
from reveried.cli import daemon_client
from reveried.cli.options import Json, joined_text
from reveried.cli.output import print_json, say, wrapped
from reveried.cli.projects import ProjectOption, given_project

if TYPE_CHECKING:
    from reverie.client import Client

MaxTokens = Annotated[
    int | None, typer.Option("--max-tokens", min=1, metavar="N", help="At most this many tokens of text.")
]
LineId = Annotated[str, typer.Argument(metavar="LINE", help="The id of a line, as `reverie brief` prints it.")]
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


def brief(
    context: typer.Context, project: ProjectOption = None, max_tokens: MaxTokens = None, json: Json = False
) -> None:
    """Show what the sessions of a project taught: each line with its id, to drop, keep or edit it.

    Example: reverie brief --project .
    """
    if context.invoked_subcommand is not None:
        return
    with daemon_client.client() as client:
        answer = client.brief(_project(client, project), max_tokens=max_tokens)
    if json:
        print_json(answer)
        return
    if not answer.lines:
        say(f"Nothing is known of {answer.project} yet.")
        return
    heading = ""
    for line in answer.lines:
        if _HEADINGS[line.kind] != heading:
            heading = _HEADINGS[line.kind]
            say(f"{heading}:")
        day = f" ({line.at[:10]})" if line.at and line.kind != "last" else ""
        say(wrapped(f"  {line.id}  {line.text}{day}"))
    if answer.model_tokens_per_session is not None:
        say(f"Read by a model: about {answer.model_tokens_per_session:,} tokens a session.")
    name = shlex.quote(answer.project)
    say(f"{answer.tokens:,} of {answer.max_tokens:,} tokens.")
    say(f"To change a line: reverie brief drop|keep|edit LINE --project {name}")


def drop(line: LineId, project: ProjectOption = None, json: Json = False) -> None:
    """Take a line out of the brief for good, also where another session says the same; undo brings it back.

    Example: reverie brief drop LINE
    """
    _change(line, "drop", None, project, json=json)


def keep(line: LineId, project: ProjectOption = None, json: Json = False) -> None:
    """Make a line a memory of yours, which stands above what agents found; undo takes it back.

    Example: reverie brief keep LINE
    """
    _change(line, "keep", None, project, json=json)


def edit(
    line: LineId,
    text: Annotated[list[str], typer.Argument(metavar="TEXT...", help="The corrected words.")],
    project: ProjectOption = None,
    json: Json = False,
) -> None:
    """Correct a line: your words become a memory, and the line goes; undo takes both back.

    Example: reverie brief edit LINE "Pull requests are opened as drafts."
    """
    _change(line, "edit", joined_text(text, "TEXT", max_chars=_TEXT_CHARS_MAX), project, json=json)


def _change(
    line: str, action: Literal["drop", "keep", "edit"], text: str | None, project: str | None, *, json: bool
) -> None:
    with daemon_client.client() as client:
        answer = client.change_brief_line(_project(client, project), line, action, text)
    if json:
        print_json(answer)
        return
    done = {"drop": "Dropped", "keep": "Kept as a memory", "edit": "Corrected and kept as a memory"}[answer.action]
    where = "" if answer.memory is None else f" in {answer.memory.document}"
    say(f"{done}{where}.")
    if answer.operation is not None:
        say(f"To undo: reverie undo {answer.operation}")


def _project(client: "Client", project: str | None) -> str:
    """Return the name of the project that is given, or of the folder here. Raises NotFound for an unknown one."""
    of = given_project(project or ".")
    found = client.projects(of=of).items
    if not found:
        where = "this folder" if project is None else repr(project)
        raise NotFound(f"no project is known by {where}", hint="reverie projects lists them")
    return found[0].joined or found[0].name
