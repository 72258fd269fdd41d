"""Model-based test of a real daemon with people and agents that is killed, stopped and moved through time.

Words are unique (`w17`), so that each can be traced. A word may disappear only if an author who had seen it replaced
it. Lines that Reverie generates, a document's summary and its day, are not counted.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import TypeVar

import pytest

from reverie import wire
from reverie.client import Client
from reverie.documents.parse import parse_document
from reverie.errors import Conflict, DaemonNotRunning, NotFound, Starting
from support.daemon import running_daemon, scratch_home, set_clock
from support.daemon_folder import COPY, GENERATED_LINES, SAVES, Tree, words
from support.soak import count
from support.sync_sides import Texts

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
            text = self.ledger.changed(text)
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
        else:  # a save that came seconds later counts as one that deletes: what it left out is named
            self.ledger.replace(self._brought_back())
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

    def _brought_back(self) -> set[str]:
        """Undo each save that left out lines; return all words that the files then had."""
        found: set[str] = set()
        for item in self.tree.client.sync_status().left_out:
            with suppress(Conflict, NotFound):
                self.tree.client.undo(item.operation)
                self._come_to_rest()
                found |= self._there()
        return found

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


NAMES = ("facts/user.md", "facts/tools.md", "facts/deep/paths.md", "episodes/2026-02.md", "notes/plain.md")
ELSEWHERE = ("facts/dark/paths.md", "facts/moved.md")
BUFFERS_MAX = 6
PROJECTED = (".reverie", "archives/", "memory/", "MEMORY-INDEX", "MEMORY.md")


class Folk:
    """The people of one folder, with shared open buffers."""

    def __init__(self, tree: Tree, ledger: WordLedger) -> None:
        self.tree = tree
        self.ledger = ledger
        self.pick = ledger.pick
        self.buffers: list[Buffer] = []
        self.put_back: set[str] = set()  # where a text that had been there before was saved since the last rest

    def files(self) -> list[str]:
        """Return the paths of all documents in the folder, conflict copies included."""
        paths = (path.relative_to(self.tree.root).as_posix() for path in self.tree.root.rglob("*.md"))
        return sorted(name for name in paths if not name.startswith(PROJECTED) and "/." not in name)

    def documents(self) -> list[str]:
        """Return the paths of all documents but conflict copies."""
        return [name for name in self.files() if COPY not in name]

    def disk(self, path: str) -> str | None:
        """Return the file's text, or None."""
        try:
            return self.tree.read(path)
        except FileNotFoundError:
            return None

    def opens(self) -> None:
        """Load a file into another buffer."""
        paths = self.documents()
        path = self.pick.choice(paths) if paths else NAMES[0]
        text = self.disk(path)
        if text is not None:
            self.buffers.append(self.ledger.load(path, text))
            del self.buffers[:-BUFFERS_MAX]

    def begins(self) -> None:
        """Open an unsaved buffer with new text for a path without a file; the file may be created meanwhile."""
        path = self.pick.choice(NAMES)
        if self.disk(path) is None:
            buffer = self.ledger.load(path, "")
            buffer.text = self.ledger.fresh()
            self.buffers.append(buffer)

    def types(self) -> None:
        """Edit a buffer without saving it."""
        if self.buffers:
            buffer = self.pick.choice(self.buffers)
            buffer.text = self.ledger.changed(buffer.text)
            buffer.seen |= words(buffer.text)

    def edits(self) -> None:
        """Open, edit and save a file at once."""
        self.opens()
        if self.buffers:
            buffer = self.buffers[-1]
            buffer.text = self.ledger.changed(buffer.text)
            self._save(buffer)

    def saves(self) -> None:
        """Save a buffer, however old it is."""
        if self.buffers:
            self._save(self.pick.choice(self.buffers))

    def deletes(self) -> None:
        """Delete a file."""
        paths = self.documents()
        if paths:
            path = self.pick.choice(paths)
            self.ledger.take(path, self.disk(path))
            self.tree.path(path).unlink(missing_ok=True)

    def _chosen_pair(self) -> tuple[str, str, str] | None:
        """Return a document, another name and the document's text, recorded as written there; None if there is none."""
        paths = self.documents()
        if not paths:
            return None
        old, new = self.pick.choice(paths), self.pick.choice(NAMES + ELSEWHERE)
        text = self.disk(old)
        if old == new or text is None or text in self.ledger.texts[new]:
            return None
        self.ledger.put(new, text, self.disk(new))
        self.ledger.inherit(new, text, self.disk(new))
        return old, new, text

    def moves(self) -> None:
        """Rename a document to another name, replacing a file that has it."""
        chosen = self._chosen_pair()
        if chosen is None:
            return
        old, new, text = chosen
        self.ledger.take(old, text, keep=words(text))
        self.tree.path(new).parent.mkdir(parents=True, exist_ok=True)
        try:
            self.tree.path(old).replace(self.tree.path(new))
            self.ledger.saved[new] |= words(self.disk(new) or "")  # also what was merged into it just before
        except FileNotFoundError:  # a document that an agent deleted, whose file went just now
            self.ledger.replace(words(text))

    def copies(self) -> None:
        """Copy a file to another name."""
        chosen = self._chosen_pair()
        if chosen is None:
            return
        _, new, text = chosen
        self.tree.save(new, text)

    def moves_folder(self) -> None:
        """Rename a folder to a free name."""
        old, new = self.pick.sample(("facts/deep", "facts/dark"), 2)
        if not self.tree.path(old).is_dir() or self.tree.path(new).exists():
            return
        for path in self.files():
            if path.startswith(f"{old}/"):
                text = self.disk(path) or ""
                self.ledger.put(path.replace(old, new, 1), text, None)
                self.ledger.take(path, text, keep=words(text))
        self.tree.path(old).rename(self.tree.path(new))

    def puts_back(self, most: int) -> None:
        """Restore earlier texts of up to `most` documents, as a tool does that has read the current ones."""
        paths = [path for path in self.documents() if len(self.ledger.texts[path]) > 1]
        for path in self.pick.sample(paths, min(most, len(paths))):
            text = self.pick.choice(self.ledger.texts[path])
            self.ledger.put(path, text, self.disk(path))
            shutil.copyfile(self._written(text), self.tree.path(path))

    def settles_copy(self) -> None:
        """Read and delete a conflict copy, which settles the conflict."""
        paths = [path for path in self.files() if COPY in path]
        if paths:
            path = self.pick.choice(paths)
            self.ledger.replace(words(self.disk(path) or ""))
            self.tree.path(path).unlink(missing_ok=True)

    def edits_copy(self) -> None:
        """Append a new word to a random conflict copy and save it."""
        paths = [path for path in self.files() if COPY in path]
        if paths:
            path = self.pick.choice(paths)
            text = self.disk(path)
            if text is not None:
                word = self.ledger.word()
                self.ledger.write({word}, f"a person's at {path}")
                self.tree.save(path, f"{text}\n{word}\n")

    def _written(self, text: str) -> str:
        beside = self.tree.daemon.home / "put-back"
        beside.write_bytes(text.encode())
        return str(beside)

    def _save(self, buffer: Buffer) -> None:
        """Save a text; a second file that would return to an earlier text gets a new line, as that is a tool's act."""
        path = buffer.path
        if buffer.text in self.ledger.texts[path]:
            if self.put_back - {path}:
                buffer.text = f"{buffer.text}\n- {self.ledger.word()}"
            else:
                self.put_back.add(path)
        self.ledger.save(buffer)
        how = self.pick.choice(SAVES)
        try:
            self.tree.save(path, buffer.text, how)
        except FileNotFoundError:  # the file went in the middle of it; an editor tries again
            self.tree.save(path, buffer.text)


@dataclass(slots=True)
class Buffer:
    """A file open in an editor: the text as loaded, as edited, and every word that it ever showed.

    `turn` is the number of saves of the path before it was loaded.
    """

    path: str
    loaded: str
    text: str
    turn: int
    seen: set[str]


@dataclass
class WordLedger(Texts):
    """The words written since folder and store last agreed, and those that an author replaced knowingly."""

    written: dict[str, str] = field(default_factory=dict)  # each word, and who wrote it where
    replaced: set[str] = field(default_factory=set)
    stored: dict[str, set[str]] = field(default_factory=dict)  # by path: words of the store's texts since then
    texts: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))  # by path, oldest first
    turns: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))  # by path: number of saves
    saved: defaultdict[str, set[str]] = field(
        default_factory=lambda: defaultdict(set)
    )  # by path: words known to the last save

    def changed(self, text: str) -> str:
        """Return a text after one random change of a line or word; generated lines stay."""
        end = "\r\n" if "\r\n" in text else "\n"
        lines = text.split(end)
        free = [at for at, line in enumerate(lines) if at > 0 and not line.startswith(GENERATED_LINES)]
        if not free:
            return text + end + self.line()
        at = self.pick.choice(free)
        parts = lines[at].split(" ")
        match self.pick.randrange(8):
            case 0:
                lines.insert(at, self.line())
            case 1:
                lines[-1:] = [self.line(), ""]
            case 2 if len(free) > 3:
                del lines[at]
            case 3 if len(parts) > 1:
                parts[self.pick.randrange(1, len(parts))] = self.word()
                lines[at] = " ".join(parts)
            case 4 if len(parts) > 2:
                del parts[self.pick.randrange(1, len(parts))]
                lines[at] = " ".join(parts)
            case 5 if len(free) > 12:
                del lines[at : at + 4]
                lines = [line for line in lines if not line.startswith(GENERATED_LINES)]
            case _:
                lines[at] = f"{lines[at]} {self.word()}" if parts[0] else f"- {self.word()}"
        return end.join(lines)

    def note(self, path: str, text: str) -> None:
        """Record a text that is on disk or in the store as a version of a path."""
        self.stored.setdefault(path, set()).update(words(text))
        if text not in self.texts[path][-1:]:
            self.texts[path].append(text)

    def write(self, new: set[str], whence: str) -> None:
        """Record words that must not be lost from now on, with a description of who wrote them where."""
        self.written.update(dict.fromkeys(new, whence))
        self.replaced -= new

    def replace(self, old: set[str]) -> None:
        """Record words that an author who had read them has removed, so that they may be lost."""
        self.replaced |= old

    def rest(self, there: set[str]) -> set[str]:
        """Return the words that are lost if `there` are all words left, and start over with `there`."""
        lost = self.written.keys() - there - self.replaced
        self.written = {word: self.written.get(word, "there") for word in there}
        self.replaced = set()
        return lost

    def load(self, path: str, text: str) -> Buffer:
        """Return a buffer with this text of a file, recorded as a version of the path."""
        if text:
            self.texts[path].append(text)
        return Buffer(path, text, text, self.turns[path], words(text))

    def save(self, buffer: Buffer) -> None:
        """Save a buffer: words that its author had read there and left out count as replaced.

        An author has seen what the author of the save before wrote. What was loaded and left unchanged is not written
        again.
        """
        path, new = buffer.path, words(buffer.text)
        seen = buffer.seen | new
        if buffer.turn < self.turns[path]:
            seen |= self.saved[path]
        self.replace(seen - new)
        self.write(new - words(buffer.loaded), f"a person's at {path}")
        self._turned(path, seen)
        self.texts[path].append(buffer.text)
        buffer.seen, buffer.loaded, buffer.turn = seen, buffer.text, self.turns[path]

    def put(self, path: str, text: str, disk: str | None) -> None:
        """Record a text that an author who has read the file writes in its place."""
        new = words(text)
        self.take(path, disk, keep=new)
        self.saved[path] |= new
        self.texts[path].append(text)

    def inherit(self, path: str, text: str, disk: str | None) -> None:
        """Record that a text at `path` was merged from an older version: old words no longer on disk count as replaced.

        What it still has from then, and is no longer on the disk, was replaced by an author who had seen it: it may
        stay away.
        """
        earlier = {word for each in self.texts[path][:-1] for word in words(each)}
        self.replace((earlier & words(text)) - words(disk or ""))

    def take(self, path: str, disk: str | None, *, keep: set[str] | None = None) -> None:
        """Record that an author who has read a file removes it, or all of its words but `keep`."""
        gone = words(disk or "") | self.stored.get(path, set()) | self.saved[path]
        self.replace(gone - (keep or set()))
        self._turned(path, gone)

    def _turned(self, path: str, seen: set[str]) -> None:
        self.turns[path] += 1
        self.saved[path] = set(seen)


@pytest.mark.timeout(count(600, 7200))
@pytest.mark.parametrize("seed", range(count(1, 5)))
def test_whatever_happens_both_sides_agree_and_no_word_is_lost(seed: int) -> None:
    """No word is lost unless an editor that had read it replaced it, and an idle daemon writes nothing."""
    with model(seed) as made:
        made.steps(count(600, 10_000), batch=40, deaths=count(3, 60))
        print(f"seed {seed}: {dict(sorted(made.tally.items()))}, {made.agents.refused} calls refused")
