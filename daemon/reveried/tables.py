"""The daemon's own small tables in the store: who a token is, and what is scheduled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie.store import Kind, Write
from reverie.store.schema import SYSTEM_SPACE
from reveried.http.admission import DEFAULT_SPACE, Caller

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reverie.models import Json
    from reverie.store import Store, Writer
    from reveried.worker import Submit

__all__ = ["StoredCallers", "StoredSchedules", "spaces_of", "store_id"]

WHO = "reveried"
IDENTITY = ("identity",)
IDENTITY_BYTES = 16


class StoredCallers:
    """Finds who a token belongs to; only its hash is kept."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __call__(self, digest: str) -> Caller | None:
        """The caller of a token's hash, or None where it is unknown."""
        with self._store.reader(SYSTEM_SPACE) as reader:
            record = reader.get(Kind.TOKEN, (digest,))
        return Caller(record["space"], record["agent"]) if record is not None else None


def spaces_of(store: Store) -> list[str]:
    """Every space: the default one, and those that were made (`Kind.SPACE` in the store's own space)."""
    with store.reader(SYSTEM_SPACE) as reader:
        made = [str(key[0]) for key, _ in reader.scan(Kind.SPACE)]
    return list(dict.fromkeys((DEFAULT_SPACE, *made)))


async def store_id(store: Store, submit: Submit, random: Callable[[int], bytes]) -> str:
    """What tells this store from every other one, given at its first start; a backup that is restored keeps it."""
    with store.reader(SYSTEM_SPACE) as reader:
        held = reader.get(Kind.CURSOR, IDENTITY)
    if held is not None:
        return str(held["id"])
    drawn = random(IDENTITY_BYTES).hex()

    def body(writer: Writer) -> None:
        writer.put(Kind.CURSOR, IDENTITY, {"id": drawn})

    await submit(Write(SYSTEM_SPACE, WHO, "store.identity", body))
    return drawn


class StoredSchedules:
    """The table of schedules of every space."""

    def __init__(self, store: Store, submit: Submit) -> None:
        self._store = store
        self._submit = submit

    def all(self) -> Iterator[tuple[str, dict[str, Json]]]:
        """Every schedule with its space."""
        for space in spaces_of(self._store):
            with self._store.reader(space) as reader:
                yield from ((space, record) for _, record in reader.scan(Kind.SCHEDULE))

    async def put(self, space: str, schedule: dict[str, Json]) -> None:
        """Adds or changes one."""

        def body(writer: Writer) -> None:
            writer.put(Kind.SCHEDULE, (schedule["id"],), schedule)

        await self._submit(Write(space, WHO, "schedule", body))

    async def delete(self, space: str, schedule_id: str) -> None:
        """Removes one."""

        def body(writer: Writer) -> None:
            writer.delete(Kind.SCHEDULE, (schedule_id,))

        await self._submit(Write(space, WHO, "schedule removed", body))
