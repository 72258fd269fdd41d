"""What one look at a folder is decided from, and what is committed of it: the store's side of two-way sync."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import islice
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import msgspec

from reverie.errors import Conflict
from reverie.paths import is_reserved as is_projected
from reverie.store import Kind, Write
from reverie.sync.plan import Plan
from reverie.sync.state import Baseline, PathState, StoredDocument, Version, is_own_write, sha256
from reverie.usecases import conflicts
from reverie.usecases.writing import Given, put_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from reverie.store import Reader, Writer
    from reverie.sync.plan import ConflictCopy, Delete, Move, Put

__all__ = ["WHY", "begun_anew", "case", "commit", "known", "parts", "recorded"]

WHO = "person"
WHY = "files.edited"
PART_BYTES = 128 * 1024  # of text in one commit, when nothing ties the paths together
PART_PATHS = 32
REPLACED_TIMES = 5  # so many times more versions where somebody wrote into a replaced file: many may have come since


def known(reader: Reader) -> dict[str, Baseline]:
    """What folder and store last agreed on, by path."""
    return {record["path"]: msgspec.convert(record["known"], Baseline) for _, record in reader.scan(Kind.BASELINE)}


def case(
    reader: Reader,
    path: str,
    agreed: Baseline | None,
    seen: bytes | None,
    *,
    versions_max: int,
    disk: str | None = None,
    saved_at: int | None = None,
    replaced_by: int | None = None,
    file: tuple[int, int] | None = None,
    was_file: tuple[int, int] | None = None,
) -> PathState:
    """All that is known of one path; its earlier texts only where it may have to be merged."""
    record = reader.get(Kind.DOCUMENT, (path,))
    held = None
    if record is not None:
        operation = reader.version(Kind.DOCUMENT, (path,)) or 0
        held = StoredDocument(path, record["content"], operation, tuple(record["ids"]))
    versions: tuple[Version, ...] = ()
    if (agreed is not None or held is not None) and not _is_as_left(held, agreed, seen, disk):
        versions = _versions(reader, path, agreed, versions_max, replaced_by)
    return PathState(path, held, agreed, seen, versions, disk, saved_at, replaced_by, file, was_file)


def _is_as_left(held: StoredDocument | None, agreed: Baseline | None, seen: bytes | None, disk: str | None) -> bool:
    """Whether nobody but us wrote the file there is, so that nothing can have to be merged."""
    if held is None or agreed is None or seen is None:
        return False
    found = sha256(seen)
    return disk in {None, found} and is_own_write(agreed, found)


def _versions(
    reader: Reader, path: str, agreed: Baseline | None, most: int, replaced_by: int | None
) -> tuple[Version, ...]:
    """The texts of a document, newest first: the last ones, also those before another, and what the folder showed."""
    past = _texts(reader, path)
    wanted = list(islice(past, most))
    if replaced_by is not None:
        wanted += islice((version for version in past if version.operation < replaced_by), REPLACED_TIMES * most)
    elif agreed is not None and agreed.operation and not any(each.operation <= agreed.operation for each in wanted):
        older = next((version for version in past if version.operation <= agreed.operation), None)
        wanted += [] if older is None or older.operation != agreed.operation else [older]
    return tuple(wanted)


def _texts(reader: Reader, path: str) -> Iterator[Version]:
    """Every text of a document, newest first; those from before it was deleted and made anew are marked so."""
    anew = former = False
    for version in reader.past(Kind.DOCUMENT, (path,)):
        if version.value is None:
            former = anew
        else:
            anew = True
            yield Version(version.operation, version.value["content"], former)


def parts(plan: Plan, *, most: int = PART_PATHS) -> Iterator[Plan]:
    """The store's side of the plan in plans that are committed one by one; those that hold nothing but records too.

    What belongs together stays so: both paths of a move, and a copy with the path that it is of. Else a part has so
    many paths at `most`.
    """
    place = {path: number for number, group in enumerate(_groups(plan, plan.paths, most)) for path in group}
    split: dict[int, _Part] = defaultdict(_Part)
    for put in plan.puts:
        split[place[put.path]].puts.append(put)
    for delete in plan.deletes:
        split[place[delete.path]].deletes.append(delete)
    for record in plan.baselines:
        split[place[record.path]].records.append(record)
    for path in plan.removed_baselines:
        split[place[path]].forgotten.append(path)
    for copy in plan.copies:
        split[place[copy.path]].copies.append(copy)
    for move in plan.moves:
        split[place[move.new]].moves.append(move)
    return (split[number].plan() for number in sorted(split))


@dataclass(slots=True)
class _Part:
    puts: list[Put] = field(default_factory=list)
    deletes: list[Delete] = field(default_factory=list)
    records: list[Baseline] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)
    copies: list[ConflictCopy] = field(default_factory=list)
    moves: list[Move] = field(default_factory=list)

    def plan(self) -> Plan:
        return Plan(
            puts=tuple(self.puts),
            deletes=tuple(self.deletes),
            baselines=tuple(self.records),
            removed_baselines=tuple(self.forgotten),
            copies=tuple(self.copies),
            moves=tuple(self.moves),
        )


def _groups(plan: Plan, paths: set[str], most: int) -> Iterator[set[str]]:
    """The paths in sets that are committed together, those first in which a document changes."""
    tied = _tied(plan)
    sizes = {put.path: len(put.text) for put in plan.puts}
    writes = {*sizes, *(delete.path for delete in plan.deletes)}
    part: set[str] = set()
    size = 0
    for path in (*sorted(writes), *sorted(paths - writes)):
        group = tied.get(path, {path})
        if path != min(group) and min(group) in paths:
            continue
        weight = sum(sizes.get(each, 0) for each in group)
        if part and (size + weight > PART_BYTES or len(part) + len(group) > most):
            yield part
            part, size = set(), 0
        part |= group
        size += weight
    if part:
        yield part


def _tied(plan: Plan) -> dict[str, set[str]]:
    tied: dict[str, set[str]] = {}
    pairs = [(move.old, move.new) for move in plan.moves] + [(copy.path, copy.copy_path) for copy in plan.copies]
    for one, other in pairs:
        group = tied.get(one, {one}) | tied.get(other, {other})
        tied.update(dict.fromkeys(group, group))
    return tied


def commit(plan: Plan, *, space: str, at: str, new_id: Callable[[str], str]) -> Write[dict[str, int]]:
    """Takes in what people wrote: documents, their memories, conflicts, and what is agreed on from now.

    `plan` is a part as `parts` gives them. The body answers with the operation of each document that was put. It raises
    Conflict with `details["stale"]` where a document has changed since the plan was made.
    """

    def body(writer: Writer) -> dict[str, int]:
        changes: list[Put | Delete] = [*plan.puts, *plan.deletes]
        for each in changes:
            if writer.version(Kind.DOCUMENT, (each.path,)) != each.basis:
                raise Conflict(f"{each.path} changed meanwhile", hint="try again", stale=True)
        deleted = [delete.path for delete in plan.deletes]
        put_texts(
            writer,
            {**{put.path: Given(put.text) for put in plan.puts}, **dict.fromkeys(deleted)},
            author="person",
            at=at,
            new_id=lambda: new_id("mem"),
            provenance={"by": WHO},
        )
        conflicts.follow(writer, {move.old: move.new for move in plan.moves}, [put.path for put in plan.puts])
        for copy in plan.copies:
            conflicts.open_(writer, copy, new_id("cnf"), at)
        conflicts.close_gone(writer, deleted)
        became = {put.path: writer.version(Kind.DOCUMENT, (put.path,)) or 0 for put in plan.puts}
        _record(writer, [record.with_operation(became.get(record.path, 0)) for record in plan.baselines], at)
        for path in plan.removed_baselines:
            writer.delete(Kind.BASELINE, (path,))
        return became

    return Write(space=space, who=WHO, why=WHY, body=body)


def recorded(space: str, records: Iterable[Baseline], forgotten: Iterable[str], *, at: str) -> Write[None]:
    """Notes what folder and store agree on; bookkeeping, so no operation comes of it."""
    kept, gone = list(records), list(forgotten)

    def body(writer: Writer) -> None:
        _record(writer, kept, at)
        for path in gone:
            writer.delete(Kind.BASELINE, (path,))

    return Write(space=space, who="sync", why="files.recorded", body=body)


def begun_anew(space: str, *, at: str) -> Write[None]:
    """Notes that every document is about to be written, and no file is known to be there: for another folder.

    So a file that is missing there is written, and one that is there is compared with what the store says and said.
    """

    def body(writer: Writer) -> None:
        documents = (record for _, record in writer.scan(Kind.DOCUMENT))
        records = [
            Baseline(each["path"], "", 0, intended=frozenset({sha256(each["content"].encode())}))
            for each in documents
            if not is_projected(PurePosixPath(each["path"]))
        ]
        for key in [key for key, _ in writer.scan(Kind.BASELINE)]:
            writer.delete(Kind.BASELINE, key)
        _record(writer, records, at)

    return Write(space=space, who="sync", why="files.begun_anew", body=body)


def _record(writer: Writer, records: Iterable[Baseline], at: str) -> None:
    for record in records:
        writer.put(Kind.BASELINE, (record.path,), {"path": record.path, "known": msgspec.to_builtins(record), "at": at})
