"""The plan of a reflection: changed blocks become changes of memories, screened like those of other sources; pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from msgspec.structs import replace

from reverie.consolidate import Decision, Proposal, candidates_to_add
from reverie.consolidate.apply import UPDATES_KEPT
from reverie.documents.layout import folder_of, memory_project, type_of_blocks
from reverie.language_model import pages
from reverie.language_model.extraction import time_of, why_waiting
from reverie.language_model.foreign import foreign_address, one_spelling, without_json_escapes
from reverie.language_model.prompts import REFLECT
from reverie.lazy_regex import lazy_regex
from reverie.models import DATE_CHARS, Add, Candidate, Delete, Keep, Memory, MemoryType, Update
from reverie.usecases import review, screening
from reverie.usecases.consolidation import forgotten_statements
from reverie.usecases.model_updates import held_updates

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reverie.language_model.pages import SourceEntry
    from reverie.models import Change, Message
    from reverie.redact import Redactor
    from reverie.usecases.consolidation import MemoryPlan, MemorySnapshot
    from reverie.usecases.reflection_files import Block
    from reverie.usecases.screening import Origin

UNQUOTED: Final = "it quotes no words of the thread"
FOREIGN: Final = "most of its words are in the output of a tool alone"
_WORD: Final = lazy_regex(r"\w{4,}")


class Reflected(NamedTuple):
    """All changes of a reflection together; `entries` are the record that they were made from."""

    new: Sequence[Block]
    updated: Sequence[Block]
    deleted: Mapping[str, Sequence[SourceEntry]]
    entries: Sequence[SourceEntry]
    model: str


def plan_of(
    reflected: Reflected,
    snapshot: MemorySnapshot,
    existing: Sequence[Memory],
    *,
    redactor: Redactor,
    at: str,
    random: bytes,
    thread: Origin,
    messages: Sequence[Message],
) -> MemoryPlan:
    """Return the plan; `existing` are the memories of the snapshot, `random` seeds the ids of new ones.

    What a person should see first is in its `waiting`.
    """
    reader = _Reader(reflected, redactor, at)
    candidates, candidates_in_review = reader.candidates()
    screened = screening.screened(snapshot, candidates, redactor=redactor, at=at, thread=thread, messages=messages)
    by_id = {memory.id: memory for memory in existing}
    changes, proposals = reader.changes(by_id)
    for waits in held_updates(changes, by_id, forgotten_statements(snapshot)):
        if changes.pop(waits.change.id, None) is not None:
            proposals.append(waits)
    after = [_after(memory, changes.get(memory.id)) for memory in existing]
    added = candidates_to_add(
        range(len(screened.usable)), screened.usable, [memory for memory in after if memory is not None]
    )
    memories: list[Change] = [changes.get(memory.id) or Keep(memory.id) for memory in existing]
    paths = {
        (change.candidate.type, change.candidate.content, change.candidate.project): str(path)
        for change in added
        if isinstance(change, Add) and (path := _path(change.candidate))
    }
    of_updates = {block.id: reader.provenance(block.sources) for block in reflected.updated}

    def revise(memory: Memory) -> Memory:
        """Return a changed memory with the source of its change, or a new one in the file that it was written to."""
        if memory.id in of_updates:
            updates = [*memory.provenance.get("updates", []), of_updates[memory.id]][-UPDATES_KEPT:]
            return replace(memory, provenance={**memory.provenance, "updates": updates})
        provenance = {key: value for key, value in memory.provenance.items() if key != "path"}
        path = paths.get((memory.type, memory.content, memory_project(memory)))
        return replace(memory, provenance=provenance, document=path or memory.document)

    plan = screening.plan_decision(
        snapshot,
        screened,
        Decision((*memories, *added), tuple(proposals)),
        existing=existing,
        tier=screening.tier_of(existing, snapshot.window),
        at=at,
        random=random,
        revise=revise,
    )
    for candidate, why in candidates_in_review:
        candidate.provenance.pop("path")
        waiting = screening.screened(snapshot, [candidate], redactor=redactor, at=at, thread=thread, messages=())
        plan.waiting += [
            *waiting.waiting,
            *(review.quarantined(usable, why, at=at) for usable in waiting.usable),
        ]
    return plan


class _Reader:
    """Turns new blocks into candidates, other changed blocks into changes; says which wait for a person, and why."""

    def __init__(self, reflected: Reflected, redactor: Redactor, at: str) -> None:
        self._reflected = reflected
        self._redactor = redactor
        self._at = at
        own = [entry for entry in reflected.entries if entry.speaker not in pages.FOREIGN]
        self._own = _words(entry.text for entry in own)
        self._own_text = one_spelling(
            "\n".join(without_json_escapes(one.text) if one.speaker == "call" else one.text for one in own)
        )
        self._foreign = _words(entry.text for entry in reflected.entries if entry.speaker in pages.FOREIGN)

    def candidates(self) -> tuple[list[Candidate], list[tuple[Candidate, str]]]:
        """Return the candidates of new blocks: those to consolidate, and those that wait, with the reason."""
        usable: list[Candidate] = []
        waiting: list[tuple[Candidate, str]] = []
        for block in self._reflected.new:
            candidate = self._candidate(block)
            why = self._why(f"{candidate.title or ''} {candidate.content}", block.sources)
            if why:
                waiting.append((candidate, why))
            else:
                usable.append(candidate)
        return usable, waiting

    def changes(self, by_id: Mapping[str, Memory]) -> tuple[dict[str, Update | Delete], list[Proposal]]:
        """Return the changes of memories by id, and those that only a person may make."""
        made: dict[str, Update | Delete] = {}
        proposals: list[Proposal] = []
        for block in self._reflected.updated:
            content = self._redactor.text(block.item.content)
            self._place(by_id[block.id], Update(block.id, content, block.item.tags), block.sources, made, proposals)
        for name, sources in self._reflected.deleted.items():
            self._place(by_id[name], Delete(name), sources, made, proposals)
        return made, proposals

    def provenance(self, sources: Sequence[SourceEntry]) -> dict[str, Any]:
        """Return where words come from: the entries that were quoted, the prompt and the model."""
        seqs = sorted({entry.seq for entry in sources if entry.seq > 0})
        return {"seqs": seqs, "prompt": REFLECT, "model": self._redactor.text(self._reflected.model)[:200]}

    def _place(
        self,
        memory: Memory,
        change: Update | Delete,
        sources: Sequence[SourceEntry],
        made: dict[str, Update | Delete],
        proposals: list[Proposal],
    ) -> None:
        why = self._why(change.content if isinstance(change, Update) else "", sources, before=memory.content)
        if memory.trust == "person":
            why = why or "a reflection found it outdated or contradicted"
        if why:
            proposals.append(Proposal(change, why))
        else:
            made[memory.id] = change

    def _candidate(self, block: Block) -> Candidate:
        kind = type_of_blocks(block.path) or MemoryType.FACT
        at = time_of(block.sources, self._at)
        fields = block.item.fields
        if kind is MemoryType.EPISODE and not any(key == "Date" for key, _ in fields):
            fields = (*fields, ("Date", at[:DATE_CHARS]))
        return Candidate(
            type=kind,
            content=block.item.content,
            tags=block.item.tags,
            subject="user" if _is_of_person(block.path, kind) else "project",
            title=block.item.title,
            fields=fields,
            at=at,
            provenance={**self.provenance(block.sources), "path": block.path},
        )

    def _why(self, text: str, sources: Sequence[SourceEntry], *, before: str = "") -> str:
        """Return why a person has to accept a change first, empty where it may be made; `before` are the old words."""
        if not sources:
            return UNQUOTED
        words = set(_WORD.findall(text.casefold()))
        if len(words & (self._foreign - self._own)) > len(words & self._own):
            return FOREIGN
        if foreign := foreign_address(text, f"{self._own_text}\n{one_spelling(before)}"):
            return f"it names {foreign}, which neither the person nor the agent wrote"
        return why_waiting(text, sources)


def _path(candidate: Candidate) -> str | None:
    """Return the file below `facts/` that a candidate was written to; None if it is in another project's folder."""
    path = str(candidate.provenance.get("path", ""))
    return path if path.startswith("facts/") and folder_of(path) in {None, candidate.project or None} else None


def _is_of_person(path: str, kind: MemoryType) -> bool:
    """Return True if memories in this file are the person's and no project's: `facts/user.md`, or preferences."""
    return folder_of(path) is None and (path == "facts/user.md" or kind is MemoryType.PREFERENCE)


def _after(memory: Memory, change: Change | None) -> Memory | None:
    """Return a memory after a change, None for a deleted one."""
    match change:
        case Update():
            return replace(memory, content=change.content, tags=change.tags)
        case Delete():
            return None
        case _:
            return memory


def _words(texts: Any) -> set[str]:
    return {word for text in texts for word in _WORD.findall(text.casefold())}
