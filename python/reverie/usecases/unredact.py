"""Texts that redaction took and a person allows, read again from the transcripts that they were imported from.

A stored entry gets a text back only where the transcript's line is the same entry, and has the stored text with
something in place of each marker. So nothing that was purged or is of another session can come in this way. What the
rules still take stays a marker.

Summaries, states, notes and documents repeat pieces of messages. A line of theirs gets its words back where it is, with
its markers, part of a line that was restored: of "the key is [REDACTED:token], keep it" the piece "[REDACTED:token],
keep".
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

import msgspec
import orjson

from reverie.lazy_regex import lazy_regex
from reverie.store import (
    ArchiveRecord,
    DocumentRecord,
    ImportRecord,
    Kind,
    MemoryRecord,
    SessionsCursor,
    ThreadRecord,
    open_sealed,
)
from reverie.store.codec import sealed_body, sealed_text, verified_sealed
from reverie.store.kinds import RULES, THREAD_KINDS
from reverie.texts import with_strings
from reverie.usecases import purge_steps
from reverie.usecases.by import ENGINE, By, writes
from reverie.usecases.consolidation import archive_record, replace_archive
from reverie.usecases.entries import entry_record
from reverie.usecases.imports import TranscriptChunk
from reverie.usecases.purge_targets import json_or_text, text_records
from reverie.usecases.put import NewText, put_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from reverie.models import Json
    from reverie.redact import Redactor
    from reverie.store import Key, Reader, Writer

WHY: Final = "redaction.restore"
MARKER: Final = lazy_regex(r"\[REDACTED:[^\[\]\s]*\]")
_MARKED: Final = b"[REDACTED:"
_LISTED: Final = lazy_regex(r"^\s*(?:[-*+>]\s+|#+\s+|\d+[.)]\s+)*")  # what a line of Markdown begins with


class Line(NamedTuple):
    """A line of a message before and after its restoration."""

    before: str
    after: str


class ReadJob(TranscriptChunk):
    """A chunk of a transcript, and the sealed entries of its thread, by number, that have markers."""

    marked: list[tuple[int, bytes]] = msgspec.field(default_factory=list)


class ReadPlan(msgspec.Struct):
    """The entries that a chunk restores: number, old and new sealed bytes; `met` are all that it has.

    `values` counts the markers that became texts.
    """

    consumed: int
    lines: int
    inside: str
    folder: str | None
    restored: list[tuple[int, bytes, bytes]] = []
    met: list[int] = []
    pieces: list[Line] = []
    values: int = 0


# What to read


def marked(reader: Reader, thread_id: str) -> list[tuple[int, bytes]]:
    """Return the entries of a thread that have markers, by number, sealed."""
    rows = reader.sealed_sequence(Kind.ENTRY, (thread_id,), after=0)
    return [(seq, data) for seq, data in rows if _MARKED in sealed_body(data)]


def is_marked_beside(reader: Reader, thread_id: str) -> bool:
    """Return True if a thread has a marker in its title, a note or its working state."""
    thread = reader.load(ThreadRecord, (thread_id,))
    notes = [reader.get(Kind.NOTE, key) for key in reader.keys(Kind.NOTE, (thread_id,))]
    values = [None if thread is None else thread.title, reader.get(Kind.STATE, (thread_id,)), *notes]
    return any(map(_markers, values))


def sources(reader: Reader, thread: ThreadRecord) -> list[str]:
    """Return the paths of the transcripts that a thread was imported from, none for one that was not imported."""
    if not any(record.thread == thread.id and record.offset for _, record in reader.records(ImportRecord)):
        return []
    sessions = (reader.load(SessionsCursor, SessionsCursor.KEY) or SessionsCursor()).sessions
    paths = [session.transcript for session in sessions if session.thread == thread.id and session.transcript]
    return list(dict.fromkeys([*([thread.source] if thread.source else []), *paths]))


# Reading a transcript


def decide(job: ReadJob) -> ReadPlan:
    """Return the entries that the lines of a chunk restore; pure."""
    redactor, chunk = job.redactor(), job.parsed()
    plan = ReadPlan(
        consumed=chunk.consumed,
        lines=job.first_line - 1 + chunk.lines,
        inside=chunk.inside.value,
        folder=job.last_folder(chunk.entries),
    )
    stored: dict[str, list[tuple[int, bytes, dict[str, Any]]]] = {}
    for seq, data in job.marked:
        record = open_sealed(data)
        stored.setdefault(_identity(record), []).append((seq, data, record))
    for entry in job.recordable(chunk.entries):
        raw = entry_record(entry)
        for seq, data, record in stored.get(_identity(raw), ()):
            clean, _ = redactor.value(raw)
            if not _fits(record, raw):
                continue
            plan.met.append(seq)
            restored = _restored(record, clean)
            if restored != record:
                plan.restored.append((seq, data, sealed_text(orjson.dumps(restored)).data))
                plan.pieces += _lines(record, restored)
                plan.values += _markers(record) - _markers(restored)
    return plan


def _identity(record: Mapping[str, Any]) -> str:
    """Return what tells one line of a transcript from the others: its id, else its number and time."""
    return str(record["id"]) if "id" in record else f"{record.get('line')} {record.get('at')}"


def _fits(stored: Json, raw: Json) -> bool:
    """Return True if the transcript has, at each marked string of a stored value, that text without the markers."""
    match stored:
        case str():
            return not MARKER.search(stored) or (isinstance(raw, str) and _fills(stored, raw) is not None)
        case list():
            return isinstance(raw, list) and len(raw) == len(stored) and all(map(_fits, stored, raw))
        case dict():
            return isinstance(raw, dict) and all(
                _fits(item, raw.get(name)) for name, item in stored.items() if _markers(item)
            )
    return True


def _restored(stored: Json, clean: Json) -> Json:
    """Return a stored value with its marked strings as the transcript has them, redacted."""
    match stored:
        case str():
            return clean if isinstance(clean, str) and MARKER.search(stored) else stored
        case list() if isinstance(clean, list):
            return [_restored(item, other) for item, other in zip(stored, clean, strict=True)]
        case dict() if isinstance(clean, dict):
            return {name: _restored(item, clean[name]) if name in clean else item for name, item in stored.items()}
    return stored


def _fills(text: str, other: str) -> list[str] | None:
    """Return what `other` has in place of each marker of `text`; None where it differs elsewhere."""
    first, *pieces = MARKER.split(text)
    if not other.startswith(first):
        return None
    at, filled = len(first), []
    for index, piece in enumerate(pieces):
        last = index + 1 == len(pieces)
        end = len(other) - len(piece) if last else other.find(piece, at + 1)
        if end <= at or (last and not other.endswith(piece)):
            return None
        filled.append(other[at:end])
        at = end + len(piece)
    return filled if at == len(other) else None


def _markers(value: Json) -> int:
    """Return how many markers the strings of a value have."""
    match value:
        case str():
            return sum(1 for _ in MARKER.finditer(value))
        case list():
            return sum(map(_markers, value))
        case dict():
            return sum(map(_markers, value.values()))
    return 0


def _lines(before: Json, after: Json) -> Iterator[Line]:
    """Yield the lines that differ between a value's strings; a string whose number of lines changed is one line."""
    match before, after:
        case (str(), str()) if before != after:
            old, new = before.split("\n"), after.split("\n")
            pairs = zip(old, new, strict=True) if len(old) == len(new) else [(before, after)]
            yield from (Line(*pair) for pair in pairs if pair[0] != pair[1])
        case (list(), list()):
            for item, other in zip(before, after, strict=True):
                yield from _lines(item, other)
        case (dict(), dict()):
            for name, item in before.items():
                yield from _lines(item, after.get(name))


# Writing


@writes(WHY, bulk=True)
def commit(to: Writer, _: By, thread_id: str, plan: ReadPlan) -> list[int]:
    """Restore entries of a thread, and return their numbers; what is made from them alone is made anew.

    An entry that another write changed or removed since it was read is left out.
    """
    done: list[int] = []
    for seq, old, new in plan.restored:
        here = next(to.sealed_sequence(Kind.ENTRY, (thread_id,), after=seq - 1, through=seq), None)
        if here == (seq, old):
            to.replace(Kind.ENTRY, (thread_id,), seq, verified_sealed(new))
            done.append(seq)
    if done:
        forget_made_of_entries(to, thread_id)
    return done


def forget_made_of_entries(writer: Writer, thread_id: str) -> None:
    """Remove what is made of the entries of a thread alone, whenever it is missing."""
    writer.delete(Kind.BRIEF, (thread_id,))
    for key in list(writer.keys(Kind.OUTLINE, (thread_id,))):
        writer.delete(Kind.OUTLINE, key)


@writes(WHY, bulk=True)
def derived(to: Writer, _: By, thread_id: str, pieces: Iterable[Line]) -> list[str]:
    """Restore the lines of what a thread's messages are repeated in; return the paths of the documents that changed.

    Of summaries, states and notes every version changes, as if it had always been so; a document gets a new version,
    and its memories keep their authors.
    """
    lines = Lines(pieces)
    _rewrite_derived(to, thread_id, lines.restored)
    return _put_documents(to, lines.restored)


class Retaken:
    """What `redactor` takes of texts and JSON values, and the one `before` it did not."""

    def __init__(self, before: Redactor, redactor: Redactor) -> None:
        self._before, self._redactor = before, redactor

    def without(self, value: Any) -> Any:
        """Return a value without it: the same object where it has none."""
        return self.counted(value)[0]

    def counted(self, value: Any) -> tuple[Any, int]:
        """Return a value without it as `without` does, and how much of it there was."""
        clean, taken = self._redactor.taken(value)
        more = len(taken) - len(self._before.taken(value)[1]) if taken else 0
        return (clean, more) if more > 0 else (value, 0)

    def holds(self, value: Json) -> bool:
        """Return True if a value has any."""
        return self.without(value) is not value

    def version(self, kind: Kind, value: dict[str, Any]) -> dict[str, Any]:
        """Return a version of a record without it."""
        if kind is not Kind.DOCUMENT:
            return cast("dict[str, Any]", self.without(value))
        text = self.without(value["content"])
        if text is value["content"]:
            return value
        return purge_steps.with_text(value, [text], list(value.get("ids", ())), self.without)


def again(reader: Reader, thread: ThreadRecord, retaken: Retaken) -> ReadPlan:
    """Return the entries of a thread that have what is no longer allowed."""
    plan = ReadPlan(consumed=0, lines=0, inside="nothing", folder=None)
    for seq, data in reader.sealed_sequence(Kind.ENTRY, (thread.id,), after=0):
        clean, more = retaken.counted(open_sealed(data))
        if more:
            plan.restored.append((seq, data, sealed_text(orjson.dumps(clean)).data))
            plan.values += more
    return plan


@writes(WHY, bulk=True)
def documents_again(to: Writer, _: By, retaken: Retaken) -> list[str]:
    """Take what is no longer allowed from documents; return their paths."""
    return _put_documents(to, retaken.without)


def versions_with(reader: Reader, retaken: Retaken) -> list[tuple[Kind, Key]]:
    """Return the records, archives too, of which any version has what is no longer allowed. Reads the whole space."""
    found: list[tuple[Kind, Key]] = []
    for kind in text_records().keys() - {Kind.ENTRY, Kind.ARCHIVE}:
        if not RULES[kind].versioned:
            found += [(kind, key) for key, value in reader.scan(kind) if retaken.holds(value)]
            continue
        found += [
            (kind, key)
            for key in dict.fromkeys((*reader.keys(kind), *reader.versioned_keys(kind)))
            if any(
                version.value is not None and retaken.version(kind, version.value) is not version.value
                for version in reader.history(kind, key)
            )
        ]
    archives = [key for key, archive in reader.records(ArchiveRecord) if retaken.holds(json_or_text(archive.body))]
    return found + [(Kind.ARCHIVE, key) for key in archives]


@writes(WHY, bulk=True)
def versions_again(to: Writer, _: By, found: Sequence[tuple[Kind, Key]], retaken: Retaken) -> None:
    """Take what is no longer allowed from every version of these records, as if it had always been so."""
    for kind, key in found:
        if kind is Kind.ARCHIVE:
            _retake_archive(to, str(key[0]), retaken)
        else:
            to.rewrite(kind, key, partial(retaken.version, kind))
        if kind is Kind.THREAD:
            forget_made_of_entries(to, str(key[0]))


def _retake_archive(writer: Writer, address: str, retaken: Retaken) -> None:
    """Put an archive without what is no longer allowed in the place of one; one that is no JSON is removed."""
    archive = writer.load(ArchiveRecord, (address,))
    if archive is None:
        return
    body = json_or_text(archive.body)
    new = (
        None
        if isinstance(body, str)
        else archive_record(
            writer, retaken.without(body), kind=archive.kind, ref=archive.ref, entries=archive.entries, at=archive.at
        )
    )
    replace_archive(writer, address, new)


def marked_documents(reader: Reader) -> list[str]:
    """Return the paths of the documents that have markers."""
    return [document.path for _, document in reader.records(DocumentRecord) if MARKER.search(document.content)]


@writes(WHY, bulk=True)
def from_files(to: Writer, _: By, files: Mapping[str, str], redactor: Redactor) -> list[str]:
    """Restore documents from the texts of their files, which never lost what was redacted.

    Returns the paths that changed: those whose file has the document's text but for the markers.
    """
    restored: dict[str, str] = {}
    for path, text in files.items():
        document = to.load(DocumentRecord, (path,))
        if document is not None and MARKER.search(document.content) and _fills(document.content, text) is not None:
            restored[document.content] = redactor.text(text)
    return _put_documents(to, lambda content: restored.get(content, content))


def _rewrite_derived(writer: Writer, thread_id: str, change: Callable[[str], str]) -> None:
    """Change every version of what is made of a thread's messages and stored."""
    for kind in text_records().keys() & {*THREAD_KINDS} - {Kind.ENTRY}:
        for key in list(writer.keys(kind, (thread_id,))):
            writer.rewrite(kind, key, partial(with_strings, change=change))


def _put_documents(writer: Writer, change: Callable[[str], str]) -> list[str]:
    """Change the texts of documents; their memories keep their ids and authors. Return the paths that changed."""
    texts: dict[str, NewText | None] = {}
    memories: dict[str, MemoryRecord] = {}
    for _, document in writer.records(DocumentRecord):
        text = change(document.content)
        if text != document.content:
            texts[document.path] = NewText(text, document.ids)
            loaded = ((name, writer.load(MemoryRecord, (name,))) for name in document.ids)
            memories |= {name: memory for name, memory in loaded if memory is not None}
    return put_texts(writer, texts, ENGINE, records=memories)


class Lines:
    """The lines that were restored, by which their pieces are found in other texts."""

    def __init__(self, pieces: Iterable[Line]) -> None:
        self._lines = [(before, filled) for before, after in pieces if (filled := _fills(before, after)) is not None]

    def restored(self, text: str) -> str:
        """Return a text in which each line that is part of a restored one has its words again."""
        if not MARKER.search(text):
            return text
        return "\n".join(self._line(line) if MARKER.search(line) else line for line in text.split("\n"))

    def _line(self, line: str) -> str:
        start = _LISTED.match(line)
        begin = 0 if start is None else start.end()
        piece = line[begin:].rstrip()
        if not MARKER.sub("", piece).strip():  # a marker alone may be of any value
            return line
        for before, filled in self._lines:
            at = before.find(piece)
            if at >= 0:
                values = filled[_markers(before[:at]) :]
                texts = MARKER.split(piece)
                whole = "".join(f"{text}{value}" for text, value in zip(texts, values, strict=False)) + texts[-1]
                return line[:begin] + whole + line[begin + len(piece) :]
        return line
