"""The kinds of record in the store: the key of each, and the rules that it follows.

FORMAT.md section 4 prints the same table; a test compares the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

Key: TypeAlias = tuple[str | int, ...]

FORMAT = 1  # version of the records on disk; changing it needs a migration
SYSTEM_SPACE = "#system"  # the space of records that belong to no caller: spaces, tokens, the header
KEY_BYTES_MAX = 511  # bytes of a whole key: what LMDB is compiled with
SPACE_BYTES_MAX = 64  # UTF-8 bytes of a space's name; the rest of a key is left for its parts
BLOB_BYTES_MIN = 64 * 1024  # bytes; a longer sealed value is stored once, under its content address
EVENTS_MAX = 100_000  # events that one write may announce, so that a loop cannot fill the disk
RESERVED_CODES = frozenset({8, 14})  # of kinds that no longer exist: an old store may have such a record


class Kind(StrEnum):
    """Every kind of record. The value is its name in operations, reports and errors; keys have `Rule.code` instead."""

    SPACE = "space"
    THREAD = "thread"
    ENTRY = "entry"
    STATE = "state"
    NOTE = "note"
    DIGEST = "digest"
    DISTILLATION = "distillation"
    MEMORY = "memory"
    DOCUMENT = "document"
    ARCHIVE = "archive"
    DREAM = "dream"
    SCHEDULE = "schedule"
    TOKEN = "token"  # noqa: S105 - the name of a kind of record, not a password
    IMPORT = "import"
    BASELINE = "published"  # the name in reports since the first version, as `tally` below
    CURSOR = "cursor"
    IDEMPOTENCY = "idempotency"
    OPERATION = "operation"
    EVENT = "event"
    BLOB = "blob"
    LEDGER = "ledger"
    ACCESS = "access"
    VERSION = "version"
    CHECKSUM = "tally"
    ROOT = "root"
    HEADER = "header"
    CONFLICT = "conflict"
    RETIRED = "retired"
    OUTLINE = "outline"
    FINGERPRINT = "fingerprint"
    SPEND = "spend"
    CANDIDATE = "candidate"
    FORGOTTEN = "forgotten"
    RUN = "run"
    RUN_FILE = "runFile"
    BRIEF = "brief"
    DROPPED_LINE = "droppedLine"
    REDACTION = "redaction"


@dataclass(frozen=True, slots=True)
class Rule:
    """The key of one kind, and what happens to its records.

    `code` is the kind's byte in keys on disk; it is never used again for another kind.
    `parts` are the names of its key parts. `scope` is how many leading parts name a collection, the records that share
    one checksum: 0 for all records of the kind in a space, 1 for those of one thread.
    `undo` is what an undo does with a change of the kind: `restore` puts the version before it back, `leave` skips the
    change, `refuse` makes the whole operation impossible to undo.
    `versioned`: superseded versions are kept. `bookkeeping`: a change makes no operation. `internal`: only the store
    writes it. `sequence`: the last key part is a dense number from 1 that the store assigns.
    `hashed`: the first key part is stored as its SHA-256, because it may be longer than a key; `field` is the field of
    the value that repeats the part, None where nothing needs to read it back.
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


def _versioned(code: int, *parts: str, field: str | None = None) -> Rule:
    """Return the rule of a kind whose superseded versions are kept, so that an undo can put one back."""
    return Rule(code, parts, undo="restore", versioned=True, hashed=field is not None, field=field)


def _bookkeeping(code: int, *parts: str, field: str | None = None, hashed: bool = False) -> Rule:
    """Return the rule of a kind that changes without making an operation."""
    return Rule(code, parts, bookkeeping=True, hashed=hashed or field is not None, field=field)


RULES: dict[Kind, Rule] = {
    Kind.SPACE: Rule(1, ("space",)),
    Kind.THREAD: Rule(2, ("thread",)),
    Kind.ENTRY: Rule(3, ("thread", "seq"), scope=1, undo="refuse", sequence=True),
    Kind.STATE: _versioned(4, "thread"),
    Kind.NOTE: _versioned(5, "thread", "note"),
    Kind.DIGEST: _versioned(6, "thread"),
    Kind.DISTILLATION: _versioned(7, "thread", "number"),
    Kind.MEMORY: _versioned(9, "memory"),
    Kind.DOCUMENT: _versioned(10, "path", field="path"),
    Kind.ARCHIVE: Rule(11, ("sha256",)),
    Kind.DREAM: Rule(12, ("dream",)),
    Kind.SCHEDULE: Rule(13, ("schedule",)),
    Kind.TOKEN: Rule(15, ("sha256",)),
    Kind.IMPORT: _bookkeeping(16, "source", field="source"),
    Kind.BASELINE: _bookkeeping(17, "path", field="path"),
    Kind.CURSOR: _bookkeeping(18, "name"),
    Kind.IDEMPOTENCY: Rule(19, ("key",), bookkeeping=True, internal=True, hashed=True),
    Kind.OPERATION: Rule(20, ("seq",), internal=True, sequence=True),
    Kind.EVENT: Rule(21, ("seq",), bookkeeping=True, internal=True, sequence=True),
    Kind.BLOB: Rule(22, ("content", "part"), bookkeeping=True, internal=True),
    Kind.LEDGER: Rule(23, ("seq",), sequence=True),
    Kind.ACCESS: _bookkeeping(24, "memory"),
    Kind.VERSION: Rule(25, ("kind", "key", "operation"), scope=1, bookkeeping=True, internal=True),
    Kind.CHECKSUM: Rule(26, ("kind", "scope"), bookkeeping=True, internal=True),
    Kind.ROOT: Rule(27, (), bookkeeping=True, internal=True),
    Kind.HEADER: Rule(28, (), bookkeeping=True, internal=True),
    Kind.CONFLICT: _versioned(29, "conflict"),
    Kind.RETIRED: _bookkeeping(30, "sha256"),
    Kind.OUTLINE: Rule(31, ("thread", "part"), scope=1, bookkeeping=True),
    Kind.FINGERPRINT: _bookkeeping(32, "slot"),
    Kind.SPEND: _bookkeeping(33, "day", "role"),
    Kind.CANDIDATE: _versioned(34, "candidate"),
    Kind.FORGOTTEN: _versioned(35, "sha256"),
    Kind.RUN: Rule(36, ("run",)),
    Kind.RUN_FILE: Rule(37, ("run", "sha256")),
    Kind.BRIEF: _bookkeeping(38, "thread"),
    Kind.DROPPED_LINE: _versioned(39, "line"),
    Kind.REDACTION: _bookkeeping(40, "redaction"),
}

# The thread's own record is last; a deletion removes it before all others.
THREAD_KINDS = (
    *(kind for kind, rule in RULES.items() if rule.parts[:1] == ("thread",) and kind is not Kind.THREAD),
    Kind.THREAD,
)

_BY_CODE = {rule.code: kind for kind, rule in RULES.items()}


def rule_by_code(code: int) -> Kind | None:
    """Return the kind with this byte in its keys, or None for a byte that this version does not know."""
    return _BY_CODE.get(code)
