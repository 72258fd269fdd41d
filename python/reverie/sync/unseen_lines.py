"""Find the text that a save was made from, among the texts that the disk has shown: a pure function of texts.

A save goes on from the newest text, unless it shows that its writer had not seen it. It shows that for an older text
if it has nothing of what came since, and has again what was replaced since. Example: an agent's write changes the line
`> Summary: tea` to `> Summary: tea, trains` and adds `- Train: at nine`. A save without the train is a stale buffer if
it has the old summary line again; with the new summary line, or with neither, somebody deleted the train.

The table says what an older text is to a save; "newer" is the newest text, or an older one that was found to be newer
to the writer:

| the save has something | it has again what | the older text was replaced within | the writer has seen       |
| of what came since     | an agent replaced | two seconds, or is a stale buffer  |                           |
|------------------------|-------------------|------------------------------------|---------------------------|
| yes                    | any               | any                                | the newer text            |
| no                     | yes               | any                                | the older text            |
| no                     | no                | yes                                | the older text            |
| no                     | no                | no                                 | unknown: the newer        |

What a person's own save replaced is no sign: its author may take the change back (undo in an editor is such a save).
It is the last replacement that counts. Example: an agent overwrote a line, an undo restored it, and the person changed
it: the line is there again because the person took that change back. A save with the very text of an older version
since which a person alone has saved the file is such an undo as a whole; so is the text that the person's last save was
made from, where a merge changed that save: what the merge added is unseen.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING

from reverie.lazy_regex import lazy_regex
from reverie.text_caches import text_cache

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_DISTINCTIVE_WORDS = 4
"""Words from which on a line is distinctive: two people do not write four equal words in a row by chance."""

_COMPARED_MAX = 20_000  # comparisons of lines: a document that was rewritten has no edited lines
_LINES_BYTES = 8_000_000  # of some thousand lines: the versions of a document share nearly all of them
_SUMMARY = "> Summary:"
_HEADER = (_SUMMARY, "- Updated:")
_MARKS = "-*+# \t"  # of an item or heading

# A word, one of the characters that are written without spaces between words (kana, CJK, hangul), or a sign.
_WORD = lazy_regex(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text that a save may have been made from.

    `replaced_recently`: it was replaced on disk less than two seconds before the save, so its editor may not have seen
    what replaced it. `is_stale_buffer`: it is no version but a save that was merged; its editor has seen nothing of
    what the merge added to it, unless it has reloaded the file. `by_person`: a person's save made this version.
    """

    text: str
    replaced_recently: bool = False
    is_stale_buffer: bool = False
    by_person: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """Index of the text that a save was made from, and of the oldest text that it may also have been made from.

    The two differ if it is unknown which of them the writer has seen. Of the lines that came between them, `edited` are
    those of the person's own saves that the save has in other words: these are no lines that it may not have seen.
    `buffers` are the stale buffers that it may have been made from: of what these lack nothing may have been seen.
    """

    base: int
    oldest: int
    edited: tuple[str, ...] = ()
    buffers: tuple[int, ...] = ()


class _Lines:
    """A text as a multiset of lines, without the space at their ends."""

    def __init__(self, text: str) -> None:
        self.counts = Counter(line.rstrip() for line in text.removeprefix("\ufeff").split("\n"))

    @cached_property
    def summary(self) -> str:
        """The summary line, "" without one."""
        return next((line for line in self.counts if line.startswith(_SUMMARY)), "")

    @cached_property
    def quoted(self) -> str:
        """The line that the summary line quotes, "" for none."""
        quote = self.summary.removeprefix(_SUMMARY).strip().rstrip("…")
        lines = (line for line in self.counts if quote and line.lstrip(_MARKS).startswith(quote))
        return next(lines, "")


@dataclass
class _Search:
    """One search: the lines of the save, and of each candidate once they are needed."""

    text: _Lines
    candidates: Sequence[Candidate]

    @cached_property
    def lines(self) -> list[_Lines]:
        """The lines of each candidate text, computed when they are first needed."""
        return [_Lines(candidate.text) for candidate in self.candidates]


def find_base(new: str, candidates: Sequence[Candidate]) -> Found:
    """Return the candidate that the save `new` was made from; the newest candidate comes first.

    The search begins at the newest text and goes back while the save shows that its writer had not seen the text found
    so far. Of several texts that are shown to be the older one, it is the one that explains most of what the save has
    again; then the newest, so that the lines that the save lacks of it are deleted. A text that agents have only
    deleted lines from since is such a one too, but it is no sign by itself: whoever has seen the deletion may write the
    line again. Of several that were replaced within two seconds it is the one of which the save lacks least, then the
    oldest: an editor that has not seen the last change may not have seen those before it. One of which it lacks more
    than of the text found so far is none of them, since its lines would be deleted; then it is unknown. Example:
    an editor saves its old buffer again and again with one more line in it, while agents' lines come and go around it;
    that buffer explains every line of the save.
    """
    search = _Search(_Lines(new), candidates)
    if _is_undo(new, candidates):
        return Found(0, 0)
    if (undone := _undone_buffer(new, candidates)) is not None:
        return undone
    best = 0
    while True:
        shown_again: list[tuple[int, int]] = []
        only_shortened: list[tuple[int, int]] = []
        unseen: list[int] = []
        undecided: list[int] = []
        since = Counter(search.lines[best].counts)
        lacking = _lacking(search, best)
        for at in range(best + 1, len(candidates)):
            older = search.lines[at].counts
            if not any(map(_has_word, since - older)):
                only_shortened.append((-_shown_again(search, at, best), at))
            elif _is_unseen(search.text.counts, older, since, search.lines[best].counts):
                again = _shown_again(search, at, best)
                if again:
                    shown_again.append((-again, at))
                elif (candidates[at].replaced_recently or _is_stale_buffer(search, at)) and (
                    _lacking(search, at) <= lacking
                ):
                    unseen.append(at)
                elif not _is_stale_buffer(search, at):
                    undecided.append(at)
            since |= older
        if shown_again:
            again, best = min(shown_again)
            best = min((at for other, at in only_shortened if other <= again and at < best), default=best)
        elif unseen:
            best = min(unseen, key=lambda at: (_lacking(search, at), -at))
        else:
            oldest = max(undecided, default=best)
            buffers = tuple(at for at in undecided if candidates[at].is_stale_buffer)
            return Found(best, oldest, _edited_lines(search, best, oldest), buffers)


def lines_beyond(text: str, *others: str) -> int:
    """Return how many lines of a text, without blank ones and headers, are in none of the others."""
    return len(lines_only_in(text, *others))


def lines_only_in(text: str, *others: str) -> list[str]:
    """Return the lines of a text, without blank ones and headers, that are in none of the others; in their order."""
    return list(_with_words(_Lines(text).counts, *(_Lines(other).counts for other in others)).elements())


def have_common_lines(one: str, other: str) -> bool:
    """Return True if two texts have a line with words in common, other than a heading or a header line."""
    lines = _with_words(_Lines(one).counts & _Lines(other).counts)
    return any(not line.startswith("#") for line in lines)


def without_unsure_lines(text: str, *others: str) -> str:
    """Return `text` without the lines that none of the others has: the save, the text it may be made from, and more."""
    left = _with_words(_Lines(text).counts, *(_Lines(other).counts for other in others))
    kept = []
    for line in text.split("\n"):
        name = line.removeprefix("\ufeff").rstrip()
        if left[name]:
            left[name] -= 1
        else:
            kept.append(line)
    return "\n".join(kept)


def _with_words(lines: Counter[str], *others: Counter[str]) -> Counter[str]:
    """Return the lines that none of the others has, leaving out header lines and lines without a word."""
    for other in others:
        lines = lines - other
    return Counter({line: n for line, n in lines.items() if _has_word(line) and not line.startswith(_HEADER)})


def _is_undo(new: str, candidates: Sequence[Candidate]) -> bool:
    """Return True if a save has the text of an older version, and each version since is a person's save."""
    for newer, older in pairwise(candidates):
        if newer.is_stale_buffer or not newer.by_person:
            return False
        if older.text == new:
            return not older.is_stale_buffer
    return False


def _undone_buffer(new: str, candidates: Sequence[Candidate]) -> Found | None:
    """Return the last save of a person as the base, if a merge changed it and `new` is the text that it was made from.

    Its editor has not reloaded the file, and its author has taken the change back there.
    """
    at = next((at for at, candidate in enumerate(candidates) if candidate.is_stale_buffer), 0)
    older = [candidate.text for candidate in candidates[at + 1 :]]
    if sum(candidate.by_person for candidate in candidates[:at]) != 1 or new not in older:
        return None
    made_from = find_base(candidates[at].text, candidates[at + 1 :])
    possible = older[made_from.base : made_from.oldest + 1]
    return Found(at, at + 1 + older.index(new)) if new in possible else None


def _is_unseen(text: Counter[str], older: Counter[str], since: Counter[str], newest: Counter[str]) -> bool:
    """Return True if the save has none of the words that were added between the texts `older` and `since`.

    Something of them is one added line of at least four words, or more than half of the added words: of all, or of
    those in the newest text. Short lines alone prove nothing: a person and an agent may both write "- tea". Example for
    the newest text: somebody saves while typing, "- Tea: gre", "- Tea: green", "- Tea: green, no sugar". The last one
    has half of the words of the other two, and all of the second one.
    """
    added, more = since - older, text - older
    if any(_is_distinctive(line) for line in added & more):  # the usual save; found without looking at words
        return False
    words = _new_words(older, since)
    if not words:  # at most a line was shortened, such as a summary
        return any(_has_word(line) for line in added) and not any(_has_word(line) for line in added & more)
    own, last = _new_words(older, text), _new_words(older, newest)
    if last and 2 * (last & own).total() > last.total():
        return False
    return 2 * (words & own).total() <= words.total()


def _lacking(search: _Search, at: int) -> int:
    """Return how many lines of a candidate are missing from the save, not counting headers and blank lines."""
    missing = search.lines[at].counts - search.text.counts
    return sum(count for line, count in missing.items() if _has_word(line) and not line.startswith(_HEADER))


def _shown_again(search: _Search, at: int, best: int) -> int:
    """Return a score of removed lines that the save has again, from an older text to `best`: 2 a line, 1 an edited one.

    A line that a person's save took away counts only if the older text is a stale buffer of another one. An edited
    line counts too if it is more like the old line than like any that came instead. Example: the agent changed
    "- Editor: vim, with plugins" to "- Editor: helix", and the save has "- Editor: vim, without plugins".
    """
    older, newer, text = search.lines[at].counts, search.lines[best].counts, search.text.counts
    gone, more = older - newer, text - newer
    again = gone & more
    count = 2 * sum(_has_word(line) and not _taken_by_person(search, line, at, best) for line in again)
    count += 2 * _has_edited_summary(search, at, best)
    edited = [line for line in more - again if _has_word(line) and not line.startswith(_HEADER)]
    replaced = [line for line in gone - again if _has_word(line) and not line.startswith(_HEADER)]
    instead = newer - older
    if not edited or not replaced or len(edited) * len(replaced) * (1 + len(instead)) > _COMPARED_MAX:
        return count
    others = [_inner_pairs(Counter((line,))) for line in instead]
    for line in replaced:
        old = _inner_pairs(Counter((line,)))
        for other in edited:
            new = _inner_pairs(Counter((other,)))
            common = (old & new).total()
            nearest = max(((pairs & new).total() for pairs in others), default=0)
            is_like = 2 * common > old.total() and common > max(1, nearest)
            if is_like and not _taken_by_person(search, line, at, best):
                count += 1
                break
    return count


def _has_edited_summary(search: _Search, at: int, best: int) -> bool:
    """Return True if the summary line of the save is that of an older text, changed with the line that it quotes.

    Example: the old text has "> Summary: City: Oslo" and "- City: Oslo", and "Oslo" was replaced by "Bergen" in all of
    it. Where the newer text quotes another line, its reader would have seen that one in the summary.
    """
    older, newer, text = search.lines[at], search.lines[best], search.text
    if text.summary in {"", older.summary, newer.summary} or older.summary in {"", newer.summary}:
        return False
    if not text.quoted or not older.quoted or _taken_by_person(search, older.summary, at, best):
        return False
    return _likeness(text.quoted, older.quoted) > _likeness(text.quoted, newer.quoted)


def _taken_by_person(search: _Search, line: str, at: int, best: int) -> bool:
    """Return True if a person's save was the last to remove a line of the candidate `at`, as far as `best`."""
    if search.candidates[at].is_stale_buffer:
        return False
    return _is_last_by_person(search, line, at, best, lambda older, newer: newer < older)


def _brought_by_person(search: _Search, line: str, at: int, best: int) -> bool:
    """Return True if a person's save was the last to add a line between the candidates `at` and `best`."""
    return _is_last_by_person(search, line, at, best, lambda older, newer: newer > older)


def _is_last_by_person(search: _Search, line: str, at: int, best: int, is_it: Callable[[int, int], bool]) -> bool:
    """Return True if a person's save made the last change of a line's number, from `at` to `best`, for which `is_it`.

    A stale buffer never was the text of the file, so it made no change; unless it is `best`: then it is the person's.
    """
    newer = None
    for older in range(best, at + 1):
        if search.candidates[older].is_stale_buffer and older not in {at, best}:
            continue
        if newer is not None and is_it(search.lines[older].counts[line], search.lines[newer].counts[line]):
            return search.candidates[newer].by_person or search.candidates[newer].is_stale_buffer
        newer = older
    return False


def _edited_lines(search: _Search, best: int, oldest: int) -> tuple[str, ...]:
    """Return the lines since `oldest` of a person's own saves that the save lacks because it has them in other words.

    Each line of the save stands for one of them, if it is at least as much like that one as like a line from before.
    Example: "- Tea: green" was changed to "- Tea: black", and the save has "- Tea: blue": the black tea was edited. But
    "- Tea: green" and "- Tea: green, hot" before a save with "- Tea: green, iced" may be two editors of the first.
    """
    newer, text = search.lines[best].counts, search.text.counts
    older_lines: Counter[str] = Counter()  # the lines of all texts before the newest
    for lines in search.lines[best + 1 : oldest + 1]:
        older_lines |= lines.counts
    missing, before = _with_words(newer, search.lines[oldest].counts, text), _with_words(older_lines, newer)
    new = _with_words(text, newer, older_lines)
    if len(missing) * len(new) * (1 + len(before)) > _COMPARED_MAX:
        return ()
    edited = []
    for line in missing.elements():
        if _brought_by_person(search, line, oldest, best):
            likely = (other for other in new.elements() if _is_edit(line, other, before))
            if (other := next(likely, None)) is not None:
                new[other] -= 1
                edited.append(line)
    return tuple(edited)


def _is_edit(line: str, other: str, before: Counter[str]) -> bool:
    """Return True if a line may be an edit of `line`: they are alike, and no line from before is more like it.

    It is one in any case if characters were only added, or only removed, at the end of one word: it was saved while
    somebody typed. Example: "- Tea: gre" and "- Tea: green", which have no new word in common.
    """
    shorter, longer = sorted((line, other), key=len)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(shorter, longer, strict=False)))
    if longer.endswith(shorter[same:]) and not shorter[same : same + 1].isalnum():
        return True
    one, two = _inner_pairs(Counter((line,))), _inner_pairs(Counter((other,)))
    common = (one & two).total()
    if common < 2 or 2 * common <= one.total():
        return False
    return all(_likeness(old_line, other) <= _likeness(line, other) for old_line in before)


def _likeness(line: str, other: str) -> float:
    """Return the share of word pairs that two lines have in common, 0 to 1 (Dice coefficient)."""
    one, two = _inner_pairs(Counter((line,))), _inner_pairs(Counter((other,)))
    return 2 * (one & two).total() / max(1, one.total() + two.total())


def _is_stale_buffer(search: _Search, at: int) -> bool:
    """Return True if a candidate is a save of a stale buffer, and the new save has at least half of its lines.

    A save that lacks more is no sign of an editor that has not reloaded: it may lack the added lines as well because
    its author deletes almost everything.
    """
    if not search.candidates[at].is_stale_buffer:
        return False
    lines = Counter({line: count for line, count in search.lines[at].counts.items() if _has_word(line)})
    return 2 * (lines & search.text.counts).total() >= lines.total()


@text_cache(bytes_max=_LINES_BYTES // 4, entry_bytes=150, char_bytes=2)
def _has_word(line: str) -> bool:
    return any(character.isalnum() for character in line)


@text_cache(bytes_max=_LINES_BYTES // 4, entry_bytes=150, char_bytes=2)
def _is_distinctive(line: str) -> bool:
    words: list[str] = _WORD.findall(line)
    return sum(word.isalnum() for word in words) >= _DISTINCTIVE_WORDS


def _new_words(since: Counter[str], until: Counter[str]) -> Counter[tuple[str, str]]:
    return _inner_pairs(until - since) - _inner_pairs(since - until)


def _inner_pairs(lines: Counter[str]) -> Counter[tuple[str, str]]:
    """Return the word pairs inside lines, and words that are a line of their own.

    Pairs of two signs, and those with the beginning or end of a line, are left out: every list has them.
    """
    pairs: Counter[tuple[str, str]] = Counter()
    for line, count in lines.items():
        for pair in _pairs_of(line):
            pairs[pair] += count
    return pairs


@text_cache(bytes_max=_LINES_BYTES, entry_bytes=200, char_bytes=18)
def _pairs_of(line: str) -> tuple[tuple[str, str], ...]:
    """Return the pairs of neighbouring words of one line, as `_inner_pairs` counts them."""
    pairs = tuple(pair for pair in pairwise(_WORD.findall(line)) if any(map(str.isalnum, pair)))
    return (*pairs, (line.strip(), "")) if line.strip().isalnum() else pairs
