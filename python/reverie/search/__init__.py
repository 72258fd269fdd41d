"""Search in what was said: what is indexed, what a question asks for beside its words, the best passage."""

from reverie.search.best_passage import clipped, passage
from reverie.search.question_weights import SPREAD_FROM, is_question, spread, surroundings_for
from reverie.search.score_fusion import NEAR, fused
from reverie.search.searchable_units import (
    K1,
    VERSION,
    B,
    content_text,
    document_units,
    is_number_of,
    message_text,
    message_unit,
    section_of,
)

__all__ = [
    "K1",
    "NEAR",
    "SPREAD_FROM",
    "VERSION",
    "B",
    "clipped",
    "content_text",
    "document_units",
    "fused",
    "is_number_of",
    "is_question",
    "message_text",
    "message_unit",
    "passage",
    "section_of",
    "spread",
    "surroundings_for",
]
