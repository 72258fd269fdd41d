"""Checks between candidates and memories: forgotten statements, and deletions that need a person's consent.

A statement is compared with forgotten ones by its words. The same words are dropped. Words that are near wait for a
person, since no rule can tell whether "deploys go out on Fridays" means what was forgotten as "we deploy every Friday".
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from reverie.consolidate.statement_words import (
    code_in,
    inner_keys,
    statement_key,
    statement_keys,
    stems_in_order,
    wish_stems,
)
from reverie.lazy_regex import lazy_regex
from reverie.models import Candidate, Delete, Keep, MemoryType, Update

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from reverie.consolidate.decide import Decision
    from reverie.models import Change

__all__ = [
    "REJECTED",
    "Forgotten",
    "ForgottenStatement",
    "Nearness",
    "episode_text",
    "hold_large_deletion",
    "lines_without",
    "spoken",
    "statement_key",
    "statement_keys",
    "statements_in",
]

DELETIONS_MAX: Final = 0.20  # share of the memories that a consolidation may delete by itself
_DELETIONS_ALLOWED: Final = 1  # one is always allowed: of four memories one that is over is 25 %

# The share of the shorter statement's stems that both must have, and their number, set on the pairs of
# tests/unit/consolidate. Of "The staging server runs on port 9090", "The staging server runs in a new rack" has three
# of five stems and is near, "The staging server has moved to a new rack" two and is not. Where a half is less than two,
# as of "Dislikes long lines", one stem in common ("Prefers long names") is chance.
_NEAR: Final = 0.5
_NEAR_STEMS_MIN: Final = 2
_SHORT_STEMS: Final = 2  # of a wish that is near to another by what it is about alone
_SAID_STEMS_MIN: Final = 3  # of a statement that a line is searched for: two words are in too many lines,
_SHORT_LINE_STEMS_MAX: Final = 4  # unless the line is as short: "- Wishes: I hate long lines." has two more

_ENGINE_WORDS: Final = lazy_regex(
    r"^(?:wants agents (?:to )?always\b|prefers(?: to)?\b|dislikes\b)|\b(?:for|from|in|of|to) the project [\w.-]+",
    re.IGNORECASE,
)
"""Words that an engine puts where the person had others: "I hate long lines" is "Dislikes long lines", and "in this
repo" is "in the project harbour". A line in the person's own words need not have them. (They are no frames, which
are left out of the hash: "Dislikes X" and "Prefers X" are no same statement.)"""


REJECTED: Final = "rejected:"
"""Begins the key of a statement that a person rejected: the same words wait then and are not dropped."""


class Nearness:
    """How near a candidate is to a forgotten statement."""

    SAME: Final = "same"
    NEAR: Final = "near"
    REJECTED: Final = "rejected"  # the same as, or near to, a candidate that a person rejected


class ForgottenStatement(NamedTuple):
    """A forgotten statement of a project: its key, and its content, which is empty after a purge.

    `threads` is None where a person forgot it. Where an agent removed its line, they are the threads that the memory
    was learnt from and that the agent was in: what a person says in another one is not held by that.
    """

    key: str
    content: str
    project: str
    threads: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class _Indexed:
    """A forgotten statement with its stems."""

    statement: ForgottenStatement
    stems: tuple[str, ...]  # in order

    @property
    def is_rejected(self) -> bool:
        return self.statement.key.startswith(REJECTED)


class Forgotten:
    """The forgotten statements of a space, indexed by their words."""

    def __init__(self, statements: Iterable[ForgottenStatement]) -> None:
        """Index the statements; of one that is forgotten in two projects there are two."""
        self._by_key: dict[str, list[_Indexed]] = defaultdict(list)
        self._by_stem: dict[str, list[_Indexed]] = defaultdict(list)
        for statement in statements:
            indexed = _Indexed(statement, wish_stems(statement.content))
            self._by_key[statement.key].append(indexed)
            for stem in set(indexed.stems):
                self._by_stem[stem].append(indexed)

    def nearest(self, candidate: Candidate, *, in_all_projects: bool = False) -> tuple[str, str] | None:
        """Return the nearness of the nearest forgotten statement and its content; None where none is near.

        `in_all_projects`: the same words are found whichever project they were forgotten in.
        """
        if not self._by_key:
            return None
        text = spoken(candidate)
        keys = statement_keys(text)
        for nearness, wanted in (
            (Nearness.SAME, keys),
            (Nearness.REJECTED, [f"{REJECTED}{key}" for key in keys]),
            (Nearness.NEAR, inner_keys(text)),
        ):
            found = (indexed.statement for key in wanted for indexed in self._by_key.get(key, ()))
            for statement in found:
                if _concerns(statement, candidate, in_all_projects=in_all_projects):
                    return nearness, statement.content
        # Of a line of a file, what stands behind its heading: "Lessons learned: Always reply in German".
        near = next((near for said in (text, *text.split(": ", 1)[1:]) if (near := self._near(candidate, said))), None)
        if near is None:
            return None
        return (Nearness.REJECTED if near.is_rejected else Nearness.NEAR), near.statement.content

    def _near(self, candidate: Candidate, text: str) -> _Indexed | None:
        """Return the statement with the most words of a candidate, if these are enough to be near; else None."""
        stems = wish_stems(text)
        shared: dict[int, int] = defaultdict(int)
        indexed_by_id: dict[int, _Indexed] = {}
        for stem in set(stems):
            for indexed in self._by_stem.get(stem, ()):
                if _concerns(indexed.statement, candidate):
                    shared[id(indexed)] += 1
                    indexed_by_id[id(indexed)] = indexed
        near = []
        code = code_in(text)
        for name, indexed in indexed_by_id.items():
            least, most = sorted((len(set(stems)), len(set(indexed.stems))))
            # "Always answer in German" and "always reply in German" share what they are about. "Always answer in
            # English" begins with the same verb, and is about something else.
            is_short = most <= _SHORT_STEMS and (stems[0] != indexed.stems[0] or stems == indexed.stems)
            if shared[name] < max(_NEAR_STEMS_MIN, _NEAR * least) and not is_short:
                continue
            # "To run the tests: `make test`" is not what was forgotten with "To run the tests: `make lint`".
            theirs = code_in(indexed.statement.content)
            is_other = code and theirs and not any(one in two or two in one for one in code for two in theirs)
            if not is_other:
                near.append((shared[name], indexed.statement.key, indexed))
        return max(near, key=lambda one: one[:2])[2] if near else None


def _concerns(statement: ForgottenStatement, candidate: Candidate, *, in_all_projects: bool = False) -> bool:
    """Return True unless statement and candidate belong to two different projects; one without a project fits all.

    What an agent removed concerns what was said where it was learnt or removed, and what is from no conversation.
    """
    is_same = in_all_projects or statement.project == candidate.project
    if not is_same and statement.project and candidate.project:
        return False
    if statement.threads is None or not candidate.provenance.get("seqs"):
        return True
    return candidate.provenance.get("thread") in statement.threads


def lines_without(text: str, statements: Iterable[str]) -> str:
    """Return a text without the lines that say one of the forgotten statements: that have all of its words.

    Words of an engine's frame need not be in the line.
    """
    forgotten = [stems for statement in statements if len(stems := _own_stems(statement)) >= _SHORT_STEMS]
    if not forgotten:
        return text
    lines = [(line, _stems(line)) for line in text.splitlines(keepends=True)]
    return "".join(line for line, said in lines if not any(_says(said, stems) for stems in forgotten))


def statements_in(texts: Iterable[str], statements: Iterable[str]) -> list[str]:
    """Return the forgotten statements that a line of a text repeats: those for which `lines_without` removes a line."""
    lines = [stems for text in texts for line in text.splitlines() if len(stems := _stems(line)) >= _SHORT_STEMS]
    if not lines:
        return []
    anywhere = frozenset[str]().union(*lines)
    return [statement for statement in statements if _is_said(_own_stems(statement), anywhere, lines)]


def _is_said(stems: frozenset[str], anywhere: frozenset[str], lines: Sequence[frozenset[str]]) -> bool:
    """Return True if a line says a statement with these stems; `anywhere` are those of all lines."""
    return stems <= anywhere and any(_says(line, stems) for line in lines)


def _says(line: frozenset[str], stems: frozenset[str]) -> bool:
    """Return True if a line with these stems has those of a statement, and the statement is long enough to be meant."""
    is_enough = len(stems) >= _SAID_STEMS_MIN or (len(stems) == _SHORT_STEMS and len(line) <= _SHORT_LINE_STEMS_MAX)
    return is_enough and stems <= line


def _own_stems(statement: str) -> frozenset[str]:
    """Return the stems of a statement without the words that an engine put there."""
    return _stems(_ENGINE_WORDS.sub(" ", statement))


def spoken(source: Candidate) -> str:
    """Return the words by which a candidate is compared: of an episode its title and summary, else its content."""
    if source.type is not MemoryType.EPISODE:
        return source.content
    return episode_text(source.title, source.fields, source.content)


def episode_text(title: str | None, fields: Iterable[tuple[str, str]], content: str) -> str:
    """Return the words by which an episode is compared: its title and its summary."""
    return f"{title or ''}\n{next((value for key, value in fields if key == 'Summary'), content)}"


def _stems(text: str) -> frozenset[str]:
    return frozenset(stems_in_order(text))


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
