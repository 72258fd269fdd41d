"""Counts and digests of collections, kept as records change, so that what is absent is noticed too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from reverie.errors import Damaged
from reverie.store.codec import HASH_BYTES
from reverie.store.keys import kind_prefix
from reverie.store.schema import RULES, Kind, rule_by_code

__all__ = ["Tally", "collection", "kind_of", "tally_key"]


@dataclass(slots=True)
class Tally:
    """What a collection holds: how many records, the XOR of their bound checksums, the last number given.

    `last` stays 0 in collections that are not sequences.
    """

    count: int = 0
    digest: int = 0
    last: int = 0

    def copy(self) -> Tally:
        """A tally that can be changed without this one changing."""
        return Tally(self.count, self.digest, self.last)

    def add(self, bound: bytes) -> None:
        """Count one record in, by its bound checksum."""
        self.count += 1
        self.digest ^= int.from_bytes(bound, "big")

    def remove(self, bound: bytes) -> None:
        """Count one record out, by its bound checksum."""
        self.count -= 1
        self.digest ^= int.from_bytes(bound, "big")

    def holds(self, other: Tally) -> bool:
        """Whether both counted the same records."""
        return self.count == other.count and self.digest == other.digest

    def as_json(self) -> dict[str, Any]:
        """The form stored."""
        return {"count": self.count, "digest": f"{self.digest:0{2 * HASH_BYTES}x}", "last": self.last}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Tally:
        """From the form stored. Raises Damaged."""
        try:
            return cls(int(value["count"]), int(value["digest"], 16), int(value["last"]))
        except (KeyError, TypeError, ValueError) as error:
            raise Damaged("a tally is damaged: a field is missing", hint="run `reverie check`") from error


def collection(space: bytes, kind: Kind, rest: bytes) -> bytes:
    """What the keys of one collection begin with, from the part of a key after its kind.

    A collection is all records of a kind in a space, or, for a kind with a scope, those that share its first part.
    Raises Damaged for a key that has no first part.
    """
    scope = RULES[kind].scope
    if scope == 0:
        return kind_prefix(space, kind)
    if kind is Kind.VERSION:
        return kind_prefix(space, kind) + rest[:1]
    end = rest.find(0)
    if end < 0:
        raise Damaged(f"a key of kind {kind} has no end: {rest.hex()}", hint="run `reverie check`")
    return kind_prefix(space, kind) + rest[: end + 1]


def tally_key(space: bytes, prefix: bytes) -> bytes:
    """Where the tally of the collection whose keys begin with `prefix` stands."""
    return kind_prefix(space, Kind.TALLY) + prefix[len(space) :]


def kind_of(space: bytes, prefix: bytes) -> Kind:
    """The kind whose collection has keys that begin with `prefix`."""
    kind = rule_by_code(prefix[len(space)])
    assert kind is not None
    return kind
