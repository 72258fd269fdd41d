"""A daemon with its folder, and the ways in which editors save files."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from reverie import wire
from reverie.client import Client
from reverie.errors import NotFound
from support.daemon import Daemon, running_daemon
from support.waiting import PAUSE_S

AGREE_S = 60.0

# Deletions are believed soon, so that tests need not wait.
QUICK = {"REVERIE_SYNC_DELETE_QUIET_SECONDS": "0.2", "REVERIE_SYNC_GRACE_SECONDS": "0.2"}

COPY = ".sync-conflict-"  # in the name of a conflict copy
GENERATED_LINES = ("> Summary:", "- Updated:")
WORD = re.compile(r"\bw\d+\b")


def words(text: str) -> set[str]:
    """Return the unique words of a text, without those of generated lines."""
    return {
        word
        for line in text.removeprefix("\ufeff").splitlines()
        if not line.startswith(GENERATED_LINES)
        for word in WORD.findall(line)
    }


def in_place(path: Path, text: str) -> None:
    """Write without truncation, then cut the file to its new length."""
    with path.open("r+b" if path.exists() else "wb") as file:
        file.write(text.encode())
        file.truncate()


def truncate_then_write(path: Path, text: str) -> None:
    """Truncate the file, then write it, as `open(path, "w")` does."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.flush()
        file.write(text)


def rename_over(path: Path, text: str) -> None:
    """Write a new file and rename it over the old one, as VS Code and Obsidian do."""
    beside = path.with_name(f".{path.name}.tmp-save")
    beside.write_bytes(text.encode())
    beside.replace(path)


def vim(path: Path, text: str) -> None:
    """Rename the old file to a backup, write a new one, and delete the backup."""
    backup = path.with_name(f"{path.name}~")
    if path.exists():
        path.rename(backup)
    path.write_bytes(text.encode())
    backup.unlink(missing_ok=True)


SAVES: tuple[Callable[[Path, str], None], ...] = (in_place, truncate_then_write, rename_over, vim)


class Tree:
    """A daemon's folder and client, with a method that waits for agreement."""

    def __init__(self, daemon: Daemon, client: Client) -> None:
        self.daemon = daemon
        self.client = client
        self.root = daemon.folder

    def path(self, name: str) -> Path:
        """Return the path of a file of the folder."""
        return self.root / name

    def read(self, name: str) -> str:
        """Return a file's text, line endings included."""
        return self.path(name).read_bytes().decode()

    def save(self, name: str, text: str, how: Callable[[Path, str], None] = rename_over) -> None:
        """Save a file as an editor does."""
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        how(path, text)

    def stored(self, name: str) -> str | None:
        """Return the document's text in the store."""
        try:
            return self.client.document(name).content
        except NotFound:
            return None

    def agree(self, *, accept_deletions: bool = False) -> wire.SyncOutcome:
        """Sync until there is no change on either side; fail if that does not end."""
        deadline = time.monotonic() + AGREE_S
        while True:
            outcome = self.client.sync_now(accept_deletions=accept_deletions)
            waits = outcome.status.missing or outcome.status.pending
            if not (outcome.adopted or outcome.written or outcome.deleted or waits):
                return outcome
            assert time.monotonic() < deadline, outcome
            if outcome.status.missing:  # believed after a quiet time, which the daemon needs no questions for
                time.sleep(PAUSE_S)

    def memories(self) -> dict[str, wire.Memory]:
        """Return every memory by its content."""
        return {memory.content: memory for memory in self.client.memories(limit=1000).items}

    def stamps(self) -> dict[str, tuple[int, int, bytes]]:
        """Return inode, time and bytes of every file that people may edit."""
        stamps = {}
        for path in sorted(self.root.rglob("*")):
            name = path.relative_to(self.root).as_posix()
            if path.is_file() and not name.startswith((".reverie", "archives/", "memory/", "MEMORY-INDEX")):
                status = path.stat()
                stamps[name] = (status.st_ino, status.st_mtime_ns, path.read_bytes())
        return stamps


@contextmanager
def tree(**settings: str) -> Iterator[Tree]:
    """Yield a daemon of its own with short quiet periods."""
    with running_daemon(None, **(QUICK | settings)) as daemon, Client(daemon.socket) as client:
        daemon_tree = Tree(daemon, client)
        os.makedirs(daemon_tree.root, exist_ok=True)  # noqa: PTH103 - as a person's file manager does
        yield daemon_tree


def bytes_below(folder: Path, suffix: str = "") -> dict[str, bytes]:
    """Return the bytes of each regular file below `folder` whose name ends so, by its path relative to `folder`.

    Unlike `rglob` and a read after it: a daemon writes drafts, and removes files that it replaced and folders that are
    empty, at any moment between the listing and the read. Links are not followed.
    """
    found = {}
    for parent, _, names in os.walk(folder):  # a folder that has gone is left out
        for name in names:
            path = Path(parent, name)
            if name.endswith(suffix) and not path.is_symlink():
                with suppress(FileNotFoundError, NotADirectoryError):
                    if path.is_file():
                        found[path.relative_to(folder).as_posix()] = path.read_bytes()
    return dict(sorted(found.items()))
