"""What Python has no names for: exchanges, ways that stay below a folder, and who has a file open for writing."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

import pytest

from reverie import syscalls

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[int]:
    handle = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    yield handle
    os.close(handle)


@pytest.fixture(params=["in one call", "step by step"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the kernel's call, and as without it."""
    if request.param == "step by step":
        monkeypatch.setattr(syscalls, "_has_openat2", lambda: False)


def refused(folder: int, path: str, flags: int = os.O_RDONLY) -> str:
    with pytest.raises(OSError, match="Errno") as error:
        syscalls.open_beneath(folder, path, flags)
    return errno.errorcode[error.value.errno or 0]


@pytest.mark.usefixtures("way")
def test_a_way_below_a_folder_follows_no_link(tmp_path: Path, folder: int) -> None:
    """A link at the end, on the way, to a folder or to nothing: ELOOP, whatever it is opened as."""
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
        assert refused(folder, path) == "ELOOP"
    assert refused(folder, "link", os.O_RDONLY | os.O_DIRECTORY) == "ELOOP"
    assert refused(folder, "a/b/x/y") == "ENOTDIR"
    assert refused(folder, "a/b/x", os.O_RDONLY | os.O_DIRECTORY) == "ENOTDIR"
    assert refused(folder, "a/c/x") == "ENOENT"


def test_another_file_system_is_not_entered() -> None:
    """Both ways."""
    root = os.open("/", os.O_RDONLY | os.O_DIRECTORY)
    try:
        assert refused(root, "proc/self/stat") == "EXDEV"
        with pytest.raises(OSError, match="Errno") as error:
            syscalls._open_by_segments(root, "proc/self/stat", os.O_RDONLY)
        assert error.value.errno == errno.EXDEV
    finally:
        os.close(root)


def test_two_files_change_places(tmp_path: Path, folder: int) -> None:
    (tmp_path / "one").write_bytes(b"1")
    (tmp_path / "two").write_bytes(b"2")
    syscalls.exchange("one", folder, "two", folder)
    assert ((tmp_path / "one").read_bytes(), (tmp_path / "two").read_bytes()) == (b"2", b"1")
    with pytest.raises(FileNotFoundError):
        syscalls.exchange("one", folder, "missing", folder)


def test_a_name_is_taken_once(tmp_path: Path, folder: int) -> None:
    (tmp_path / "one").write_bytes(b"1")
    syscalls.rename_new("one", folder, "two", folder)
    (tmp_path / "one").write_bytes(b"1")
    with pytest.raises(FileExistsError):
        syscalls.rename_new("one", folder, "two", folder)


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP])
def test_what_a_file_system_cannot_do_is_told_apart(number: int) -> None:
    assert isinstance(syscalls._error(number, "x"), syscalls.Unsupported)
    assert not isinstance(syscalls._error(errno.EIO, "x"), syscalls.Unsupported)


def test_a_library_without_the_call(folder: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """An older C library: told apart as well."""
    monkeypatch.setattr(syscalls, "_library", object)
    with pytest.raises(syscalls.Unsupported):
        syscalls.exchange("one", folder, "two", folder)


def test_a_kernel_without_openat2_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise OSError(errno.ENOSYS, "none")

    monkeypatch.setattr(syscalls, "_openat2", refuse)
    assert syscalls._has_openat2.__wrapped__() is False


@pytest.mark.parametrize("name", ["a\0b", "\0"])
def test_a_zero_byte_does_not_cut_a_name(folder: int, name: str) -> None:
    for act in (
        lambda: syscalls.open_beneath(folder, name, os.O_RDONLY),
        lambda: syscalls.rename_new("x", folder, name, 0),
    ):
        with pytest.raises(ValueError, match="null byte"):
            act()


def test_who_writes_is_known(tmp_path: Path) -> None:
    """True while anybody has it open for writing, in any way; readers do not count; a pipe cannot tell."""
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
