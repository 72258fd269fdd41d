"""Statements compared by their words: same, covered, extended, replaced or unrelated; and two statements merged.

No model: the rules look at words that carry meaning, their order, denials, quantities and `Subject: value` lines. Each
is cautious in one direction: what is called COVERED or SAME may be dropped, so in doubt two statements are UNRELATED,
and `overlap` says how similar they are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from reverie.lazy_regex import lazy_regex
from reverie.models import MemoryType
from reverie.sentence_word_analysis import analyze, count_negations, normalize, subject_of
from reverie.text_caches import text_cache

__all__ = [
    "MERGED_CHARS_MAX",
    "Relation",
    "Statement",
    "is_generic",
    "merge_statements",
    "overlap",
    "parse_statement",
    "relate",
    "resolves",
    "says_resolved",
]

# Words that change nothing: "always run the tests" and "please run the tests" are the same statement.
_FILLERS = frozenset(["a", "an", "the", "also", "always", "just", "please", "so", "very", "then"])
_EQUAL = {"each": "every"}  # words that say the same
# "Before every commit, run the linter": said in the other order it is the same statement.
_OCCASIONS = frozenset(["before", "after", "when", "whenever", "if", "unless", "until", "for", "in", "on", "during"])
_COMMA = lazy_regex(r"^[^,;:.!?\n]{3,80}, (?=\w|`)[^,;:\n]+$")
# With one of these, order is meaning: "tabs over spaces" and "spaces over tabs" have the same words.
_COMPARING = frozenset(["over", "than", "instead", "before", "after", "rather", "to", "from"])
# "The login test is no longer flaky", "the leak was fixed in 2.1": something is over.
_RESOLVED = lazy_regex(
    r"\b(?:no longer|any ?more|resolved|obsolete|outdated|(?:is|was|been|now|got) fixed|fixed (?:in|by|now))\b",
    re.IGNORECASE,
)
# A date, a number with a unit, or a version. "The build takes 4 minutes" and "... 9 minutes" differ in nothing else, so
# the later one replaces the earlier. A bare number is no quantity: "port 6379" and "port 6380" may both be right.
_QUANTITY = lazy_regex(
    r"\b(?:last|since|until|as of) \(?\d{4}-\d{2}-\d{2}\b"
    r"|\b\d+(?:[.,]\d+)*(?:\s?(?:%|percent|[kmg]i?b|bytes?|ms|s|secs?|seconds?|min|mins?|minutes?|hours?|days?|weeks?|tokens?"
    r"|lines?|files?|tests?|times|workers?|threads?|retries|columns?|spaces))\b|\bv?\d+\.\d+(?:\.\d+)*\b",
    re.IGNORECASE,
)
# Thresholds set by hand, checked on the sentences of tests/unit/consolidate/test_statement_comparison.py.
_COVERED_SHARE_MIN = 0.5  # of the longer statement's words: a part at least this long may be spread over all of it
# The stretch, in times its own length, in which a shorter part must be found. "Deploys need a tag" is covered by
# "Deploys of the api need a signed tag", but not by a long sentence with "deploys" at its beginning and "tag" at its
# end.
_SPREAD_MAX = 2
_RESOLVED_SHARE = 0.6  # of a mistake's words that a statement must repeat in order to say that this mistake is over

MERGED_CHARS_MAX = 480  # characters of a merged statement; about 80 words, more than anybody reads as one bullet
_GENERIC_WORDS_MAX = 5  # words that carry meaning; a statement with more says something particular
_SEPARATOR = "; "
# Never generic are a short mistake (it still prevents a failure) and a short preference (it is what a person wants).
_MAY_BE_GENERIC = frozenset({MemoryType.SKILL, MemoryType.FACT, MemoryType.PROCEDURE, MemoryType.OBSERVATION})


class Relation(Enum):
    """The relation of a new statement to an old one."""

    SAME = "same"  # the same words
    COVERED = "covered"  # the old one says everything that the new one says
    EXTENDS = "extends"  # the new one says everything that the old one says, and more
    REPLACES = "replaces"  # about the same thing, with another value or the opposite
    UNRELATED = "unrelated"  # anything else; `overlap` says how similar


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement, split into words once: everything that a comparison needs."""

    text: str
    normalized: str  # case folded, white space joined, closing punctuation dropped
    sequence: tuple[str, ...]  # every word but fillers; ";" where a clause ends
    words: frozenset[str]  # words that carry meaning
    distinctive: frozenset[str]  # those that name one thing: numbers, identifiers, paths, names
    affirms: bool  # False where it denies
    subject: tuple[str, str] | None  # ("language", "English") of "Language: English"
    resolves: bool  # says of something that it is over


# The same memories meet the candidates of every session: some 8,000 of them.
@text_cache(bytes_max=16_000_000, entry_bytes=700, char_bytes=12)
def parse_statement(text: str) -> Statement:
    """Return what comparisons need of a statement: words, distinctive words, subject, affirmed or denied."""
    words = analyze(text)
    return Statement(
        text=text,
        normalized=normalize(text),
        sequence=_trimmed(_occasion_last(text, words.sequence)),
        words=frozenset(words.content),
        distinctive=words.distinctive - _FILLERS,
        affirms=words.affirms,
        subject=subject_of(text),
        resolves=_RESOLVED.search(text) is not None,
    )


def relate(new: Statement, old: Statement, *, keyed: bool) -> Relation:
    """Return the relation of `new` to `old`; with `keyed`, `Subject: value` lines replace each other.

    The order matters: "Language: English, always" extends "Language: English" and does not replace it.
    """
    if new.normalized == old.normalized or new.sequence == old.sequence:
        return Relation.SAME
    if _within(new, old):
        return Relation.COVERED
    if _within(old, new):
        return Relation.EXTENDS
    if keyed and new.subject and old.subject and new.subject[0] == old.subject[0]:
        return Relation.REPLACES
    return Relation.REPLACES if _contradicts(new, old) else Relation.UNRELATED


def overlap(one: Statement, other: Statement) -> float:
    """Return the share of meaningful words that two statements have in common, 0 to 1 (Jaccard index)."""
    common = len(one.words & other.words)
    return common / (len(one.words) + len(other.words) - common) if common else 0.0


def says_resolved(reading: Statement) -> bool:
    """Return True if a statement says that a problem is resolved, as in "X is no longer slow"."""
    return reading.resolves


def resolves(new: Statement, old: Statement) -> bool:
    """Return True if `new` says that the problem which `old` warns of is resolved.

    Example: "The login timeout test is no longer flaky on CI" resolves "The login timeout test is flaky on CI". A
    mistake of fewer than three words is resolved by nothing: too many sentences contain two words.
    """
    if len(old.words) < 3 or not says_resolved(new) or says_resolved(old):
        return False
    return len(new.words & old.words) >= _RESOLVED_SHARE * len(old.words)


def _within(part: Statement, whole: Statement) -> bool:
    """Return True if `whole` has the words of `part`, in order, near each other, and with as many denials.

    Example: "push to main" is not within "never push to main", since that stretch has one denial more.
    """
    size = len(part.sequence)
    if size < 2 or size > len(whole.sequence) or not part.words <= whole.words:
        return False
    reach = len(whole.sequence) if size >= _COVERED_SHARE_MIN * len(whole.sequence) else _SPREAD_MAX * size
    denied = count_negations(part.sequence)
    first = part.sequence[0]
    for start, word in enumerate(whole.sequence):
        if word == first:
            end = _in_order(part.sequence, whole.sequence, start, start + reach)
            if end is not None and count_negations(whole.sequence[_before(whole, start) : end]) == denied:
                return True
    return False


def _before(whole: Statement, start: int) -> int:
    """Return the index where a denial of the word at `start` may begin: up to two words before, in its clause."""
    begin = start
    while begin > 0 and start - begin < 2 and whole.sequence[begin - 1] != ";":
        begin -= 1
    return begin


def _occasion_last(text: str, sequence: tuple[str, ...]) -> list[str]:
    """Return every word but fillers; an occasion before a comma ("before every commit,") is moved to the end."""
    if sequence and sequence[0] in _OCCASIONS and _COMMA.match(text):
        first = len(analyze(text.split(",", 1)[0]).sequence)
        sequence = (*sequence[first:], *sequence[:first])
    return [_EQUAL.get(word, word) for word in sequence if word not in _FILLERS]


def _trimmed(sequence: list[str]) -> tuple[str, ...]:
    """Return the words without clause marks at either end."""
    while sequence and sequence[-1] == ";":
        sequence.pop()
    while sequence and sequence[0] == ";":
        del sequence[0]
    return tuple(sequence)


def _in_order(part: tuple[str, ...], whole: tuple[str, ...], start: int, stop: int) -> int | None:
    """Return the end of the words of `part` in `whole[start:stop]`, in their order; None where they are not there."""
    end = start
    for word in part:
        try:
            end = whole.index(word, end, stop) + 1
        except ValueError:
            return None
    return end


def _contradicts(new: Statement, old: Statement) -> bool:
    """Return True for the same sentence denied, turned round ("A over B"), or with another quantity."""
    if len(new.words) < 2:
        return False
    if new.words == old.words:
        return new.affirms != old.affirms or not _COMPARING.isdisjoint(new.sequence)
    return new.affirms == old.affirms and len(new.words) >= 3 and _same_but_quantity(new, old)


def _same_but_quantity(new: Statement, old: Statement) -> bool:
    """Return True if two statements have as many quantities, and differ in nothing else."""
    one, ones = _without_quantities(new.normalized)
    other, others = _without_quantities(old.normalized)
    return ones > 0 and ones == others and one == other


# A statement is compared with many others, and a dream compares each several times.
@text_cache(bytes_max=2_000_000, entry_bytes=250, char_bytes=2)
def _without_quantities(text: str) -> tuple[str, int]:
    """Return a text with every quantity replaced by a NUL, and their number."""
    return _QUANTITY.subn("\0", text)


def is_generic(reading: Statement, kind: MemoryType, scope: str) -> bool:
    """Return True if a statement is short and names nothing: no number, path, identifier, name or subject.

    Example: "write clean code" is generic, "the API uses port 8080" is not.
    """
    if kind not in _MAY_BE_GENERIC or scope == "fact:user" or reading.subject is not None or reading.distinctive:
        return False
    names = any(word[:1].isupper() or "`" in word for word in reading.text.split()[1:])
    return not names and len(reading.words) <= _GENERIC_WORDS_MAX


def merge_statements(old: Statement, new: Statement) -> Statement | None:
    """Return one statement with the content of both, `old` itself if it has it; None if that would be too long."""
    if relate(new, old, keyed=False) in {Relation.SAME, Relation.COVERED}:
        return old
    # `relate` never calls one word covered: of "run" and "run the tests" it cannot know that they are about the same.
    # Here they are to become one statement, and "run the tests; run" would say no more than "run the tests".
    if len(new.sequence) < 2 and new.words <= old.words:
        return old
    text = _SEPARATOR.join((old.text.rstrip().rstrip(".;"), new.text.strip().rstrip(".;")))
    return parse_statement(text) if len(text) <= MERGED_CHARS_MAX and "\n" not in text else None
