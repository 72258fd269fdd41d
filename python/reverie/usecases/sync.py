"""The store's side of two-way sync: what a scan of a folder is decided from, and the commits of its plan."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import dropwhile, islice
from pathlib import PurePosixPath

from reverie.errors import Conflict
from reverie.paths import is_reserved as is_projected
from reverie.store import BaselineRecord, DocumentRecord, Kind, OperationRecord, Reader, RootCursor, Writer
from reverie.sync.plan import (
    Baseline,
    ConflictCopy,
    Delete,
    Move,
    PathState,
    Plan,
    Put,
    SaveNotice,
    StoredDocument,
    Version,
    is_own_write,
    sha256,
)
from reverie.sync.root import KnownRoot
from reverie.usecases import conflicts
from reverie.usecases.by import By, writes
from reverie.usecases.projections import WHY_LISTED
from reverie.usecases.put import NewText, put_texts, with_unrecorded_texts

WHO = "person"  # the author of every operation that commits saved files
WHY = "files.edited"
PART_BYTES = 128 * 1024  # of text in one commit, unless one group of paths has more
PART_PATHS = 32  # in one commit
SMALL_CHARS = 1_000_000  # of all versions that a save may derive from: more are compared only while they have fewer
SMALL_TIMES = 5  # so many times more versions of small documents
SEARCHED_MAX = 500  # versions among which a file's exact text is looked for: an older folder may be days old
REPLACED_TIMES = 5  # late writes need so many times more versions: many may have been written since


# What a scan is decided from


def baselines(reader: Reader) -> dict[str, Baseline]:
    """Return the baseline of every path: its last agreed state between folder and store."""
    return {record.path: record.baseline for _, record in reader.records(BaselineRecord[Baseline])}


def unrecorded_baselines(reader: Reader) -> dict[str, Baseline]:
    """Return the baseline of every path, with what a killed daemon may have done to the file since.

    One whose document is deleted has no file, as far as the store knows: it may have been removed.
    """
    recorded = baselines(reader)
    documents = {record.path for _, record in reader.records(DocumentRecord)}
    paths = {path for path in {*recorded, *documents} if not is_projected(PurePosixPath(path))}
    known = {path: with_unrecorded_texts(reader, path, recorded.get(path)) for path in paths}
    for path in paths - documents:
        known[path] = replace(known[path], sha256="", intended=known[path].intended | {known[path].sha256})
    return known


def path_state(
    reader: Reader,
    path: str,
    baseline: Baseline | None,
    data: bytes | None,
    *,
    versions_max: int,
    disk_sha256: str | None = None,
    saved_at: int | None = None,
    replaced_by: int | None = None,
    file_id: tuple[int, int] | None = None,
    baseline_file_id: tuple[int, int] | None = None,
) -> PathState:
    """Return the PathState of one path: file, document, versions and baseline; arguments as its fields.

    The earlier versions of the document are read only if the file may have to be merged: they cost a read each.
    """
    record = reader.load(DocumentRecord, (path,))
    document = None
    if record is not None:
        operation = reader.version(Kind.DOCUMENT, (path,)) or 0
        document = StoredDocument(path, record.content, operation, tuple(record.ids))
    versions: tuple[Version, ...] = ()
    if (baseline is not None or document is not None) and not _is_unmodified(document, baseline, data, disk_sha256):
        versions = _versions(reader, path, baseline, versions_max, replaced_by)
    return PathState(
        path,
        document,
        baseline,
        data,
        versions,
        disk_sha256=disk_sha256,
        saved_at=saved_at,
        replaced_by=replaced_by,
        file_id=file_id,
        baseline_file_id=baseline_file_id,
    )


def older_version(reader: Reader, state: PathState, text: str, *, is_one: bool) -> Version | None:
    """Return the earlier version whose exact redacted `text` a saved file has, if agents or engines wrote since.

    At most `SEARCHED_MAX` versions are compared. None too for what an open editor may just have saved itself. What the
    store got after the text that the disk showed last does not count: such a save would not revert it. `is_one`: a scan
    noticed no other file.
    """
    # Only for several files is it worth reading days of versions: a single one is nearly always an ordinary save.
    # If its text is among the versions that were read to merge it, it may be the first of several to be noticed.
    if is_one and all(version.text != text for version in state.versions):
        return None
    baseline = state.baseline
    if baseline is None or not baseline.operation or state.document is None or text == state.document.text:
        return None
    if baseline.saved is not None and text == baseline.saved.text:
        return None
    shown = dropwhile(partial(_is_after, baseline.operation), _texts(reader, state.path))
    is_others = False
    for version in islice(shown, SEARCHED_MAX):
        if version.text == text:
            return version if is_others else None
        is_others = is_others or _why(reader, version.operation) not in {WHY, WHY_LISTED}
    return None


def _why(reader: Reader, operation: int) -> str | None:
    record = reader.load(OperationRecord, (operation,))
    return None if record is None else record.why


def _is_unmodified(
    document: StoredDocument | None, baseline: Baseline | None, data: bytes | None, disk_sha256: str | None
) -> bool:
    """Return True if the file has the bytes that sync itself wrote last, so that it needs no merge."""
    if document is None or baseline is None or data is None:
        return False
    digest = sha256(data)
    return disk_sha256 in {None, digest} and is_own_write(baseline, digest)


def _versions(
    reader: Reader, path: str, baseline: Baseline | None, most: int, replaced_by: int | None
) -> tuple[Version, ...]:
    """Return the candidates for a merge base, newest first: the last `most` versions, or more of a small document.

    For a late write, more of those from before `replaced_by`: the replaced file showed one of them. Else, if all of
    these are newer than the baseline, also the baseline's version, however old, and those before it: while the folder
    could not be written, the newer ones were never on disk, and every save derives from an older one.
    """
    past = _texts(reader, path)
    wanted = list(islice(past, most))
    if baseline is not None and replaced_by is None:
        # An agent that works for an hour writes more versions while an editor is open. Short texts are cheap.
        room = SMALL_CHARS - sum(len(version.text) for version in wanted)
        for version in islice(past, (SMALL_TIMES - 1) * most):
            room -= len(version.text)
            wanted.append(version)
            if room < 0:
                break
    if replaced_by is not None:
        wanted += islice((version for version in past if version.operation < replaced_by), REPLACED_TIMES * most)
    elif (
        baseline is not None
        and baseline.operation
        and all(version.operation > baseline.operation for version in wanted)
    ):
        shown = list(islice(dropwhile(partial(_is_after, baseline.operation), past), most))
        wanted += shown if shown and shown[0].operation == baseline.operation else []
    return tuple(replace(version, by_person=_why(reader, version.operation) == WHY) for version in wanted)


def _is_after(operation: int, version: Version) -> bool:
    return version.operation > operation


def _texts(reader: Reader, path: str) -> Iterator[Version]:
    """Yield every version of a document, newest first.

    Versions from before the document was deleted and created again are marked `former`.
    """
    exists = former = False
    for version in reader.record_versions(DocumentRecord, (path,)):
        if version.value is None:
            former = exists
        else:
            exists = True
            yield Version(version.operation, version.value.content, former)


# Commits


def split_plan(plan: Plan, *, most: int = PART_PATHS) -> Iterator[Plan]:
    """Yield the store's side of a plan as smaller plans, committed one by one; baselines alone make plans too.

    Both paths of a move stay together, and a conflict copy with its document. Otherwise a part has at most `most`
    paths, so that a large first scan leaves room for other writes between its commits. A save that left lines out is a
    part of its own, so that an undo of its operation concerns no other file.
    """
    part_of = {path: number for number, group in enumerate(_groups(plan, plan.paths, most)) for path in group}
    parts: dict[int, _Part] = defaultdict(_Part)
    for put in plan.puts:
        parts[part_of[put.path]].puts.append(put)
    for delete in plan.deletes:
        parts[part_of[delete.path]].deletes.append(delete)
    for baseline in plan.baselines:
        parts[part_of[baseline.path]].baselines.append(baseline)
    for path in plan.removed_baselines:
        parts[part_of[path]].removed_baselines.append(path)
    for copy in plan.copies:
        parts[part_of[copy.path]].copies.append(copy)
    for move in plan.moves:
        parts[part_of[move.new]].moves.append(move)
    for join in plan.joins:
        parts[part_of[join.new]].joins.append(join)
    for notice in plan.notices:
        parts[part_of[notice.path]].notices.append(notice)
    return (parts[number].plan() for number in sorted(parts))


@dataclass(slots=True)
class _Part:
    """The parts of a smaller plan while it is being filled."""

    puts: list[Put] = field(default_factory=list)
    deletes: list[Delete] = field(default_factory=list)
    baselines: list[Baseline] = field(default_factory=list)
    removed_baselines: list[str] = field(default_factory=list)
    copies: list[ConflictCopy] = field(default_factory=list)
    moves: list[Move] = field(default_factory=list)
    joins: list[Move] = field(default_factory=list)
    notices: list[SaveNotice] = field(default_factory=list)

    def plan(self) -> Plan:
        return Plan(
            puts=tuple(self.puts),
            deletes=tuple(self.deletes),
            baselines=tuple(self.baselines),
            removed_baselines=tuple(self.removed_baselines),
            copies=tuple(self.copies),
            moves=tuple(self.moves),
            joins=tuple(self.joins),
            notices=tuple(self.notices),
        )


def _groups(plan: Plan, paths: set[str], most: int) -> Iterator[set[str]]:
    """Yield the sets of paths that are committed together, first those with document changes."""
    linked = _linked_paths(plan)
    sizes = {put.path: len(put.text) for put in plan.puts}
    writes = {*sizes, *(delete.path for delete in plan.deletes)}
    alone = {notice.path for notice in plan.notices if notice.left_out or notice.memories}
    part: set[str] = set()
    size = 0
    for path in (*sorted(writes), *sorted(paths - writes)):
        group = linked.get(path, {path})
        if path != min(group) and min(group) in paths:
            continue  # the whole group is added with its first path
        if alone & group:
            yield group
            continue
        weight = sum(sizes.get(member, 0) for member in group)
        if part and (size + weight > PART_BYTES or len(part) + len(group) > most):
            yield part
            part, size = set(), 0
        part |= group
        size += weight
    if part:
        yield part


def _linked_paths(plan: Plan) -> dict[str, set[str]]:
    """Return, for each path of a move, a join, a conflict or of `together`, the paths to be committed with it."""
    together = set(plan.together & plan.paths)
    linked: dict[str, set[str]] = dict.fromkeys(together, together)
    pairs = [(move.old, move.new) for move in (*plan.moves, *plan.joins)] + [
        (copy.path, copy.copy_path) for copy in plan.copies
    ]
    for one, other in pairs:
        group = linked.get(one, {one}) | linked.get(other, {other})
        linked.update(dict.fromkeys(group, group))
    return linked


def first_puts(plan: Plan) -> Plan | None:
    """Return the puts of earlier texts that must be stored before the plan's own puts; None if there are none."""
    puts = tuple(Put(put.path, put.before, put.basis) for put in plan.puts if put.before is not None)
    return Plan(puts=puts) if puts else None


def with_bases(plan: Plan, operations: Mapping[str, int]) -> Plan:
    """Return the plan with each put that has a `before` text based on the operation that committed that text."""
    puts = (put if put.before is None else Put(put.path, put.text, operations[put.path]) for put in plan.puts)
    return replace(plan, puts=tuple(puts))


@writes(WHY)
def commit(to: Writer, by: By, plan: Plan) -> dict[str, int]:
    """Commit a part of a plan: documents, memories, conflicts, baselines and events.

    Returns the operation of each document that it put, by path. Raises Conflict with `details["stale"]` if a document
    has changed since the plan was made; then the paths are scanned again.
    """
    changes: list[Put | Delete] = [*plan.puts, *plan.deletes]
    for change in changes:
        if to.version(Kind.DOCUMENT, (change.path,)) != change.basis:
            raise Conflict(f"{change.path} changed meanwhile", hint="try again", stale=True)
    deleted = [delete.path for delete in plan.deletes]
    put_texts(
        to,
        {**{put.path: NewText(put.text) for put in plan.puts}, **dict.fromkeys(deleted)},
        by,
        forgets=True,
    )
    # Moves before deletions: a moved copy is a deletion of its old path, which must not close its conflict.
    moves = {move.old: move.new for move in plan.moves}
    conflicts.follow_moves(to, moves, [put.path for put in plan.puts])
    for copy in plan.copies:
        conflicts.open_(to, copy, by.new_id("cnf"), to.at)
    conflicts.close_deleted(to, deleted)
    for notice in plan.notices:
        if notice.kept:
            to.event("lines.kept", {"path": notice.path, "lines": notice.kept})
        if notice.left_out:
            to.event("lines.left_out", {"path": notice.path, "lines": notice.left_out})
    operations = {put.path: to.version(Kind.DOCUMENT, (put.path,)) or 0 for put in plan.puts}
    saved = [baseline.with_operation(operations.get(baseline.path, 0)) for baseline in plan.baselines]
    _save(to, saved, plan.removed_baselines, to.at)
    return operations


def known_root(reader: Reader) -> KnownRoot | None:
    """Return the folder that a space used last, or None."""
    cursor = reader.load(RootCursor, RootCursor.KEY)
    return None if cursor is None else KnownRoot(cursor.device, cursor.inode, cursor.mark)


@writes("files.recorded", bulk=True)
def save_baselines(
    to: Writer, _: By, saved: Iterable[Baseline], removed: Iterable[str], root: KnownRoot | None = None
) -> None:
    """Save and remove baselines, and save `root`; bookkeeping, so it becomes no operation."""
    saved, removed = list(saved), list(removed)
    _save(to, saved, removed, to.at)
    if root is not None:
        to.save(RootCursor(**root._asdict()), RootCursor.KEY)


@writes("files.begun_anew")
def reset_baselines(to: Writer, _: By, root: KnownRoot | None = None) -> None:
    """Replace all baselines when the folder is replaced by `root`: no file in it is known.

    So a file that is missing there is written instead of its document deleted, and a file that exists is compared with
    the document and its versions.
    """
    documents = (document for _, document in to.records(DocumentRecord))
    intended = [
        Baseline(document.path, "", 0, intended=frozenset({sha256(document.content.encode())}))
        for document in documents
        if not is_projected(PurePosixPath(document.path))
    ]
    for key in [key for key, _ in to.records(BaselineRecord[Baseline])]:
        to.delete(Kind.BASELINE, key)
    _save(to, intended, (), to.at)
    if root is not None:
        to.save(RootCursor(**root._asdict()), RootCursor.KEY)


def _save(writer: Writer, saved: Iterable[Baseline], removed: Iterable[str], at: str) -> None:
    for baseline in saved:
        writer.save(BaselineRecord(path=baseline.path, baseline=baseline, at=at), (baseline.path,))
    for path in removed:
        writer.delete(Kind.BASELINE, (path,))
