"""A space's folder, pinned: whatever happens to its name, what is read and written is the folder that was opened."""

from __future__ import annotations

import errno
import os
import re
import shlex
import stat
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, Self, TypeAlias

import orjson

from reverie import files, kernel
from reverie.errors import Conflict, Forbidden, ValidationError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["MARK", "Root", "Trouble"]

MARK: Final = ".reverie/space.json"
FORMAT: Final = 1
_MARK_BYTES_MAX: Final = 4096
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NONBLOCK | os.O_CLOEXEC
_ANOTHER: Final = frozenset({errno.ENOENT, errno.ELOOP, errno.ENOTDIR, errno.EXDEV})  # it is not there, or not the one
_NO_STEP: Final = frozenset({"", ".", ".."})
_HALF: Final = re.compile("[\ud800-\udc7f\udd00-\udfff]")  # half a character, that no file name can hold

Trouble: TypeAlias = Literal["root_missing", "root_swapped", "root_unmarked", "root_of_another_space", "root_empty"]


class Root:
    """The folder of one space, held open. `path` is what was asked for, `real` where that led when it was opened.

    Made by `open`; `close` it, or use it as a context manager. Everything below is reached from the open folder,
    through no symbolic link and into no other mount, so neither a renamed root nor a swapped folder leads outside.
    """

    def __init__(self, path: Path, real: Path, handle: int, *, space: str, store_id: str) -> None:
        self.path = path
        self.real = real
        self.handle = handle
        self.space = space
        self.store_id = store_id
        found = os.fstat(handle)
        self.identity = (found.st_dev, found.st_ino)
        self.held: set[str] = set()  # names in the swap folder that this process still looks after
        self.unflushed: set[str] = set()  # folders in which names were changed since the last flush

    @classmethod
    def open(cls, path: Path, *, space: str, store_id: str, fresh: bool) -> Self:
        """Opens the folder at `path` and checks its mark. A path that is itself a link is resolved here, once.

        `fresh`: the store has never written there, so the folder may be made, and be marked where it bears no mark.
        Raises Conflict as `verify` does, Forbidden and StorageFailed when the system does not let us.
        """
        root = cls(path, *_found(path, make=fresh), space=space, store_id=store_id)
        try:
            root._claim(fresh=fresh)
        except BaseException:
            root.close()
            raise
        return root

    @classmethod
    def prepare(cls, path: Path, *, space: str, store_id: str) -> None:
        """Makes the folder at `path` where there is none, without a mark.

        Raises Conflict where another space's or store's is there, Forbidden and StorageFailed when the system does not
        let us.
        """
        root = cls(path, *_found(path, make=True), space=space, store_id=store_id)
        with root:
            mark = root._mark()
            if mark is not None:
                root._check(mark)

    def close(self) -> None:
        """Lets the folder go. Closing twice does nothing."""
        if self.handle >= 0:
            files.release(self.handle)
            self.handle = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def verify(self) -> None:
        """Checks that the folder is still where it was, and still ours; to be called before a look and before writing.

        Raises Conflict with `details.reason`: `root_missing`, `root_swapped` (another folder, or another file system
        over it), `root_empty` (nothing in it, not even our mark), `root_unmarked`, `root_of_another_space`. None of
        them means that anybody deleted documents.
        """
        self._same()
        self._check(self._mark())

    def find(self) -> None:
        """As `verify`, by names alone: whatever bears the name of a mark is one. From any thread, also when closed.

        Raises as `verify`.
        """
        self._same()
        if not os.path.lexists(self.real / MARK):
            raise self._bare(self.real)

    def _same(self) -> None:
        try:
            found = self.real.lstat()
        except (FileNotFoundError, NotADirectoryError) as error:
            raise _stopped("root_missing", self.real, "is gone") from error
        except OSError as error:
            raise files.failure("look at", self.real, error) from error
        if not stat.S_ISDIR(found.st_mode):
            raise _stopped("root_swapped", self.real, "is not the folder that it was")
        if (found.st_dev, found.st_ino) != self.identity:
            if _is_empty(self.real):
                raise _stopped("root_empty", self.real, "is now an empty folder")
            raise _stopped("root_swapped", self.real, "is another folder than before")

    def flush(self) -> None:
        """Makes every change of a name that was made so far outlast a loss of power. From any thread.

        Raises Forbidden and StorageFailed; the folders that are not flushed stay noted.
        """
        while self.unflushed:
            folder = self.unflushed.pop()
            try:
                self._flush(folder)
            except OSError as error:
                self.unflushed.add(folder)
                raise files.failure("flush", self.real / folder, error) from error

    def _flush(self, folder: str) -> None:
        """Nothing where a person has moved it away, deleted it, or put a link, a file or a mount in its place."""
        try:
            handle = self._opened(folder)
        except OSError as error:
            if error.errno in _ANOTHER:
                return
            raise
        try:
            os.fsync(handle)
        finally:
            files.release(handle)

    def open_below(self, path: str, flags: int) -> int:
        """A handle of `path`, which the caller closes. Raises OSError as `kernel.open_beneath`."""
        return kernel.open_beneath(self.handle, _checked(path), flags | os.O_NOCTTY)

    @contextmanager
    def folder_of(self, path: str, *, create: bool = False) -> Iterator[tuple[int, str]]:
        """An open handle of the folder that holds `path`, and the last part of its name.

        With `create`, missing folders are made, readable by their owner alone. Raises OSError.
        """
        parent, _, name = _checked(path).rpartition("/")
        handle = self._made(parent) if create else self._opened(parent)
        try:
            yield handle, name
        finally:
            files.release(handle)

    def _opened(self, folder: str) -> int:
        return kernel.open_beneath(self.handle, folder, _FOLDER) if folder else os.dup(self.handle)

    def _made(self, folder: str) -> int:
        try:
            return self._opened(folder)
        except FileNotFoundError:
            above, _, name = folder.rpartition("/")
        handle = self._made(above)
        try:
            os.mkdir(name, 0o700, dir_fd=handle)
            os.fsync(handle)
        except FileExistsError:
            return self._opened(folder)  # made by somebody meanwhile, and perhaps no folder
        finally:
            files.release(handle)
        return self._opened(folder)

    def _claim(self, *, fresh: bool) -> None:
        """Marks a folder that bears no mark where it may; completes a mark that does not name the store yet."""
        try:
            mark = self._mark()
            if mark is None and not fresh:
                self._check(mark)
            if mark is not None:
                self._check(mark)
            if mark is None or "store" not in mark:
                self._sign()
        except OSError as error:
            raise files.failure("mark", self.real / MARK, error) from error

    def _sign(self) -> None:
        with self.folder_of(MARK, create=True) as (folder, name):
            told = {"space": self.space, "store": self.store_id, "format": FORMAT}
            files.replace(folder, name, orjson.dumps(told) + b"\n", 0o600)

    def _mark(self) -> dict[str, object] | None:
        """What the mark says, None where there is none; what cannot be read as a mark says nothing."""
        try:
            handle = self.open_below(MARK, os.O_RDONLY | os.O_NONBLOCK)
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno in {errno.ELOOP, errno.ENOTDIR, errno.EXDEV, errno.ENXIO}:
                return {}
            raise files.failure("read", self.real / MARK, error) from error
        try:
            held = orjson.loads(os.read(handle, _MARK_BYTES_MAX))
        except (orjson.JSONDecodeError, IsADirectoryError, BlockingIOError):
            return {}
        finally:
            files.release(handle)
        return held if isinstance(held, dict) else {}

    def _check(self, mark: dict[str, object] | None) -> None:
        if mark is None:
            raise self._bare(self.handle)
        if mark.get("space") != self.space or mark.get("store", self.store_id) != self.store_id:
            raise _stopped(
                "root_of_another_space",
                self.real,
                f"does not belong to space {self.space!r} of this store",
                first=f"or, if it is this space's from now on, `rm {shlex.quote(str(self.real / MARK))}`",
            )

    def _bare(self, folder: Path | int) -> Conflict:
        if _is_empty(folder):
            return _stopped("root_empty", self.real, "is empty, and so not the folder that was written before")
        return _stopped("root_unmarked", self.real, f"bears no mark ({MARK})")


def _found(path: Path, *, make: bool) -> tuple[Path, int]:
    """Where a path leads, and an open handle of the folder there."""
    real = Path(os.path.realpath(path))
    try:
        if make:
            real.mkdir(mode=0o700, parents=True, exist_ok=True)
        return real, os.open(real, _FOLDER | os.O_NOFOLLOW)
    except (NotADirectoryError, FileExistsError) as error:
        raise _stopped("root_missing", real, "is not a folder", first="or move away what is there") from error
    except FileNotFoundError as error:
        raise _stopped("root_missing", real, "is not there") from error
    except OSError as error:
        raise files.failure("open", real, error) from error


def _checked(path: str) -> str:
    """A name without steps that lead elsewhere; which names may be is `paths.safe_relative`'s to say."""
    if "\0" in path or not _NO_STEP.isdisjoint(path.split("/")) or _HALF.search(path):
        raise ValidationError(f"{path!a} is not a name inside a folder", hint="use a name such as facts/user.md")
    return path


def _is_empty(folder: Path | int) -> bool:
    try:
        with os.scandir(folder) as entries:
            return next(entries, None) is None
    except OSError as error:
        raise Forbidden(f"cannot list the root: {error.strerror}", hint="look at its owner and mode") from error


def _stopped(reason: Trouble, root: Path, what: str, *, first: str | None = None) -> Conflict:
    """`first` is what has to be done before the folder can be given to the space."""
    accept = "reverie sync now --accept-folder"
    given = f"{first}, then: {accept}" if first else f"or, if it is the space's from now on: {accept}"
    return Conflict(
        f"{root} {what}; nothing was read from it or written to it",
        hint=f"bring the folder back, {given} (nothing is deleted)",
        reason=reason,
        root=str(root),
    )
