"""Where a change to one document happens: its open folder, the open swap folder, and how files move between them."""

from __future__ import annotations

import os
import stat
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reverie import files, kernel
from reverie.errors import Forbidden, StorageFailed
from reverie.sync.swap_recovery import READ, SWAP, Displaced, digest_at, swap_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reverie.sync.root import Root

__all__ = ["Place", "failing", "link", "opened", "placed", "rename_new"]


@dataclass(slots=True)
class Place:
    """Where a change happens: the open folder with the name in it, and the open swap folder."""

    root: Root
    path: str
    folder: int
    name: str
    swap: int
    fresh: list[str] = field(default_factory=list)  # names in the swap folder that hold nothing but our bytes

    def found(self) -> str | None:
        """The SHA-256 of what is at the document's path now; None for nothing that can be read."""
        return digest_at(self.folder, self.name)

    def ino(self, name: str) -> int:
        """The inode of what is in the swap folder now."""
        return os.stat(name, dir_fd=self.swap, follow_symlinks=False).st_ino

    def displaced(self, name: str, expected: str | None, *, writing: bool = False) -> Displaced:
        """What came out and is in the swap folder as `name`."""
        return Displaced(self.root, self.path, name, expected, writing=writing)

    def landed(self) -> None:
        """The renames of both folders are to outlast a loss of power once `Root.flush` has been called."""
        self.root.unflushed |= {self.path.rpartition("/")[0], SWAP}

    def flush(self) -> None:
        """Makes the renames of both folders durable."""
        os.fsync(self.folder)
        os.fsync(self.swap)


@contextmanager
def placed(root: Root, path: str, *, create: bool) -> Iterator[Place | None]:
    """None where the folder is missing. Names of ours that were not put anywhere are gone at the end."""
    root.verify()
    with ExitStack() as stack:
        swap = stack.enter_context(swap_folder(root))
        try:
            folder, name = stack.enter_context(root.folder_of(path, create=create))
        except FileNotFoundError:
            place = None
        else:
            place = Place(root, path, folder, name, swap)
            stack.callback(_tidy, place)
        yield place


def _tidy(place: Place) -> None:
    for name in place.fresh:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=place.swap)


@contextmanager
def failing(verb: str, root: Root, path: str) -> Iterator[None]:
    """Says what an error of the system means for a document that one wanted to `verb`."""
    try:
        yield
    except OSError as error:
        failed = files.failure(verb, root.real / path, error)
        failed.details.setdefault("path", path)
        raise failed from error


def opened(place: Place) -> int | None:
    """A handle of the file that is there, or None. Raises Forbidden for anything but a regular file, OSError."""
    try:
        found = os.stat(place.name, dir_fd=place.folder, follow_symlinks=False)
        if not stat.S_ISREG(found.st_mode):
            where = place.root.real / place.path
            raise Forbidden(f"{where} is no regular file", hint="move it away", path=place.path)
        return os.open(place.name, READ, dir_fd=place.folder)
    except FileNotFoundError:
        return None


def rename_new(name: str, folder: int, new: str, new_folder: int) -> None:
    """Renames to a name that is not there; by a link where the file system has nothing better. Raises OSError."""
    try:
        kernel.rename_new(name, folder, new, new_folder)
    except kernel.Unsupported:
        link(name, folder, new, new_folder)
        os.unlink(name, dir_fd=folder)


def link(name: str, folder: int, new: str, new_folder: int) -> None:
    """Gives a file a second name. Raises OSError, StorageFailed where the file system knows no second names."""
    try:
        os.link(name, new, src_dir_fd=folder, dst_dir_fd=new_folder, follow_symlinks=False)
    except PermissionError as error:
        raise StorageFailed(
            "the file system can neither exchange nor link files",
            hint="keep the folder on a file system such as ext4, xfs, btrfs or tmpfs",
        ) from error
