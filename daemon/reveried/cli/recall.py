"""Commands for memories: recall, search, memories, remember, forget; and consolidation changes in words."""

from __future__ import annotations

import sys
import textwrap
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, TypeAlias

from reverie import wire
from reverie.client import Client
from reverie.errors import NotFound, ValidationError
from reverie.wire.memories import MemoryKind
from reverie.wire.search import SEARCH_LIMIT_MAX, SearchPlace
from reveried.cli.command import Answer, Argument, Limit, Option, Yes, confirm, joined_text, renamed
from reveried.cli.ids import ID_END, all_items, by_end, is_path, with_thread
from reveried.cli.output import AS_JSON, clip, counted, is_terminal, print_table, say, size, spinner, when, wrapped
from reveried.cli.projects import AllProjects, ProjectOption, check_is_known, given_project
from reveried.cli.status import FILE_PENDING, file_pending

NEAREST_HITS = 3  # memories that it shows at most for a question to which none is related
RECALL_LIMIT = 5  # memories that `reverie recall` shows
_REDACTED = "[REDACTED:"  # the beginning of every redaction marker
_REDACTED_CHARS = 100  # of a memory that had a secret
_QUERY_CHARS_MAX = 10_000  # as `POST /v1/recall` and `POST /v1/search` allow
_WIDTH = 80
_INDENT = "    "
_TITLE_CHARS = 34
_NEIGHBOUR_CHARS = 66


def search(
    client: Client,
    query: Annotated[list[str], Argument("QUERY...", "A question in your own words.")],
    *,
    where: Annotated[SearchPlace, Option("--in", help="messages, memories, documents or all.")] = "messages",
    project: Annotated[
        str | None,
        Option("--project", "-p", metavar="NAME|PATH", help="Only of this project, by its name or a folder."),
    ] = None,
    agent: Annotated[str | None, Option("--agent", help="Only messages of this agent's threads.")] = None,
    thread: Annotated[str | None, Option("--thread", help="Only messages of this thread.")] = None,
    since: Annotated[str | None, Option("--since", metavar="DAY", help="From this day (UTC) on.")] = None,
    before: Annotated[str | None, Option("--before", metavar="DAY", help="Before this day (UTC).")] = None,
    limit: Annotated[int, Option("--limit", "-n", min=1, max=SEARCH_LIMIT_MAX, help="How many to show at most.")] = 5,
) -> Answer:
    """Search what was said, the memories or the documents.

    Example: reverie search why did we pin the parser --since 2026-11-01
    """
    text = joined_text(query, "QUERY", max_chars=_QUERY_CHARS_MAX)
    with renamed({name: f"--{name}" for name in ("in", "since", "before", "agent", "thread", "project")}):
        if thread is not None:
            client.thread(thread)  # raises NotFound for a misspelt one, which would find nothing
        answer = client.search(
            text,
            where=where,
            project=given_project(project),
            agent=agent,
            thread=thread,
            since=since,
            before=before,
            limit=limit,
        )
    if agent is not None and not answer.hits:
        _check_agent(client, agent)
    yield answer
    for hit in answer.hits:
        _print_hit(hit)
    if not answer.hits:
        say("Nothing matches that.")
    if not answer.complete:
        say("The index is still being built, so that there may be more: search again in a minute.")


def _check_agent(client: Client, agent: str) -> None:
    """Raise ValidationError, with the names of those that there are, for an agent of no thread."""
    agents = {item.agent for item in all_items(client.threads, limit=1000) if item.agent}
    if agent not in agents:
        known = ", ".join(sorted(agents)) or "none yet"
        raise ValidationError(
            f"no thread is of the agent {clip(agent, 40)}", hint=f"--agent takes one of: {known}", field="agent"
        )


def _print_hit(hit: wire.SearchHit) -> None:
    """Print where a hit is, its passage, and what was said before and after it."""
    say(_heading(hit))
    number = hit.message.seq if hit.message is not None else 0
    for beside in (neighbour for neighbour in hit.neighbours if neighbour.seq < number):
        say(f"{_INDENT}{_speaker(beside)}: {clip(beside.text, _NEIGHBOUR_CHARS)}")
    for line in textwrap.wrap(" ".join(hit.passage.split()), _WIDTH - len(_INDENT) - 2, break_on_hyphens=False):
        say(f"{_INDENT}> {line}")
    for beside in (neighbour for neighbour in hit.neighbours if neighbour.seq > number):
        say(f"{_INDENT}{_speaker(beside)}: {clip(beside.text, _NEIGHBOUR_CHARS)}")


def _speaker(message: wire.SearchedMessage | wire.Neighbour) -> str:
    return "tool" if message.tool_result else message.role


def _heading(hit: wire.SearchHit) -> str:
    if hit.thread is not None and hit.message is not None:
        name = clip(hit.thread.title, _TITLE_CHARS) if hit.thread.title else ""
        location = f"{hit.thread.id} --around {hit.message.seq}"  # as `reverie thread` takes it
        return clip(" · ".join(part for part in (location, _speaker(hit.message), when(hit.at), name) if part), _WIDTH)
    part = f" · {hit.heading}" if hit.heading else ""
    return clip(f"{hit.document}{part} · {hit.kind} · {when(hit.at)}", _WIDTH)


_ROW_CHARS = 1_000  # of one memory in a list; --json prints it whole
_MEMORY_CHARS_MAX = 100_000  # as `POST /v1/memories` allows
_ID_CHARS_MAX = 16  # a longer id is shown by its end
MemoryType = Annotated[
    MemoryKind | None,
    Option("--type", "-t", help="Only skill, fact, procedure, observation, mistake, preference or episode."),
]
Tag = Annotated[str | None, Option("--tag", help="Only those with this tag.")]


def recall(
    client: Client,
    query: Annotated[list[str], Argument("QUERY...", "A question in your own words.")],
    *,
    limit: Annotated[int, Option("--limit", "-n", min=1, max=100, help="How many to show at most.")] = RECALL_LIMIT,
    kind: MemoryType = None,
    tag: Tag = None,
    project: ProjectOption = None,
    all_projects: AllProjects = False,
    min_score: Annotated[
        float | None, Option("--min-score", min=0, max=1, help="Least relevance; 0 shows every hit.")
    ] = None,
) -> Answer:
    """Search the memories for a question: those of the project that you are in and your own, else all.

    Example: reverie recall how do we run the tests
    """
    text = joined_text(query, "QUERY", max_chars=_QUERY_CHARS_MAX)

    def ask(limit: int, min_score: float | None) -> wire.RecallAnswer:
        return client.recall(
            text,
            limit=limit,
            types=[kind] if kind else None,
            tags=[tag] if tag else None,
            project=given_project(project),
            folder=folder_here(),
            all_projects=all_projects,
            min_score=min_score,
        )

    answer = ask(limit, min_score)
    yield answer
    # Whoever asks in a terminal can judge a weak hit; agents and programs would take it for an answer.
    is_nearest = min_score is None and not answer.hits and answer.weaker > 0
    if is_nearest:
        answer = ask(min(limit, NEAREST_HITS), 0.0)
    print_recall(answer, is_nearest=is_nearest)


def print_recall(answer: wire.RecallAnswer, *, is_nearest: bool = False) -> None:
    """Print the memories that match a question, each with why it does; `is_nearest` if none is related to it."""
    if answer.project is not None:
        say(in_project_line(answer.project))
    if not answer.hits and not answer.weaker:
        say("No memory matches that. `reverie memories` lists all of them.")
    elif not answer.hits:
        say("Nothing here is related to that.")
    elif is_nearest:
        say("Nothing here is clearly about that. The nearest, which share a word with it:")
    for hit in answer.hits or ():
        say(wrapped(one_line(hit.memory)))
        say(f"    {hit.memory.type}, {hit.memory.document}, {_short_id(hit.memory.id)}; {hit.why}")
    if answer.weaker:
        say(f"Not shown: {counted(answer.weaker, 'weaker hit')}; with --min-score 0 they are.")


def memories(
    client: Client,
    *,
    kind: MemoryType = None,
    tag: Tag = None,
    limit: Limit = 50,
    project: ProjectOption = None,
    all_projects: AllProjects = False,
) -> Answer:
    """List the memories: those of the project that you are in and your own, else all.

    Example: reverie memories --type mistake
    """
    page = client.memories(
        kind=kind,
        tag=tag,
        limit=limit,
        project=given_project(project),
        folder=folder_here(),
        all_projects=all_projects,
    )
    yield page
    if page.project is not None and page.items:
        say(in_project_line(page.project))
    if not page.items:
        say(_empty_list(kind, tag))
        return
    if is_terminal():
        for item in page.items:
            say(wrapped(one_line(item)))
            say(f"    {item.type} · {item.document} · {_short_id(item.id)}")
    else:
        _print_rows(page.items)
    if page.next:
        say("There are more: reverie memories --limit N")


def remember(
    client: Client,
    text: Annotated[list[str], Argument("TEXT...", "The memory; words like '#release' at its end are tags.")],
    *,
    kind: Annotated[
        MemoryKind | None,
        Option(
            "--type",
            "-t",
            help="fact, preference, mistake, procedure, skill, observation or episode; else the file's, or fact.",
        ),
    ] = None,
    tags: Annotated[list[str] | None, Option("--tag", help="A tag; may be given again.")] = None,
    document: Annotated[
        str | None, Option("--document", "-d", metavar="PATH", help="The file, such as facts/user.md.")
    ] = None,
    project: Annotated[
        str | None,
        Option("--project", metavar="NAME|PATH", help="The project that it is of; else it is recalled in all."),
    ] = None,
) -> Answer:
    """Add a memory: one more line of your markdown files, which engines never change by themselves.

    Example: reverie remember we deploy on Thursdays --type procedure
    """
    content, tags_at_end = _split_tags(joined_text(text, "TEXT", max_chars=_MEMORY_CHARS_MAX))
    belongs_to = given_project(project)
    body = wire.CreateMemory(
        content=content,
        type=kind,
        tags=[*tags_at_end, *(tags or [])],
        document=document,
        project=belongs_to,
        author="person",
    )
    check_is_known(client, belongs_to)
    memory = client.remember(body)
    yield memory
    sync = None if memory.existed else client.sync_status()
    taken = client.redactions().items if had_secret(memory, content) else None
    print_remembered(memory, is_new=not memory.existed, sync=sync, taken=taken)


def had_secret(memory: wire.Memory, text: str) -> bool:
    """Return True if something of the text of a memory was taken."""
    return _REDACTED in memory.content and _REDACTED not in text


def print_remembered(
    memory: wire.Memory, *, is_new: bool, sync: wire.SyncStatus | None, taken: Iterable[wire.Redaction] | None
) -> None:
    """Print where a memory is, and how to remove it; `sync` is the status after it was added.

    `taken` are the redactions found last where the memory had a secret.
    """
    end = memory.id[-ID_END:]
    if is_new:
        say(f"Added to {memory.document}. To remove it: reverie forget {end}")
        say(f"It is recalled in {memory.project or 'all projects; with --project . only in that of this folder'}.")
    else:
        say(f"It is already in {memory.document}; nothing was added.")
        say(f"To remove it: reverie forget {end}")
    if taken is not None:
        say(f"It contained a secret, which was not stored: {clip(memory.content, _REDACTED_CHARS)}")
        for item in taken:
            if any(place.memory == memory.id for place in item.places):
                allow = f"reverie redactions allow {item.id[-ID_END:]}"
                say(f"If it is none: {allow}, then reverie forget {end}, then remember it again.")
    if sync is not None and file_pending(sync, memory.document):
        say(FILE_PENDING)


def folder_here() -> str | None:
    """Return the current folder; None where it was removed meanwhile, so that a command works there too."""
    try:
        return str(Path.cwd())
    except FileNotFoundError:
        return None


def in_project_line(project: str) -> str:
    """Return the line that names the project of an answer, and how to ask for all."""
    return f"Project {project}, and what is of no project; with --all-projects everything."


def one_line(memory: wire.Memory) -> str:
    """Return a memory's text on one line, an episode's title instead, and since when it is in doubt."""
    since = memory.in_doubt_since
    text = memory.title if memory.title and (memory.type == "episode" or not memory.content) else memory.content
    return " ".join(text.split()) + (f" (in doubt since {since[:10]})" if since else "")


def find_memory(client: Client, id_end: str) -> wire.Memory:
    """Return the only memory whose id ends like this; `mem_…` as the list prints it is ignored."""
    ending = id_end.removeprefix("mem_…").removeprefix("…")
    found = [item for item in all_items(client.memories, limit=1000) if item.id.endswith(ending)]
    if not found and ending.startswith("mem_"):
        raise NotFound(
            f"there is no memory {clip(id_end, 40)} now", hint=f"reverie log {id_end} shows if there was one"
        )
    if not found and len(ending.split()) > 1:
        raise NotFound(f"“{clip(id_end, 40)}” is no id of a memory", hint="reverie memories lists them with their ids")
    return by_end(found, id_end, "memory", "memories", hint="reverie memories --json shows whole ids")


def _split_tags(text: str) -> tuple[str, tuple[str, ...]]:
    """Split the tags off the end of a text, by the rules for a line of a file: `run it #ci` is ("run it", ("ci",))."""
    if "#" not in text or "\n" in text:
        return text, ()
    from reverie.documents.parse import parse_document

    items = parse_document("facts/any.md", f"- {text}\n").items
    return (items[0].content, items[0].tags) if len(items) == 1 and items[0].tags else (text, ())


def _empty_list(kind: str | None, tag: str | None) -> str:
    if kind is None and tag is None:
        return "No memories yet. They are extracted from sessions.\nNext: reverie import claude-code ~/.claude/projects"
    filters = " and ".join([*([f"is of type {kind}"] if kind else []), *([f"has the tag {tag}"] if tag else [])])
    return f"No memory {filters}. `reverie memories` lists all of them."


def _print_rows(items: list[wire.Memory]) -> None:
    """Print one line a memory, for grep and cut; a very long one is cut, and --json prints it whole."""
    print_table(
        "Type, Project, Memory, Tags, File, Changed, Id",
        [
            (
                item.type,
                item.project or "-",
                clip(one_line(item), _ROW_CHARS),
                " ".join(item.tags),
                item.document,
                when(item.updated_at),
                item.id,
            )
            for item in items
        ],
    )


def _short_id(memory_id: str) -> str:
    """Return an id shortened to its last characters: `mem_…fxgzskm0`."""
    return memory_id if len(memory_id) <= _ID_CHARS_MAX else f"mem_…{memory_id[-ID_END:]}"


_SHOWN_CHARS = 70  # of a memory in a sentence
_LISTED_MAX = 10  # of the memories that go with a thread
_SAID_S = 2.0  # after which a purge says that it goes on
PURGING = "Removing every trace"
Deleted: TypeAlias = "wire.MemoryDeleted | wire.DocumentDeleted | wire.ThreadDeleted"


def forget(
    client: Client,
    target: Annotated[str, Argument("ID", "A memory (its id or last characters), a thread, or a file's path.")],
    purge: Annotated[
        bool, Option("--purge", help="Remove every trace, history and archives included; no undo.")
    ] = False,
    keep_memories: Annotated[
        bool, Option("--keep-memories", help="Of a purged thread: keep what was learnt from it.")
    ] = False,
    yes: Yes = False,
) -> Answer:
    """Delete a memory, a thread or a file; undo restores memories and files, unless --purge removes every trace.

    Example: reverie forget ID
    """
    answer: Deleted
    shown = target
    is_thread = names_thread(client, target)
    if keep_memories and not is_thread:
        hint = "leave it out, or give a thread: reverie forget thr_… --purge --keep-memories"
        raise ValidationError(f"--keep-memories is for a purged thread, which {clip(target, 40)} is not", hint=hint)
    if is_thread:
        answer = _thread(client, target, purge=purge, keep_memories=keep_memories, yes=yes)
    elif is_path(target):
        answer = _document(client, target, purge=purge, yes=yes)
    else:
        answer, shown = _memory(client, target, purge=purge, yes=yes)
    yield answer
    _print_deleted(answer, shown)
    document = answer.document if isinstance(answer, wire.MemoryDeleted) else getattr(answer, "path", None)
    if document is not None and file_pending(client.sync_status(), document):
        say(FILE_PENDING)


def names_thread(client: Client, target: str) -> bool:
    """Return whether a thread is meant; its id may be of its caller: `support-bot-42`, `mcp:My-Client:fb1ad579e71a`."""
    if target.startswith("mem_") or "…" in target or " " in target or is_path(target):
        return False
    if not target.isalnum():  # the end of a memory's id has letters and digits alone
        return True
    try:
        return client.thread(target).id == target
    except NotFound:
        return False


def _memory(client: Client, target: str, *, purge: bool, yes: bool) -> tuple[wire.MemoryDeleted, str]:
    """Delete or purge a memory, and return the answer and its shortened text; a purge also takes a deleted one."""
    try:
        memory = find_memory(client, target)
        memory_id, shown = memory.id, clip(one_line(memory), _SHOWN_CHARS)
    except NotFound:
        if not purge or not target.startswith("mem_"):
            raise
        memory_id, shown = target, target
        client.memory_history(memory_id)  # raises NotFound before anything is asked
    if purge:
        _confirm(f"Every trace of this memory would be removed: {shown}", yes=yes)
    with _progress(is_said=purge):
        return client.forget(memory_id, purge=purge), shown


def _document(client: Client, path: str, *, purge: bool, yes: bool) -> wire.DocumentDeleted:
    """Delete or purge a document, and return the answer; a purge also takes one that was deleted before."""
    if purge:
        versions = client.document_history(path).items
        _confirm(f"Every trace of {path} would be removed: {counted(len(versions), 'version')}.", yes=yes)
    with _progress(is_said=purge):
        return client.delete_document(path, purge=purge)


def _thread(client: Client, prefix: str, *, purge: bool, keep_memories: bool, yes: bool) -> wire.ThreadDeleted:
    """Delete or purge a thread after a question, since no undo restores it; a purge also takes a deleted one."""
    try:
        thread = with_thread(client, prefix, client.thread)
        thread_id, messages = thread.id, counted(thread.message_count, "message")
    except NotFound:
        if not purge:
            raise
        thread_id, messages = prefix, "no message"
    preview = f"Thread {thread_id} with {messages} would be removed; undo does not restore it."
    if purge and not keep_memories and not yes:
        preview += _learnt(client, thread_id)
    _confirm(preview, yes=yes)
    with _progress(is_said=purge):  # without a purge what was learnt stays anyway
        return client.delete_thread(thread_id, confirm=thread_id, purge=purge, keep_memories=purge and keep_memories)


def _learnt(client: Client, thread: str) -> str:
    """Return the lines that say which memories go with a purged thread: those that were learnt from it alone."""
    from reverie.usecases.provenance import threads_of

    items = all_items(client.memories)
    gone = [memory for memory in items if memory.trust == "engine" and set(threads_of(memory.provenance)) == {thread}]
    if not gone:
        return ""
    number = counted(len(gone), "memory was", "memories were")
    lines = [f"{number} learnt from it, and would go too; no other session brings them back:"]
    lines += [f"  {clip(one_line(memory), _SHOWN_CHARS)}" for memory in gone[:_LISTED_MAX]]
    if len(gone) > _LISTED_MAX:
        lines.append(f"  and {len(gone) - _LISTED_MAX:,} more")
    return "\n".join(["", *lines, "--keep-memories keeps them."])


@contextmanager
def _progress(*, is_said: bool) -> Iterator[None]:
    """Show that a purge goes on: on a terminal at once, elsewhere in a line on standard error once it takes long."""
    timer = threading.Timer(_SAID_S, sys.stderr.write, [f"{PURGING} …\n"])
    timer.daemon = True
    if is_said and not AS_JSON.get() and not sys.stderr.isatty():
        timer.start()
    try:
        with spinner(PURGING, quiet=not is_said):
            yield
    finally:
        timer.cancel()


def _confirm(preview: str, *, yes: bool) -> None:
    if not yes:
        confirm(preview, "Remove it?")


def _print_deleted(answer: Deleted, shown: str) -> None:
    """Print the name of what was deleted, and the commands that undo or purge it."""
    if answer.purged is not None:
        thread = (
            f"1 thread with {counted(answer.messages, 'message')}" if isinstance(answer, wire.ThreadDeleted) else ""
        )
        _print_purged(answer.purged, thread)
        return
    match answer:
        case wire.MemoryDeleted():
            say(f"Deleted: {shown} ({answer.document}). To restore it: reverie undo {answer.operation}")
        case wire.DocumentDeleted():
            memories = counted(answer.memories, "memory", "memories")
            say(f"Deleted: {answer.path} with {memories}. To restore it: reverie undo {answer.operation}")
        case wire.ThreadDeleted():
            say(f"Deleted: thread {answer.id} with {counted(answer.messages, 'message')}.")
            say(f"What was learnt from it stays. To remove every trace: reverie forget {answer.id} --purge")
            return
    say(f"Its history keeps it until it is purged: reverie forget {_whole(answer)} --purge")


def _whole(answer: Deleted) -> str:
    return answer.path if isinstance(answer, wire.DocumentDeleted) else answer.id


def _print_purged(purged: wire.Purged, thread: str) -> None:
    """Print what a purge removed, the purged `thread` first, and the backups that still have it."""
    parts = [
        *([thread] if thread else []),
        counted(purged.memories, "memory", "memories"),
        counted(purged.documents, "document"),
        counted(purged.archives, "archive"),
    ]
    say(f"Purged: {', '.join(parts)}; the store is {size(purged.freed_bytes)} smaller.")
    if purged.kept:
        say(f"Kept, as they were not learnt from it alone: {', '.join(purged.kept)}.")
        say("To purge one of them: reverie forget ID --purge")
    if purged.backups:
        say("These backups were made while it was there, and still have it; delete them when you no longer need them:")
        for backup in purged.backups:
            say(f"  {backup.path}  ({backup.at[:16].replace('T', ' ')})")
