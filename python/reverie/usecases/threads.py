"""Threads and what is appended to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reverie.errors import Conflict, NotFound, ValidationError
from reverie.importers.token_count import message_tokens
from reverie.models import Entry, EntryKind
from reverie.store import Kind, Write
from reverie.store.retention import purge_thread
from reverie.usecases import thread_seed, usage
from reverie.usecases.thread_seed import Carried

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.models import Json
    from reverie.store import Reader, Sealed, Writer

__all__ = [
    "append",
    "blank",
    "create",
    "delete",
    "get",
    "grown",
    "spoken",
]

PURGE_BATCH = 500  # records in one write; more would hold up the agents behind it


def blank(thread_id: str, at: str, **known: Any) -> dict[str, Any]:
    """A thread's record before anything was said in it."""
    return {
        "id": thread_id,
        "agent": known.get("agent"),
        "title": known.get("title"),
        "model": known.get("model"),
        "contextWindow": known.get("context_window"),
        "source": known.get("source"),
        "index": known.get("index"),
        "project": known.get("project"),
        "createdAt": at,
        "updatedAt": at,
        "lastSeq": 0,
        "messageCount": 0,
        "tokens": 0,
        "liveTokens": 0,
        "distillations": 0,
        "throughSeq": 0,
        "extractedSeq": 0,
        "usage": None,
    }


def get(reader: Reader, thread_id: str) -> dict[str, Any]:
    """A thread's record.

    Raises:
        NotFound: no thread of that id in this space.
    """
    found = reader.get(Kind.THREAD, (thread_id,))
    if found is None:
        raise NotFound(f"no thread is called {thread_id!r}", hint="reverie threads lists them")
    return found


def create(
    space: str,
    who: str,
    record: dict[str, Any],
    begins_with: Carried | None = None,
    *,
    idempotency: tuple[str, str] | None = None,
) -> Write[dict[str, Any]]:
    """Opens a thread with what it begins with; the body raises Conflict where the id is taken."""
    given = begins_with or Carried()

    def body(writer: Writer) -> dict[str, Any]:
        if writer.get(Kind.THREAD, (record["id"],)) is not None:
            raise Conflict(
                f"a thread is already called {record['id']!r}", hint="leave `id` out, or go on in that thread"
            )
        writer.put(Kind.THREAD, (record["id"],), {**record, "carried": [note["id"] for note in given.notes]})
        thread_seed.put(writer, record["id"], given)
        return get(writer, record["id"])  # as stored: what looked like a secret is not told again

    return Write(space=space, who=who, why="thread.create", body=body, idempotency=idempotency)


def spoken(messages: Sequence[tuple[str, Json]], account: dict[str, Any] | None, at: str) -> list[Entry]:
    """Messages in Anthropic form as entries of the main line, their tokens counted; `account` is the last one's usage.

    Raises:
        ValidationError: a message without content.
    """
    entries = []
    for position, (role, content) in enumerate(messages):
        if content in ("", []):
            raise ValidationError(
                f"messages[{position}] is empty", hint="leave it out", field=f"messages[{position}].content"
            )
        entries.append(
            Entry(
                kind=EntryKind.SPEECH,
                role="assistant" if role == "assistant" else "user",
                content=content,
                at=at,
                tokens=message_tokens(content),
                usage=account if position == len(messages) - 1 else None,
            )
        )
    return entries


def append(
    space: str,
    who: str,
    thread_id: str,
    entries: Sequence[Entry],
    sealed: Sequence[Sealed],
    *,
    at: str,
    window: int,
    edits: Sequence[dict[str, Any]] = (),
    expected_seq: int | None = None,
    idempotency: tuple[str, str] | None = None,
) -> Write[dict[str, Any]]:
    """Appends `entries`, sealed as `sealed`, to a thread.

    The body answers `{"firstSeq", "lastSeq", "context"}`; it raises NotFound for an unknown thread, and Conflict when
    `expected_seq` is given and another writer was faster. `window` is the model's where the thread names none. `edits`
    are what the API says it cleared before the reply that was appended.
    """

    def body(writer: Writer) -> dict[str, Any]:
        thread = get(writer, thread_id)
        if expected_seq is not None and thread["lastSeq"] != expected_seq:
            raise Conflict(
                f"the thread stands at message {thread['lastSeq']}, not {expected_seq}",
                hint="read what came since, then append again with the new expectedSeq",
                currentVersion=thread["lastSeq"],
            )
        first, last = writer.append_many(Kind.ENTRY, (thread_id,), sealed)
        if thread["model"] and not thread.get("factor"):
            thread["factor"] = writer.get(Kind.CURSOR, _factor_key(thread["model"]))
        after = grown(thread, entries, last, at, edits)
        writer.put(Kind.THREAD, (thread_id,), after)
        if thread["model"] and after.get("factor") != thread.get("factor"):
            writer.put(Kind.CURSOR, _factor_key(thread["model"]), after["factor"])
        writer.event("thread.appended", {"threadId": thread_id, "lastSeq": last})
        return {"firstSeq": first, "lastSeq": last, "context": usage.context_use(after, window)}

    return Write(space=space, who=who, why="messages.append", body=body, idempotency=idempotency)


def grown(
    thread: dict[str, Any], entries: Sequence[Entry], last_seq: int, at: str, edits: Sequence[dict[str, Any]] = ()
) -> dict[str, Any]:
    """A thread's record after `entries` were appended as far as `last_seq`."""
    speech = [entry for entry in entries if entry.kind is EntryKind.SPEECH]
    said = sum(entry.tokens for entry in speech)
    account = next((entry.usage for entry in reversed(speech) if entry.usage), None)
    live = thread["liveTokens"] + said
    return {
        **thread,
        "updatedAt": at,
        "lastSeq": last_seq,
        "messageCount": thread["messageCount"] + len(speech),
        "tokens": thread["tokens"] + said,
        "liveTokens": live,
        **usage.told(thread, live, account, edits),
    }


def _factor_key(model: str) -> tuple[str]:
    """Where a model's factor is kept for threads to come."""
    return (f"tokens:{model}",)


def delete(space: str, who: str, thread_id: str) -> Write[dict[str, Any]]:
    """One step of removing a thread: at most PURGE_BATCH records; the body answers whether it is `done`.

    What belongs to the thread goes first and its record last, so that a step that is repeated after a crash goes on
    where the others stopped. Memories drawn from the thread stay: they have a history of their own.
    """

    def body(writer: Writer) -> dict[str, Any]:
        thread = get(writer, thread_id)
        purge_thread(writer, thread_id, PURGE_BATCH)
        if writer.get(Kind.THREAD, (thread_id,)) is not None:
            return {"id": thread_id, "messages": thread["messageCount"], "done": False}
        for key, held in list(writer.scan(Kind.IMPORT)):
            if held["thread"] == thread_id:
                writer.delete(Kind.IMPORT, key)
        return {"id": thread_id, "messages": thread["messageCount"], "done": True}

    return Write(space=space, who=who, why="thread.delete", body=body)
