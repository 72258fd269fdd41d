"""The history of a space: operations, versions and differences of documents, archives, and its retention."""

from __future__ import annotations

import re
from collections.abc import Iterable

from reverie import wire
from reverie.decode import mapped
from reverie.errors import NotFound, ValidationError
from reverie.lazy_regex import lazy_regex
from reverie.store import (
    RULES,
    ArchiveRecord,
    ChangeRecord,
    DocumentRecord,
    Kind,
    MemoryRecord,
    OperationRecord,
    Reader,
    StoredRecord,
    VersionsCursor,
    Writer,
)
from reverie.store.versions import Rules, Step
from reverie.usecases import documents
from reverie.usecases.by import By, writes
from reverie.usecases.projections import WHY_LISTED
from reverie.usecases.projects import moved_threads
from reverie.usecases.put import NewText

_DIGITS_MAX = 18  # of an operation's number: it fits into 64 bits
_SHA256 = lazy_regex(r"[0-9a-f]{64}")


# Operations


def get(reader: Reader, seq: int) -> OperationRecord:
    """Return the record of an operation by its number.

    Raises:
        NotFound: no operation has this number in this space.
    """
    record = reader.load(OperationRecord, (seq,))
    if record is None:
        raise NotFound(f"there is no operation {seq}", hint="reverie log lists them")
    return record


def require(reader: Reader, seq: int) -> None:
    """Check that there is an operation `seq`; 0 means the state before the first one.

    Raises:
        NotFound: no operation has this number in this space.
    """
    if seq:
        get(reader, seq)


def operation_number(text: str) -> int:
    """Return the number of an operation, parsed from its text; 0 means the state before the first one.

    Raises:
        ValidationError: the text is no such number.
    """
    if not (text.isascii() and text.isdigit() and len(text) <= _DIGITS_MAX):
        raise ValidationError(f"{text[:40]!r} is not the number of an operation", hint="reverie log lists them")
    return int(text)


def operation_answer(reader: Reader, record: OperationRecord) -> wire.Operation:
    """Return an operation as the API shows it."""
    undone = undone_by(record)
    return mapped(
        record,
        wire.Operation,
        id=str(record.seq),
        parent=str(record.parent) if record.parent else None,
        changes=change_answers(record),
        undoable=is_undoable(reader, record),
        undoes=None if undone is None else str(undone),
    )


def undone_by(record: OperationRecord) -> int | None:
    """Return the operation that an operation is the undo of; None for any other one."""
    undone = re.fullmatch(r"undo (\d+)", record.why)
    return None if undone is None else int(undone[1])


def is_way_back(record: OperationRecord) -> bool:
    """Return True for an operation that is an undo or a rollback."""
    return re.fullmatch(r"(?:undo|rollback to) \d+", record.why) is not None


def change_answers(record: OperationRecord) -> list[wire.OperationChange]:
    """Return an operation's changes as the API shows them: each of one record, or of a run of a sequence."""
    return [_change_answer(change) for change in record.changes]


def _change_answer(change: ChangeRecord) -> wire.OperationChange:
    is_run = change.first is not None
    return wire.OperationChange(
        kind=change.kind.value,
        key=change.key,
        before=wire.ABSENT if is_run else change.before,
        after=wire.ABSENT if is_run else change.after,
        first=change.first if is_run else wire.ABSENT,
        last=change.last if is_run else wire.ABSENT,
        purged=True if change.purged else wire.ABSENT,
    )


def is_undoable(reader: Reader, record: OperationRecord) -> bool:
    """Return True if an operation changed something that undo can restore, and nothing that forbids an undo.

    An update of the list in MEMORY.md is not undoable: the next one would make it again at once. Neither is one on
    memories or documents that are all purged, or one that is undone already.
    """
    rules = {RULES[change.kind].undo for change in record.changes if change.kind is not Kind.MEMORY}
    return (
        record.why != WHY_LISTED
        and ("restore" in rules or bool(moved_threads(reader, record)))
        and "refuse" not in rules
        and not any(change.purged for change in record.changes)
        and not _is_purged(reader, record)
        and not _is_undone(reader, record)
    )


def _is_undone(reader: Reader, record: OperationRecord) -> bool:
    """Return True if an undo of this operation is what last changed one of its records: it reverts all or nothing."""
    restorable = (change for change in record.changes if RULES[change.kind].undo == "restore")
    later = {reader.latest(change.kind, tuple(change.key)) or 0 for change in restorable} - {record.seq}
    operations = (reader.load(OperationRecord, (number,)) for number in later)
    return any(one is not None and undone_by(one) == record.seq for one in operations)


def _is_purged(reader: Reader, record: OperationRecord) -> bool:
    """Return True if an operation changed only memories and documents, and a purge has left no version of them."""
    kinds = {change.kind for change in record.changes if RULES[change.kind].undo == "restore"}
    if not kinds <= {Kind.MEMORY, Kind.DOCUMENT, Kind.FORGOTTEN}:
        return False
    # Of an operation on memories the documents are what it wrote them into.
    type_: type[StoredRecord] = MemoryRecord if Kind.MEMORY in kinds else DocumentRecord
    keys = [tuple(change.key) for change in record.changes if change.kind is type_.KIND]
    return bool(keys) and not any(next(reader.record_versions(type_, key), None) for key in keys)


# Versions of documents


def document_versions(reader: Reader, path: str) -> wire.Page[wire.DocumentVersion]:
    """Return every version of a document, oldest first, each with the operation that wrote it.

    Raises:
        NotFound: there never was a document at this path.
    """
    items = []
    for version in documents.versions(reader, path):
        operation = reader.load(OperationRecord, (version.operation,))
        document = version.value
        items.append(
            wire.DocumentVersion(
                operation=str(version.operation),
                at=version.at,
                who="" if operation is None else operation.who,
                why="" if operation is None else operation.why,
                etag=None if document is None else document.sha256,
                size=None if document is None else document.size,
                summary=None if document is None else document.summary,
            )
        )
    return wire.Page(items)


def difference(reader: Reader, query: wire.DifferenceQuery) -> wire.DifferenceAnswer:
    """Return the documents that differ between two operations, with both texts; up to the newest without `to`.

    Raises:
        NotFound: an operation or the document does not exist, or a version is no longer stored.
        ValidationError: not the number of an operation, or not a path.
    """
    start = operation_number(query.from_)
    end = reader.operation() if query.to is None else operation_number(query.to)
    for seq in (start, end):
        require(reader, seq)
    paths = None if query.path is None else [documents.readable_path(query.path)]
    for path in paths or ():
        documents.versions(reader, path)
    since = min(start, end)
    before = texts_at(reader, start, paths=paths, since=since)
    after = texts_at(reader, end, paths=paths, since=since)
    items = []
    for path, old in before.items():
        new = after[path]
        old_text, new_text = None if old is None else old.text, None if new is None else new.text
        if old_text != new_text:
            items.append(wire.Difference(path=path, before=old_text, after=new_text))
    return wire.DifferenceAnswer(items=items, from_=str(start), to=str(end))


def texts_at(
    reader: Reader, operation: int, *, paths: Iterable[str] | None = None, since: int | None = None
) -> dict[str, NewText | None]:
    """Return the documents at `paths` as they were after `operation`; None for one that did not exist.

    Without `paths`, those that changed after `since` (by default: after `operation`).
    """
    if paths is None:
        paths = reader.touched(Kind.DOCUMENT, operation if since is None else since)
    return {path: text_at(reader, path, operation) for path in paths}


def text_at(reader: Reader, path: str, operation: int) -> NewText | None:
    """Return a document as it was after `operation`, with the ids of its blocks; None if it did not exist.

    Raises:
        NotFound: its versions of that time are no longer stored.
    """
    versions = reader.record_history(DocumentRecord, (path,))
    past = [version for version in versions if version.operation <= operation]
    if not past:
        first = versions[0].value if versions else None
        if first is not None and first.version > 1:  # the oldest stored version is not the first one
            raise NotFound(
                f"the version of {path} at operation {operation} is no longer kept",
                hint="superseded versions are pruned after retention.versionDays",
            )
        return None
    value = past[-1].value
    return None if value is None else NewText(value.content, value.ids)


# Archives


def archive_body(reader: Reader, address: str) -> bytes:
    """Return the canonical bytes of an archive; their SHA-256 is the address.

    Raises:
        NotFound: there is no archive with this address.
    """
    record = reader.load(ArchiveRecord, (address,)) if _SHA256.fullmatch(address) else None
    if record is None:
        raise NotFound(f"there is no archive {address[:64]!r}", hint="reverie archives list shows them")
    return record.body.encode()


# Retention


@writes("retention", bulk=True)
def prune_step(to: Writer, _: By, rules: Rules, cursor: str | None) -> Step:
    """Delete a bounded number of records older than the retention rules allow.

    Bookkeeping, so it becomes no operation.
    """
    return to.prune(rules, cursor)


@writes("versions.shorten", bulk=True)
def shorten_step(to: Writer, _: By) -> bool:
    """Convert some whole versions of older releases to edits; return True after the last.

    It goes on where the last step ended, also after a restart. Bookkeeping, so it becomes no operation.
    """
    cursor = to.load(VersionsCursor, VersionsCursor.KEY) or VersionsCursor()
    if cursor.done:
        return True
    after = to.shorten_versions(cursor.after)
    to.save(VersionsCursor(after=after or "", done=after is None), VersionsCursor.KEY)
    return after is None
