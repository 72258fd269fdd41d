"""The command projects, and the project that a command takes: the one given, or that of the current folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from reverie import wire
from reverie.client import Client
from reverie.errors import ValidationError
from reveried.cli.command import Answer, Option
from reveried.cli.ids import all_items
from reveried.cli.output import clip, counted, print_table, say

ProjectOption = Annotated[
    str | None, Option("--project", metavar="NAME|PATH", help="Only this project's, by its name or a folder.")
]
AllProjects = Annotated[bool, Option("--all-projects", help="Of all projects, wherever you are.")]


def projects(
    client: Client,
    sort: Annotated[
        bool, Option("--sort", help="First move what older versions learnt to its projects; undo moves it back.")
    ] = False,
) -> Answer:
    """List the projects: the repositories and folders that threads work in.

    Example: reverie projects
    """
    if sort:
        yield from _sorted(client)
        return
    items = list(all_items(client.projects))
    yield {"items": items}
    if not items:
        say("No projects yet. A thread has one if its sessions name a folder.")
        say("Next: reverie import claude-code ~/.claude/projects")
        return
    joined = [item for item in items if item.joined is not None]
    empty = [item.name for item in items if not item.threads and not item.memories and item.joined is None]
    items = [item for item in items if item.threads or item.memories]
    if items:
        _print_table(items)
    if empty:
        say(f"Without threads and memories: {', '.join(empty)}.")
    for item in joined:
        undo = "" if item.joined_in is None else f" To move its memories back: reverie undo {item.joined_in}"
        say(f"{item.name} is {item.joined}: one repository.{undo}")


def _print_table(items: Sequence[wire.Project]) -> None:
    """Print a row for each project."""
    print_table(
        "Project, Repository or folder*, Threads>, Memories>",
        [
            (
                item.name,
                item.remotes[0] if item.remotes else item.folders[-1] if item.folders else "-",
                f"{item.threads:,}",
                f"{item.memories:,}",
            )
            for item in items
        ],
    )


def _sorted(client: Client) -> Answer:
    """Sort threads and memories into projects, and print the command that undoes it."""
    answer = client.sort_projects()
    yield answer
    threads, memories = counted(answer.threads, "thread"), counted(answer.memories, "memory", "memories")
    say(f"Sorted into projects: {threads}, {memories}.")
    for move in answer.moves:
        counts = [counted(move.threads, "thread")] if move.threads else []
        counts += [counted(move.memories, "memory", "memories")] if move.memories else []
        say(f"  {move.before or 'no project'} → {move.after}: {', '.join(counts)}")
    if answer.operation is not None:
        say(f"To move them back: reverie undo {answer.operation}")


def given_project(text: str | None) -> str | None:
    """Return a project as the API takes it: a path made absolute, a name as it is."""
    if text is None or not (text.startswith((".", "~")) or "/" in text):
        return text
    return str(Path(text).expanduser().absolute())


def check_is_known(client: Client, project: str | None) -> None:
    """Raise ValidationError for the name of an unknown project, as for a misspelt one; any folder is accepted.

    Raises:
        ValidationError: names the project that is meant, where one has nearly the name.
    """
    if project is None or project.startswith("/"):
        return
    names = [item.name for item in all_items(client.projects)]
    if project.casefold() in (name.casefold() for name in names):
        return
    import difflib

    near = difflib.get_close_matches(project, names, n=1)
    ask = f"did you mean {near[0]}?" if near else "reverie projects lists them;"
    raise ValidationError(f"there is no project {clip(project, 40)}", hint=f"{ask} --project . is the folder here")
