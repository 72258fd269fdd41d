"""Write and remove files by atomic exchange, so that a save which races with the write is never lost.

The new bytes are written into `.reverie/swap/`, flushed, and exchanged with the file in one step. What comes out is
what was there at that very moment: if it is not what was expected, somebody saved meanwhile, and it goes back in. If it
is, or if somebody is writing to it, it is kept for a while: an editor that opened it earlier writes to it, not to ours.
The exchange itself is durable once `Root.flush` was called, which is done before anything relies on it: until then a
power loss may bring back the file that was there before, whole, and known as such.

Why not check the file and then rename over it: between the two, another save is lost. Of 4,000 raced saves 362 were.

A file there is named `out-<path>-<new>-<old>-<random>`: SHA-256 of the document's path (32 digits), of the bytes that
went in and of those that were expected to come out (64 each, zeros for no file). So after a crash each one says what it
is for, and whether it holds anything but what it held before. `new-...` are bytes of ours that were never put anywhere.

Where the file system cannot exchange, the file gets a second name in the swap folder, is checked, and is then renamed
over: a save by rename that falls between those last two steps, some microseconds, is lost there.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from reverie import files, syscalls
from reverie.errors import Forbidden, ReverieError, StorageFailed
from reverie.sync.displaced import (
    READ_FLAGS,
    SWAP_FOLDER,
    DisplacedFile,
    SwapName,
    digest_at,
    digest_of,
    open_swap_folder,
    read_all,
)
from reverie.sync.scan import Stamp

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reverie.sync.root import Root


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

    def displaced(self, name: str, expected: str | None) -> DisplacedFile:
        """Return the displaced file that is in the swap folder as `name`."""
        return DisplacedFile(self.root, self.path, name, expected)

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
    for name in slot.scratch_names:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=slot.swap)


@contextmanager
def mapped_errors(verb: str, root: Root, path: str) -> Iterator[None]:
    """Turn an OSError of the with-body into the library's error for a document to be written or removed."""
    try:
        yield
    except OSError as error:
        failure = files.translate_os_error(verb, root.real / path, error)
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
        syscalls.rename_new(name, folder, new, new_folder)
    except syscalls.Unsupported:
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


_CREATE_FLAGS: Final = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_EXCHANGES_MAX: Final = 1000
"""Exchanges after which a file that is saved again each time is not written; its last save stays in the swap folder."""


@dataclass(frozen=True, slots=True)
class Written:
    """Result of a write that was made: the file has the bytes, durably once the root is flushed.

    `stamp` is the new file's; None: somebody has begun to change it again. `displaced` is the file that was replaced,
    to be settled after a grace time; None if there was none.
    """

    stamp: Stamp | None
    displaced: DisplacedFile | None


@dataclass(frozen=True, slots=True)
class Removed:
    """Result of a removal that was made; `displaced` is the removed file, to be settled after a grace time."""

    displaced: DisplacedFile


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Result of a write or removal that was not made, because another file was there than expected.

    `actual` is the SHA-256 of the file that is there now, None for no file or none that can be read. `saves` are the
    whole texts that came out, oldest first: they have to be merged even if they are not in the folder any more, since
    `exposed` says that our bytes were at the path for a moment, and somebody may have opened or moved those.
    `displaced` came out last and is to be settled as after a write.
    """

    actual: str | None
    displaced: DisplacedFile | None = None
    saves: tuple[bytes, ...] = ()
    exposed: bool = False


@dataclass(frozen=True, slots=True)
class _SwappedOut:
    """The file that an exchange moved into the swap folder: its inode, and its bytes unless it is being written."""

    inode: int
    data: bytes | None
    writing: bool = False


def write_file(root: Root, path: str, data: bytes, *, expected: str | None, mode: int = 0o600) -> Written | Mismatch:
    """Write `data` at `path` if the file there has the SHA-256 `expected` (None: no file); return Written or Mismatch.

    A compare-and-swap. A new file gets `mode`, and missing folders are made; one that is replaced hands down its mode,
    owner, extended attributes and access list. The file is never written in place, so its other hard links keep their
    bytes. Raises Forbidden (a link, folder or device is there; no right to write; immutable), DiskFull, StorageFailed,
    Conflict (the root is not what it was, see `Root.verify`): the folder is then as it was or has the new file whole,
    and no save is lost.
    """
    with mapped_errors("write", root, path), open_slot(root, path, create=expected is None) as slot:
        if slot is None:
            return Mismatch(None)
        old = open_regular_file(slot)
        try:
            actual = None if old is None else digest_of(old)
            # This check spares most races the exchange back; the one after the exchange is the one that counts.
            if (old is None) != (expected is None) or actual != expected:
                return Mismatch(actual)
            return _replace(slot, data, old, expected, mode)
        finally:
            if old is not None:
                files.close_quietly(old)


def current_sha256(root: Root, path: str) -> str | None:
    """Return the SHA-256 of the file at `path`, None for no file. Raises as `write_file`; needs no room to write."""
    with mapped_errors("read", root, path):
        try:
            with root.folder_of(path) as (folder, name):
                return digest_at(folder, name)
        except FileNotFoundError:
            return None


def probe(root: Root) -> ReverieError | None:
    """Return the error of writing a scratch file into the swap folder, None if it can be written and removed."""
    try:
        with mapped_errors("write", root, SWAP_FOLDER), open_swap_folder(root) as folder:
            name = f"new-{os.urandom(6).hex()}"
            handle = os.open(name, _CREATE_FLAGS, 0o600, dir_fd=folder)
            files.close_quietly(handle)
            os.unlink(name, dir_fd=folder)
    except ReverieError as error:
        return error
    return None


def remove_file(root: Root, path: str, *, expected: str) -> Removed | Mismatch:
    """Remove the file at `path` if it has the SHA-256 `expected`; return Removed or Mismatch. Folders stay.

    Raises as `write_file`.
    """
    with mapped_errors("remove", root, path), open_slot(root, path, create=False) as slot:
        if slot is None:
            return Mismatch(None)
        old = open_regular_file(slot)
        if old is None:
            return Mismatch(None)
        try:
            actual = digest_of(old)
        finally:
            files.close_quietly(old)
        return Mismatch(actual) if actual != expected else _take_out(slot, expected)


def _replace(slot: FileSlot, data: bytes, old: int | None, expected: str | None, mode: int) -> Written | Mismatch:
    """Exchange the checked file with one that has `data`, then check the displaced file again."""
    handle, name = _prepared_file(slot, data, old, expected, mode)
    try:
        if expected is None:
            return _add_new(slot, handle, name, data)
        try:
            syscalls.exchange(name, slot.swap, slot.name, slot.folder)
        except FileNotFoundError:
            return Mismatch(None)
        except syscalls.Unsupported:
            return _replace_by_link(slot, handle, name, data, expected)
        # From here on `name` is the file that was at the path. It may be a person's save: no longer a scratch file.
        slot.scratch_names.clear()
        if digest_at(slot.swap, name) != expected:
            return _exchange_back(slot, handle, name, data, expected)
        slot.mark_unflushed()
        return Written(_own_stamp(handle, data), slot.displaced(name, expected))
    finally:
        files.close_quietly(handle)


def _prepared_file(slot: FileSlot, data: bytes, old: int | None, expected: str | None, mode: int) -> tuple[int, str]:
    """Return a read handle of a file in the swap folder that holds `data` durably, and its name there.

    It gets its speaking name only when it is complete: a `new-...` that a crash leaves may be half a file. It is open
    for writing no more: to close it once it is at its path would look like the end of a save to all who watch that.
    """
    swap_name = SwapName.create(slot.path, sha256(data).hexdigest(), expected)
    draft, name = f"new-{swap_name.random}", str(swap_name)
    slot.scratch_names += [draft, name]
    handle = os.open(draft, _CREATE_FLAGS, 0o600, dir_fd=slot.swap)
    try:
        files.write_all(handle, data)
        if old is None:
            os.fchmod(handle, mode)
        else:
            copy_metadata(handle, old)
        os.fsync(handle)
        os.rename(draft, name, src_dir_fd=slot.swap, dst_dir_fd=slot.swap)
        reading = os.open(name, READ_FLAGS, dir_fd=slot.swap)
    finally:
        files.close_quietly(handle)
    return reading, name


def _add_new(slot: FileSlot, handle: int, name: str, data: bytes) -> Written | Mismatch:
    try:
        rename_new(name, slot.swap, slot.name, slot.folder)
    except FileExistsError:
        return Mismatch(slot.current_sha256())
    slot.mark_unflushed()
    return Written(_own_stamp(handle, data), None)


def _take_out(slot: FileSlot, expected: str) -> Removed | Mismatch:
    """Move the checked file into the swap folder, check it again, and put it back if it was saved meanwhile."""
    name = str(SwapName.create(slot.path, None, expected))
    try:
        rename_new(slot.name, slot.folder, name, slot.swap)
    except FileNotFoundError:
        return Mismatch(None)
    actual = digest_at(slot.swap, name)
    if actual == expected:
        slot.mark_unflushed()
        return Removed(slot.displaced(name, expected))
    try:
        rename_new(name, slot.swap, slot.name, slot.folder)
    except FileExistsError:
        # Saved twice while it was out: the newer is in its place, and the older is not lost.
        slot.flush()
        return Mismatch(slot.current_sha256(), slot.displaced(name, None))
    slot.flush()
    return Mismatch(actual)


def _exchange_back(slot: FileSlot, handle: int, name: str, data: bytes, expected: str | None) -> Written | Mismatch:
    """Put the save that an exchange brought out back at its path, repeated until the newest save is there.

    Each exchange may bring out another save, made in between and newer than what went in; the last one is reached when
    nothing comes out but what was put in just before. Example: A came out instead of the expected file; putting A back
    brings out B, saved meanwhile; putting B back brings out A: now B, the newest, is at the path, and A is displaced.
    A file that is being written stays out: back in its place it could be overwritten, by somebody who had opened our
    bytes, before it was ever whole to be read. Nor does a save go back where our bytes are gone: they may have been
    moved, and there would be two files.
    """
    own = last = os.fstat(handle).st_ino
    saves: dict[int, bytes] = {}
    with ExitStack() as open_files:  # all stay open: an inode number is reused as soon as its file is gone
        for turn in range(_EXCHANGES_MAX):
            came_out = _swapped_out(slot, name, open_files)
            if came_out.writing and turn == 0:
                # Our bytes are in place and the half-written file is displaced: `settle` returns it once it is closed.
                slot.flush()
                return Written(_own_stamp(handle, data), slot.displaced(name, expected))
            if came_out.writing:
                break
            if came_out.data is not None:
                saves[came_out.inode] = came_out.data
            try:
                syscalls.exchange(name, slot.swap, slot.name, slot.folder)
            except FileNotFoundError:
                break
            if slot.swap_inode(name) == last:  # nobody saved between the last two exchanges
                break
            last = came_out.inode
        slot.flush()
        # Even our own bytes were in the folder for a moment, and somebody may have opened them.
        before = {**saves, own: data}.get(slot.swap_inode(name))
        expected = None if before is None else sha256(before).hexdigest()
        return Mismatch(slot.current_sha256(), slot.displaced(name, expected), tuple(saves.values()), exposed=True)


def _swapped_out(slot: FileSlot, name: str, open_files: ExitStack) -> _SwappedOut:
    """Return the file that an exchange moved to the swap folder; a link or folder has no data."""
    try:
        handle = os.open(name, READ_FLAGS, dir_fd=slot.swap)
    except OSError:
        return _SwappedOut(slot.swap_inode(name), None)
    open_files.callback(files.close_quietly, handle)
    inode = os.fstat(handle).st_ino
    if syscalls.is_open_for_writing(handle):
        return _SwappedOut(inode, None, writing=True)
    return _SwappedOut(inode, read_all(handle))


def _replace_by_link(slot: FileSlot, handle: int, name: str, data: bytes, expected: str) -> Written | Mismatch:
    """Replace the file without an atomic exchange: link it into the swap folder, check it, rename over it."""
    linked = str(SwapName.create(slot.path, sha256(data).hexdigest(), expected))
    try:
        link(slot.name, slot.folder, linked, slot.swap)
    except FileNotFoundError:
        return Mismatch(None)
    slot.scratch_names.append(linked)
    actual = digest_at(slot.swap, linked)
    if actual != expected or not _is_linked_file(slot, linked):
        return Mismatch(slot.current_sha256())
    os.rename(name, slot.name, src_dir_fd=slot.swap, dst_dir_fd=slot.folder)
    slot.scratch_names.clear()
    slot.mark_unflushed()
    return Written(_own_stamp(handle, data), slot.displaced(linked, expected))


def _is_linked_file(slot: FileSlot, linked: str) -> bool:
    """Return True if the file at the path still is the one that was linked into the swap folder."""
    try:
        now = os.stat(slot.name, dir_fd=slot.folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return now.st_ino == os.stat(linked, dir_fd=slot.swap, follow_symlinks=False).st_ino


def _own_stamp(handle: int, data: bytes) -> Stamp | None:
    """Return the stamp of our file at its path, or None if it does not hold our bytes at that stamp any more."""
    before = os.fstat(handle)
    if os.pread(handle, len(data) + 1, 0) != data:
        return None
    after = os.fstat(handle)
    stamp = Stamp(after.st_ino, after.st_size, after.st_mtime_ns, after.st_ctime_ns)
    return stamp if (before.st_mtime_ns, before.st_ctime_ns) == stamp[2:] else None
