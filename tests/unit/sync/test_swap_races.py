"""What somebody does in the very moment of a write: each way ends with nobody's bytes lost, and says what it found."""

from __future__ import annotations

import errno
import os
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest

from reverie import syscalls
from reverie.errors import StorageFailed
from reverie.sync import swap_recovery as displacing
from reverie.sync.exchange import Mismatch, Written, remove_file, write_file
from reverie.sync.file_slot import FileSlot
from reverie.sync.root import Root

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

NOTE = "user.md"
OLD, OURS, THEIRS, LATER = b"old\n", b"ours\n", b"theirs\n", b"later\n"


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Root]:
    with Root.open(tmp_path / "space", space="default", store_id="store", fresh=True) as opened:
        (opened.real / NOTE).write_bytes(OLD)
        yield opened


def digest(data: bytes) -> str:
    return sha256(data).hexdigest()


def swapped(root: Root) -> list[str]:
    return sorted(path.name for path in (root.real / ".reverie/swap").iterdir())


def save(root: Root, data: bytes) -> Callable[[], None]:
    """By rename, as most editors do."""

    def act() -> None:
        (root.real / ".draft").write_bytes(data)
        (root.real / ".draft").replace(root.real / NOTE)

    return act


@contextmanager
def before(monkeypatch: pytest.MonkeyPatch, call: str, *acts: Callable[[], object] | None) -> Iterator[None]:
    """Lets somebody act just before the first, the second, … such call; None lets one pass."""
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
    """It is in its place and handed over; ours came out, and settles."""
    with before(monkeypatch, "exchange", save(root, THEIRS)):
        done = overtaken(root)
    assert (done.actual, done.saves, done.exposed) == (digest(THEIRS), (THEIRS,), True)
    assert (root.real / NOTE).read_bytes() == THEIRS
    assert done.displaced
    assert done.displaced.expected == digest(OURS)
    assert done.displaced.settle() is None
    assert swapped(root) == []


def test_two_saves_round_the_exchange(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    """The newer is in its place, the older is handed over twice: as it came out, and as it settles."""
    with before(monkeypatch, "exchange", save(root, THEIRS), save(root, LATER)):
        done = overtaken(root)
    assert (done.actual, done.saves) == (digest(LATER), (THEIRS, LATER))
    assert (root.real / NOTE).read_bytes() == LATER
    assert done.displaced
    assert done.displaced.expected is None
    assert done.displaced.settle() == THEIRS
    done.displaced.discard()
    assert swapped(root) == []


def test_a_save_and_then_a_removal(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever removed what was there for a moment had not seen the save: it is in its place again."""
    with before(monkeypatch, "exchange", save(root, THEIRS), (root.real / NOTE).unlink):
        done = overtaken(root)
    assert (done.actual, done.saves, done.displaced) == (digest(THEIRS), (THEIRS,), None)
    assert (root.real / NOTE).read_bytes() == THEIRS
    assert swapped(root) == []


def test_a_save_a_removal_and_another_save(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last save is in its place, the first is handed over."""
    with (
        before(monkeypatch, "exchange", save(root, THEIRS), (root.real / NOTE).unlink, None, None),
        before(monkeypatch, "rename_new", save(root, LATER)),
    ):
        done = overtaken(root)
    assert done.actual == digest(LATER)
    assert THEIRS in done.saves
    assert (root.real / NOTE).read_bytes() == LATER
    assert done.displaced
    assert done.displaced.settle() == THEIRS


def test_a_removal_before_the_exchange(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    with before(monkeypatch, "exchange", (root.real / NOTE).unlink):
        assert overtaken(root) == Mismatch(None)
    assert not (root.real / NOTE).exists()
    assert swapped(root) == []


def test_a_file_that_comes_before_ours(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where none was expected: it stays."""
    (root.real / NOTE).unlink()
    with before(monkeypatch, "rename_new", save(root, THEIRS)):
        assert write_file(root, NOTE, OURS, expected=None) == Mismatch(digest(THEIRS))
    assert (root.real / NOTE).read_bytes() == THEIRS
    assert swapped(root) == []


@pytest.mark.parametrize("kind", ["folder", "link"])
def test_what_is_no_file_goes_back(root: Root, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """A folder or a link that was put there in that moment is there afterwards, and nothing went through it."""

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
    """An editor that has emptied the file goes on writing to it: it stays out, and ours is in its place."""
    with (root.real / NOTE).open("r+b", buffering=0) as editor:

        def empty() -> None:
            editor.truncate(0)
            editor.write(THEIRS[:3])

        with before(monkeypatch, "exchange", empty):
            done = write_file(root, NOTE, OURS, expected=digest(OLD))
        assert isinstance(done, Written)
        assert done.displaced
        assert done.displaced.writing
        assert done.displaced.settle() is None
        editor.write(THEIRS[3:])
    assert done.displaced.settle() == THEIRS
    assert (root.real / NOTE).read_bytes() == OURS


def test_half_a_save_after_a_whole_one(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole one is in its place and handed over; the other one stays out until it is whole."""
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


def test_a_write_into_our_bytes_is_told(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody appends as soon as they are there: they have no stamp, so that the next look reads them."""

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


def test_a_save_while_a_file_is_taken_away(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    """It stays: an edit beats a removal."""
    with before(monkeypatch, "rename_new", save(root, THEIRS)):
        assert remove_file(root, NOTE, expected=digest(OLD)) == Mismatch(digest(THEIRS))
    assert (root.real / NOTE).read_bytes() == THEIRS
    assert swapped(root) == []


def test_two_saves_while_a_file_is_taken_away(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    """The newer is in its place, the older is handed over when it settles."""
    with before(monkeypatch, "rename_new", save(root, THEIRS), save(root, LATER)):
        done = remove_file(root, NOTE, expected=digest(OLD))
    assert isinstance(done, Mismatch)
    assert done.actual == digest(LATER)
    assert done.displaced
    assert done.displaced.settle() == THEIRS


def test_a_file_removed_before_it_is_taken_away(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    with before(monkeypatch, "rename_new", (root.real / NOTE).unlink):
        assert remove_file(root, NOTE, expected=digest(OLD)) == Mismatch(None)
    assert remove_file(root, "gone/x.md", expected=digest(OLD)) == Mismatch(None)


def _unsupported(*_: object) -> None:
    raise syscalls.Unsupported(errno.ENOSYS, "none")


@pytest.mark.parametrize("act", ["save", "remove"])
def test_without_an_exchange_a_race_is_seen_too(root: Root, monkeypatch: pytest.MonkeyPatch, act: str) -> None:
    """Up to the last look before the rename."""
    real = os.link

    def raced(*args: Any, **how: Any) -> None:
        save(root, THEIRS)() if act == "save" else (root.real / NOTE).unlink()
        real(*args, **how)

    monkeypatch.setattr(syscalls, "exchange", _unsupported)
    monkeypatch.setattr(os, "link", raced)
    assert overtaken(root) == Mismatch(digest(THEIRS) if act == "save" else None)
    assert swapped(root) == []


@pytest.mark.parametrize("act", ["save", "remove"])
def test_the_last_look_before_a_rename(root: Root, monkeypatch: pytest.MonkeyPatch, act: str) -> None:
    real = displacing.digest_at

    def raced(folder: int, name: str) -> str | None:
        found = real(folder, name)
        if name.startswith("out-"):
            save(root, THEIRS)() if act == "save" else (root.real / NOTE).unlink()
        return found

    monkeypatch.setattr(syscalls, "exchange", _unsupported)
    monkeypatch.setattr("reverie.sync.exchange.digest_at", raced)
    assert overtaken(root) == Mismatch(digest(THEIRS) if act == "save" else None)
    assert swapped(root) == []


def test_a_file_system_without_links_either(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error that says where the folder could be kept; nothing is changed."""

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, "none")

    monkeypatch.setattr(syscalls, "exchange", _unsupported)
    monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(StorageFailed) as failed:
        write_file(root, NOTE, OURS, expected=digest(OLD))
    assert "ext4" in str(failed.value.hint)
    assert (root.real / NOTE).read_bytes() == OLD
    assert swapped(root) == []
