"""What kinds of record the store holds, how each is keyed, and which rules each obeys.

The table here is the one that FORMAT.md prints; a test compares the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

__all__ = [
    "BLOB_BYTES_MIN",
    "EVENTS_MAX",
    "FORMAT",
    "HISTORY_KINDS",
    "KEY_BYTES_MAX",
    "RULES",
    "SPACE_BYTES_MAX",
    "SYSTEM_SPACE",
    "Key",
    "Kind",
    "Rule",
    "rule_by_code",
]

Key: TypeAlias = tuple[str | int, ...]

FORMAT = 1  # of the records on disk; a change needs a migration
SYSTEM_SPACE = "#system"  # where the store keeps what belongs to no caller's space
KEY_BYTES_MAX = 511  # LMDB's own limit
SPACE_BYTES_MAX = 64  # UTF-8 bytes of a space's name
BLOB_BYTES_MIN = 64 * 1024  # a longer body is stored once, by its content
EVENTS_MAX = 100_000  # that one write may announce


class Kind(StrEnum):
    """Every kind of record. The value is the word used in operations, reports and errors."""

    SPACE = "space"
    THREAD = "thread"
    ENTRY = "entry"
    STATE = "state"
    NOTE = "note"
    DIGEST = "digest"
    DISTILLATION = "distillation"
    RUN = "run"
    MEMORY = "memory"
    DOCUMENT = "document"
    ARCHIVE = "archive"
    DREAM = "dream"
    SCHEDULE = "schedule"
    JOB = "job"
    TOKEN = "token"  # noqa: S105 - the name of a kind of record, not a password
    IMPORT = "import"
    PUBLISHED = "published"
    CURSOR = "cursor"
    IDEMPOTENCY = "idempotency"
    OPERATION = "operation"
    EVENT = "event"
    BLOB = "blob"
    LEDGER = "ledger"
    ACCESS = "access"
    VERSION = "version"
    TALLY = "tally"
    ROOT = "root"
    HEADER = "header"
    CONFLICT = "conflict"
    RETIRED = "retired"


@dataclass(frozen=True, slots=True)
class Rule:
    """How one kind is keyed and what happens to it.

    `code` stands in keys on disk and is never used again for another kind.
    `scope` is how many leading key parts name a collection: the records counted and digested together.
    `undo`: `restore` puts the earlier version back, `leave` is passed over by an undo, `refuse` makes it impossible.
    `versioned` keeps every version. `bookkeeping` never makes an operation. `internal` is written by the store alone.
    `sequence` kinds end in a dense number that the store gives. `hashed` kinds keep their first key part only as its
    SHA-256; `field` is where the value repeats that part.
    """

    code: int
    parts: tuple[str, ...]
    scope: int = 0
    undo: Literal["restore", "leave", "refuse"] = "leave"
    versioned: bool = False
    bookkeeping: bool = False
    internal: bool = False
    sequence: bool = False
    hashed: bool = False
    field: str | None = None


def _kept(code: int, *parts: str, field: str | None = None) -> Rule:
    """A kind whose every version is kept and can be put back."""
    return Rule(code, parts, undo="restore", versioned=True, hashed=field is not None, field=field)


def _bookkeeping(code: int, *parts: str, field: str | None = None, hashed: bool = False) -> Rule:
    """A kind that changes without an operation."""
    return Rule(code, parts, bookkeeping=True, hashed=hashed or field is not None, field=field)


RULES: dict[Kind, Rule] = {
    Kind.SPACE: Rule(1, ("space",)),
    Kind.THREAD: Rule(2, ("thread",)),
    Kind.ENTRY: Rule(3, ("thread", "seq"), scope=1, undo="refuse", sequence=True),
    Kind.STATE: _kept(4, "thread"),
    Kind.NOTE: _kept(5, "thread", "note"),
    Kind.DIGEST: _kept(6, "thread"),
    Kind.DISTILLATION: _kept(7, "thread", "number"),
    Kind.RUN: Rule(8, ("run",)),
    Kind.MEMORY: _kept(9, "memory"),
    Kind.DOCUMENT: _kept(10, "path", field="path"),
    Kind.ARCHIVE: Rule(11, ("sha256",)),
    Kind.DREAM: Rule(12, ("dream",)),
    Kind.SCHEDULE: Rule(13, ("schedule",)),
    Kind.JOB: _bookkeeping(14, "job"),
    Kind.TOKEN: Rule(15, ("sha256",)),
    Kind.IMPORT: _bookkeeping(16, "source", field="source"),
    Kind.PUBLISHED: _bookkeeping(17, "path", field="path"),
    Kind.CURSOR: _bookkeeping(18, "name"),
    Kind.IDEMPOTENCY: Rule(19, ("key",), bookkeeping=True, internal=True, hashed=True),
    Kind.OPERATION: Rule(20, ("seq",), internal=True, sequence=True),
    Kind.EVENT: Rule(21, ("seq",), bookkeeping=True, internal=True, sequence=True),
    Kind.BLOB: Rule(22, ("content", "part"), bookkeeping=True, internal=True),
    Kind.LEDGER: Rule(23, ("seq",), sequence=True),
    Kind.ACCESS: _bookkeeping(24, "memory"),
    Kind.VERSION: Rule(25, ("kind", "key", "operation"), scope=1, bookkeeping=True, internal=True),
    Kind.TALLY: Rule(26, ("kind", "scope"), bookkeeping=True, internal=True),
    Kind.ROOT: Rule(27, (), bookkeeping=True, internal=True),
    Kind.HEADER: Rule(28, (), bookkeeping=True, internal=True),
    Kind.CONFLICT: _kept(29, "conflict"),
    Kind.RETIRED: _bookkeeping(30, "sha256"),
}

HISTORY_KINDS = tuple(kind for kind, rule in RULES.items() if rule.versioned)

_BY_CODE = {rule.code: kind for kind, rule in RULES.items()}


def rule_by_code(code: int) -> Kind | None:
    """The kind that a byte in a key stands for, or None for a byte this version does not know."""
    return _BY_CODE.get(code)
