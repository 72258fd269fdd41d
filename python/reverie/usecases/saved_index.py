"""The saved search index of a space: a folder with a manifest and the segments that it lists.

It is a projection of the store. The manifest names the last operation that is in the index, with the checksum of that
operation's record: an index of another store, of one that went back to a backup, or of operations that are no longer
kept does not fit, and is built again. So is one of another format, or one of which a byte was changed. Segments are not
flushed to disk before they are listed: after a power failure their checksums tell whether they are whole.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import ClassVar, Final, Generic, Protocol, TypeVar

import msgspec

from reverie import text_recall
from reverie.decode import from_json
from reverie.errors import ReverieError, StorageFailed
from reverie.files import write_atomic
from reverie.private_folder import make_private
from reverie.store import Store
from reverie.text_index import Index, Segment
from reverie.usecases.follow import Kept, operation_checksum

OneIndex = TypeVar("OneIndex", bound="FollowingIndex")

FORMAT: Final = 1  # of the manifest
MANIFEST: Final = "manifest.json"
SUFFIX: Final = ".segment"
REMOVED_MIN: Final = 1_000  # removed documents of a segment below which it is not rewritten for them alone


class _SegmentEntry(msgspec.Struct, frozen=True):
    """A segment as the manifest lists it: file name, digest of the content, removed documents."""

    file: str
    digest: str
    removed: bytes


class _Manifest(msgspec.Struct, frozen=True):
    """The content of the manifest. `record` is the checksum of the operation's record."""

    format: int
    version: int
    operation: int
    record: str
    segments: list[_SegmentEntry]


class SavedIndex:
    """The files of one saved index."""

    def __init__(
        self,
        folder: Path,
        version: int = text_recall.VERSION,
        index_of: Callable[[list[tuple[Path, bytes]]], Index] = Index,
    ) -> None:
        """Use a folder, which is created when the index is saved for the first time.

        A saved index of another `version` does not fit. `index_of` opens segments with the parameters of this index.
        """
        self._folder = folder
        self._version = version
        self._index_of = index_of
        self._number = 0
        self._lock = threading.Lock()

    def new_path(self) -> Path:
        """Return the path of a segment that does not exist yet."""
        with self._lock:
            self._create()
            used = [int(path.stem) for path in self._folder.glob("*" + SUFFIX) if path.stem.isdecimal()]
            self._number = max([self._number, *used]) + 1
            return self._folder / f"{self._number:08}{SUFFIX}"

    def open(self, record_of: Callable[[int], str | None]) -> tuple[Index, int] | None:
        """Return the saved index and its last operation, or None where there is none that fits the store.

        `record_of` returns the checksum of an operation's record, None for one that is not there.
        """
        try:
            manifest = _decoded((self._folder / MANIFEST).read_bytes(), self._version)
            if manifest is None or record_of(manifest.operation) != manifest.record:
                return None
            entries = [(self._folder / entry.file, entry.removed) for entry in manifest.segments]
            index = self._index_of(entries)
        except OSError:
            return None
        if [segment.digest for segment in index.segments()] != [entry.digest for entry in manifest.segments]:
            return None
        return index, manifest.operation

    def write(self, segments: Sequence[Segment], operation: int, record: str) -> None:
        """Write the manifest of these segments, atomically. Raises ReverieError where it cannot be written."""
        entries = [_SegmentEntry(segment.path.name, segment.digest, segment.removed) for segment in segments]
        body = msgspec.json.encode(_Manifest(FORMAT, self._version, operation, record, entries))
        self._create()
        write_atomic(self._folder / MANIFEST, hashlib.sha256(body).hexdigest().encode() + b"\n" + body)

    def delete_others(self, segments: Collection[Segment]) -> None:
        """Delete the files of all other segments: those that were merged, or that a killed process left."""
        listed = {segment.path.name for segment in segments}
        for path in self._folder.glob("*" + SUFFIX):
            if path.name not in listed:
                path.unlink(missing_ok=True)

    def _create(self) -> None:
        for folder in (self._folder.parent, self._folder):
            make_private(folder)

    def delete(self) -> None:
        """Delete every file of the index, as far as that is possible."""
        with suppress(StorageFailed):
            self.erase()

    def erase(self) -> None:
        """Delete every file of the index. Raises StorageFailed where one of them stays."""
        if not self._folder.is_dir():  # something else may be in its place: it is not ours
            return
        try:
            (self._folder / MANIFEST).unlink(missing_ok=True)
            self.delete_others([])
        except OSError as error:
            hint = f"delete {self._folder}: it is made again"
            raise StorageFailed(f"a search index cannot be deleted: {error.strerror}", hint=hint) from error


def are_there(segments: Sequence[Segment]) -> bool:
    """Return True if the files of segments still exist. An open segment is searched without its file, not merged."""
    return all(segment.path.exists() for segment in segments)


def segments_to_merge(segments: Sequence[Segment], largest: int | None = None) -> list[Segment]:
    """Return the segments to be merged into one; an empty list where none are.

    A segment of `largest` documents or more is left alone, and no more are merged at once, so that no merge takes long
    or much memory.

    The newest ones, as long as an older one is at most twice as large as all after it together: so a document is
    written again only when what it is in grows by half, about 2 log(n) times in all, and there are about log(n)
    segments. Else a segment of which a third was removed. Example of sizes: 9000, 30, 20, 10 merges the last three.
    """
    newest: list[Segment] = []
    together = 0
    for segment in reversed([other for other in segments if largest is None or _live(other) < largest]):
        if (newest and _live(segment) > 2 * together) or (largest is not None and together >= largest):
            break
        newest.insert(0, segment)
        together += _live(segment)
    if len(newest) > 1:
        return newest
    worn = (segment for segment in segments if segment.removed_documents > max(REMOVED_MIN, segment.documents // 3))
    return list(worn)[:1]


def _live(segment: Segment) -> int:
    return segment.documents - segment.removed_documents


def _decoded(data: bytes, version: int) -> _Manifest | None:
    """Return the manifest in a file; None where it is damaged, or of another format or version."""
    checksum, _, body = data.partition(b"\n")
    if hashlib.sha256(body).hexdigest().encode() != checksum:
        return None
    try:
        manifest = from_json(body, _Manifest)
    except msgspec.DecodeError:
        return None
    return manifest if (manifest.format, manifest.version) == (FORMAT, version) else None


class FollowingIndex(Protocol):
    """An index that follows the operations of a space, and its files."""

    saved: SavedIndex | None
    unsaved: int

    @property
    def index(self) -> Index:
        """The index itself."""
        ...

    def flush(self) -> tuple[list[Segment], int] | None:
        """Write unsaved entries to a segment; return all segments and the last operation. None while it is built."""
        ...


class SavedIndexes(Kept, Generic[OneIndex]):
    """The indexes of all spaces of a store, each opened on first use, and their files. Thread-safe.

    `largest`: a segment of so many documents or more is not merged.
    """

    writes_files = True
    largest: ClassVar[int | None] = None

    def __init__(self, store: Store, folder: Path | None) -> None:
        """Take a store and the folder in which its indexes are saved; with None they are not saved."""
        self._store = store
        self._folder = folder
        self._indexes: dict[str, OneIndex] = {}
        self._lock = threading.Lock()
        self._saving = threading.Lock()  # taken before `_lock`

    def opened(self) -> list[str]:
        """Return the spaces whose index is open."""
        with self._lock:
            return list(self._indexes)

    def save(self, space: str, *, merge: bool = True) -> None:
        """Save the index of a space as it is now, and with `merge` join its segments where they are too many.

        Searches go on meanwhile: they wait only while the buffer is written. Raises OSError or ReverieError where that
        is not possible; the index is then only in memory, and saved the next time.
        """
        with self._saving:
            index = self._indexes.get(space)
            if index is None or index.saved is None:
                return
            if not are_there(index.index.segments()):  # a person has deleted the folder: it is built again
                with self._lock:
                    self._indexes.pop(space, None)
                    index.saved.delete()
                return
            segments = self._write(space, index) if index.unsaved else index.index.segments()
            while merge and (merged := segments_to_merge(segments, self.largest)):
                self._merge(index, merged)
                segments = self._write(space, index)

    def _rewrite(self, space: str, index: OneIndex, merged: Callable[[list[Segment]], list[list[Segment]]]) -> None:
        """Write the index anew without a word that is not in it any more; `merged` are the segments that have some.

        Where that is not possible (a damaged segment, a full disk) its files are deleted, and it is built again.

        Raises:
            StorageFailed: nor can they be deleted.
        """
        with self._saving:
            try:
                for segments in merged(self._write(space, index)):
                    self._merge(index, segments)
                self._write(space, index)
            except (OSError, ReverieError):
                with self._lock:
                    self._indexes.pop(space, None)
                    if index.saved is not None:
                        index.saved.erase()

    def _merge(self, index: OneIndex, segments: list[Segment]) -> None:
        """Merge these segments of an index into one new segment, which replaces them."""
        assert index.saved is not None
        path = index.saved.new_path()
        Index.merge(segments, path)
        with self._lock:
            index.index.replace(segments, path)

    def _write(self, space: str, index: OneIndex) -> list[Segment]:
        """Write unsaved entries to a segment, then the manifest, delete other files, and return the segments."""
        if index.saved is None:
            return []
        with self._lock:
            unsaved, flushed = index.unsaved, index.flush()
        if flushed is None:
            return []
        segments, operation = flushed
        with self._store.reader(space) as reader:
            record = operation_checksum(reader, operation)
        if record is not None:
            index.saved.write(segments, operation, record)
        with self._lock:
            index.unsaved -= unsaved
            index.saved.delete_others([*segments, *index.index.segments()])  # it may be built again by now
        return segments

    def _path(self, space: str, suffix: str = "") -> Path | None:
        """Return the path of a space's files in the folder of indexes; None without one."""
        name = hashlib.sha256(space.encode()).hexdigest()[:32]
        return None if self._folder is None else self._folder / f"{name}{suffix}"
