"""The store's own record: form on disk, migrations applied, commits so far, and the tally over all spaces."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from reverie.errors import Damaged
from reverie.store.codec import HASH_BYTES, bind, open_record, seal_own, unbind
from reverie.store.collection_checksum import Tally
from reverie.store.integrity import header_key
from reverie.store.lmdb_errors import reading
from reverie.store.schema import FORMAT

if TYPE_CHECKING:
    import lmdb

__all__ = ["Header"]


@dataclass(slots=True)
class Header:
    """What the header says. `spaces` counts the roots of the spaces."""

    applied: list[str] = field(default_factory=list)
    commits: int = 0
    spaces: Tally = field(default_factory=Tally)

    @classmethod
    def read(cls, txn: lmdb.Transaction[bytes]) -> tuple[Header, str] | None:
        """The header and its checksum in hex, or None where there is none. Raises Damaged."""
        key = header_key()
        with reading("reading the store's header"):
            data = txn.get(key)
        if data is None:
            return None
        record = unbind(key, data)
        value = open_record(key, record)
        if value.get("format") != FORMAT:
            raise Damaged(f"the store's form {value.get('format')} is not {FORMAT}", hint="use a newer version")
        return cls(value["applied"].split(), value["commits"], Tally.from_json(value)), record.bound.hex()

    def copy(self) -> Header:
        """A header that can be changed without this one changing."""
        return Header(list(self.applied), self.commits, self.spaces.copy())

    def write(self, txn: lmdb.Transaction[bytes], at_ms: int) -> str:
        """Puts the header in place; its checksum in hex."""
        key = header_key()
        value: dict[str, Any] = {
            "format": FORMAT,
            "applied": " ".join(self.applied),
            "commits": self.commits,
            **self.spaces.as_json(),
        }
        record = bind(key, 0, at_ms, seal_own(value).data)
        txn.put(key, record)
        return record[:HASH_BYTES].hex()
