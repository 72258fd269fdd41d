"""Races with a write: whatever is done at that moment, no bytes are lost and the result says what happened."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from reverie import syscalls
from reverie.errors import StorageFailed
from reverie.sync import displaced
from reverie.sync.root import Root
from reverie.sync.swap import FileSlot, Mismatch, Written, remove_file, write_file
from support.spaces import digest, swap_files

NOTE = "user.md"
OLD, OURS, THEIRS, LATER = b"old\n", b"ours\n", b"theirs\n", b"later\n"


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Root]:
    with Root.open(tmp_path / "space", space="default", store_id="store", fresh=True) as opened:
        (opened.real / NOTE).write_bytes(OLD)
        yield opened


def save(root: Root, data: bytes) -> Callable[[], None]:
    """Return an act that saves by rename, as most editors do."""

    def act() -> None:
        (root.real / ".draft").write_bytes(data)
        (root.real / ".draft").replace(root.real / NOTE)

    return act


@contextmanager
def before(monkeypatch: pytest.MonkeyPatch, call: str, *acts: Callable[[], object] | None) -> Iterator[None]:
    """Run these acts before the first, second, … call of a system call; None skips one call."""
    real, waiting = getattr(syscalls, call), list(acts)

    def raced(*args: Any) -> None:
        act = waiting.pop(0) if waiting else None
        if act is not None:
            act()
        real(*args)

    with monkeypatch.context() as patch:
        patch.setattr(syscalls, call, raced)
        yield
    assert waiting == []


def overtaken(root: Root) -> Mismatch:
    done = write_file(root, NOTE, OURS, expected=digest(OLD))
    assert isinstance(done, Mismatch)
    return done


def test_a_save_before_the_exchange_goes_back(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    """A save before the exchange is put back and returned; our bytes come out and settle."""
    with before(monkeypatch, "exchange", save(root, THEIRS)):
        done = overtaken(root)
    assert (done.actual, done.saves, done.exposed) == (digest(THEIRS), (THEIRS,), True)
    assert (root.real / NOTE).read_bytes() == THEIRS
    assert done.displaced
    assert done.displaced.expected == digest(OURS)
    assert done.displaced.settle() is None
    assert swap_files(root) == []


def test_two_saves_round_the_exchange(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two saves the newer is at the path; the older is returned by the result and by `settle`."""
    with before(monkeypatch, "exchange", save(root, THEIRS), save(root, LATER)):
        done = overtaken(root)
    assert (done.actual, done.saves) == (digest(LATER), (THEIRS, LATER))
    assert (root.real / NOTE).read_bytes() == LATER
    assert done.displaced
    assert done.displaced.expected == digest(THEIRS)
    assert done.displaced.settle() is None
    assert swap_files(root) == []


def test_a_save_and_then_a_move(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    """A save stays out when our bytes, which were at its path for a moment, were moved: there is one file, not two."""
    moved = root.real / "moved.md"
    with before(monkeypatch, "exchange", save(root, THEIRS), lambda: (root.real / NOTE).rename(moved)):
        done = overtaken(root)
    assert (done.actual, done.saves, moved.read_bytes()) == (None, (THEIRS,), OURS)
    assert not (root.real / NOTE).exists()
    assert len(swap_files(root)) == 1  # until what is in memory alone was merged
    assert done.displaced
    assert done.displaced.settle() is None
    assert swap_files(root) == []


def test_a_removal_before_the_exchange(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    with before(monkeypatch, "exchange", (root.real / NOTE).unlink):
        assert overtaken(root) == Mismatch(None)
    assert not (root.real / NOTE).exists()
    assert swap_files(root) == []


def test_a_file_created_before_ours_stays(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file created meanwhile at a path without a file stays."""
    (root.real / NOTE).unlink()
    with before(monkeypatch, "rename_new", save(root, THEIRS)):
        assert write_file(root, NOTE, OURS, expected=None) == Mismatch(digest(THEIRS))
    assert (root.real / NOTE).read_bytes() == THEIRS
    assert swap_files(root) == []


@pytest.mark.parametrize("kind", ["folder", "link"])
def test_a_node_that_is_no_file_is_put_back(
    root: Root, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """A folder or link created at that moment is there afterwards, and nothing was written through it."""

    def act() -> None:
        (root.real / NOTE).unlink()
        if kind == "folder":
            (root.real / NOTE).mkdir()
        else:
            (root.real / NOTE).symlink_to(tmp_path / "outside")

    with before(monkeypatch, "exchange", act):
        done = overtaken(root)
    assert (done.actual, done.saves) == (None, ())
    assert (root.real / NOTE).is_dir() if kind == "folder" else (root.real / NOTE).is_symlink()
    assert not (tmp_path / "outside").exists()


def test_half_a_save_is_handed_over_when_it_is_whole(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    """A truncated file that is still open for writing stays displaced until it is complete."""
    with (root.real / NOTE).open("r+b", buffering=0) as editor:

        def empty() -> None:
            editor.truncate(0)
            editor.write(THEIRS[:3])

        with before(monkeypatch, "exchange", empty):
            done = write_file(root, NOTE, OURS, expected=digest(OLD))
        assert isinstance(done, Written)
        assert done.displaced
        assert done.displaced.settle() is None
        editor.write(THEIRS[3:])
    assert done.displaced.settle() == THEIRS
    assert (root.real / NOTE).read_bytes() == OURS


def test_half_a_save_after_a_whole_one(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    """A complete save is put back and returned; an incomplete one stays displaced until it is complete."""
    with ExitStack() as stack:

        def begin() -> None:
            save(root, LATER[:3])()
            stack.enter_context((root.real / NOTE).open("ab", buffering=0))

        with before(monkeypatch, "exchange", save(root, THEIRS), begin):
            done = overtaken(root)
        assert (done.actual, done.saves) == (digest(THEIRS), (THEIRS,))
        assert done.displaced
        assert done.displaced.settle() is None
    assert done.displaced.settle() == LATER[:3]


def test_a_write_into_our_file_leaves_no_stamp(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    """If our file is changed at once, the result has no stamp, so that the next scan reads it."""

    def landed(_: FileSlot) -> None:
        assert (root.real / NOTE).read_bytes() == OURS
        with (root.real / NOTE).open("ab") as editor:
            editor.write(THEIRS)

    with monkeypatch.context() as patch:
        patch.setattr(FileSlot, "mark_unflushed", landed)
        done = write_file(root, NOTE, OURS, expected=digest(OLD))
    assert isinstance(done, Written)
    assert done.stamp is None
    assert (root.real / NOTE).read_bytes() == OURS + THEIRS


def test_a_save_during_a_removal(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    """A save during a removal stays: an edit beats a removal."""
    with before(monkeypatch, "rename_new", save(root, THEIRS)):
        assert remove_file(root, NOTE, expected=digest(OLD)) == Mismatch(digest(THEIRS))
    assert (root.real / NOTE).read_bytes() == THEIRS
    assert swap_files(root) == []


def test_two_saves_during_a_removal(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two saves the newer is at the path, the older is returned by `settle`."""
    with before(monkeypatch, "rename_new", save(root, THEIRS), save(root, LATER)):
        done = remove_file(root, NOTE, expected=digest(OLD))
    assert isinstance(done, Mismatch)
    assert done.actual == digest(LATER)
    assert done.displaced
    assert done.displaced.settle() == THEIRS


def test_a_file_removed_before_our_removal(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    with before(monkeypatch, "rename_new", (root.real / NOTE).unlink):
        assert remove_file(root, NOTE, expected=digest(OLD)) == Mismatch(None)
    assert remove_file(root, "gone/x.md", expected=digest(OLD)) == Mismatch(None)


def _unsupported(*_: object) -> None:
    raise syscalls.Unsupported(errno.ENOSYS, "none")


@pytest.mark.parametrize("act", ["save", "remove"])
def test_races_without_an_exchange_are_noticed(root: Root, monkeypatch: pytest.MonkeyPatch, act: str) -> None:
    """Without an atomic exchange, a save or removal right before the write is noticed, and nothing is replaced."""
    real = os.link

    def raced(*args: Any, **how: Any) -> None:
        save(root, THEIRS)() if act == "save" else (root.real / NOTE).unlink()
        real(*args, **how)

    monkeypatch.setattr(syscalls, "exchange", _unsupported)
    monkeypatch.setattr(os, "link", raced)
    assert overtaken(root) == Mismatch(digest(THEIRS) if act == "save" else None)
    assert swap_files(root) == []


@pytest.mark.parametrize("act", ["save", "remove"])
def test_the_last_check_before_a_rename(root: Root, monkeypatch: pytest.MonkeyPatch, act: str) -> None:
    real = displaced.digest_at

    def raced(folder: int, name: str) -> str | None:
        found = real(folder, name)
        if name.startswith("out-"):
            save(root, THEIRS)() if act == "save" else (root.real / NOTE).unlink()
        return found

    monkeypatch.setattr(syscalls, "exchange", _unsupported)
    monkeypatch.setattr("reverie.sync.swap.digest_at", raced)
    assert overtaken(root) == Mismatch(digest(THEIRS) if act == "save" else None)
    assert swap_files(root) == []


def test_a_file_system_without_links_either(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without hard links the error names file systems that work, and nothing is changed."""

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, "none")

    monkeypatch.setattr(syscalls, "exchange", _unsupported)
    monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(StorageFailed) as failed:
        write_file(root, NOTE, OURS, expected=digest(OLD))
    assert "ext4" in str(failed.value.hint)
    assert (root.real / NOTE).read_bytes() == OLD
    assert swap_files(root) == []
