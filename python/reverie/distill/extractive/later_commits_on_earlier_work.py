"""Later commits of a thread that concern earlier work: they corrected it, or moved and deleted its files."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from reverie.distill.extractive.commit_kind_title_problem_and_lesson import commit_title, is_fix, read_message
from reverie.distill.sentences import clip, one_line, specific_names
from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from reverie.distill.commands import Commit
    from reverie.distill.facts import ThreadFacts
    from reverie.distill.steps import ToolCall

__all__ = ["LaterCommits", "names_in", "with_id"]

# Of git's own report: " delete mode 100644 old.py", " rename src/{a.py => b.py} (88%)".
_DELETED = lazy_regex(r"^ delete mode \d+ (?P<path>.+)$", re.MULTILINE)
_RENAMED = lazy_regex(r"^ rename (?P<paths>.+) \(\d+%\)$", re.MULTILINE)
_BRACES = lazy_regex(r"\{(?P<old>.*?) => (?P<new>.*?)\}")
# "agent.Name()": names that are called, besides those that `specific_names` knows.
_CALLED = lazy_regex(r"\b[\w.]{4,}(?=\(\))|\b[A-Za-z]\w+\.[A-Z]\w+\b")
# A ticket or a commit says nothing of the matter.
_NUMBER = lazy_regex(r"[A-Z]{2,6}-\d+|[0-9a-f]{7,40}")
# The subject of a commit that puts right what was said, not what was done.
_RESTATES = lazy_regex(r"^(?:\w+(?:\([^)]*\))?!?:\s*)?clarif\w+", re.IGNORECASE)
_SHOWN_MAX: Final = 2
_SUBJECT_MAX: Final = 110  # characters


def with_id(subject: str, commit_id: str) -> str:
    """Return the subject of a commit with its id in brackets, or alone where the id is empty."""
    return f"{subject} ({commit_id})" if commit_id else subject


def names_in(text: str) -> set[str]:
    """Return the names of code in a text, called ones among them; no paths, tickets and commits."""
    names = {*specific_names(text), *_CALLED.findall(text)}
    return {name for name in names if "/" not in name and not _NUMBER.fullmatch(name)}


class _Change(NamedTuple):
    """One commit: the names it is about if it corrects something, the paths it deleted, old to new paths."""

    commit: Commit
    corrects: frozenset[str]
    deleted: tuple[str, ...]
    moved: tuple[tuple[str, str], ...]


class LaterCommits:
    """The commits of a thread, found by the names and paths of earlier work that they correct, move or delete."""

    def __init__(self, facts: ThreadFacts, ids: Mapping[str, str]) -> None:
        """Read the commits that git confirmed; `ids` are those that they have at the end, empty for unknown ones."""
        self._ids = ids
        calls = {call.result_seq: call for call in facts.trace.calls if call.tool == "Bash"}
        self._changes = [_change(commit, calls.get(commit.seq)) for commit in facts.commits]
        self._moving = [change for change in self._changes if change.deleted or change.moved]
        self._correcting: defaultdict[str, list[int]] = defaultdict(list)  # numbers of changes, by each name
        self._touching: defaultdict[str, list[int]] = defaultdict(list)  # and by the last part of each path
        for number, change in enumerate(self._changes):
            for name in change.corrects:
                self._correcting[name].append(number)
            for path in (*change.deleted, *(old for old, _ in change.moved)):
                self._touching[_last_part(path)].append(number)

    def paths(self, edited: Sequence[str], at: int) -> tuple[str, ...]:
        """Return the paths `edited` until entry `at` as they are called at the end, without deleted ones."""
        return tuple(dict.fromkeys(path for one in edited if (path := self._at_end(one, at))))

    def corrections(self, title: str, text: str, edited: Sequence[str], at: int, without: Collection[str]) -> str:
        """Return the commits after entry `at` that correct what `text` is about, or moved its files, in one sentence.

        The last two at most, by subject and id; those `without` were taken back. One with the same `title` is the
        work itself, committed again on another branch. Empty for none.
        """
        numbers = {number for name in _names(text) for number in self._correcting.get(name, ())}
        numbers |= {
            number
            for path in edited
            for number in self._touching.get(_last_part(path), ())
            if _touches(self._changes[number], path)
        }
        later = [self._changes[number].commit for number in sorted(numbers)]
        titles = [
            with_id(clip(one_line(commit.subject), _SUBJECT_MAX), self._ids.get(commit.sha, ""))
            for commit in later
            if commit.seq > at and commit.sha not in without and commit_title(commit.subject) != title
        ]
        return f"Later: {'; '.join(titles[-_SHOWN_MAX:])}" if titles else ""

    def restated_names(self, at: int, without: Collection[str]) -> frozenset[str]:
        """Return the names, in lower case, in the subjects of commits after entry `at` that clarify or reword.

        The subject begins with a verb such as "Clarify". Commits in `without` were taken back and do not count.
        """
        later = (change.commit for change in self._changes if change.commit.seq > at)
        subjects = (one.subject for one in later if one.sha not in without and _RESTATES.match(one.subject))
        return frozenset(name for subject in subjects for name in _names(subject))

    def _at_end(self, path: str, at: int) -> str:
        for change in self._moving:
            if change.commit.seq <= at:
                continue
            if any(_is_same(path, gone) for gone in change.deleted):
                return ""
            path = next((new for old, new in change.moved if _is_same(path, old)), path)
        return path


def _change(commit: Commit, call: ToolCall | None) -> _Change:
    report = call.result if call is not None else ""
    corrects = _names(f"{commit.subject}\n{read_message(commit).text}") if is_fix(commit.subject) else ()
    return _Change(
        commit,
        frozenset(corrects),
        tuple(match["path"].strip() for match in _DELETED.finditer(report)),
        tuple(_renames(report)),
    )


def _renames(report: str) -> Iterator[tuple[str, str]]:
    """Yield the old and the new path of each file that git reports as renamed."""
    for match in _RENAMED.finditer(report):
        braces = _BRACES.search(match["paths"])
        if braces is not None:
            before, after = match["paths"][: braces.start()], match["paths"][braces.end() :]
            old, new = (f"{before}{part}{after}".replace("//", "/") for part in (braces["old"], braces["new"]))
            yield old, new
        elif " => " in match["paths"]:
            old, _, new = match["paths"].partition(" => ")
            yield old, new


def _names(text: str) -> set[str]:
    return {name.lower() for name in names_in(text)}


def _touches(change: _Change, path: str) -> bool:
    """Return True where a commit deleted or moved a file."""
    return any(_is_same(path, gone) for gone in (*change.deleted, *(old for old, _ in change.moved)))


def _last_part(path: str) -> str:
    return path.rsplit("/", 1)[-1]


def _is_same(one: str, other: str) -> bool:
    """Return True for one file whose path is relative to two folders, one in the other."""
    return one == other or one.endswith(f"/{other}") or other.endswith(f"/{one}")
