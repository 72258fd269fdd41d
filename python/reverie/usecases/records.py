"""Stored records and the values they hold: one conversion each way, nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from reverie.errors import Damaged
from reverie.models import Distillation, Entry, EntryKind, Passage, Section, Summary, WorkingState
from reverie.store import open_sealed

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "distillation_of",
    "distillation_record",
    "entry_of",
    "entry_record",
    "opened_entry",
    "record",
    "value",
]

T = TypeVar("T")

_ENTRY_FIELDS = ("id", "parent", "role", "content", "reply", "at", "usage", "raw")


def record(given: Any) -> dict[str, Any]:
    """A frozen value as the JSON object that is stored. Tuples become lists: only JSON is looked into for secrets."""
    built: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(given))
    return built


def value(kind: type[T], stored: Mapping[str, Any]) -> T:
    """The frozen value of a stored JSON object; fields of a later version are left out."""
    return msgspec.convert(stored, kind)


def entry_record(entry: Entry) -> dict[str, Any]:
    """An entry without its sequence (that is its key) and without what is empty."""
    stored: dict[str, Any] = {"kind": entry.kind.value}
    for name in _ENTRY_FIELDS:
        if (held := getattr(entry, name)) is not None:
            stored[name] = held
    if entry.tokens:
        stored["tokens"] = entry.tokens
    if entry.extra:
        stored["extra"] = entry.extra
    if entry.line:
        stored["line"] = entry.line
    return stored


def entry_of(seq: int, stored: Mapping[str, Any]) -> Entry:
    """The entry at `seq` of its thread."""
    return Entry(
        kind=EntryKind(stored["kind"]),
        seq=seq,
        tokens=stored.get("tokens", 0),
        extra=stored.get("extra", {}),
        line=stored.get("line", 0),
        **{name: stored.get(name) for name in _ENTRY_FIELDS},
    )


def distillation_record(made: Distillation) -> dict[str, Any]:
    """A distillation as it is stored: its summary by section, its passages, state and digest."""
    return {
        "number": made.summary.number,
        "sections": {section.value: list(lines) for section, lines in made.summary.sections.items()},
        "passages": [
            [passage.text, passage.seq, passage.tokens, passage.origin, passage.place] for passage in made.passages
        ],
        "state": record(made.state),
        "digest": made.digest,
        "throughSeq": made.through_seq,
    }


def distillation_of(stored: Mapping[str, Any]) -> Distillation:
    """The distillation of a stored record; passages keep the rank of their order."""
    sections = stored["sections"]
    return Distillation(
        summary=Summary(
            number=stored["number"], sections={section: tuple(sections.get(section.value, ())) for section in Section}
        ),
        passages=tuple(
            Passage(text=text, seq=seq, rank=rank, tokens=tokens, origin=origin, place=place)
            for rank, (text, seq, tokens, origin, place) in enumerate(stored["passages"])
        ),
        state=value(WorkingState, stored["state"]),
        digest=stored["digest"],
        through_seq=stored["throughSeq"],
    )


def opened_entry(thread_id: str, seq: int, data: bytes) -> Entry:
    """The entry inside sealed bytes.

    Raises:
        Damaged: naming the entry, where the bytes are not those that were sealed.
    """
    try:
        return entry_of(seq, open_sealed(data))
    except Damaged as error:
        raise Damaged(f"entry {seq} of thread {thread_id} is damaged", hint="run `reverie check`") from error
