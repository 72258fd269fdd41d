"""Documents as callers read and change them: safe paths, optimistic locking by ETag, exact patches, appends."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec.structs import asdict

from reverie import wire
from reverie.documents import ITEMS_MAX, has_too_many_items, is_conflict_copy
from reverie.documents.edit import append_entry
from reverie.documents.header import patch_text, refresh_header
from reverie.documents.parse import parse_source
from reverie.documents.project_paths import PERSON
from reverie.documents.summary import at_most
from reverie.errors import Conflict, Forbidden, NotFound, TooLarge, ValidationError
from reverie.lazy_regex import lazy_regex
from reverie.markdown_blocks import BlockKind
from reverie.paths import is_reserved, safe_relative
from reverie.store import DocumentRecord, Write
from reverie.usecases.conflicts import open_conflicts
from reverie.usecases.forgotten_writes import hold_forgotten
from reverie.usecases.put import Author, NewText, no_new_ids, put_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reverie.store import Reader, Version, Writer

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
    return wire.Document(
        path=record.path,
        size=record.size,
        etag=record.sha256,
        version=record.version,
        updated_at=record.updated_at,
        summary=record.summary,
    )


def text_answer(record: DocumentRecord) -> wire.DocumentText:
    """Return a document as the API shows it, with its text."""
    return wire.DocumentText(**asdict(document_answer(record)), content=record.content)


# Writing


def put(
    space: str,
    path: str,
    text: str,
    *,
    who: str,
    author: Author,
    new_id: Callable[[], str],
    if_match: str | None = None,
    summary: str | None = None,
    idempotency: tuple[str, str] | None = None,
    project: str = PERSON,
    origin: Mapping[str, str] | None = None,
) -> Write[DocumentRecord]:
    """Return the write that stores the whole text of a document, with its summary line and day updated.

    `text` has passed the redactor. New memories are of `project`, unless the document is another one's. `if_match` is
    the ETag of the version that the caller has read, `*` any version, empty no document. The body returns the record
    as stored, and raises Conflict if the document has another version.
    """
    path = writable_path(path)

    def body(writer: Writer) -> DocumentRecord:
        _check_version(path, writer.load(DocumentRecord, (path,)), if_match)
        return write_text(
            writer, path, text, who=who, author=author, new_id=new_id, summary=summary, project=project, origin=origin
        )

    return Write(space=space, who=who, why="document.write", body=body, idempotency=idempotency, answers=DocumentRecord)


def patched(
    space: str,
    path: str,
    patches: Sequence[tuple[str, str]],
    *,
    who: str,
    author: Author,
    new_id: Callable[[], str],
    sent: Sequence[str] = (),
    if_match: str | None = None,
    idempotency: tuple[str, str] | None = None,
    project: str = PERSON,
    origin: Mapping[str, str] | None = None,
) -> Write[PatchedDocument]:
    """Return the write that replaces exact texts of a document, all or none; `pairs` have passed the redactor.

    `sent` are the old texts as they were sent: a document that was stored before a secret of it was known has it still.
    The body raises Conflict, naming the lines, if a text does not occur or occurs more than once.
    """
    path = writable_path(path)

    def body(writer: Writer) -> PatchedDocument:
        document = get(writer, path)
        _check_version(path, document, if_match)
        text_patches = [
            (plain if old not in document.content and plain in document.content else old, new)
            for (old, new), plain in zip(patches, sent or [old for old, _ in patches], strict=True)
        ]
        text, count = _patched_text(path, document.content, text_patches)
        summary = _patched_summary(path, document.content, text)
        record = write_text(
            writer, path, text, who=who, author=author, new_id=new_id, summary=summary, project=project, origin=origin
        )
        if record.content == document.content and text != document.content:
            raise ValidationError(
                f"the patch changes nothing of {path} but lines that Reverie writes itself, such as its day",
                hint="change the memories: the lines about them follow",
                field="patches",
                reason="generated",
            )
        return PatchedDocument(**asdict(record), applied_count=count)

    return Write(
        space=space, who=who, why="document.patch", body=body, idempotency=idempotency, answers=PatchedDocument
    )


def append(
    space: str,
    path: str,
    entry: str,
    *,
    who: str,
    author: Author,
    new_id: Callable[[], str],
    summary: str | None = None,
    if_match: str | None = None,
    idempotency: tuple[str, str] | None = None,
    project: str = PERSON,
    origin: Mapping[str, str] | None = None,
) -> Write[DocumentRecord]:
    """Return the write that appends markdown to a document, or creates it; `summary` is its new summary line.

    The body returns the record as stored.
    """
    path = writable_path(path)
    if not entry.strip():
        raise ValidationError("the entry is empty", hint="give the markdown of one entry", field="entry")

    def body(writer: Writer) -> DocumentRecord:
        document = writer.load(DocumentRecord, (path,))
        _check_version(path, document, if_match)
        text = append_entry(path, None if document is None else document.content, entry)
        return write_text(
            writer, path, text, who=who, author=author, new_id=new_id, summary=summary, project=project, origin=origin
        )

    return Write(
        space=space, who=who, why="document.append", body=body, idempotency=idempotency, answers=DocumentRecord
    )


def delete(
    space: str,
    path: str,
    *,
    who: str,
    author: Author,
    if_match: str | None = None,
    origin: Mapping[str, str] | None = None,
) -> Write[wire.DocumentDeleted]:
    """Return the write that deletes a document with its memories; its versions stay, and `undo` restores both."""
    path = writable_path(path)

    def body(writer: Writer) -> wire.DocumentDeleted:
        document = get(writer, path)
        _check_version(path, document, if_match)
        if any(conflict.copy == path for conflict in open_conflicts(writer)):
            raise Forbidden(f"{path} is the other text of an open conflict", hint="reverie sync resolve settles it")
        by, gone = {"by": who, **(origin or {})}, {path: None}
        put_texts(writer, gone, author=author, at=writer.at, new_id=no_new_ids, provenance=by, forgotten_by=who)
        return wire.DocumentDeleted(path=path, operation=str(writer.number), memories=len(document.ids))

    return Write(space=space, who=who, why="document.delete", body=body)


def require_version(reader: Reader, path: str, if_match: str | None) -> None:
    """Raise Conflict unless the document has the version that the caller has read, if it names one."""
    _check_version(path, reader.load(DocumentRecord, (path,)), if_match)


def write_text(
    writer: Writer,
    path: str,
    text: str,
    *,
    who: str,
    author: Author,
    new_id: Callable[[], str],
    summary: str | None,
    project: str,
    origin: Mapping[str, str] | None = None,
) -> DocumentRecord:
    """Write a text with its summary and day updated; return the record as stored. New memories are of `project`.

    An equal text is not updated: a repeated call would else become an operation. `origin` is the tool and thread of an
    agent's write. Memories whose lines `who` removed are forgotten. Raises HeldForPerson where an agent wrote what a
    person forgot.
    """
    check_storable(path, text)
    document = writer.load(DocumentRecord, (path,))
    if document is None or document.content != text or summary is not None:
        text = refresh_header(path, text, day=writer.at[:10], summary=summary)
    put_texts(
        writer,
        {path: NewText(text)},
        author=author,
        at=writer.at,
        new_id=new_id,
        provenance={"by": who, **(origin or {})},
        project=project,
        forgotten_by=who,
    )
    record = get(writer, path)
    hold_forgotten(writer, record, who=who)
    return record


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


def _check_version(path: str, document: DocumentRecord | None, if_match: str | None) -> None:
    """Raise Conflict unless the document has the version that the caller has read (RFC 9110, 13.1.1)."""
    if if_match is None:
        return
    current = None if document is None else document.sha256
    if if_match == current or (if_match == "*" and document is not None) or (if_match == "" and document is None):
        return
    raise Conflict(
        f"{path} has changed since it was read" if document is not None else f"there is no document {path!r}",
        hint="read it again, and write with the ETag that it has now",
        currentVersion=current,
    )


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
