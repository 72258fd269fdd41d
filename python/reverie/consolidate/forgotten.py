"""Checks between candidates and memories: forgotten statements, and deletions that need a person's consent.

A statement is compared with forgotten ones by its words. The same words are dropped. Words that are near wait for a
person, since no rule can tell whether "deploys go out on Fridays" means what was forgotten as "we deploy every Friday".

A frame is what Reverie puts around a statement: "The user wants: “…”", "(from notes.md)". It is left out of the hash,
so that the same words are recognized in another frame after a purge, when nothing else is left. Words that somebody
else puts before or behind them ("We learnt that …") are no frame: then they are near, and wait.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from reverie.consolidate.statements import parse_statement
from reverie.lazy_regex import lazy_regex
from reverie.models import Candidate, Delete, Keep, MemoryType, Update
from reverie.words import analyze

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from reverie.consolidate.decide import Decision

DELETIONS_MAX: Final = 0.20  # share of the memories that a consolidation may delete by itself
_DELETIONS_ALLOWED: Final = 1  # one is always allowed: of four memories one that is over is 25 %

# The share of the shorter statement's stems that both must have, and their number, set on the pairs of
# tests/unit/consolidate. Of "The staging server runs on port 9090", "The staging server runs in a new rack" has three
# of five stems and is near, "The staging server has moved to a new rack" two and is not. Where a half is less than two,
# as of "Dislikes long lines", one stem in common ("Prefers long names") is chance.
_NEAR: Final = 0.5
_NEAR_STEMS_MIN: Final = 2
_SHORT_STEMS: Final = 2  # of a wish that is near to another by what it is about alone
_SAID_STEMS_MIN: Final = 3  # of a statement that a line is searched for: two words are in too many lines,
_SHORT_LINE_STEMS_MAX: Final = 4  # unless the line is as short: "- Wishes: I hate long lines." has two more

_ENGINE_WORDS: Final = lazy_regex(r"\b(?:for|from|in|of|to) the project [\w.-]+", re.IGNORECASE)
"""Words that an engine puts where the person had others: "in this repo" is "in the project harbour". A line in the
person's own words need not have them."""

# The day that is appended to dated statements: "The import holds a lock (2026-11-21)." says the same on another day.
_DAY: Final = lazy_regex(r"\s*\(?\b\d{4}-\d{2}-\d{2}\b\)?")
_BEGINS: Final = lazy_regex(
    r"^\W*(?:wants agents(?: never(?= to))?(?: to)?\b|the user (?:said|wants|asked to remember):|asked “"
    r"|the user chose “)",
    re.IGNORECASE,
)
_ENDS: Final = lazy_regex(
    # What the agent did before a correction, which is another time another: ", about `npm ci`".
    r"(?:: the user had to correct this(?:, about .*)?"
    r"|\(from [^()\n]{1,200}\)"  # the file of a run
    r"|(?:\s\\?#[^\W\d][\w-]*)+)\W*$",  # tags, also where their sign is escaped; "#12" is an issue
    re.IGNORECASE | re.DOTALL,
)
_FRAMES_MAX: Final = 4  # of one statement: "… (from r.md) #notes" has two
# Words that others may have put around a statement: "Please keep in mind that, as we know, …", "…, says Bob".
_BEFORE_MAX: Final = 9
_BEHIND_MAX: Final = 3
_INNER_MIN: Final = 3  # words; of fewer many statements consist by chance

_CODE: Final = lazy_regex(r"`([^`]+)`")
_ENDING: Final = re.compile(r"(?<=\w{3})(?:ing|ed|e)$")  # noqa: TID251 - used below; "asking" and "asked" are "ask"
_ENDING_CHARS: Final = frozenset("gde")  # with which it ends
_STEM_CHARS: Final = 5  # "migrations", "migrate" and "migrating" are one word
# "40 euros" and "40euros" are the same, "1 23" and "12 3" are not.
_BETWEEN_LETTERS: Final = lazy_regex(r"(?<=[^\W\d_])[ _-]+(?=\w)|(?<=\d) (?=[^\W\d_])")
_POLITE: Final = frozenset({"please", "prefer", "want"})

# Characters without a width, which a reader does not see: soft hyphen, joiners, marks of direction, fillers.
_INVISIBLE: Final = lazy_regex(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0]"
)
_OTHER_ALPHABET: Final = lazy_regex("[\u0370-\u03ff\u0400-\u052f]")
# Letters of Cyrillic and Greek, small or capital, that look like a Latin one. Words that are really Russian or Greek
# are changed too, in the same way on both sides of a comparison.
_LOOK_ALIKES: Final = str.maketrans(
    "авеёкмнорстухѕіјһԁԛԝαβειικνορτυχγ",
    "abeekmhopctyxsijhdqwabeiikvoptyxy",
)
_EAST_ASIAN: Final = lazy_regex("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_PARTS: Final = lazy_regex("[\u3400-\u9fff\uf900-\ufaff々]|[\u30a1-\u30fa]+")

REJECTED: Final = "rejected:"
"""Begins the key of a statement that a person rejected: the same words wait then and are not dropped."""


class Nearness:
    """How near a candidate is to a forgotten statement."""

    SAME: Final = "same"
    NEAR: Final = "near"
    REJECTED: Final = "rejected"  # the same as, or near to, a candidate that a person rejected


class ForgottenStatement(NamedTuple):
    """A forgotten statement of a project: its key, and its content, which is empty after a purge.

    `threads` is None where a person forgot it. Where an agent removed its line, they are the threads that the memory
    was learnt from and that the agent was in: what a person says in another one is not held by that.
    """

    key: str
    content: str
    project: str
    threads: tuple[str, ...] | None = None


class _Indexed(NamedTuple):
    statement: ForgottenStatement
    stems: tuple[str, ...]  # in order


class Forgotten:
    """The forgotten statements of a space, indexed by their words."""

    def __init__(self, statements: Iterable[ForgottenStatement]) -> None:
        """Index the statements; of one that is forgotten in two projects there are two."""
        self._by_key: dict[str, list[_Indexed]] = defaultdict(list)
        self._by_stem: dict[str, list[_Indexed]] = defaultdict(list)
        for statement in statements:
            indexed = _Indexed(statement, stems_in_order(statement.content))
            self._by_key[statement.key].append(indexed)
            for stem in set(indexed.stems):
                self._by_stem[stem].append(indexed)

    def nearest(self, candidate: Candidate, *, in_all_projects: bool = False) -> tuple[str, str] | None:
        """Return the nearness of the nearest forgotten statement and its content; None where none is near.

        `in_all_projects`: the same words are found whichever project they were forgotten in.
        """
        if not self._by_key:
            return None
        text = spoken(candidate)
        key = statement_key(text)
        for nearness, wanted in (
            (Nearness.SAME, (key,)),
            (Nearness.REJECTED, (f"{REJECTED}{key}",)),
            (Nearness.NEAR, _inner_keys(text)),
        ):
            found = (indexed.statement for one in wanted for indexed in self._by_key.get(one, ()))
            for statement in found:
                if _concerns(statement, candidate, in_all_projects=in_all_projects):
                    return nearness, statement.content
        # Of a line of a file, what stands behind its heading: "Lessons learned: Always reply in German".
        near = next((near for said in (text, *text.split(": ", 1)[1:]) if (near := self._near(candidate, said))), None)
        if near is None:
            return None
        return (Nearness.REJECTED if near.key.startswith(REJECTED) else Nearness.NEAR), near.content

    def _near(self, candidate: Candidate, text: str) -> ForgottenStatement | None:
        """Return the statement with the most words of a candidate, if these are enough to be near; else None."""
        stems = stems_in_order(text)
        shared: dict[int, int] = defaultdict(int)
        indexed_by_id: dict[int, _Indexed] = {}
        for stem in set(stems):
            for indexed in self._by_stem.get(stem, ()):
                if _concerns(indexed.statement, candidate):
                    shared[id(indexed)] += 1
                    indexed_by_id[id(indexed)] = indexed
        near = []
        code = _code_in(text)
        for name, indexed in indexed_by_id.items():
            least, most = sorted((len(set(stems)), len(set(indexed.stems))))
            # "Always answer in German" and "always reply in German" share what they are about. "Always answer in
            # English" begins with the same verb, and is about something else.
            # Nor is "another keel" near to "the keel was forgotten": what a wish is about is its last word.
            is_short = most <= _SHORT_STEMS and stems[-1] == indexed.stems[-1]
            is_short = is_short and (stems[0] != indexed.stems[0] or stems == indexed.stems)
            if shared[name] < max(_NEAR_STEMS_MIN, _NEAR * least) and not is_short:
                continue
            # "To run the tests: `make test`" is not what was forgotten with "To run the tests: `make lint`".
            theirs = _code_in(indexed.statement.content)
            is_other = code and theirs and not any(one in two or two in one for one in code for two in theirs)
            if not is_other:
                near.append((shared[name], indexed.statement.key, indexed.statement))
        return max(near, key=lambda one: one[:2])[2] if near else None


def _concerns(statement: ForgottenStatement, candidate: Candidate, *, in_all_projects: bool = False) -> bool:
    """Return True unless statement and candidate belong to two different projects; one without a project fits all.

    What an agent removed concerns what was said where it was learnt or removed, and what is from no conversation.
    """
    is_same = in_all_projects or statement.project == candidate.project
    if not is_same and statement.project and candidate.project:
        return False
    if statement.threads is None or not candidate.provenance.get("seqs"):
        return True
    return candidate.provenance.get("thread") in statement.threads


def lines_without(text: str, statements: Iterable[str]) -> str:
    """Return a text without the lines that say one of the forgotten statements: that have all of its words.

    Words of an engine's frame need not be in the line.
    """
    forgotten = [stems for statement in statements if len(stems := _own_stems(statement)) >= _SHORT_STEMS]
    if not forgotten:
        return text
    lines = [(line, frozenset(stems_in_order(line))) for line in text.splitlines(keepends=True)]
    return "".join(line for line, said in lines if not any(_says(said, stems) for stems in forgotten))


def statements_in(texts: Iterable[str], statements: Iterable[str]) -> list[str]:
    """Return the forgotten statements that a line of a text repeats: those for which `lines_without` removes a line."""
    said = (frozenset(stems_in_order(line)) for text in texts for line in text.splitlines())
    lines = [stems for stems in said if len(stems) >= _SHORT_STEMS]
    if not lines:
        return []
    anywhere = frozenset[str]().union(*lines)
    return [
        statement
        for statement in statements
        if (stems := _own_stems(statement)) <= anywhere and any(_says(line, stems) for line in lines)
    ]


def _says(line: frozenset[str], stems: frozenset[str]) -> bool:
    """Return True if a line with these stems has those of a statement, and the statement is long enough to be meant."""
    is_enough = len(stems) >= _SAID_STEMS_MIN or (len(stems) == _SHORT_STEMS and len(line) <= _SHORT_LINE_STEMS_MAX)
    return is_enough and stems <= line


def _own_stems(statement: str) -> frozenset[str]:
    return frozenset(stems_in_order(_ENGINE_WORDS.sub(" ", statement)))


def spoken(source: Candidate) -> str:
    """Return the words by which a candidate is compared: of an episode its title and summary, else its content."""
    if source.type is not MemoryType.EPISODE:
        return source.content
    return episode_text(source.title, source.fields, source.content)


def episode_text(title: str | None, fields: Iterable[tuple[str, str]], content: str) -> str:
    """Return the words by which an episode is compared: its title and its summary."""
    return f"{title or ''}\n{next((value for key, value in fields if key == 'Summary'), content)}"


def hold_large_deletion(decision: Decision, existing: int) -> tuple[Decision, tuple[Update | Delete, ...]]:
    """Return the decision as it may be made now, and the changes that have to wait for a person.

    Where it would delete more than `DELETIONS_MAX` of the `existing` memories, all its updates and deletions wait
    together, because an update may have the words of what is deleted beside it. What it adds is not lost: that is
    added, and each memory that was to be changed is kept.
    """
    deletions = sum(isinstance(change, Delete) for change in decision.changes)
    if deletions <= max(_DELETIONS_ALLOWED, DELETIONS_MAX * existing):
        return decision, ()
    waiting = tuple(change for change in decision.changes if isinstance(change, Update | Delete))
    changes = (Keep(one.id) if isinstance(one, Update | Delete) else one for one in decision.changes)
    return replace(decision, changes=tuple(changes)), waiting


# The words of a statement


def statement_key(text: str) -> str:
    """Return the SHA-256 of a statement's words in order, in hex; without fillers, frames, day and blanks.

    "The mooringfee is 40euros" has the same as "The mooring fee is 40 euros"; between two numbers a blank counts.
    """
    return _hash(_joined(_words(_bare(text))))


def _inner_keys(text: str) -> Iterator[str]:
    """Yield the keys of what a statement says inside of it: "the fee is 40 euros" of "Note that the fee is 40 euros".

    That may be the same statement ("We learnt that …") or another one ("Staging: …", "Nobody says that …").
    """
    words: Sequence[str] = _words(_bare(text))
    if _EAST_ASIAN.search(text):  # without spaces each letter is one
        words = _joined(words)
    for begin in range(min(_BEFORE_MAX, len(words)) + 1):
        for end in range(len(words), max(begin + _INNER_MIN, len(words) - _BEHIND_MAX) - 1, -1):
            if (begin, end) != (0, len(words)):
                yield _hash(words[begin:end] if isinstance(words, str) else _joined(words[begin:end]))


def stems_in_order(text: str) -> tuple[str, ...]:
    """Return the stems of a statement's content words, in their order."""
    words = analyze(_bare(text)).content  # not `parse_statement`, which would keep thousands of statements for this
    return tuple(stem for word in words if word not in _POLITE for stem in _stems_of(word))


def _code_in(text: str) -> frozenset[str]:
    """Return the code in a statement, by which two in like words differ: "run `make fmt`" and "run `make lint`"."""
    return frozenset(code.strip().casefold() for code in _CODE.findall(text))


def _hash(words: str) -> str:
    return hashlib.sha256(words.encode()).hexdigest()


def _words(bare: str) -> tuple[str, ...]:
    return parse_statement(bare).sequence


def _joined(words: Sequence[str]) -> str:
    """Return words written together, also those with a hyphen: "mooring-fee" is "mooringfee"."""
    return _BETWEEN_LETTERS.sub("", " ".join(words))


def _bare(text: str) -> str:
    """Return a statement without frames and date: "Wants agents never to push" becomes "never push"."""
    text = _folded(text)
    for _ in range(_FRAMES_MAX):
        before = text
        text = _DAY.sub("", text).strip() if "-" in text else text.strip()
        text = _ENDS.sub("", _BEGINS.sub(lambda frame: "never" if "never" in frame[0].casefold() else " ", text))
        if text == before:
            break
    return text.strip()


def _folded(text: str) -> str:
    """Return a text without invisible characters, and with Latin letters in the place of those that look like them."""
    if text.isascii():
        return text
    text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    return text.casefold().translate(_LOOK_ALIKES) if _OTHER_ALPHABET.search(text) else text


def _stems_of(word: str) -> list[str]:
    """Return the stem of a word; of a run of Chinese or Japanese, which has no spaces, its parts.

    These are its Chinese characters and the runs of Katakana; Hiragana is grammar ("書いてください") and counts only
    where there is nothing else.
    """
    if word.isascii() or not _EAST_ASIAN.search(word):
        return [(_ENDING.sub("", word) if word[-1:] in _ENDING_CHARS else word)[:_STEM_CHARS]]
    return [part[:_STEM_CHARS] for part in _PARTS.findall(word)] or list(word)
