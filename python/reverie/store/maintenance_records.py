"""Typed records of the store's maintenance: identity, conversions, purges, compactions, backups, fingerprints."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec
from msgspec import field

from reverie.store.schema import Key, Kind
from reverie.store.typed_records import StoredRecord

__all__ = [
    "BackupEntry",
    "BackupsCursor",
    "CompactionCursor",
    "FingerprintRecord",
    "FingerprintsCursor",
    "IdentityRecord",
    "PendingPurge",
    "PurgesCursor",
    "VersionsCursor",
]


class IdentityRecord(StoredRecord, frozen=True, kw_only=True):
    """The random id of this store; a restored backup keeps it. Key: `KEY`, in the system space."""

    KIND: ClassVar[Kind] = Kind.CURSOR
    KEY: ClassVar[Key] = ("identity",)

    id: str


class VersionsCursor(StoredRecord, frozen=True, kw_only=True):
    """Progress of the conversion of whole versions, as older releases stored them, to edits. Key: `KEY`.

    `after` is the key of the last version looked at, in hex; `done` once all were.
    """

    KIND: ClassVar[Kind] = Kind.CURSOR
    KEY: ClassVar[Key] = ("versions",)

    after: str = ""
    done: bool = False


class PendingPurge(msgspec.Struct, frozen=True, rename="camel"):
    """A purge that is under way: the memory, document or thread, by its key.

    `keep_memories`: what was learnt from the thread stays.
    """

    kind: Literal["memory", "document", "thread"]
    key: str
    keep_memories: bool = False


class PurgesCursor(StoredRecord, frozen=True, kw_only=True):
    """The purges that are under way, and the archives that they replaced, whose files have to go. Key: `KEY`."""

    KIND: ClassVar[Kind] = Kind.CURSOR
    KEY: ClassVar[Key] = ("purges",)

    pending: list[PendingPurge] = field(default_factory=list)
    archives: list[str] = field(default_factory=list)


class CompactionCursor(StoredRecord, frozen=True, kw_only=True):
    """The time of the last purge whose bytes are still in the store's file. Key: `KEY`, in the system space."""

    KIND: ClassVar[Kind] = Kind.CURSOR
    KEY: ClassVar[Key] = ("compaction",)

    since: str


class BackupEntry(msgspec.Struct, frozen=True):
    """A backup that was made: its path and time."""

    path: str
    at: str


class BackupsCursor(StoredRecord, frozen=True, kw_only=True):
    """The backups that were made, so that a purge can name those that have it. Key: `KEY`, in the system space."""

    KIND: ClassVar[Kind] = Kind.CURSOR
    KEY: ClassVar[Key] = ("backups",)

    backups: list[BackupEntry] = field(default_factory=list)


class FingerprintRecord(StoredRecord, frozen=True, kw_only=True):
    """The keyed hash of a redacted value; `reverie.redact.Fingerprint` explains the fields.

    Key: (slot,), in the system space.
    """

    KIND: ClassVar[Kind] = Kind.FINGERPRINT

    number: int
    hash: str
    length: int
    prefix: int
    marker: str


class FingerprintsCursor(StoredRecord, frozen=True, kw_only=True):
    """The key of the fingerprints, in hex. Key: `KEY`, in the system space."""

    KIND: ClassVar[Kind] = Kind.CURSOR
    KEY: ClassVar[Key] = ("fingerprints",)

    salt: str
