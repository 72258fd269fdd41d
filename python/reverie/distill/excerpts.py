"""Ranking of the distilled part's lines by what the work will need next, for the excerpts tier."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reverie import count_and_truncate_tokens
from reverie.distill import cues
from reverie.distill.excerpt_lines import Line, Source, speaker
from reverie.distill.reuse import list_names, name_weights
from reverie.distill.sentences import specific_names
from reverie.distill.summary_text import content_words, line_weight
from reverie.lazy_regex import lazy_regex
from reverie.models import Passage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reverie.distill.steps import Utterance

_REQUESTS = 6  # of the person's last messages are kept word for word
_REQUEST_LENGTH = 640  # characters of each

_MENTION = 0.42  # share of a name's worth that its first mention has; the rest is for the line that explains it
_MENTION_AGAIN = 0.1  # of that, for each further mention
_EXPLAIN_AGAIN = 0.1  # and of the rest, for each further line that explains the name
_MAX_NAMES = 4  # a line with more names than this explains none of them
_MIN_WORDS = 3  # and one with fewer words beside the name neither
_WORD = 0.024  # worth of a new word in talk, in the same measure as a name's chance of being used
_WORD_AGAIN = 0.8  # of that, each time the word has stood in another line of talk
_AGED = 0.4  # of that, for the oldest talk
_HEADING = 0.6  # share of a new origin's heading that its first line has to pay
_ANNOUNCED = 0.5  # of that, where the agent only says what it is about to do
_TELLING = 2.0  # times that, where something is said to be done, found out, decided or broken
_OPENS = 1.5  # times that, for the first line of what was said
_DECLARED = 1.25  # worth of names on a line that declares something, by that on any line
_BARE = 0.6  # and of those on a line that explains none of them
_LISTED = 0.05  # share of the budget for the names whose lines find no room

_WORDS = lazy_regex(r"[a-z]{4,}")
# Lines that declare something: `func Parse()`, `class Parser`, `export const limit`.
_DECLARATION = lazy_regex(
    r"^(?:[-+] *)?(?:(?:export|public|private|protected|static|async|pub|default|abstract) )*"
    r"(?:func|def|class|type|interface|struct|enum|const|fn|impl|trait|function|module)\b"
)


def rank_excerpts(
    found: Sequence[Line],
    *,
    asked: Sequence[Utterance],
    stays: Sequence[str],
    tail_from_seq: int,
    budget: int,
) -> tuple[Passage, ...]:
    """Return the best excerpts within `budget` tokens; rank 0 is the one to keep first.

    What the person asked last comes first, in their own words (`asked`, oldest first). The rest is greedy by worth
    for each token: a line is worth the names on it and, where it is talk, the words in it, each less once another
    excerpt has it. Names, but not words, also count less where `stays`, the texts that are in context anyhow, has
    them: to leave out words too favours names over what was said. Lines from `tail_from_seq` on only count as
    context that stays. Where lines with names find no room, a small share of the budget lists their names.
    """
    words = [line for line in _last_requests(asked) if line.seq < tail_from_seq]
    seen = Coverage()
    shown = "\n".join(line.text for line in words)
    for text in (*stays, shown):
        for piece in text.split("\n"):
            seen.add(piece, specific_names(piece))
    on_line = {text: specific_names(text) for text in dict.fromkeys(line.text for line in found)}
    named = [on_line[line.text] for line in found]
    pool: dict[str, Line] = {}
    said = {line.seq for line in words}
    for line, mentioned in zip(found, named, strict=True):
        if line.seq >= tail_from_seq:
            seen.add(line.text, mentioned)
            pool.pop(line.text, None)
        elif line.seq not in said or line.text not in shown:
            pool[line.text] = line
    kept = []
    for line, cost in zip(
        words, count_and_truncate_tokens.count_many([line.text + "\n" for line in words]), strict=True
    ):
        if cost <= budget:
            kept.append((line, cost))
            budget -= cost
    kept += pick_lines([(line, on_line[line.text]) for line in pool.values()], name_weights(found, named), seen, budget)
    return tuple(
        Passage(text=line.text, seq=line.seq, rank=rank, tokens=cost, origin=line.origin, place=line.order)
        for rank, (line, cost) in enumerate(kept)
    )


def _last_requests(asked: Sequence[Utterance]) -> list[Line]:
    """Return what the person said last, newest first, each as one line, and what other agents and tasks reported last.

    Orders of other agents and ends of tasks stand in the person's role; here each is named as what it is, and shorter.
    """
    typed = [(said, _REQUEST_LENGTH) for said in asked if said.role == "user"][-_REQUESTS:]
    others = [(said, _REQUEST_LENGTH // 4) for said in asked if said.role != "user"][-_REQUESTS // 2 :]
    newest = sorted([*typed, *others], key=lambda one: -one[0].seq)
    return [Line(_shortened(said.text, length), speaker(said), Source.USER, said.seq, 0) for said, length in newest]


def _shortened(text: str, length: int) -> str:
    if len(text) <= length:
        return text
    cut = text[:length]
    return f"{cut[: cut.rfind(' ')] if ' ' in cut else cut} […]"


@dataclass(slots=True)
class Coverage:
    """Counts of names and words in the lines chosen so far."""

    mentioned: dict[str, int] = field(default_factory=dict)
    explained: dict[str, int] = field(default_factory=dict)
    words: dict[str, int] = field(default_factory=dict)

    def add(self, text: str, mentioned: Sequence[str]) -> None:
        """Count the names on a chosen line in this coverage."""
        self.count(mentioned, _explained_names(text, mentioned), ())

    def count(self, mentioned: Sequence[str], explained: Sequence[str], words: Sequence[str]) -> None:
        """Count names and words of a chosen line in this coverage; its parts are computed already."""
        for into, terms in ((self.mentioned, mentioned), (self.explained, explained), (self.words, words)):
            for term in terms:
                into[term] = into.get(term, 0) + 1


@dataclass(slots=True)
class _Candidate:
    """A line with its cost and contents; `by_name` and `by_word` are weights from its kind and its age."""

    line: Line
    cost: int
    mentioned: Sequence[str]
    explained: tuple[str, ...]
    words: tuple[str, ...]
    by_name: float
    by_word: float
    taken: bool = False


def pick_lines(
    pool: Sequence[tuple[Line, Sequence[str]]], worth: Mapping[str, float], seen: Coverage, budget: int
) -> list[tuple[Line, int]]:
    """Return lines of `pool` within `budget` tokens, each with its tokens, chosen by value per token.

    `pool` are the lines to choose from, each with the names on it.

    The first line of an origin pays for the heading over it, and is worth the names in that too. Where not every line
    that names something has room, the names of the others stand first, as lists.
    """
    return _Picker(pool, worth, seen).chosen(budget)


class _Picker:
    """Lazy greedy selection: a line's value is recomputed when it reaches the top of the heap.

    Nothing else can make it worth more.
    """

    def __init__(self, pool: Sequence[tuple[Line, Sequence[str]]], worth: Mapping[str, float], seen: Coverage) -> None:
        self._worth = worth
        self._seen = seen
        self._stays = frozenset(seen.mentioned)
        self._candidates = _candidates(pool)
        self._by_origin: dict[str, list[int]] = {}
        for index, (line, _) in enumerate(pool):
            self._by_origin.setdefault(line.origin, []).append(index)
        headings = count_and_truncate_tokens.count_many([f"\n[{origin}]\n" for origin in self._by_origin])
        self._heading = dict(zip(self._by_origin, headings, strict=True))
        self._entitled = {origin: specific_names(origin) for origin in self._by_origin}
        self._opened: set[str] = set()
        self._heap = [
            (-self._value(index), index) for index, candidate in enumerate(self._candidates) if _has_content(candidate)
        ]
        heapq.heapify(self._heap)

    def chosen(self, budget: int) -> list[tuple[Line, int]]:
        kept: list[_Candidate] = []
        left = budget
        shown = 0  # tokens of the lines and of the headings over them
        before_lists = 0  # lines that have room beside the lists
        while self._heap and left > 0:
            _, index = heapq.heappop(self._heap)
            candidate = self._candidates[index]
            if candidate.taken or candidate.cost > left:
                continue
            now = -self._value(index)
            if self._heap and now > self._heap[0][0]:
                heapq.heappush(self._heap, (now, index))
                continue
            left -= candidate.cost
            shown += candidate.cost + self._heading_cost(candidate)
            self._take(candidate)
            kept.append(candidate)
            if shown <= (1 - _LISTED) * budget:
                before_lists = len(kept)
        lines = [(candidate.line, candidate.cost) for candidate in kept]
        if shown <= budget:
            return [*lines, *self._filling(left)]
        return _within([*self._lists(kept[:before_lists], int(_LISTED * budget)), *lines], budget)

    def _heading_cost(self, candidate: _Candidate) -> int:
        """Return the tokens of the heading that a candidate needs: none if its origin has one already."""
        origin = candidate.line.origin
        return 0 if origin in self._opened else self._heading[origin]

    def _lists(self, kept: Sequence[_Candidate], budget: int) -> list[tuple[Line, int]]:
        """Return lists of the names that neither the kept lines nor their headings have."""
        shown = {name for candidate in kept for name in (*candidate.mentioned, *self._entitled[candidate.line.origin])}
        last_lines = {name: candidate.line for candidate in self._candidates for name in candidate.mentioned}
        return list_names(last_lines, self._worth, shown | self._stays, budget)

    def _filling(self, budget: int) -> Iterator[tuple[Line, int]]:
        """Yield lines without names for the tokens that are left: those of already shown files first, newest first.

        Example: `return total` says nothing alone, but beside the other lines of its function it completes them.
        """
        others = [candidate for candidate in self._candidates if not candidate.taken]
        for candidate in sorted(others, key=lambda other: (other.line.origin in self._opened, other.line.order))[::-1]:
            if candidate.cost <= budget:
                budget -= candidate.cost
                yield candidate.line, candidate.cost

    def _take(self, candidate: _Candidate) -> None:
        candidate.taken = True
        self._seen.count(candidate.mentioned, candidate.explained, candidate.words)
        origin = candidate.line.origin
        if origin in self._opened:
            return
        self._opened.add(origin)
        self._seen.count(self._entitled[origin], (), ())
        for index in self._by_origin[origin]:
            if not self._candidates[index].taken and _has_content(self._candidates[index]):
                heapq.heappush(self._heap, (-self._value(index), index))

    def _value(self, index: int) -> float:
        """Return the value of a candidate per token."""
        candidate = self._candidates[index]
        gain = self._gain(candidate)
        origin = candidate.line.origin
        if origin in self._opened:
            return gain / candidate.cost
        return (gain + self._mentions(self._entitled[origin])) / (candidate.cost + _HEADING * self._heading[origin])

    def _gain(self, candidate: _Candidate) -> float:
        names = self._mentions(candidate.mentioned)
        for name in candidate.explained:
            names += (1 - _MENTION) * self._worth[name] * _EXPLAIN_AGAIN ** self._seen.explained.get(name, 0)
        words = sum(_WORD_AGAIN ** self._seen.words.get(word, 0) for word in candidate.words)
        return candidate.by_name * names + candidate.by_word * words

    def _mentions(self, found: Sequence[str]) -> float:
        mentioned = self._seen.mentioned
        return sum(_MENTION * self._worth[name] * _MENTION_AGAIN ** mentioned.get(name, 0) for name in found)


def _within(lines: Sequence[tuple[Line, int]], budget: int) -> list[tuple[Line, int]]:
    """Return the lines that fit in `budget` tokens, in order."""
    kept = []
    for line, cost in lines:
        if cost <= budget:
            kept.append((line, cost))
            budget -= cost
    return kept


def _has_content(candidate: _Candidate) -> bool:
    return bool(candidate.mentioned or candidate.words)


def _candidates(pool: Sequence[tuple[Line, Sequence[str]]]) -> list[_Candidate]:
    costs = count_and_truncate_tokens.count_many([line.text + "\n" for line, _ in pool])
    end = max((line.order for line, _ in pool), default=0)
    return [_candidate(line, named, cost, line.order / end) for (line, named), cost in zip(pool, costs, strict=True)]


def _candidate(line: Line, mentioned: Sequence[str], cost: int, recent: float) -> _Candidate:
    explained = _explained_names(line.text, mentioned)
    if line.source in {Source.AGENT, Source.USER}:
        words = content_words(line.text)
        by_word = _WORD * (_AGED + (1 - _AGED) * recent) * _talk_weight(line, len(words))
        return _Candidate(line, cost, mentioned, explained, words, 1.0, by_word)
    kind = _DECLARED if _DECLARATION.match(line.text) else 1.0 if explained else _BARE
    return _Candidate(line, cost, mentioned, explained, (), kind, 0.0)


def _talk_weight(line: Line, words: int) -> float:
    """Return the weight of a line of talk by its cue phrases, position and length."""
    weight = line_weight(words)
    if line.opens:
        weight *= _OPENS
    if cues.announced(line.text):
        weight *= _ANNOUNCED
    return weight * _TELLING if cues.kind_of(line.text) not in {"", "next"} else weight


def _explained_names(text: str, mentioned: Sequence[str]) -> tuple[str, ...]:
    """Return the names a line explains: few names, with at least three other words beside each."""
    if not 0 < len(mentioned) <= _MAX_NAMES:
        return ()
    line = text.lower()
    return tuple(name for name in mentioned if len(set(_WORDS.findall(line.replace(name.lower(), " ")))) >= _MIN_WORDS)
