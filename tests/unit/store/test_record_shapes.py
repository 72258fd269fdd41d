"""Every change of what is stored has a migration: an older version would lose it, and refuses a store that has one."""

from __future__ import annotations

import dataclasses
import hashlib
import re
from typing import Any, get_type_hints

import msgspec
import pytest

import reverie.store
from reverie.store import RULES
from reverie.store.migrations import MIGRATIONS

SHAPES = {"m008_owners_of_schedules": "5731f60ec8842727"}
"""By the newest migration, the hash of kinds and fields (no names of modules). A change needs a migration."""


def _fields(record: Any) -> list[str]:
    """Return the names and types of a record's fields, as they are declared; what is a text is no part of its shape."""
    if dataclasses.is_dataclass(record):
        return [f"{field.name}: {field.type}" for field in dataclasses.fields(record)]
    return [f"{field.name}: {_stored(field.type)}" for field in msgspec.structs.fields(record)]


def _stored(kind: Any) -> str:
    """Return a type without the marks of texts, which the bytes do not show, as it would be written."""
    holder: Any = type("Holder", (), {"__annotations__": {"field": kind}})
    stored = get_type_hints(holder)["field"]
    return str(kind) if stored == kind else re.sub(r"^typing\.Optional\[(.*)\]$", r"\1 | None", str(stored))


def _is_record(thing: Any) -> bool:
    return isinstance(thing, type) and (dataclasses.is_dataclass(thing) or issubclass(thing, msgspec.Struct))


def test_the_shape_of_the_records_is_that_of_the_newest_migration() -> None:
    """Kinds with their codes, and the fields of every record, are those of the last migration."""
    names = sorted(name for name in vars(reverie.store) if name.endswith(("Record", "Cursor")))
    records = {name: getattr(reverie.store, name) for name in names}
    shape = [f"{kind.value} {rule.code}" for kind, rule in RULES.items()]
    shape += [f"{name} {_fields(record)}" for name, record in records.items() if _is_record(record)]
    text = re.sub(r"\b(?:reverie|typing|collections)(?:\.\w+)*\.(?=\w)", "", "\n".join(shape))
    newest = MIGRATIONS[-1].__name__

    assert len(shape) > 60
    assert list(SHAPES) == [newest]
    assert SHAPES[newest] == hashlib.sha256(text.encode()).hexdigest()[:16], (
        "a migration is missing, or its hash here is old"
    )


@pytest.mark.parametrize("name", [step.__name__ for step in MIGRATIONS])
def test_migrations_are_numbered(name: str) -> None:
    """The number in a migration's name is its place."""
    assert name.startswith(f"m{[step.__name__ for step in MIGRATIONS].index(name) + 1:03}_")
