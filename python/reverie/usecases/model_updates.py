"""Updates by a model that wait for a person: near to what was forgotten, turned round, or without a person's words.

A candidate is compared with what was forgotten before it is consolidated (`candidate_review.screen`). The words of an
UPDATE are a model's own: they may say what neither the memory nor a candidate says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reverie.consolidate import Proposal
from reverie.consolidate.forgotten import Forgotten
from reverie.consolidate.statements import Relation, parse_statement, relate
from reverie.documents.layout import memory_project
from reverie.lazy_regex import lazy_regex
from reverie.models import Candidate, MemoryType, Update
from reverie.words import count_negations

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reverie.consolidate.forgotten import ForgottenStatement
    from reverie.models import Delete, Memory

_SHOWN_CHARS: Final = 160  # of the forgotten statement that a proposal quotes
_LOSES_WORDS: Final = "it would change words that the person said"
_TURNED: Final = "it would say the opposite of the memory, or deny less"
_QUOTED: Final = lazy_regex(r"“[^”]+”")


def held_updates(
    changes: Mapping[str, Update | Delete],
    existing: Mapping[str, Memory],
    forgotten: Iterable[ForgottenStatement],
    candidates: Sequence[Candidate] = (),
) -> list[Proposal]:
    """Return proposals in place of the updates that wait; `changes` and `existing` are by the memory's id.

    `candidates` are those of the run, which the updates name by index.

    One whose new words are near to a forgotten statement, unless the memory was before. Example: with "The release
    captain is Mira" forgotten, "The loader runs at night; the release captain is Mira" for "The loader runs daily".
    One that turns its memory round. And one of a wish or a choice that does not keep all of its words: adding to them
    is no change of what was said.
    """
    updates = [change for change in changes.values() if isinstance(change, Update)]
    if not updates:
        return []
    statements = Forgotten(forgotten)
    proposals = []
    for change in updates:
        memory = existing[change.id]
        near = _near(statements, memory, change.content)
        if near is not None and near != _near(statements, memory, memory.content):
            proposals.append(Proposal(change, f"it is near to what was forgotten: {near[:_SHOWN_CHARS]}", "forgotten"))
        elif turns(memory, change.content) and not _is_superseded(memory, change, candidates):
            proposals.append(Proposal(change, _TURNED, "contradiction"))
        elif _is_persons_word(memory) and not _keeps(memory, change.content):
            proposals.append(Proposal(change, _LOSES_WORDS, "contradiction"))
    return proposals


def turns(memory: Memory, content: str) -> bool:
    """Return True if a content contradicts a memory, or denies less: "push to main" for "never push to main"."""
    if memory.type is MemoryType.EPISODE:
        return False
    new, old = parse_statement(content), parse_statement(memory.content)
    is_less = count_negations(new.sequence) < count_negations(old.sequence)
    return is_less or relate(new, old, keyed=False) is Relation.CONTRADICTS


def _is_superseded(memory: Memory, change: Update, candidates: Sequence[Candidate]) -> bool:
    """Return True for a state of things that a candidate says is another one now, and the update no more than that.

    Example: "The cache is in Postgres" and the candidate "The cache is in SQLite, not in Postgres". What chooses or
    forbids ("use pnpm, not npm") is no state of things, and no wish is.
    """
    if change.candidate_index is None or memory.type in {MemoryType.PREFERENCE, MemoryType.MISTAKE}:
        return False
    new, old = parse_statement(change.content), parse_statement(memory.content)
    said = parse_statement(candidates[change.candidate_index].content)
    return not count_negations(old.sequence) and relate(new, said, keyed=False) in {Relation.SAME, Relation.COVERED}


def _near(statements: Forgotten, memory: Memory, content: str) -> str | None:
    """Return the forgotten statement nearest to a content of a memory, "" for a purged one; None where none is near."""
    kind = MemoryType.FACT if memory.type is MemoryType.EPISODE else memory.type
    nearest = statements.nearest(Candidate(kind, content, project=memory_project(memory)))
    return None if nearest is None else nearest[1]


def _is_persons_word(memory: Memory) -> bool:
    """Return True for a wish, and for what quotes the person: a choice has question and answer in “…”."""
    return memory.type is MemoryType.PREFERENCE or (
        memory.type is MemoryType.FACT and _QUOTED.search(memory.content) is not None
    )


def _keeps(memory: Memory, content: str) -> bool:
    """Return True if a content has all words of a memory, in order, and denies no more of them and no less."""
    relation = relate(parse_statement(content), parse_statement(memory.content), keyed=False)
    return relation in {Relation.SAME, Relation.EXTENDS}
