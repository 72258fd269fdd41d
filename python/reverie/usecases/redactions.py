"""What redaction took: a record of each value without the value, how it is listed, and what a person allows.

An entry of the setting `redact.allow` is the id of a value (`rdn_` and its keyed hash), `rule:` and the name of a rule,
or `like:` and a pattern in which `*` stands for any characters.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias, TypeVar

import msgspec
from msgspec.structs import replace

from reverie import wire
from reverie.decode import mapped
from reverie.documents.layout import folder_of, memory_project
from reverie.errors import Conflict
from reverie.models import EntryKind
from reverie.redact import Allow, Redactor
from reverie.store import (
    FingerprintRecord,
    Kind,
    MemoryRecord,
    RedactedPlace,
    RedactionRecord,
    RedactionsCursor,
    ThreadRecord,
)
from reverie.usecases.by import By, writes
from reverie.usecases.projects import of_thread

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from reverie.redact import Taken
    from reverie.store import Reader, Write, Writer

T = TypeVar("T")

RECORDS_MAX: Final = 5_000  # values in one space: some 2 MB
PLACES_MAX: Final = 50  # threads, memories and documents of one value
SEQS_MAX: Final = 50  # entries of one thread
ID: Final = "rdn_"

Place: TypeAlias = tuple[Literal["thread", "memory", "document"], str, int]
"""Where a value was: the id of a thread and the number of an entry (0: none), a memory's id or a document's path."""


class Found(NamedTuple):
    """A value that was redacted, and where."""

    taken: Taken
    place: Place


def redaction_id(value_hash: bytes) -> str:
    """Return the id of the value with this keyed hash."""
    return ID + value_hash.hex()


def allowed(entries: Sequence[str]) -> Allow:
    """Return what the entries of `redact.allow` name."""
    return Allow(
        rules=[entry.removeprefix("rule:") for entry in entries if entry.startswith("rule:")],
        values=[entry.removeprefix("like:") for entry in entries if entry.startswith("like:")],
        hashes=[bytes.fromhex(entry.removeprefix(ID)) for entry in entries if entry.startswith(ID)],
    )


class RedactRules(msgspec.Struct):
    """What makes a redactor in another process: listed secrets, entries of `redact.allow`, the key of their hashes."""

    literals: list[str] = []
    allow: list[str] = []
    key: bytes = b""

    def redactor(self) -> Redactor:
        """Return a redactor with these rules; it remembers what it takes for as long as it lives."""
        return Redactor(self.literals, fingerprints=self.key or None, allow=allowed(self.allow))


def unless_changed(write: Write[T], redactor: Redactor, since: int) -> Write[T]:
    """Return a write that is refused where what is allowed has changed since a generation of the redactor.

    What was decided before may have a value that is no longer allowed, and whoever replaces that would not see it. Its
    commit raises Conflict with `details["stale"]`.
    """

    def body(to: Writer) -> T:
        if redactor.generation != since:
            raise Conflict("what redaction leaves has changed meanwhile", hint="try again", stale=True)
        return write.body(to)

    return dataclasses.replace(write, body=body)


# Records


@writes("redaction.note", bulk=True)
def noted(to: Writer, _: By, found: Sequence[Found]) -> None:
    """Record what was redacted."""
    note(to, found)


@writes("redactions.allow", bulk=True)
def announce(to: Writer, _: By, entries: int, *, allowed: bool) -> None:
    """Announce a change of `redact.allow`, and how many entries of threads it changed, without its content."""
    to.event("redactions.allowed" if allowed else "redactions.disallowed", {"entries": entries})


def note(writer: Writer, found: Iterable[Found]) -> None:
    """Record what was redacted, as part of the write that stores the text.

    Every entry of a thread counts; a memory or document counts once, however often it is saved.
    """
    records: dict[str, RedactionRecord] = {}
    unlisted = 0
    for taken, place in found:
        name = redaction_id(taken.hash)
        record = records.get(name) or writer.load(RedactionRecord, (name,))
        if record is None:
            if writer.count(Kind.REDACTION) + len(records) >= RECORDS_MAX:
                unlisted += 1
                continue
            record = RedactionRecord(
                id=name,
                marker=taken.kind,
                rule=taken.rule,
                shape=taken.shape,
                count=0,
                first_at=writer.at,
                last_at=writer.at,
            )
        records[name] = _with_place(record, place, writer.at)
    for name, record in records.items():
        writer.save(record, (name,))
    if unlisted:
        cursor = writer.load(RedactionsCursor, RedactionsCursor.KEY) or RedactionsCursor()
        writer.save(replace(cursor, unlisted=cursor.unlisted + unlisted), RedactionsCursor.KEY)


def _with_place(record: RedactionRecord, place: Place, at: str) -> RedactionRecord:
    """Return a record with one more place where the value was found."""
    kind, key, seq = place
    here = next((item for item in record.places if (item.kind, item.key) == (kind, key)), None)
    if here is not None and not seq:
        return record
    counted = replace(record, count=record.count + 1, last_at=at)
    if here is None:
        if len(record.places) >= PLACES_MAX:
            return replace(counted, more=True)
        return replace(counted, places=[*record.places, RedactedPlace(kind, key, [seq] if seq else [])])
    if seq in here.seqs:
        return counted
    if len(here.seqs) >= SEQS_MAX:
        return replace(counted, more=True)
    longer = replace(here, seqs=[*here.seqs, seq])
    return replace(counted, places=[longer if item is here else item for item in record.places])


def forget_purged(writer: Writer) -> None:
    """Remove threads, memories and documents that are gone from the records, and those of values of these alone."""
    kinds = {"thread": Kind.THREAD, "memory": Kind.MEMORY, "document": Kind.DOCUMENT}
    for (name,), record in list(writer.records(RedactionRecord)):
        left = [place for place in record.places if writer.exists(kinds[place.kind], (place.key,))]
        if not left and not record.more:
            writer.delete(Kind.REDACTION, (name,))
        elif len(left) < len(record.places):
            writer.save(replace(record, places=left), (str(name),))


@writes("redaction.forget")
def forget_fingerprints(to: Writer, _: By, names: Iterable[str]) -> None:
    """Recognize values, by the ids of their redactions, no longer without their rule."""
    hashes = {name.removeprefix(ID) for name in names}
    for key, record in list(to.records(FingerprintRecord)):
        if record.hash in hashes:
            to.delete(Kind.FINGERPRINT, key)


# The list


def listed(
    reader: Reader, query: wire.RedactionsQuery, project: str | None, allow: Sequence[str]
) -> wire.RedactionsPage:
    """Return a page of what was redacted, those first that were found last; `since` is not filled in."""
    answers = [
        answer
        for _, record in reader.records(RedactionRecord)
        if (answer := _answer(reader, record, project, allow)) is not None
    ]
    answers.sort(key=_cursor, reverse=True)
    rest = [answer for answer in answers if query.after is None or _cursor(answer) < query.after]
    cursor = reader.load(RedactionsCursor, RedactionsCursor.KEY) or RedactionsCursor()
    return wire.RedactionsPage(
        items=[_with_lines(reader, item) for item in rest[: query.limit]],
        next=_cursor(rest[query.limit - 1]) if len(rest) > query.limit else None,
        unlisted=cursor.unlisted,
    )


def _cursor(answer: wire.Redaction) -> str:
    return f"{answer.last_at}/{answer.id}"


def _answer(
    reader: Reader, record: RedactionRecord, project: str | None, allow: Sequence[str]
) -> wire.Redaction | None:
    """Return a redaction as the API answers it; None for one that is not of the project, or of nothing any more."""
    places = list(_places(reader, record))
    if project is not None:
        places = [place for place in places if place.project == project]
    if not places and not record.more:
        return None
    return mapped(
        record,
        wire.Redaction,
        kind=record.marker,
        places=places,
        allowed=record.id in allow or f"rule:{record.rule}" in allow,
    )


def _with_lines(reader: Reader, item: wire.Redaction) -> wire.Redaction:
    """Return a redaction in whose threads the entries that are no messages are lines of a transcript."""
    places = []
    for place in item.places:
        keys = [(place.thread, seq) for seq in place.messages if place.thread is not None]
        entries = dict(zip(place.messages, reader.get_many(Kind.ENTRY, keys), strict=True))
        lines = {
            seq: int(entry["line"])
            for seq, entry in entries.items()
            if entry is not None and entry["kind"] != EntryKind.SPEECH and entry.get("line")
        }
        thread = reader.load(ThreadRecord, (place.thread,)) if lines and place.thread is not None else None
        messages = [seq for seq in place.messages if seq not in lines]
        source = None if thread is None else thread.source
        places.append(replace(place, messages=messages, lines=sorted({*lines.values()}), source=source))
    return replace(item, places=places)


def _places(reader: Reader, record: RedactionRecord) -> Iterator[wire.RedactedPlace]:
    """Yield the places of a record that are still there."""
    for place in record.places:
        match place.kind:
            case "thread":
                thread = reader.load(ThreadRecord, (place.key,))
                if thread is not None:
                    yield wire.RedactedPlace(thread=place.key, project=of_thread(thread), messages=place.seqs)
            case "memory":
                memory = reader.load(MemoryRecord, (place.key,))
                if memory is not None:
                    yield wire.RedactedPlace(memory=place.key, project=memory_project(memory) or None)
            case "document":
                if reader.exists(Kind.DOCUMENT, (place.key,)):
                    yield wire.RedactedPlace(document=place.key, project=folder_of(place.key))
