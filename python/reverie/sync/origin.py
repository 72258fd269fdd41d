"""The text that a person's save was made from: the base against which it is merged."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reverie.sync.ancestor import Candidate, parent
from reverie.sync.values import Saved, Version

if TYPE_CHECKING:
    from reverie.sync.values import Case, Known, Rules

__all__ = ["is_earlier", "is_unrecorded", "origin"]


def is_unrecorded(case: Case, text: str) -> bool:
    """Whether the file has a text that the store wrote after what is known: our own write, before it was recorded."""
    known = case.known
    if known is None:  # a crash may have forgotten even that there is a file
        return case.held is not None and any(each.text == text and not each.former for each in case.versions)
    if known.operation is None:
        return False
    same = [version for version in case.versions if version.text == text and (known.operation or not version.former)]
    return bool(same) and all(version.operation > known.operation for version in same)


def is_earlier(case: Case, text: str) -> bool:
    """Whether the file has exactly an earlier text of its document, and not one that its editor may just have saved."""
    known = case.known
    if known is None or case.held is None or text == case.held.text:
        return False
    last = _last(case, known)
    if last is None or text == last.text or (known.saved is not None and text == known.saved.text):
        return False
    return any(each.text == text for each in case.versions)


def origin(case: Case, text: str, *, saved: str, meant: bool, now_ms: int, rules: Rules) -> Version | None:
    """The text that `text` was made from: the earlier one that best explains it; None if that is not known.

    `saved` is the SHA-256 of the file. A person goes on from what they last saved, or from what the disk showed since.
    A file that is `meant`, or that is saved again after it was merged, was made from what the disk last showed. So is
    exactly an earlier text, unless that was replaced so lately that its editor may not have seen what replaced it.
    Exactly the last save, which was merged, comes from a buffer that has stayed open. Where there was no file until
    lately, a text that shows nothing of the document was made from nothing. What was saved into a file that had just
    been replaced was made from what that file had shown, whatever came after it. A text from before the document was
    deleted and made anew is not what both sides were made from, so nothing is known then.
    """
    known = case.known
    if known is None:
        return None
    if case.replaced_by is not None and case.disk not in {None, saved}:
        return _replaced(case, known, text, case.replaced_by)
    last, at = _last(case, known), now_ms if case.saved_at is None else case.saved_at
    if meant or (saved == known.merged and _is_again(known, at, rules)) or (known.operation and last is None):
        return last
    if case.reverted and any(each.text == text for each in case.versions):
        return last
    versions = _texts(case, known)[: rules.versions_max]
    young = known.saved is None and _is_young(known, at, rules)
    candidates = [_candidate(case, known, each, at, rules) for each in versions]
    for version, candidate in zip(versions, candidates, strict=True):
        if version.text == text and not candidate.before:
            return _unless_former(version, known) if candidate.lately or candidate.saved else last
    if case.reverted:
        candidates = [replace(each, lately=False) for each in candidates]
    elif young:
        candidates.append(Candidate("", lately=True))
    best = parent(text, candidates) if candidates else 0
    return _unless_former(versions[best], known) if best < len(versions) else None


def _unless_former(version: Version, known: Known) -> Version | None:
    """The version, unless what the store says was not made from it: that it holds less then is no deletion.

    What the disk still shows is another matter: who made the document anew knew of it.
    """
    return None if version.former and version.operation != known.operation else version


def _replaced(case: Case, known: Known, text: str, replaced_by: int) -> Version | None:
    """The text that a save into a replaced file was made from."""
    texts = [each for each in case.versions if each.operation < replaced_by]
    texts = sorted([*texts, *_merged(known)], key=lambda each: -each.operation)
    if not texts:
        return None
    best = texts[parent(text, [Candidate(each.text, lately=True) for each in texts])]
    believed = {*_lines(text), *_lines(texts[-1].text)}  # that a line went is believed if it had been there all along
    return Version(best.operation, "\n".join(line for line in best.text.split("\n") if line.rstrip("\r") in believed))


def _lines(text: str) -> set[str]:
    return {line.rstrip("\r") for line in text.split("\n")}


def _last(case: Case, known: Known) -> Version | None:
    """The text that the disk last showed for certain."""
    return next((each for each in case.versions if each.operation == known.operation), None)


def _texts(case: Case, known: Known) -> list[Version]:
    """The texts that were on the disk, or may have been, newest first, and among them the saves that were merged."""
    if known.operation is None:
        return []
    texts = [each for each in case.versions if known.intended or each.operation <= known.operation]
    return sorted([*texts, *_merged(known)], key=lambda each: -each.operation)


def _merged(known: Known) -> list[Version]:
    """The last saves that were merged, as people saved them: an editor that does not load the file again has them."""
    saves = (known.saved, *known.earlier)
    return [
        Version(each.operation, each.text)
        for each in saves
        if each is not None and each.operation is not None and each.text is not None
    ]


def _candidate(case: Case, known: Known, version: Version, at: int, rules: Rules) -> Candidate:
    """What a text is for a save at this time."""
    saved, operation = known.saved, version.operation
    own = before = False
    other = Saved(operation, version.text) in known.earlier
    if saved is not None and saved.operation is not None:
        own = operation == saved.operation and saved.text in {None, version.text}
        before = other or (operation < saved.operation and operation != known.operation)
    late = any(
        shown.operation is not None
        and at - shown.at < rules.unseen_ms
        and (shown.operation > operation or (shown.operation == operation and (own or other)))
        for shown in known.shown
    )
    if known.intended and case.held is not None and operation < case.held.operation:
        late = True
    return Candidate(version.text, lately=late, before=before, saved=own)


def _is_young(known: Known, at: int, rules: Rules) -> bool:
    """Whether there was no file until a short while before a time, or until the last write, which may have failed."""
    return not known.operation or (known.made_at is not None and at - known.made_at < rules.unseen_ms)


def _is_again(known: Known, at: int, rules: Rules) -> bool:
    """Whether the merged text had been on the disk for so long that the same save is no echo of the first."""
    return all(at - shown.at >= rules.again_ms for shown in known.shown[:1])
