"""Documents as callers read, write, patch, move and delete them: safe paths, optimistic locking by ETag."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from reverie import wire
from reverie.decode import mapped
from reverie.documents.edit import append_entry
from reverie.documents.header import patch_text, refresh_header
from reverie.documents.layout import is_conflict_copy
from reverie.documents.parse import ITEMS_MAX, has_too_many_items, parse_source
from reverie.documents.summary import at_most
from reverie.errors import Conflict, Forbidden, NotFound, TooLarge, ValidationError
from reverie.lazy_regex import lazy_regex
from reverie.markdown_blocks import BlockKind
from reverie.paths import existing_spelling, is_reserved, safe_relative, same_file
from reverie.store import DocumentRecord, Reader, Version, Writer
from reverie.text_types import Text
from reverie.usecases.agent_writes import has_words_of_person
from reverie.usecases.by import By, Files, Place, is_agent, writes
from reverie.usecases.conflicts import open_conflicts
from reverie.usecases.forgotten import hold_forgotten
from reverie.usecases.projections import LIST
from reverie.usecases.put import NewText, put_texts

_SUMMARY = lazy_regex(r"^.*Summary:.*$", re.MULTILINE)
TEXT_BYTES_MAX = 1024 * 1024  # of one document; a longer text is no memory that an agent could read


class PatchedDocument(DocumentRecord, frozen=True, kw_only=True):
    """A document after a patch, and how many replacements were made."""

    applied_count: int


# Reading


def writable_path(path: str) -> str:
    """Return `path` if it names a document that callers may write.

    Raises:
        ValidationError: it could lead outside the folder, or is no name for a document; `details.reason` says why.
    """
    return str(safe_relative(path))


def as_spelled(reader: Reader, path: str) -> str:
    """Return a path as the document that is there spells it, such as a person's `facts/Project.md`."""
    if reader.load(DocumentRecord, (path,)) is not None:
        return path
    return same_file(path, (record.path for _, record in reader.records(DocumentRecord)))


def readable_path(path: str) -> str:
    """Return `path` if it names a file inside the space's folder, including those that only Reverie writes.

    Raises:
        ValidationError: it could lead outside the folder, or is no name for a file.
    """
    try:
        return str(safe_relative(path, suffixes=None))
    except ValidationError as refused:
        if refused.details["reason"] != "reserved":
            raise
        return path


def get(reader: Reader, path: str) -> DocumentRecord:
    """Return the stored record of the document at a path.

    Raises:
        NotFound: there is none at this path.
    """
    document = reader.load(DocumentRecord, (path,))
    if document is None:
        raise NotFound(f"there is no document {path!r}", hint="reverie log lists what was written")
    return document


def versions(reader: Reader, path: str) -> list[Version[DocumentRecord]]:
    """Return every stored version of a document, oldest first, deletions included.

    Raises:
        NotFound: there never was one at this path.
    """
    history = reader.record_history(DocumentRecord, (path,))
    if not history:
        raise NotFound(f"there is no document {path!r}", hint="reverie log lists what was written")
    return history


def at_operation(reader: Reader, path: str, operation: int) -> DocumentRecord:
    """Return a document as it was after `operation`.

    Raises:
        NotFound: it did not exist then, or that version is no longer stored.
    """
    past = reader.record_versions(DocumentRecord, (path,))
    document = next((version.value for version in past if version.operation <= operation), None)
    if document is None:
        raise NotFound(
            f"there was no document {path!r} at operation {operation}", hint=f"reverie log {path} lists its versions"
        )
    return document


def document_answer(record: DocumentRecord) -> wire.Document:
    """Return a document as the API lists it, without its text."""
    return mapped(record, wire.Document, etag=record.sha256)


def text_answer(record: DocumentRecord) -> wire.DocumentText:
    """Return a document as the API shows it, with its text."""
    return mapped(record, wire.DocumentText, etag=record.sha256)


# Writing


def _at_path(_: Reader, path: str, **__: Any) -> Files:
    path = writable_path(path)
    return Files({path}, {path})


def _at_named_path(reader: Reader, path: str, **_: Any) -> Files:
    return _at_path(reader, path)._replace(named=path)


def _deleted(reader: Reader, path: str, **_: Any) -> Files:
    return _at_path(reader, path)._replace(deleted={path: ""})


def _moved(reader: Reader, path: str, to_path: str) -> Files:
    moved = moved_paths(reader, path, to_path)
    return Files({*moved, *moved.values()}, moved.values(), deleted=dict.fromkeys(moved, ""))


def _folder_deleted(reader: Reader, path: str, **_: Any) -> Files:
    paths = [record.path for record in below(reader, path)]
    return Files(paths, deleted=dict.fromkeys(paths, ""))


def place(document: DocumentRecord | wire.DocumentDeleted, /, **_: Any) -> Place:
    """Return a document as the place of what was redacted in it."""
    return "document", document.path


@writes("document.write", answers=DocumentRecord, files=_at_named_path, found=place)
def put(to: Writer, by: By, path: str, text: Text, summary: Text | None = None) -> DocumentRecord:
    """Store the whole text of a document, with its summary line and day updated; return the record as stored.

    New memories are of the caller's project, unless the document is another one's.
    """
    require_version(to, path, by.if_match)
    return _write(to, by, path, text, summary)


@writes("document.patch", answers=PatchedDocument, files=_at_path, found=place)
def patch(
    to: Writer, by: By, path: str, patches: Sequence[tuple[Text, Text]], sent: Sequence[str] = ()
) -> PatchedDocument:
    """Replace exact texts of a document, all or none, and return the document and their number.

    `sent` are the old texts as they were sent: a document that was stored before a secret of it was known has it still.

    Raises:
        Conflict: a text does not occur, or more than once; names the lines.
    """
    document = get(to, path)
    require_version(to, path, by.if_match)
    found = [
        (plain if old not in document.content and plain in document.content else old, new)
        for (old, new), plain in zip(patches, sent or [old for old, _ in patches], strict=True)
    ]
    text, count = _patched_text(path, document.content, found)
    record = _write(to, by, path, text, _patched_summary(path, document.content, text))
    if record.content == document.content and text != document.content:
        raise ValidationError(
            f"the patch changes nothing of {path} but lines that Reverie writes itself, such as its day",
            hint="change the memories: the lines about them follow",
            field="patches",
            reason="generated",
        )
    return mapped(record, PatchedDocument, applied_count=count)


@writes("document.append", answers=DocumentRecord, files=_at_named_path, found=place)
def append(to: Writer, by: By, path: str, entry: Text, summary: Text | None = None) -> DocumentRecord:
    """Append markdown to a document, or create it; `summary` is its new summary line. Return the record as stored."""
    if not entry.strip():
        raise ValidationError("the entry is empty", hint="give the markdown of one entry", field="entry")
    require_version(to, path, by.if_match)
    document = to.load(DocumentRecord, (path,))
    return _write(to, by, path, append_entry(path, None if document is None else document.content, entry), summary)


@writes("document.insert", answers=DocumentRecord, files=_at_path, found=place)
def insert(to: Writer, by: By, path: str, line: int, text: Text) -> DocumentRecord:
    """Insert lines after line `line` of a document (0: at its beginning); return the record as stored."""
    require_version(to, path, by.if_match)
    document = get(to, path)
    lines = document.content.removesuffix("\n").split("\n") if document.content else []
    if line > len(lines):
        raise ValidationError(
            f"{path} has {len(lines)} lines, and none after which line {line + 1} could come",
            hint=f"give a line from 0 to {len(lines)}",
            field="line",
            reason="out_of_range",
            lines=len(lines),
        )
    lines.insert(line, text.rstrip("\n"))
    after = "\n".join(lines)
    return _write(to, by, path, after if after.endswith("\n") else f"{after}\n")


@writes("document.delete", files=_deleted, found=place)
def delete(to: Writer, by: By, path: str) -> wire.DocumentDeleted:
    """Delete a document with its memories; its versions stay, and `undo` restores both."""
    document = get(to, path)
    if path == LIST and is_agent(by.who):
        raise Forbidden(f"{LIST} lists the memory files, and is written again", hint="delete the files that are to go")
    require_version(to, path, by.if_match)
    _delete(to, by, [document])
    return wire.DocumentDeleted(path=path, operation=str(to.number), memories=len(document.ids))


@writes("document.delete", files=_folder_deleted, scans=True)
def delete_folder(to: Writer, by: By, path: str, *, unread: bool = False) -> wire.DocumentDeleted:
    """Delete every document below a folder with its memories; `undo` restores them.

    Raises:
        Conflict: `unread`, and a document there has words of a person: no ETag of a folder says that they were read.
        NotFound: there is none.
    """
    records = below(to, path)
    held = next((record.path for record in records if has_words_of_person(to, record)), None) if unread else None
    if held is not None:
        raise Conflict(
            f"{held} holds what a person wrote",
            hint="read the documents of the folder, and delete each with its ETag as If-Match",
            reason="unread",
        )
    _delete(to, by, records)
    memories = sum(len(record.ids) for record in records)
    return wire.DocumentDeleted(path=path, operation=str(to.number), memories=memories, documents=len(records))


@writes("document.move", answers=wire.DocumentsMoved, files=_moved, scans=True)
def move(to: Writer, by: By, path: str, to_path: str) -> wire.DocumentsMoved:
    """Move a document, or a folder with its documents, in one operation; memories keep ids and history.

    A text that becomes memories at its new path is written there: HeldForPerson is raised where an agent moves what a
    person forgot, and what an agent makes memories in this way has an agent's trust.
    """
    moved = moved_paths(to, path, to_path)
    in_conflict = {name for conflict in open_conflicts(to) for name in (conflict.path, conflict.copy)}
    if old := next((old for old in moved if old in in_conflict), None):
        raise Forbidden(f"{old} has an open conflict", hint="reverie sync resolve settles it")
    texts: dict[str, NewText | None] = {}
    for old, new in moved.items():
        text = get(to, old).content
        check_storable(new, text)
        texts |= {old: None, new: NewText(text)} if old != new else {}
    put_texts(to, texts, by)
    for new in moved.values():
        hold_forgotten(to, get(to, new), who=by.who)
    return wire.DocumentsMoved(path=path, to=to_path, operation=str(to.number), documents=sorted(moved.values()))


def below(reader: Reader, folder: str) -> list[DocumentRecord]:
    """Return the documents below a folder, by path.

    Raises:
        NotFound: there is none.
    """
    prefix = folder.strip("/") + "/"
    records = [record for _, record in reader.records(DocumentRecord) if record.path.startswith(prefix)]
    if not records:
        raise NotFound(
            f"there is no document below {prefix!r}", hint="GET /v1/documents?prefix= lists those that begin so"
        )
    return records


def moved_paths(reader: Reader, path: str, to: str) -> dict[str, str]:
    """Return the new path of each document that a move of `path` (a document or a folder) moves, by its old one.

    Raises:
        NotFound: there is neither a document nor a folder at `path`.
        Conflict: a document is at a new path, or one that is the same name on other systems.
        ValidationError: a new path is the old one, no name for a document, or inside the folder that is moved.
    """
    path, to = path.strip("/"), to.strip("/")
    if reader.load(DocumentRecord, (path,)) is not None:
        if path == to:
            raise ValidationError(f"{path} is there already", hint="give another path", field="to")
        moved = {path: writable_path(to)}
    else:
        records = below(reader, path)
        if f"{to}/".startswith(f"{path}/"):
            raise ValidationError(f"{to} is inside {path}", hint="move it to another folder", field="to")
        moved = {record.path: writable_path(to + record.path[len(path) :]) for record in records}
    others = [record.path for _, record in reader.records(DocumentRecord) if record.path not in moved]
    for new in moved.values():
        if new in others or existing_spelling(new, others) is not None:
            raise Conflict(
                f"there is a document {existing_spelling(new, others) or new!r} already",
                hint="choose another path, or delete that document first",
                reason="exists",
            )
    return moved


def require_version(reader: Reader, path: str, if_match: str | None) -> None:
    """Raise Conflict unless the document has the version that the caller has read (RFC 9110, 13.1.1), if it names one.

    `if_match` is its ETag, `*` for any version, empty for no document.
    """
    if if_match is None:
        return
    document = reader.load(DocumentRecord, (path,))
    current = None if document is None else document.sha256
    if if_match == current or (if_match == "*" and document is not None) or (if_match == "" and document is None):
        return
    raise Conflict(
        f"{path} has changed since it was read" if document is not None else f"there is no document {path!r}",
        hint="read it again, and write with the ETag that it has now",
        currentVersion=current,
    )


def _write(to: Writer, by: By, path: str, text: str, summary: str | None = None) -> DocumentRecord:
    """Write a text with its summary and day updated; return the record as stored.

    An equal text is not updated: a repeated call would else become an operation. Memories whose lines the caller
    removed are forgotten. Raises HeldForPerson where an agent wrote what a person forgot.
    """
    path = writable_path(path)
    check_storable(path, text)
    document = to.load(DocumentRecord, (path,))
    if document is None or document.content != text or summary is not None:
        text = refresh_header(path, text, day=to.at[:10], summary=summary)
    put_texts(to, {path: NewText(text)}, by, forgets=True)
    record = get(to, path)
    hold_forgotten(to, record, who=by.who)
    return record


def _delete(to: Writer, by: By, documents: Sequence[DocumentRecord]) -> None:
    paths = [document.path for document in documents]
    if copies := {conflict.copy for conflict in open_conflicts(to)}.intersection(paths):
        raise Forbidden(f"{min(copies)} is the other text of an open conflict", hint="reverie sync resolve settles it")
    put_texts(to, dict.fromkeys(paths), by, forgets=True)


def _patched_text(path: str, text: str, patches: Sequence[tuple[str, str]]) -> tuple[str, int]:
    """Return the patched text and the number of replacements.

    An old text that is absent or occurs twice is a Conflict and no ValidationError: the request is well formed, but
    the caller has read another version of the document.
    """
    try:
        return patch_text(text, patches)
    except ValidationError as refused:
        places = refused.details.get("patches", [])
        if not places or any(patch["reason"] in {"empty", "overlap"} for patch in places):
            raise
        raise Conflict(
            f"{path} was not patched: {refused.message}",
            hint="read the document again, and give each oldText exactly as in the document, long enough to be unique",
            patches=places,
        ) from refused


def _patched_summary(path: str, before: str, after: str) -> str | None:
    """Return the summary line that a patch has written, or None where it has not: then one is made.

    Raises:
        ValidationError: it is longer than a summary is; it would be cut.
    """
    if _SUMMARY.findall(before) == _SUMMARY.findall(after):
        return None
    old, new = (
        next((block.text for block in parse_source(path, text).blocks if block.kind is BlockKind.SUMMARY), "")
        for text in (before, after)
    )
    if not new or new == old:
        return None
    if at_most(new) != new:
        raise ValidationError(
            f"the summary of {path} would be longer than ten words",
            hint="give at most ten words, or ten topics with commas between them",
            field="patches",
            reason="long_summary",
        )
    return new


def check_storable(path: str, text: str) -> None:
    """Refuse a text that is too long, has too many memories or a NUL, and the copy of a conflict."""
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > TEXT_BYTES_MAX:
        raise TooLarge(
            f"{path} would be {size:,} bytes long", hint=f"keep it under {TEXT_BYTES_MAX:,}", limit=TEXT_BYTES_MAX
        )
    if has_too_many_items(path, text):
        raise TooLarge(
            f"{path} would hold more than {ITEMS_MAX:,} memories", hint="split it into several files", limit=ITEMS_MAX
        )
    if "\0" in text:
        raise ValidationError(f"{path} would hold a NUL character", hint="send plain text", field="content")
    if is_conflict_copy(path):
        raise Forbidden(f"{path} is the copy of a conflict", hint="reverie sync resolve settles conflicts")
    assert not is_reserved(safe_relative(path))
