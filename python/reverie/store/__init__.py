"""Keeps spaces in LMDB: checksummed records, operations with every change, one durable flush for many writers."""

from __future__ import annotations

from reverie.store.codec import Redactor, Sealed, open_sealed, seal
from reverie.store.group_commit import Done, Failed, Write
from reverie.store.lock import StoreLock
from reverie.store.reader import Reader, Version
from reverie.store.rollback_guard import needs_check
from reverie.store.schema import RULES, SYSTEM_SPACE, Key, Kind
from reverie.store.store import Store
from reverie.store.writer import Writer

__all__ = [
    "RULES",
    "SYSTEM_SPACE",
    "Done",
    "Failed",
    "Key",
    "Kind",
    "Reader",
    "Redactor",
    "Sealed",
    "Store",
    "StoreLock",
    "Version",
    "Write",
    "Writer",
    "needs_check",
    "open_sealed",
    "seal",
]
