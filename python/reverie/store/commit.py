"""Group commit: the writes of one commit, each in its own nested transaction, and the checksums that cover them all.

A durable flush takes milliseconds, a write's own work a fraction of one. So all writes that wait are put into one outer
LMDB transaction and share its flush. Each runs in a nested transaction: one that fails is aborted alone, and its
neighbours commit as if it had never been.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

import lmdb
import msgspec
import orjson

from reverie.decode import convert
from reverie.errors import Conflict, TooLarge, ValidationError, unexpected
from reverie.store.checksums import CollectionChecksum, checksum_key, collection_kind, root_key, stored_checksum
from reverie.store.codec import HASH_BYTES, Redactor, encode_record, seal_own
from reverie.store.env import translated_error
from reverie.store.keys import record_key, space_prefix
from reverie.store.kinds import RULES, SYSTEM_SPACE, Kind
from reverie.store.records import IdempotencyRecord, seal_record
from reverie.store.transactions import WriteTransaction
from reverie.store.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Callable

    from reverie.store.checksums import VerifiedCollections
    from reverie.store.env import Environment
    from reverie.store.migrations import Header

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Write(Generic[T]):
    """One write to be committed: the space, who writes, why, and the function that does it.

    `body` may be called again from the beginning where the store needs room, so it changes nothing but the Writer.
    `idempotency` is (key, hash of the request); the body's value must then be JSON, and is returned as JSON.
    `parent` is the operation that the write was decided from, if it is not the last one.
    `answers` is the type of the body's value where that is a Struct: a replayed value is converted to it.
    `in_system` writes bookkeeping of the system space in the same transaction: both are on disk, or neither.
    """

    space: str
    who: str
    why: str
    body: Callable[[Writer], T]
    idempotency: tuple[str, str] | None = None
    parent: int | None = None
    answers: type[T] | None = None
    in_system: Callable[[Writer], None] | None = None


@dataclass(frozen=True, slots=True)
class Done(Generic[T_co]):
    """The outcome of a write that is on disk: its operation's number, None where nothing but bookkeeping changed.

    `replayed`: the idempotency key was used before; `value` and `operation` are those of the first time.
    """

    value: T_co
    operation: int | None
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class Failed:
    """The outcome of a write of which nothing is on disk: the exception that it failed with."""

    error: Exception


Outcome: TypeAlias = Done[Any] | Failed


class GroupCommit:
    """One commit in progress. The caller owns the outer transaction `txn`, and commits or aborts it."""

    def __init__(
        self,
        env: Environment,
        txn: lmdb.Transaction[bytes],
        at_ms: int,
        redactor: Redactor,
        verified: VerifiedCollections,
    ) -> None:
        self._env = env
        self._txn = txn
        self._at_ms = at_ms
        self._redactor = redactor
        self._verified = verified
        self._checksums: dict[bytes, dict[bytes, CollectionChecksum]] = {}  # changed ones, by space and collection

    @property
    def changed(self) -> bool:
        """True if a write of this commit has changed a checksum."""
        return any(self._checksums.values())

    def run(self, write: Write[Any]) -> Outcome:
        """Run one write, all of it or nothing. Raises lmdb.MapFullError where the map must grow first."""
        nested = self._env.begin(self._txn)
        try:
            space = space_prefix(write.space)
            transaction = WriteTransaction(nested, space, self._at_ms, self._checksums.setdefault(space, {}))
            outcome = self._run_body(write, transaction)
            beside = self._run_in_system(write, nested)
            nested.commit()
        except lmdb.MapFullError:
            raise  # a full map makes the outer transaction useless as well: the whole commit is run again
        except BaseException as error:
            nested.abort()
            if isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread():
                raise  # Ctrl-C of a person, which ends the whole commit; only the main thread gets one
            # An exception that is meant to end its thread (SystemExit) must not end the writer: every later write
            # would wait for ever. The caller gets it as an unexpected error.
            return Failed(_without_lmdb(error) if isinstance(error, Exception) else unexpected(error))
        # Only now: the checksums of a write that was aborted must not be stored.
        transaction.merge_checksums()
        if beside is not None:
            beside.merge_checksums()
        return outcome

    def _run_in_system(self, write: Write[Any], nested: lmdb.Transaction[bytes]) -> WriteTransaction | None:
        """Run the part of a write that goes to the system space; return its transaction, None if there is none."""
        if write.in_system is None:
            return None
        assert write.space != SYSTEM_SPACE
        space = space_prefix(SYSTEM_SPACE)
        transaction = WriteTransaction(nested, space, self._at_ms, self._checksums.setdefault(space, {}))
        writer = Writer(transaction, SYSTEM_SPACE, self._verified, self._redactor)
        write.in_system(writer)
        writer.finish(who=write.who, why=write.why, parent=None)
        return transaction

    def _run_body(self, write: Write[Any], transaction: WriteTransaction) -> Done[Any]:
        """Run a write's body, or replay the answer to its idempotency key."""
        writer = Writer(transaction, write.space, self._verified, self._redactor)
        if write.idempotency is None:
            value = write.body(writer)
            return Done(value, writer.finish(who=write.who, why=write.why, parent=write.parent))
        key, request = write.idempotency
        raw = record_key(transaction.space, Kind.IDEMPOTENCY, (key,))
        answered = transaction.data(raw)
        if answered is not None:
            return _replay(transaction.load(IdempotencyRecord, raw, answered), request, write.answers)
        value = write.body(writer)
        operation = writer.finish(who=write.who, why=write.why, parent=write.parent)
        # In the same transaction as the change: there is no moment at which one is on disk without the other.
        answer = IdempotencyRecord(request=request, value=_plain(value), operation=operation)
        transaction.put(Kind.IDEMPOTENCY, raw, 0, seal_record(answer, self._redactor), None)
        return Done(value, operation)

    def seal(self, header: Header) -> str:
        """Store the changed checksums from the bottom up, then `header`; return the header's checksum in hex.

        Each level covers the records of the one below, so collection checksums go first, then the roots of their
        spaces, then the header.
        """
        for space, checksums in self._checksums.items():
            if checksums:
                self._seal_space(space, checksums, header)
        header.commits += 1
        return header.write(self._txn, self._at_ms)

    def _seal_space(self, space: bytes, checksums: dict[bytes, CollectionChecksum], header: Header) -> None:
        """Store the changed checksums of a space and its root, and include the root in the header's checksum."""
        raw = root_key(space)
        root = stored_checksum(self._txn, raw) or CollectionChecksum()
        for prefix, checksum in checksums.items():
            key = checksum_key(space, prefix)
            old = self._txn.get(key)
            if old is not None:
                root.remove(old[:HASH_BYTES])
            if checksum.count == 0 and RULES[collection_kind(space, prefix)].scope:
                # An emptied thread would leave a checksum behind for ever. One of a whole kind stays: a sequence's
                # `last` must not begin again.
                self._txn.delete(key)
                self._verified.emptied(prefix)
            else:
                root.add(self._put(key, checksum))
        old = self._txn.get(raw)
        if old is not None:
            header.spaces.remove(old[:HASH_BYTES])
        header.spaces.add(self._put(raw, root))

    def _put(self, key: bytes, checksum: CollectionChecksum) -> bytes:
        """Store a checksum as a record; return that record's own checksum."""
        record = encode_record(key, 0, self._at_ms, seal_own(checksum.as_json()).data)
        self._txn.put(key, record)
        return record[:HASH_BYTES]


def _plain(value: Any) -> Any:
    """Return the value as JSON has it, structs as objects, so that the first answer and its replay are equal."""
    try:
        return orjson.loads(orjson.dumps(value, default=_struct_as_dict))
    except orjson.JSONEncodeError as error:
        raise ValidationError(
            f"the answer cannot be kept for its idempotency key: {error}", hint="answer with plain JSON"
        ) from error


def _struct_as_dict(value: object) -> Any:
    if isinstance(value, msgspec.Struct):
        return msgspec.to_builtins(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


def _replay(answer: IdempotencyRecord, request: str, answers: type[Any] | None) -> Done[Any]:
    """Return the stored answer of a request whose idempotency key was used before.

    Raises Conflict where the key was used for another request.
    """
    if answer.request != request:
        raise Conflict(
            "this idempotency key was used for another request", hint="use a new key for each different request"
        )
    if answer.purged:
        raise Conflict(
            "the answer to this idempotency key was purged", hint="use a new key if the request is to run again"
        )
    value = answer.value if answers is None else convert(answer.value, answers)
    return Done(value, answer.operation, replayed=True)


def _without_lmdb(error: Exception) -> Exception:
    """Return what a body raised, as an error of `reverie.errors` where LMDB raised it."""
    if isinstance(error, lmdb.TxnFullError):
        return TooLarge("one write changes more than fits into a transaction", hint="split the write")
    if isinstance(error, lmdb.Error):
        return translated_error(error, "writing")
    return error
