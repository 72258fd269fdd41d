"""Ranking of the distilled part's lines by what the work will need next, for the excerpts tier."""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reverie import tokenizer
from reverie.distill.excerpt_lines import Line, Source, speaker
from reverie.distill.reuse import list_names, name_weights
from reverie.distill.sentences import specific_names
from reverie.distill.summary_text import content_words, line_weight
from reverie.lazy_regex import lazy_regex
from reverie.models import Passage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

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
_OPENS = 1.5  # times that, for the first line of what was said
_DECLARED = 1.25  # worth of names on a line that declares something, by that on any line
_BARE = 0.6  # and of those on a line that explains none of them
# Of many lines that share their words, as those of a pasted style sheet do, each one chosen makes all the others worth
# a little less: choosing among 3,000 took 2.6 million values. Beyond so many, a line is taken that is nearly the best,
# or that was passed over for so many better ones.
_EXACT = 200_000
_NEARLY = 0.8
_PASSED_OVER = 8
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
    said = {line.seq for line in words}
    shown = "\n".join(line.text for line in words)
    seen = Coverage()
    for piece in "\n".join((*stays, shown)).split("\n"):
        mentioned = specific_names(piece)
        seen.add(mentioned, _explained_names(piece, mentioned))
    on_line = {text: specific_names(text) for text in dict.fromkeys(line.text for line in found)}
    pool: dict[str, Line] = {}
    for line in found:
        names = on_line[line.text]
        if line.seq >= tail_from_seq:
            seen.add(names, _explained_names(line.text, names))
            pool.pop(line.text, None)
        elif line.seq not in said or line.text not in shown:
            pool[line.text] = line
    costs = tokenizer.count_many([line.text + "\n" for line in words])
    kept = within(zip(words, costs, strict=True), budget)
    left = budget - sum(cost for _, cost in kept)
    weights = name_weights(found, [on_line[line.text] for line in found])
    kept += pick_lines([(line, on_line[line.text]) for line in pool.values()], weights, seen, left)
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
    """How often each name was mentioned and explained, and each word said, in the lines chosen so far."""

    mentioned: Counter[str] = field(default_factory=Counter)
    explained: Counter[str] = field(default_factory=Counter)
    words: Counter[str] = field(default_factory=Counter)

    def add(self, mentioned: Sequence[str], explained: Sequence[str], words: Sequence[str] = ()) -> None:
        """Count what is on a chosen line."""
        self.mentioned.update(mentioned)
        self.explained.update(explained)
        self.words.update(words)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A line with its cost and contents; `by_name` and `by_word` are weights from its kind and its age."""

    line: Line
    cost: int
    mentioned: Sequence[str]
    explained: Sequence[str]
    words: Sequence[str]
    by_name: float
    by_word: float

    def value(self, worth: Mapping[str, float], seen: Coverage) -> float:
        """Return what the line adds to the lines chosen so far, per token; it only shrinks while others are chosen."""
        names = sum(_MENTION * worth[name] * _MENTION_AGAIN ** seen.mentioned.get(name, 0) for name in self.mentioned)
        for name in self.explained:
            names += (1 - _MENTION) * worth[name] * _EXPLAIN_AGAIN ** seen.explained.get(name, 0)
        words = sum(_WORD_AGAIN ** seen.words.get(word, 0) for word in self.words)
        return (self.by_name * names + self.by_word * words) / self.cost


def pick_lines(
    pool: Sequence[tuple[Line, Sequence[str]]], worth: Mapping[str, float], seen: Coverage, budget: int
) -> list[tuple[Line, int]]:
    """Return lines of `pool`, each with the names on it, within `budget` tokens, chosen greedily by value per token.

    Each comes with its tokens. Where not every line has room, the names of the others stand first, as lists.
    """
    stays = frozenset(seen.mentioned)
    costs = tokenizer.count_many([line.text + "\n" for line, _ in pool])
    end = max((line.order for line, _ in pool), default=0)
    found = [_candidate(line, names, cost, line.order / end) for (line, names), cost in zip(pool, costs, strict=True)]
    origins = list(dict.fromkeys(line.origin for line, _ in pool))
    counts = tokenizer.count_many([f"\n[{origin}]\n" for origin in origins])
    headings = dict(zip(origins, counts, strict=True))  # of the origins that have no line yet
    heap = [(-one.value(worth, seen), index) for index, one in enumerate(found) if one.mentioned or one.words]
    heapq.heapify(heap)
    kept: list[_Candidate] = []
    before_lists = 0  # lines that have room beside the lists
    left, valued = budget, 0
    passed_over: Counter[int] = Counter()
    while heap and left > 0:
        candidate = found[heap[0][1]]
        cost = candidate.cost + headings.get(candidate.line.origin, 0)
        valued += 1
        if (
            cost <= left
            and (now := -candidate.value(worth, seen)) > heap[0][0]
            and (valued <= _EXACT or now > _NEARLY * min(heap[1:3], default=heap[0])[0])
            and passed_over[heap[0][1]] < _PASSED_OVER
        ):
            passed_over[heap[0][1]] += valued > _EXACT
            heapq.heapreplace(heap, (now, heap[0][1]))
            continue
        heapq.heappop(heap)
        if cost <= left:
            left -= cost
            if headings.pop(candidate.line.origin, 0):
                seen.add(specific_names(candidate.line.origin), ())
            seen.add(candidate.mentioned, candidate.explained, candidate.words)
            kept.append(candidate)
            before_lists = len(kept) if left >= _LISTED * budget else before_lists
    lines = [(one.line, one.cost) for one in kept]
    taken = {id(one.line) for one in kept}
    others = [one for one in found if id(one.line) not in taken]
    if not any(one.mentioned for one in others):
        return [*lines, *within(((one.line, one.cost) for one in reversed(others)), left)]
    told = kept[:before_lists]
    shown = stays.union(*((*one.mentioned, *specific_names(one.line.origin)) for one in told))
    last_lines = {name: one.line for one in found for name in one.mentioned}
    return within([*list_names(last_lines, worth, shown, int(_LISTED * budget)), *lines], budget)


def within(lines: Iterable[tuple[Line, int]], budget: int) -> list[tuple[Line, int]]:
    """Return the lines that fit in `budget` tokens, in order, each with its tokens."""
    kept = []
    for line, cost in lines:
        if cost <= budget:
            kept.append((line, cost))
            budget -= cost
    return kept


def _candidate(line: Line, mentioned: Sequence[str], cost: int, recent: float) -> _Candidate:
    explained = _explained_names(line.text, mentioned)
    if line.source in {Source.AGENT, Source.USER}:
        words = content_words(line.text)
        by_word = _WORD * (_AGED + (1 - _AGED) * recent) * line_weight(len(words)) * (_OPENS if line.opens else 1.0)
        return _Candidate(line, cost, mentioned, explained, words, 1.0, by_word)
    kind = _DECLARED if _DECLARATION.match(line.text) else 1.0 if explained else _BARE
    return _Candidate(line, cost, mentioned, explained, (), kind, 0.0)


def _explained_names(text: str, mentioned: Sequence[str]) -> tuple[str, ...]:
    """Return the names a line explains: few names, with at least three other words beside each."""
    if not 0 < len(mentioned) <= _MAX_NAMES:
        return ()
    line = text.lower()
    return tuple(name for name in mentioned if len(set(_WORDS.findall(line.replace(name.lower(), " ")))) >= _MIN_WORDS)
