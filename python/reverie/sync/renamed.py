"""Files that were edited and renamed between two looks: still the same document, with all that it had become."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from reverie.sync.merge_plan import carried, copied
from reverie.sync.origin import origin
from reverie.sync.scan_context import sha256
from reverie.sync.three_way import combine, relocated
from reverie.sync.values import Case, Delete, Known, Moved, Plan, Put, Saved, Write

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reverie.sync.redaction_view import Veil
    from reverie.sync.scan_context import Look

__all__ = ["Renamed", "moved", "renamed", "renamed_plan"]

PAIRS_MAX = (
    1_000  # that are compared in one look; beyond, a file that moved with an edit is one that went and a new one
)
ALIKE = 0.5  # of the lines of the longer text that the other has too


@dataclass(frozen=True, slots=True)
class Renamed:
    """A document whose file is gone, and the new file that was made of it."""

    old: Case
    new: Case


def renamed(gone: Sequence[Case], new: Sequence[Case]) -> list[Renamed]:
    """The pairs that are alike, the most alike first; each file is in one at most. All are UTF-8."""
    if not gone or not new or len(gone) * len(new) > PAIRS_MAX:
        return []
    texts = {case.path: _lines(case.seen.decode()) for case in new if case.seen is not None}
    alike = [
        (-likeness, old.path, other.path, Renamed(old, other))
        for old in gone
        for likeness, other in _likenesses(old, new, texts)
        if likeness >= ALIKE
    ]
    found: list[Renamed] = []
    taken: set[str] = set()
    for _, old_path, new_path, pair in sorted(alike, key=lambda each: each[:3]):
        if not {old_path, new_path} & taken:
            taken |= {old_path, new_path}
            found.append(pair)
    return found


def moved(pair: Renamed, text: str) -> Plan:
    """The document goes where its file went, and says what the file says: `text`, seen through the redactor."""
    assert pair.old.held is not None
    assert pair.new.seen is not None
    return Plan(
        puts=(Put(pair.new.path, text, None),),
        deletes=(Delete(pair.old.path, pair.old.held.operation),),
        records=(Known(pair.new.path, sha256(pair.new.seen), None, saved=Saved(None)),),
        forgotten=(pair.old.path,),
        moves=(Moved(pair.old.path, pair.new.path),),
    )


def renamed_plan(pair: Renamed, look: Look) -> Plan:
    """As `moved`, with what agents wrote that the person who edited the file had not seen."""
    held, seen = pair.old.held, pair.new.seen
    assert held is not None
    assert seen is not None
    veil, found = look.veil(seen.decode()), sha256(seen)
    as_there = Case(pair.old.path, held, pair.old.known, seen, pair.old.versions, saved_at=pair.new.saved_at)
    base = origin(as_there, veil.text, saved=found, meant=False, now_ms=look.now_ms, rules=look.rules)
    plan = moved(pair, veil.text)
    if base is None:  # neither text was made from the other: the store's is kept beside the file
        return plan.joined(copied(pair.new.path, held.text, (), look))
    if base.text == held.text:
        return plan
    combined = combine(base.text, held.text, veil.text)
    after = carried(veil, combined.text, look)
    if after is None:  # the person's text is taken whole, and the store's is kept beside it
        return plan.joined(copied(pair.new.path, held.text, (), look))
    if after.raw != veil.raw:
        plan = _rewritten(plan, veil, after, look)
    regions = relocated(combined.regions, combined.text, after.text)
    return plan.joined(copied(pair.new.path, held.text, regions, look)) if regions else plan


def _rewritten(plan: Plan, saved: Veil, after: Veil, look: Look) -> Plan:
    """The plan of a move, whose file gets the words as well that its person had not seen."""
    path, found, data = plan.moves[0].new, sha256(saved.raw.encode()), after.raw.encode()
    told = Saved(None, saved.text)
    then = Known(path, sha256(data), None, merged=found, made_at=look.now_ms, saved=told)
    return replace(
        plan,
        puts=(Put(path, after.text, None),),
        records=(Known(path, found, 0, intended=frozenset({then.sha256}), merged=found, saved=told),),
        writes=(Write(path, data, found, then),),
    )


def _likenesses(old: Case, new: Sequence[Case], texts: Mapping[str, Counter[str]]) -> Iterator[tuple[float, Case]]:
    """How alike each new file is to what one that is gone may have said when its person began.

    `texts` are the lines of the new ones. Those of the old one are counted once for all, and are dropped then.
    """
    begun = [_lines(version.text) for version in islice(old.versions, 8)]
    for other in new:
        yield max((_alike(lines, texts[other.path]) for lines in begun), default=0.0), other


def _lines(text: str) -> Counter[str]:
    """The lines that say something, as often as they do."""
    return Counter(line for each in text.split("\n") if (line := each.strip()) and not line.startswith("> Summary:"))


def _alike(one: Counter[str], other: Counter[str]) -> float:
    """The share of lines that two texts have in common, of the longer one."""
    common = sum(min(one[line], other[line]) for line in one.keys() & other.keys())  # `one & other` asks for every line
    return common / max(one.total(), other.total(), 1)
