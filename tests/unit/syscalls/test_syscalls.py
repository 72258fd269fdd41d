"""Tests of renameat2, openat2 and read leases, with and without support by the kernel."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from reverie import syscalls


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[int]:
    """Yield a handle of an open folder."""
    handle = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    yield handle
    os.close(handle)


@pytest.fixture(params=["in one call", "step by step"])
def open_method(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the test with openat2, and with the fallback."""
    if request.param == "step by step":
        monkeypatch.setattr(syscalls, "_has_openat2", lambda: False)


def error_name(folder: int, path: str, flags: int = os.O_RDONLY) -> str:
    """Return the errno name of the error that opening a path beneath a folder raises."""
    with pytest.raises(OSError, match="Errno") as error:
        syscalls.open_beneath(folder, path, flags)
    return errno.errorcode[error.value.errno or 0]


@pytest.mark.usefixtures("open_method")
def test_no_symbolic_link_is_followed(tmp_path: Path, folder: int) -> None:
    """A symbolic link at the end or on the way raises ELOOP, whatever it leads to and however it is opened."""
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/x").write_bytes(b"x")
    (tmp_path / "link").symlink_to("a", target_is_directory=True)
    (tmp_path / "a/b/end").symlink_to("x")
    (tmp_path / "nothing").symlink_to("missing")
    handle = syscalls.open_beneath(folder, "a/b/x", os.O_RDONLY)
    assert os.read(handle, 2) == b"x"
    assert not os.get_inheritable(handle)
    os.close(handle)
    os.close(syscalls.open_beneath(folder, "a/b", os.O_RDONLY | os.O_DIRECTORY))
    for path in ("link/b/x", "a/b/end", "nothing", "link"):
        assert error_name(folder, path) == "ELOOP"
    assert error_name(folder, "link", os.O_RDONLY | os.O_DIRECTORY) == "ELOOP"
    assert error_name(folder, "a/b/x/y") == "ENOTDIR"
    assert error_name(folder, "a/b/x", os.O_RDONLY | os.O_DIRECTORY) == "ENOTDIR"
    assert error_name(folder, "a/c/x") == "ENOENT"


def test_another_file_system_is_not_entered() -> None:
    """A path into another file system raises EXDEV, with openat2 and with the fallback."""
    root = os.open("/", os.O_RDONLY | os.O_DIRECTORY)
    try:
        assert error_name(root, "proc/self/stat") == "EXDEV"
        with pytest.raises(OSError, match="Errno") as error:
            syscalls._open_by_segments(root, "proc/self/stat", os.O_RDONLY)
        assert error.value.errno == errno.EXDEV
    finally:
        os.close(root)


def test_two_files_are_exchanged(tmp_path: Path, folder: int) -> None:
    """Two files are exchanged; a missing one raises FileNotFoundError."""
    (tmp_path / "one").write_bytes(b"1")
    (tmp_path / "two").write_bytes(b"2")
    syscalls.exchange("one", folder, "two", folder)
    assert ((tmp_path / "one").read_bytes(), (tmp_path / "two").read_bytes()) == (b"2", b"1")
    with pytest.raises(FileNotFoundError):
        syscalls.exchange("one", folder, "missing", folder)


def test_rename_does_not_replace(tmp_path: Path, folder: int) -> None:
    """Renaming to an existing name raises FileExistsError."""
    (tmp_path / "one").write_bytes(b"1")
    syscalls.rename_new("one", folder, "two", folder)
    (tmp_path / "one").write_bytes(b"1")
    with pytest.raises(FileExistsError):
        syscalls.rename_new("one", folder, "two", folder)


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP])
def test_unsupported_calls_have_their_own_error(number: int) -> None:
    """An unsupported call raises Unsupported, any other failure a plain OSError."""
    assert isinstance(syscalls._error(number, "x"), syscalls.Unsupported)
    assert not isinstance(syscalls._error(errno.EIO, "x"), syscalls.Unsupported)


def test_a_library_without_the_call(folder: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A C library without renameat2 raises Unsupported too."""
    monkeypatch.setattr(syscalls, "_library", object)
    with pytest.raises(syscalls.Unsupported):
        syscalls.exchange("one", folder, "two", folder)


def test_openat2_is_tested_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test for openat2 returns False if the call fails."""

    def refuse(*_: object) -> int:
        raise OSError(errno.ENOSYS, "none")

    monkeypatch.setattr(syscalls, "_openat2", refuse)
    assert syscalls._has_openat2.__wrapped__() is False


@pytest.mark.parametrize("name", ["a\0b", "\0"])
def test_null_bytes_are_rejected(folder: int, name: str) -> None:
    """A file name with a null byte raises ValueError."""
    for act in (
        lambda: syscalls.open_beneath(folder, name, os.O_RDONLY),
        lambda: syscalls.rename_new("x", folder, name, 0),
    ):
        with pytest.raises(ValueError, match="null byte"):
            act()


def test_writers_are_detected(tmp_path: Path) -> None:
    """True while any process has the file open for writing; readers do not count; None for a pipe."""
    path = tmp_path / "x"
    path.write_bytes(b"x")
    with path.open("rb") as file:
        assert syscalls.is_open_for_writing(file.fileno()) is False
        with path.open("ab"):
            assert syscalls.is_open_for_writing(file.fileno()) is True
        with path.open("r+b"), path.open("rb"):
            assert syscalls.is_open_for_writing(file.fileno()) is True
        assert syscalls.is_open_for_writing(file.fileno()) is False
    reader, writer = os.pipe()
    assert syscalls.is_open_for_writing(reader) is None
    os.close(reader)
    os.close(writer)
