"""Files are replaced by atomic exchange: what comes out is checked, and no save is lost."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from reverie import files, syscalls
from reverie.errors import Conflict, DiskFull, Forbidden, NotFound, ReverieError, ValidationError
from reverie.sync.displaced import DisplacedFile, OrphanedSave, recover
from reverie.sync.root import Root
from reverie.sync.scan import Stamp, scan_path
from reverie.sync.swap import Mismatch, Removed, Written, remove_file, write_file
from support.waiting import no_leaked_descriptors

NOTE = "facts/user.md"


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Root]:
    with Root.open(tmp_path / "space", space="default", store_id="store", fresh=True) as opened:
        yield opened


def test_a_write_without_room_leaves_nothing(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write on a full disk leaves no new file, scratch file or open handle, and an existing file as it was."""

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "full")

    (root.real / "old.md").write_bytes(b"old")
    monkeypatch.setattr(files, "write_all", full)
    for path, expected in (("new.md", None), ("old.md", digest(b"old"))):
        with no_leaked_descriptors(), pytest.raises(DiskFull):
            write_file(root, path, b"new", expected=expected)
    assert swapped(root) == []
    assert sorted(path.name for path in root.real.glob("*.md")) == ["old.md"]
    assert (root.real / "old.md").read_bytes() == b"old"


def digest(data: bytes) -> str:
    return sha256(data).hexdigest()


def placed(root: Root, data: bytes, before: bytes | None = None, path: str = NOTE) -> Written:
    done = write_file(root, path, data, expected=None if before is None else digest(before))
    assert isinstance(done, Written)
    return done


def swapped(root: Root) -> list[str]:
    return sorted(path.name for path in (root.real / ".reverie/swap").iterdir())


def test_a_new_file_is_written_with_its_folders(root: Root) -> None:
    """A write to a path without a file makes its folders and displaces nothing."""
    done = placed(root, b"one\n")
    assert (root.real / NOTE).read_bytes() == b"one\n"
    assert stat.S_IMODE((root.real / NOTE).stat().st_mode) == 0o600
    assert done.displaced is None
    assert done.stamp == scan_path(root, NOTE, known={NOTE: Stamp(0, 0, 0, 0)})
    assert swapped(root) == []


def test_a_file_is_replaced_and_the_old_one_settles(root: Root) -> None:
    """A displaced file is kept until it is settled, and removed then."""
    placed(root, b"one\n")
    done = placed(root, b"two\n", b"one\n")
    assert (root.real / NOTE).read_bytes() == b"two\n"
    assert done.displaced is not None
    assert len(swapped(root)) == 1
    assert done.displaced.settle() is None
    assert done.displaced.settled
    assert swapped(root) == []


@pytest.mark.parametrize("expected", [None, digest(b"older\n")])
def test_a_mismatching_file_stays(root: Root, expected: str | None) -> None:
    """A file with other bytes than expected stays, and its hash is returned."""
    (root.real / "facts").mkdir()
    (root.real / NOTE).write_bytes(b"theirs\n")
    inode = (root.real / NOTE).stat().st_ino
    assert write_file(root, NOTE, b"ours\n", expected=expected) == Mismatch(digest(b"theirs\n"))
    assert (root.real / NOTE).read_bytes() == b"theirs\n"
    assert (root.real / NOTE).stat().st_ino == inode
    assert swapped(root) == []


def test_a_missing_file_is_not_written(root: Root) -> None:
    """An expected file that was removed, alone or with its folder, is not written."""
    assert write_file(root, NOTE, b"ours\n", expected=digest(b"x")) == Mismatch(None)
    assert not (root.real / "facts").exists()
    (root.real / "facts").mkdir()
    assert write_file(root, NOTE, b"ours\n", expected=digest(b"x")) == Mismatch(None)
    assert remove_file(root, NOTE, expected=digest(b"x")) == Mismatch(None)
    assert list((root.real / "facts").iterdir()) == []


def asked(displaced: DisplacedFile) -> tuple[bytes | None, bool]:
    return displaced.settle(), displaced.settled


def test_a_save_in_the_displaced_file_is_returned(root: Root) -> None:
    """A write into a displaced file is returned by `settle` once the editor has closed it."""
    placed(root, b"one\n")
    with (root.real / NOTE).open("r+b", buffering=0) as editor:
        done = placed(root, b"two\n", b"one\n")
        assert done.displaced
        editor.truncate(0)
        assert asked(done.displaced) == (None, False)
        editor.write(b"edited\n")
        assert asked(done.displaced) == (None, False)
    assert asked(done.displaced) == (b"edited\n", False)
    assert (root.real / NOTE).read_bytes() == b"two\n"
    done.displaced.discard()
    assert done.displaced.settled
    assert swapped(root) == []


def test_a_file_is_removed(root: Root) -> None:
    """The expected file is removed and any other stays; the folder stays."""
    placed(root, b"one\n")
    assert remove_file(root, NOTE, expected=digest(b"other")) == Mismatch(digest(b"one\n"))
    done = remove_file(root, NOTE, expected=digest(b"one\n"))
    assert isinstance(done, Removed)
    assert list((root.real / "facts").iterdir()) == []
    assert done.displaced.settle() is None
    assert swapped(root) == []


def test_mode_and_attributes_are_kept(root: Root) -> None:
    placed(root, b"one\n")
    path = root.real / NOTE
    path.chmod(0o640)
    os.setxattr(path, "user.colour", b"blue")
    placed(root, b"two\n", b"one\n")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert os.getxattr(path, "user.colour") == b"blue"


def test_another_hard_link_keeps_its_bytes(root: Root, tmp_path: Path) -> None:
    """Another hard link of a replaced file keeps its bytes."""
    placed(root, b"one\n")
    (tmp_path / "outside").hardlink_to(root.real / NOTE)
    placed(root, b"two\n", b"one\n")
    assert (tmp_path / "outside").read_bytes() == b"one\n"
    assert (root.real / NOTE).read_bytes() == b"two\n"


@pytest.mark.parametrize(
    "path", ["../x.md", "a/../../x.md", "/etc/x.md", "a//x.md", "./x.md", "", "a\0b.md", "\ud800.md"]
)
def test_names_that_lead_elsewhere_are_refused(root: Root, path: str) -> None:
    with pytest.raises(ValidationError):
        write_file(root, path, b"x", expected=None)


def test_recovery_removes_our_own_bytes(root: Root) -> None:
    """Recovery removes files that were never placed, and displaced ones without a late write."""
    placed(root, b"one\n")
    placed(root, b"two\n", b"one\n")
    (root.real / ".reverie/swap/new-0123").write_bytes(b"thr")
    root.displaced_names.clear()
    assert recover(root, [NOTE]) == []
    assert swapped(root) == []


def test_a_crash_leaves_a_save_to_be_merged(root: Root) -> None:
    """Recovery returns a late write with its path, and keeps it until it is merged."""
    placed(root, b"one\n")
    placed(root, b"two\n", b"one\n")
    [name] = swapped(root)
    (root.real / ".reverie/swap" / name).write_bytes(b"edited\n")
    assert recover(root, [NOTE]) == []  # this process still looks after it
    root.displaced_names.clear()
    [left] = recover(root, ["facts/other.md", NOTE])
    assert left == OrphanedSave(root, NOTE, name, b"edited\n")
    assert [unknown.path for unknown in recover(root, [])] == [None]
    left.discard()
    assert recover(root, [NOTE]) == []
    assert swapped(root) == []


def test_anything_but_a_regular_file_is_refused(root: Root, tmp_path: Path) -> None:
    """A write to a link, to a folder or below a linked folder is refused, with the path and a hint."""
    outside = tmp_path / "outside.md"
    outside.write_bytes(b"outside")
    (root.real / "link.md").symlink_to(outside)
    (root.real / "folder.md").mkdir()
    (root.real / "out").symlink_to(tmp_path, target_is_directory=True)
    for path in ("link.md", "folder.md", "out/new.md"):
        for expected in (None, digest(b"outside")):
            with pytest.raises(Forbidden) as refused:
                write_file(root, path, b"x", expected=expected)
            assert refused.value.hint
            assert refused.value.details["path"] == path
    assert outside.read_bytes() == b"outside"
    assert not (tmp_path / "new.md").exists()


def test_a_root_without_its_mark_is_not_written(root: Root) -> None:
    (root.real / ".reverie/space.json").unlink()
    (root.real / "x.md").write_bytes(b"x")
    with pytest.raises(Conflict) as stopped:
        write_file(root, NOTE, b"x", expected=None)
    assert stopped.value.details["reason"] == "root_unmarked"


@pytest.mark.parametrize("call", ["exchange", "rename_new"])
def test_a_file_system_without_exchange(root: Root, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    """Without atomic exchange files are replaced by links, and nothing is left behind."""

    def unsupported(*_: object) -> None:
        raise syscalls.Unsupported(38, "Function not implemented")

    monkeypatch.setattr(syscalls, call, unsupported)
    placed(root, b"one\n")
    assert isinstance(write_file(root, NOTE, b"x", expected=None), Mismatch)
    done = placed(root, b"two\n", b"one\n")
    assert isinstance(write_file(root, NOTE, b"x", expected=digest(b"one\n")), Mismatch)
    assert (root.real / NOTE).read_bytes() == b"two\n"
    assert done.displaced
    assert done.displaced.settle() is None
    assert isinstance(remove_file(root, NOTE, expected=digest(b"two\n")), Removed)
    assert not (root.real / NOTE).exists()
    root.displaced_names.clear()
    assert recover(root, [NOTE]) == []
    assert swapped(root) == []


def test_errors_are_of_the_family(root: Root) -> None:
    """A file in place of a folder raises a ReverieError with path and hint, and stays as it was."""
    (root.real / "facts").write_bytes(b"a file")
    with pytest.raises(ReverieError) as failed:
        write_file(root, NOTE, b"x", expected=None)
    assert not isinstance(failed.value, NotFound)
    assert failed.value.details["path"] == NOTE
    assert failed.value.hint
    assert (root.real / "facts").read_bytes() == b"a file"
