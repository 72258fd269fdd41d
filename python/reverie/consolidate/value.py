"""Says which statements are too general to be worth a place, and how two statements become one."""

from __future__ import annotations

from reverie.consolidate.relation import Reading, Relation, read, relate
from reverie.models import MemoryType

__all__ = ["MERGED_CHARS_MAX", "is_generic", "merge"]

MERGED_CHARS_MAX = 480
_GENERIC_WORDS_MAX = 5
_JOINT = "; "
# A short mistake or preference still prevents a failure or says what somebody wants; these are never "generic".
_MAY_BE_GENERIC = frozenset({MemoryType.SKILL, MemoryType.FACT, MemoryType.PROCEDURE, MemoryType.OBSERVATION})


def is_generic(reading: Reading, kind: MemoryType, scope: str) -> bool:
    """Whether a statement is short and names nothing: no number, path, identifier, name or subject."""
    if kind not in _MAY_BE_GENERIC or scope == "fact:user" or reading.subject is not None or reading.distinctive:
        return False
    names = any(word[:1].isupper() or "`" in word for word in reading.text.split()[1:])
    return not names and len(reading.words) <= _GENERIC_WORDS_MAX


def merge(old: Reading, new: Reading) -> Reading | None:
    """One statement that says both; None when it would be too long to be useful."""
    if relate(new, old, keyed=False) in {Relation.SAME, Relation.COVERED}:
        return old
    # `relate` never calls one word covered: of "run" and "run the tests" it cannot know that they are about the same.
    # Here they are to become one statement, and "run the tests; run" would say no more than "run the tests".
    if len(new.sequence) < 2 and new.words <= old.words:
        return old
    text = _JOINT.join((old.text.rstrip().rstrip(".;"), new.text.strip().rstrip(".;")))
    return read(text) if len(text) <= MERGED_CHARS_MAX and "\n" not in text else None
