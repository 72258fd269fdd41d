"""Simulated people in a daemon's folder: they open, type, save, create, move, copy, delete and restore files."""

from __future__ import annotations

import shutil

from support.daemon_folder import COPY, SAVES, Tree, words
from support.word_ledger import Buffer, WordLedger

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
            buffer.text = self.ledger.edited(buffer.text)
            buffer.seen |= words(buffer.text)

    def edits(self) -> None:
        """Open, edit and save a file at once."""
        self.opens()
        if self.buffers:
            buffer = self.buffers[-1]
            buffer.text = self.ledger.edited(buffer.text)
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
