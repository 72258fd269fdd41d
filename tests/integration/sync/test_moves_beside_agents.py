"""Renames, case changes, moves and splits of files while agents write to them: no word is lost, none is there twice."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from itertools import count as numbers
from pathlib import Path

import pytest

from reverie import wire
from reverie.client import Client
from reverie.errors import ReverieError
from support.daemon_folder import COPY, SAVES, Tree, tree, words
from support.soak import count

ACTS = count(40, 2_000)
BATCH = 10  # acts between two counts
FILES = 6
AGENTS = 2
LISTED_EVERY = 5  # writes of an agent, which knows a new name only once the daemon does
FOLDERS = ("facts", "facts/deep", "facts/far/off")


class Agent(threading.Thread):
    """Writes lines of one unique word to files that the daemon lists, until it is ended; `acknowledged` were stored."""

    def __init__(self, own: Tree, number: int) -> None:
        super().__init__()
        self.own, self.number = own, number
        self.pick = random.Random(number)
        self.acknowledged: set[str] = set()
        self.tried: set[str] = set()
        self.ended = threading.Event()

    def run(self) -> None:
        with Client(self.own.daemon.socket) as client:
            paths: list[str] = []
            for at in numbers():
                if self.ended.is_set():
                    return
                if at % LISTED_EVERY == 0:
                    listed = [document.path for document in client.documents(limit=1000).items]
                    paths = [path for path in listed if path.startswith("facts/") and COPY not in path]
                word, path = f"w{self.number}{at:06}", self.pick.choice(paths)
                self.tried.add(word)
                try:
                    if self.pick.random() < 0.7:
                        client.append_entry(path, f"- The {word} server is new")
                    else:
                        client.remember(wire.CreateMemory(content=f"Host {word} is slow", document=path))
                except ReverieError:
                    continue
                self.acknowledged.add(word)
                time.sleep(0.01)


class Mover:
    """A person who renames, moves and splits files, and the paths of these."""

    def __init__(self, own: Tree, seed: int) -> None:
        self.own = own
        self.pick = random.Random(seed)
        self.paths: list[str] = []
        self.names = numbers()
        self.tally: Counter[str] = Counter()

    def begin(self) -> None:
        """Create the files."""
        for number in range(FILES):
            path = f"facts/n{next(self.names)}.md"
            self.own.save(path, f"# Notes\n\n- Own line w9{number:06}\n")
            self.paths.append(path)

    def act(self) -> None:
        """Rename, move or split one file."""
        path = self.pick.choice(self.paths)
        file = self.own.path(path)
        if not file.exists():
            return
        kind = self.pick.choice(("rename", "case", "move", "split", "edit and rename"))
        folder, name = path.rsplit("/", 1)
        if kind == "case":
            new = f"{folder}/{name[:-3].swapcase()}.md"
        elif kind == "move":
            new = f"{self.pick.choice(FOLDERS)}/m{next(self.names)}.md"
        else:
            new = f"{folder}/n{next(self.names)}.md"
        target = self.own.path(new)
        if target.exists():
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        self.tally[kind] += 1
        if kind == "split":
            self.split(file, target)
            if target.exists():
                self.paths.append(new)
            return
        if kind == "edit and rename":
            beside = file.with_name(f".{file.name}.tmp-save")
            beside.write_text(file.read_text("utf-8") + f"- Typed w8{next(self.names):06}\n", "utf-8")
            beside.replace(file)
            time.sleep(self.pick.choice((0, 0.0002, 0.001, 0.005)))  # a write of the daemon may fall between the two
        file.rename(target)
        self.paths[self.paths.index(path)] = new

    def split(self, file: Path, target: Path) -> None:
        """Cut the last bullets out of a file, and paste them into a new one."""
        lines = file.read_text("utf-8").splitlines(keepends=True)
        bullets = [line for line in lines if line.startswith("- ") and words(line)]
        if len(bullets) < 2:
            return
        cut = bullets[len(bullets) // 2 :]
        rest = "".join(line for line in lines if line not in cut)
        saves = [(target, f"# Part\n\n{''.join(cut)}"), (file, rest)]
        for path, text in saves if self.pick.random() < 0.5 else reversed(saves):
            self.pick.choice(SAVES[2:])(path, text)


def counts(own: Tree) -> tuple[Counter[str], Counter[str]]:
    """Return how often each word is in the files, and how many memories have it."""
    files = [path for path in own.path("facts").rglob("*.md") if "/." not in str(path) and COPY not in path.name]
    lines = Counter(word for file in files for line in file.read_text("utf-8").splitlines() for word in words(line))
    memories: Counter[str] = Counter()
    after = None
    while True:
        page = own.client.memories(limit=1000, after=after)
        memories.update(word for memory in page.items for word in words(memory.content))
        after = page.next
        if after is None:
            return lines, memories


@pytest.mark.timeout(count(300, 14_400))
@pytest.mark.parametrize("seed", range(count(1, 4)))
def test_no_word_is_lost_or_doubled(seed: int) -> None:
    """Each acknowledged line, and each of the person's, is once in the files and once in the memories."""
    with tree(REVERIE_SYNC_DEBOUNCE_MS="20", REVERIE_SYNC_DELETE_QUIET_SECONDS="2") as own:
        mover = Mover(own, seed)
        mover.begin()
        own.agree()
        known: set[str] = set(counts(own)[0])
        done = 0
        while done < ACTS // count(1, 4):
            agents = [Agent(own, 10 * (done + 1) + number) for number in range(AGENTS)]
            for agent in agents:
                agent.start()
            for _ in range(BATCH):
                mover.act()
                time.sleep(mover.pick.choice((0, 0.01, 0.05, 0.2)))
            for agent in agents:
                agent.ended.set()
                agent.join(60)
            own.agree()
            lines, memories = counts(own)
            assert not [word for word, times in lines.items() if times > 1], (seed, done, mover.tally)
            assert not [word for word, times in memories.items() if times > 1], (seed, done, mover.tally)
            known |= {word for agent in agents for word in agent.acknowledged}
            missing = known - lines.keys() | known - memories.keys()
            assert not missing, (seed, done, mover.tally, sorted(missing)[:9])
            known = set(lines)
            done += BATCH
            if len(mover.paths) > 3 * FILES:  # fewer files: what is in the others was counted
                for path in mover.paths[FILES:]:
                    own.path(path).unlink(missing_ok=True)
                mover.paths = mover.paths[:FILES]
                own.agree(accept_deletions=True)
                known = set(counts(own)[0])
        print(f"seed {seed}: {done} acts {dict(mover.tally)}, {len(known)} words at the end")
