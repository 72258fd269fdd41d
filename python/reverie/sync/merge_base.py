"""Find the merge base of a saved file: the earlier text that the person's editor had loaded.

Git knows the base of a merge, because a commit names its parent. A saved file names nothing: an editor that was opened
before an agent wrote, and never reloaded, saves a text that lacks the agent's lines. Merged against the last agreed
text, each of those lines would look like a deletion by the person. So the base is guessed from the text itself, by the
rule of `unseen_lines`, among the texts that the disk has shown.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from reverie.documents.layout import type_of_blocks
from reverie.sync.plan import Save, Version, sha256
from reverie.sync.unseen_lines import Candidate, find_base, have_common_lines, without_unsure_lines

if TYPE_CHECKING:
    from reverie.sync.plan import Baseline, PathState, Rules


@dataclass(frozen=True, slots=True)
class MergeBase:
    """The text that a save was made from, None for no common ancestor; and the text that the disk showed last.

    `unsure` is an older text that the save may go on from as well: it is unknown. Lines of `version` that came
    since, and that the save lacks, are left out then, and a notice names them, except for those in `edited`: the person
    saved these, and the save has them in other words. `is_lost`: there is a base, and the store no longer has it.
    """

    version: Version | None
    last: Version | None = None
    unsure: Version | None = None
    edited: str = ""
    is_lost: bool = False


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
    """Return True if the file has an earlier version's text again, other than the one last on disk or last saved.

    It was restored then, as by `git checkout`: several such files at once are the trace of such a tool.
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
) -> MergeBase:
    """Return the merge base of a saved file.

    `text` is the redacted text of the file, `file_sha256` the SHA-256 of its raw bytes. The cases, in this order:

    | known about the save                                        | base                                            |
    |-------------------------------------------------------------|-------------------------------------------------|
    | the path has no baseline                                    | none                                            |
    | it went into a file that had just been replaced             | the best of the texts before that replacement   |
    | `deliberate`                                                | the text that the disk showed last              |
    | the text that the disk showed last is no longer stored      | none                                            |
    | the path never had a file, of memories                      | none                                            |
    | the merged bytes saved a second time                        | the text that the disk showed last              |
    | anything else                                               | `find_base` of the texts that were shown        |

    There is no base either if the text that was found is the empty one (the file was created from nothing while ours
    had just been written), or a version from before the document was deleted and created again.
    """
    baseline = state.baseline
    if baseline is None:
        return MergeBase(None)
    if state.replaced_by is not None and state.disk_sha256 not in {None, file_sha256}:
        return MergeBase(_base_of_late_write(state, baseline, text, state.replaced_by))
    last = _last_shown(state, baseline)
    # The age of our writes counts at the time of the save, not of the scan: the daemon may have been down for an hour.
    saved_at = now_ms if state.saved_at is None else state.saved_at
    if deliberate or (baseline.operation and last is None):
        return MergeBase(last, last, is_lost=last is None)
    is_unknown = not baseline.operation and not baseline.sha256 and baseline.saved is None
    if is_unknown and type_of_blocks(state.path) is not None:
        return MergeBase(None)  # a guess might take away what the writer never saw; both texts can be kept
    versions = _shown_texts(state, baseline)
    candidates = [_candidate(state, baseline, version, saved_at, rules) for version in versions]
    is_new = _is_new_file(baseline, saved_at, rules)
    is_ours = baseline.saved is None and (last is None or not have_common_lines(text, last.text))
    if is_ours or (is_new and (baseline.saved is None or baseline.saved.text is not None)):
        # Nobody has saved this file since sync created it, or its first save was merged a moment ago: the person may
        # have created it as well, without having seen ours. Then it derives from the empty text, and nothing that it
        # lacks was deleted.
        versions.append(Version(0, ""))
        candidates.append(Candidate("", replaced_recently=is_new))
    if not candidates:
        return MergeBase(None, last)
    base_match = find_base(text, candidates)
    # Where the merge is not on disk yet the same bytes are no second save: the file was moved before.
    if baseline.merged == file_sha256 != baseline.sha256 and _is_deliberate_repeat(baseline, saved_at, rules):
        # The person saw what the merge kept, and saved the same again: the lines go, and are named as left out.
        return MergeBase(last, last, versions[base_match.base])
    base = versions[base_match.base]
    oldest = versions[base_match.oldest] if base_match.oldest != base_match.base else None
    if oldest is not None:
        for at in base_match.buffers:
            oldest = replace(oldest, text=without_unsure_lines(oldest.text, versions[at].text))
    return MergeBase(_unless_former(base, baseline), last, oldest, "\n".join(base_match.edited))


def _unless_former(version: Version, baseline: Baseline) -> Version | None:
    """Return the version, or None for the empty text, or one from before the document was deleted and created again.

    Today's document does not derive from such a version, so what it has less of is no deletion. The text that the disk
    still shows is an exception: whoever created the document again knew of it.
    """
    is_former = version.former and version.operation != baseline.operation
    return None if is_former or not version.operation else version


def _base_of_late_write(state: PathState, baseline: Baseline, text: str, replaced_by: int) -> Version | None:
    """Return the merge base, or None, of a save that went into a file which the text of `replaced_by` had replaced.

    The editor had that file open, so it has seen none of what came later: every text from before the replacement is a
    candidate, and all of them count as replaced recently. A line that the save lacks is taken for a deletion only if
    the line was there all along, from the oldest of these texts on; the base is cut down to such lines. Example: the
    versions have the lines a b, then a b c, and the save has only a: b was deleted; c may be unseen, and stays.
    """
    texts = [version for version in state.versions if version.operation < replaced_by]
    if not texts:  # the file was moved meanwhile: what it showed before is the other path's
        return None
    texts = sorted([*texts, *_merged_saves(baseline)], key=lambda version: -version.operation)
    best = texts[find_base(text, [Candidate(version.text, replaced_recently=True) for version in texts]).base]
    believed = {*_stripped_lines(text), *_stripped_lines(texts[-1].text)}
    kept = (line for line in best.text.split("\n") if line.rstrip("\r") in believed)
    return Version(best.operation, "\n".join(kept))


def _stripped_lines(text: str) -> set[str]:
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
    """Return the versions after the baseline's operation that may have been on disk: writes that were under way.

    All others were never on disk: nobody has seen their lines, so a save that lacks these deletes nothing. `intended`
    has the SHA-256 of the write under way and of those before it that a save raced: such a text was at the path until
    the next write. The bytes are another text than the version's if the file has secrets; and where nothing is known of
    what the disk showed, any version may have been there.
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
    """Return a text as a merge-base candidate of a save made at `saved_at` (ms); a recently replaced one is likely.

    One that a person's save replaced is not: an editor that saves each second knows its save before. Example:
    "- Tea: gre", and a second later "- Tea: green"; made from the text before the first, both lines would be there. A
    save that was merged is an exception, because there the person's editor and the disk have different texts.
    """
    operation = version.operation
    is_merged = Save(operation, version.text) in (baseline.saved, *baseline.earlier)
    # The first text that came to disk after this one replaced it. The merge result of a save has the operation of the
    # save, and replaced it as well.
    later = [
        write
        for write in baseline.shown
        if write.operation is not None and (write.operation > operation or (is_merged and write.operation == operation))
    ]
    merged = {save.operation for save in _merged_saves(baseline)}
    recent = bool(later) and saved_at - later[-1].at < rules.unseen_ms
    if recent and later[-1].saved and later[-1].operation not in merged:
        recent = False
    if baseline.intended and state.document is not None and operation < state.document.operation:
        recent = True  # our newer text was about to be written, so it cannot have been seen for long
    return Candidate(version.text, replaced_recently=recent, is_stale_buffer=is_merged, by_person=version.by_person)


def _is_new_file(baseline: Baseline, saved_at: int, rules: Rules) -> bool:
    """Return True if sync created the file less than `unseen_ms` before a save, or may not have created it at all."""
    return not baseline.operation or (baseline.made_at is not None and saved_at - baseline.made_at < rules.unseen_ms)


def _is_deliberate_repeat(baseline: Baseline, saved_at: int, rules: Rules) -> bool:
    """Return True if the same bytes arrive at least `again_ms` after the merge: a second save, no double write."""
    return all(saved_at - write.at >= rules.again_ms for write in baseline.shown[:1])
