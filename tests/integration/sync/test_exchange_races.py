"""Races of exchanges with saves and folder swaps: no word is lost, and nothing is written outside."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from reverie import syscalls
from reverie.errors import Forbidden
from reverie.merge import merge3
from reverie.sync.displaced import DisplacedFile
from reverie.sync.root import Root
from reverie.sync.scan import FileContent, read_file
from reverie.sync.swap import Mismatch, Written, write_file
from support import racing_editor
from support.soak import count
from support.spaces import digest, swap_files, sync_write

SAVES_EACH = 50
TITLE = "# Notes\n"


@dataclass
class Keeper:
    """A minimal sync of one file that loses no text: its own text, and every text that it has read or written.

    `diary` says of each text of the other side what it was made from; half a text is in no diary.
    """

    root: Root
    path: str
    diary: Path
    held: str = TITLE
    agreed: str = digest(TITLE.encode())
    shown: set[str] = field(default_factory=lambda: {digest(TITLE.encode())})
    pending: list[DisplacedFile] = field(default_factory=list)
    asides: list[str] = field(default_factory=list)
    tally: Counter[str] = field(default_factory=Counter)
    own: int = 0

    def turn(self, *, more: bool) -> bool:
        """Merge the saves of others, add a line if `more`, and write the text; return True if nothing is left to do."""
        self._settle()
        found = read_file(self.root, self.path, limit=1 << 24)
        if not isinstance(found, FileContent):
            return False
        if found.sha256 != self.agreed:
            self._merge(found.data)
            self.agreed = found.sha256
        if more:
            self.held += f"- ours{self.own}\n"
            self.own += 1
        if digest(self.held.encode()) != self.agreed:
            self._write()
            return False
        return not self.pending

    def _write(self) -> None:
        new = digest(self.held.encode())
        done = write_file(self.root, self.path, self.held.encode(), expected=self.agreed)
        self.tally[type(done).__name__] += 1
        assert isinstance(done, Written | Mismatch)
        if done.displaced is not None:
            self.pending.append(done.displaced)
        if isinstance(done, Written):
            self.agreed = new
            self.shown.add(new)
        elif done.exposed:
            self.tally["given back"] += 1
            self.shown.add(new)
            for save in done.saves:
                self._merge(save)

    def _settle(self) -> None:
        for displaced in list(self.pending):
            data = displaced.settle()
            if data is not None:
                self.tally["saved into a displaced file"] += 1
                self._merge(data)
                displaced.discard()
            if displaced.settled:
                self.pending.remove(displaced)

    def _merge(self, theirs: bytes) -> None:
        base = theirs
        while digest(base) not in self.shown:
            base = (self.diary / digest(base)).read_bytes()
        merged = merge3(base.decode(), self.held, theirs.decode())
        if merged.conflicts:
            self.tally["conflict"] += 1
            self.asides.append(theirs.decode())
        self.held = merged.text
        self.shown.add(digest(theirs))


@pytest.mark.timeout(count(240, 7200))
@pytest.mark.parametrize("how", ["rename", "truncate", "both"])
def test_no_word_of_a_raced_save_is_lost(root: Root, tmp_path: Path, how: str) -> None:
    """While another process saves stale buffers as fast as it can, no word of its saves or ours is lost."""
    total: Counter[str] = Counter()
    for seed in range(count(12, 670)):
        keeper = Keeper(root, f"notes/{how}-{seed}.md", tmp_path / f"diary{seed}")
        keeper.diary.mkdir()
        sync_write(root, keeper.path, TITLE.encode())
        words = (racing_editor.__file__, root.real / keeper.path, SAVES_EACH, seed, how, keeper.diary)
        with subprocess.Popen([sys.executable, "-S", *map(str, words)]) as editor:
            while editor.poll() is None:
                keeper.turn(more=len(keeper.held) < 8000)
        assert editor.returncode == 0
        while not keeper.turn(more=False):
            pass
        everywhere = {word for text in (keeper.held, *keeper.asides) for word in text.split()}
        ours = [f"ours{number}" for number in range(keeper.own)]
        missing = [word for word in [*racing_editor.words(seed, SAVES_EACH), *ours] if word not in everywhere]
        assert missing == [], f"seed {seed}: {keeper.tally}"
        assert (root.real / keeper.path).read_text() == keeper.held
        total += keeper.tally
    print(f"{how}: {dict(total)}")
    assert swap_files(root) == []
    assert total["Mismatch"] > 0


@pytest.mark.timeout(count(120, 3600))
@pytest.mark.parametrize("inside", [True, False], ids=["beside", "from outside"])
def test_nothing_is_written_outside_while_a_folder_is_a_link(
    root: Root,
    tmp_path: Path,
    inside: bool,  # noqa: FBT001
) -> None:
    """A folder and a link to the outside are swapped all the time, and every write is inside or refused."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "known.md").write_bytes(b"of somebody else\n")
    (root.real / "facts/deep").mkdir(parents=True)
    (root.real / "link").symlink_to(outside)
    stop = threading.Event()
    first, second = ("facts/deep", "link") if inside else ("facts", "link")

    def swap() -> None:
        while not stop.is_set():
            syscalls.exchange(first, root.handle, second, root.handle)

    racer = threading.Thread(target=swap)
    racer.start()
    outcomes = {"placed": 0, "refused": 0, "read": 0}
    try:
        number = 0
        while number < count(1500, 50_000) or not (outcomes["placed"] and outcomes["refused"]):
            number += 1
            folder = "facts/deep" if inside else "facts"
            try:
                done = write_file(root, f"{folder}/{number % 100}-{number // 100}.md", b"x", expected=None)
                assert isinstance(done, Written)
                outcomes["placed"] += 1
            except Forbidden:
                outcomes["refused"] += 1
            outcomes["read"] += isinstance(read_file(root, f"{folder}/known.md", limit=100), FileContent)
    finally:
        stop.set()
        racer.join()
    assert [path.name for path in outside.iterdir()] == ["known.md"]
    assert outcomes["read"] == 0
    assert swap_files(root) == []
