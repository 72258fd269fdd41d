"""Events of a real folder: their paths and times."""

from __future__ import annotations

import ctypes
import errno
import os
import threading
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest
from watchdog.events import FileModifiedEvent
from watchdog.observers import inotify_c

from reverie.sync.displaced import SWAP_FOLDER
from reverie.sync.swap import Written, write_file
from reveried import watcher
from reveried.watcher import Watcher
from support.spaces import open_root
from support.waiting import wait_until

# watchdog's warning of a folder that it watches twice, which the watcher ignores; pytest has filters of its own.
pytestmark = pytest.mark.filterwarnings("ignore:Callback with id :RuntimeWarning")

COARSE_S = 0.02  # the kernel dates a change by its last tick


def test_a_save_is_reported_with_path_and_time(tmp_path: Path) -> None:
    """A save is reported with path and time; the daemon's own files are not."""
    told: list[tuple[str | None, float]] = []
    came = threading.Event()

    def touched(path: str | None, at: float) -> None:
        told.append((path, at))
        came.set()

    (tmp_path / ".reverie").mkdir()
    watched = Watcher(tmp_path, touched)
    assert watched.start()
    try:
        (tmp_path / ".reverie" / "mark").write_text("ours")
        before = time.monotonic()
        (tmp_path / "a.md").write_text("- a\n")
        assert came.wait(60)
    finally:
        watched.stop()

    assert {path for path, _ in told} == {"a.md"}
    assert all(before - COARSE_S <= at <= time.monotonic() for _, at in told)


def test_hidden_files_are_not_reported(tmp_path: Path) -> None:
    """Hidden files are ignored, also a git repository; a file renamed to a visible name is reported."""
    (tmp_path / ".kept" / "deep").mkdir(parents=True)
    (tmp_path / ".drafts").mkdir()
    told: set[str | None] = set()
    came = {name: threading.Event() for name in ("a.md", "b.md", "facts/c.md", None)}

    def touched(path: str | None, _: float) -> None:
        told.add(path)
        if path in came:
            came[path].set()

    watched = Watcher(tmp_path, touched)
    assert watched.start()
    try:
        for name in (".git/objects/ab", ".git/refs/heads", ".reverie/swap"):
            (tmp_path / name).mkdir(parents=True)
        (tmp_path / ".git/objects/ab/cd.md").write_text("object")
        (tmp_path / ".git/objects/ab").rename(tmp_path / ".git/objects/ac")
        (tmp_path / ".hidden.md").write_text("-")
        (tmp_path / ".reverie/swap/new.md").write_text("- b")
        (tmp_path / ".drafts/new.md").write_text("- b")
        (tmp_path / "a.md").write_text("- a")
        assert came["a.md"].wait(60)
        assert told == {"a.md"}

        (tmp_path / ".drafts/new.md").rename(tmp_path / "b.md")
        assert came["b.md"].wait(60)
        (tmp_path / ".kept").rename(tmp_path / "facts")
        assert came[None].wait(60)
        (tmp_path / "facts" / "c.md").write_text("- c")
        assert came["facts/c.md"].wait(60)
    finally:
        watched.stop()


@pytest.mark.parametrize(("most", "late"), [(60.0, True), (0.01, False)])
def test_a_delayed_event_has_the_time_of_the_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: float, *, late: bool
) -> None:
    """An event has the time of the file's change, unless that is longer ago than an event's delay."""
    monkeypatch.setattr(watcher, "_DELAY_MAX_S", most)
    path = tmp_path / "a.md"
    path.write_text("- a\n")
    time.sleep(0.3)  # more than a busy machine lets pass between the handler's two looks at a clock

    assert (told_by_handler(path) < -0.02) is late


def told_by_handler(path: Path) -> float:
    """Return an event's time, as the handler computes it, minus the present time, in seconds."""
    told: list[float] = []
    now = time.monotonic()
    watcher._Handler(str(path.parent), lambda _, at: told.append(at)).on_any_event(FileModifiedEvent(str(path)))
    [at] = told
    return at - now


@pytest.mark.parametrize(
    ("number", "limit"),
    [(errno.ENOSPC, "fs.inotify.max_user_watches"), (errno.EMFILE, "fs.inotify.max_user_instances")],
)
def test_a_limit_of_inotify_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, limit: str) -> None:
    """Without a free inotify watch or instance the watcher does not start, and its hint says how to raise the limit."""
    exhausted = inotify_failure(number)
    monkeypatch.setattr(inotify_c, "inotify_init" if number == errno.EMFILE else "inotify_add_watch", exhausted)
    threads = threading.active_count()
    watched = Watcher(tmp_path, lambda *_: None)

    assert not watched.start()
    assert watched.hint is not None
    assert f"sudo sysctl {limit}=" in watched.hint
    assert threading.active_count() == threads
    watched.stop()


def test_a_folder_below_the_root_beyond_the_limit_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For a new folder that cannot be watched a whole scan is called for, and events no longer count as complete."""
    events: list[str | None] = []
    watched = Watcher(tmp_path, lambda path, _: events.append(path))
    assert watched.start()
    try:
        assert watched.hint is None
        monkeypatch.setattr(inotify_c, "inotify_add_watch", inotify_failure(errno.ENOSPC))
        (tmp_path / "facts").mkdir()
        wait_until(lambda: watched.hint, "the failure")
        wait_until(lambda: None in events, "a call for a whole scan")
        assert not watched.is_complete
    finally:
        watched.stop()


def inotify_failure(number: int) -> Callable[..., int]:
    """Return a call of libc that fails with this error."""

    def fail(*_: object) -> int:
        ctypes.set_errno(number)
        return -1

    return fail


def test_of_the_swap_folder_moves_alone_are_watched(tmp_path: Path) -> None:
    """The kernel reports only moves in the swap folder, not the writes of scratch files there."""
    (tmp_path / ".reverie").mkdir()
    watched = Watcher(tmp_path, lambda *_: None)
    assert watched.start()
    try:
        swap = tmp_path / SWAP_FOLDER
        swap.mkdir()

        def masks() -> list[int]:
            watches = list(watched._observer._inotify_fd._watch_for_wd.values())
            return [watch.mask for watch in watches if watch._initial_creation_path == os.fsencode(swap)]

        wait_until(masks, "the watch of the swap folder")
        assert masks() == [inotify_c.InotifyConstants.IN_MOVE | inotify_c.InotifyConstants.IN_DONT_FOLLOW]
    finally:
        watched.stop()


def test_a_save_beside_own_writes_is_an_event(tmp_path: Path) -> None:
    """A person's save before, between or after the daemon's writes of the same file is an event."""
    root = open_root(tmp_path)
    (tmp_path / SWAP_FOLDER).mkdir(parents=True)
    told: list[str | None] = []
    watched = Watcher(tmp_path, lambda path, _: told.append(path))
    assert watched.start()
    try:
        for text in (b"- a\n", b"- b\n", b"- c\n"):
            seen = len(told)
            (tmp_path / "new.md").write_bytes(text)
            (tmp_path / "new.md").rename(tmp_path / "a.md")
            wait_until(lambda: "a.md" in told[seen:], "the event of the save")  # noqa: B023 - called at once
            assert isinstance(write_file(root, "a.md", text + b"- ours\n", expected=sha256(text).hexdigest()), Written)
    finally:
        watched.stop()
        root.close()
