"""A folder that is full, read-only or away: what agents write meanwhile is not deleted by the saves that follow."""

from __future__ import annotations

import errno
import os
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from reverie.client import Client
from support.daemon import running_daemon, scratch_home
from support.daemon_folder import QUICK, SAVES, Tree
from support.soak import count
from support.spaces import mounted, run_or_skip
from support.waiting import wait_until

KEY = "- Password: hunter2-Zx9!qq\n"
WRITES_MAX = 40  # more than the versions that a merge base is looked for in


@pytest.fixture(scope="module")
def disk() -> Iterator[Tree]:
    """Yield a daemon whose folder is a small file system of its own."""
    with scratch_home() as home:
        (home / "root").mkdir()
        with (
            mounted(home / "root", "-t", "tmpfs", "-o", "size=4m", "tmpfs"),
            running_daemon(home, **QUICK) as daemon,
            Client(daemon.socket) as client,
        ):
            own = Tree(daemon, client)
            own.root.mkdir()
            yield own


@contextmanager
def full(own: Tree) -> Iterator[Path]:
    """Fill the folder's file system, also what is freed meanwhile, and make room again."""
    filler = own.root.parent / "filler.bin"
    handle = os.open(filler, os.O_WRONLY | os.O_CREAT)
    over = threading.Event()

    def go_on() -> None:
        while not over.wait(0.02):
            while _has_room(handle):
                pass

    while _has_room(handle):
        pass
    filling = threading.Thread(target=go_on)
    filling.start()
    try:
        yield own.root
    finally:
        over.set()
        filling.join()
        os.close(handle)
        filler.unlink()


def _has_room(handle: int) -> bool:
    """Write one page; return False if there is no room for it."""
    try:
        return os.write(handle, bytes(4096)) > 0
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        return False


@contextmanager
def read_only(own: Tree) -> Iterator[Path]:
    """Remount the folder's file system read-only, and then for writing."""
    run_or_skip("mount", "-o", "remount,ro", own.root.parent)
    try:
        yield own.root
    finally:
        run_or_skip("mount", "-o", "remount,rw", own.root.parent)


@contextmanager
def not_ours(own: Tree) -> Iterator[Path]:
    """Let only our own writes fail: a person can save."""
    run_or_skip("chattr", "+i", own.root / ".reverie/swap")
    try:
        yield own.root
    finally:
        run_or_skip("chattr", "-i", own.root / ".reverie/swap")


@contextmanager
def away(own: Tree) -> Iterator[Path]:
    """Move the folder away, and back."""
    elsewhere = own.root.with_name("away")
    own.root.rename(elsewhere)
    try:
        yield elsewhere
    finally:
        elsewhere.rename(own.root)


TROUBLES: dict[str, Callable[[Tree], AbstractContextManager[Path]]] = {
    "full": full,
    "read_only": read_only,
    "not_ours": not_ours,
    "away": away,
}


def edited(text: str, pick: random.Random, number: int) -> tuple[str, str, str]:
    """Return a person's edit of a text, the line that it adds, and the one that it deletes."""
    lines = text.splitlines(keepends=True)
    gone = lines.pop(pick.choice([at for at, line in enumerate(lines) if line.startswith("- Item")]))
    added = f"- Person: note {number} of {pick.randrange(10**6)}\n"
    lines.insert(pick.randrange(2, len(lines) + 1), added)
    return "".join(lines), added, gone


@pytest.mark.parametrize("trouble", TROUBLES)
def test_what_was_never_on_disk_is_not_deleted(disk: Tree, trouble: str) -> None:
    """A save of the text that the disk shows keeps every line that agents wrote while the folder could not be written.

    The person saves as soon as they can: with `not_ours` and `away` while our writes fail, else right after.
    """
    for number in range(count(2, 60)):
        pick = random.Random(f"{trouble} {number}")
        name = f"facts/{trouble}{number}.md"
        items = "".join(f"- Item {item}: number {pick.randrange(10**6)}\n" for item in range(8))
        disk.save(name, f"# Facts\n\n{items}{KEY if pick.random() < 0.3 else ''}")
        disk.agree()
        written = []
        with TROUBLES[trouble](disk) as root:
            for fact in range(pick.choice([1, 3, 30, WRITES_MAX]) if number else 25):
                written.append(f"- Agent: fact {fact} about {pick.randrange(10**6)}\n")
                disk.client.append_entry(name, written[-1].rstrip())
            text, added, gone = edited((root / name).read_text("utf-8"), pick, number)
            how = pick.choice(SAVES)
            if trouble in {"not_ours", "away"}:
                how(root / name, text)
            if trouble == "not_ours" and pick.random() < 0.5:
                disk.client.sync_now()
                text, more, _ = edited(text, pick, number + 1000)
                how(root / name, text)
                written.append(more)
        if trouble in {"full", "read_only"}:
            how(disk.path(name), text)
        disk.agree()

        stored = disk.stored(name) or ""
        assert [line for line in (*written, added) if line not in stored] == []
        assert gone not in stored
        assert KEY in disk.read(name) or stored == disk.read(name)
    assert disk.client.conflicts().items == []


CODES = {"full": "disk_full", "read_only": "read_only", "not_ours": "read_only", "away": "root_missing"}
WORDS = {"full": "is full", "read_only": "is read-only", "not_ours": "is read-only", "away": "is gone"}


@pytest.mark.parametrize("trouble", TROUBLES)
def test_the_status_and_an_event_say_why_and_it_ends_by_itself(disk: Tree, trouble: str) -> None:
    """Status, events and the exit of `sync status` name the trouble and the next step; afterwards all is written."""
    client, name = disk.client, f"facts/waits-{trouble}.md"
    client.put_document(name, "- Before: one\n")
    disk.agree()
    first = client.status().counts["events"]
    began = ("sync.stopped" if trouble == "away" else "sync.blocked", CODES[trouble])
    ended = ("sync.resumed", CODES[trouble])
    with TROUBLES[trouble](disk):
        client.append_entry(name, "- Meanwhile: two")
        client.put_document(f"facts/new-{trouble}.md", "- New: three\n")

        wait_until(lambda: client.sync_status().state != "ok", "the status")
        status = client.sync_status()
        assert status.state == ("stopped" if trouble == "away" else "blocked")
        assert WORDS[trouble] in (status.reason or "")
        assert status.hint
        assert status.pending >= 1
        shown = client.status().sync
        assert shown is not None
        assert shown.state == status.state
        wait_until(lambda: announced(disk, first) == [began], "the event")
    wait_until(lambda: client.sync_status().state == "ok", "the folder to be written")
    wait_until(lambda: "- Meanwhile: two\n" in disk.read(name), "what waited")
    assert disk.path(f"facts/new-{trouble}.md").exists()
    wait_until(lambda: announced(disk, first) == [began, ended], "the event of the end")
    assert client.sync_status().pending == 0


def announced(disk: Tree, first: int) -> list[tuple[str, str]]:
    """Return type and reason of each event about the folder after number `first`."""
    last, events = disk.client.status().counts["events"], []
    if last > first:
        for event in disk.client.events(after=first):
            if event.type.startswith("sync."):
                events.append((event.type, event.data["reason"]))
            if event.seq >= last:
                break
    return events
