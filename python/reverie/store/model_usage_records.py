"""Typed records of the tokens that distillations, dreams and requests to models used, and of batches under way."""

from __future__ import annotations

from typing import ClassVar

import msgspec
from msgspec import field

from reverie.store.schema import Key, Kind
from reverie.store.typed_records import StoredRecord

__all__ = ["BatchEntry", "BatchedCall", "BatchesCursor", "LedgerRecord", "SpendRecord"]


class LedgerRecord(StoredRecord, frozen=True, kw_only=True):
    """The tokens that one distillation (`kind` thread) or dream used, and the total so far. Key: (seq,)."""

    KIND: ClassVar[Kind] = Kind.LEDGER

    kind: str
    ref: str
    tokens: int
    total: int
    at: str


class BatchedCall(msgspec.Struct, frozen=True):
    """A request of a batch: its id there, the day and the tokens that are reserved for it, and those that were sent."""

    call: str
    day: str
    tokens: int
    sent: int


class BatchEntry(msgspec.Struct, frozen=True):
    """A batch of requests to a model that was sent, or was about to be, and whose answers are not used yet.

    `provider` is the provider's id, empty until it is known. `calls` are the requests by their ids, `through` the last
    entry that was read of each thread.
    """

    id: str
    space: str
    at: str
    provider: str = ""
    calls: dict[str, BatchedCall] = {}
    through: dict[str, int] = {}


class BatchesCursor(StoredRecord, frozen=True, kw_only=True):
    """The batches of requests to a model that are under way. Key: `KEY`, in the system space."""

    KIND: ClassVar[Kind] = Kind.CURSOR
    KEY: ClassVar[Key] = ("batches",)

    batches: list[BatchEntry] = field(default_factory=list)


class SpendRecord(StoredRecord, frozen=True, kw_only=True):
    """The tokens and calls of requests to the model of one role on one UTC day. Key: (day, role), in the system space.

    `calls` are the requests that were sent, `failed` those of them that brought no answer. `cached_tokens` are those of
    `input_tokens` that the provider read from its cache. `reserved` has the requests whose end is not known, by id, and
    the most tokens that each may have used: written before it is sent, so that a process that is killed has sent
    nothing that is not counted.
    """

    KIND: ClassVar[Kind] = Kind.SPEND

    calls: int = 0
    failed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reserved: dict[str, int] = field(default_factory=dict)
