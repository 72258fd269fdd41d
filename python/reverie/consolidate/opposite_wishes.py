"""Wishes that exclude each other: "always use tabs" and, later, "use spaces, not tabs".

A wish is read as what it wants and what it rejects, each a sequence of words. Two wishes are opposed where one wants
what the other rejects, or where both want another of a few values of which only one can hold (tabs or spaces, npm or
pnpm), in the same words otherwise. Anything less is at most possible, and waits for a person: a wish for one place
("in Makefiles") is an exception from a general one and opposes nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from itertools import chain
from typing import TYPE_CHECKING, Final

from reverie.lazy_regex import lazy_regex
from reverie.sentence_word_analysis import normalize, singular
from reverie.text_caches import text_cache

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Opposition", "Wish", "opposition", "parse_wish"]

Words = tuple[str, ...]

_CHARS_MAX: Final = 240  # of a wish; a longer text is no single rule
_WORD: Final = lazy_regex(r"-{0,2}\w+(?:['./:_+\-@\\]+\w+)*")
_FILLERS: Final = frozenset(
    "a an the also always just only please so very then ever again now own code your our".split()  # noqa: SIM905
)
# Behind these a wish is explained; the reason is no part of what is wanted.
_REASON: Final = lazy_regex(
    r"[\s,(]+(?:because|since|so that|otherwise|as (?:it|they|we|the|this|that|our)|to (?:avoid|make|prevent))\b.*$"
)
_FRAME: Final = lazy_regex(
    r"^(?:(?:wants? agents|the user wants(?: agents)?|agents should|you should|we should|we|i|please"
    r"|from now on|going forward|in (?:the )?future)[\s,:]+)+"
)
_QUOTED: Final = lazy_regex(r"^the user wants: “(?P<what>.+)”$")
_CORRECTED: Final = lazy_regex(r":? the user had to correct this\b.*$")
_DAY: Final = lazy_regex(r"\s*\(\d{4}-\d{2}-\d{2}\)")
# Where another wish begins in the same sentence: "don't use tabs, use spaces".
_CLAUSE: Final = lazy_regex(
    r"\s*[;,.\u2013\u2014]\s+(?:and |but |instead )*(?=(?:always|never|do not|don't|use|prefer|stop)\b)"
)
_NEVER: Final = lazy_regex(
    r"^(?:to )?(?:never(?: ever)?(?: to)?|do(?: not|n't)(?: ever)?|avoid|stop|no longer|dislikes)\s+"
)
_TO: Final = lazy_regex(r"^(?:to )?(?:always )?(?:to )?")
_PREFERS: Final = lazy_regex(r"^prefers?\s+(?P<to>to )?")
# "X, not Y", "X instead of Y", "X over Y": behind it is what is rejected.
_OTHER: Final = lazy_regex(
    r"(?:,|\s)\s*(?:(?:and |but )?(?:not|never)(?! (?:only|just|merely|necessarily|always|all|every)\b)"
    r"|instead of|rather than|in place of)\s+"
)
_OVER: Final = lazy_regex(r"\s+(?:over|to|instead of|rather than)\s+")  # of "prefers X over Y"
_PREPOSITIONS: Final = frozenset(
    "for in on at with when if unless except during inside within before after while until by from as to into via".split()  # noqa: SIM905, E501
)
_VERBS: Final = {
    **dict.fromkeys(["utilize", "utilise", "employ", "choose", "pick", "using", "prefer", "take"], "use"),
    **dict.fromkeys(["reply", "respond", "replying", "responding", "answering", "talk", "speak"], "answer"),
    **dict.fromkeys(["pushing"], "push"),
    **dict.fromkeys(["adding"], "add"),
    **dict.fromkeys(["writing"], "write"),
}
_ADDS: Final = lazy_regex(
    r"\b(?:also|too|as well|both|either|additionally|besides|or)\b"
)  # of two values, none excludes
# Words of a rejected value, and of `use X` before "for Y"; with more it is no value but a reason. "Write comments in
# English, not in plain old German" rejects four words; "use pnpm, not whatever npm version came first" only wants pnpm.
_VALUE_WORDS_MAX: Final = 4
_NUMBER: Final = lazy_regex(r"^(?:\d+|two|three|four|eight)$")
_HEAD_WORDS_MIN: Final = 2  # that a wish must share with the beginning of a longer one to be possibly opposed


class Opposition(Enum):
    """How surely a newer wish excludes an older one."""

    CERTAIN = "certain"
    POSSIBLE = "possible"


@dataclass(frozen=True, slots=True)
class _Values:
    """Values that exclude each other, in classes of equal meaning; words in `beside` are ignored in comparisons."""

    classes: tuple[tuple[Words, ...], ...]
    beside: frozenset[str]


def _values(classes: str, beside: str) -> _Values:
    return _Values(
        tuple(tuple(tuple(value.split()) for value in one.split("=")) for one in classes.split("|")),
        frozenset(beside.split()),
    )


_LANGUAGES_TEXT: Final = (
    "english german french spanish italian portuguese dutch polish russian ukrainian turkish swedish chinese"
    " japanese korean hindi arabic"
)
# Of each only one can be wanted at a time, in the same place.
_EXCLUSIVE: Final = (
    _values("tab|space", "use indent with for indentation"),
    _values("single quote=single-quote|double quote=double-quote", "use for string around with"),
    _values("npm|yarn|pnpm|bun", "use as package manager"),
    _values("pip|poetry|uv|pipenv|pdm|conda", "use as package manager"),
    _values("pytest|unittest|nose", "use with"),
    _values("jest|vitest|mocha|jasmine", "use with"),
    _values("british|american", "use english spelling"),
    _values("|".join(f"in {name}=use {name}" for name in _LANGUAGES_TEXT.split()), "me to"),
    _values("in markdown=use markdown|in plain text=use plain text|in html=use html", "me to"),
    _values("camelcase|snake_case|pascalcase|kebab-case", "use for in"),
    _values("lf|crlf", "use line ending"),
    _values("metric|imperial", "use unit"),
    _values("celsius|fahrenheit", "use degree in"),
    _values("24-hour|12-hour", "use clock time format"),
    _values("squash merge|rebase merge|merge commit|regular merge", "use for"),
    _values("short=brief=concise=terse|long=verbose=detailed=lengthy", "use give write keep make provide be me"),
    _values("formal|informal=casual", "use be tone language in"),
    _values("imperative|past tense|present tense", "use mood write in"),
    _values("dark|light", "use mode theme"),
    _values("include|omit=exclude", ""),
    _values("enable|disable", ""),
)


def _by_first_word() -> dict[str, list[tuple[int, int, Words]]]:
    """Return every exclusive value by its first word: its set, its class and its words."""
    by_word: dict[str, list[tuple[int, int, Words]]] = {}
    for kind, values in enumerate(_EXCLUSIVE):
        for number, one in enumerate(values.classes):
            for value in one:
                by_word.setdefault(value[0], []).append((kind, number, value))
    return by_word


_BY_FIRST_WORD: Final = _by_first_word()


@dataclass(frozen=True, slots=True)
class Wish:
    """A wish by its words: what it wants, what it rejects, and the values it wants of those that exclude each other.

    `values` are the wanted ones, each with its set of exclusive values, its class, and the words around it. `places`
    are frame and value of "use X for Y". `clauses` is how many rules the sentence has, `firm` is False of a dislike.
    """

    wants: frozenset[Words]
    rejects: frozenset[Words]
    values: frozenset[tuple[int, int, Words]]
    places: frozenset[tuple[Words, Words]]
    clauses: int
    firm: bool

    def index_keys(self) -> Iterator[tuple[str, ...]]:
        """Yield the keys of a wish in an index of wishes; two opposed wishes have at least one key in common."""
        for words in chain(self.wants, self.rejects):
            yield ("words", *words[:_HEAD_WORDS_MIN])
        for kind, _, _ in self.values:
            yield ("value", str(kind))
        for frame, _ in self.places:
            yield ("place", *frame)


@text_cache(bytes_max=16_000_000, entry_bytes=1700, char_bytes=6)
def parse_wish(text: str, project: str = "") -> Wish | None:
    """Return a sentence read as a wish; None where it is none, or too long to be one rule.

    With the `project` that it belongs to, the words that say so are no part of it: "use tabs in the project harbour"
    and "use tabs" want the same, one of them in harbour.
    """
    plain = _DAY.sub("", normalize(text).replace("\u2019", "'"))
    if project:
        plain = _without_project(plain, project)
    quoted = _QUOTED.match(plain)
    plain = _CORRECTED.sub("", quoted["what"].rstrip(".!") if quoted else plain)
    if len(plain) > _CHARS_MAX or "?" in plain:
        return None
    plain = _REASON.sub("", _FRAME.sub("", plain))
    wants: set[Words] = set()
    rejects: set[Words] = set()
    clauses = [clause for clause in _CLAUSE.split(plain) if clause.strip()]
    for clause in clauses:
        wanted, rejected = _read(_FRAME.sub("", clause.strip()))
        wants |= wanted
        rejects |= rejected
    if not wants and not rejects:
        return None
    # "Never use tabs, use spaces" is one rule.
    one = len({words[0] for words in wants | rejects}) == 1
    additive = _ADDS.search(plain) is not None
    wanted = {_value_words(value) for words in wants for value in _values_in(words)}
    return Wish(
        wants=frozenset(wants | wanted),
        # "4 spaces, not 2" rejects no spaces.
        rejects=frozenset(
            rejects | ({_value_words(value) for words in rejects for value in _values_in(words)} - wanted)
        ),
        values=frozenset() if additive else frozenset(value for words in wants for value in _values_in(words)),
        places=frozenset() if additive else frozenset(place for words in wants for place in _place(words)),
        clauses=1 if one else len(clauses),
        firm="dislikes" not in plain,
    )


def _without_project(plain: str, project: str) -> str:
    """Return a wish of a project without the phrase that names it: "in the project harbour", "in this repo"."""
    if " project" not in plain and " repo" not in plain and " code" not in plain:
        return plain
    name = re.escape(normalize(project))
    return re.sub(
        rf"[\s,]*\b(?:in|for|of|inside|within) (?:(?:the|our) (?:project|repo(?:sitory)?|code ?base) {name}"
        r"|this (?:project|repo(?:sitory)?|code ?base))(?![\w-])(?:,(?= \w))?",
        "",
        plain,
    ).strip()


def opposition(new: Wish, old: Wish) -> Opposition | None:
    """Return how certainly the wish `new` contradicts `old`: CERTAIN or POSSIBLE; None where both may hold."""
    if new.rejects & old.wants or new.wants & old.rejects or _other_value(new, old):
        sure = new.firm and old.firm and old.clauses == 1
        return Opposition.CERTAIN if sure else Opposition.POSSIBLE
    if any(_begins(rejected, wanted) for rejected in new.rejects for wanted in old.wants):
        return Opposition.POSSIBLE
    if any(frame == other and value != said for frame, value in new.places for other, said in old.places):
        return Opposition.POSSIBLE
    return None


def _read(clause: str) -> tuple[set[Words], set[Words]]:
    """Return the phrases that one clause wants, and those that it rejects, each as a tuple of words."""
    denied = _NEVER.match(clause)
    if denied is not None:
        words = _words(clause[denied.end() :])
        thing = clause.startswith("dislikes") or (denied[0].strip() in {"avoid", "to avoid"} and len(words) == 1)
        words = ("use", *words) if thing else words
        return set(), {words} if len(words) > 1 else set()
    prefers = _PREFERS.match(clause)
    if prefers is not None:
        clause = clause[prefers.end() :] if prefers["to"] else f"use {clause[prefers.end() :]}"
    else:
        clause = _TO.sub("", clause)
    parts = _OTHER.split(clause, maxsplit=1)
    if len(parts) == 1 and prefers is not None:
        parts = _OVER.split(clause, maxsplit=1)
    wanted = _words(parts[0])
    if len(wanted) < 2:
        return set(), set()
    if len(parts) == 1:
        return {wanted}, set()
    other, place = _other_and_place(_words(parts[1]))
    full = (*wanted, *place)
    return {full}, {words for words in _instead(full, wanted, other, place) if words != full}


def _other_and_place(words: Words) -> tuple[Words, Words]:
    """Split rejected words into the value, and the phrase from its first preposition on, which belongs to the wish."""
    at = next((number for number, word in enumerate(words) if number and word in _PREPOSITIONS), len(words))
    return words[:at], words[at:]


def _instead(full: Words, wanted: Words, other: Words, place: Words) -> Iterator[Words]:
    """Yield readings of the rejected wish: the wanted one with the rejected value instead of one of its phrases.

    "write comments in English, not German" may be about the comments or about English: the other reading is no wish
    that anybody has.
    """
    if not 0 < len(other) <= _VALUE_WORDS_MAX:
        return
    # "4 spaces, not 2"
    if len(other) == 1 and _NUMBER.match(other[0]) and len(wanted) > 2 and _NUMBER.match(wanted[1]):
        other = (*other, *wanted[2:3])
    # "squash commits, not merge them": another verb
    at = [number for number, word in enumerate(wanted) if number and word in _PREPOSITIONS]
    first, last = (at[0], at[-1]) if at else (len(wanted), 0)
    if first > 1:
        yield (wanted[0], *other, *wanted[first:], *place)
    if last:
        yield (*wanted[: last + 1], *other, *place)
        if other[0] == wanted[last]:  # "answer in English, not in German"
            yield (*wanted[:last], *other, *place)
    if other[0] == wanted[0] or place:
        yield (*other, *place)
    if full[:1] != other[:1] and len(other) > 1 and other[0] in _PREPOSITIONS:
        yield (*wanted[:first], *other)


def _words(text: str) -> Words:
    """Return the words of a clause in the singular, without fillers, its verb as one of several of equal meaning."""
    words = [singular(word) for word in _WORD.findall(text.casefold()) if word not in _FILLERS]
    if words:
        words[0] = _VERBS.get(words[0], words[0])
    if words[:3] == ["go", "with", *words[2:3]] or words[:2] in (["stick", "to"], ["stick", "with"]):
        words = ["use", *words[2:]]
    return tuple(words)


def _values_in(words: Words) -> Iterator[tuple[int, int, Words]]:
    """Yield each exclusive value in a wish: its set, its class and the other words; of a set named twice none."""
    found_of: dict[int, list[tuple[int, int, int]]] = {}
    for start, word in enumerate(words):
        for kind, number, value in _BY_FIRST_WORD.get(word, ()):
            if words[start : start + len(value)] == value:
                found_of.setdefault(kind, []).append((start, len(value), number))
    for kind, matches in sorted(found_of.items()):
        if len(matches) == 1:
            at, length, number = matches[0]
            begin = at - 1 if at and _NUMBER.match(words[at - 1]) else at
            rest = (*words[:begin], *words[at + length :])
            yield kind, number, tuple(sorted(word for word in rest if word not in _EXCLUSIVE[kind].beside))


def _value_words(value: tuple[int, int, Words]) -> Words:
    """Return a value with the words around it as words, so that "indent with tabs" and "use tabs" are equal."""
    kind, number, rest = value
    return (f"\0{kind}", f"\0{number}", *rest)


def _other_value(new: Wish, old: Wish) -> bool:
    """Return True if the wishes name different values of one exclusive set, in otherwise equal words."""
    return not new.wants & old.wants and any(
        kind == other_kind and number != other_number and rest == other_rest
        for kind, number, rest in new.values
        for other_kind, other_number, other_rest in old.values
    )


def _begins(head: Words, words: Words) -> bool:
    """Return True if `words` begin with `head` and are longer: a rejected thing is now wanted in some context."""
    return _HEAD_WORDS_MIN <= len(head) < len(words) and words[: len(head)] == head and not head[0].startswith("\0")


def _place(words: Words) -> Iterator[tuple[Words, Words]]:
    """Yield (`use for Y`, `X`) for words of the form `use X for Y`; nothing for other words."""
    if words[:1] == ("use",) and "for" in words:
        at = words.index("for")
        if 1 < at <= _VALUE_WORDS_MAX and at + 1 < len(words):
            yield ("use", *words[at:]), words[1:at]
