"""The targets of a purge, a memory, a document or a thread, and the records that still have its words.

A purge cannot be undone. Its sources are the record itself with all versions, and for a thread the memories that an
engine learnt from it alone. Other records may repeat the words: versions of documents, archives, summaries in an
index, stored answers. These are found by words that nothing else in the space has: a word that is also in a message, a
document or a memory that stays says nothing about where it came from. Example: of "deploy with zanzibar.sh", where
other memories deploy too, the word `zanzibar` is searched for, and each line of the history that has it goes.

`purge_steps` has the writes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson

from reverie.documents.layout import is_conflict_copy
from reverie.errors import NotFound
from reverie.lazy_regex import lazy_regex
from reverie.store import (
    ArchiveRecord,
    ConflictRecord,
    DocumentRecord,
    Kind,
    MemoryRecord,
    NoteRecord,
    PendingPurge,
    PurgesCursor,
    ThreadRecord,
)
from reverie.usecases import review, runs
from reverie.usecases.provenance import threads_of
from reverie.words import is_stop_word

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from reverie.models import Json
    from reverie.store import Reader

_WORD = lazy_regex(r"\w{3,}")
_ESCAPE = lazy_regex(r"\\[bfnrt]")  # in JSON: no part of the word behind it
_TEXT_CHARS_MIN = 12  # of a memory's whole text to be searched for: a shorter one is part of many others
_THREAD_KINDS = (Kind.STATE, Kind.DIGEST, Kind.NOTE, Kind.DISTILLATION)
_ENGINE_FIELDS = {Kind.THREAD: ("index",), Kind.DREAM: ("proposals",), Kind.RUN: ("answer",)}  # the rest stays
# Fields whose values are names, times and numbers of records: a purged "in 2026 by an agent" is none of these.
_NO_TEXT = lazy_regex(
    r"(?:\w+(?:_at|At)|at|ids?|agent|archive|by|category|copy|decidedBy|document|from|kind|operation|path|project|reason"
    r"|ref|role|run|sha256|source|state|threads?|tool|trigger|trust|type)\Z"
)


@dataclass(slots=True)
class Sources:
    """The sources of a purge: ids of memories, paths of documents, ids of conflicts, and a thread.

    `kept` are memories that were learnt from the thread too, and stay: a person or an agent wrote them, or they have
    other sources. `since` is the time of the oldest of all this.
    """

    memories: list[str] = field(default_factory=list)
    documents: list[str] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)
    thread: str | None = None
    kept: list[str] = field(default_factory=list)
    since: str = ""


class Matcher:
    """Finds words and whole texts of purged records in other texts."""

    def __init__(self, words: Iterable[str] = (), texts: Iterable[str] = ()) -> None:
        self.words = frozenset(words)
        self.texts = frozenset(texts)

    def holds(self, text: str) -> bool:
        """Return True if a text has one of the words, or one of the whole texts."""
        return not self.words.isdisjoint(_words(text)) or any(whole in text for whole in self.texts)

    def in_json(self, value: Json) -> bool:
        """Return True if a text anywhere in a record's JSON has one of the words, or one of the whole texts."""
        return any(self.holds(text) for text in strings(value, of_record=True))

    def in_answer(self, value: Json) -> bool:
        """Return True if a string anywhere in a JSON value, a key too, has one of the words or whole texts."""
        return any(self.holds(text) for text in strings(value))

    def in_file(self, text: str) -> bool:
        """Return True if a file's text has one of the words or whole texts, also behind an escape as in JSON."""
        try:
            return self.in_answer(orjson.loads(text))
        except orjson.JSONDecodeError:
            return self.holds(text) or self.holds(_ESCAPE.sub(" ", text))

    def masked(self, text: str) -> str:
        """Return a text with each of the words replaced by `[purged]`."""
        for whole in self.texts:
            text = text.replace(whole, "[purged]")
        return _WORD.sub(lambda word: "[purged]" if word[0].casefold() in self.words else word[0], text)

    def without(self, value: Json) -> Any:
        """Return a record's JSON with the words masked in every text."""
        match value:
            case str():
                return self.masked(value) if self.holds(value) else value
            case list():
                return [self.without(item) for item in value]
            case dict():
                return {name: item if _is_name(name, item) else self.without(item) for name, item in value.items()}
        return value


@dataclass(slots=True)
class Findings:
    """The records of a space that have words of the sources: those to be rewritten, by kind and key.

    `matcher` is for words of memories and documents, `wide` also for those of a thread's messages: a long thread has
    many words, and a person's text in an open conflict is not changed for one of them.
    """

    matcher: Matcher
    wide: Matcher
    versions: list[tuple[Kind, tuple[Any, ...]]] = field(default_factory=list)
    current: list[tuple[Kind, tuple[Any, ...]]] = field(default_factory=list)
    archives: list[str] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)
    copies: list[str] = field(default_factory=list)
    candidates: list[str] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)
    events: list[int] = field(default_factory=list)

    def matcher_of(self, kind: Kind) -> Matcher:
        """Return the matcher for records of a kind."""
        return self.matcher if kind is Kind.CONFLICT else self.wide


def pending(reader: Reader) -> list[PendingPurge]:
    """Return the purges of a space that are under way."""
    return (reader.load(PurgesCursor, PurgesCursor.KEY) or PurgesCursor()).pending


def strings(value: Json, *, of_record: bool = False) -> Iterator[str]:
    """Yield every string in a JSON value, keys of objects among them; `of_record`: only texts, of a stored record."""
    match value:
        case str():
            yield value
        case list():
            for item in value:
                yield from strings(item, of_record=of_record)
        case dict():
            for name, item in value.items():
                if not of_record:
                    yield name
                elif _is_name(name, item):
                    continue
                yield from strings(item, of_record=of_record)


def _is_name(field_name: str, value: Json) -> bool:
    """Return True for a field of a record that has no text: an id, a time, a path, one of a few words."""
    return _NO_TEXT.match(field_name) is not None and not isinstance(value, dict)


def engine_part(kind: Kind, value: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a record in which an engine, or an agent about its work, repeats the words of others."""
    names = _ENGINE_FIELDS.get(kind)
    return value if names is None else {name: value[name] for name in names if name in value}


def lines_without(text: str, matcher: Matcher) -> str:
    """Return a text without the lines that have purged words."""
    return "".join(line for line in text.splitlines(keepends=True) if not matcher.holds(line))


def _words(text: str) -> Iterator[str]:
    return (word for word in map(str.casefold, _WORD.findall(text)) if not is_stop_word(word))


def document_of(reader: Reader, memory_id: str) -> str:
    """Return the document that a memory is in, or was in when it was deleted. Raises NotFound."""
    last = _last(reader, memory_id)
    if last is None:
        raise _nothing_left("memory", memory_id)
    return last.document


# Sources


def sources(reader: Reader, purge: PendingPurge) -> Sources:
    """Return the records that a purge removes. Raises NotFound where nothing of it is left."""
    if purge.kind == "memory":
        purge_sources = _memory_sources(reader, purge.key)
    elif purge.kind == "document":
        purge_sources = _document_sources(reader, purge.key)
    else:
        purge_sources = _thread_sources(reader, purge.key, keep_memories=purge.keep_memories)
    purge_sources.since = min((text for text in _times(reader, purge_sources) if text), default="")
    return purge_sources


def _memory_sources(reader: Reader, memory_id: str) -> Sources:
    if not reader.record_history(MemoryRecord, (memory_id,)):
        raise _nothing_left("memory", memory_id)
    return Sources(memories=[memory_id])


def _document_sources(reader: Reader, path: str) -> Sources:
    """Return the Sources of a document's purge: its paths, its memories, and the conflicts about it with copies."""
    history = reader.record_history(DocumentRecord, (path,))
    if not history:
        raise _nothing_left("document", path)
    versions = [version.value for version in history if version.value is not None]
    texts = {record.sha256 for record in versions}
    paths = {path}
    for (other,) in reader.versioned_keys(Kind.DOCUMENT):
        if other not in paths and not reader.exists(Kind.DOCUMENT, (other,)):
            past = reader.record_versions(DocumentRecord, (str(other),))
            if any(version.value is not None and version.value.sha256 in texts for version in past):
                paths.add(str(other))
    conflicts = []
    for (name,) in {*reader.versioned_keys(Kind.CONFLICT), *reader.keys(Kind.CONFLICT)}:
        for version in reader.record_history(ConflictRecord, (str(name),)):
            if version.value is not None and {version.value.path, version.value.copy} & paths:
                conflicts.append(str(name))
                paths.add(version.value.copy)
                break
    ids = {name for record in versions for name in record.ids}
    memories = [name for name in sorted(ids) if (last := _last(reader, name)) is None or last.document in paths]
    return Sources(memories=memories, documents=sorted(paths), conflicts=sorted(conflicts))


def _thread_sources(reader: Reader, thread_id: str, *, keep_memories: bool) -> Sources:
    """Return the Sources of a thread's purge: the thread, and the memories that an engine learnt from it alone."""
    thread_sources = Sources(thread=thread_id)
    names = {str(key[0]) for key in (*reader.keys(Kind.MEMORY), *reader.versioned_keys(Kind.MEMORY))}
    for name in sorted(names):
        last = _last(reader, name)
        if last is None or thread_id not in threads_of(last.provenance):
            continue
        alone = set(threads_of(last.provenance)) == {thread_id}
        (
            thread_sources.memories if alone and last.trust == "engine" and not keep_memories else thread_sources.kept
        ).append(name)
    archives = any(record.ref == f"thread:{thread_id}" for _, record in reader.records(ArchiveRecord))
    if not (archives or thread_sources.memories or thread_sources.kept or reader.exists(Kind.THREAD, (thread_id,))):
        raise _nothing_left("thread", thread_id)
    return thread_sources


def _nothing_left(kind: str, key: str) -> NotFound:
    """Return the error for something that never was, or was purged."""
    lists = {"memory": "memories", "thread": "threads", "document": "log"}
    return NotFound(f"there is no {kind} {key!r}, and nothing is left of one", hint=f"reverie {lists[kind]} lists them")


def _last(reader: Reader, memory_id: str) -> MemoryRecord | None:
    """Return a memory as it is, or as it was when it was deleted."""
    versions = reader.record_versions(MemoryRecord, (memory_id,))
    return next((version.value for version in versions if version.value is not None), None)


def _times(reader: Reader, found: Sources) -> Iterator[str]:
    """Yield the time at which each source of a purge was first written, and those of the thread's archives."""
    for name in found.memories:
        yield from (version.at for version in reader.record_history(MemoryRecord, (name,))[:1])
    for path in found.documents:
        yield from (version.at for version in reader.record_history(DocumentRecord, (path,))[:1])
    if found.thread is not None:
        thread = reader.load(ThreadRecord, (found.thread,))
        yield from () if thread is None else (thread.created_at,)
        yield from (record.at for _, record in reader.records(ArchiveRecord) if record.ref == f"thread:{found.thread}")


# Words that only the sources have


def findings(reader: Reader, found: Sources) -> Findings:
    """Return the Findings: records with words of the sources that nothing which stays has. Reads the whole space."""
    texts = _memory_texts(reader, found)
    narrow = {word for text in [*texts, *_document_texts(reader, found)] for word in _words(text)}
    wide = narrow | {word for text in _thread_texts(reader, found) for word in _words(text)}
    whole = {text for text in texts if len(text) >= _TEXT_CHARS_MIN}
    for text in _live_texts(reader, found):
        wide.difference_update(_words(text))
        whole = {entry for entry in whole if entry not in text}
        if not wide and not whole:
            break
    result = Findings(Matcher(narrow & wide, whole), Matcher(wide, whole))
    _find_versions(reader, found, result)
    _find_current(reader, found, result)
    result.candidates, result.forgotten = review.repeating(
        reader, memories=found.memories, thread=found.thread, matches=result.wide.in_json
    )
    result.events = [
        int(key[0])
        for key, event in reader.scan(Kind.EVENT)
        if event["data"].get("tags") and event["data"].get("memoryId") in found.memories
    ]
    return result


def _memory_texts(reader: Reader, found: Sources) -> list[str]:
    """Return the texts of every version of the memories."""
    return [text for name in found.memories for text in _texts_of_memory(reader, name)]


def _texts_of_memory(reader: Reader, name: str) -> Iterator[str]:
    for version in reader.record_versions(MemoryRecord, (name,)):
        if version.value is not None:
            record = version.value
            yield from (record.content, record.title or "", *record.tags)
            yield from (text for pair in record.fields for text in pair)


def _document_texts(reader: Reader, found: Sources) -> Iterator[str]:
    for path in found.documents:
        for version in reader.record_versions(DocumentRecord, (path,)):
            if version.value is not None:
                yield from (version.value.content, path)


def _thread_texts(reader: Reader, found: Sources) -> Iterator[str]:
    """Yield every text of the thread, and of its archives."""
    if found.thread is None:
        return
    for _, value in reader.scan(Kind.ENTRY, (found.thread,)):
        yield from strings(value)
    thread = reader.get(Kind.THREAD, (found.thread,))
    yield from strings(thread or {})
    yield from runs.texts(reader, thread=found.thread, of_it=True)
    for kind in _THREAD_KINDS:
        prefix = (found.thread,) if kind in (Kind.NOTE, Kind.DISTILLATION) else ()
        for key, value in reader.scan(kind, prefix):
            if key[0] == found.thread:
                yield from strings(value)
        for key in reader.versioned_keys(kind):
            if key[0] == found.thread:
                yield from (text for version in reader.history(kind, key) for text in strings(version.value))
    for _, archive in reader.records(ArchiveRecord):
        if archive.ref == f"thread:{found.thread}":
            yield archive.body


def _live_texts(reader: Reader, found: Sources) -> Iterator[str]:
    """Yield the texts that stay: documents but for the copies of conflicts, messages, titles, own notes.

    Of other memories every version: they say what they say whether or not it is current. Without them, `the` would be a
    word of the purged memory alone in a store of three, and would take lines from the history of the two others.
    """
    purged = set(found.memories)
    for (name,) in {*reader.keys(Kind.MEMORY), *reader.versioned_keys(Kind.MEMORY)}:
        if name not in purged:
            yield from _texts_of_memory(reader, str(name))
    for _, document in reader.records(DocumentRecord):
        if document.path not in found.documents and not is_conflict_copy(document.path):
            yield from (document.content, document.path)
    yield from runs.texts(reader, thread=found.thread, of_it=False)
    for _, thread in reader.records(ThreadRecord):
        if thread.id == found.thread:
            continue
        yield thread.title or ""
        for _, note in reader.records(NoteRecord, (thread.id,)):
            if note.thread is None or note.thread != found.thread:
                yield note.content
        for _, entry in reader.scan(Kind.ENTRY, (thread.id,)):
            yield from strings(entry)


def _find_versions(reader: Reader, found: Sources, result: Findings) -> None:
    """Add to `result` the records with superseded versions that have purged words, or blocks of purged memories."""
    purged = set(found.memories)
    for key in reader.versioned_keys(Kind.DOCUMENT):
        for version in reader.record_versions(DocumentRecord, key):
            record = version.value
            if record is not None and (purged & set(record.ids) or result.wide.holds(record.content)):
                result.versions.append((Kind.DOCUMENT, key))
                break
    for kind in (Kind.MEMORY, Kind.CONFLICT, *_THREAD_KINDS):
        for key in reader.versioned_keys(kind):
            if key[0] in purged or key[0] == found.thread:
                continue
            if any(result.matcher_of(kind).in_json(version.value) for version in reader.history(kind, key)):
                result.versions.append((kind, key))


def _find_current(reader: Reader, found: Sources, result: Findings) -> None:
    """Add the current records that repeat such words: archives, and what engines and agents derived from others."""
    for _, archive in reader.records(ArchiveRecord):
        if archive.ref == f"thread:{found.thread}" or result.wide.in_json(json_or_text(archive.body)):
            result.archives.append(archive.sha256)
    for kind in (Kind.THREAD, Kind.DREAM, Kind.CONFLICT, Kind.RUN, Kind.STATE, Kind.DIGEST, Kind.DISTILLATION):
        for key, value in reader.scan(kind):
            if key[0] == found.thread or key[0] in found.conflicts:
                continue
            if result.matcher_of(kind).in_json(engine_part(kind, value)):
                result.current.append((kind, key))
    for _, document in reader.records(DocumentRecord):
        if is_conflict_copy(document.path) and result.matcher.holds(document.content):
            result.copies.append(document.path)
    for thread in reader.keys(Kind.THREAD):
        for key, note in reader.records(NoteRecord, thread):
            if note.thread is not None and note.thread == found.thread and thread != (found.thread,):
                result.notes.append((str(key[0]), str(key[1])))


def naming(reader: Reader, paths: Collection[str]) -> list[tuple[Kind, int]]:
    """Return the operations and events that name one of these documents, which are gone."""
    found = [
        (Kind.OPERATION, int(key[0]))
        for key, value in reader.scan(Kind.OPERATION)
        if any(change["kind"] == Kind.DOCUMENT and change["key"][0] in paths for change in value["changes"])
    ]
    events = reader.scan(Kind.EVENT)
    return found + [(Kind.EVENT, int(key[0])) for key, value in events if value["data"].get("path") in paths]


def json_or_text(text: str) -> Any:
    """Return what a JSON text says, or the text itself where it is no JSON."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
