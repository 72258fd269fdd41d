"""Find the merge base of a saved file: the earlier text that the person's editor had loaded.

Git knows the base of a merge, because a commit names its parent. A saved file names nothing: an editor that was opened
before an agent wrote, and never reloaded, saves a text that lacks the agent's lines. Merged against the last agreed
text, each of those lines would look like a deletion by the person. So the base is guessed from the text itself: of all
texts that the disk has shown, take the one from which the save is the smallest edit, and treat what the editor can
hardly have seen as not deleted.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from reverie.sync.state import Save, Version, sha256

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reverie.sync.state import Baseline, PathState, Rules

__all__ = [
    "Candidate",
    "edit_distance",
    "is_earlier_version",
    "is_unrecorded_write",
    "merge_base",
    "nearest_ancestor",
]

_DISTINCTIVE_WORDS = 4
"""Words from which on a line is distinctive: two people do not write four equal words in a row by chance."""

# A word, one of the characters that are written without spaces between words (kana, CJK, hangul), or a sign.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text that a save may derive from.

    `replaced_recently`: it was replaced on disk so recently that an editor may not have seen its replacement.
    `before_last_save`: it is older than the last save of a person, whose editor went on from that save.
    `is_last_save`: it is that save.
    """

    text: str
    replaced_recently: bool = False
    before_last_save: bool = False
    is_last_save: bool = False


def is_unrecorded_write(state: PathState, text: str) -> bool:
    """Return True if the file has a text that the store got after the baseline: our own write that a crash cut off.

    Such a file is no person's save. It has the text of a version, but only of versions newer than the baseline's
    operation; with an older one of the same text it may as well be a person who put that back.
    """
    baseline = state.baseline
    if baseline is None:  # a crash may have lost even the record that there is a file
        current = (version for version in state.versions if not version.former)
        return state.document is not None and any(version.text == text for version in current)
    if baseline.operation is None:
        return False
    same = [
        version for version in state.versions if version.text == text and (baseline.operation or not version.former)
    ]
    return bool(same) and all(version.operation > baseline.operation for version in same)


def is_earlier_version(state: PathState, text: str) -> bool:
    """Return True if the file has exactly an earlier version's text, and not one that its editor may just have saved.

    Several such files at once are the trace of a tool that restores files (`git checkout`).
    """
    baseline = state.baseline
    if baseline is None or state.document is None or text == state.document.text:
        return False
    last = _last_shown(state, baseline)
    if last is None or text == last.text or (baseline.saved is not None and text == baseline.saved.text):
        return False
    return any(version.text == text for version in state.versions)


def merge_base(
    state: PathState, text: str, *, file_sha256: str, deliberate: bool, now_ms: int, rules: Rules
) -> Version | None:
    """Return the merge base of a saved file, or None if it has no common ancestor with the stored document.

    `text` is the redacted text of the file, `file_sha256` the SHA-256 of its raw bytes. The cases, in this order:

    | known about the save                                        | base                                            |
    |-------------------------------------------------------------|-------------------------------------------------|
    | the path has no baseline                                    | none                                            |
    | it went into a file that had just been replaced             | the best of the texts before that replacement   |
    | `deliberate`, or the merged bytes saved a second time       | the text that the disk showed last              |
    | the text that the disk showed last is no longer stored      | none                                            |
    | exactly a version that was replaced recently                | that version: a stale buffer, it changes nothing|
    | exactly the last save, which was merged                     | that save: a buffer that has stayed open        |
    | exactly a version replaced long ago                         | the last shown: somebody put the old text back  |
    | anything else                                               | `nearest_ancestor` of the texts that were shown |

    The result is None too if the best candidate is the empty text (the file was created from nothing while ours had
    just been written), or a version from before the document was deleted and created again.
    """
    baseline = state.baseline
    if baseline is None:
        return None
    if state.replaced_by is not None and state.disk_sha256 not in {None, file_sha256}:
        return _base_of_late_write(state, baseline, text, state.replaced_by)
    last = _last_shown(state, baseline)
    # The age of our writes counts at the time of the save, not of the scan: the daemon may have been down for an hour.
    saved_at = now_ms if state.saved_at is None else state.saved_at
    repeated = file_sha256 == baseline.merged and _is_deliberate_repeat(baseline, saved_at, rules)
    if deliberate or repeated or (baseline.operation and last is None):
        return last
    versions = _shown_texts(state, baseline)[: rules.versions_max]
    candidates = [_candidate(state, baseline, version, saved_at, rules) for version in versions]
    for version, candidate in zip(versions, candidates, strict=True):
        # A text from before the last save says nothing by being equal: its editor went on from there. It is weighed
        # with the others below.
        if version.text == text and not candidate.before_last_save:
            is_stale = candidate.replaced_recently or candidate.is_last_save
            return _unless_former(version, baseline) if is_stale else last
    if baseline.saved is None and _is_new_file(baseline, saved_at, rules):
        # Nobody has saved this file, and it was created a moment ago: the person may have created it as well, without
        # having seen ours. Then it derives from the empty text, and nothing that it lacks was deleted.
        candidates.append(Candidate("", replaced_recently=True))
    best = nearest_ancestor(text, candidates) if candidates else 0
    return _unless_former(versions[best], baseline) if best < len(versions) else None


def _unless_former(version: Version, baseline: Baseline) -> Version | None:
    """Return the version, or None for one from before the document was deleted and created again.

    Today's document does not derive from such a version, so what it has less of is no deletion. The text that the disk
    still shows is an exception: whoever created the document again knew of it.
    """
    return None if version.former and version.operation != baseline.operation else version


def _base_of_late_write(state: PathState, baseline: Baseline, text: str, replaced_by: int) -> Version | None:
    """Return the merge base of a save that went into a file which the text of `replaced_by` had replaced.

    The editor had that file open, so it has seen none of what came later: every text from before the replacement is a
    candidate, and all of them count as replaced recently. A line that the save lacks is taken for a deletion only if
    the line was there all along, from the oldest of these texts on; the base is cut down to such lines. Example: the
    versions have the lines a b, then a b c, and the save has only a: b was deleted; c may be unseen, and stays.
    """
    texts = [version for version in state.versions if version.operation < replaced_by]
    texts = sorted([*texts, *_merged_saves(baseline)], key=lambda version: -version.operation)
    if not texts:
        return None
    best = texts[nearest_ancestor(text, [Candidate(version.text, replaced_recently=True) for version in texts])]
    believed = {*_stripped_lines(text), *_stripped_lines(texts[-1].text)}
    kept = (line for line in best.text.split("\n") if line.rstrip("\r") in believed)
    return Version(best.operation, "\n".join(kept))


def _stripped_lines(text: str) -> set[str]:
    """Return the lines of a text without carriage returns."""
    return {line.rstrip("\r") for line in text.split("\n")}


def _last_shown(state: PathState, baseline: Baseline) -> Version | None:
    """Return the version that the disk last showed for certain, or None if the store no longer has it."""
    return next((version for version in state.versions if version.operation == baseline.operation), None)


def _shown_texts(state: PathState, baseline: Baseline) -> list[Version]:
    """Return the texts that were on disk, or may have been, and the merged saves among them; newest first."""
    if baseline.operation is None:
        return []
    texts = [version for version in state.versions if version.operation <= baseline.operation]
    texts += _maybe_shown(state, baseline)
    return sorted([*texts, *_merged_saves(baseline)], key=lambda version: -version.operation)


def _maybe_shown(state: PathState, baseline: Baseline) -> list[Version]:
    """Return the versions after the baseline's operation that may have been on disk: the write that was under way.

    All others were never on disk: nobody has seen their lines, so a save that lacks these deletes nothing. At most one
    write is under way, and `intended` has the SHA-256 of its bytes. They are another text than the version's if the
    file has secrets; and where nothing is known of what the disk showed, any version may have been there.
    """
    if not baseline.intended:
        return []
    newer = [version for version in state.versions if version.operation > (baseline.operation or 0)]
    written = [version for version in newer if sha256(version.text.encode()) in baseline.intended]
    return written if written and baseline.operation else newer


def _merged_saves(baseline: Baseline) -> list[Version]:
    """Return the pre-merge texts of recent saves.

    An editor that did not reload still edits such a text, and no version has it: the store has the merged one.
    """
    saves = (baseline.saved, *baseline.earlier)
    return [
        Version(save.operation, save.text)
        for save in saves
        if save is not None and save.operation is not None and save.text is not None
    ]


def _candidate(state: PathState, baseline: Baseline, version: Version, saved_at: int, rules: Rules) -> Candidate:
    """Return what is known about a text as an ancestor of a save made at `saved_at` (ms)."""
    saved, operation = baseline.saved, version.operation
    is_last_save = before_last_save = False
    is_other_save = Save(operation, version.text) in baseline.earlier
    if saved is not None and saved.operation is not None:
        is_last_save = operation == saved.operation and saved.text in {None, version.text}
        before_last_save = is_other_save or (operation < saved.operation and operation != baseline.operation)
    # Recently replaced: some write less than `unseen_ms` before the save showed a later text. The merge result of a
    # save has the same operation as the save, and replaced it as well.
    recent = any(
        write.operation is not None
        and saved_at - write.at < rules.unseen_ms
        and (write.operation > operation or (write.operation == operation and (is_last_save or is_other_save)))
        for write in baseline.shown
    )
    if baseline.intended and state.document is not None and operation < state.document.operation:
        recent = True  # our newer text was about to be written, so it cannot have been seen for long
    return Candidate(
        version.text, replaced_recently=recent, before_last_save=before_last_save, is_last_save=is_last_save
    )


def _is_new_file(baseline: Baseline, saved_at: int, rules: Rules) -> bool:
    """Return True if sync created the file less than `unseen_ms` before a save, or may not have created it at all."""
    return not baseline.operation or (baseline.made_at is not None and saved_at - baseline.made_at < rules.unseen_ms)


def _is_deliberate_repeat(baseline: Baseline, saved_at: int, rules: Rules) -> bool:
    """Return True if the same bytes arrive at least `again_ms` after the merge: a second save, no double write."""
    return all(saved_at - write.at >= rules.again_ms for write in baseline.shown[:1])


# The search for the nearest ancestor, a pure function of texts.


class _Lines:
    """A text as a multiset of lines, without line endings, and as a multiset of pairs of neighbouring lines."""

    def __init__(self, text: str) -> None:
        lines = [line.removesuffix("\r") for line in text.removeprefix("\ufeff").split("\n")]
        self.counts = Counter(lines)
        self.neighbours = Counter(pairwise(lines))

    def beyond(self, other: _Lines) -> Counter[str]:
        """Return the lines that the other text does not have, or has less often."""
        return self.counts - other.counts


def edit_distance(old: str, new: str) -> int:
    """Return the distance between two texts: how many word pairs and line pairs only one of them has.

    Word pairs are counted in lines that only one text has, so that an edit inside a line costs what was edited and not
    the whole line; line pairs count the order. It is a metric. Example: "- a b" and "- a c" differ in the pairs (a, b),
    (b, end) and (a, c), (c, end), and in one line pair on each side: 4 + 2 = 6.
    """
    return _distance(_Lines(old), _Lines(new))


def nearest_ancestor(new: str, candidates: Sequence[Candidate]) -> int:
    """Return the index of the candidate that `new` most likely derives from; the newest candidate comes first.

    1. A person's editor goes on from their last save or from what came later. So the start is the candidate of least
       distance that is not from before the last save; on a tie the newest.
    2. That choice may be wrong: the save may come from an editor that had not seen what came between an older text and
       this one. Its deletions would then be no deletions. If `new` shows nothing at all of what came between them, and
       the older text was replaced recently, the older text is the better base. Repeated until nothing is better.
       Example: the agent adds "- flight at nine"; ten seconds later a save has a new line of the person and not the
       flight. Nothing of the flight is shown, so the person had not seen it, and it stays.
    3. The last save itself needs more than that to be given up. Its author, who takes it back, shows nothing of it
       either, and means it. Only a text of less distance that certainly belongs to another editor replaces it: `new`
       shows what the last save lacked, and what that save's merge result still has.

    The first candidate must not be from before the last save.
    """
    text = _Lines(new)
    lines = cache(lambda at: _Lines(candidates[at].text))  # most are from before the last save and never looked at
    distance = cache(lambda at: _distance(lines(at), text))
    best = _nearest([at for at, candidate in enumerate(candidates) if not candidate.before_last_save], distance)
    while True:
        older = [
            at
            for at in range(best + 1, len(candidates))
            if candidates[at].replaced_recently and _is_unseen(text, since=lines(at), until=lines(best))
        ]
        if candidates[best].is_last_save:
            after_merge = lines(best - 1) if best else lines(best)  # what the merge made of that save
            older = [
                at
                for at in older
                if distance(at) < distance(best)
                and _shows(text, since=lines(best).counts, until=lines(at).counts & after_merge.counts)
            ]
        if not older:
            return best
        best = _nearest(older, distance)


def _nearest(indexes: Sequence[int], distance: Callable[[int], int]) -> int:
    """Return the first index of least distance; a single one without computing any."""
    return indexes[0] if len(indexes) == 1 else min(indexes, key=distance)


def _is_unseen(text: _Lines, *, since: _Lines, until: _Lines) -> bool:
    """Return True if words were added between two older texts, and `text` shows none of them."""
    return bool(_new_words(since.counts, until.counts)) and not _shows(text, since=since.counts, until=until.counts)


def _shows(text: _Lines, *, since: Counter[str], until: Counter[str]) -> bool:
    """Return True if `text` has something that was added between two older texts.

    That is one added line of at least four words, or more than half of the added words. Short lines alone prove
    nothing: a person and an agent may both write "- tea".
    """
    added, more = until - since, text.counts - since
    if any(sum(word.isalnum() for word in _WORD.findall(line)) >= _DISTINCTIVE_WORDS for line in added & more):
        return True
    words = _new_words(since, until)
    return 2 * (words & _new_words(since, text.counts)).total() > words.total()


def _new_words(since: Counter[str], until: Counter[str]) -> Counter[tuple[str, str]]:
    """Return the word pairs that were added between two texts."""
    return _inner_pairs(until - since) - _inner_pairs(since - until)


def _inner_pairs(lines: Counter[str]) -> Counter[tuple[str, str]]:
    """Return the word pairs inside lines, and words that are a line of their own.

    Pairs of two signs, and those with the beginning or end of a line, are left out: every list has them.
    """
    pairs = _pairs(lines)
    alone = Counter({(line.strip(), ""): count for line, count in lines.items() if line.strip().isalnum()})
    inner = {pair: count for pair, count in pairs.items() if all(pair) and any(map(str.isalnum, pair))}
    return Counter(inner) + alone


def _distance(old: _Lines, new: _Lines) -> int:
    """Return `edit_distance` of two texts that are split into lines."""
    removed, added = _pairs(old.beyond(new)), _pairs(new.beyond(old))
    order = (old.neighbours - new.neighbours).total() + (new.neighbours - old.neighbours).total()
    return (removed - added).total() + (added - removed).total() + order


def _pairs(lines: Counter[str]) -> Counter[tuple[str, str]]:
    """Return the pairs of neighbouring words; the beginning and the end of each line count as words."""
    pairs: Counter[tuple[str, str]] = Counter()
    for line, count in lines.items():
        for pair in pairwise(("", *_WORD.findall(line), "")):
            pairs[pair] += count
    return pairs
