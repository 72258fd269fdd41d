"""Write the projections into a folder: the machine index, the memories as JSON, the archives.

A projection is a file that is made from the store alone. A person's edit of one is not read: it is written beside the
file, and the status names it.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import msgspec
import orjson

from reverie import files
from reverie.decode import from_json
from reverie.documents.layout import conflict_copy
from reverie.errors import Conflict, ReverieError, failure_of
from reverie.sync.scan import FileContent, Refusal, read_file
from reverie.sync.swap import Removed, Written, remove_file, write_file
from reverie.usecases import projections

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from reverie.store import Reader
    from reverie.sync.displaced import DisplacedFile
    from reverie.sync.root import Root
    from reverie.usecases.projections import Listing

JOURNAL = PurePosixPath(".reverie/written.json")  # SHA-256 of what was written, or about to be, by path
JOURNAL_BYTES_MAX = 16 * 1024 * 1024  # by far more than ours, which is two paths with two digests each: 359 bytes
# Bytes of a projection that is read and compared. `long-term-memory.json` has about 290 for a memory of one line, so
# three million memories are under it; a larger file is reported as one that cannot be read, and not replaced.
FILE_BYTES_MAX = 1024 * 1024 * 1024
WRITE_ATTEMPTS = 3  # of one file that changes between reading and writing


class ProjectionWriter:
    """Writes the files that only Reverie writes (projections) into one folder. Blocks; one caller at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._written_at: int | None = None  # the operation as of which all are written
        self._memories = projections.memory_entries()
        self._archives: set[str] = set()  # the paths of archives in the folder
        self._stamps: dict[str, tuple[int, ...] | None] = {}  # of the other files, after they were written
        self._set_aside_paths: list[tuple[str, str]] | None = None  # as `set_aside` as of the last update
        self.removed: set[str] = set()  # addresses of purged archives whose files are gone
        self.blocked: dict[str, Refusal] = {}  # by path, why the file there cannot be read
        self.failed: dict[str, ReverieError] = {}  # by path, why it could not be written

    @property
    def set_aside(self) -> list[tuple[str, str]]:
        """Projections that a person edited, each with the conflict copy of the edit, while that copy exists.

        From any thread.
        """
        return [
            (path, aside) for path, aside in list(self._set_aside_paths or ()) if os.path.lexists(self._path / aside)
        ]

    def remove_copies(self, root: Root, holds: Callable[[str], bool]) -> None:
        """Remove the copies of edited projections, and the archives, for whose text `holds` is true.

        Archives that this store does not know too: those of the store that a restored backup replaced.
        """
        for path in (*(aside for _, aside in self.set_aside), *_archives_in(self._path / "archives")):
            content = read_file(root, path, limit=FILE_BYTES_MAX)
            if isinstance(content, FileContent) and holds(content.data.decode("utf-8", "replace")):
                (self._path / path).unlink(missing_ok=True)

    def update(self, reader: Reader, root: Root, listing: Listing, *, now_ms: int, is_owner: bool) -> int:
        """Write the projections that are not up to date; return how many. `failed` has those that could not be written.

        Where another store is the folder's owner only archives are written: two would write the others again for ever.
        Raises Conflict as `write_file`, and what writing the journal raises.
        """
        operation = reader.operation()
        if operation == self._written_at and self._is_unchanged():
            return 0
        entries = listing.entries()
        written = any((self._path / path).exists() for path in (projections.INDEX, projections.MEMORIES))
        texts: dict[str, bytes] = {}
        if is_owner:
            texts = projections.texts(reader, entries, at=listing.updated_at, written=written, cache=self._memories)
        self._set_aside_paths = _conflict_copies(self._path, texts) if self._set_aside_paths is None else self.set_aside
        self._archives = _archives_in(self._path / "archives")
        missing = [path for path in projections.archive_paths(reader) if path not in self._archives]
        count = self._write_all(root, projections.archives(reader, missing), {}, now_ms)
        self._archives |= set(missing)
        # After the archives: a kill between the two leaves no index that names a file which is not there.
        count += self._write_all(root, texts.items(), self._journal(root, texts), now_ms)
        self.removed |= self._remove_purged(reader, root, now_ms)
        self._written_at = None if self.blocked or self.failed else operation
        self._stamps = {path: _stamp(self._path / path) for path in texts}
        return count

    def _remove_purged(self, reader: Reader, root: Root, now_ms: int) -> set[str]:
        """Remove the files of purged archives by name, whatever is in them; return the addresses whose file is gone."""
        gone = set()
        for address in projections.purged_archives(reader):
            path = f"archives/{address}.json"
            try:
                content = read_file(root, path, limit=FILE_BYTES_MAX)
                if isinstance(content, Refusal):
                    self.blocked[path] = content
                    continue
                result = None if content is None else remove_file(root, path, expected=content.sha256)
            except Conflict:
                raise
            except BaseException as error:  # noqa: BLE001 - this file alone fails
                self.failed[path] = failure_of(error)
                continue
            self.failed.pop(path, None)
            self.blocked.pop(path, None)
            if isinstance(result, Removed):
                self._settle(root, path, result.displaced, now_ms)
            elif result is not None:
                continue  # it was written between reading and removing: the next update removes it
            self._archives.discard(path)
            gone.add(address)
        return gone

    def _is_unchanged(self) -> bool:
        """Return True if no projection was changed or removed since the last update."""
        unchanged = all(_stamp(self._path / path) == stamp for path, stamp in self._stamps.items())
        return unchanged and self._archives <= _archives_in(self._path / "archives")

    def _journal(self, root: Root, texts: Mapping[str, bytes]) -> dict[str, list[str]]:
        """Record the digests of the texts about to be written; return the digests that are known as ours, by path.

        After a crash both the old and the new file are known as ours, and none is taken for a person's edit.
        """
        before = _read_journal(self._path)
        journal = dict(before)
        for path, data in texts.items():
            new = sha256(data).hexdigest()
            if new not in journal.get(path, ()):
                there = _sha256(read_file(root, path, limit=FILE_BYTES_MAX))
                journal[path] = [*(digest for digest in journal.get(path, ()) if digest == there), new]
        if journal != before:
            files.write_beneath(self._path, JOURNAL, orjson.dumps(journal, option=orjson.OPT_INDENT_2) + b"\n")
        return journal

    def _write_all(
        self, root: Root, texts: Iterable[tuple[str, bytes]], journal: Mapping[str, Sequence[str]], now_ms: int
    ) -> int:
        """Write these files; return how many. Errors are recorded in `failed`, except a Conflict, which ends all."""
        written = 0
        for path, data in texts:
            try:
                written += self._write_one(root, path, data, journal.get(path, ()), now_ms)
            except Conflict:
                raise
            except BaseException as error:  # noqa: BLE001 - as above
                self.failed[path] = failure_of(error)
            else:
                self.failed.pop(path, None)  # not before: a status meanwhile names what could not be written
        return written

    def _write_one(self, root: Root, path: str, data: bytes, ours: Sequence[str], now_ms: int) -> bool:
        """Write one file and return True; False if up to date or not writable. A person's edit is set aside first."""
        for _ in range(WRITE_ATTEMPTS):
            content = read_file(root, path, limit=FILE_BYTES_MAX)
            if isinstance(content, Refusal):
                self.blocked[path] = content
                return False
            self.blocked.pop(path, None)
            there = _sha256(content)
            if there == sha256(data).hexdigest():
                return False
            if isinstance(content, FileContent) and there not in ours:
                self._set_aside(root, path, content.data, now_ms)
            result = write_file(root, path, data, expected=there)
            if isinstance(result, Written):
                self._settle(root, path, result.displaced, now_ms)
                return True
        return False

    def _settle(self, root: Root, path: str, replaced: DisplacedFile | None, now_ms: int) -> None:
        """Check a replaced projection at once for a person's late write, and put one into a conflict copy.

        Without a grace time: hardly anybody has such a file open, and a later save is found at the next start.
        """
        saved = None if replaced is None else replaced.settle()
        if replaced is not None and saved is not None:
            self._set_aside(root, path, saved, now_ms)
            replaced.discard()

    def _set_aside(self, root: Root, path: str, data: bytes, now_ms: int) -> None:
        """Write a person's edit to a conflict copy: once, also if the projection cannot be written after that."""
        digest, copies = sha256(data).hexdigest(), self._set_aside_paths or []
        if any(
            edited == path and _sha256(read_file(root, copy, limit=FILE_BYTES_MAX)) == digest for edited, copy in copies
        ):
            return
        stamp = datetime.fromtimestamp(now_ms / 1000, UTC).strftime("%Y%m%d-%H%M%S")
        copy_path = conflict_copy(path, stamp, digest[:6])
        write_file(root, copy_path, data, expected=None)
        self._set_aside_paths = [*copies, (path, copy_path)]


def _stamp(path: Path) -> tuple[int, ...] | None:
    try:
        status = path.lstat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _conflict_copies(folder: Path, paths: Iterable[str]) -> list[tuple[str, str]]:
    """Return those of these paths that have conflict copies, each with the path of a copy."""
    names = [PurePosixPath(path) for path in paths]
    return [
        (str(name), str(name.with_name(copy.name)))
        for name in names
        for copy in sorted((folder / name).parent.glob(f"{name.stem}.sync-conflict-*{name.suffix}"))
    ]


def _archives_in(folder: Path) -> set[str]:
    if not folder.is_dir():
        return set()
    return {f"archives/{entry.name}" for entry in folder.iterdir()}


def _sha256(content: FileContent | Refusal | None) -> str | None:
    return content.sha256 if isinstance(content, FileContent) else None


def _read_journal(root: Path) -> dict[str, list[str]]:
    """Return the journal's digests by path; {} if it cannot be parsed."""
    data = files.read_beneath(root, JOURNAL, JOURNAL_BYTES_MAX)
    try:
        return from_json(data or b"{}", dict[str, list[str]])
    except msgspec.DecodeError:
        return {}
