"""Statements compared by their words: same, covered, extended, replaced, contradicted or unrelated; and merged.

Each rule is cautious in one direction: what is called SAME or COVERED may be dropped, so in doubt two statements are
UNRELATED, and `overlap` says how similar they are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from reverie.lazy_regex import lazy_regex
from reverie.models import MemoryType
from reverie.text_caches import text_cache
from reverie.words import analyze, count_negations, normalize, strip_source, subject_of

MERGED_CHARS_MAX = 480  # of a merged statement; about 80 words, more than anybody reads as one bullet
# Words that change nothing: "always run the tests" and "please run the tests" are the same statement.
_FILLERS = frozenset("a an the also always just please so very then each every".split())  # noqa: SIM905
# "From now on use tabs" is about tabs, and contradicted by "never use tabs". It stays in the sequence, of which the
# hashes of forgotten statements are made.
_WHEN = frozenset({"now"})
# With one of these, order is meaning: "tabs over spaces" and "spaces over tabs" have the same words.
_ORDERED = frozenset({"over", "than", "instead", "rather", "to", "from"})
_NAMES_CHOICE = frozenset("agent not instead over prefer rather than user want".split())  # noqa: SIM905
# "Use pnpm, not npm": what is wanted, and what it is wanted instead of.
_NOT = lazy_regex(r"[,;]? (?:(?:and|but) )?(?:not|instead of|rather than|over) (?=[\w`'\"])", re.IGNORECASE)
_CLAUSE_END = lazy_regex(r"[,;:.!?](?:\s|$)|[\n”]")
_QUOTED = lazy_regex(r"“([^”]{2,})”")
# A date, a number with a unit, or a version. "The build takes 4 minutes" and "... 9 minutes" differ in nothing else, so
# the later one replaces the earlier. A bare number is no quantity: "port 6379" and "port 6380" may both be right.
_QUANTITY = lazy_regex(
    r"\b(?:last|since|until|as of) \(?\d{4}-\d{2}-\d{2}\b"
    r"|\b\d+(?:[.,]\d+)*(?:\s?(?:%|percent|[kmg]i?b|bytes?|ms|s|secs?|seconds?|min|mins?|minutes?|hours?|days?|weeks?|tokens?"
    r"|lines?|files?|tests?|times|workers?|threads?|retries|columns?|spaces))\b|\bv?\d+\.\d+(?:\.\d+)*\b",
    re.IGNORECASE,
)
_QUANTITY_WORDS_MIN = 3
# A part at least this long (share of the longer statement's words) may be spread over all of it; a shorter one over
# twice its own length. "Deploys need a tag" is covered by "Deploys of the api need a signed tag", and not by a long
# sentence with "deploys" at its beginning and "tag" at its end.
_COVERED_SHARE_MIN = 0.5
_SPREAD_MAX = 2
_GENERIC_WORDS_MAX = 5  # words that carry meaning; a statement with more says something particular
# Never generic are a short mistake (it still prevents a failure) and a short preference (it is what a person wants).
_MAY_BE_GENERIC = frozenset({MemoryType.SKILL, MemoryType.FACT, MemoryType.PROCEDURE, MemoryType.OBSERVATION})
_ENDS = " .!;,:"  # punctuation at the end of a statement, which `normalize` drops


class Relation(Enum):
    """The relation of a new statement to an old one."""

    SAME = "same"  # the same words
    COVERED = "covered"  # the old one says everything that the new one says
    EXTENDS = "extends"  # the new one says everything that the old one says, and more
    REPLACES = "replaces"  # another value of the same thing
    CONTRADICTS = "contradicts"  # the opposite
    UNRELATED = "unrelated"  # anything else; `overlap` says how similar


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement, split into words once: everything that a comparison needs."""

    text: str
    normalized: str  # case folded, white space joined, closing punctuation dropped
    sequence: tuple[str, ...]  # every word but fillers; ";" where a clause ends
    words: frozenset[str]  # words that carry meaning
    said: frozenset[str]  # those without the file or the day behind it, where another says the opposite
    is_ordered: bool  # True where the order of these words is meaning
    distinctive: frozenset[str]  # those that name one thing: numbers, identifiers, paths, names
    affirms: bool  # False where it denies
    subject: tuple[str, str] | None  # ("language", "English") of "Language: English"
    wanted: frozenset[str]  # {"pnpm"} of "use pnpm, not npm"; without a choice its words
    rejected: frozenset[str]  # {"npm"} of it
    quotes: tuple[str, ...]  # what stands in “…”


# The same memories meet the candidates of every session: some 8,000 of them.
@text_cache(bytes_max=16_000_000, entry_bytes=1_300, char_bytes=12)
def parse_statement(text: str) -> Statement:
    """Return what comparisons need of a statement: words, distinctive words, subject, affirmed or denied."""
    words = analyze(text)
    sequence = [word for word in words.sequence if word not in _FILLERS]
    while sequence and sequence[-1] == ";":
        sequence.pop()
    bare = strip_source(text)
    spoken = words if bare == text else analyze(bare)
    said = frozenset(spoken.content) - _WHEN
    wanted, rejected = _sides(bare, said, affirms=words.affirms)
    return Statement(
        text=text,
        normalized=normalize(text),
        sequence=tuple(sequence),
        words=frozenset(words.content) - _FILLERS - _WHEN,
        said=said - _FILLERS,
        is_ordered=not _ORDERED.isdisjoint(spoken.sequence),
        distinctive=words.distinctive - _FILLERS,
        affirms=words.affirms,
        subject=subject_of(text),
        wanted=wanted,
        rejected=rejected,
        quotes=tuple(_QUOTED.findall(text)) if "“" in text else (),
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
    if _contradicts(new, old):
        return Relation.CONTRADICTS
    return Relation.REPLACES if _same_but_quantity(new, old) else Relation.UNRELATED


def overlap(one: Statement, other: Statement) -> float:
    """Return the share of meaningful words that two statements have in common, 0 to 1 (Jaccard index)."""
    common = len(one.words & other.words)
    return common / (len(one.words) + len(other.words) - common) if common else 0.0


def _within(part: Statement, whole: Statement) -> bool:
    """Return True if `whole` has the words of `part`, in order, near each other, and with as many denials.

    Example: "push to main" is not within "never push to main", since that stretch has one denial more. A part that
    was merged into the whole, between its semicolons, is always within it.
    """
    size = len(part.sequence)
    if size > len(whole.sequence) or not part.words <= whole.words:
        return False
    if ";" in whole.normalized and f"; {part.normalized}; " in f"; {whole.normalized}; ":
        return True
    if size < 2:
        return False
    reach = len(whole.sequence) if size >= _COVERED_SHARE_MIN * len(whole.sequence) else _SPREAD_MAX * size
    denied = count_negations(part.sequence)
    for start, word in enumerate(whole.sequence):
        if word == part.sequence[0]:
            end = _end_in_order(part.sequence, whole.sequence, start, start + reach)
            if end is not None and count_negations(whole.sequence[_before(whole, start) : end]) == denied:
                return True
    return False


def _before(whole: Statement, start: int) -> int:
    """Return the index where a denial of the word at `start` may begin: up to two words before, in its clause."""
    begin = start
    while begin > 0 and start - begin < 2 and whole.sequence[begin - 1] != ";":
        begin -= 1
    return begin


def _end_in_order(part: tuple[str, ...], whole: tuple[str, ...], start: int, stop: int) -> int | None:
    """Return the end of the words of `part` in `whole[start:stop]`, in their order; None where they are not there."""
    end = start
    for word in part:
        try:
            end = whole.index(word, end, stop) + 1
        except ValueError:
            return None
    return end


def _contradicts(new: Statement, old: Statement) -> bool:
    """Return True for the opposite: denied, turned round, another choice, or another answer to one question."""
    if new.said == old.said and len(new.said) > 1:
        turned = new.is_ordered or ("before" in new.sequence) != ("before" in old.sequence)
        if turned or new.affirms != old.affirms:
            return True
    return bool(new.words & old.words) and (_answers_otherwise(new, old) or _excludes(new, old) or _excludes(old, new))


def _excludes(choice: Statement, other: Statement) -> bool:
    """Return True if `other` wants what `choice` rejects: "use pnpm, not npm" excludes "always use npm".

    Beside the rejected words, `other` has only words that are wanted too: "run the tests with unittest" is excluded by
    "run the tests with pytest, not unittest", "npm hosts our package" by neither.
    """
    wanted = choice.wanted - choice.rejected
    is_wanted = bool(choice.rejected) and choice.rejected <= other.wanted
    return is_wanted and bool(wanted) and other.wanted - choice.rejected <= wanted


def _sides(text: str, words: frozenset[str], *, affirms: bool) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words of what a statement wants, and of what it rejects in favour of it; nothing for a denial."""
    sides = _NOT.split(text, maxsplit=1)
    if len(sides) == 1:
        return (words - _NAMES_CHOICE if affirms else frozenset()), frozenset()
    wanted = analyze(sides[0])
    rejected = frozenset(analyze(_CLAUSE_END.split(sides[1], maxsplit=1)[0]).content) - _NAMES_CHOICE
    return (frozenset(wanted.content) - _NAMES_CHOICE if wanted.affirms else frozenset()), rejected


def _answers_otherwise(new: Statement, old: Statement) -> bool:
    """Return True for two choices with the same quoted question and another quoted answer."""
    is_choice = len(new.quotes) > 1 and len(old.quotes) > 1
    return is_choice and new.quotes[0] == old.quotes[0] and new.quotes[-1] != old.quotes[-1]


def _same_but_quantity(new: Statement, old: Statement) -> bool:
    if len(new.words) < _QUANTITY_WORDS_MIN or new.affirms != old.affirms:
        return False
    one, ones = _without_quantities(new.normalized)
    other, others = _without_quantities(old.normalized)
    return ones > 0 and ones == others and one == other


# A statement is compared with many others, and a dream compares each several times.
@text_cache(bytes_max=2_000_000, entry_bytes=250, char_bytes=2)
def _without_quantities(text: str) -> tuple[str, int]:
    """Return a text with every quantity replaced by a NUL, and their number."""
    return _QUANTITY.subn("\0", text)


def is_generic(statement: Statement, scope: str) -> bool:
    """Return True if a statement of a scope is short and names nothing: no number, path, identifier, name or label.

    Example: "write clean code" is generic, "the API uses port 8080" is not.
    """
    if scope.partition("@")[0] not in _MAY_BE_GENERIC or ": " in statement.text or statement.distinctive:
        return False
    names = any(word[:1].isupper() or "`" in word for word in statement.text.split()[1:])
    return not names and len(statement.words) <= _GENERIC_WORDS_MAX


def merged(old: Statement, new: Statement) -> Statement | None:
    """Return one statement with the content of both, `old` itself if it has it; None if that would be too long."""
    if relate(new, old, keyed=False) in {Relation.SAME, Relation.COVERED}:
        return old
    if len(new.sequence) < 2 and new.words <= old.words:  # "run the tests; run" says no more than "run the tests"
        return old
    text = f"{old.text.rstrip(_ENDS)}; {new.text.strip().rstrip(_ENDS)}"
    return parse_statement(text) if len(text) <= MERGED_CHARS_MAX and "\n" not in text else None
