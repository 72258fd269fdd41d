"""The targets of a purge, a memory, a document or a thread, and the records that still have its words.

A purge cannot be undone. Its sources are the record itself with all versions, and for a thread the memories that an
engine learnt from it alone. Other records may repeat the words: versions of documents, archives, summaries in an
index, stored answers. These are found by words that nothing else in the space has: a word that is also in a message, a
document or a memory that stays says nothing about where it came from. Example: of "deploy with zanzibar.sh", where
other memories deploy too, the word `zanzibar` is searched for, and each line of the history that has it goes.

Which fields have words says the type of each record (`reverie.text_types.Text`): every kind of record that has some is
searched. What somebody gave stays in current records; what was derived from it does not.

`purge_steps` has the writes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import orjson

from reverie.documents.layout import is_conflict_copy
from reverie.doubts import CORRECTED
from reverie.errors import NotFound
from reverie.lazy_regex import lazy_regex
from reverie.models import Json
from reverie.store import (
    RULES,
    THREAD_KINDS,
    ArchiveRecord,
    ConflictRecord,
    DocumentRecord,
    Kind,
    MemoryRecord,
    NoteRecord,
    PendingPurge,
    PurgesCursor,
    StoredRecord,
    ThreadRecord,
)
from reverie.text_types import Words
from reverie.texts import Which, changed, has_texts, strings, texts, with_strings
from reverie.usecases import review, runs, threads
from reverie.usecases.provenance import threads_of
from reverie.words import is_stop_word

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from reverie.store import Key, Reader

_WORD = lazy_regex(r"\w{3,}")
_ESCAPE = lazy_regex(r"\\[bfnrt]")  # in JSON: no part of the word behind it
_TEXT_CHARS_MIN = 12  # of a memory's whole text to be searched for: a shorter one is part of many others
_REMOVED = frozenset({Kind.ARCHIVE, Kind.CANDIDATE, Kind.FORGOTTEN})  # whole, by steps of their own

ArchiveBody: TypeAlias = Annotated[
    dict[str, Any], Words(derived=True, names=("summary", "content", "tags", "title", "fields"))
]
"""The JSON of an archive."""


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

    def in_record(self, kind: Any, value: Json, which: Which = None) -> bool:
        """Return True if a text in the JSON of a record of this type has one of the words or whole texts."""
        return any(self.holds(text) for part in texts(kind, value, which) for text in strings(part))

    def in_answer(self, value: Json) -> bool:
        """Return True if a string anywhere in a JSON value, a key too, has one of the words or whole texts."""
        return any(self.holds(text) for text in strings(value, names=True))

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

    def without(self, kind: Any, value: Json, which: Which = None) -> Any:
        """Return the JSON of a record of this type with the words masked in its texts."""
        return changed(kind, value, lambda text: with_strings(text, self._without), which)

    def _without(self, text: str) -> str:
        return self.masked(text) if self.holds(text) else text


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
    """Return the purges of a space that are under way; a deletion without one is none (`threads.deleting`)."""
    begun = (reader.load(PurgesCursor, PurgesCursor.KEY) or PurgesCursor()).pending
    return [one for one in begun if one.kind != "deletion"]


def text_records(which: Which = None) -> dict[Kind, type[StoredRecord]]:
    """Return the kinds of record with texts, and the type of each; not those that the store writes by itself."""
    found: dict[Kind, type[StoredRecord]] = {}
    types = list(StoredRecord.__subclasses__())
    for record_type in types:  # the base of a kind comes before the types that add to it
        types += record_type.__subclasses__()
        if has_texts(record_type, which) and not RULES[record_type.KIND].internal:
            found.setdefault(record_type.KIND, record_type)
    return found


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
    is_there = reader.exists(Kind.THREAD, (thread_id,)) or thread_id in threads.deleting(reader)
    if not (archives or thread_sources.memories or thread_sources.kept or is_there):
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
    sources = _source_keys(reader, found)
    narrow: set[str] = set()
    wide: set[str] = set()
    whole: set[str] = set()
    for kind, text in _source_texts(reader, sources):
        wide.update(_words(text))
        if kind in {Kind.MEMORY, Kind.DOCUMENT, Kind.CONFLICT}:
            narrow.update(_words(text))
        if kind is Kind.MEMORY and len(text) >= _TEXT_CHARS_MIN:
            whole.add(text)
    for text in _live_texts(reader, found, sources):
        wide.difference_update(_words(text))
        whole = {entry for entry in whole if entry not in text}
        if not wide and not whole:
            break
    result = Findings(Matcher(narrow & wide, whole), Matcher(wide, whole))
    _find_versions(reader, found, sources, result)
    _find_current(reader, found, sources, result)
    result.candidates, result.forgotten = review.repeating(
        reader, memories=found.memories, thread=found.thread, matches=result.wide.in_record
    )
    result.events = [
        int(key[0])
        for key, event in reader.scan(Kind.EVENT)
        if event["data"].get("tags") and event["data"].get("memoryId") in found.memories
    ]
    return result


def _source_keys(reader: Reader, found: Sources) -> dict[Kind, set[str]]:
    """Return by kind the first key parts of the records that are sources."""
    keys = {
        Kind.MEMORY: set(found.memories),
        Kind.DOCUMENT: set(found.documents),
        Kind.CONFLICT: set(found.conflicts),
    }
    if found.thread is not None:
        keys |= {kind: {found.thread} for kind in THREAD_KINDS}
        keys[Kind.RUN] = keys[Kind.RUN_FILE] = set(runs.of_thread(reader, found.thread))
        ref = f"thread:{found.thread}"
        keys[Kind.ARCHIVE] = {record.sha256 for _, record in reader.records(ArchiveRecord) if record.ref == ref}
    return keys


def _every_version(reader: Reader, kind: Kind, first: str) -> Iterator[Json]:
    """Yield the JSON of every version of the records whose key begins with `first`."""
    rule = RULES[kind]
    if not rule.versioned:
        yield from (value for _, value in reader.scan(kind, (first,)))
        return
    keys: set[Key] = {(first,)}
    if len(rule.parts) > 1:
        keys = {key for key in (*reader.keys(kind, (first,)), *reader.versioned_keys(kind)) if key[0] == first}
    yield from (version.value for key in keys for version in reader.history(kind, key) if version.value is not None)


def _source_texts(reader: Reader, sources: dict[Kind, set[str]]) -> Iterator[tuple[Kind, str]]:
    """Yield every text of the sources with the kind of its record."""
    for kind, record_type in text_records().items():
        for first in sources.get(kind, ()):
            for value in _every_version(reader, kind, first):
                yield from ((kind, text) for part in texts(record_type, value) for text in strings(part, names=True))


def _live_texts(reader: Reader, found: Sources, sources: dict[Kind, set[str]]) -> Iterator[str]:
    """Yield the texts that stay: what somebody gave, but for the copies of conflicts and of a purged thread's notes.

    Of other memories every version: they say what they say whether or not it is current. Without them, `the` would be a
    word of the purged memory alone in a store of three, and would take lines from the history of the two others. What a
    kept memory said before a person corrected it goes with the thread that said so.
    """
    for kind, record_type in text_records("own").items():
        gone = sources.get(kind, set())
        values: Iterable[Json] = (value for key, value in reader.scan(kind) if key[0] not in gone)
        if kind is Kind.MEMORY:
            names = {str(key[0]) for key in (*reader.keys(kind), *reader.versioned_keys(kind))} - gone
            corrected = {one for one in found.kept if (last := _last(reader, one)) and CORRECTED in last.provenance}
            values = (
                value
                for name in names
                for value in _every_version(reader, kind, name)
                if name not in corrected or CORRECTED in value["provenance"]
            )
        for value in values:
            is_copy = (kind is Kind.DOCUMENT and is_conflict_copy(value["path"])) or (
                kind is Kind.NOTE and found.thread is not None and value.get("thread") == found.thread
            )
            if not is_copy:
                yield from (text for part in texts(record_type, value, "own") for text in strings(part, names=True))


def _find_versions(reader: Reader, found: Sources, sources: dict[Kind, set[str]], result: Findings) -> None:
    """Add to `result` the records with superseded versions that have purged words, or blocks of purged memories."""
    purged = set(found.memories)
    for key in reader.versioned_keys(Kind.DOCUMENT):
        for version in reader.record_versions(DocumentRecord, key):
            record = version.value
            if record is not None and (purged & set(record.ids) or result.wide.holds(record.content)):
                result.versions.append((Kind.DOCUMENT, key))
                break
    for kind, record_type in text_records().items():
        if kind in _REMOVED or kind is Kind.DOCUMENT or not RULES[kind].versioned:
            continue
        for key in reader.versioned_keys(kind):
            matcher, is_source = result.matcher_of(kind), key[0] in sources.get(kind, ())
            if not is_source and any(matcher.in_record(record_type, past.value) for past in reader.history(kind, key)):
                result.versions.append((kind, key))


def _find_current(reader: Reader, found: Sources, sources: dict[Kind, set[str]], result: Findings) -> None:
    """Add the current records that repeat such words: archives, and what engines and agents derived from others."""
    for _, archive in reader.records(ArchiveRecord):
        body = json_or_text(archive.body)
        repeats = result.wide.holds(body) if isinstance(body, str) else result.wide.in_record(ArchiveBody, body)
        if repeats or archive.sha256 in sources.get(Kind.ARCHIVE, ()):
            result.archives.append(archive.sha256)
    for kind, record_type in text_records("derived").items():
        for key, value in () if kind in _REMOVED else reader.scan(kind):
            is_source = key[0] in sources.get(kind, ())
            if not is_source and result.matcher_of(kind).in_record(record_type, value, "derived"):
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
