"""Puts what only Reverie writes into a folder: the machine index, the memories as JSON, the archives.

A person's edit of such a file is not taken in: it goes beside the file, and the status says so.
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
from reverie.documents.document_kind import conflict_copy
from reverie.errors import Conflict, ReverieError
from reverie.sync.exchange import Written, write_file
from reverie.sync.scan import FileContent, Refusal, read_file
from reverie.usecases import projections

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from reverie.store import Reader
    from reverie.sync.root import Root
    from reverie.sync.swap_recovery import DisplacedFile
    from reverie.usecases.listing import Listing

__all__ = ["Projection"]

NOTE = PurePosixPath(".reverie/written.json")
NOTE_BYTES_MAX = 16 * 1024 * 1024
FILE_BYTES_MAX = 1024 * 1024 * 1024
TRIES = 3


class Projection:
    """The projected files of one folder. Blocks; one caller at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._made_from: int | None = None  # the operation
        self._archives: set[str] = set()  # those that are there
        self._left: dict[str, tuple[int, ...] | None] = {}  # the others, as they were left
        self._asides: list[tuple[str, str]] | None = None  # as `set_aside`, when that was last brought up
        self.blocked: dict[str, Refusal] = {}  # what is in the place of one, and cannot be read
        self.failed: dict[str, ReverieError] = {}  # those that could not be written

    @property
    def set_aside(self) -> list[tuple[str, str]]:
        """Files that people edited, and where their text is now, until they rename or delete it. From any thread."""
        return [(path, aside) for path, aside in list(self._asides or ()) if os.path.lexists(self._path / aside)]

    def bring_up(self, reader: Reader, root: Root, listing: Listing, *, now_ms: int) -> int:
        """Writes what is not as the store says; how many files were written. `failed` has those that could not be.

        Raises Conflict as `put`, and what the writing of the note raises.
        """
        operation = reader.operation()
        if operation == self._made_from and self._is_as_left():
            return 0
        entries = listing.memories()
        texts = projections.texts(reader, entries, at=listing.updated_at)
        self._asides = _asides(self._path, texts) if self._asides is None else self.set_aside
        written = self._all(root, texts.items(), self._note(root, texts), now_ms)
        self._archives = _present(self._path / "archives")
        missing = [path for path in projections.archive_paths(reader) if path not in self._archives]
        written += self._all(root, projections.archives(reader, missing), {}, now_ms)
        self._archives |= set(missing)
        self._made_from = None if self.blocked or self.failed else operation
        self._left = {path: _stamp(self._path / path) for path in texts}
        return written

    def _is_as_left(self) -> bool:
        """Whether nobody has changed or removed any since."""
        as_left = all(_stamp(self._path / path) == stamp for path, stamp in self._left.items())
        return as_left and self._archives <= _present(self._path / "archives")

    def _note(self, root: Root, texts: Mapping[str, bytes]) -> dict[str, list[str]]:
        """Says in the folder what is about to be written, before it is: after a crash both are known as ours."""
        before = _noted(self._path)
        noted = dict(before)
        for path, data in texts.items():
            new = sha256(data).hexdigest()
            if new not in noted.get(path, ()):
                there = _sha256(read_file(root, path, limit=FILE_BYTES_MAX))
                noted[path] = [*(digest for digest in noted.get(path, ()) if digest == there), new]
        if noted != before:
            files.write_beneath(self._path, NOTE, orjson.dumps(noted, option=orjson.OPT_INDENT_2) + b"\n")
        return noted

    def _all(
        self, root: Root, texts: Iterable[tuple[str, bytes]], noted: Mapping[str, Sequence[str]], now_ms: int
    ) -> int:
        written = 0
        for path, data in texts:
            self.failed.pop(path, None)
            try:
                written += self._one(root, path, data, noted.get(path, ()), now_ms)
            except Conflict:
                raise
            except ReverieError as error:
                self.failed[path] = error
        return written

    def _one(self, root: Root, path: str, data: bytes, ours: Sequence[str], now_ms: int) -> bool:
        """One file; whether it was written. What a person made of it is set aside first."""
        for _ in range(TRIES):
            found = read_file(root, path, limit=FILE_BYTES_MAX)
            if isinstance(found, Refusal):
                self.blocked[path] = found
                return False
            self.blocked.pop(path, None)
            there = _sha256(found)
            if there == sha256(data).hexdigest():
                return False
            if isinstance(found, FileContent) and there not in ours:
                self._set_aside(root, path, found.data, now_ms)
            done = write_file(root, path, data, expected=there)
            if isinstance(done, Written):
                self._let_go(root, path, done.displaced, now_ms)
                return True
        return False

    def _let_go(self, root: Root, path: str, replaced: DisplacedFile | None, now_ms: int) -> None:
        """No grace time: hardly anybody has such a file open, and what they still write is found at the next start."""
        saved = None if replaced is None else replaced.settle()
        if replaced is not None and saved is not None:
            self._set_aside(root, path, saved, now_ms)
            replaced.discard()

    def _set_aside(self, root: Root, path: str, data: bytes, now_ms: int) -> None:
        """Once, also where the file cannot be written afterwards and is tried again."""
        digest, asides = sha256(data).hexdigest(), self._asides or []
        if any(each == path and _sha256(read_file(root, at, limit=FILE_BYTES_MAX)) == digest for each, at in asides):
            return
        stamp = datetime.fromtimestamp(now_ms / 1000, UTC).strftime("%Y%m%d-%H%M%S")
        aside = conflict_copy(path, stamp, digest[:6])
        write_file(root, aside, data, expected=None)
        self._asides = [*asides, (path, aside)]


def _stamp(path: Path) -> tuple[int, ...] | None:
    """What tells a file that was changed; None where there is none."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _asides(folder: Path, paths: Iterable[str]) -> list[tuple[str, str]]:
    """Those of these paths that were set aside before, and where their text is."""
    names = [PurePosixPath(path) for path in paths]
    return [
        (str(name), str(name.with_name(found.name)))
        for name in names
        for found in sorted((folder / name).parent.glob(f"{name.stem}.sync-conflict-*{name.suffix}"))
    ]


def _present(folder: Path) -> set[str]:
    """The archives that are there, by path."""
    if not folder.is_dir():
        return set()
    return {f"archives/{entry.name}" for entry in folder.iterdir()}


def _sha256(found: FileContent | Refusal | None) -> str | None:
    return found.sha256 if isinstance(found, FileContent) else None


def _noted(root: Path) -> dict[str, list[str]]:
    """What the folder says was written of them, or about to be; nothing where what it says makes no sense."""
    data = files.read_beneath(root, NOTE, NOTE_BYTES_MAX)
    try:
        return msgspec.json.decode(data or b"{}", type=dict[str, list[str]])
    except msgspec.DecodeError:
        return {}
