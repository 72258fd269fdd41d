"""The command `forget`: delete a memory, a file of the folder or a thread, and with `--purge` every trace of it."""

import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, TypeAlias

from reverie import wire
from reverie.client import Client
from reverie.errors import NotFound
from reveried.cli import daemon_client
from reveried.cli.command import Answer, Argument, Option, Yes, confirm
from reveried.cli.output import AS_JSON, clip, counted, say, size, spinner
from reveried.cli.recall import find_memory, one_line
from reveried.cli.status import FILE_PENDING, file_pending
from reveried.cli.threads import with_thread

if TYPE_CHECKING:
    from collections.abc import Iterator


_SHOWN_CHARS = 70  # of a memory in a sentence
_LISTED_MAX = 10  # of the memories that go with a thread
_SAID_S = 2.0  # after which a purge says that it goes on
PURGING = "Removing every trace"
_FILE_ENDINGS = (".md", ".txt")
Deleted: TypeAlias = wire.MemoryDeleted | wire.DocumentDeleted | wire.ThreadDeleted


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
    if target.startswith("thr_"):
        answer = _thread(client, target, purge=purge, keep_memories=keep_memories, yes=yes)
    elif "/" in target or target.endswith(_FILE_ENDINGS):
        answer = _document(client, target, purge=purge, yes=yes)
    else:
        answer, shown = _memory(client, target, purge=purge, yes=yes)
    yield answer
    _print_deleted(answer, shown)
    document = answer.document if isinstance(answer, wire.MemoryDeleted) else getattr(answer, "path", None)
    if document is not None and file_pending(client.sync_status(), document):
        say(FILE_PENDING)


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
    with _progress(is_said=purge):
        return client.delete_thread(thread_id, confirm=thread_id, purge=purge, keep_memories=keep_memories)


def _learnt(client: Client, thread: str) -> str:
    """Return the lines that say which memories go with a purged thread: those that were learnt from it alone."""
    from reverie.usecases.sources import threads_of  # noqa: PLC0415 - only for a purge

    items = daemon_client.all_items(client.memories)
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
def _progress(*, is_said: bool) -> "Iterator[None]":
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
    """Print what would be removed and ask for confirmation, unless `yes` is set; a "no" aborts."""
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
