"""The commands about memories: recall, memories, remember, forget."""

from typing import TYPE_CHECKING, Annotated, get_args

import typer

from reverie import documents, wire
from reverie.errors import NotFound, ValidationError
from reveried.cli import daemon_handle
from reveried.cli.options import Json, Limit
from reveried.cli.output import as_json, clip, counted, is_terminal, say, table, when
from reveried.cli.pagination import every

if TYPE_CHECKING:
    from reverie.client import Client

__all__ = ["forget", "memories", "recall", "remember"]

_WAITS = "It is kept, but your file could not be written yet. Next: reverie sync status"
_ROW_CHARS = 1_000  # of one memory in a list
_ID_CHARS, _ID_END = 16, 8
MemoryType = Annotated[
    str | None,
    typer.Option("--type", "-t", help="Only skill, fact, procedure, observation, mistake, preference or episode."),
]
Tag = Annotated[str | None, typer.Option("--tag", help="Only those with this tag.")]


def recall(
    query: Annotated[list[str], typer.Argument(metavar="QUERY...", help="What you want to know, in your own words.")],
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=100, help="How many at most.")] = 5,
    kind: MemoryType = None,
    tag: Tag = None,
    json: Json = False,
) -> None:
    """Ask the memory a question.

    Example: reverie recall how do we run the tests
    """
    types = [_kind(kind)] if kind else None
    asked = wire.parse(wire.RecallRequest, {"query": " ".join(query), "types": types})
    with daemon_handle.client() as client:
        found = client.recall(asked.query, limit=limit, types=asked.types, tags=[tag] if tag else None)
    if json:
        as_json(found)
        return
    if not found.hits:
        say("Nothing remembered answers that. `reverie memories` lists what there is.")
    for hit in found.hits:
        say(_spoken(hit.memory))
        say(f"    {hit.memory.type}, {hit.memory.document}; {hit.why}")


def memories(kind: MemoryType = None, tag: Tag = None, limit: Limit = 50, json: Json = False) -> None:
    """List what is remembered.

    Example: reverie memories --type mistake
    """
    kind = _kind(kind) if kind else None
    asked = wire.parse(wire.MemoryQuery, {"type": kind, "tag": tag, "limit": limit})
    with daemon_handle.client() as client:
        page = client.memories(kind=asked.type, tag=asked.tag, limit=limit)
    if json:
        as_json(page)
        return
    if not page.items:
        say(_none(kind, tag))
        return
    if is_terminal():
        for item in page.items:
            say(_spoken(item))
            say(f"    {item.type} · {item.document} · {_short(item.id)}")
    else:
        _rows(page.items)
    if page.next:
        say(f"There are more: reverie memories --limit {min(limit * 5, 1000)}")


def remember(
    text: Annotated[
        list[str],
        typer.Argument(metavar="TEXT...", help="What to remember; words like '#release' at its end are tags."),
    ],
    kind: Annotated[
        str | None,
        typer.Option(
            "--type",
            "-t",
            help="fact, preference, mistake, procedure, skill, observation or episode; else the file's, or fact.",
        ),
    ] = None,
    tags: Annotated[list[str] | None, typer.Option("--tag", help="A tag; may be given again.")] = None,
    document: Annotated[
        str | None, typer.Option("--document", "-d", metavar="PATH", help="The file, such as facts/user.md.")
    ] = None,
    json: Json = False,
) -> None:
    """Remember something: one more line of your markdown files, which engines never change by themselves.

    Example: reverie remember we deploy on Thursdays --type procedure
    """
    content, ending = _tagged(" ".join(text))
    given = {
        "content": content,
        "type": None if kind is None else _kind(kind),
        "tags": [*ending, *(tags or [])],
        "document": document,
        "author": "person",
    }
    body = wire.parse(wire.CreateMemory, {name: value for name, value in given.items() if value is not None})
    with daemon_handle.client() as client:
        made = client.remember(body)
        waits = not json and _waits(client, made.document)
    if json:
        as_json(made)
        return
    say(f"Remembered in {made.document}. To take it back: reverie forget {made.id[-_ID_END:]}")
    if waits:
        say(_WAITS)


def forget(
    memory: Annotated[str, typer.Argument(metavar="ID", help="A memory's id, or its last characters.")],
    json: Json = False,
) -> None:
    """Forget one memory: its lines leave your files; undo brings them back.

    Example: reverie forget ID
    """
    with daemon_handle.client() as client:
        found = _named(client, memory)
        done = client.forget(found.id)
        waits = not json and _waits(client, done.document)
    if json:
        as_json(done)
        return
    say(f"Forgotten: {clip(_spoken(found), 70)} ({done.document}). To have it again: reverie undo {done.operation}")
    if waits:
        say(_WAITS)


def _waits(client: "Client", path: str) -> bool:
    """Whether the file could not be written, and has yet to follow the store; where deletions wait, it is written."""
    found = client.sync_status()
    return (found.state == "stopped" and found.pending > 0) or any(each.path == path for each in found.refused)


def _named(client: "Client", given: str) -> wire.Memory:
    """The memory whose id ends like this."""
    ending = given.removeprefix("mem_…").removeprefix("…")
    found = [item for item in every(lambda after: client.memories(after=after, limit=1000)) if item.id.endswith(ending)]
    if len(found) == 1:
        return found[0]
    why = f"{counted(len(found), 'memory', 'memories')} end" if found else "no memory ends"
    raise NotFound(f"{why} with {clip(given, 40)}", hint="reverie memories --json shows whole ids")


def _tagged(text: str) -> tuple[str, tuple[str, ...]]:
    """What was said, and the tags at its end, as they would be read from a file."""
    items = documents.read("facts/said.md", f"- {text}\n").items if "#" in text and "\n" not in text else ()
    return (items[0].content, items[0].tags) if len(items) == 1 and items[0].tags else (text, ())


def _kind(text: str) -> str:
    """The kind of memory that this is.

    Raises:
        ValidationError: there is no such kind; lists them.
    """
    known = get_args(wire.MemoryKind)
    if text not in known:
        raise ValidationError(f"--type: memories have no type {clip(text, 40)}", hint=f"give one of {', '.join(known)}")
    return text


def _none(kind: str | None, tag: str | None) -> str:
    """Why the list is empty, and what to type."""
    if kind is None and tag is None:
        return (
            "Nothing is remembered yet. Memories are learnt from sessions.\n"
            "Next: reverie import claude-code ~/.claude/projects"
        )
    asked = " and ".join([*([f"is of type {kind}"] if kind else []), *([f"has the tag {tag}"] if tag else [])])
    return f"Nothing that is remembered {asked}. `reverie memories` lists everything."


def _rows(items: list[wire.Memory]) -> None:
    """One line a memory, for grep and cut; what is very long is cut, and --json has it whole."""
    table(
        ["Type", "Memory", "Tags", "File", "Changed (UTC)", "Id"],
        [
            (
                item.type,
                clip(_spoken(item), _ROW_CHARS),
                " ".join(item.tags),
                item.document,
                when(item.updated_at),
                item.id,
            )
            for item in items
        ],
    )


def _short(memory_id: str) -> str:
    """Its last characters tell memories apart that were learnt together."""
    return memory_id if len(memory_id) <= _ID_CHARS else f"mem_…{memory_id[-_ID_END:]}"


def _spoken(memory: wire.Memory) -> str:
    """An episode by its title, anything else by its text, on one line."""
    text = memory.title or memory.content
    return " ".join(text.split())
