"""Conflicts between a person's file and the store: opening, listing, resolving, and following undo and rollback.

A conflict has two texts: the document (the person's words are in place) and its conflict copy (the store's words).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from msgspec.structs import replace

from reverie import wire
from reverie.decode import mapped
from reverie.documents.layout import is_conflict_copy
from reverie.errors import Conflict, NotFound, ValidationError
from reverie.merge import merge3
from reverie.store import ConflictRecord, DocumentRecord, Kind, OperationRecord, Reader, RegionRecord, Writer
from reverie.text_types import Text
from reverie.usecases.by import By, Files, writes
from reverie.usecases.forgotten import hold_forgotten
from reverie.usecases.put import NewText, put_texts

if TYPE_CHECKING:
    from reverie.sync.plan import ConflictCopy

Keep: TypeAlias = Literal["file", "store", "both"]


# Opening and closing, as parts of a sync commit


def open_(writer: Writer, copy: ConflictCopy, conflict_id: str, at: str) -> None:
    """Open a conflict: the person's text is at the document's path, the store's at the path of the conflict copy."""
    record = ConflictRecord(
        id=conflict_id,
        path=copy.path,
        copy=copy.copy_path,
        text=copy.text,
        regions=[RegionRecord(file=region.person, store=region.store, at=region.at) for region in copy.regions],
        opened_at=at,
        operation=writer.number,
    )
    writer.save(record, (conflict_id,))
    writer.event("conflict.opened", {"conflictId": conflict_id, "path": copy.path})


def follow_moves(writer: Writer, moves: Mapping[str, str], written: Iterable[str]) -> None:
    """Update the paths of conflicts whose files a person moved.

    `moves` has the new path of each moved document, `written` all paths at which people put a file. A document is
    followed by its move. A copy is followed by its file name, which is unique: its text may have changed on the way,
    so that sync sees a deletion and a new file.
    """
    copies = {PurePosixPath(path).name: path for path in written if is_conflict_copy(path)}
    for conflict in open_conflicts(writer) if moves or copies else ():
        path = moves.get(conflict.path, conflict.path)
        copy = copies.get(PurePosixPath(conflict.copy).name, conflict.copy)
        if (path, copy) != (conflict.path, conflict.copy):
            # The versions of the document from before the move are stored under the path it had then.
            opened_path = conflict.opened_path or conflict.path
            writer.save(replace(conflict, path=path, copy=copy, opened_path=opened_path), (conflict.id,))


def close_deleted(writer: Writer, paths: Iterable[str]) -> None:
    """Close the conflicts whose copies are among `paths`: a person who deletes the copy has resolved the conflict."""
    deleted = set(paths)
    for conflict in open_conflicts(writer) if deleted else ():
        if conflict.copy in deleted:
            _close(writer, conflict)


# Undo and rollback


def revert(writer: Writer, operation: OperationRecord, paths: Iterable[str]) -> None:
    """Return conflicts to their state before `operation`, whose undo changed the documents at `paths`.

    A conflict that the operation opened is closed, one that it resolved is open again, one that it moved moves back.
    Other conflicts are closed where the undo deleted their document or their copy.
    """
    reverted = set()
    for change in operation.changes:
        if change.kind is not Kind.CONFLICT:
            continue
        conflict_id = str(change.key[0])
        # A later change of the conflict stays. Only its opening is undone in any case: the copy goes with the undo.
        if change.before is None or change.after == writer.version(Kind.CONFLICT, (conflict_id,)):
            before = None if change.before is None else _at_operation(writer, conflict_id, change.before)
            _set(writer, conflict_id, before)
            reverted.add(conflict_id)
    _close_without_documents(writer, paths, except_=reverted)


def restore(writer: Writer, operation: int, paths: Collection[str], *, whole: bool) -> None:
    """Return conflicts to their state after `operation`, to which the documents at `paths` were rolled back.

    For a rollback of the `whole` space that is all of them. Else a conflict that was resolved since is open again only
    if its copy exists again, and one whose document or copy was deleted by the rollback is closed.
    """
    for conflict_id in writer.touched(Kind.CONFLICT, operation):
        then = _at_operation(writer, conflict_id, operation)
        if whole or _has_copy_again(writer, then, paths):
            _set(writer, conflict_id, then)
    if not whole:
        _close_without_documents(writer, paths)


def _at_operation(reader: Reader, conflict_id: str, operation: int) -> ConflictRecord | None:
    """Return a conflict as it was after `operation`; None if it was not open, or that version is no longer stored."""
    versions = reader.record_versions(ConflictRecord, (conflict_id,))
    return next((version.value for version in versions if version.operation <= operation), None)


def _has_copy_again(reader: Reader, then: ConflictRecord | None, paths: Collection[str]) -> bool:
    """Return True for a resolved conflict with a document or copy among `paths`, whose copy exists."""
    if then is None or not {then.path, then.copy} & set(paths):
        return False
    return reader.load(ConflictRecord, (then.id,)) is None and _content(reader, then.copy) is not None


def _set(writer: Writer, conflict_id: str, record: ConflictRecord | None) -> None:
    """Put back an earlier version of a conflict, or close it (None); publish an event if that opens or closes it."""
    now = writer.load(ConflictRecord, (conflict_id,))
    if record is not None:
        writer.save(record, (conflict_id,))
        if now is None:
            writer.event("conflict.opened", {"conflictId": conflict_id, "path": record.path})
    elif now is not None:
        _close(writer, now)


def _close_without_documents(writer: Writer, paths: Iterable[str], *, except_: Collection[str] = ()) -> None:
    gone = {path for path in paths if _content(writer, path) is None}
    for conflict in open_conflicts(writer) if gone else ():
        if conflict.id not in except_ and {conflict.path, conflict.copy} & gone:
            _close(writer, conflict)


def _close(writer: Writer, conflict: ConflictRecord) -> None:
    writer.delete(Kind.CONFLICT, (conflict.id,))
    writer.event("conflict.closed", {"conflictId": conflict.id, "path": conflict.path})


# Reading


def open_conflicts(reader: Reader) -> list[ConflictRecord]:
    """Return the open conflicts, oldest first."""
    return [conflict for _, conflict in reader.records(ConflictRecord)]


def get(reader: Reader, conflict_id: str) -> ConflictRecord:
    """Return the record of an open conflict by its id.

    Raises:
        NotFound: no conflict has this id, or it is resolved.
    """
    conflict = reader.load(ConflictRecord, (conflict_id,))
    if conflict is None:
        raise NotFound(f"no open conflict is called {conflict_id!r}", hint="reverie sync conflicts lists them")
    return conflict


def both_texts(reader: Reader, conflict: ConflictRecord) -> tuple[str, str]:
    """Return the current texts of the document and of the copy; a deleted copy is the text that the store had."""
    return _content(reader, conflict.path) or "", _copy_text(reader, conflict)


def conflict_page(reader: Reader, *, after: str, limit: int) -> wire.Page[wire.Conflict]:
    """Return one page of the open conflicts, oldest first."""
    rest = [conflict for conflict in open_conflicts(reader) if conflict.id > after]
    items = [_summary(conflict) for conflict in rest[:limit]]
    return wire.Page(items, items[-1].id if len(rest) > limit else None)


def conflict_answer(reader: Reader, conflict_id: str) -> wire.ConflictText:
    """Return one open conflict with both texts."""
    conflict = get(reader, conflict_id)
    file_text, store_text = both_texts(reader, conflict)
    differences = [wire.ConflictRegion(file=region.file, store=region.store) for region in conflict.regions]
    return mapped(
        _summary(conflict), wire.ConflictText, file_text=file_text, store_text=store_text, differences=differences
    )


def _summary(conflict: ConflictRecord) -> wire.Conflict:
    return mapped(
        conflict,
        wire.Conflict,
        reason="both_changed",
        operation=str(conflict.operation),
        regions=len(conflict.regions),
    )


# Resolving


def _conflict_files(reader: Reader, conflict_id: str, **_: Any) -> Files:
    """Return the files of a conflict, with the texts as they are before saves of people are committed."""
    conflict = reader.load(ConflictRecord, (conflict_id,))
    if conflict is None:
        return Files()
    return Files({conflict.path, conflict.copy}, seen=both_texts(reader, conflict))


@writes("conflict.resolve", answers=wire.Resolved, files=_conflict_files)
def resolve(
    to: Writer, by: By, conflict_id: str, *, keep: Keep | None = None, content: Text | None = None
) -> wire.Resolved:
    """Resolve a conflict: keep the file's or the store's words, both, or write `content`.

    Later changes of the document elsewhere stay. Raises Conflict if a text is not what the caller can have read, or if
    the choice and a later change overlap, and HeldForPerson where an agent's choice says what a person forgot.
    """
    if (keep is None) == (content is None):
        raise ValidationError(
            "say either which side to keep or the text", hint='give {"keep": "file"|"store"|"both"} or {"content": …}'
        )
    conflict = get(to, conflict_id)
    if by.seen is not None and by.seen != both_texts(to, conflict):
        raise Conflict("one of the texts was changed just now", hint="read both again, then decide")
    texts: dict[str, NewText | None] = {}
    if content is not None:
        texts[conflict.path] = NewText(content)
    elif keep is not None and keep != "file":
        texts[conflict.path] = NewText(_resolved_text(to, conflict, keep))
    if to.load(DocumentRecord, (conflict.copy,)) is not None:
        texts[conflict.copy] = None
    put_texts(to, texts, by)
    _close(to, conflict)
    document = to.load(DocumentRecord, (conflict.path,))
    hold_forgotten(to, document, who=by.who)
    etag = None if document is None else document.sha256
    return wire.Resolved(id=conflict_id, path=conflict.path, etag=etag, operation=str(to.number))


def _resolved_text(reader: Reader, conflict: ConflictRecord, keep: Keep) -> str:
    """Return the document with the store's words instead of the person's ("store"), or after them ("both").

    The choice is applied to the document as it was when the conflict was opened, and the result is merged with the
    changes since: so edits elsewhere stay. Of a deleted document only the copy is left.
    """
    now = _content(reader, conflict.path)
    copy = _copy_text(reader, conflict)
    if now is None:
        return copy
    opened = _text_when_opened(reader, conflict)
    regions = conflict.regions if copy == conflict.text else ()  # an edited copy is taken as a whole
    if regions:
        chosen = _with_store_words(opened, regions, keep)
    else:
        chosen = _appended(opened, copy) if keep == "both" else copy
    merged = merge3(opened, now, chosen)
    if not merged.clean:
        raise Conflict(
            f"{conflict.path} was changed in the same places since",
            hint="say the text yourself: reverie sync resolve ID --content FILE",
            conflicts=len(merged.conflicts),
        )
    return merged.text


def _content(reader: Reader, path: str) -> str | None:
    document = reader.load(DocumentRecord, (path,))
    return None if document is None else document.content


def _copy_text(reader: Reader, conflict: ConflictRecord) -> str:
    """Return the current text of the conflict copy; of a deleted one, the text that the store had."""
    copy = _content(reader, conflict.copy)
    return conflict.text if copy is None else copy


def _text_when_opened(reader: Reader, conflict: ConflictRecord) -> str:
    """Return the document as the operation that opened the conflict left it: with the person's words in place."""
    path = conflict.opened_path or conflict.path
    for version in reader.record_versions(DocumentRecord, (path,)):
        if version.operation <= conflict.operation and version.value is not None:
            return version.value.content
    raise Conflict(f"the version of {conflict.path} that this is about is no longer kept", hint="give `content`")


def _with_store_words(text: str, regions: Sequence[RegionRecord], keep: Keep) -> str:
    """Return the text with the store's words in each region: after the person's for `both`, else in their place.

    From the last region to the first, so that the offsets of the others stay right.
    """
    places = [(_offset(text, region), region) for region in regions]
    for begin, region in sorted(places, key=lambda item: item[0], reverse=True):
        end = begin + len(region.file)
        text = text[: end if keep == "both" else begin] + region.store + text[end:]
    return text


def _offset(text: str, region: RegionRecord) -> int:
    """Return the offset of a region in characters: the stored one, or that of the only occurrence of its words.

    Regions of an older version have no offset. Words that occur twice could be replaced at the wrong place:
    with "- Cat: Tom" in two lists, nobody knows which of them the conflict is about.
    """
    if region.at is not None and text.startswith(region.file, region.at):
        return region.at
    offset = text.find(region.file)
    if not region.file or offset < 0 or text.find(region.file, offset + 1) >= 0:
        raise Conflict(
            "it is not known for certain where a place of the conflict is",
            hint="say the text yourself: reverie sync resolve ID --content FILE",
        )
    return offset


def _appended(text: str, other: str) -> str:
    return text + ("" if text.endswith("\n") else "\n") + "\n" + other
