"""What one look at a folder is decided from, and what is committed of it: the store's side of two-way sync."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from reverie.engine import conflicts
from reverie.engine.writing import Given, put_texts
from reverie.errors import Conflict
from reverie.store import Kind, Write
from reverie.sync.values import Case, Held, Known, Version

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from reverie.store import Reader, Writer
    from reverie.sync.values import Plan

__all__ = ["WHY", "case", "commit", "known", "parts", "recorded"]

WHO = "person"
WHY = "files.edited"
PART_BYTES = 128 * 1024  # of text in one commit, when nothing ties the paths together
PART_PATHS = 32
REPLACED_TIMES = 5  # so many times more versions where somebody wrote into a replaced file: many may have come since


def known(reader: Reader) -> dict[str, Known]:
    """What folder and store last agreed on, by path."""
    return {record["path"]: msgspec.convert(record["known"], Known) for _, record in reader.scan(Kind.PUBLISHED)}


def case(
    reader: Reader,
    path: str,
    agreed: Known | None,
    seen: bytes | None,
    *,
    versions_max: int,
    disk: str | None = None,
    reverted: bool = False,
    saved_at: int | None = None,
    replaced_by: int | None = None,
) -> Case:
    """All that is known of one path; its earlier texts only where it may have to be merged."""
    record = reader.get(Kind.DOCUMENT, (path,))
    held = None
    if record is not None:
        operation = reader.version(Kind.DOCUMENT, (path,)) or 0
        held = Held(path, record["content"], operation, tuple(record["ids"]))
    versions = (
        _versions(reader, path, agreed, versions_max, replaced_by) if agreed is not None or held is not None else ()
    )
    return Case(path, held, agreed, seen, versions, reverted, disk, saved_at, replaced_by)


def _versions(
    reader: Reader, path: str, agreed: Known | None, most: int, replaced_by: int | None
) -> tuple[Version, ...]:
    """The texts of a document, newest first: the last ones, also those before another, and what the folder showed."""
    past = [version for version in reader.history(Kind.DOCUMENT, (path,)) if version.value is not None]
    wanted = past[-most:]
    if replaced_by is not None:
        older = [version for version in past[:-most] if version.operation < replaced_by]
        wanted = older[-REPLACED_TIMES * most :] + wanted
    elif agreed is not None and agreed.operation:
        wanted = [version for version in past[:-most] if version.operation == agreed.operation] + wanted
    return tuple(Version(version.operation, version.value["content"]) for version in reversed(wanted) if version.value)


def parts(plan: Plan) -> Iterator[tuple[set[str], bool]]:
    """The plan's paths in sets that are committed together, and whether more than records is written.

    What belongs together stays so: both paths of a move, and a copy with the path that it is of.
    """
    tied = _tied(plan)
    sizes = {put.path: len(put.text) for put in plan.puts}
    writes = {*sizes, *(delete.path for delete in plan.deletes)}
    paths = dict.fromkeys((*sorted(writes), *(record.path for record in plan.records), *plan.forgotten))
    part: set[str] = set()
    size = 0
    for path in paths:
        group = tied.get(path, {path})
        if path != min(group) and min(group) in paths:
            continue
        weight = sum(sizes.get(each, 0) for each in group)
        if part and (size + weight > PART_BYTES or len(part) + len(group) > PART_PATHS):
            yield part, bool(part & writes)
            part, size = set(), 0
        part |= group
        size += weight
    if part:
        yield part, bool(part & writes)


def _tied(plan: Plan) -> dict[str, set[str]]:
    tied: dict[str, set[str]] = {}
    pairs = [(move.old, move.new) for move in plan.moves] + [(copy.path, copy.copy_path) for copy in plan.copies]
    for one, other in pairs:
        group = tied.get(one, {one}) | tied.get(other, {other})
        tied.update(dict.fromkeys(group, group))
    return tied


def commit(plan: Plan, paths: set[str], *, space: str, at: str, new_id: Callable[[str], str]) -> Write[dict[str, int]]:
    """Takes in what people wrote at `paths`: documents, their memories, conflicts, and what is agreed on from now.

    The body answers with the operation of each document that was put. It raises Conflict with `details["stale"]`
    where a document has changed since the plan was made.
    """

    def body(writer: Writer) -> dict[str, int]:
        puts = {put.path: put for put in plan.puts if put.path in paths}
        deletes = {delete.path: delete for delete in plan.deletes if delete.path in paths}
        bases = {path: put.basis for path, put in puts.items()} | {path: gone.basis for path, gone in deletes.items()}
        for path, basis in bases.items():
            if writer.version(Kind.DOCUMENT, (path,)) != basis:
                raise Conflict(f"{path} changed meanwhile", hint="try again", stale=True)
        put_texts(
            writer,
            {**{path: Given(put.text) for path, put in puts.items()}, **dict.fromkeys(deletes)},
            author="person",
            at=at,
            new_id=lambda: new_id("mem"),
            provenance={"by": WHO},
        )
        for copy in plan.copies:
            if copy.path in paths:
                conflicts.open_(writer, copy, new_id("cnf"), at)
        conflicts.close_gone(writer, deletes)
        became = {path: writer.version(Kind.DOCUMENT, (path,)) or 0 for path in puts}
        _record(writer, _fixed((record for record in plan.records if record.path in paths), became), at)
        for path in plan.forgotten:
            if path in paths:
                writer.delete(Kind.PUBLISHED, (path,))
        return became

    return Write(space=space, who=WHO, why=WHY, body=body)


def recorded(space: str, records: Iterable[Known], forgotten: Iterable[str], *, at: str) -> Write[None]:
    """Notes what folder and store agree on; bookkeeping, so no operation comes of it."""
    kept, gone = list(records), list(forgotten)

    def body(writer: Writer) -> None:
        _record(writer, kept, at)
        for path in gone:
            writer.delete(Kind.PUBLISHED, (path,))

    return Write(space=space, who="sync", why="files.recorded", body=body)


def _fixed(records: Iterable[Known], became: dict[str, int]) -> list[Known]:
    return [record.at(became.get(record.path, 0)) for record in records]


def _record(writer: Writer, records: Iterable[Known], at: str) -> None:
    for record in records:
        writer.put(
            Kind.PUBLISHED, (record.path,), {"path": record.path, "known": msgspec.to_builtins(record), "at": at}
        )
