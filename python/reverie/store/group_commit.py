"""The writes of one commit, each in a nested transaction of its own, and the tallies that seal them together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

import lmdb
import msgspec
import orjson

from reverie.errors import Conflict, TooLarge, ValidationError
from reverie.store.codec import HASH_BYTES, Redactor, bind, seal, seal_own
from reverie.store.collection_checksum import Tally, kind_of, tally_key
from reverie.store.integrity import root_key, stored_tally
from reverie.store.keys import record_key, space_prefix
from reverie.store.lmdb_errors import translate
from reverie.store.schema import RULES, Kind
from reverie.store.write_txn import Draft
from reverie.store.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Callable

    from reverie.store.env import Environment
    from reverie.store.header import Header
    from reverie.store.integrity import Trust

__all__ = ["Batch", "Done", "Failed", "Write"]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Write(Generic[T]):
    """One write: whose space, who writes, why, and the body that does it.

    `body` may be called again from the beginning where the store needs room, so it changes nothing but the Writer.
    `idempotency` is (key, hash of the request); the body's value must then be JSON, and comes back as JSON.
    `parent` is the operation that the write was decided from, if it is not the last one.
    `answers` is the type of the body's value where that is a Struct: a replayed value is converted to it.
    """

    space: str
    who: str
    why: str
    body: Callable[[Writer], T]
    idempotency: tuple[str, str] | None = None
    parent: int | None = None
    answers: type[T] | None = None


@dataclass(frozen=True, slots=True)
class Done(Generic[T_co]):
    """A write that is on disk. `operation` is its number, None where only bookkeeping or nothing changed.

    `replayed`: the key was used before; `value` and `operation` are those of the first time.
    """

    value: T_co
    operation: int | None
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class Failed:
    """A write of which nothing is on disk, and why."""

    error: Exception


Outcome: TypeAlias = Done[Any] | Failed


class Batch:
    """One commit being made. The caller owns the outer transaction `txn` and ends it."""

    def __init__(
        self, env: Environment, txn: lmdb.Transaction[bytes], at_ms: int, redactor: Redactor, trust: Trust
    ) -> None:
        self._env = env
        self._txn = txn
        self._at_ms = at_ms
        self._redactor = redactor
        self._trust = trust
        self._tallies: dict[bytes, dict[bytes, Tally]] = {}

    @property
    def changed(self) -> bool:
        """Whether there is anything to flush."""
        return any(self._tallies.values())

    def run(self, write: Write[Any]) -> Outcome:
        """One write, all of it or nothing. Raises lmdb.MapFullError where the map must grow first."""
        child = self._env.begin(self._txn)
        try:
            space = space_prefix(write.space)
            draft = Draft(child, space, self._at_ms, self._tallies.setdefault(space, {}))
            outcome = self._body(write, draft)
            child.commit()
        except lmdb.MapFullError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever one body raises is its own failure, not its neighbours'
            child.abort()
            return Failed(_said(error))
        draft.settle()
        return outcome

    def _body(self, write: Write[Any], draft: Draft) -> Done[Any]:
        writer = Writer(draft, write.space, self._trust, self._redactor)
        if write.idempotency is None:
            value = write.body(writer)
            return Done(value, writer.finish(who=write.who, why=write.why, parent=write.parent))
        key, request = write.idempotency
        raw = record_key(draft.space, Kind.IDEMPOTENCY, (key,))
        seen = draft.find(raw)
        if seen is not None:
            return _replay(draft.open(raw, seen), request, write.answers)
        value = write.body(writer)
        operation = writer.finish(who=write.who, why=write.why, parent=write.parent)
        answer = {"request": request, "value": _plain(value), "operation": operation}
        draft.put(Kind.IDEMPOTENCY, raw, 0, seal(answer, self._redactor), None)
        return Done(value, operation)

    def seal(self, header: Header) -> str:
        """Writes the tallies, the roots over them and the header over those; the header's checksum."""
        for space, tallies in self._tallies.items():
            if tallies:
                self._seal_space(space, tallies, header)
        header.commits += 1
        return header.write(self._txn, self._at_ms)

    def _seal_space(self, space: bytes, tallies: dict[bytes, Tally], header: Header) -> None:
        raw = root_key(space)
        root = stored_tally(self._txn, raw) or Tally()
        for prefix, tally in tallies.items():
            key = tally_key(space, prefix)
            old = self._txn.get(key)
            if old is not None:
                root.remove(old[:HASH_BYTES])
            if tally.count == 0 and RULES[kind_of(space, prefix)].scope:
                self._txn.delete(key)
            else:
                root.add(self._put(key, tally))
        old = self._txn.get(raw)
        if old is not None:
            header.spaces.remove(old[:HASH_BYTES])
        header.spaces.add(self._put(raw, root))

    def _put(self, key: bytes, tally: Tally) -> bytes:
        record = bind(key, 0, self._at_ms, seal_own(tally.as_json()).data)
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


def _replay(answer: dict[str, Any], request: str, answers: type[Any] | None) -> Done[Any]:
    if answer["request"] != request:
        raise Conflict(
            "this idempotency key was used for another request", hint="use a new key for each different request"
        )
    value = answer["value"] if answers is None else msgspec.convert(answer["value"], answers)
    return Done(value, answer["operation"], replayed=True)


def _said(error: Exception) -> Exception:
    """What a body raised, in the words of the design where LMDB raised it."""
    if isinstance(error, lmdb.TxnFullError):
        return TooLarge("one write changes more than fits into a transaction", hint="split the write")
    if isinstance(error, lmdb.Error):
        return translate(error, "writing")
    return error
