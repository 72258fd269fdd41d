"""The end state of a thread: finished work that did not hold is no episode.

Work does not hold where something later says so: git took it back, later edits removed what it had put in, the person
said that it still fails or wanted it undone, or a check turned red right after it and never green again.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from reverie.distill.commands import Purpose
from reverie.distill.extractive import cue_phrases
from reverie.distill.extractive.commits_and_files_undone_by_git import taken_back
from reverie.distill.extractive.messages_that_open_a_task import opens_task
from reverie.distill.extractive.persons_own_and_quoted_sentences import own_sentences
from reverie.distill.extractive.wish_and_correction_cues_by_language import language_of
from reverie.distill.sentences import specific_names
from reverie.distill.tools import EDITS
from reverie.lazy_regex import lazy_regex
from reverie.sentence_word_analysis import is_stop_word

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from reverie.distill.facts import ThreadFacts
    from reverie.distill.steps import ToolCall

__all__ = ["EndState", "Finished", "common_words", "is_removed"]

_WORD = lazy_regex(r"[^\W\d_]{4,}")
_COMMON_WORDS: Final = 2  # shared by a message and a title from which they are about the same
_CHECKS: Final = (Purpose.TEST, Purpose.BUILD)
# A check that did not run says nothing of the code.
_NOT_RUN = lazy_regex(
    r"command not found|not recognized|unrecognized (?:sub)?command|unknown (?:command|option|flag)|no task\b"
    r"|no such file|missing script|permission denied|cannot connect|timed? ?out|deadline exceeded",
    re.IGNORECASE,
)
_OTHER_STATE = lazy_regex(r"\bgit (?:-C \S+ )?(?:stash|checkout|switch|worktree)\b")
_END: Final = 2**62  # behind every entry
_TOKEN = lazy_regex(r"\w+")
_WORDY = lazy_regex(r"\w{3}")
_LETTERS: Final = 4  # of a name; a shorter one stands for many things


class Finished(NamedTuple):
    """A piece of finished work, by the entries `after` (exclusive) to `at` and the files edited, tests included.

    `text` is what its episode says; `sha` is empty for work that was not committed.
    """

    title: str
    text: str
    after: int
    at: int
    edited: Sequence[str]
    sha: str


class _Complaint(NamedTuple):
    """A sentence by which something fails or is to be undone: its entry, its names and words, and if it points back.

    One that points back is about what was done last, without naming it.
    """

    seq: int
    names: frozenset[str]
    words: frozenset[str]
    points_back: bool


class EndState:
    """The end state of a thread: reverted and removed edits, complaints, and checks that still fail."""

    def __init__(self, facts: ThreadFacts, is_side: Callable[[str], bool]) -> None:
        """Collect a thread's edits and checks; `is_side` returns True for files that are no code, as documents."""
        self._facts = facts
        self._edits = [call for call in facts.trace.calls if call.tool in EDITS and not call.failed and call.path]
        code = [call for call in self._edits if not is_side(facts.trace.relative(call.path))]
        self._code = [call.seq for call in code]
        self._lines: defaultdict[str, list[tuple[int, Counter[str]]]] = defaultdict(list)  # by file
        for call in code:
            self._lines[call.path].append((call.seq, _line_changes(call)))
        self._edits_with: defaultdict[str, list[ToolCall]] = defaultdict(list)  # by each word of old and new texts
        for call in self._edits:
            for word in {word for texts in _replacements(call) for text in texts for word in _TOKEN.findall(text)}:
                self._edits_with[word].append(call)
        self._runs = {
            purpose: [
                run
                for run in facts.runs
                if run.purpose is purpose and not _OTHER_STATE.search(run.command) and not _NOT_RUN.search(run.error)
            ]
            for purpose in _CHECKS
        }
        self._back = taken_back(facts.trace.calls, facts.commits)
        self.taken_back: Collection[str] = self._back.commits
        """The short hashes of commits that git took back."""
        self._said = [
            said for said in facts.requests if not said.proposal and not cue_phrases.is_uninformative(said.text)
        ]
        self._openers = [said.seq for said in facts.requests if opens_task(said.text)]
        self._complaints = list(_complaints(facts))

    def holds(self, work: Finished) -> bool:
        """Return False for work that was undone, replaced or failed, or whose episode mostly names removed code."""
        return not (
            self._is_undone(work)
            or self._is_replaced(work)
            or self._is_complained_about(work)
            or self._turned_red(work)
        )

    def gone_names(self, work: Finished) -> frozenset[str]:
        """Return the names in a work's text that the work put into the code and that later edits removed."""
        return frozenset(self._gone(work)[0])

    def code_changes(self) -> Iterator[tuple[str, int, Mapping[str, int]]]:
        """Yield path and entry of each edit of code, with the change in how often each line is in the file."""
        for path, changes in self._lines.items():
            for seq, lines in changes:
                yield path, seq, lines

    def paths(self, work: Finished) -> set[str]:
        """Return the paths of the files that a work edited, as the edits have them."""
        return {call.path for call in self._edits if work.after < call.seq <= work.at}

    def _is_undone(self, work: Finished) -> bool:
        """Return True where git took the commit back, or brought every file of the work back to an earlier state."""
        if work.sha:
            if work.sha in self._back.commits:
                return True
            discards = [one for one in self._back.discards if one.committed]
        else:
            committed = min((one.seq for one in self._facts.commits if one.seq > work.at), default=_END)
            discards = [one for one in self._back.discards if one.seq < committed or one.committed]
        later = [one for one in discards if one.seq > work.at]
        return bool(work.edited) and all(
            any(one.covers(path) and not self._edited_after(path, one.seq) for one in later) for path in work.edited
        )

    def _edited_after(self, path: str, seq: int) -> bool:
        return any(call.seq > seq and self._facts.trace.relative(call.path) == path for call in self._edits)

    def _is_replaced(self, work: Finished) -> bool:
        """Return True if a name in the title, half of all names, or most of the inserted code was removed later."""
        gone, put = self._gone(work)
        if gone and (2 * len(gone) >= put or any(_names(name, work.title) for name in gone)):
            return True
        put_lines = lost = 0
        for changed in self._lines.values():
            mine, later = Counter[str](), Counter[str]()
            for seq, changes in changed:
                if work.after < seq <= work.at:
                    mine.update(changes)
            for seq, changes in changed if mine else ():
                if seq > work.at:
                    later.update({line: changes[line] for line in changes.keys() & mine.keys()})
            put_lines += (+mine).total()
            lost += (-later & +mine).total()
        return 2 * lost > put_lines

    def _gone(self, work: Finished) -> tuple[list[str], int]:
        """Return the names in a work's text that were removed later, and how many names it had written to files."""
        names = [name for name in specific_names(work.text) if "/" not in name and len(name) >= _LETTERS]
        paths = self.paths(work)
        if not any(call.seq > work.at and call.path in paths for call in reversed(self._edits)):
            return [], 0
        gone: list[str] = []
        put = 0
        for name in names:
            pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")  # noqa: TID251 - used once, right away
            word = _TOKEN.search(name)
            edits = self._edits_with[word.group()] if word and word.group() in self._edits_with else ()
            added = _growth(pattern, [call for call in edits if work.after < call.seq <= work.at])
            if added > 0:
                put += 1
                if added + _growth(pattern, [call for call in edits if call.seq > work.at and call.path in paths]) <= 0:
                    gone.append(name)
        return gone, put

    def _is_complained_about(self, work: Finished) -> bool:
        """Return True if the person reported that the work fails, or wanted it undone.

        A complaint that points back, such as "it still fails", is about the work that was finished last, with no edit
        and no new task in between. Any other must be about the same thing by its words, and be followed by edits of
        the same files.
        """
        own = {name.lower() for name in specific_names(work.text)}
        title = _words(work.title)
        for complaint in self._complaints:
            if complaint.seq <= work.at:
                continue
            if complaint.points_back and self._is_last_before(work, complaint.seq):
                return True
            shares = not own.isdisjoint(complaint.names) or len(title & complaint.words) >= _COMMON_WORDS
            if shares and self._are_edited_next(work, complaint.seq):
                return True
        return False

    def _is_last_before(self, work: Finished, seq: int) -> bool:
        """Return True if no code edit, commit or further request is between a work and the message `seq`."""
        between = range(work.at + 1, seq)
        return not (
            any(commit.seq in between for commit in self._facts.commits)
            or any(said.seq in between for said in self._said)
            or bisect_right(self._code, work.at) != bisect_right(self._code, seq)
        )

    def _are_edited_next(self, work: Finished, seq: int) -> bool:
        """Return True where the agent edited a file of the work after a message, before the next commit or task."""
        ends = [commit.seq for commit in self._facts.commits if commit.seq > seq]
        end = min([*ends, *(opener for opener in self._openers if opener > seq)], default=_END)
        return any(
            seq < call.seq <= end and self._facts.trace.relative(call.path) in work.edited for call in self._edits
        )

    def _turned_red(self, work: Finished) -> bool:
        """Return True where a check failed right after the work, which had passed before it, and never passed again."""
        next_edit = next((seq for seq in self._code if seq > work.at), _END)
        for purpose in _CHECKS:
            runs = self._runs[purpose]
            before = [run for run in runs if run.seq <= work.at]
            after = [run for run in runs if run.seq > work.at]
            was_red = any(run.failed for run in before[-1:])
            if after and not was_red and all(run.failed for run in after) and after[0].call_seq < next_edit:
                return True
        return False


def common_words(one: str, other: str) -> set[str]:
    """Return the words that two texts share, of four letters or more, without frequent ones."""
    return _words(one) & _words(other)


def is_removed(name: str, calls: Sequence[ToolCall]) -> bool:
    """Return True if these edits removed a name from their files, and left it in no more places than before."""
    pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")  # noqa: TID251 - used once, right away
    is_out = any(pattern.search(old) for call in calls for old, _ in _replacements(call))
    return is_out and _growth(pattern, calls) <= 0


def _words(text: str) -> set[str]:
    return {word for word in map(str.lower, _WORD.findall(text)) if not is_stop_word(word)}


def _complaints(facts: ThreadFacts) -> Iterator[_Complaint]:
    """Yield the sentences of the person that say that something fails or is to be undone."""
    for said in facts.requests:
        for sentence in own_sentences(said.text):
            language = language_of(sentence)
            if language is None:
                continue
            plain = sentence.replace("\u2019", "'")
            points_back = language.rejection.search(plain) is not None
            if points_back or language.fails.search(plain):
                names = frozenset(name.lower() for name in specific_names(sentence))
                yield _Complaint(said.seq, names, frozenset(_words(sentence)), points_back)


def _line_changes(call: ToolCall) -> Counter[str]:
    """Return the change in how often each line is in its file by an edit; lines without a word are left out."""
    changes = Counter[str]()
    for old, new in _replacements(call):
        for text, count in ((old, -1), (new, 1)):
            for line in text.split("\n"):
                if _WORDY.search(line):
                    changes[line.strip()] += count
    return changes


def _names(name: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _growth(pattern: re.Pattern[str], calls: Sequence[ToolCall]) -> int:
    """Return how many more matches of a pattern the files have after some edits than before."""
    return sum(
        len(pattern.findall(new)) - len(pattern.findall(old)) for call in calls for old, new in _replacements(call)
    )


def _replacements(call: ToolCall) -> Iterator[tuple[str, str]]:
    """Yield the old and the new text of each place that an edit changed; the old one of a written file is unknown."""
    several = call.input.get("edits")
    for one in several if isinstance(several, list) else [call.input]:
        if isinstance(one, dict):
            old, new = one.get("old_string"), one.get("new_string", one.get("content"))
            yield old if isinstance(old, str) else "", new if isinstance(new, str) else ""
