"""A model of a real daemon with people and agents, killed, stopped and moved through time, and its laws."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import TypeVar

from reverie import wire
from reverie.client import Client
from reverie.documents.parse import parse_document
from reverie.errors import Conflict, DaemonNotRunning, NotFound, Starting
from support.daemon import running_daemon, scratch_home, set_clock
from support.daemon_folder import COPY, GENERATED_LINES, Tree, words
from support.simulated_people import NAMES, PROJECTED, Folk
from support.word_ledger import WordLedger

T = TypeVar("T")


class Agents:
    """API calls of agents, one after another, each recorded in the ledger."""

    def __init__(self, folk: Folk) -> None:
        self.folk = folk
        self.tree = folk.tree
        self.ledger = folk.ledger
        self.pick = folk.ledger.pick
        self.refused = 0

    def read(self, path: str) -> wire.DocumentText | None:
        """Return a document, or None if there is none or no daemon."""
        try:
            return self.tree.client.document(path)
        except (NotFound, DaemonNotRunning, Starting):
            return None

    def put_document(self) -> None:
        """Read a document, edit it, and put it with If-Match."""
        path = self._path()
        document = self.read(path)
        if document is None:
            self._create(path)
            return
        text = document.content
        for _ in range(self.pick.randint(1, 3)):
            text = self.ledger.edited(text)
        self._call(
            path,
            lambda: self.tree.client.put_document(path, text, etag=document.etag),
            old=words(document.content) - words(text),
            new=words(text) - words(document.content),
        )

    def patch_document(self) -> None:
        """Read a document and replace one line by a patch."""
        path = self._path()
        document = self.read(path)
        lines = document.content.splitlines() if document is not None else []
        free = [line for line in lines if words(line) and not line.removeprefix("\ufeff").startswith(GENERATED_LINES)]
        if free:
            line = self.pick.choice(free)
            other = f"{line.rsplit(' ', 1)[0]} {self.ledger.word()}"
            self._call(
                path,
                lambda: self.tree.client.patch_document(path, [(line, other)]),
                old=words(line) - words(other),
                new=words(other) - words(line),
            )

    def append_line(self) -> None:
        """Append a line to a document without reading it."""
        path = self._path()
        line = self.ledger.line()
        self._call(path, lambda: self.tree.client.append_entry(path, line), new=words(line))

    def create_memory(self) -> None:
        """Create a memory."""
        content = f"{self.ledger.word()} {self.ledger.word()}"
        path = self.pick.choice((NAMES[0], NAMES[1]))
        body = wire.CreateMemory(content, document=path)
        self._call(path, lambda: self.tree.client.remember(body), new=words(content))

    def change_memory(self) -> None:
        """Read a memory and change its content."""
        memory = self._memory()
        if memory is not None:
            content = f"{self.ledger.word()} now"
            body = wire.ChangeMemory(content)
            self._call(
                memory.document,
                lambda: self.tree.client.change_memory(memory.id, body),
                old=words(memory.content),
                new=words(content),
            )

    def forget_memory(self) -> None:
        """Read a memory and delete it."""
        memory = self._memory()
        if memory is not None:
            self._call(memory.document, lambda: self.tree.client.forget(memory.id), old=words(_all_text(memory)))

    def delete_document(self) -> None:
        """Read a document and delete it."""
        path = self._path()
        document = self.read(path)
        if document is not None:
            self._call(
                path,
                lambda: self.tree.client.delete_document(path, etag=document.etag),
                old=words(document.content),
            )

    def resolve_conflict(self) -> None:
        """Read both texts of a conflict and resolve it by one side or both."""
        try:
            self.tree.client.sync_now()
            conflicts = self.tree.client.conflicts(limit=100).items
            if not conflicts:
                return
            chosen = self.pick.choice(conflicts)
            texts = self.tree.client.conflict(chosen.id)
        except (DaemonNotRunning, Starting, NotFound, Conflict):
            return
        body = self.pick.choice((wire.Resolve(keep="file"), wire.Resolve(keep="store"), wire.Resolve(keep="both")))
        self._call(
            chosen.path,
            lambda: self.tree.client.resolve(chosen.id, body),
            old=words(texts.file_text) | words(texts.store_text),
        )

    def _create(self, path: str) -> None:
        """Create a document with If-None-Match, and record its words."""
        text = self.ledger.fresh()
        self._call(path, lambda: self._put_new(path, text), new=words(text))

    def _put_new(self, path: str, text: str) -> None:
        """Put a document with `If-None-Match: *`."""
        try:
            answer = self.tree.daemon.ask(
                "PUT", f"/v1/documents/{path}", {"content": text}, {"If-None-Match": "*"}, timeout=60
            )
        except (OSError, AssertionError) as error:
            raise DaemonNotRunning("no answer", hint="start it") from error
        if answer.status == 409:
            raise Conflict("the document exists", hint="read it")
        if answer.status == 503:
            raise DaemonNotRunning("not yet", hint="wait")
        assert answer.status == 200, answer.body

    def _memory(self) -> wire.Memory | None:
        """Return one of the memories after a scan of the folder, or None."""
        try:
            self.tree.client.sync_now()
            memories = self.tree.client.memories(limit=1000).items
        except (DaemonNotRunning, Starting, Conflict):
            return None
        return self.pick.choice(memories) if memories else None

    def _path(self) -> str:
        """Return a random path that has or may get a document."""
        return self.pick.choice([*NAMES, *(path for path in self.folk.files() if COPY not in path)])

    def _call(
        self, path: str, call: Callable[[], T], *, old: set[str] | None = None, new: set[str] | None = None
    ) -> T | None:
        """Make a call that removes `old` words and adds `new` ones; a refused call is counted and not recorded."""
        before = set(self.ledger.replaced)
        self.ledger.replace(old or set())
        try:
            answer = call()
        except (Conflict, NotFound):
            self.ledger.replaced = before
            self.refused += 1
            return None
        except (DaemonNotRunning, Starting):
            return None  # the call may have been committed or not
        self.ledger.write(new or set(), f"an agent's at {path}")
        self.ledger.note(path, self.folk.disk(path) or "")
        return answer


def _all_text(memory: wire.Memory) -> str:
    """Return all text of a memory: content, title, fields."""
    return "\n".join((memory.content, memory.title or "", *memory.fields, *memory.fields.values()))


DAY = timedelta(days=1)
MOST_MS = 8 * 3_600_000  # the clock stays within one day, so that no schedule falls due
LOOKS_MAX = 60
LATE_LOOKS = 150
COPIES_MAX = 8
SETTINGS = {
    "REVERIE_SYNC_DELETE_QUIET_SECONDS": "0.5",
    "REVERIE_SYNC_GRACE_SECONDS": "0.2",
    "REVERIE_SYNC_DEBOUNCE_MS": "10",
}


class Model:
    """Random acts of people, agents, daemon and clock; `agree` syncs until nothing is left to do, and checks the laws.

    The daemon's clock is ahead of the files' times: so whatever an agent wrote may be unseen by an open editor.
    """

    def __init__(self, tree: Tree, seed: int, begin_ms: int) -> None:
        self.tree = tree
        self.pick = random.Random(seed)
        self.begin_ms = self.now_ms = begin_ms
        self.ledger = WordLedger(self.pick)
        self.folk = Folk(tree, self.ledger)
        self.agents = Agents(self.folk)
        self.tally: dict[str, int] = {}
        folk, agents = self.folk, self.agents
        self._people: list[tuple[int, Callable[[], None]]] = [
            (6, folk.opens),
            (4, folk.begins),
            (14, folk.types),
            (10, folk.edits),
            (14, folk.saves),
            (2, folk.deletes),
            (3, folk.moves),
            (1, folk.copies),
            (1, folk.moves_folder),
            (1, folk.edits_copy),
        ]
        self._agents: list[tuple[int, Callable[[], None]]] = [
            (10, agents.put_document),
            (5, agents.patch_document),
            (6, agents.append_line),
            (3, agents.create_memory),
            (3, agents.change_memory),
            (2, agents.forget_memory),
            (1, agents.delete_document),
        ]
        self._is_restoring = False
        self._acts = [
            *self._people,
            *self._agents,
            (1, self.puts_back),
            (2, self.time_passes),
            (4, self.rests),
            (1, self.sleeps),
        ]

    def steps(self, number: int, *, batch: int, deaths: int) -> None:
        """Run so many acts, checking the laws after each batch, with so many kills."""
        fatal = set(self.pick.sample(range(number), deaths))
        for step in range(number):
            self.ticks(100)
            if step in fatal:
                self.dies()
            else:
                self._one(self._acts)
            if step % batch == batch - 1:
                self.agree()
        self.agree()

    def ticks(self, ms: int) -> None:
        """Move the clock forward or back."""
        self.now_ms += ms
        set_clock(self.tree.daemon.home, self.now_ms)

    def time_passes(self) -> None:
        """Let a moment, a minute or an hour pass, or set the clock back."""
        ms = self.pick.choice((1_500, 3_000, 30_000, 70_000, 3_600_000, -3_000, -3_600_000))
        if abs(self.now_ms + ms - self.begin_ms) < MOST_MS:  # else it would have to stand still in the end
            self.ticks(ms)

    def rests(self) -> None:
        """Sleep up to 30 ms without acts, so that the daemon scans by itself."""
        time.sleep(self.pick.random() * 0.03)

    def sleeps(self) -> None:
        """Stop the daemon's process while people act."""
        os.kill(self.tree.daemon.pid, signal.SIGSTOP)
        for _ in range(self.pick.randint(2, 8)):
            self._one(self._people)
        os.kill(self.tree.daemon.pid, signal.SIGCONT)

    def dies(self) -> None:
        """Kill the daemon during random acts, let people act without it, and restart it."""
        killer = threading.Timer(self.pick.random() * 0.06, self.tree.daemon.kill)
        killer.start()
        while killer.is_alive():
            self._one([*self._agents, (10, self.folk.edits), (5, self.folk.saves)])
        killer.join()
        for _ in range(self.pick.randrange(4)):
            self._one(self._people)
        self.tree.client.close()
        self.tree.daemon.start()

    def puts_back(self) -> None:
        """Restore one to three earlier texts, then sync until both sides agree, accepting the earlier texts."""
        self.agree()
        self.folk.puts_back(self.pick.randint(1, 3))
        self._is_restoring = True
        self.agree()
        self._is_restoring = False

    def agree(self) -> None:
        """Sync until both sides agree, then check every law."""
        self._come_to_rest()
        for _ in range(LATE_LOOKS):  # a save into a file that had just been replaced may come late
            if not self.ledger.written.keys() - self._there() - self.ledger.replaced:
                break
            time.sleep(0.2)
            self._come_to_rest()
        self._check_sides()
        self._check_conflicts()
        whence = dict(self.ledger.written)
        lost = self.ledger.rest(self._there())
        assert not lost, {word: whence[word] for word in lost}
        self._check_quiet()
        self.folk.put_back.clear()
        self.ledger.stored = {path: words(self.folk.disk(path) or "") for path in self.folk.files()}
        for path in self.folk.documents():
            self.ledger.note(path, self.folk.disk(path) or "")
        self._settle_some()

    def _one(self, acts: list[tuple[int, Callable[[], None]]]) -> None:
        act = self.pick.choices([act for _, act in acts], [weight for weight, _ in acts])[0]
        name = f"{type(act.__self__).__name__}.{act.__name__}"  # type: ignore[attr-defined]
        self.tally[name] = self.tally.get(name, 0) + 1
        act()

    def _come_to_rest(self) -> None:
        stopped, older, outcome = False, False, None
        for _ in range(LOOKS_MAX):
            self.ticks(700)
            outcome = self.tree.client.sync_now(
                accept_deletions=stopped and not older,
                accept_older=older and self._is_restoring,
                put_back=older and not self._is_restoring,
            )
            status = outcome.status
            stopped, older = status.state == "stopped", bool(status.older) and status.state == "stopped"
            busy = outcome.adopted or outcome.written or outcome.deleted or status.missing or status.pending
            if not busy and all(refusal.reason != "growing" for refusal in status.refused):
                assert status.refused == [], status.refused
                return
        raise AssertionError(f"folder and store do not come to rest: {outcome}")

    def _there(self) -> set[str]:
        return {word for path in self.folk.files() for word in words(self.folk.disk(path) or "")}

    def _check_sides(self) -> None:
        """Assert that files and documents are equal, each block is one memory, and no id is used twice."""
        etags = {document.path: document.etag for document in self.tree.client.documents(limit=1000).items}
        etags.pop("MEMORY.md", None)
        texts = {path: self.folk.disk(path) or "" for path in self.folk.files()}
        assert etags == {path: sha256(text.encode()).hexdigest() for path, text in texts.items()}
        known: dict[str, list[str]] = {}
        ids = set()
        after = None
        while True:
            page = self.tree.client.memories(limit=1000, after=after)
            for memory in page.items:
                assert memory.id not in ids
                ids.add(memory.id)
                known.setdefault(memory.document, []).append(memory.content)
            after = page.next
            if after is None:
                break
        blocks = {path: [item.content for item in parse_document(path, text).items] for path, text in texts.items()}
        assert {path: sorted(contents) for path, contents in known.items()} == {
            path: sorted(contents) for path, contents in blocks.items() if contents
        }

    def _check_conflicts(self) -> None:
        """Assert that every open conflict has its copy, and that every copy is that of an open, reported conflict."""
        listed = {str(conflict.copy) for conflict in self.tree.client.conflicts(limit=1000).items}
        there = {path for path in self.folk.files() if COPY in path}
        assert listed == there, (sorted(listed), sorted(there))

    def _check_quiet(self) -> None:
        """Assert that another scan writes nothing on either side."""
        before = self._stamps()
        outcome = self.tree.client.sync_now()
        assert (outcome.adopted, outcome.written, outcome.deleted) == (0, 0, 0)
        assert self._stamps() == before

    def _stamps(self) -> dict[str, tuple[int, int, bytes]]:
        return {path: stamp for path, stamp in self.tree.stamps().items() if not path.startswith(PROJECTED)}

    def _settle_some(self) -> None:
        """Settle some open conflicts, so that few conflict copies are left."""
        copies = [path for path in self.folk.files() if COPY in path]
        while len(copies) > COPIES_MAX:
            self.folk.settles_copy()
            copies = [path for path in self.folk.files() if COPY in path]
        if copies and self.pick.random() < 0.3:
            self.agents.resolve_conflict()


@contextmanager
def model(seed: int) -> Iterator[Model]:
    """Yield a model with a daemon of its own."""
    begin = (datetime.now(UTC) + DAY).replace(hour=12, minute=0)
    begin_ms = int(begin.timestamp() * 1000)
    with scratch_home() as home:
        set_clock(home, begin_ms)
        with running_daemon(home, **SETTINGS) as daemon, Client(daemon.socket) as client:
            tree = Tree(daemon, client)
            tree.root.mkdir(parents=True, exist_ok=True)
            yield Model(tree, seed, begin_ms)
