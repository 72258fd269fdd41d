"""Changes a person's folder so that no save of theirs is lost: what is replaced is taken out whole, and looked at.

The new bytes are written into `.reverie/swap/`, flushed, and exchanged with the file in one step. What comes out is
what was there at that very moment: if it is not what was expected, somebody saved meanwhile, and it goes back in. If it
is, or if somebody is writing to it, it is kept for a while: an editor that opened it earlier writes to it, not to ours.
The exchange itself lasts once `Root.flush` was called, which is done before anybody relies on it: until then a loss of
power may bring back the file that was there before, whole, and known as such.

A file there is named `out-<path>-<new>-<old>-<random>`: SHA-256 of the document's path (32 digits), of the bytes that
went in and of those that were expected to come out (64 each, zeros for no file). So after a crash each one says what it
is for, and whether it holds anything but what it held before. `new-...` are bytes of ours that were never put anywhere.

Where the file system cannot exchange, the file gets a second name in the swap folder, is looked at, and is then renamed
over: a save by rename that falls between those last two steps, some microseconds, is lost there.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from reverie import files, kernel
from reverie.sync.file_slot import Place, failing, link, opened, placed, rename_new
from reverie.sync.file_status import Stamp
from reverie.sync.metadata import dress
from reverie.sync.swap_recovery import READ, Displaced, Left, SwapName, digest_at, digest_of, recover, whole

if TYPE_CHECKING:
    from reverie.sync.root import Root

__all__ = ["Displaced", "Left", "Overtaken", "Placed", "Taken", "put", "recover", "take"]

_NEW: Final = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_TURNS_MAX: Final = 1000


@dataclass(frozen=True, slots=True)
class Placed:
    """The bytes are in the folder, whole whatever happens, and to stay once the root is flushed.

    `stamp` is theirs; None: somebody has begun to change them again.
    `displaced` is the file that they replaced, to be settled after a grace time; None where there was none.
    """

    stamp: Stamp | None
    displaced: Displaced | None


@dataclass(frozen=True, slots=True)
class Taken:
    """The file is no longer in the folder; `displaced` is to be settled after a grace time."""

    displaced: Displaced


@dataclass(frozen=True, slots=True)
class Overtaken:
    """Something else was there than expected, and is there now: its SHA-256, None for no file or none that can be read.

    `saves` are the whole texts that came out and were put back, oldest first: they are to be merged even if they are
    not in the folder any more, since `shown` says that our bytes were there for a moment, and that somebody may have
    opened those and saved them over. `displaced` came out last and is to be settled as after a write.
    """

    found: str | None
    displaced: Displaced | None = None
    saves: tuple[bytes, ...] = ()
    shown: bool = False


@dataclass(frozen=True, slots=True)
class _Came:
    """What came out: its bytes, if it is a file that nobody is writing to."""

    ino: int
    data: bytes | None
    writing: bool = False


def put(root: Root, path: str, data: bytes, *, expected: str | None, mode: int = 0o600) -> Placed | Overtaken:
    """Makes `data` the file at `path` if the file there has the SHA-256 `expected`; None: if none is there.

    A new file gets `mode`, and folders on its way are made; one that is replaced hands down its mode, owner, extended
    attributes and access list. The file is never written in place, so its other hard links keep their bytes.
    Raises Forbidden (a link, folder or device is there; no right to write; immutable), DiskFull, StorageFailed,
    Conflict (the root is not what it was, see `Root.verify`): the folder is then as it was or has the new file whole,
    and no save is lost.
    """
    with failing("write", root, path), placed(root, path, create=expected is None) as place:
        if place is None:
            return Overtaken(None)
        old = opened(place)
        try:
            found = None if old is None else digest_of(old)
            if (old is None) != (expected is None) or found != expected:
                return Overtaken(found)
            return _insert(place, data, old, expected, mode)
        finally:
            if old is not None:
                files.release(old)


def take(root: Root, path: str, *, expected: str) -> Taken | Overtaken:
    """Takes the file at `path` out of the folder if it has the SHA-256 `expected`. Folders stay, even empty ones.

    Raises as `put`.
    """
    with failing("remove", root, path), placed(root, path, create=False) as place:
        if place is None:
            return Overtaken(None)
        old = opened(place)
        if old is None:
            return Overtaken(None)
        try:
            found = digest_of(old)
        finally:
            files.release(old)
        return Overtaken(found) if found != expected else _remove(place, expected)


def _insert(place: Place, data: bytes, old: int | None, expected: str | None, mode: int) -> Placed | Overtaken:
    handle, name = _prepared(place, data, old, expected, mode)
    try:
        if expected is None:
            return _add(place, handle, name, data)
        try:
            kernel.exchange(name, place.swap, place.name, place.folder)
        except FileNotFoundError:
            return Overtaken(None)
        except kernel.Unsupported:
            return _replace_by_link(place, handle, name, data, expected)
        place.fresh.clear()
        if digest_at(place.swap, name) != expected:
            return _give_back(place, handle, name, data, expected)
        place.landed()
        return Placed(_stamp(handle, data), place.displaced(name, expected))
    finally:
        files.release(handle)


def _prepared(place: Place, data: bytes, old: int | None, expected: str | None, mode: int) -> tuple[int, str]:
    """An open file in the swap folder that holds `data` durably, and its name there."""
    said = SwapName.of(place.path, sha256(data).hexdigest(), expected)
    draft, name = f"new-{said.chance}", str(said)
    place.fresh += [draft, name]
    handle = os.open(draft, _NEW, 0o600, dir_fd=place.swap)
    try:
        files.write_all(handle, data)
        if old is None:
            os.fchmod(handle, mode)
        else:
            dress(handle, old)
        os.fsync(handle)
        os.rename(draft, name, src_dir_fd=place.swap, dst_dir_fd=place.swap)
    except BaseException:
        files.release(handle)
        raise
    return handle, name


def _add(place: Place, handle: int, name: str, data: bytes) -> Placed | Overtaken:
    try:
        rename_new(name, place.swap, place.name, place.folder)
    except FileExistsError:
        return Overtaken(place.found())
    place.landed()
    return Placed(_stamp(handle, data), None)


def _remove(place: Place, expected: str) -> Taken | Overtaken:
    name = str(SwapName.of(place.path, None, expected))
    try:
        rename_new(place.name, place.folder, name, place.swap)
    except FileNotFoundError:
        return Overtaken(None)
    came = digest_at(place.swap, name)
    if came == expected:
        place.landed()
        return Taken(place.displaced(name, expected))
    try:
        rename_new(name, place.swap, place.name, place.folder)
    except FileExistsError:
        # Saved twice while it was out: the newer is in its place, and the older is not lost.
        place.flush()
        return Overtaken(place.found(), place.displaced(name, None))
    place.flush()
    return Overtaken(came)


def _give_back(place: Place, handle: int, name: str, data: bytes, expected: str | None) -> Placed | Overtaken:
    """Puts back what came out, until nothing comes out but what was put in just before.

    Whatever else comes out was saved in between, and is newer than what went in. What is being written stays out: back
    in its place it could be overwritten, by somebody who had opened our bytes, before it was ever whole to be read.
    """
    ours = last = os.fstat(handle).st_ino
    saves: dict[int, bytes] = {}
    with ExitStack() as looked_at:  # held open, so that no number of an inode is used again meanwhile
        for turn in range(_TURNS_MAX):
            came = _came(place, name, looked_at)
            if came.writing and turn == 0:
                place.flush()
                return Placed(_stamp(handle, data), place.displaced(name, expected, writing=True))
            if came.writing:
                break
            if came.data is not None:
                saves[came.ino] = came.data
            try:
                kernel.exchange(name, place.swap, place.name, place.folder)
            except FileNotFoundError:
                if _returned(place, name):
                    place.flush()
                    return Overtaken(place.found(), None, tuple(saves.values()), shown=True)
                continue
            if place.ino(name) == last:
                break
            last = came.ino
        place.flush()
        # Even our own bytes were in the folder for a moment, and somebody may have opened them.
        before = sha256(data).hexdigest() if place.ino(name) == ours else None
        return Overtaken(place.found(), place.displaced(name, before), tuple(saves.values()), shown=True)


def _came(place: Place, name: str, looked_at: ExitStack) -> _Came:
    """What is in the swap folder now; a link or a folder has no data, and goes back as it is."""
    try:
        handle = os.open(name, READ, dir_fd=place.swap)
    except OSError:
        return _Came(place.ino(name), None)
    looked_at.callback(files.release, handle)
    ino = os.fstat(handle).st_ino
    return _Came(ino, None, writing=True) if kernel.is_open_for_writing(handle) else _Came(ino, whole(handle))


def _returned(place: Place, name: str) -> bool:
    """Puts a save back where the file was removed meanwhile; False when one is there again."""
    try:
        rename_new(name, place.swap, place.name, place.folder)
    except FileExistsError:
        return False
    return True


def _replace_by_link(place: Place, handle: int, name: str, data: bytes, expected: str) -> Placed | Overtaken:
    kept = str(SwapName.of(place.path, sha256(data).hexdigest(), expected))
    try:
        link(place.name, place.folder, kept, place.swap)
    except FileNotFoundError:
        return Overtaken(None)
    place.fresh.append(kept)
    came = digest_at(place.swap, kept)
    if came != expected or not _same(place, kept):
        return Overtaken(place.found())
    os.rename(name, place.name, src_dir_fd=place.swap, dst_dir_fd=place.folder)
    place.fresh.clear()
    place.landed()
    return Placed(_stamp(handle, data), place.displaced(kept, expected))


def _same(place: Place, kept: str) -> bool:
    try:
        now = os.stat(place.name, dir_fd=place.folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return now.st_ino == os.stat(kept, dir_fd=place.swap, follow_symlinks=False).st_ino


def _stamp(handle: int, data: bytes) -> Stamp | None:
    """The stamp of our file in its place, if it still holds our bytes at that stamp."""
    before = os.fstat(handle)
    if os.pread(handle, len(data) + 1, 0) != data:
        return None
    after = os.fstat(handle)
    stamp = Stamp(after.st_ino, after.st_size, after.st_mtime_ns, after.st_ctime_ns)
    return stamp if (before.st_mtime_ns, before.st_ctime_ns) == stamp[2:] else None
