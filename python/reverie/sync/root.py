"""A space's root folder, opened once: whatever its path is renamed to, reads and writes go to the opened folder."""

from __future__ import annotations

import errno
import os
import shlex
import stat
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Self, TypeAlias

import orjson

from reverie import files, syscalls
from reverie.errors import Conflict, Forbidden, ValidationError
from reverie.lazy_regex import lazy_regex
from reverie.private_folder import make_private

if TYPE_CHECKING:
    from collections.abc import Iterator

SPACE_FILE: Final = ".reverie/space.json"
"""The file by which a folder is known as the root of a space; its `store` is the one that writes the projections."""
FORMAT: Final = 1  # of the space file
# Bytes of the space file that are read. One with the longest name of a space (64 bytes) has about 130; what is longer
# than this is cut off, and so is no space file.
_SPACE_FILE_BYTES_MAX: Final = 4096
_FOLDER_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NONBLOCK | os.O_CLOEXEC
_GONE_OR_REPLACED: Final = frozenset({errno.ENOENT, errno.ELOOP, errno.ENOTDIR, errno.EXDEV})
_FORBIDDEN_SEGMENTS: Final = frozenset({"", ".", ".."})
_SURROGATE: Final = lazy_regex("[\ud800-\udc7f\udd00-\udfff]")  # half a character, not one of surrogateescape's

RootProblem: TypeAlias = Literal[
    "root_missing", "root_swapped", "root_unmarked", "root_of_another_space", "root_of_another_store", "root_empty"
]


class KnownRoot(NamedTuple):
    """A folder that a store has accepted: its device and inode, and the store that its space file named.

    It is recorded outside of the folder. Programs that copy a folder between machines (Dropbox, Syncthing) copy the
    space file as well: each machine would find the other one's mark in it.
    """

    device: int
    inode: int
    mark: str


class Root:
    """The open root folder of one space. `path` is the configured path, `real` its resolution when it was opened.

    Created by `open`; `close` it, or use it as a context manager. Everything below is reached from the open folder,
    through no symbolic link and into no other mount, so neither a renamed root nor a replaced folder leads outside.
    `mark` is the store that the space file names.
    """

    def __init__(
        self, path: Path, real: Path, handle: int, *, space: str, store_id: str, known: KnownRoot | None = None
    ) -> None:
        self.path = path
        self.real = real
        self.handle = handle
        self.space = space
        self.store_id = store_id
        status = os.fstat(handle)
        self.identity = (status.st_dev, status.st_ino)
        self.mark = store_id
        self._is_known = known is not None and self.identity == known[:2]
        self._marks = {store_id} if known is None else {store_id, known.mark}
        self.displaced_names: set[str] = set()  # names in the swap folder that this process still supervises
        self.unflushed: set[str] = set()  # folders with renames since the last flush

    @classmethod
    def open(cls, path: Path, *, space: str, store_id: str, fresh: bool, known: KnownRoot | None = None) -> Self:
        """Open the folder at `path` and check its space file. A path that is itself a link is resolved here, once.

        `fresh`: the store has never written there, so a missing folder is made, and an unmarked one is marked.
        `known` is the folder that the store used last.
        Raises Conflict as `verify` does, Forbidden and StorageFailed if the system refuses.
        """
        root = cls(path, *_open_folder(path, make=fresh), space=space, store_id=store_id, known=known)
        try:
            root._claim(fresh=fresh)
        except BaseException:
            root.close()
            raise
        root._is_known = True  # from now on its identity says that it is the same one
        return root

    @classmethod
    def prepare(cls, path: Path, *, space: str, store_id: str) -> KnownRoot:
        """Make the folder at `path` if it is missing, and return it as one that is accepted; no space file is written.

        Raises Conflict if another space's folder is there, Forbidden and StorageFailed if the system refuses.
        """
        root = cls(path, *_open_folder(path, make=True), space=space, store_id=store_id)
        with root:
            root._is_known = True
            content = root._read_space_file()
            if content is not None:
                root._check_space_file(content)
            return root.known

    @property
    def known(self) -> KnownRoot:
        """The folder as the store should know it from now on."""
        return KnownRoot(*self.identity, self.mark)

    def close(self) -> None:
        """Close the folder's handle. Closing twice does nothing."""
        if self.handle >= 0:
            files.close_quietly(self.handle)
            self.handle = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def verify(self) -> None:
        """Check that the folder is still at its path and belongs to this space; call before a scan and before writing.

        Raises Conflict with `details.reason`: `root_missing`, `root_swapped` (another folder, or another file system
        over it), `root_empty` (nothing in it, not even the space file), `root_unmarked`, `root_of_another_space`. While
        it is open another store's mark is none of them: another machine shares the folder.
        None of them means that anybody deleted documents: a mount that is not there looks like an empty folder.
        """
        self._check_identity()
        self._check_space_file(self._read_space_file())

    def find(self) -> None:
        """Check, by path alone, that the folder is the opened one and has its space file. From any thread, also closed.

        Raises as `verify`.
        """
        self._check_identity()
        if not os.path.lexists(self.real / SPACE_FILE):
            raise self._unmarked(self.real)

    def _check_identity(self) -> None:
        """Check that the folder at the path still is the opened one. Raises Conflict."""
        try:
            status = self.real.lstat()
        except (FileNotFoundError, NotADirectoryError) as error:
            raise _stopped("root_missing", self.real, "is gone") from error
        except OSError as error:
            raise files.translate_os_error("look at", self.real, error) from error
        if not stat.S_ISDIR(status.st_mode):
            raise _stopped("root_swapped", self.real, "is not the folder that it was")
        if (status.st_dev, status.st_ino) != self.identity:
            if _is_empty(self.real):
                raise _stopped("root_empty", self.real, "is now an empty folder")
            raise _stopped("root_swapped", self.real, "is another folder than before")

    def flush(self) -> None:
        """Make every rename so far durable (fsync of its folder). From any thread.

        Raises Forbidden and StorageFailed; the folders that were not flushed are tried again by the next call.
        """
        while self.unflushed:
            folder = self.unflushed.pop()
            try:
                self._flush_folder(folder)
            except OSError as error:
                self.unflushed.add(folder)
                raise files.translate_os_error("flush", self.real / folder, error) from error

    def _flush_folder(self, folder: str) -> None:
        """Flush one folder, unless a person moved or deleted it, or put a link, a file or a mount in its place."""
        try:
            handle = self._open_folder_below(folder)
        except OSError as error:
            if error.errno in _GONE_OR_REPLACED:
                return
            raise
        try:
            os.fsync(handle)
        finally:
            files.close_quietly(handle)

    def open_below(self, path: str, flags: int) -> int:
        """Return a handle of `path`, which the caller closes. Raises OSError as `syscalls.open_beneath`."""
        return syscalls.open_beneath(self.handle, _safe_path(path), flags | os.O_NOCTTY)

    @contextmanager
    def folder_of(self, path: str, *, create: bool = False) -> Iterator[tuple[int, str]]:
        """Yield an open handle of the folder of `path`, and the last segment of `path`.

        With `create`, missing folders are made, readable by their owner alone. Raises OSError.
        """
        parent, _, name = _safe_path(path).rpartition("/")
        handle = self._make_folder(parent) if create else self._open_folder_below(parent)
        try:
            yield handle, name
        finally:
            files.close_quietly(handle)

    def _open_folder_below(self, folder: str) -> int:
        """Return a handle of a folder below the root, "" for the root itself."""
        return syscalls.open_beneath(self.handle, folder, _FOLDER_FLAGS) if folder else os.dup(self.handle)

    def _make_folder(self, folder: str) -> int:
        """Return a handle of a folder below the root; it and the folders above it are made if missing."""
        try:
            return self._open_folder_below(folder)
        except FileNotFoundError:
            above, _, name = folder.rpartition("/")
        handle = self._make_folder(above)
        try:
            os.mkdir(name, 0o700, dir_fd=handle)
            os.fsync(handle)
        except FileExistsError:
            return self._open_folder_below(folder)  # created concurrently, and perhaps no folder
        finally:
            files.close_quietly(handle)
        return self._open_folder_below(folder)

    def _claim(self, *, fresh: bool) -> None:
        """Write the space file of a fresh folder; add the store id to one that lacks it. Raises Conflict."""
        try:
            content = self._read_space_file()
            if content is not None or not fresh:
                self._check_space_file(content)
            if content is None or "store" not in content:
                self._write_space_file()
        except OSError as error:
            raise files.translate_os_error("mark", self.real / SPACE_FILE, error) from error

    def _write_space_file(self) -> None:
        with self.folder_of(SPACE_FILE, create=True) as (folder, name):
            content = {"space": self.space, "store": self.store_id, "format": FORMAT}
            files.replace(folder, name, orjson.dumps(content) + b"\n", 0o600)

    def _read_space_file(self) -> dict[str, object] | None:
        """Return the content of the space file, None if there is none, and {} if it cannot be read as one."""
        try:
            handle = self.open_below(SPACE_FILE, os.O_RDONLY | os.O_NONBLOCK)
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno in {errno.ELOOP, errno.ENOTDIR, errno.EXDEV, errno.ENXIO}:
                return {}
            raise files.translate_os_error("read", self.real / SPACE_FILE, error) from error
        try:
            content = orjson.loads(os.read(handle, _SPACE_FILE_BYTES_MAX))
        except (orjson.JSONDecodeError, IsADirectoryError, BlockingIOError):
            return {}
        finally:
            files.close_quietly(handle)
        return content if isinstance(content, dict) else {}

    def _check_space_file(self, content: dict[str, object] | None) -> None:
        """Check that the content of a space file names this space, and a store if the folder is not known by itself.

        Raises Conflict.
        """
        if content is None:
            raise self._unmarked(self.handle)
        if content.get("space") != self.space:
            raise _stopped(
                "root_of_another_space",
                self.real,
                f"does not belong to space {self.space!r} of this store",
                first=f"or, to give it to this space, `rm {shlex.quote(str(self.real / SPACE_FILE))}`",
            )
        mark = str(content.get("store", self.store_id))
        if not self._is_known and mark not in self._marks:
            raise _stopped(
                "root_of_another_store", self.real, "is used by another store, perhaps of a machine that shares it"
            )
        self.mark = mark

    def _unmarked(self, folder: Path | int) -> Conflict:
        if _is_empty(folder):
            return _stopped("root_empty", self.real, "is empty, and so not the folder that was written before")
        return _stopped("root_unmarked", self.real, f"has no space file ({SPACE_FILE})")


def _open_folder(path: Path, *, make: bool) -> tuple[Path, int]:
    """Return the resolved path and an open handle of the folder there, which is made with `make`. Raises Conflict."""
    real = Path(os.path.realpath(path))
    try:
        if make:
            make_private(real)
        return real, os.open(real, _FOLDER_FLAGS | os.O_NOFOLLOW)
    except (NotADirectoryError, FileExistsError) as error:
        raise _stopped("root_missing", real, "is not a folder", first="or move away what is there") from error
    except FileNotFoundError as error:
        raise _stopped("root_missing", real, "is not there", accepted="have its files written anew") from error
    except OSError as error:
        raise files.translate_os_error("open", real, error) from error


def _safe_path(path: str) -> str:
    """Return `path` if no segment of it leads outside the root. Raises ValidationError."""
    if "\0" in path or not _FORBIDDEN_SEGMENTS.isdisjoint(path.split("/")) or _SURROGATE.search(path):
        raise ValidationError(f"{path!a} is not a name inside a folder", hint="use a name such as facts/user.md")
    return path


def _is_empty(folder: Path | int) -> bool:
    try:
        with os.scandir(folder) as entries:
            return next(entries, None) is None
    except OSError as error:
        raise Forbidden(f"cannot list the root: {error.strerror}", hint="look at its owner and mode") from error


def _stopped(
    reason: RootProblem,
    root: Path,
    what: str,
    *,
    first: str | None = None,
    accepted: str = "accept the one that is there",
) -> Conflict:
    """Return the Conflict error for a root that cannot be used; `first` is a step before `--accept-folder`.

    `accepted` is what that does.
    """
    accept = "reverie sync now --accept-folder"
    accepting = f"{first}, then: {accept}" if first else f"or {accepted}: {accept}"
    return Conflict(
        f"{root} {what}; nothing was read from it or written to it",
        hint=f"restore the folder, {accepting} (nothing is deleted)",
        reason=reason,
        root=str(root),
    )
