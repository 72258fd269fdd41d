"""The store's documents and archives as files: what should be there, what is, and the least that makes them equal."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, assert_never

import orjson

from reverie import files, projections
from reverie.engine.documents import checked
from reverie.errors import Conflict, Forbidden, StorageFailed, TooLarge, ValidationError
from reverie.store import Kind, Write

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from reverie.projections.publish import Action
    from reverie.store import Reader, Writer

__all__ = ["Done", "Wanted", "intend", "left_alone", "remember", "sweep", "wanted", "write"]

MARK = PurePosixPath(".reverie/space.json")
MARK_BYTES_MAX = 4096
NOTE = PurePosixPath(".reverie/written.json")
SWEPT = ("", "facts", "episodes", "memory", "archives", ".reverie")
INTENTS_KEPT = 20  # passes that may fail in a row before our own bytes are taken for somebody's
NOTE_BYTES_MAX = 16 * 1024 * 1024
FILE_BYTES_MAX = 64 * 1024 * 1024
OTHER = "other"  # stands for bytes that are not ours, whatever they are


@dataclass(frozen=True, slots=True)
class Wanted:
    """The text of every file, the SHA-256 of what was last written to each, and of what may have been written since.

    `intended` is what a write was about to put there: after a crash in between, those bytes are ours as well.
    """

    texts: dict[str, bytes]
    published: dict[str, str]
    beside: dict[str, str | None]
    intended: dict[str, list[str]]
    left: frozenset[str]


@dataclass(slots=True)
class Done:
    """What is on disk now: path to the record that says so; and paths that are no longer ours.

    `again`: a file changed under our hands and was left for another pass.
    """

    records: dict[str, dict[str, Any]] = field(default_factory=dict)
    forgotten: list[str] = field(default_factory=list)
    again: bool = False


def wanted(reader: Reader) -> Wanted:
    """Every document, and every archive that is not on disk yet: an archive never changes."""
    published = {held["path"]: held for _, held in reader.scan(Kind.PUBLISHED)}
    texts = {held["path"]: held["content"].encode() for _, held in reader.scan(Kind.DOCUMENT)}
    for _, held in reader.scan(Kind.ARCHIVE):
        path = f"archives/{held['sha256']}.json"
        if path not in published or not published[path]["sha256"]:
            texts[path] = held["body"].encode()
    kept = {
        path: held["sha256"]
        for path, held in published.items()
        if held["sha256"] and (path in texts or not path.startswith("archives/"))
    }
    beside = {path: held["beside"] for path, held in published.items()}
    intended = {path: list(held["next"]) for path, held in published.items() if held["next"]}
    return Wanted(texts, kept, beside, intended, frozenset(path for path, held in published.items() if held["left"]))


def intend(space: str, want: Wanted, *, at: str) -> Write[None] | None:
    """Notes what is about to be written, before it is; None where every file is known to hold it already."""
    coming = {path: hashlib.sha256(data).hexdigest() for path, data in want.texts.items()}
    fresh = {path: digest for path, digest in coming.items() if digest not in _known(want, path)}
    if not fresh:
        return None

    def body(writer: Writer) -> None:
        for path, digest in fresh.items():
            held = writer.get(Kind.PUBLISHED, (path,)) or _record(path, want.published.get(path, ""))
            coming = [*(held["next"] or []), digest][-INTENTS_KEPT:]
            writer.put(Kind.PUBLISHED, (path,), {**held, "next": coming, "at": at})

    return Write(space=space, who="publication", why="files.intended", body=body)


def _known(want: Wanted, path: str) -> set[str | None]:
    return {want.published.get(path), *want.intended.get(path, [])}


def write(root: Path, space: str, want: Wanted) -> Done:
    """Writes what differs, atomically and file by file.

    Raises:
        Conflict: the folder is gone, or is not the one that was written before: nothing is written into it.
        DiskFull: no room.
    """
    if not want.texts and not want.published:
        return Done()
    _claim(root, space, fresh=not want.published)
    noted = _noted(root)
    on_disk = {path: _digest(root, path) for path in projections.watched(want.texts, {**noted, **want.published})}
    known = {**want.published, **_ours(want, noted, on_disk)}
    actions = projections.plan(want.texts, known, on_disk)
    interfered: set[str] = set()
    for action in actions:
        match action:
            case projections.Write(path, data):
                # Somebody may have saved since the folder was looked at: then the next pass decides anew.
                if _digest(root, path) == on_disk.get(path):
                    files.write_beneath(root, PurePosixPath(path), data)
                else:
                    interfered.add(path)
            case projections.Remove(path):
                files.remove_beneath(root, PurePosixPath(path))
            case projections.Leave() | projections.Nothing():
                pass
            case _:
                assert_never(action)
    done = [action for action in actions if action.path not in interfered]
    _note(root, noted, projections.published_after(known, done))
    return _outcome(want, done, again=bool(interfered))


def _ours(want: Wanted, noted: Mapping[str, str], on_disk: Mapping[str, str | None]) -> dict[str, str]:
    """Bytes that we wrote, though no record says that they stand there.

    What a crash left unrecorded; what was written after the backup from which the store was restored; and what was put
    beside a file and took its place since: so a person accepts it.
    """
    ours = {path: digest for path, digest in noted.items() if on_disk.get(path) == digest}
    for path, digests in want.intended.items():
        if (there := on_disk.get(path)) in digests:
            ours[path] = str(there)
    for path, beside in want.beside.items():
        digest = want.published.get(beside) if beside is not None else None
        if digest is not None and on_disk.get(path) == digest:
            ours[path] = digest
    return ours


def sweep(root: Path) -> None:
    """Takes away what an interrupted write left in the folders that are written to; nothing else is touched."""
    for folder in SWEPT:
        place = root / folder
        if place.is_dir() and not place.is_symlink():
            for entry in sorted(place.iterdir()):
                if entry.name.startswith(files.TEMPORARY):
                    files.remove_beneath(root, PurePosixPath(folder, entry.name))


def remember(space: str, done: Done, *, at: str) -> Write[None]:
    """Notes what is on disk now; bookkeeping, so no operation comes of it."""

    def body(writer: Writer) -> None:
        for path, held in done.records.items():
            writer.put(Kind.PUBLISHED, (path,), {**held, "at": at})
        for path in done.forgotten:
            writer.delete(Kind.PUBLISHED, (path,))

    return Write(space=space, who="publication", why="files.written", body=body)


def left_alone(reader: Reader) -> list[dict[str, str | None]]:
    """Files that hold other bytes than were last written, and where the newer text stands."""
    return [{"path": held["path"], "beside": held["beside"]} for _, held in reader.scan(Kind.PUBLISHED) if held["left"]]


def _claim(root: Path, space: str, *, fresh: bool) -> None:
    """Marks a new folder as this space's; an old one must still bear its mark."""
    mark = files.read_beneath(root, MARK, MARK_BYTES_MAX) if root.is_dir() else None
    if mark is not None:
        if _owner(mark) == space:
            return
        raise Conflict(f"{root} does not belong to space {space!r}", hint="set memory.dataDir to another folder")
    if not fresh:
        raise Conflict(
            f"{root} is gone, or is not the folder that was written before",
            hint="bring it back, or run `reverie doctor`",
        )
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    files.write_beneath(root, MARK, orjson.dumps({"space": space, "format": 1}) + b"\n")


def _owner(mark: bytes) -> object:
    """The space that a folder's mark names; None where it is no such mark."""
    try:
        held = orjson.loads(mark)
    except orjson.JSONDecodeError:
        return None
    return held.get("space") if isinstance(held, dict) else None


def _noted(root: Path) -> dict[str, str]:
    """What the folder itself says was last written into it: a store that was restored from a backup knows less."""
    data = files.read_beneath(root, NOTE, NOTE_BYTES_MAX)
    try:
        held = orjson.loads(data or b"{}")
    except orjson.JSONDecodeError:
        return {}
    if not isinstance(held, dict):
        return {}
    return {path: digest for path, digest in held.items() if isinstance(digest, str) and _is_place(path)}


def _is_place(path: str) -> bool:
    try:
        checked(path)
    except ValidationError:
        return False
    return True


def _note(root: Path, before: dict[str, str], after: dict[str, str]) -> None:
    """Keeps that note; archives are not in it, since they are never written twice."""
    told = {path: digest for path, digest in sorted(after.items()) if not path.startswith("archives/")}
    if told != before:
        files.write_beneath(root, NOTE, orjson.dumps(told, option=orjson.OPT_INDENT_2) + b"\n")


def _digest(root: Path, path: str) -> str | None:
    """The SHA-256 of what is at `path`; None where nothing is, OTHER where it is no plain file of ordinary size."""
    try:
        data = files.read_beneath(root, PurePosixPath(path), FILE_BYTES_MAX)
    except (Forbidden, TooLarge, StorageFailed):
        return OTHER
    return None if data is None else hashlib.sha256(data).hexdigest()


def _outcome(want: Wanted, actions: Sequence[Action], *, again: bool) -> Done:
    """What the store must note: the bytes that are on disk now, and which files were left alone."""
    after = projections.published_after(want.published, actions)
    left = {action.path: action.beside for action in actions if isinstance(action, projections.Leave)}
    done = Done(
        again=again, forgotten=sorted(path for path in want.published if path not in after and path not in left)
    )
    for path in {*after, *left}:
        digest, beside = after.get(path, ""), left.get(path)
        moved = want.published.get(path) != digest or want.beside.get(path) != beside
        if moved or path in want.intended or (path in want.left) != (path in left):
            done.records[path] = _record(path, digest, beside=beside, left=path in left)
    return done


def _record(path: str, digest: str, *, beside: str | None = None, left: bool = False) -> dict[str, Any]:
    return {"path": path, "sha256": digest, "beside": beside, "left": left, "next": None}
