"""The text that a person's save was made from: the base against which it is merged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie.sync.ancestor import Candidate, cost, parent

if TYPE_CHECKING:
    from reverie.sync.values import Case, Known, Rules, Version

__all__ = ["is_earlier", "is_unrecorded", "origin"]


def is_unrecorded(case: Case, text: str) -> bool:
    """Whether the file has a text that the store wrote after what is known: our own write, before it was recorded."""
    known = case.known
    if known is None or known.operation is None:
        return False
    wrote = {version.operation > known.operation for version in case.versions if version.text == text}
    return wrote == {True}


def is_earlier(case: Case, text: str) -> bool:
    """Whether the file has exactly an earlier text of its document, and not the one that the disk last showed."""
    known = case.known
    if known is None or case.held is None or text == case.held.text:
        return False
    last = _last(case, known)
    return last is not None and text != last.text and any(each.text == text for each in _candidates(case, known))


def origin(case: Case, text: str, *, saved: str, meant: bool, now_ms: int, rules: Rules) -> Version | None:
    """The text that `text` was made from: the earlier one that best explains it; None if that is not known.

    `saved` is the SHA-256 of the file. One that is saved again after it was merged was made from what the disk last
    showed. So is exactly an earlier text of the document, unless that was replaced so lately that its editor may not
    have seen what replaced it; but if the save is `meant`, everything was seen. Exactly an earlier save that was merged
    comes from a buffer that has stayed open.
    """
    known = case.known
    last = _last(case, known) if known is not None else None
    if known is None or last is None:
        return None
    if saved == known.merged and _is_again(known, now_ms, rules):
        return last
    versions = _candidates(case, known)[: rules.versions_max]
    lately = [_is_lately(known, version, case, now_ms, rules) for version in versions]
    same = [at for at, version in enumerate(versions) if version.text == text]
    if same:
        stale = not meant and (lately[same[0]] or versions[same[0]] in known.saves)
        return versions[same[0]] if stale else last
    if meant:
        lately = [False] * len(versions)
    best = versions[parent(text, [Candidate(each.text, late) for each, late in zip(versions, lately, strict=True)])]
    return best if known.operation or _is_akin(best.text, text) else None


def _last(case: Case, known: Known) -> Version | None:
    """The text that the disk last showed for certain; without any, the first one that it may have shown."""
    if known.operation:
        return next((each for each in case.versions if each.operation == known.operation), None)
    return case.versions[0] if known.intended and case.versions else None


def _candidates(case: Case, known: Known) -> list[Version]:
    """The texts that were on the disk, or may have been, newest first."""
    if known.operation is None:
        return []
    versions = [each for each in case.versions if known.intended or each.operation <= known.operation]
    return sorted((*versions, *known.saves), key=lambda each: -each.operation)


def _is_lately(known: Known, version: Version, case: Case, now_ms: int, rules: Rules) -> bool:
    """Whether the store's words replaced this text on the disk a short while ago."""
    if known.intended and case.held is not None and version.operation < case.held.operation:
        return True
    return any(
        shown.operation is not None
        and now_ms - shown.at < rules.unseen_ms
        and (shown.operation > version.operation or (shown.operation == version.operation and version in known.saves))
        for shown in known.shown
    )


def _is_again(known: Known, now_ms: int, rules: Rules) -> bool:
    """Whether the merged text has been on the disk for so long that the same save is no echo of the first."""
    return all(now_ms - shown.at >= rules.again_ms for shown in known.shown[:1])


def _is_akin(old: str, new: str) -> bool:
    """Whether at least half of two texts is the same."""
    return 2 * cost(old, new) <= cost("", old) + cost("", new)
