"""The daemon's own records: the caller of a token, the spaces, the id of the store, the schedules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie.store import (
    FingerprintsCursor,
    IdentityRecord,
    Kind,
    RedactionsCursor,
    ScheduleRecord,
    TokenRecord,
    Write,
)
from reverie.store.kinds import SYSTEM_SPACE
from reverie.usecases.spaces import DEFAULT_SPACE
from reveried.http.auth import Caller

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reverie.store import Store, Writer
    from reveried.worker import Submit

WHO = "reveried"  # the author of these writes in the history
IDENTITY_BYTES = 16


class StoredCallers:
    """Lookup of a token's caller; only the hash of a token is stored."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __call__(self, digest: str) -> Caller | None:
        """Return the caller whose token has this SHA-256, or None."""
        with self._store.reader(SYSTEM_SPACE) as reader:
            token = reader.load(TokenRecord, (digest,))
        return Caller(token.space, token.agent, digest) if token is not None else None


def spaces_of(store: Store) -> list[str]:
    """Return every space: the default one, then those with a record in the system space."""
    with store.reader(SYSTEM_SPACE) as reader:
        created = [str(key[0]) for key in reader.keys(Kind.SPACE)]
    return list(dict.fromkeys((DEFAULT_SPACE, *created)))


async def store_id(store: Store, submit: Submit, random: Callable[[int], bytes]) -> str:
    """Return the random id of this store, drawn at its first start; a restored backup has the same id."""
    with store.reader(SYSTEM_SPACE) as reader:
        identity = reader.load(IdentityRecord, IdentityRecord.KEY)
    if identity is not None:
        return identity.id
    drawn = IdentityRecord(id=random(IDENTITY_BYTES).hex())

    def body(writer: Writer) -> None:
        writer.save(drawn, IdentityRecord.KEY)

    await submit(Write(SYSTEM_SPACE, WHO, "store.identity", body))
    return drawn.id


async def begin_redactions(store: Store, submit: Submit, key: bytes, at: str) -> None:
    """At the first start, store the key of redacted values, and since when they are listed if the store is older.

    The ids in the list are made with the key: it must be on disk before the first of them.
    """
    with store.reader(SYSTEM_SPACE) as reader:
        is_older = reader.exists(Kind.CURSOR, IdentityRecord.KEY)
        if reader.exists(Kind.CURSOR, RedactionsCursor.KEY):
            return

    def body(writer: Writer) -> None:
        writer.save(RedactionsCursor(since=at if is_older else ""), RedactionsCursor.KEY)
        writer.save(FingerprintsCursor(salt=key.hex()), FingerprintsCursor.KEY)

    await submit(Write(SYSTEM_SPACE, WHO, "redactions.begin", body))


class StoredSchedules:
    """The schedules of every space, in the store."""

    def __init__(self, store: Store, submit: Submit) -> None:
        self._store = store
        self._submit = submit

    def all(self) -> Iterator[tuple[str, ScheduleRecord]]:
        """Yield every schedule with its space."""
        for space in spaces_of(self._store):
            with self._store.reader(space) as reader:
                yield from ((space, schedule) for _, schedule in reader.records(ScheduleRecord))

    async def put(self, space: str, schedule: ScheduleRecord, why: str) -> None:
        """Insert or replace a schedule; `why` is the reason of the operation."""

        def body(writer: Writer) -> None:
            writer.save(schedule, (schedule.id,))

        await self._submit(Write(space, WHO, why, body))

    async def delete(self, space: str, schedule_id: str) -> None:
        """Delete a schedule."""

        def body(writer: Writer) -> None:
            writer.delete(Kind.SCHEDULE, (schedule_id,))

        await self._submit(Write(space, WHO, "schedule removed", body))
