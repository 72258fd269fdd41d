"""Checks between candidates and memories: forgotten statements, and deletions that need a person's consent.

A statement is compared with forgotten ones by its words. The same words are dropped. Words that are near wait for a
person, since no rule can tell whether "deploys go out on Fridays" means what was forgotten as "we deploy every Friday".
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from reverie.consolidate.statement_comparison import parse_statement
from reverie.models import Candidate, Delete, Keep, MemoryType, Update
from reverie.sentence_word_analysis import analyze

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from reverie.consolidate.decide import Decision
    from reverie.models import Change

__all__ = [
    "REJECTED",
    "Forgotten",
    "Nearness",
    "episode_text",
    "hold_large_deletion",
    "lines_without",
    "spoken",
    "statement_key",
    "statements_in",
]

DELETIONS_MAX: Final = 0.20  # share of the memories that a consolidation may delete by itself
_DELETIONS_ALLOWED: Final = 1  # one is always allowed: of four memories one that is over is 25 %

# The day that is appended to dated statements: "The import holds a lock (2026-11-21)." says the same on another day.
_DAY: Final = re.compile(r"\s*\(?\b\d{4}-\d{2}-\d{2}\b\)?")
_FRAME: Final = re.compile(
    r"^wants agents(?: never(?= to))?(?: to)?|: the user had to correct this|^the user said:|^asked “|the user chose “",
    re.IGNORECASE,
)
"""Words that the extractive distiller puts around a statement; they do not count for how near two statements are."""

_CODE: Final = re.compile(r"`([^`]+)`")
_ENDING: Final = re.compile(r"(?<=\w{3})(?:ing|ed|e)$")  # "asking" and "asked" are "ask"
_ENDING_CHARS: Final = frozenset("gde")  # with which it ends
_STEM_CHARS: Final = 5  # "migrations", "migrate" and "migrating" are one word
# Shares of the rarer statement's stems that both must have, set on the pairs of tests/unit/consolidate.
_NEAR: Final = 0.5
_NEAR_STEMS_MIN: Final = 2
_SAID_STEMS_MIN: Final = 3  # of a statement that a line is searched for: two words are in too many lines


REJECTED: Final = "rejected:"
"""Begins the key of a statement that a person rejected: the same words wait then and are not dropped."""


class Nearness:
    """How near a candidate is to a forgotten statement."""

    SAME: Final = "same"
    NEAR: Final = "near"
    REJECTED: Final = "rejected"  # the same as, or near to, a candidate that a person rejected


@dataclass(frozen=True, slots=True)
class _Statement:
    key: str
    content: str
    stems: frozenset[str]
    quoted: frozenset[str]
    project: str


class Forgotten:
    """The forgotten statements of a space, indexed by their words."""

    def __init__(self, statements: Iterable[tuple[str, str, str]]) -> None:
        """Index `statements`: the key, the content (empty where it was purged) and the project of each."""
        self._all = [
            _Statement(key, content, _stems(content), _quoted(content), project) for key, content, project in statements
        ]
        self._by_key = {statement.key: statement for statement in self._all}
        self._by_stem: dict[str, list[_Statement]] = defaultdict(list)
        for statement in self._all:
            for stem in statement.stems:
                self._by_stem[stem].append(statement)

    def nearest(self, candidate: Candidate) -> tuple[str, str] | None:
        """Return the nearness of the nearest forgotten statement and its content; None where none is near."""
        if not self._all:
            return None
        text = spoken(candidate)
        key = statement_key(text)
        same = self._by_key.get(key)
        if same is not None and _concerns(same, candidate):
            return Nearness.SAME, same.content
        rejected = self._by_key.get(f"{REJECTED}{key}")
        if rejected is not None and _concerns(rejected, candidate):
            return Nearness.REJECTED, rejected.content
        stems, quoted = _stems(text), _quoted(text)
        shared: dict[str, int] = defaultdict(int)
        for stem in stems:
            for statement in self._by_stem.get(stem, ()):
                # "To run the tests: `make test`" is not what was forgotten with "To run the tests: `make lint`".
                about_others = quoted and statement.quoted and quoted.isdisjoint(statement.quoted)
                if _concerns(statement, candidate) and not about_others:
                    shared[statement.key] += 1
        best = max(shared, key=lambda key: (shared[key], key), default=None)
        if best is None:
            return None
        statement = self._by_key[best]
        least = min(len(stems), len(statement.stems))
        if shared[best] >= max(_NEAR_STEMS_MIN, _NEAR * least):
            return Nearness.REJECTED if best.startswith(REJECTED) else Nearness.NEAR, statement.content
        return None


def _concerns(statement: _Statement, candidate: Candidate) -> bool:
    """Return True unless statement and candidate belong to two different projects; one without a project fits all."""
    return statement.project == candidate.project or not statement.project or not candidate.project


def lines_without(text: str, statements: Iterable[str]) -> str:
    """Return a text without the lines that say one of the forgotten statements: that have all of its words."""
    forgotten = [stems for statement in statements if len(stems := _stems(statement)) >= _SAID_STEMS_MIN]
    if not forgotten:
        return text
    lines = [(line, _stems(line)) for line in text.splitlines(keepends=True)]
    return "".join(line for line, said in lines if not any(stems <= said for stems in forgotten))


def statements_in(texts: Iterable[str], statements: Iterable[str]) -> list[str]:
    """Return the forgotten statements that a line of a text repeats: those for which `lines_without` removes a line."""
    lines = [stems for text in texts for line in text.splitlines() if len(stems := _stems(line)) >= _SAID_STEMS_MIN]
    if not lines:
        return []
    anywhere = frozenset[str]().union(*lines)
    return [statement for statement in statements if _is_said(_stems(statement), anywhere, lines)]


def _is_said(stems: frozenset[str], anywhere: frozenset[str], lines: Sequence[frozenset[str]]) -> bool:
    """Return True if a line has all stems of a statement; `anywhere` are those of all lines."""
    return len(stems) >= _SAID_STEMS_MIN and stems <= anywhere and any(stems <= line for line in lines)


def spoken(source: Candidate) -> str:
    """Return the words by which a candidate is compared: of an episode its title and summary, else its content."""
    if source.type is not MemoryType.EPISODE:
        return source.content
    return episode_text(source.title, source.fields, source.content)


def episode_text(title: str | None, fields: Iterable[tuple[str, str]], content: str) -> str:
    """Return the words by which an episode is compared: its title and its summary."""
    return f"{title or ''}\n{next((value for key, value in fields if key == 'Summary'), content)}"


def statement_key(text: str) -> str:
    """Return the SHA-256 of a statement's words in order, in hex; without fillers, frame and day."""
    words = parse_statement(_plain(text)).sequence
    return hashlib.sha256(" ".join(words).encode()).hexdigest()


def _plain(text: str) -> str:
    """Return a statement without its frame and date: "Wants agents never to push" becomes "never push"."""
    framed = _FRAME.sub(lambda frame: "never" if "never" in frame[0] else " ", text)
    return (_DAY.sub("", framed) if "-" in framed else framed).strip()


def _quoted(text: str) -> frozenset[str]:
    return frozenset(_CODE.findall(text))


def _stems(text: str) -> frozenset[str]:
    words = analyze(_plain(text)).content  # not `parse_statement`, which would keep thousands of statements for this
    return frozenset((_ENDING.sub("", word) if word[-1:] in _ENDING_CHARS else word)[:_STEM_CHARS] for word in words)


def hold_large_deletion(decision: Decision, existing: int) -> tuple[Decision, tuple[Update | Delete, ...]]:
    """Return the decision as it may be made now, and the changes that have to wait for a person.

    Where it would delete more than `DELETIONS_MAX` of the `existing` memories, all its updates and deletions wait
    together, because an update may have the words of what is deleted beside it. What it adds is not lost: that is
    added, and each memory that was to be changed is kept.
    """
    deletions = sum(isinstance(change, Delete) for change in decision.changes)
    if deletions <= max(_DELETIONS_ALLOWED, DELETIONS_MAX * existing):
        return decision, ()
    waiting = tuple(change for change in decision.changes if isinstance(change, Update | Delete))
    return replace(decision, changes=tuple(_kept(decision.changes))), waiting


def _kept(changes: Sequence[Change]) -> Iterator[Change]:
    for change in changes:
        yield Keep(change.id) if isinstance(change, Update | Delete) else change
