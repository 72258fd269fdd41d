"""Conversions between stored records and the values that the pure parts work with."""

from __future__ import annotations

from reverie.models import Distillation, Passage, Section, Summary
from reverie.store import DistillationRecord, PassageRecord

__all__ = ["distillation_of", "distillation_record"]


def distillation_record(
    distillation: Distillation, *, text: str, archive: str, last_seq: int, tokens_after: int, at: str
) -> DistillationRecord:
    """Return a distillation as it is stored; `text` is its rendered summary, `archive` the archive's SHA-256."""
    return DistillationRecord(
        number=distillation.summary.number,
        sections={section.value: list(lines) for section, lines in distillation.summary.sections.items()},
        passages=[
            PassageRecord(passage.text, passage.seq, passage.tokens, passage.origin, passage.place)
            for passage in distillation.passages
        ],
        state=distillation.state,
        digest=distillation.digest,
        through_seq=distillation.through_seq,
        text=text,
        archive=archive,
        last_seq=last_seq,
        tokens_after=tokens_after,
        at=at,
    )


def distillation_of(stored: DistillationRecord) -> Distillation:
    """Return the distillation of a record that was made here (not imported); passages are stored best rank first."""
    assert stored.state is not None
    sections = stored.sections or {}
    return Distillation(
        summary=Summary(
            number=stored.number, sections={section: tuple(sections.get(section.value, ())) for section in Section}
        ),
        passages=tuple(
            Passage(
                text=passage.text,
                seq=passage.seq,
                rank=rank,
                tokens=passage.tokens,
                origin=passage.origin,
                place=passage.place,
            )
            for rank, passage in enumerate(stored.passages or ())
        ),
        state=stored.state,
        digest=stored.digest or "",
        through_seq=stored.through_seq,
    )
