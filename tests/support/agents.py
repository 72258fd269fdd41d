"""Agents at a daemon's API: each has read what it replaces, and a call without an answer may have been done."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from reverie import wire
from reverie.errors import Conflict, DaemonNotRunning, NotFound, Starting
from support.folk import COPY, NAMES
from support.ledger import MADE, words

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.folk import Folk

T = TypeVar("T")

__all__ = ["Agents"]


class Agents:
    """Any number of agents, one after another."""

    def __init__(self, folk: Folk) -> None:
        self.folk = folk
        self.tree = folk.tree
        self.ledger = folk.ledger
        self.pick = folk.ledger.pick
        self.refused = 0

    def reads(self, path: str) -> wire.DocumentText | None:
        """A document as the store has it."""
        try:
            return self.tree.client.document(path)
        except (NotFound, DaemonNotRunning, Starting):
            return None

    def puts(self) -> None:
        """A document is read, changed and written whole, if it is still the one that was read."""
        path = self._path()
        held = self.reads(path)
        if held is None:
            self._makes(path)
            return
        text = held.content
        for _ in range(self.pick.randint(1, 3)):
            text = self.ledger.edited(text)
        self._call(
            path,
            lambda: self.tree.client.put_document(path, text, etag=held.etag),
            old=words(held.content) - words(text),
            new=words(text) - words(held.content),
        )

    def patches(self) -> None:
        """One line of a document is replaced."""
        path = self._path()
        held = self.reads(path)
        lines = held.content.splitlines() if held is not None else []
        free = [line for line in lines if words(line) and not line.removeprefix("\ufeff").startswith(MADE)]
        if free:
            line = self.pick.choice(free)
            other = f"{line.rsplit(' ', 1)[0]} {self.ledger.word()}"
            self._call(
                path,
                lambda: self.tree.client.patch_document(path, [(line, other)]),
                old=words(line) - words(other),
                new=words(other) - words(line),
            )

    def appends(self) -> None:
        """A line is put at a document's end, unread."""
        path = self._path()
        entry = self.ledger.line()
        self._call(path, lambda: self.tree.client.append_entry(path, entry), new=words(entry))

    def remembers(self) -> None:
        """Something is remembered."""
        content = f"{self.ledger.word()} {self.ledger.word()}"
        path = self.pick.choice((NAMES[0], NAMES[1]))
        body = wire.CreateMemory(content, document=path)
        self._call(path, lambda: self.tree.client.remember(body), new=words(content))

    def changes(self) -> None:
        """A memory is read, and gets other words."""
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

    def forgets(self) -> None:
        """A memory is read, and goes."""
        memory = self._memory()
        if memory is not None:
            self._call(memory.document, lambda: self.tree.client.forget(memory.id), old=words(_whole(memory)))

    def deletes(self) -> None:
        """A document is read, and goes with all that is in it."""
        path = self._path()
        held = self.reads(path)
        if held is not None:
            self._call(
                path,
                lambda: self.tree.client.delete_document(path, etag=held.etag),
                old=words(held.content),
            )

    def resolves(self) -> None:
        """Somebody who has read both texts settles a conflict."""
        try:
            self.tree.client.sync_now()
            found = self.tree.client.conflicts(limit=100).items
            if not found:
                return
            chosen = self.pick.choice(found)
            told = self.tree.client.conflict(chosen.id)
        except (DaemonNotRunning, Starting, NotFound, Conflict):
            return
        body = self.pick.choice((wire.Resolve(keep="file"), wire.Resolve(keep="store"), wire.Resolve(keep="both")))
        self._call(
            chosen.path,
            lambda: self.tree.client.resolve(chosen.id, body),
            old=words(told.file_text) | words(told.store_text),
        )

    def _makes(self, path: str) -> None:
        """A document is made where none is, whoever makes one there meanwhile."""
        text = self.ledger.fresh()
        self._call(path, lambda: self._made(path, text), new=words(text))

    def _made(self, path: str, text: str) -> None:
        try:
            answer = self.tree.daemon.ask(
                "PUT", f"/v1/documents/{path}", {"content": text}, {"If-None-Match": "*"}, timeout=60
            )
        except (OSError, AssertionError) as error:
            raise DaemonNotRunning("no answer", hint="start it") from error
        if answer.status == 409:
            raise Conflict("somebody was faster", hint="read it")
        if answer.status == 503:
            raise DaemonNotRunning("not yet", hint="wait")
        assert answer.status == 200, answer.body

    def _memory(self) -> wire.Memory | None:
        """One of those that the store has once it knows what people saved."""
        try:
            self.tree.client.sync_now()
            found = self.tree.client.memories(limit=1000).items
        except (DaemonNotRunning, Starting, Conflict):
            return None
        return self.pick.choice(found) if found else None

    def _path(self) -> str:
        return self.pick.choice([*NAMES, *(path for path in self.folk.files() if COPY not in path)])

    def _call(
        self, path: str, call: Callable[[], T], *, old: set[str] | None = None, new: set[str] | None = None
    ) -> T | None:
        """Makes a call that takes `old` words away and adds `new` ones, unless it is refused."""
        before = set(self.ledger.replaced)
        self.ledger.replace(old or set())
        try:
            done = call()
        except (Conflict, NotFound):
            self.ledger.replaced = before
            self.refused += 1
            return None
        except (DaemonNotRunning, Starting):
            return None  # it is done, or it is not
        self.ledger.write(new or set(), f"an agent's at {path}")
        self.ledger.note(path, self.folk.disk(path) or "")
        return done


def _whole(memory: wire.Memory) -> str:
    return "\n".join((memory.content, memory.title or "", *memory.fields, *memory.fields.values()))
