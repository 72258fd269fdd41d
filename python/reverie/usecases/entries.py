"""Stored entries of a thread: read sealed in a snapshot, then opened and joined into messages elsewhere.

A snapshot carries entries as the sealed bytes of the store, because opening them (checksum, JSON) is the larger part of
the cost and belongs in the compute process.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias, TypedDict

import msgspec
import orjson

from reverie.decode import json_decoder
from reverie.errors import Damaged
from reverie.importers.claude_code import withdrawn
from reverie.importers.join import main_line, with_asides
from reverie.models import Entry, EntryKind, Message
from reverie.store import Kind, Reader, open_sealed
from reverie.store.codec import sealed_body

QUEUED_MAX: Final = 100  # entries after queued words, by which they have left the queue
CACHE_BYTES: Final = 8_000_000  # sealed bytes of all cached entries together: the last few hundred turns of one thread
CACHED_ENTRY_BYTES: Final = 200_000  # a larger entry is opened each time: a few of them would empty the cache

SealedEntry: TypeAlias = tuple[int, bytes]
"""Sequence number in the thread, and the sealed bytes."""


ENTRY_NAMES: Final = ("parent", "reply")
"""Fields of a stored entry that identify others: a remembered secret is never replaced in them."""

_OPTIONAL_FIELDS: Final = ("id", "parent", "role", "content", "reply", "at", "usage", "raw")


def entry_record(entry: Entry) -> dict[str, Any]:
    """Return the stored JSON of an entry: without its sequence number, which is its key, and without empty fields.

    A dict and not an `EntryRecord`, because its canonical hash goes into archives: JSON that was decoded by orjson (a
    65-bit integer becomes a float) keeps the addresses that archives have always had.
    """
    stored: dict[str, Any] = {"kind": entry.kind.value}
    for name in _OPTIONAL_FIELDS:
        if (field := getattr(entry, name)) is not None:
            stored[name] = field
    if entry.tokens:
        stored["tokens"] = entry.tokens
    if entry.extra:
        stored["extra"] = entry.extra
    if entry.line:
        stored["line"] = entry.line
    return stored


def entry_of(seq: int, stored: Mapping[str, Any]) -> Entry:
    """Return the entry at `seq` of its thread from its stored JSON."""
    return Entry(
        kind=EntryKind(stored["kind"]),
        seq=seq,
        tokens=stored.get("tokens", 0),
        extra=stored.get("extra", {}),
        line=stored.get("line", 0),
        **{name: stored.get(name) for name in _OPTIONAL_FIELDS},
    )


class _Extra(TypedDict, total=False):
    """The fields of an entry's `extra` that rewind its message, or have text of the person outside of a message.

    Decoding gives a dict of those that a line has, also those that are null in it.
    """

    type: Any
    operation: Any
    content: Any
    to: Any
    undoes: Any
    node: Any
    isMeta: Any
    sessionId: Any
    parentUuid: Any
    logicalParentUuid: Any
    payload: msgspec.Raw
    toolUseResult: msgspec.Raw


_ABSENT: Final = msgspec.Raw()


class _Line(msgspec.Struct):
    """The fields of a stored entry that messages are made from; the others are skipped without being decoded."""

    kind: str
    id: str | None = None
    parent: str | None = None
    role: Any = None
    content: msgspec.Raw = _ABSENT
    reply: str | None = None
    at: str | None = None
    usage: msgspec.Raw = _ABSENT
    tokens: int = 0
    line: int = 0
    extra: _Extra | None = None


_LINES: Final = json_decoder(_Line)
_KINDS: Final = {kind.value: kind for kind in EntryKind}
_KIND: Final = b'{"kind":"'  # how the text of an entry begins where its kind stands first, as it is written
_LARGE: Final = {"toolUseResult": b'"answers":{', "payload": b'"thread_rolled_back"'}
_SPEECH: Final = b'{"kind":"speech"'


def conversation_entry(thread_id: str, seq: int, data: bytes) -> Entry:
    """Return the entry inside sealed bytes with the part of `extra` alone that joining messages looks at.

    Two thirds of a transcript are in `extra`: results of tools a second time, and the progress of tools.

    Raises:
        Damaged: naming the entry, where the bytes fail their checksum.
    """
    try:
        text = sealed_body(data)
    except Damaged:
        return opened_entry(thread_id, seq, data)
    return _conversation_entry(thread_id, seq, data, text)


def _conversation_entry(thread_id: str, seq: int, data: bytes, text: bytes) -> Entry:
    """Return the entry inside sealed bytes whose JSON text is `text`, as `conversation_entry`."""
    try:
        line = _LINES.decode(text)
        kind = _KINDS[line.kind]
    except (msgspec.DecodeError, KeyError):
        return opened_entry(thread_id, seq, data)
    return Entry(
        kind=kind,
        seq=seq,
        id=line.id,
        parent=line.parent,
        role=line.role,
        content=None if line.content is _ABSENT else orjson.loads(memoryview(line.content)),
        reply=line.reply,
        at=line.at,
        usage=None if line.usage is _ABSENT else orjson.loads(memoryview(line.usage)),
        tokens=line.tokens,
        extra={} if line.extra is None else _kept(line.extra),
        line=line.line,
    )


def _kept(extra: _Extra) -> dict[str, Any]:
    """Return decoded fields of an entry's `extra`; the large ones only where they say what is looked for."""
    kept: dict[str, Any] = {**extra}
    for name, mark in _LARGE.items():
        field = kept.pop(name, None)
        if field is not None and mark in (text := bytes(field)):
            kept[name] = orjson.loads(text)
    return kept


def speech_entry(thread_id: str, seq: int, data: bytes) -> Entry | None:
    """Return the entry as `conversation_entry` does; None, without decoding, for most entries that are not speech.

    Raises:
        Damaged: naming the entry, where the bytes fail their checksum.
    """
    try:
        text = sealed_body(data)
    except Damaged:
        return opened_entry(thread_id, seq, data)
    if text.startswith(_KIND) and not text.startswith(_SPEECH):
        return None
    return _conversation_entry(thread_id, seq, data, text)


def opened_entry(thread_id: str, seq: int, data: bytes) -> Entry:
    """Return the entry inside sealed bytes.

    Raises:
        Damaged: naming the entry, where the bytes fail their checksum.
    """
    try:
        return entry_of(seq, open_sealed(data))
    except Damaged as error:
        raise Damaged(f"entry {seq} of thread {thread_id} is damaged", hint="run `reverie check`") from error


def is_withdrawn(reader: Reader, thread_id: str, seq: int, stored: Mapping[str, Any]) -> bool:
    """Return True for a stored entry with words from a client's queue that were taken back or are a prompt as well."""
    if stored.get("extra", {}).get("type") != "queue-operation":
        return False
    rows = reader.sealed_sequence(Kind.ENTRY, (thread_id,), after=seq - 1, through=seq + QUEUED_MAX)
    return 0 in withdrawn([conversation_entry(thread_id, number, data) for number, data in rows])


def sealed_after(reader: Reader, thread_id: str, seq: int) -> list[SealedEntry]:
    """Return the sealed entries of a thread with a sequence number above `seq` (0: all of them)."""
    return list(reader.sealed_sequence(Kind.ENTRY, (thread_id,), after=seq))


def messages_of(thread_id: str, rows: Sequence[SealedEntry], *, verbatim: bool = False) -> list[Message]:
    """Return the messages that sealed entries join into, rewound ones among them.

    `verbatim` leaves a tool call without its result (or the reverse) as it is, instead of completing the pair.

    Raises:
        Damaged: naming the entry whose bytes fail their checksum.
    """
    return main_line((conversation_entry(thread_id, seq, data) for seq, data in rows), verbatim=verbatim)


def active_messages(thread_id: str, rows: Sequence[SealedEntry]) -> list[Message]:
    """Return the messages of the thread as it is now: without those that the user rewound. Raises Damaged."""
    return [message for message in messages_of(thread_id, rows) if not message.rewound]


def spoken_messages(thread_id: str, rows: Sequence[SealedEntry]) -> list[Message]:
    """Return the messages that were not rewound, with what was typed while the agent worked. Raises Damaged."""
    entries = [conversation_entry(thread_id, seq, data) for seq, data in rows]
    return with_asides([message for message in main_line(entries) if not message.rewound], entries)


class OpenedEntries:
    """LRU cache of opened entries by their sealed bytes: the next context of a thread reads nearly all of them again.

    The key is the whole content, so a hit is never outdated; callers do not change the entries. Not thread-safe.
    """

    def __init__(self) -> None:
        self._entries: OrderedDict[bytes, Entry] = OrderedDict()
        self._bytes = 0

    def open(self, thread_id: str, seq: int, data: bytes) -> Entry:
        """Return the entry at `seq` of a thread. Raises Damaged, naming it, where the bytes fail their checksum."""
        entry = self._entries.get(data)
        if entry is not None and entry.seq == seq:
            self._entries.move_to_end(data)
            return entry
        entry = opened_entry(thread_id, seq, data)
        if len(data) <= CACHED_ENTRY_BYTES:
            self._put(data, entry)
        return entry

    def clear(self) -> None:
        """Drop every cached entry."""
        self._entries.clear()
        self._bytes = 0

    def _put(self, data: bytes, entry: Entry) -> None:
        if data not in self._entries:
            self._bytes += len(data)
        self._entries[data] = entry
        self._entries.move_to_end(data)
        while self._bytes > CACHE_BYTES:
            oldest, _ = self._entries.popitem(last=False)
            self._bytes -= len(oldest)
