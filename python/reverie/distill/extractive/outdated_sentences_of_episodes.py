"""Sentences of episodes that may be false at the end of their thread, by the names and words in them.

What a commit's message said may be changed by the next ones, without a word about it. A sentence is rather left out
than kept where later work makes it doubtful.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

from reverie.distill.extractive.commit_kind_title_problem_and_lesson import is_correction, read_message, says_change
from reverie.distill.extractive.detect_undone_or_failed_work import common_words
from reverie.distill.extractive.later_commits_on_earlier_work import names_in
from reverie.distill.sentences import specific_names
from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.distill.extractive.detect_undone_or_failed_work import EndState, Finished
    from reverie.distill.extractive.later_commits_on_earlier_work import LaterCommits
    from reverie.distill.facts import ThreadFacts

__all__ = ["OutdatedSentences"]

_OPEN: Final = ("pending", "in_progress")
# "Task 3: Remove the cache" is about the cache.
_OPENING = lazy_regex(r"^(?:(?:task|step|phase) \d+\W+)?\w+ ", re.IGNORECASE)
_COMMON_WORDS: Final = 2  # shared by a sentence and an open item from which they are about the same
# The subject of a commit that gives things other names or places.
_RESTRUCTURES = lazy_regex(
    r"^(?:refactor\w*|renam\w+|mov(?:e|es|ed|ing)|extract\w*|split\w*|restructur\w+|reorgani[sz]\w+)\b", re.IGNORECASE
)
# "HarbourCLIReader", "read_tide": the words of a name.
_PART = lazy_regex(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z]+")
_DECLARED = lazy_regex(r"\b([A-Z][a-z]{3,})(?= (?:interface|struct|class|trait|enum|protocol)\b)")
# "read_tide", "--dry-run", "read_tide(".
_TOKEN = lazy_regex(r"(?P<name>(?:(?<![\w-])--[a-z][a-z0-9-]+|\w+))\(?")
_LETTERS: Final = 4  # of a name; a shorter one stands for many things


class OutdatedSentences:
    """Finds the sentences about earlier work that later work of the thread makes doubtful."""

    def __init__(self, facts: ThreadFacts, end_state: EndState, later: LaterCommits) -> None:
        """`end_state` and `later` are of the same thread."""
        self._end_state = end_state
        self._later = later
        self._open = [_OPENING.sub("", item.subject) for item in facts.todo if item.status in _OPEN]
        self._corrected = _corrected_names(facts, end_state)
        self._renames = [
            (commit.seq, _given_names(f"{commit.subject}\n{read_message(commit).text}"))
            for commit in facts.commits
            if _RESTRUCTURES.match(commit.subject)
        ]

    def among(self, sentences: Sequence[str], work: Finished) -> frozenset[str]:
        """Return the sentences of an episode that may be false now, judged by the later work of its thread.

        Each names what later edits removed, what a later correction edited or put right in words, or what a later
        commit calls by another name; or it claims an effect that an open item of the to-do list is still to bring.
        Names in the work's title are what the whole thread is about, and may be edited.
        """
        gone = self._end_state.gone_names(work)
        restated = self._later.restated_names(work.at, self._end_state.taken_back)
        paths = self._end_state.paths(work)
        renamed = [names for seq, names in self._renames if seq > work.at]
        topics = names_in(work.title)

        def is_doubtful(name: str) -> bool:
            return (
                name in gone
                or name.lower() in restated
                or (name not in topics and self._is_corrected(name, paths, work.at))
                or any(_is_renamed(name, others) for others in renamed)
            )

        return frozenset(one for one in sentences if self._is_open(one) or any(map(is_doubtful, _names(one))))

    def _is_corrected(self, name: str, paths: set[str], at: int) -> bool:
        """Return True if a correction after entry `at` changed a line with `name`; a plain word counts as `name(`."""
        token = f"{name}(" if name.isalpha() and name.islower() else name
        return any(self._corrected.get((path, token), 0) > at for path in paths)

    def _is_open(self, sentence: str) -> bool:
        return not says_change(sentence) and any(
            len(common_words(sentence, subject)) >= _COMMON_WORDS for subject in self._open
        )


def _names(sentence: str) -> set[str]:
    return {name for name in names_in(sentence) if len(name) >= _LETTERS}


def _corrected_names(facts: ThreadFacts, end_state: EndState) -> dict[tuple[str, str], int]:
    """Return the last correcting commit that changed a line with a name, by the file's path and the name.

    Called names are there with "(" as well. A line that was moved within its file between two commits is not changed.
    """
    ends = [commit.seq for commit in facts.commits]
    changed: defaultdict[tuple[int, str], Counter[str]] = defaultdict(Counter)
    for path, seq, lines in end_state.code_changes():
        number = bisect_left(ends, seq)
        if number < len(ends) and is_correction(facts.commits[number].subject):
            changed[ends[number], path].update(lines)
    seqs: dict[tuple[str, str], int] = {}
    for (seq, path), lines in sorted(changed.items(), key=lambda item: item[0]):
        for line, count in lines.items():
            for match in _TOKEN.finditer(line) if count else ():
                seqs[path, match[0]] = seqs[path, match["name"]] = seq
    return seqs


def _given_names(text: str) -> frozenset[str]:
    """Return the specific names in a text, and plain words that it declares as names: "the Reader interface"."""
    return frozenset([*specific_names(text), *_DECLARED.findall(text)])


def _is_renamed(name: str, others: frozenset[str]) -> bool:
    """Return True if another name is a longer or shorter form of `name` with the same last word.

    "FileTideReader" is called "TideReader" later, or "Reader".
    """
    parts = [part.lower() for part in _PART.findall(name)]
    if len(parts) < 2 or name in others:
        return False
    for other in others:
        words = [part.lower() for part in _PART.findall(other)]
        shorter, longer = sorted((set(parts), set(words)), key=len)
        if words and words[-1] == parts[-1] and shorter < longer:
            return True
    return False
