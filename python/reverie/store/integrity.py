"""Verifies a collection against its tally on first use, so that a missing record is noticed, not read as absent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import lmdb
import orjson

from reverie.errors import Damaged
from reverie.store.codec import HASH_BYTES, open_record, unbind, whole_body
from reverie.store.collection_checksum import Tally
from reverie.store.keys import kind_prefix, name, prefix_end, show, space_prefix, split
from reverie.store.lmdb_errors import reading, translate
from reverie.store.schema import SYSTEM_SPACE, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Trust", "View", "collection_name", "header_key", "records", "root_key", "spaces", "stored_tally", "walk"]

_BATCH = 4096


class View(Protocol):
    """A transaction to verify in, and the tallies that hold in it."""

    @property
    def txn(self) -> lmdb.Transaction[bytes]:
        """The LMDB transaction."""
        ...

    def tally(self, prefix: bytes) -> Tally | None:
        """The tally of the collection whose keys begin with `prefix`, or None where none was ever kept."""
        ...

    def collections(self, prefix: bytes) -> list[bytes]:
        """The collections that have a tally and whose own prefix begins with `prefix`."""
        ...


class Trust:
    """Which collections of an open store are known to be whole. A verdict holds until the store is closed."""

    def __init__(self) -> None:
        self._whole: set[bytes] = set()
        self._broken: dict[bytes, str] = {}

    def require(self, view: View, space: bytes, prefix: bytes) -> None:
        """Nothing, where the collection is whole; raises Damaged naming it where records are missing from it."""
        if prefix in self._whole:
            return
        self._known(prefix)
        self.require_space(view, space)
        self._compare(prefix, view.tally(prefix) or Tally(), view.txn)

    def require_kind(self, view: View, space: bytes, kind: Kind) -> None:
        """As `require`, for every collection of a kind; and no record of it outside of them."""
        prefix = kind_prefix(space, kind)
        if prefix in self._whole:
            return
        self._known(prefix)
        self.require_space(view, space)
        total = Tally()
        for part in view.collections(prefix):
            self.require(view, space, part)
            tally = view.tally(part) or Tally()
            total.count += tally.count
            total.digest ^= tally.digest
        self._compare(prefix, total, view.txn)

    def require_space(self, view: View, space: bytes) -> None:
        """The tallies of a space against its root; the root's own absence against the header. Raises Damaged."""
        prefix = kind_prefix(space, Kind.TALLY)
        if prefix in self._whole:
            return
        self._known(prefix)
        root = stored_tally(view.txn, root_key(space))
        if root is None:
            self._require_spaces(view.txn)
        self._compare(prefix, root or Tally(), view.txn)

    def _require_spaces(self, txn: lmdb.Transaction[bytes]) -> None:
        """The roots of all spaces against the header."""
        prefix = header_key()
        if prefix in self._whole:
            return
        self._known(prefix)
        header = stored_tally(txn, prefix)
        found = Tally()
        with reading("reading the roots of spaces"):
            for space in spaces(txn):
                root = txn.get(root_key(space))
                if root is not None:
                    found.add(root[:HASH_BYTES])
        if header is None or not found.holds(header):
            self._refuse(prefix, "the list of spaces does not fit the store's header")
        self._whole.add(prefix)

    def _compare(self, prefix: bytes, expected: Tally, txn: lmdb.Transaction[bytes]) -> None:
        what = collection_name(prefix)
        try:
            found = walk(txn, prefix)
        except Damaged as error:
            self._refuse(prefix, f"{what} cannot be walked: {error.message}")
        else:
            if not found.holds(expected):
                self._refuse(prefix, f"{what} is not whole: {expected.count} records counted, {found.count} found")
            self._whole.add(prefix)

    def _known(self, prefix: bytes) -> None:
        if prefix in self._broken:
            self._refuse(prefix, self._broken[prefix])

    def _refuse(self, prefix: bytes, what: str) -> None:
        self._broken[prefix] = what
        raise Damaged(what, hint="run `reverie check`, then `reverie restore` from a backup")


def collection_name(prefix: bytes) -> str:
    """A collection as a person reads it: `collection entry thread_a of space default`."""
    space, kind, rest = split(prefix)
    return f"collection {show(kind, rest)} of space {space}"


def walk(txn: lmdb.Transaction[bytes], prefix: bytes) -> Tally:
    """What is really there under `prefix`: each record found both in order and by its key. Raises Damaged.

    Order alone would pass a tree whose branches lead lookups astray, so every key is looked up as well.
    """
    found = Tally()
    keys: list[bytes] = []
    for key, record in records(txn, prefix):
        found.add(unbind(key, record).bound)  # a key that was changed no longer fits its record
        keys.append(key)
        if len(keys) == _BATCH:
            _look_up(txn, keys)
            keys.clear()
    _look_up(txn, keys)
    return found


def _look_up(txn: lmdb.Transaction[bytes], keys: list[bytes]) -> None:
    with reading("looking up every key"):
        for key in keys:
            if txn.get(key) is None:
                raise Damaged("a key that is there is not found by lookup", hint="run `reverie check`")


def records(txn: lmdb.Transaction[bytes], prefix: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Every key and record under `prefix`, keys strictly rising. Raises Damaged where the tree cannot be followed."""
    end = prefix_end(prefix)
    previous = b""
    with reading("walking a collection"):
        cursor = txn.cursor()
        if not cursor.set_range(prefix):
            return
        for key, record in cursor.iternext(keys=True, values=True):
            if key >= end:
                return
            if key <= previous:
                raise Damaged("keys are out of order", hint="run `reverie check`")
            previous = key
            yield key, record


def spaces(txn: lmdb.Transaction[bytes]) -> Iterator[bytes]:
    """The encoded name of every space that has a record."""
    with reading("listing spaces"):
        cursor = txn.cursor()
        found = cursor.first()
        while found:
            key = cursor.key()
            prefix = key[: key.find(0) + 1]
            yield prefix
            found = cursor.set_range(prefix_end(prefix))


def root_key(space: bytes) -> bytes:
    """Where the tally over a space's tallies stands."""
    return kind_prefix(space, Kind.ROOT)


def header_key() -> bytes:
    """Where the store's header stands: format, migrations, commits, and the tally over the roots of all spaces."""
    return kind_prefix(space_prefix(SYSTEM_SPACE), Kind.HEADER)


def stored_tally(txn: lmdb.Transaction[bytes], key: bytes) -> Tally | None:
    """The tally under `key` as committed, or None. Raises Damaged."""
    try:
        record = txn.get(key)
    except lmdb.Error as error:
        raise translate(error, f"reading {name(key)}") from error
    if record is None:
        return None
    body = whole_body(key, record)
    return Tally.from_json(open_record(key, unbind(key, record)) if body is None else orjson.loads(body))
