"""Says how two statements stand to each other: the same, covered, extended, replaced, related or apart."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from reverie.words import denials, flat, split, subject_of

__all__ = ["Reading", "Relation", "overlap", "read", "relate", "resolves", "says_resolved"]

_FILLERS = frozenset(["a", "an", "the", "also", "always", "just", "please", "so", "very", "then"])
_COMPARING = frozenset(["over", "than", "instead", "before", "after", "rather", "to", "from"])
_RESOLVED = re.compile(
    r"\b(?:no longer|any ?more|resolved|obsolete|outdated|(?:is|was|been|now|got) fixed|fixed (?:in|by|now))\b",
    re.IGNORECASE,
)
_QUANTITY = re.compile(
    r"\b(?:last|since|until|as of) \(?\d{4}-\d{2}-\d{2}\b"
    r"|\b\d+(?:[.,]\d+)*(?:\s?(?:%|percent|[kmg]i?b|bytes?|ms|s|secs?|seconds?|min|mins?|minutes?|hours?|days?|weeks?|tokens?"
    r"|lines?|files?|tests?|times|workers?|threads?|retries|columns?|spaces))\b|\bv?\d+\.\d+(?:\.\d+)*\b",
    re.IGNORECASE,
)
_COVERED_SHARE_MIN = 0.5  # a short statement inside a long one counts as covered only when it stands together there
_SPREAD_MAX = 2
_RESOLVED_SHARE = 0.6


class Relation(Enum):
    """What a new statement is to an old one."""

    SAME = "same"  # the same words
    COVERED = "covered"  # the old one says all of the new one
    EXTENDS = "extends"  # the new one says all of the old one, and more
    REPLACES = "replaces"  # about the same thing, with another value or the opposite
    APART = "apart"  # anything else; `overlap` says how near


@dataclass(frozen=True, slots=True)
class Reading:
    """One statement, read once: everything that comparing needs."""

    text: str
    flat: str
    sequence: tuple[str, ...]  # every word but fillers
    words: frozenset[str]  # words that carry meaning
    distinctive: frozenset[str]  # of these, the ones that name one thing
    affirms: bool
    subject: tuple[str, str] | None


def read(text: str) -> Reading:
    """The reading of a statement."""
    words = split(text)
    return Reading(
        text=text,
        flat=flat(text),
        sequence=_trimmed([word for word in words.sequence if word not in _FILLERS]),
        words=frozenset(words.content),
        distinctive=words.distinctive - _FILLERS,
        affirms=words.affirms,
        subject=subject_of(text),
    )


def relate(new: Reading, old: Reading, *, keyed: bool) -> Relation:
    """What `new` is to `old`. `keyed` lets `Subject: value` lines replace each other (facts and preferences)."""
    if new.flat == old.flat or new.sequence == old.sequence:
        return Relation.SAME
    if _within(new, old):
        return Relation.COVERED
    if _within(old, new):
        return Relation.EXTENDS
    if keyed and new.subject and old.subject and new.subject[0] == old.subject[0]:
        return Relation.REPLACES
    return Relation.REPLACES if _contradicts(new, old) else Relation.APART


def overlap(one: Reading, other: Reading) -> float:
    """The share of meaning words that two statements have in common, 0 to 1 (Jaccard)."""
    common = len(one.words & other.words)
    return common / (len(one.words) + len(other.words) - common) if common else 0.0


def says_resolved(reading: Reading) -> bool:
    """Return whether a statement says of something that it is over."""
    return _RESOLVED.search(reading.text) is not None


def resolves(new: Reading, old: Reading) -> bool:
    """Whether `new` says that what `old` warns of is over."""
    if len(old.words) < 3 or not says_resolved(new) or says_resolved(old):
        return False
    return len(new.words & old.words) >= _RESOLVED_SHARE * len(old.words)


def _within(part: Reading, whole: Reading) -> bool:
    """Whether the words of `part` stand in `whole`, in order, not denied, and near each other in a much longer one."""
    size = len(part.sequence)
    if size < 2 or size > len(whole.sequence) or not part.words <= whole.words:
        return False
    reach = len(whole.sequence) if size >= _COVERED_SHARE_MIN * len(whole.sequence) else _SPREAD_MAX * size
    denied = denials(part.sequence)
    first = part.sequence[0]
    for start, word in enumerate(whole.sequence):
        if word == first:
            end = _in_order(part.sequence, whole.sequence, start, start + reach)
            if end is not None and denials(whole.sequence[_before(whole, start) : end]) == denied:
                return True
    return False


def _before(whole: Reading, start: int) -> int:
    """Where to begin looking for a denial of what stands at `start`: two words earlier, in the same clause."""
    begin = start
    while begin > 0 and start - begin < 2 and whole.sequence[begin - 1] != ";":
        begin -= 1
    return begin


def _trimmed(sequence: list[str]) -> tuple[str, ...]:
    while sequence and sequence[-1] == ";":
        sequence.pop()
    while sequence and sequence[0] == ";":
        del sequence[0]
    return tuple(sequence)


def _in_order(part: tuple[str, ...], whole: tuple[str, ...], start: int, stop: int) -> int | None:
    """Where the words of `part` end when they stand in `whole[start:stop]` in their order."""
    place = start
    for word in part:
        try:
            place = whole.index(word, place, stop) + 1
        except ValueError:
            return None
    return place


def _contradicts(new: Reading, old: Reading) -> bool:
    """The same sentence denied, turned round, or with another quantity."""
    if len(new.words) < 2:
        return False
    if new.words == old.words:
        return new.affirms != old.affirms or not _COMPARING.isdisjoint(new.sequence)
    return new.affirms == old.affirms and len(new.words) >= 3 and _same_but_quantity(new, old)


def _same_but_quantity(new: Reading, old: Reading) -> bool:
    one, ones = _QUANTITY.subn("\0", new.flat)
    other, others = _QUANTITY.subn("\0", old.flat)
    return ones > 0 and ones == others and one == other
