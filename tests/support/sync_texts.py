"""Generated texts of unique words, and random edits of them."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from itertools import count

SECRET_START = "sk-" + "ant-api03-"


def words(text: str) -> set[str]:
    """Return the words of a text."""
    return {word for word in text.replace("\ufeff", " ").split() if word.startswith(("w", SECRET_START))}


def fewer(old: str, new: str) -> set[str]:
    """Return the words that the new text lacks, or has less often."""
    gone = Counter(old.replace("\ufeff", " ").split()) - Counter(new.replace("\ufeff", " ").split())
    return words(old) & set(gone)


def as_saved(text: str, pick: random.Random) -> str:
    """Return a text, three times in ten with CRLF, a byte order mark or without a final newline."""
    match pick.randrange(10):
        case 0:
            return text.replace("\n", "\r\n")
        case 1:
            return "\ufeff" + text
        case 2:
            return text.rstrip("\n")
    return text


def is_secret(word: str) -> bool:
    return word.startswith(SECRET_START)


@dataclass
class Texts:
    """A generator of texts with new words."""

    pick: random.Random
    numbers: count[int] = field(default_factory=count)

    def word(self) -> str:
        """Return a new word, or now and then a secret."""
        number = next(self.numbers)
        return f"w{number}"

    def line(self) -> str:
        """Return a new line of one to six words, some of them common."""
        mark = self.pick.choice(("- ", "- ", "- ", "## ", "", "  "))
        length = self.pick.randint(1, 6)
        return mark + " ".join("tea" if self.pick.random() < 0.1 else self.word() for _ in range(length))

    def edited(self, text: str, *, secrets: bool = False) -> str:
        """Return a text after one random change of a line or word."""
        end = "\r\n" if "\r\n" in text else "\n"
        lines = text.split(end)
        at = self.pick.randrange(len(lines))
        parts = lines[at].split(" ")
        match self.pick.randrange(8):
            case 0 | 1:
                lines.insert(at, self.line())
            case 2:
                lines[-1:] = [self.line(), ""]
            case 3 if len(lines) > 1:
                del lines[at]
            case 4:
                parts[self.pick.randrange(len(parts))] = self.word()
                lines[at] = " ".join(parts)
            case 5 if len(parts) > 1:
                del parts[self.pick.randrange(len(parts))]
                lines[at] = " ".join(parts)
            case 6 if secrets:
                lines.insert(at, f"- key: {self.secret()} {self.word()}")
            case _:
                lines[at] = f"{lines[at]} {self.word()}"
        return end.join(lines)

    def secret(self) -> str:
        """Return a token that no service issued."""
        return SECRET_START + "".join(self.pick.choices("abcdefghijkABCDEFGHIJK0123456789", k=95))

    def fresh(self) -> str:
        """Return a new document."""
        lines = [self.line() for _ in range(self.pick.randint(0, 5))]
        text = "".join(f"{line}\n" for line in ("# T", "", *lines))
        return as_saved(text, self.pick)
