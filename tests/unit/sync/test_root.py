"""A space's root folder is recognised by its marker file and kept open; another folder is never taken for it."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import orjson
import pytest

from reverie.errors import Conflict, StorageFailed
from reverie.sync.root import SPACE_FILE, KnownRoot, Root
from reverie.sync.swap import write_file


def opened(path: Path, *, space: str = "default", store_id: str = "store", fresh: bool = False) -> Root:
    return Root.open(path, space=space, store_id=store_id, fresh=fresh)


def why(root: Root) -> str:
    """Return the reason for which `verify` refuses the root; check that `find` refuses it alike."""
    with pytest.raises(Conflict) as stopped:
        root.verify()
    if stopped.value.details["reason"] != "root_of_another_space":
        with pytest.raises(Conflict) as found:
            root.find()
        assert str(found.value) == str(stopped.value)
    assert "reverie sync now --accept-folder" in str(stopped.value.hint)
    return str(stopped.value.details["reason"])


def refused(path: Path, *, space: str = "default", store_id: str = "store", fresh: bool = False) -> str:
    with pytest.raises(Conflict) as stopped:
        opened(path, space=space, store_id=store_id, fresh=fresh)
    assert "reverie sync now --accept-folder" in str(stopped.value.hint)
    return str(stopped.value.details["reason"])


def test_a_fresh_root_gets_a_space_file(tmp_path: Path) -> None:
    """The marker names space and store; the same folder can be opened again and verified."""
    path = tmp_path / "a/space"
    with opened(path, fresh=True) as root:
        root.verify()
        assert orjson.loads((path / SPACE_FILE).read_bytes()) == {"space": "default", "store": "store", "format": 1}
        assert root.identity == (path.stat().st_dev, path.stat().st_ino)
    with opened(path) as again:
        again.verify()
    again.close()


def test_a_mark_without_a_store_is_completed(tmp_path: Path) -> None:
    (tmp_path / ".reverie").mkdir()
    (tmp_path / SPACE_FILE).write_bytes(b'{"space":"default","format":1}\n')
    opened(tmp_path).close()
    assert orjson.loads((tmp_path / SPACE_FILE).read_bytes())["store"] == "store"


def test_a_folder_that_is_not_ours_does_not_open(tmp_path: Path) -> None:
    """Each wrong folder is refused with its own reason, and nothing is written into it."""
    assert refused(tmp_path / "missing") == "root_missing"
    (tmp_path / "file").write_bytes(b"")
    assert refused(tmp_path / "file") == "root_missing"
    assert refused(tmp_path / "file", fresh=True) == "root_missing"
    empty = tmp_path / "empty"
    empty.mkdir()
    assert refused(empty) == "root_empty"
    assert list(empty.iterdir()) == []
    (empty / "x.md").write_bytes(b"x")
    assert refused(empty) == "root_unmarked"
    opened(tmp_path / "mine", fresh=True).close()
    assert refused(tmp_path / "mine", space="other", fresh=True) == "root_of_another_space"
    assert refused(tmp_path / "mine", store_id="other") == "root_of_another_store"


@pytest.mark.parametrize("mark", [b"no json", b"[1]", b"{}", b""])
def test_an_unreadable_space_file_belongs_to_another_space(tmp_path: Path, mark: bytes) -> None:
    (tmp_path / ".reverie").mkdir()
    (tmp_path / SPACE_FILE).write_bytes(mark)
    assert refused(tmp_path, fresh=True) == "root_of_another_space"


def test_a_folder_is_prepared_without_a_mark(tmp_path: Path) -> None:
    """`prepare` makes missing folders without a marker; it refuses files and another space's folders."""
    for _ in range(2):
        known = Root.prepare(tmp_path / "a/space", space="default", store_id="store")
        assert (known.inode, known.mark) == ((tmp_path / "a/space").stat().st_ino, "store")
        assert list((tmp_path / "a/space").iterdir()) == []
    opened(tmp_path / "mine", fresh=True).close()
    Root.prepare(tmp_path / "mine", space="default", store_id="store")
    assert Root.prepare(tmp_path / "mine", space="default", store_id="other").mark == "store"
    with pytest.raises(Conflict) as stopped:
        Root.prepare(tmp_path / "mine", space="other", store_id="store")
    assert stopped.value.details["reason"] == "root_of_another_space"
    assert f"`rm {tmp_path / 'mine' / SPACE_FILE}`" in str(stopped.value.hint)
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(Conflict, match="is not a folder"):
        Root.prepare(tmp_path / "file", space="default", store_id="store")


def test_another_machines_mark_locks_no_store_out(tmp_path: Path) -> None:
    """A known folder is known with any store's mark, and so is a moved one with the mark that was accepted."""
    path, moved = tmp_path / "space", tmp_path / "moved"
    with opened(path, fresh=True) as root:
        known = root.known
        (path / SPACE_FILE).write_bytes(b'{"space":"default","store":"other","format":1}')
        root.verify()
        assert root.mark == "other"
    assert refused(path) == "root_of_another_store"
    Root.open(path, space="default", store_id="store", fresh=False, known=known).close()
    path.rename(moved)
    shutil.copytree(moved, path)
    assert refused(path) == "root_of_another_store"
    Root.open(path, space="default", store_id="store", fresh=False, known=KnownRoot(1, 1, "other")).close()
    (path / SPACE_FILE).unlink()
    with pytest.raises(Conflict):
        Root.open(path, space="default", store_id="store", fresh=False, known=KnownRoot(1, 1, "other"))


def test_a_mark_that_is_a_link_is_no_mark(tmp_path: Path) -> None:
    opened(tmp_path / "one", fresh=True).close()
    (tmp_path / "two").mkdir()
    (tmp_path / "two/.reverie").symlink_to(tmp_path / "one/.reverie", target_is_directory=True)
    assert refused(tmp_path / "two", fresh=True) == "root_of_another_space"


def test_what_happens_to_the_root_is_noticed(tmp_path: Path) -> None:
    """`verify` notices a root that was removed, replaced or emptied, and one without its marker."""
    path, aside = tmp_path / "space", tmp_path / "aside"
    with opened(path, fresh=True) as root:
        path.rename(aside)
        assert why(root) == "root_missing"
        path.mkdir()
        assert why(root) == "root_empty"
        (path / "x.md").write_bytes(b"x")
        assert why(root) == "root_swapped"
        shutil.rmtree(path)
        path.symlink_to(aside, target_is_directory=True)
        assert why(root) == "root_swapped"
        path.unlink()
        aside.rename(path)
        root.verify()
        (path / SPACE_FILE).write_bytes(b'{"space":"other"}')
        assert why(root) == "root_of_another_space"
        (path / "x.md").write_bytes(b"x")
        (path / SPACE_FILE).unlink()
        assert why(root) == "root_unmarked"
        (path / "x.md").unlink()
        (path / ".reverie").rmdir()
        assert why(root) == "root_empty"


def test_a_root_behind_a_link_is_resolved_once(tmp_path: Path) -> None:
    """A link to the root is resolved when it is opened; where it leads later does not matter."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real", target_is_directory=True)
    with opened(tmp_path / "link", fresh=True) as root:
        assert root.real == tmp_path / "real"
        (tmp_path / "link").unlink()
        (tmp_path / "link").symlink_to(tmp_path, target_is_directory=True)
        root.verify()
        assert (tmp_path / "real" / SPACE_FILE).exists()


def test_names_last_once_they_are_flushed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a failed flush the next one flushes the same folders again, without one that was moved away."""
    flushed: list[int] = []
    real = os.fsync

    def fsync(handle: int) -> None:
        flushed.append(os.fstat(handle).st_ino)
        real(handle)

    def fails(_: int) -> None:
        raise OSError(errno.EIO, "the disk is failing")

    with opened(tmp_path / "space", fresh=True) as root:
        for name in ("facts/a.md", "facts/b.md", "gone/c.md"):
            write_file(root, name, b"- a\n", expected=None)
        shutil.rmtree(root.real / "gone")
        monkeypatch.setattr(os, "fsync", fails)
        with pytest.raises(StorageFailed):
            root.flush()
        monkeypatch.setattr(os, "fsync", fsync)
        root.flush()
        assert set(flushed) == {(root.real / name).stat().st_ino for name in (".reverie/swap", "facts")}
        root.flush()
        assert len(flushed) == 2


@pytest.mark.parametrize("kind", ["link", "file"])
def test_a_replaced_folder_needs_no_flush(tmp_path: Path, kind: str) -> None:
    """A folder that was replaced by a link, file or mount needs no flush."""
    with opened(tmp_path / "space", fresh=True) as root:
        write_file(root, "facts/a.md", b"- a\n", expected=None)
        facts = root.real / "facts"
        facts.rename(tmp_path / "elsewhere")
        if kind == "link":
            facts.symlink_to(tmp_path / "elsewhere")
        else:
            facts.write_bytes(b"")
        root.flush()
        assert root.unflushed == set()


def test_a_folder_that_cannot_be_opened_is_flushed_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If a folder cannot be opened, `flush` raises an error, and the folder stays in `unflushed` for the next flush."""

    def refuses(*_: object) -> int:
        raise OSError(errno.EMFILE, "too many open files")

    with opened(tmp_path / "space", fresh=True) as root:
        write_file(root, "a.md", b"- a\n", expected=None)
        noted = set(root.unflushed)
        with monkeypatch.context() as patch:
            patch.setattr(Root, "_open_folder_below", refuses)
            with pytest.raises(StorageFailed, match="cannot flush"):
                root.flush()
        assert root.unflushed == noted
