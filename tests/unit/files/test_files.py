"""Tests of atomic file writes, and of file access that follows no symbolic link below the root."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path, PurePosixPath

import pytest

from reverie.errors import DiskFull, Forbidden, NotFound, StorageFailed, TooLarge
from reverie.files import read_beneath, write_atomic, write_beneath

NOTE = PurePosixPath("facts/user.md")


def test_a_file_is_replaced_with_its_mode(tmp_path: Path) -> None:
    """The file has the new bytes and the requested mode, and no temporary file is left."""
    path = tmp_path / "x.md"
    write_atomic(path, b"one")
    write_atomic(path, b"two" * 500_000, mode=0o644)
    assert path.read_bytes() == b"two" * 500_000
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("call", ["write", "fsync", "replace", "fchmod"])
@pytest.mark.parametrize(("number", "kind"), [(errno.ENOSPC, DiskFull), (errno.EIO, StorageFailed)])
def test_a_failure_at_any_step_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int, kind: type[Exception]
) -> None:
    """After an error at any step the old bytes are there, no temporary file is left, and the next write works."""
    path = tmp_path / "x.md"
    write_atomic(path, b"old")

    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(os, call, fail)
        with pytest.raises(kind):
            write_atomic(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
    write_atomic(path, b"new")
    assert path.read_bytes() == b"new"


def test_short_writes_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write that the system shortens is continued until all bytes are written."""
    real = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: real(handle, bytes(data[:3])))
    write_atomic(tmp_path / "x", b"0123456789")
    assert (tmp_path / "x").read_bytes() == b"0123456789"


def test_reading_is_limited(tmp_path: Path) -> None:
    """A file of the limit's size is read; a longer one is rejected, and so is anything but a regular file."""
    (tmp_path / "x").write_bytes(b"12345")
    assert read_beneath(tmp_path, PurePosixPath("x"), 5) == b"12345"
    with pytest.raises(TooLarge):
        read_beneath(tmp_path, PurePosixPath("x"), 4)
    assert read_beneath(tmp_path, PurePosixPath("none"), 5) is None
    (tmp_path / "folder").mkdir()
    with pytest.raises(StorageFailed):
        read_beneath(tmp_path, PurePosixPath("folder"), 5)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StorageFailed):
        read_beneath(tmp_path, PurePosixPath("pipe"), 5)


def test_writing_into_a_missing_folder_fails(tmp_path: Path) -> None:
    """An atomic write does not create the parent folder."""
    with pytest.raises(NotFound, match="cannot write"):
        write_atomic(tmp_path / "none" / "x", b"")


def test_writing_beneath_a_root_creates_folders(tmp_path: Path) -> None:
    """Missing folders are created with mode 0700; reading an absent file returns None."""
    assert read_beneath(tmp_path, NOTE, 10) is None
    write_beneath(tmp_path, NOTE, b"- a\n")
    assert stat.S_IMODE((tmp_path / "facts").stat().st_mode) == 0o700
    assert read_beneath(tmp_path, NOTE, 10) == b"- a\n"


def test_no_link_below_the_root_is_followed(tmp_path: Path) -> None:
    """A folder that is a symbolic link is rejected; a file that is one is replaced by a write, and not read."""
    outside, root = tmp_path / "outside", tmp_path / "root"
    outside.mkdir()
    root.mkdir()
    (outside / "user.md").write_bytes(b"theirs")
    (root / "facts").symlink_to(outside)
    with pytest.raises(Forbidden):
        write_beneath(root, NOTE, b"x")
    with pytest.raises(Forbidden):
        read_beneath(root, NOTE, 10)
    (root / "facts").unlink()
    (root / "facts").mkdir()
    (root / "facts" / "user.md").symlink_to(outside / "user.md")
    with pytest.raises(Forbidden):
        read_beneath(root, NOTE, 10)
    write_beneath(root, NOTE, b"ours")
    assert (root / "facts" / "user.md").read_bytes() == b"ours"
    assert (outside / "user.md").read_bytes() == b"theirs"


def test_a_missing_root_is_named(tmp_path: Path) -> None:
    """Writing below a missing root raises NotFound and does not create it."""
    with pytest.raises(NotFound):
        write_beneath(tmp_path / "gone", NOTE, b"")
    assert not (tmp_path / "gone").exists()
