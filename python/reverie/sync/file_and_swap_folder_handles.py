"""The handles for changing one file: its open folder and the open swap folder, and moves between the two.

Everything goes through open directory handles, so a folder that is renamed or replaced by a link meanwhile leads
nowhere else. Also here: copying the metadata of a file (mode, owner, attributes, access list) to its replacement.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from reverie import atomic_no_symlink_file_io, linux_syscalls
from reverie.errors import Forbidden, StorageFailed
from reverie.sync.check_and_recover_displaced_files import (
    READ_FLAGS,
    SWAP_FOLDER,
    DisplacedFile,
    digest_at,
    open_swap_folder,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reverie.sync.open_and_verify_root_folder import Root

_OPTIONAL_ATTRIBUTE_ERRORS: Final = frozenset({errno.EPERM, errno.EACCES, errno.EOPNOTSUPP, errno.EINVAL})
_USER_ATTRIBUTES: Final = "user."
_PERMISSION_BITS: Final = 0o777


@dataclass(slots=True)
class FileSlot:
    """One document's open folder with the name in it, and the open swap folder; both are directory handles."""

    root: Root
    path: str
    folder: int
    name: str
    swap: int
    scratch_names: list[str] = field(default_factory=list)  # names in the swap folder that hold only our own bytes

    def current_sha256(self) -> str | None:
        """Return the SHA-256 of the file at the document's path now, or None without a readable file."""
        return digest_at(self.folder, self.name)

    def swap_inode(self, name: str) -> int:
        """Return the inode number of a file in the swap folder."""
        return os.stat(name, dir_fd=self.swap, follow_symlinks=False).st_ino

    def displaced(self, name: str, expected: str | None, *, writing: bool = False) -> DisplacedFile:
        """Return the displaced file that is in the swap folder as `name`."""
        return DisplacedFile(self.root, self.path, name, expected, writing=writing)

    def mark_unflushed(self) -> None:
        """Note that the renames in both folders have to be made durable by the next `Root.flush`."""
        self.root.unflushed |= {self.path.rpartition("/")[0], SWAP_FOLDER}

    def flush(self) -> None:
        """Make the renames in both folders durable now."""
        os.fsync(self.folder)
        os.fsync(self.swap)


@contextmanager
def open_slot(root: Root, path: str, *, create: bool) -> Iterator[FileSlot | None]:
    """Yield the slot of `path`, or None if its folder is missing; remove its scratch files in the end."""
    root.verify()
    with ExitStack() as stack:
        swap = stack.enter_context(open_swap_folder(root))
        try:
            folder, name = stack.enter_context(root.folder_of(path, create=create))
        except FileNotFoundError:
            slot = None
        else:
            slot = FileSlot(root, path, folder, name, swap)
            stack.callback(_remove_scratch_files, slot)
        yield slot


def _remove_scratch_files(slot: FileSlot) -> None:
    """Remove the scratch files of a slot from the swap folder."""
    for name in slot.scratch_names:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=slot.swap)


@contextmanager
def mapped_errors(verb: str, root: Root, path: str) -> Iterator[None]:
    """Turn an OSError of the with-body into the library's error for a document to be written or removed."""
    try:
        yield
    except OSError as error:
        failure = atomic_no_symlink_file_io.translate_os_error(verb, root.real / path, error)
        failure.details.setdefault("path", path)
        raise failure from error


def open_regular_file(slot: FileSlot) -> int | None:
    """Return a read handle of the slot's file, or None. Raises Forbidden for anything but a regular file, OSError."""
    try:
        status = os.stat(slot.name, dir_fd=slot.folder, follow_symlinks=False)
        if not stat.S_ISREG(status.st_mode):
            where = slot.root.real / slot.path
            raise Forbidden(f"{where} is no regular file", hint="move it away", path=slot.path)
        return os.open(slot.name, READ_FLAGS, dir_fd=slot.folder)
    except FileNotFoundError:
        return None


def rename_new(name: str, folder: int, new: str, new_folder: int) -> None:
    """Rename to a name that must not exist; by link and unlink if that is not supported. Raises OSError."""
    try:
        linux_syscalls.rename_new(name, folder, new, new_folder)
    except linux_syscalls.Unsupported:
        link(name, folder, new, new_folder)
        os.unlink(name, dir_fd=folder)


def link(name: str, folder: int, new: str, new_folder: int) -> None:
    """Give a file a second name. Raises OSError, StorageFailed if the file system has no hard links."""
    try:
        os.link(name, new, src_dir_fd=folder, dst_dir_fd=new_folder, follow_symlinks=False)
    except PermissionError as error:
        raise StorageFailed(
            "the file system can neither exchange nor link files",
            hint="keep the folder on a file system such as ext4, xfs, btrfs or tmpfs",
        ) from error


def copy_metadata(new: int, old: int) -> None:
    """Copy mode, owner, extended attributes and access list of the open file `old` to the open file `new`.

    The owner and the attributes that only the system may set are left as they are where we may not set them; people's
    own attributes (`user.*`) and the mode must be copied. Raises OSError.
    """
    source, target = os.fstat(old), os.fstat(new)
    mode = stat.S_IMODE(source.st_mode)
    is_foreign = (source.st_uid, source.st_gid) != (target.st_uid, target.st_gid)
    if is_foreign and not _change_owner(new, source.st_uid, source.st_gid):
        # Without setuid, setgid and sticky bit: another user's program must not become one that runs as us.
        mode &= _PERMISSION_BITS
    os.fchmod(new, mode)
    for name in _extended_attributes(old):
        try:
            os.setxattr(new, name, os.getxattr(old, name))
        except OSError as error:
            if name.startswith(_USER_ATTRIBUTES) or error.errno not in _OPTIONAL_ATTRIBUTE_ERRORS:
                raise


def _change_owner(handle: int, uid: int, gid: int) -> bool:
    """Set the owner of an open file; return False if the system does not permit it."""
    try:
        os.fchown(handle, uid, gid)
    except PermissionError:
        return False
    return True


def _extended_attributes(handle: int) -> list[str]:
    """Return the names of an open file's extended attributes; none where the file system has no such thing."""
    try:
        return os.listxattr(handle)
    except OSError as error:
        if error.errno == errno.EOPNOTSUPP:
            return []
        raise
