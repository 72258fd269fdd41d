"""Displaced files in the swap folder are settled or recovered, and a replaced file keeps its metadata."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from reverie import files, syscalls
from reverie.errors import Forbidden, ReverieError, StorageFailed
from reverie.sync import displaced
from reverie.sync.displaced import recover
from reverie.sync.root import Root
from reverie.sync.swap import Mismatch, Written, copy_metadata, remove_file, write_file
from support.spaces import digest, swap_files

NOTE = "user.md"
OLD, OURS, THEIRS = b"old\n", b"ours\n", b"theirs\n"


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Root]:
    with Root.open(tmp_path / "space", space="default", store_id="store", fresh=True) as opened:
        (opened.real / NOTE).write_bytes(OLD)
        yield opened


def test_unrecoverable_files_in_the_swap_folder_stay(root: Root) -> None:
    """A file with a foreign name is returned without a path; a folder and a huge file stay where they are."""
    assert recover(root, []) == []
    place = root.real / ".reverie/swap"
    (place / "somebody.md").write_bytes(THEIRS)
    (place / "folder").mkdir()
    with (place / "huge").open("wb") as huge:
        huge.truncate(displaced.SAVE_BYTES_MAX + 1)
    left = recover(root, [NOTE])
    assert [(each.name, each.path, each.data) for each in left] == [
        ("folder", None, None),
        ("huge", None, None),
        ("somebody.md", None, THEIRS),
    ]


def test_a_file_open_for_writing_is_supervised(root: Root) -> None:
    """A displaced file open for writing is returned for watching if its document is known, else left in place."""
    done = write_file(root, NOTE, OURS, expected=digest(OLD))
    assert isinstance(done, Written)
    assert done.displaced
    root.displaced_names.clear()
    with (root.real / ".reverie/swap" / done.displaced.name).open("ab") as editor:
        assert recover(root, []) == []
        (left,) = recover(root, [NOTE])
        assert (left.path, left.data) == (NOTE, None)
        assert left.displaced is not None
        assert left.displaced.settle() is None
        editor.write(THEIRS)
    assert left.displaced.settle() == OLD + THEIRS
    assert recover(root, [NOTE]) == []


def test_a_save_whose_folder_is_gone_is_handed_over(root: Root) -> None:
    done = write_file(root, "facts/x.md", OLD, expected=None)
    taken = remove_file(root, "facts/x.md", expected=digest(OLD))
    assert isinstance(done, Written)
    assert not isinstance(taken, Mismatch)
    (root.real / ".reverie/swap" / taken.displaced.name).write_bytes(THEIRS)
    (root.real / "facts").rmdir()
    root.displaced_names.clear()
    assert [(left.path, left.data) for left in recover(root, ["facts/x.md"])] == [("facts/x.md", THEIRS)]


def test_settle_without_lease_information(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without lease information a file must have the same stamp twice; a missing one counts as settled."""
    monkeypatch.setattr(syscalls, "is_open_for_writing", lambda _: None)
    done = write_file(root, NOTE, OURS, expected=digest(OLD))
    assert isinstance(done, Written)
    assert done.displaced
    assert [done.displaced.settle(), done.displaced.settled] == [None, False]
    assert done.displaced.settle() is None
    assert swap_files(root) == []
    done.displaced.discard()
    assert done.displaced.settle() is None


def test_a_huge_save_in_a_displaced_file_stays(root: Root) -> None:
    """A late write above 64 MiB is not read; `recover` returns it without data."""
    done = write_file(root, NOTE, OURS, expected=digest(OLD))
    assert isinstance(done, Written)
    assert done.displaced
    os.truncate(root.real / ".reverie/swap" / done.displaced.name, displaced.SAVE_BYTES_MAX + 1)
    assert done.displaced.settle() is None
    assert [left.data for left in recover(root, [NOTE])] == [None]


def test_attributes_that_cannot_be_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """System attributes may be lost; if a `user.*` attribute cannot be copied, nothing is written."""
    (tmp_path / "old").write_bytes(b"")
    old, new = os.open(tmp_path / "old", os.O_RDONLY), os.open(tmp_path / "new", os.O_RDWR | os.O_CREAT)
    names, number = ["security.x"], errno.EPERM

    def refuse(*_: object) -> None:
        raise OSError(number, "refused")

    monkeypatch.setattr(os, "listxattr", lambda _: names)
    monkeypatch.setattr(os, "getxattr", lambda *_: b"x")
    monkeypatch.setattr(os, "setxattr", refuse)
    copy_metadata(new, old)
    names = ["user.x"]
    with pytest.raises(PermissionError):
        copy_metadata(new, old)
    monkeypatch.setattr(os, "listxattr", refuse)
    with pytest.raises(PermissionError):
        copy_metadata(new, old)
    number = errno.EOPNOTSUPP
    copy_metadata(new, old)
    files.close_quietly(old)
    files.close_quietly(new)


def test_an_owner_that_cannot_be_kept(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the owner cannot be set, the mode is copied without setuid and setgid."""

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, "refused")

    if os.getuid() != 0:
        pytest.skip("needs to be root, to give a file away")
    os.chown(root.real / NOTE, 1234, 1234)
    (root.real / NOTE).chmod(0o4664)
    monkeypatch.setattr(os, "fchown", refuse)
    assert isinstance(write_file(root, NOTE, OURS, expected=digest(OLD)), Written)
    found = (root.real / NOTE).stat()
    assert (found.st_uid, found.st_mode & 0o7777) == (0, 0o664)


@pytest.mark.parametrize(("number", "kind"), [(errno.EIO, StorageFailed), (errno.EPERM, Forbidden)])
def test_an_error_of_settling_has_a_hint(
    root: Root, monkeypatch: pytest.MonkeyPatch, number: int, kind: type[ReverieError]
) -> None:
    """An error of the disk is raised; in a folder that cannot be written settling waits, and discarding is refused."""
    done = write_file(root, NOTE, OURS, expected=digest(OLD))
    assert isinstance(done, Written)
    assert done.displaced

    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, "refused")

    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", refuse)
        acts = [done.displaced.discard, *([done.displaced.settle] if number == errno.EIO else [])]
        for act in acts:
            with pytest.raises(kind) as refused:
                act()
            assert refused.value.hint
        if number == errno.EPERM:
            assert done.displaced.settle() is None
            assert not done.displaced.settled
    assert done.displaced.settle() is None
    assert done.displaced.settled
