"""Documents as callers read and change them: safe paths, versions that are not overwritten unseen, exact patches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reverie import patch
from reverie.documents import ITEMS_MAX, has_too_many_items, is_conflict_copy
from reverie.documents.header_lines import refresh_header
from reverie.documents.write import append_entry
from reverie.errors import Conflict, Forbidden, NotFound, TooLarge, ValidationError
from reverie.paths import is_reserved, safe_relative
from reverie.store import Kind, Write
from reverie.usecases.conflicts import opened
from reverie.usecases.writing import Author, Given, put_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reverie.store import Reader, Version, Writer

__all__ = [
    "TEXT_BYTES_MAX",
    "append",
    "at_operation",
    "checked",
    "delete",
    "held_by",
    "patched",
    "put",
    "readable",
    "versions",
]

TEXT_BYTES_MAX = 1024 * 1024  # of one document; what is longer is no memory


def checked(path: str) -> str:
    """`path` if it names a document that callers may write.

    Raises:
        ValidationError: it could lead outside, or no document may have that name; `details.reason` says why.
    """
    return str(safe_relative(path))


def readable(path: str) -> str:
    """`path` if it names a place inside the space's folder, those included that only Reverie itself writes.

    Raises:
        ValidationError: it could lead outside, or no file may have that name.
    """
    try:
        return str(safe_relative(path, suffixes=None))
    except ValidationError as refused:
        if refused.details["reason"] != "reserved":
            raise
        return path


def held_by(reader: Reader, path: str) -> dict[str, Any]:
    """A document's record.

    Raises:
        NotFound: there is none at this path.
    """
    found = reader.get(Kind.DOCUMENT, (path,))
    if found is None:
        raise NotFound(f"there is no document {path!r}", hint="reverie log lists what was written")
    return found


def versions(reader: Reader, path: str) -> list[Version]:
    """Every version kept of a document, oldest first, deletions among them.

    Raises:
        NotFound: there never was one at this path.
    """
    found = reader.history(Kind.DOCUMENT, (path,))
    if not found:
        raise NotFound(f"there is no document {path!r}", hint="reverie log lists what was written")
    return found


def at_operation(reader: Reader, path: str, operation: int) -> dict[str, Any]:
    """A document's record as it was when `operation` was committed.

    Raises:
        NotFound: it was not there then, or that version is no longer kept.
    """
    past = reader.past(Kind.DOCUMENT, (path,))
    found = next((version.value for version in past if version.operation <= operation), None)
    if found is None:
        raise NotFound(
            f"there was no document {path!r} at operation {operation}", hint=f"reverie log {path} lists its versions"
        )
    return found


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
) -> Write[dict[str, Any]]:
    """Writes a document's whole text, its summary line and its day brought up to date.

    `text` has passed the redactor. `if_match` is the version that the caller has seen, `*` any, `` (empty) none.
    The body answers with the record; it raises Conflict where the document is at another version.
    """
    path = checked(path)

    def body(writer: Writer) -> dict[str, Any]:
        held = writer.get(Kind.DOCUMENT, (path,))
        _require(path, held, if_match)
        return _write(writer, path, text, author=author, new_id=new_id, summary=summary)

    return Write(space=space, who=who, why="document.write", body=body, idempotency=idempotency)


def patched(
    space: str,
    path: str,
    patches: Sequence[tuple[str, str]],
    *,
    who: str,
    author: Author,
    new_id: Callable[[], str],
    if_match: str | None = None,
    idempotency: tuple[str, str] | None = None,
) -> Write[dict[str, Any]]:
    """Replaces exact texts of a document, all of them or none; `(old, new)` pairs that have passed the redactor.

    The body answers with the record and `appliedCount`; it raises Conflict naming the lines where a text is absent or
    there more than once.
    """
    path = checked(path)

    def body(writer: Writer) -> dict[str, Any]:
        held = held_by(writer, path)
        _require(path, held, if_match)
        text, count = _patched(path, held["content"], patches)
        record = _write(writer, path, text, author=author, new_id=new_id)
        return {**record, "appliedCount": count}

    return Write(space=space, who=who, why="document.patch", body=body, idempotency=idempotency)


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
) -> Write[dict[str, Any]]:
    """Puts markdown at a document's end, which is made where there is none; `summary` is what its summary line says.

    The body answers with the record.
    """
    path = checked(path)
    if not entry.strip():
        raise ValidationError("the entry is empty", hint="give the markdown of one entry", field="entry")

    def body(writer: Writer) -> dict[str, Any]:
        held = writer.get(Kind.DOCUMENT, (path,))
        _require(path, held, if_match)
        text = append_entry(path, None if held is None else held["content"], entry)
        return _write(writer, path, text, author=author, new_id=new_id, summary=summary)

    return Write(space=space, who=who, why="document.append", body=body, idempotency=idempotency)


def delete(
    space: str,
    path: str,
    *,
    who: str,
    author: Author,
    if_match: str | None = None,
    idempotency: tuple[str, str] | None = None,
) -> Write[dict[str, Any]]:
    """Deletes a document with the memories in it; every version stays, and `undo` brings it back."""
    path = checked(path)

    def body(writer: Writer) -> dict[str, Any]:
        held = held_by(writer, path)
        _require(path, held, if_match)
        if any(each["copy"] == path for each in opened(writer)):
            raise Forbidden(f"{path} is the other text of an open conflict", hint="reverie sync resolve settles it")
        put_texts(writer, {path: None}, author=author, at=writer.at, new_id=_none_new)
        return {"path": path, "operation": str(writer.number), "memories": len(held["ids"])}

    return Write(space=space, who=who, why="document.delete", body=body, idempotency=idempotency)


def _write(
    writer: Writer, path: str, text: str, *, author: Author, new_id: Callable[[], str], summary: str | None = None
) -> dict[str, Any]:
    """Puts a text with its summary and day; the record as stored."""
    _storable(path, text)
    held = writer.get(Kind.DOCUMENT, (path,))
    if held is None or held["content"] != text or summary is not None:
        text = refresh_header(path, text, day=writer.at[:10], summary=summary)
    put_texts(writer, {path: Given(text)}, author=author, at=writer.at, new_id=new_id)
    return held_by(writer, path)


def _patched(path: str, text: str, patches: Sequence[tuple[str, str]]) -> tuple[str, int]:
    """The patched text. A text that is not there, or twice, is a conflict: the caller has seen another version."""
    try:
        return patch.patch(text, patches)
    except ValidationError as refused:
        places = refused.details.get("patches", [])
        if not places or any(place["reason"] in {"empty", "overlap"} for place in places):
            raise
        raise Conflict(
            f"{path} was not patched: {refused.message}",
            hint="read the document again, and give each oldText exactly as it stands there, long enough to be unique",
            patches=places,
        ) from refused


def _require(path: str, held: dict[str, Any] | None, if_match: str | None) -> None:
    """Raises Conflict unless the document is at the version that the caller has seen."""
    if if_match is None:
        return
    current = None if held is None else str(held["sha256"])
    if if_match == current or (if_match == "*" and held is not None) or (if_match == "" and held is None):
        return
    raise Conflict(
        f"{path} has changed since it was read" if held is not None else f"there is no document {path!r}",
        hint="read it again, and write with the ETag that it has now",
        currentVersion=current,
    )


def _storable(path: str, text: str) -> None:
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


def _none_new() -> str:
    raise AssertionError("a deletion makes no memory")
