"""Random agents that call a daemon's API: each reads what it replaces; an unanswered call may have been committed."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from reverie import wire
from reverie.errors import Conflict, DaemonNotRunning, NotFound, Starting
from support.simulated_people import COPY, NAMES
from support.word_ledger import GENERATED_LINES, words

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.simulated_people import Folk

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
