"""Who has written which words in a folder, and who has seen what: the account that says whether a word was lost.

Words are unique (`w17`), so that each can be followed. One may go only if somebody who had seen it replaced it. What
Reverie makes by itself, a document's summary and its day, has no words of its own.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random

__all__ = ["MADE", "Buffer", "Ledger", "words"]

MADE = ("> Summary:", "- Updated:")
WORD = re.compile(r"\bw\d+\b")


def words(text: str) -> set[str]:
    """The words that are followed."""
    return {
        word
        for line in text.removeprefix("\ufeff").splitlines()
        if not line.startswith(MADE)
        for word in WORD.findall(line)
    }


@dataclass(slots=True)
class Buffer:
    """A file that is open in an editor: what was loaded, what stands there now, and every word that stood there.

    `turn` is the save of the path that it was loaded after.
    """

    path: str
    loaded: str
    text: str
    turn: int
    seen: set[str]


@dataclass
class Ledger:
    """Every word that was written since both sides were last at rest, and those that somebody replaced knowingly."""

    pick: random.Random
    written: dict[str, str] = field(default_factory=dict)  # each word, and who wrote it where
    replaced: set[str] = field(default_factory=set)
    stored: dict[str, set[str]] = field(default_factory=dict)  # by path: what the store has said there since then
    texts: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))  # by path, oldest first
    turns: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))  # by path: saves of people
    saved: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))  # what the last of them knew
    numbers: count[int] = field(default_factory=count)

    def word(self) -> str:
        """One that nobody has written before."""
        return f"w{next(self.numbers)}"

    def line(self) -> str:
        """A new line of one to five words, now and then a common one."""
        mark = self.pick.choice(("- ", "- ", "- ", "- ", "## ", "  "))
        length = self.pick.randint(1, 5)
        return mark + " ".join("tea" if self.pick.random() < 0.1 else self.word() for _ in range(length))

    def fresh(self) -> str:
        """A new document, in one of the ways in which files are kept."""
        text = "".join(f"{line}\n" for line in ("# T", "", *(self.line() for _ in range(self.pick.randint(1, 5)))))
        match self.pick.randrange(10):
            case 0:
                return text.replace("\n", "\r\n")
            case 1:
                return "\ufeff" + text
            case 2:
                return text.rstrip("\n")
        return text

    def edited(self, text: str) -> str:
        """A text after one change: a line more or less, or a word more, less or other. Made lines stay as they are."""
        end = "\r\n" if "\r\n" in text else "\n"
        lines = text.split(end)
        free = [at for at, line in enumerate(lines) if at > 0 and not line.startswith(MADE)]
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
                lines = [line for line in lines if not line.startswith(MADE)]
            case _:
                lines[at] = f"{lines[at]} {self.word()}" if parts[0] else f"- {self.word()}"
        return end.join(lines)

    def note(self, path: str, text: str) -> None:
        """This was on the disk, or in the store."""
        self.stored.setdefault(path, set()).update(words(text))
        if text not in self.texts[path][-1:]:
            self.texts[path].append(text)

    def write(self, new: set[str], whence: str) -> None:
        """These words must be kept from now on."""
        self.written.update(dict.fromkeys(new, whence))
        self.replaced -= new

    def replace(self, old: set[str]) -> None:
        """Somebody who has seen these words takes them away."""
        self.replaced |= old

    def rest(self, there: set[str]) -> set[str]:
        """Both sides are at rest with these words: those that are lost. All others that are not there are forgotten."""
        lost = self.written.keys() - there - self.replaced
        self.written = {word: self.written.get(word, "there") for word in there}
        self.replaced = set()
        return lost

    def load(self, path: str, text: str) -> Buffer:
        """A person opens a file; saved as it is, it is one of the texts that had been there."""
        if text:
            self.texts[path].append(text)
        return Buffer(path, text, text, self.turns[path], words(text))

    def save(self, buffer: Buffer) -> None:
        """A person saves a buffer: what they had seen there, and left out, they have replaced.

        They have seen what the last of them saved there. What they loaded and left as it was, they do not write again.
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
        """A person puts a text at a path, knowing what is there."""
        new = words(text)
        self.take(path, disk, keep=new)
        self.saved[path] |= new
        self.texts[path].append(text)

    def inherit(self, path: str, text: str, disk: str | None) -> None:
        """A text that was made elsewhere of an earlier one of `path` comes there.

        What it still has from then, and is not on the disk any more, somebody who had seen it replaced: it may stay so.
        """
        earlier = {word for each in self.texts[path][:-1] for word in words(each)}
        self.replace((earlier & words(text)) - words(disk or ""))

    def take(self, path: str, disk: str | None, *, keep: set[str] | None = None) -> None:
        """A person takes a file away, knowing what is there, or all of it but some words."""
        gone = words(disk or "") | self.stored.get(path, set()) | self.saved[path]
        self.replace(gone - (keep or set()))
        self._turned(path, gone)

    def _turned(self, path: str, seen: set[str]) -> None:
        self.turns[path] += 1
        self.saved[path] = set(seen)
