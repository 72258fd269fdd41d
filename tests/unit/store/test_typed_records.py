"""Typed records: every kind survives a round trip, and the JSON that earlier versions wrote still loads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest
from msgspec import inspect

from reverie.errors import Damaged, ValidationError
from reverie.models import Entry, EntryKind, MemoryType, WorkingState
from reverie.store import (
    AccessRecord,
    BaselineRecord,
    ChangeRecord,
    ConflictRecord,
    DistillationRecord,
    EntryRecord,
    EventRecord,
    FactorRecord,
    IdempotencyRecord,
    ImportRecord,
    Key,
    Kind,
    MemoryRecord,
    MovedThreadsCursor,
    OperationRecord,
    RegionRecord,
    RetiredRecord,
    Store,
    StoredRecord,
    ThreadRecord,
    UsageRecord,
    WorkingStateRecord,
    Writer,
    open_sealed_as,
    seal_record,
)
from reverie.store.kinds import RULES
from support.stores import AT, MASKING, SECRET, SPACE, put, write


@dataclass(frozen=True, slots=True)
class Agreed:
    """A record type that the store does not declare, in the shape of a baseline of sync."""

    path: str
    sha256: str
    intended: frozenset[str] = field(default_factory=frozenset)


def filled(kind: Any, *, whole: bool = True) -> Any:
    """Return a record that has a value in every field; not `whole`: in those that have no default."""
    return _value(inspect.type_info(kind), whole=whole)


def _value(kind: inspect.Type, *, whole: bool) -> Any:
    """Return a value of a type that is not its usual default."""
    match kind:
        case inspect.StructType() | inspect.DataclassType():
            given = [part for part in kind.fields if whole or part.required]
            return kind.cls(**{part.name: _value(part.type, whole=whole) for part in given})
        case inspect.UnionType():
            return _value(next(one for one in kind.types if not isinstance(one, inspect.NoneType)), whole=whole)
        case inspect.ListType() | inspect.VarTupleType() | inspect.FrozenSetType():
            maker = {inspect.ListType: list, inspect.VarTupleType: tuple}.get(type(kind), frozenset)
            return maker([_value(kind.item_type, whole=whole)])
        case inspect.TupleType():
            return tuple(_value(one, whole=whole) for one in kind.item_types)
        case inspect.DictType():
            return {_value(kind.key_type, whole=whole): _value(kind.value_type, whole=whole)}
        case inspect.EnumType():
            return next(iter(kind.cls))
        case inspect.LiteralType():
            return kind.values[0]
    simple = {inspect.StrType: "x", inspect.IntType: 7, inspect.FloatType: 1.5, inspect.BoolType: True}
    return simple.get(type(kind), {"a": [None]})


def _all_records(base: type[StoredRecord]) -> Iterator[type[StoredRecord]]:
    for kind in base.__subclasses__():
        if not getattr(kind, "__parameters__", ()) and kind.__module__.startswith("reverie.store"):
            yield kind
        yield from _all_records(kind)


def _key(record: StoredRecord) -> Key:
    """Return a key of the record; of one that repeats its key in a field, that."""
    if isinstance(record, MovedThreadsCursor):
        return record.key(3)
    if isinstance(record, FactorRecord):
        return record.key("x")
    numbers = ("number", "slot", "part")
    parts = tuple(7 if part in numbers else "x" for part in RULES[record.KIND].parts if part != "seq")
    key: Key = getattr(record, "KEY", parts)
    return key


STORE_OWN = (OperationRecord, EventRecord, IdempotencyRecord)
RECORDS: list[Any] = [BaselineRecord[Agreed], *(kind for kind in _all_records(StoredRecord) if kind not in STORE_OWN)]
PUT = [kind for kind in RECORDS if not RULES[kind.KIND].sequence]
APPENDED = [kind for kind in RECORDS if RULES[kind.KIND].sequence]
THREAD: ThreadRecord = filled(ThreadRecord)
MEMORY: MemoryRecord = filled(MemoryRecord)
CONFLICT: ConflictRecord = filled(ConflictRecord)
WITHOUT_STRUCT = {Kind.BLOB, Kind.VERSION, Kind.CHECKSUM, Kind.ROOT, Kind.HEADER}


def test_every_kind_that_holds_data_has_a_struct() -> None:
    """Every kind of record has a typed struct, except those listed as having none."""
    assert {kind.KIND for kind in (*RECORDS, *STORE_OWN)} == set(Kind) - WITHOUT_STRUCT


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("kind", PUT)
def test_a_saved_record_loads_as_it_was(store: Store, kind: Any, *, whole: bool) -> None:
    """A saved record is read back equal: by its key, in a scan, and as the last of its kind."""
    record = filled(kind, whole=whole)
    key = _key(record)
    write(store, lambda w: w.save(record, key))
    with store.reader(SPACE) as reader:
        assert reader.load(kind, key) == record
        assert list(reader.records(kind)) == [(key, record)]
        assert reader.last_record(kind) == (key, record)


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("kind", APPENDED)
def test_an_appended_record_loads_as_it_was(store: Store, kind: Any, *, whole: bool) -> None:
    """A record is appended as a struct or already sealed, and read back equal in each case."""
    record = filled(kind, whole=whole)
    prefix = _key(record)
    write(store, lambda w: w.append_record(record, prefix))
    write(store, lambda w: w.append_many(record.KIND, prefix, [seal_record(record, MASKING)]))
    with store.reader(SPACE) as reader:
        assert list(reader.records(kind, prefix)) == [((*prefix, 1), record), ((*prefix, 2), record)]
        sealed = [data for _, data in reader.scan_sealed(record.KIND, prefix)]
    assert [open_sealed_as(kind, data) for data in sealed] == [record, record]


def test_what_the_store_itself_writes_is_typed_too(store: Store) -> None:
    """The store's own operations, events and idempotency answers are read back as typed records."""

    def body(w: Writer) -> dict[str, int]:
        w.save(MEMORY, ("mem_1",))
        w.append_record(EntryRecord(kind=EntryKind.SPEECH), ("thr_1",))
        w.event("memory.written", {"memoryId": "mem_1"})
        return {"done": 1}

    write(store, body, idempotency=("key", "request"))
    with store.reader(SPACE) as reader:
        changes = [
            ChangeRecord(kind=Kind.MEMORY, key=["mem_1"], after=1),
            ChangeRecord(kind=Kind.ENTRY, key=["thr_1"], first=1, last=1),
        ]
        operation = OperationRecord(seq=1, who="agent", why="test", at=AT, parent=0, changes=changes, events=[1, 1])
        assert reader.load(OperationRecord, (1,)) == operation
        assert operation.as_json() == reader.get(Kind.OPERATION, (1,))
        event = EventRecord(seq=1, type="memory.written", at=AT, operation=1, data={"memoryId": "mem_1"})
        assert reader.load(EventRecord, (1,)) == event
        answer = IdempotencyRecord(request="request", value={"done": 1}, operation=1)
        assert reader.load(IdempotencyRecord, ("key",)) == answer


def test_a_purge_is_listed_as_purged(store: Store) -> None:
    """The operation of a purge lists the change with `purged` true."""
    write(store, lambda w: w.save(MEMORY, ("mem_1",)))
    write(store, lambda w: w.purge(Kind.MEMORY, ("mem_1",), 10))
    with store.reader(SPACE) as reader:
        operation = reader.load(OperationRecord, (2,))
        assert operation is not None
        assert operation.changes == [ChangeRecord(kind=Kind.MEMORY, key=["mem_1"], purged=True)]
        assert operation.as_json() == reader.get(Kind.OPERATION, (2,))


OLD: list[tuple[Kind, Key, dict[str, Any], StoredRecord]] = [
    (
        Kind.THREAD,
        ("thr_1",),
        # written by `blank`, and by an append that knew no factor of the model
        {
            "id": "thr_1",
            "agent": None,
            "title": None,
            "model": "m",
            "contextWindow": None,
            "source": None,
            "index": None,
            "project": None,
            "createdAt": AT,
            "updatedAt": AT,
            "lastSeq": 2,
            "messageCount": 2,
            "tokens": 20,
            "liveTokens": 20,
            "distillations": 0,
            "throughSeq": 0,
            "extractedSeq": 0,
            "usage": {"tokens": 30},
            "factor": None,
        },
        ThreadRecord(
            id="thr_1",
            model="m",
            created_at=AT,
            updated_at=AT,
            last_seq=2,
            message_count=2,
            tokens=20,
            live_tokens=20,
            usage=UsageRecord(30),
        ),
    ),
    (
        Kind.MEMORY,
        ("mem_1",),
        {  # the order in which a person's new block is written
            "id": "mem_1",
            "document": "facts/user.md",
            "created_at": AT,
            "updated_at": AT,
            "access_count": 0,
            "last_accessed_at": None,
            "trust": "person",
            "provenance": {},
            "order": 2,
            "type": "fact",
            "content": "likes tea",
            "tags": ["tea"],
            "title": None,
            "fields": [],
        },
        MemoryRecord(
            id="mem_1",
            type=MemoryType.FACT,
            content="likes tea",
            tags=("tea",),
            document="facts/user.md",
            created_at=AT,
            updated_at=AT,
            trust="person",
            order=2,
        ),
    ),
    (Kind.STATE, ("thr_1",), {"state": {"current_task": "x"}}, WorkingStateRecord(state=WorkingState("x"))),
    (Kind.ACCESS, ("mem_1",), {"count": 3}, AccessRecord(count=3)),
    (
        Kind.CONFLICT,
        ("cnf_1",),
        {
            "id": "cnf_1",
            "path": "a.md",
            "copy": "b.md",
            "text": "t",
            "regions": [{"file": "f", "store": "s"}],
            "openedAt": AT,
            "operation": 1,
        },
        ConflictRecord(
            id="cnf_1", path="a.md", copy="b.md", text="t", regions=[RegionRecord("f", "s")], opened_at=AT, operation=1
        ),
    ),
    (
        Kind.IMPORT,
        ("imp_1",),
        {"id": "imp_1", "source": "imp_1", "client": "c", "session": "s", "thread": "t", "offset": 3, "lines": 1},
        ImportRecord(id="imp_1", source="imp_1", client="c", session="s", thread="t", offset=3, lines=1),
    ),
    (Kind.RETIRED, ("00",), {"ids": [["mem_1", AT]]}, RetiredRecord(ids=[("mem_1", AT)])),
]


@pytest.mark.parametrize(("kind", "key", "stored", "record"), OLD, ids=lambda value: str(value)[:20])
def test_the_json_of_an_earlier_version_loads(
    store: Store, kind: Kind, key: Key, stored: dict[str, Any], record: StoredRecord
) -> None:
    """JSON of earlier and later versions loads: with absent, null or unknown fields, in any order."""
    put(store, kind, key, {"later": {"deep": [None]}, **stored})
    with store.reader(SPACE) as reader:
        assert reader.load(type(record), key) == record


@pytest.mark.parametrize(("kind", "key", "stored", "record"), OLD, ids=lambda value: str(value)[:20])
def test_saving_what_an_earlier_version_wrote_changes_nothing(
    store: Store, kind: Kind, key: Key, stored: dict[str, Any], record: StoredRecord
) -> None:
    """Saving a record that an earlier version stored with other JSON makes no operation."""
    put(store, kind, key, stored)
    if type(record).KEEPS_UNKNOWN_FIELDS:
        assert write(store, lambda w: w.save(record, key)).operation is None


@pytest.mark.parametrize("record", [THREAD, MEMORY, CONFLICT], ids=lambda value: type(value).__name__)
def test_unknown_fields_survive_a_change(store: Store, record: Any) -> None:
    """A record that a later version stored keeps its unknown fields when this version changes another field."""
    key = (record.id,)
    put(store, record.KIND, key, {**record.as_json(), "later": [1]})
    name = "title" if record.KIND is not Kind.CONFLICT else "copy"
    write(store, lambda w: w.save(msgspec.structs.replace(record, **{name: "new"}), key))
    with store.reader(SPACE) as reader:
        stored = reader.get(record.KIND, key)
        assert stored is not None
        assert stored == {**record.as_json(), name: "new", "later": [1]}


def test_the_stored_json_of_an_entry_has_no_empty_field() -> None:
    """Fields without a value are left out of an entry's JSON, and the record has all fields of an entry."""
    assert EntryRecord(kind=EntryKind.SPEECH, role="user", content=[]).as_json() == {
        "kind": "speech",
        "role": "user",
        "content": [],
    }
    declared = {field.name for field in msgspec.structs.fields(EntryRecord)}
    assert declared == set(Entry.__struct_fields__) - {"seq"}


def test_optional_fields_are_left_out_and_others_are_null() -> None:
    """Optional fields without a value are left out of stored JSON; other fields are stored as null."""
    stored = ThreadRecord(id="thr_1", created_at=AT, updated_at=AT).as_json()
    assert stored["usage"] is None
    assert not {"carried", "factor", "cleared"} & stored.keys()
    imported = DistillationRecord(number=1, imported=True, text="t", through_seq=1)
    assert imported.as_json() == {"number": 1, "imported": True, "throughSeq": 1, "text": "t", "at": None}


def test_a_secret_in_any_part_of_a_record_is_redacted(store: Store) -> None:
    """Secrets in any field of a record, in tuples and nested values too, are redacted when it is stored."""
    record = msgspec.structs.replace(
        MEMORY, tags=(SECRET,), fields=(("Where", SECRET),), provenance={"deep": (SECRET, [SECRET])}
    )
    write(store, lambda w: w.save(record, ("mem_1",)))
    with store.reader(SPACE) as reader:
        assert SECRET not in str(reader.get(Kind.MEMORY, ("mem_1",)))
        loaded = reader.load(MemoryRecord, ("mem_1",))
    assert loaded is not None
    assert loaded.tags == ("[REDACTED:test]",)


def test_saving_a_redacted_record_with_its_secret_again_changes_nothing(store: Store) -> None:
    """The comparison is with the redacted record, whatever the order of its stored fields."""
    secret = msgspec.structs.replace(MEMORY, content=f"the key is {SECRET}")
    clean = msgspec.structs.replace(MEMORY, content="the key is [REDACTED:test]")
    put(store, Kind.MEMORY, ("mem_1",), dict(reversed(clean.as_json().items())))
    assert write(store, lambda w: w.save(secret, ("mem_1",))).operation is None


@pytest.mark.parametrize("content", [object(), {1, object()}, 1 << 70, "\ud800"])
def test_what_json_cannot_hold_is_refused(store: Store, content: object) -> None:
    """Content that JSON cannot represent is refused with ValidationError."""
    with pytest.raises(ValidationError):
        write(store, lambda w: w.append_record(EntryRecord(kind=EntryKind.OTHER, content=content), ("thr_1",)))


def test_json_of_another_shape_is_damage(store: Store) -> None:
    """Reading a record whose JSON lacks required fields raises Damaged, naming the record."""
    put(store, Kind.MEMORY, ("mem_1",), {"content": 1})
    with store.reader(SPACE) as reader, pytest.raises(Damaged, match="memory mem_1 of space default") as caught:
        reader.load(MemoryRecord, ("mem_1",))
    assert caught.value.details["record"] == "memory mem_1 of space default"


def test_versions_are_typed(store: Store) -> None:
    """Versions of a record are read as typed records, newest or oldest first; a deletion's value is None."""
    changed = msgspec.structs.replace(MEMORY, content="it snowed")
    write(store, lambda w: w.save(MEMORY, ("mem_1",)))
    write(store, lambda w: w.save(changed, ("mem_1",)))
    write(store, lambda w: w.delete(Kind.MEMORY, ("mem_1",)))
    with store.reader(SPACE) as reader:
        newest = [(version.operation, version.value) for version in reader.record_versions(MemoryRecord, ("mem_1",))]
        assert newest == [(3, None), (2, changed), (1, MEMORY)]
        assert [version.value for version in reader.record_history(MemoryRecord, ("mem_1",))] == [MEMORY, changed, None]


def test_a_replayed_answer_has_the_type_of_the_first(store: Store) -> None:
    """The answer to a repeated idempotency key is of the same type as the first answer."""

    def body(w: Writer) -> MemoryRecord:
        w.save(MEMORY, ("mem_1",))
        return MEMORY

    first = write(store, body, idempotency=("key", "request"), answers=MemoryRecord)
    again = write(store, body, idempotency=("key", "request"), answers=MemoryRecord)
    assert (first.value, again.value, again.replayed) == (MEMORY, MEMORY, True)
