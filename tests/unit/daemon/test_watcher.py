"""Events of a real folder: their paths and times."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest
from watchdog.events import FileModifiedEvent

from reveried import watcher
from reveried.watcher import Watcher

if TYPE_CHECKING:
    from pathlib import Path

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
        (tmp_path / "a.md").write_text("- a")
        assert came["a.md"].wait(60)
        assert told == {"a.md"}

        (tmp_path / ".reverie/swap/new.md").rename(tmp_path / "b.md")
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
    time.sleep(0.03)

    assert (told_by_handler(path) < -0.02) is late


def test_an_event_of_a_missing_file_has_the_current_time(tmp_path: Path) -> None:
    """An event of a missing file has the current time."""
    assert told_by_handler(tmp_path / "gone.md") >= 0


def told_by_handler(path: Path) -> float:
    """Return the delay in seconds that the handler computes."""
    told: list[float] = []
    now = time.monotonic()
    watcher._Handler(str(path.parent), lambda _, at: told.append(at)).on_any_event(FileModifiedEvent(str(path)))
    [at] = told
    return at - now
