"""A store that a test opens itself: writes, threads, tokens, and every byte that it holds."""

from __future__ import annotations

import contextlib
import json
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import lmdb

from reverie.models import Entry, EntryKind, Json
from reverie.redact import Taken
from reverie.store import SYSTEM_SPACE, Done, Failed, Key, Kind, Store, ThreadRecord, Write, Writer, seal
from reverie.store.codec import TOMBSTONE, decode_record, from_ms, to_ms
from reverie.store.env import lmdb_options
from reverie.store.keys import record_key, record_name, space_prefix, split_key
from reverie.store.transactions import ReadTransaction
from reverie.usecases import threads
from reverie.usecases.by import By
from reverie.usecases.entries import entry_record
from reveried.http.auth import token_hash
from support.daemon_folder import bytes_below

AT = "2026-11-21T09:30:00.000Z"
SECRET = "hush-hush-1234"  # noqa: S105 - what Masking replaces
SPACE = "default"
_CHARACTERS = "".join(map(chr, range(0x20, 0x7F)))  # printable ASCII
DAY_MS = 24 * 60 * 60 * 1000


_TAKEN = Taken("listed", "test", "14:a0-", b"0" * 16)


class Masking:
    """A redactor that knows one secret."""

    def taken(self, value: Json) -> tuple[Json, list[Taken]]:
        match value:
            case str():
                return value.replace(SECRET, "[REDACTED:test]"), [_TAKEN] * value.count(SECRET)
            case list():
                found = [self.taken(item) for item in value]
                return [item for item, _ in found], [one for _, taken in found for one in taken]
            case dict():
                clean = {key: self.taken(item) for key, item in value.items()}
                return {key: item for key, (item, _) in clean.items()}, [
                    one for _, taken in clean.values() for one in taken
                ]
        return value, []


MASKING = Masking()


def noise(size: int, seed: int = 0) -> str:
    """Return so many characters that hardly get shorter when they are packed: to about five sixths."""
    return "".join(random.Random(seed).choices(_CHARACTERS, k=size))


def opened(path: Path, **options: Any) -> Store:
    return Store.open(path, redactor=MASKING, **options)


def after(days: float) -> str:
    """Return the time `days` after AT."""
    return from_ms(to_ms(AT) + int(days * DAY_MS))


def write(
    store: Store,
    body: Callable[..., Any],
    *given: Any,
    space: str = SPACE,
    at: str = AT,
    who: str = "agent",
    **more: Any,
) -> Done[Any]:
    """Commit one write whose body gets the Writer and `given`; return it done, or raise what it failed with."""

    def run(writer: Writer) -> Any:
        return body(writer, *given)

    (outcome,) = store.commit([Write(space, who, "test", run, **more)], at=at)
    if isinstance(outcome, Failed):
        raise outcome.error
    return outcome


def put(store: Store, kind: Kind, key: Key, value: dict[str, Any], **more: Any) -> int | None:
    """Put one record in a write of its own; return the operation."""
    return write(store, lambda w: w.put(kind, key, value), **more).operation


@contextmanager
def raw(path: Path) -> Iterator[lmdb.Transaction[bytes]]:
    """Open a closed store's LMDB file for writing, to damage it."""
    with lmdb.open(str(path), **lmdb_options(1 << 30)) as env, env.begin(write=True) as txn:  # type: ignore[arg-type]
        yield txn


def raw_key(kind: Kind, key: Key) -> bytes:
    return record_key(space_prefix(SPACE), kind, key)


def add_token(home: Path, token: str, space: str, agent: str) -> None:
    """Add a token to the store of a daemon that is not running."""
    with opened(home / "data" / "store") as store:
        put(store, Kind.TOKEN, (token_hash(token),), {"space": space, "agent": agent}, space=SYSTEM_SPACE)


def files_with(folder: Path, word: str) -> list[str]:
    """Return the files under a folder, and the records of the store in it, that have a word; none where it is gone.

    As it is, in any case, as JSON escapes it, and in names.
    """
    forms = {word.lower().encode(), json.dumps(word.lower())[1:-1].encode(), word.lower().encode("utf-16-le")}
    return [
        name
        for name, text in texts_below(folder)
        if any(form in text.lower() for form in forms) or word.casefold() in name.rpartition("/")[2].casefold()
    ]


def texts_below(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the bytes of every file under a folder by its relative path, and of every record of its store by name.

    Records may be packed in the file, or edits of the version after them.
    """
    yield from bytes_below(folder).items()
    with (
        contextlib.closing(
            lmdb.open(str(folder / "data" / "store"), readonly=True, create=False, lib_version=0)
        ) as env,
        env.begin() as txn,
    ):
        for raw, data in txn.cursor():
            record = decode_record(raw, data)
            if record.form != TOMBSTONE:
                yield record_name(raw), ReadTransaction(txn, space_prefix(split_key(raw)[0])).body(raw, record)


def append(store: Store, thread: str, *texts: str, agent: str | None = None) -> None:
    """Append messages to a thread, which is created if it is not there."""

    def body(writer: Writer) -> None:
        record = writer.load(ThreadRecord, (thread,)) or ThreadRecord(
            id=thread, agent=agent, created_at=AT, updated_at=AT
        )
        entries = [Entry(EntryKind.SPEECH, role="user", content=text, at=AT) for text in texts]
        _, last = writer.append_many(Kind.ENTRY, (thread,), [seal(entry_record(each), MASKING) for each in entries])
        writer.save(threads.after_append(record, entries, last, AT), (thread,))

    write(store, body)


def delete(store: Store, thread: str) -> None:
    """Delete a thread with its messages."""
    by, step = By(SPACE, "agent"), threads.delete
    while not store.commit([step.write(by, thread)], at=AT)[0].value.done:  # type: ignore[union-attr]
        step = threads.delete_rest
