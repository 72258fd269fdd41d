"""Record of every word written in a folder, by author and reader, to detect lost text.

Words are unique (`w17`), so that each can be traced. A word may disappear only if an author who had seen it replaced
it. Lines that Reverie generates, a document's summary and its day, are not counted.
"""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import count

from support.daemon_folder import GENERATED_LINES, words
from support.sync_texts import as_saved


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
class WordLedger:
    """The words written since folder and store last agreed, and those that an author replaced knowingly."""

    pick: random.Random
    written: dict[str, str] = field(default_factory=dict)  # each word, and who wrote it where
    replaced: set[str] = field(default_factory=set)
    stored: dict[str, set[str]] = field(default_factory=dict)  # by path: words of the store's texts since then
    texts: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))  # by path, oldest first
    turns: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))  # by path: number of saves
    saved: defaultdict[str, set[str]] = field(
        default_factory=lambda: defaultdict(set)
    )  # by path: words known to the last save
    numbers: count[int] = field(default_factory=count)

    def word(self) -> str:
        """Return a new unique word."""
        return f"w{next(self.numbers)}"

    def line(self) -> str:
        """Return a random markdown line of one to five words; one word in ten is `tea`, the others are unique."""
        mark = self.pick.choice(("- ", "- ", "- ", "- ", "## ", "  "))
        length = self.pick.randint(1, 5)
        return mark + " ".join("tea" if self.pick.random() < 0.1 else self.word() for _ in range(length))

    def fresh(self) -> str:
        """Return a new document, sometimes with CRLF, a byte order mark or without a final newline."""
        text = "".join(f"{line}\n" for line in ("# T", "", *(self.line() for _ in range(self.pick.randint(1, 5)))))
        return as_saved(text, self.pick)

    def edited(self, text: str) -> str:
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
