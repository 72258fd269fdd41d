"""The lines of a project's brief: chosen among those of its threads and memories under a budget of tokens.

A line is worth what speaks for it (its words and place, how many sessions said the same), and the specific names and
the person's repeated terms that no line before it has: greedily, per token. The gain of a line only shrinks while
others are chosen, so that a heap finds the best without looking at all of them again (Minoux, 1978).
"""

from __future__ import annotations

import heapq
import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from reverie.distill.sentences import specific_names
from reverie.lazy_regex import lazy_regex
from reverie.tokenizer import count_many
from reverie.words import is_stop_word

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from reverie.models import BriefLine, ThreadBrief

VERSION: Final = 5
"""Changes with what is extracted: the lines of older versions are made anew."""

SECTIONS: Final = ("wish", "mistake", "command", "finding", "names")
"""The order of the sections; decisions stand among the findings."""

# Shares of the budget, set on recorded sessions of three projects. What is not needed in one section is the next one's.
_SHARES: Final = {"wish": 0.34, "mistake": 0.05, "command": 0.08, "finding": 0.02}
_NAMES_SHARE: Final = 0.53  # at most
# What a token costs: a section of long quotes prefers short ones, one of commands those that say more.
_POWER: Final = {"wish": 0.7, "mistake": 0.3, "command": 0.3, "finding": 0.7}
_AGEING: Final = 0.05  # of a line, with each later session
_NAME: Final = 0.12  # of a name that every session used; a quote of the person is not worth more for it
_TERM: Final = 0.5  # of a term that the person used in two sessions
_NAME_AGEING: Final = 0.3
_OF_PERSON: Final = 3.0  # of a memory that a person wrote or kept: above everything that was found
_OF_ENGINE: Final = 1.2  # of another memory
_PROGRAM: Final = 0.8  # of what a command is worth goes to the first of its program: `go build` of three folders
_WORDS_MIN: Final = 2  # of a quote beside stop words: "I'd prefer that" says nothing alone
_TIMES_MIN: Final = 3  # of a command in one session; one that passed after it failed was learnt, and counts for two
_RARE_WORDS: Final = 3.2  # as rare as one that was used once; so many say what a sentence is about
_WISH_LEAST: Final = 0.3  # of a quote of the person, by its words, place and repetition; the names in it do not count
_NAMED_AGAIN: Final = 2  # names that a later finding has too; it was put right, or is told by that
_DATE_TOKENS: Final = 5  # of a date, and of the begin of its line
_HEADING_TOKENS: Final = 10

_GIT: Final = lazy_regex(r"(?:\w+ )?git ")
_WORD: Final = lazy_regex(r"[^\W_]\w+")


LineKind: TypeAlias = Literal["wish", "mistake", "command", "finding", "decision", "names", "last"]


@dataclass(frozen=True, slots=True)
class MemoryLine:
    """A memory as a line of the brief, in a section."""

    id: str
    section: Literal["wish", "mistake", "command", "finding"]
    text: str
    at: str
    by_person: bool
    is_personal: bool = False  # of no project
    note: str = ""  # since when it is in doubt


@dataclass(frozen=True, slots=True)
class ChosenLine:
    """A line of the brief: of entry `seq` in a thread, or of a memory; `sessions` is in how many it was said.

    Of the names and of what is said of the last session there is no entry.
    """

    section: str
    kind: LineKind
    text: str
    at: str
    thread: str = ""
    seq: int = 0
    memory: str = ""
    sessions: int = 1
    note: str = ""  # told behind it


@dataclass(frozen=True, slots=True)
class _Prepared:
    line: BriefLine
    section: str
    text: str
    key: str
    names: tuple[str, ...]
    words: tuple[str, ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class PreparedThread:
    """The lines of a thread with what is compared and counted of them, so that it is read once."""

    thread: str
    names: dict[str, int]
    lines: tuple[_Prepared, ...]


@dataclass(slots=True)
class _Offer:
    """A line that may be chosen: its own worth, its factor for age, and the worth of each feature that is new."""

    chosen: ChosenLine
    worth: float
    fresh: float
    tokens: int
    features: dict[tuple[str, str], float] = field(default_factory=dict)

    def gain(self, seen: set[tuple[str, str]], power: float) -> float:
        new = sum(value for feature, value in self.features.items() if feature not in seen)
        return float((self.worth + new) * self.fresh / self.tokens**power)


def prepare(thread: str, brief: ThreadBrief) -> PreparedThread:
    """Return the lines of a thread as `choose` takes them."""
    texts = [_text(line) for line in brief.lines]
    sizes = count_many([f" · “{text}”" for text in texts])
    lines = tuple(
        _Prepared(
            line,
            "finding" if line.kind == "decision" else line.kind,
            text,
            line.key or " ".join(line.text.casefold().split()),
            specific_names(line.text),
            _words(line.text) if line.kind == "wish" else (),
            size,
        )
        for line, text, size in zip(brief.lines, texts, sizes, strict=True)
    )
    return PreparedThread(thread, brief.names, lines)


def _text(line: BriefLine) -> str:
    if line.kind == "mistake":
        return f"{line.text} → {line.fix}" if line.fix else line.text
    return f"`{line.text}`" if line.kind == "command" else line.text


def _words(text: str) -> tuple[str, ...]:
    return tuple(word for word in _WORD.findall(text.casefold()) if not is_stop_word(word))


def choose(
    threads: Sequence[PreparedThread],
    memories: Iterable[MemoryLine],
    max_tokens: int,
    *,
    admits: Callable[[str], bool] = lambda _: True,
) -> list[ChosenLine]:
    """Return the lines of a brief by section, at most about `max_tokens`; `threads` are in order of time.

    `admits` is asked for the text of each line that would be chosen. The same input gives the same lines.
    """
    weights = _name_weights(threads)
    offers = _offers(threads, weights)
    for memory in memories:
        offers[memory.section].append(_of_memory(memory))
    chosen: list[ChosenLine] = []
    seen: set[tuple[str, str]] = set()
    room = 0.0
    for section, share in _SHARES.items():
        room += share * max_tokens
        room -= _fill(offers[section], room, power=_POWER[section], seen=seen, chosen=chosen, admits=admits)
    room = min(room + max_tokens * (1 - sum(_SHARES.values())), max_tokens * _NAMES_SHARE)
    said = "\n".join(one.text for one in chosen)
    names = _listed((name for name in weights if name not in said), room - _HEADING_TOKENS, admits)
    if names:
        chosen.append(ChosenLine("names", "names", " ".join(names), ""))
    return chosen


def _name_weights(threads: Sequence[PreparedThread]) -> dict[str, float]:
    """Return how often and how lately threads used each name, 1 for the most; the best for their length first."""
    weights: dict[str, float] = defaultdict(float)
    for age, thread in enumerate(reversed(threads)):
        for name, times in thread.names.items():
            weights[name] += times**0.3 / (1 + _NAME_AGEING * age)
    top = max(weights.values(), default=1.0)
    ordered = sorted(weights.items(), key=lambda pair: (-pair[1] / len(pair[0]) ** 0.5, pair[0]))
    return {name: weight / top for name, weight in ordered}


def _repeated_terms(threads: Sequence[PreparedThread]) -> tuple[dict[str, float], dict[str, float]]:
    """Return the pairs of words that the person used again, with their worth: "draft PR" in three sessions.

    Also how rare each word is among the person's sentences: 1 for one that is in one of them (idf). A pair of common
    words says less: the rarer word of the two counts.
    """
    used: dict[str, Counter[str]] = defaultdict(Counter)
    with_word: Counter[str] = Counter()
    distinct: set[str] = set()
    for thread in threads:
        for prepared in thread.lines:
            if prepared.section == "wish":
                with_word.update(set(prepared.words) if prepared.key not in distinct else ())
                distinct.add(prepared.key)
                for term in _terms(prepared.words):
                    used[term][thread.thread] += 1
    total = len(distinct) + 1
    rarity = {word: math.log(total / times) / math.log(total) for word, times in with_word.items()}
    worth = {}
    for term, by_thread in used.items():
        times = len(by_thread) - 1 + 0.25 * (by_thread.total() - len(by_thread))
        if times:
            worth[term] = _TERM * min(times, 1.0) ** 0.5 * max(rarity[word] for word in term.split())
    return worth, rarity


def _terms(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(f"{one} {other}" for one, other in pairwise(words)))


def _offers(threads: Sequence[PreparedThread], weights: dict[str, float]) -> dict[str, list[_Offer]]:
    """Return what may be chosen of the threads by section: of lines that say the same the newest."""
    terms, rarity = _repeated_terms(threads)
    groups: dict[tuple[str, str], list[tuple[int, str, _Prepared]]] = defaultdict(list)
    for age, thread in enumerate(reversed(threads)):
        for prepared in thread.lines:
            groups[prepared.section, prepared.key].append((age, thread.thread, prepared))
    offers: dict[str, list[_Offer]] = defaultdict(list)
    for (section, _), members in groups.items():
        age, name, one = min(members, key=lambda member: (member[0], -member[2].line.seq))
        sessions = len({of for _, of, member in members if member.line.times})
        times = max(member.line.times for _, _, member in members)
        worth = _worth(one, sessions, times)
        if worth is None:
            continue
        if section == "wish":
            # "ok lets try it" is of words that the person uses in every session.
            worth *= min(1.0, sum(rarity[word] for word in set(one.words)) / _RARE_WORDS) ** 2 if worth > 0 else 1.0
        features = {("name", named): _NAME * (section != "wish") * weights.get(named, 0.0) for named in one.names}
        features |= {("term", term): terms[term] for term in _terms(one.words) if term in terms}
        if section == "wish" and worth + sum(terms.get(term, 0.0) for term in _terms(one.words)) < _WISH_LEAST:
            continue  # a question on the code, a remark, an order of the moment
        if section == "command":
            features["program", _program(one.line.text)] = worth * _PROGRAM
            worth *= 1 - _PROGRAM
        line = one.line
        chosen = ChosenLine(section, line.kind, one.text, line.at or "", name, line.seq, "", sessions)
        offers[section].append(_Offer(chosen, worth, 1 / (1 + _AGEING * age), one.tokens, features))
    offers["finding"] = _not_overruled(offers["finding"])
    return offers


def _not_overruled(findings: Sequence[_Offer]) -> list[_Offer]:
    """Return the findings without those of which a later one has two names: a cause is often put right later on.

    "Test 3.10 fails because `reload()` is slow" goes where "it is not just slow: `reload()` loses `vaultKey`" follows,
    if the former named `vaultKey` too.
    """
    kept: list[_Offer] = []
    pairs: set[tuple[str, str]] = set()
    for offer in sorted(findings, key=lambda one: (one.chosen.at, one.chosen.seq), reverse=True):
        of_line = set(combinations(sorted(name for kind, name in offer.features if kind == "name"), _NAMED_AGAIN))
        if pairs.isdisjoint(of_line):
            kept.append(offer)
        pairs |= of_line
    return kept


def _program(command: str) -> str:
    """Return what a command calls, without options and paths: "go build" of "`go build -v ./...`"."""
    words = command.strip("`").split()
    return " ".join(word for word in words if word[0].isalpha() and not set(word) & set("/.=:"))


def _worth(one: _Prepared, sessions: int, times: int) -> float | None:
    """Return what a line is worth by itself, None for one that is no line of a brief."""
    line = one.line
    match one.section:
        case "wish":
            if len(one.words) < _WORDS_MIN and not one.names:
                return None
            return line.weight + 0.4 * (sessions - 1)
        case "mistake":
            return None if not line.fix else 0.3 * times**0.3 + sessions - 1
        case "command":
            if not line.times:
                return None  # its latest run failed
            if _GIT.match(line.text) and (sessions == 1 or not any(set(name) & set("/._") for name in one.names)):
                return None  # every agent knows "git status --short"
            if sessions == 1 and times + 2 * (line.weight > 0) < _TIMES_MIN:
                return None
            return float(line.weight + 0.15 * times**0.3 + (sessions - 1) ** 0.7)
        case _:
            return 0.5 * line.weight


def _of_memory(memory: MemoryLine) -> _Offer:
    worth = _OF_PERSON if memory.by_person else _OF_ENGINE
    (size,) = count_many([f" · “{memory.text}” {memory.note}"])
    features = {("name", name): 0.0 for name in specific_names(memory.text)}
    chosen = ChosenLine(memory.section, memory.section, memory.text, memory.at, memory=memory.id, note=memory.note)
    return _Offer(chosen, worth * (0.8 if memory.is_personal else 1.0), 1.0, size, features)


def _fill(
    offers: list[_Offer],
    room: float,
    *,
    power: float,
    seen: set[tuple[str, str]],
    chosen: list[ChosenLine],
    admits: Callable[[str], bool],
) -> float:
    """Choose the best of the offers that fit into `room` tokens, and return how many these need."""
    heap = [(-offer.gain(seen, power), number) for number, offer in enumerate(offers)]
    heapq.heapify(heap)
    used = 0.0
    days: set[str] = set()
    while heap:
        gain, number = heapq.heappop(heap)
        offer = offers[number]
        now = -offer.gain(seen, power)
        if now >= 0:
            continue
        if now > gain and heap and (now, number) > heap[0]:
            heapq.heappush(heap, (now, number))
            continue
        day = offer.chosen.at[:10]
        size = offer.tokens + (0 if day in days else _DATE_TOKENS) + (0 if days else _HEADING_TOKENS)
        if used + size > room or not admits(offer.chosen.text):
            continue
        used += size
        days.add(day)
        seen.update(offer.features)
        chosen.append(offer.chosen)
    return used


def _listed(names: Iterable[str], room: float, admits: Callable[[str], bool]) -> list[str]:
    """Return the first names that fit into `room` tokens, none that is within another."""
    listed: list[str] = []
    candidates = [name for name, _ in zip(names, range(400), strict=False)]
    for name, size in zip(candidates, count_many([f" {name}" for name in candidates]), strict=True):
        if size > room:
            break
        if not any(name in other for other in listed) and admits(name):
            room -= size
            listed.append(name)
    return listed
