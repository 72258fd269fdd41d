"""Brings another program's transcript in, chunk by chunk: where a file stands, and what a chunk adds to its thread."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import msgspec
import orjson

from reverie import ids
from reverie.errors import Conflict, NotFound
from reverie.store import Kind, Write
from reverie.store.codec import verified_sealed
from reverie.usecases import threads

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reverie.store import Reader, Writer

__all__ = ["ChunkJob", "ChunkPlan", "Place", "begin", "commit_chunk", "mark", "place", "seen"]


class Place(msgspec.Struct):
    """How far one source's file has been taken in.

    `sha256` is of the bytes from `check_from` to `offset`, the last chunk: a file that holds others there is not the
    file that was read.
    """

    id: str
    source: str
    client: str
    session: str
    thread: str
    offset: int = 0
    lines: int = 0
    check_from: int = 0
    sha256: str = ""
    inside: str = "nothing"
    reply: str | None = None  # the API reply that the last message belongs to
    mixed: bool = False  # more than one file was read for this session: every line may be known already


class ChunkJob(msgspec.Struct):
    """What deciding a chunk needs. `seen` are the marks of lines that the thread already holds.

    `stood` is the byte at which the import stood at the snapshot.
    """

    data: bytes
    first_line: int
    final: bool
    stood: int = 0
    inside: str = "nothing"
    reply: str | None = None
    seen: list[str] = []
    literals: list[str] = []


class ChunkPlan(msgspec.Struct):
    """A chunk, parsed, redacted and sealed, ready to be appended; and what it says about its thread."""

    sealed: list[bytes]
    stood: int
    consumed: int
    lines: int  # of the file so far
    final: bool
    inside: str
    duplicates: int
    redacted: int
    counts: dict[str, int]
    problems: list[tuple[int, str]]
    problem_count: int
    messages: int
    tokens: int
    sha256: str
    reply: str | None = None
    at: str | None = None
    title: str | None = None
    project: str | None = None
    model: str | None = None
    used: int = 0
    used_live: int = 0  # tokens of the chunk's speech up to the message that told `used`
    summaries: list[tuple[int, str, str | None]] = []  # index in `sealed`, text, time


def begin(space: str, client: str, session: str, source: str | None, *, at: str) -> Write[dict[str, Any]]:
    """Opens the place of `session`: with a new thread the first time, where it stopped afterwards."""
    place_id = _name("imp", client, session)
    thread_id = _name("thr", client, session)

    def body(writer: Writer) -> dict[str, Any]:
        found = writer.get(Kind.IMPORT, (place_id,))
        thread = writer.get(Kind.THREAD, (thread_id,))
        if found is not None and thread is not None:
            return found
        if thread is None:
            writer.put(Kind.THREAD, (thread_id,), threads.blank(thread_id, at, agent=client, source=source or session))
        opened = Place(id=place_id, source=place_id, client=client, session=session, thread=thread_id)
        writer.put(Kind.IMPORT, (place_id,), msgspec.to_builtins(opened))
        return dict(msgspec.to_builtins(opened))

    return Write(space=space, who=f"import:{client}", why="import.begin", body=body)


def place(reader: Reader, import_id: str) -> Place:
    """The place of an import that was begun.

    Raises:
        NotFound: no import of that id.
    """
    found = reader.get(Kind.IMPORT, (import_id,))
    if found is None:
        raise NotFound(f"no import is called {import_id!r}", hint="begin one with POST /v1/imports")
    return msgspec.convert(found, Place)


def seen(reader: Reader, thread: str) -> list[str]:
    """The marks of every line that `thread` holds; needed only where a file is read again from an earlier place."""
    return [mark(record) for _, record in reader.scan(Kind.ENTRY, (thread,))]


def commit_chunk(
    space: str, import_id: str, offset: int, plan: ChunkPlan, *, client: str = "import"
) -> Write[dict[str, Any]]:
    """Appends a decided chunk that began at byte `offset` of its file.

    The body raises Conflict when the chunk leaves bytes out, and with `details["stale"]` when another caller moved the
    place since the snapshot: what the thread holds already must then be looked up again. NotFound when the import is
    gone.
    """

    def body(writer: Writer) -> dict[str, Any]:
        here = place(writer, import_id)
        if offset > here.offset:
            raise Conflict(
                f"the import stands at byte {here.offset}, not {offset}",
                hint="go on from the offset that POST /v1/imports answers",
                currentVersion=here.offset,
            )
        # A chunk of known lines alone adds nothing, whatever came since.
        if plan.sealed and here.offset != plan.stood:
            raise Conflict("another import of the same file was faster", hint="try again", stale=True)
        _append(writer, here.thread, plan)
        moved = msgspec.structs.replace(
            here,
            lines=plan.lines,
            check_from=offset,
            offset=offset + plan.consumed,
            sha256=plan.sha256,
            inside=plan.inside,
            reply=plan.reply,
            mixed=here.mixed or offset < here.offset,
        )
        # Whoever reads again what is all known does not take the place away from an import that is further on.
        if plan.consumed and (plan.sealed or plan.final or moved.offset > here.offset):
            writer.put(Kind.IMPORT, (import_id,), msgspec.to_builtins(moved))
        return {"offset": moved.offset, "lines": moved.lines}

    return Write(space=space, who=f"import:{client}", why="import.chunk", body=body)


def _append(writer: Writer, thread_id: str, plan: ChunkPlan) -> None:
    """Adds the chunk's entries, and to the thread's record what they say about it."""
    if not plan.sealed:
        return
    thread = threads.get(writer, thread_id)
    first, last = writer.append_many(Kind.ENTRY, (thread_id,), [verified_sealed(item) for item in plan.sealed])
    distillations = thread["distillations"]
    for index, text, at in plan.summaries:
        distillations += 1
        made = {"number": distillations, "imported": True, "text": text, "throughSeq": first + index - 1, "at": at}
        writer.put(Kind.DISTILLATION, (thread_id, distillations), made)
    grown = {
        **thread,
        "lastSeq": last,
        "messageCount": thread["messageCount"] + plan.messages,
        "tokens": thread["tokens"] + plan.tokens,
        "liveTokens": thread["liveTokens"] + plan.tokens,
        "distillations": distillations,
        "title": thread["title"] or plan.title,
        "model": plan.model or thread["model"],
        "project": thread["project"] or plan.project,
        "updatedAt": plan.at or thread["updatedAt"],
    }
    if plan.used:
        grown["usage"] = {"tokens": plan.used, "live": thread["liveTokens"] + plan.used_live}
    writer.put(Kind.THREAD, (thread_id,), grown)
    writer.event("thread.appended", {"threadId": thread_id, "lastSeq": last})


def mark(record: Mapping[str, Any]) -> str:
    """What tells a line from every other line of its thread: its uuid, else everything in it but its place."""
    if isinstance(record.get("id"), str):
        return str(record["id"])
    told = {name: held for name, held in record.items() if name != "line"}
    return hashlib.sha256(orjson.dumps(told, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _name(kind: str, client: str, session: str) -> str:
    return ids.content_id(kind, f"{client}\0{session}".encode())
