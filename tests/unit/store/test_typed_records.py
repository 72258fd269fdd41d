"""Typed records: every kind survives a round trip, and the JSON that earlier versions wrote still loads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest

from reverie.errors import Damaged, ValidationError
from reverie.models import BriefLine, CommandUse, Entry, EntryKind, MemoryType, StateSources, ThreadBrief, WorkingState
from reverie.store import (
    AccessCursor,
    AccessRecord,
    ArchiveEntryRecord,
    ArchiveRecord,
    ArchivesCursor,
    BaselineRecord,
    BriefRecord,
    CandidateRecord,
    ChangeRecord,
    ClearedRecord,
    ConflictRecord,
    DigestRecord,
    DistillationRecord,
    DocumentRecord,
    DreamRecord,
    DroppedLineRecord,
    EntryRecord,
    EventRecord,
    FactorRecord,
    FailureRecord,
    FingerprintRecord,
    FingerprintsCursor,
    ForgottenRecord,
    IdempotencyRecord,
    IdentityRecord,
    ImportRecord,
    Key,
    Kind,
    LearntRecord,
    LedgerRecord,
    ListedCursor,
    MemoriesCursor,
    MemoryRecord,
    MovedThreadsCursor,
    NoteRecord,
    OperationRecord,
    OutlineRecord,
    PassageRecord,
    PendingChange,
    PrivacyCursor,
    ProjectRecord,
    ProjectsCursor,
    RedactedPlace,
    RedactionRecord,
    RedactionsCursor,
    RegionRecord,
    RetiredRecord,
    RunFileRecord,
    RunRecord,
    ScheduleRecord,
    SessionRecord,
    SessionsCursor,
    SpaceRecord,
    SpendRecord,
    Store,
    StoredRecord,
    ThreadRecord,
    TokenRecord,
    UsageRecord,
    VersionsCursor,
    WorkingStateRecord,
    Writer,
    open_sealed_as,
    seal_record,
)
from support.stores import AT, MASKING, SECRET, SPACE, put, write

STATE = WorkingState(
    current_task="write tests",
    open_files=("a.py",),
    updated_at=AT,
    sources=StateSources(current_task=3, open_files=(2,)),
)


@dataclass(frozen=True, slots=True)
class Agreed:
    """A record type that the store does not declare, in the shape of a baseline of sync."""

    path: str
    sha256: str
    intended: frozenset[str] = field(default_factory=frozenset)


THREAD = ThreadRecord(
    id="thr_1",
    agent="coder",
    context_window=200_000,
    created_at=AT,
    updated_at=AT,
    usage=UsageRecord(10, 9),
    carried=["note_1"],
    factor=FactorRecord(value=1.25, weight=400),
    cleared=ClearedRecord(1, 100),
)
MEMORY = MemoryRecord(
    id="mem_1",
    type=MemoryType.EPISODE,
    content="it rained",
    tags=("weather",),
    document="episodes/2026-11.md",
    created_at=AT,
    updated_at=AT,
    trust="person",
    provenance={"thread": "thr_1", "seqs": [1]},
    title="Rain",
    fields=(("Where", "here"),),
)
CONFLICT = ConflictRecord(
    id="cnf_1",
    path="a.md",
    copy="a.sync-conflict.md",
    text="theirs",
    regions=[RegionRecord("ours", "theirs", 3)],
    opened_at=AT,
    operation=4,
)

PUT: list[tuple[Key, StoredRecord]] = [
    (("home",), SpaceRecord(created_at=AT)),
    (("0f",), TokenRecord(space="default", agent=None, created_at=AT)),
    (
        ("sch_1",),
        ScheduleRecord(
            id="sch_1", cron="0 3 * * *", timezone="UTC", job="dream", options={"a": 1}, created_at=AT, ran=["x"]
        ),
    ),
    (("thr_1",), THREAD),
    (("thr_2",), ThreadRecord(id="thr_2", created_at=AT, updated_at=AT)),
    (("thr_1",), WorkingStateRecord(state=STATE, seq=3, through_seq=2)),
    (("thr_1", "note_1"), NoteRecord(id="note_1", content="mind the gap", category="context", at=AT)),
    (("thr_1", "note_2"), NoteRecord(id="note_2", content="again", category="task", at=AT, thread="thr_0")),
    (("thr_1",), DigestRecord(text="who we are", at=AT)),
    (
        ("thr_1", 1),
        DistillationRecord(
            number=1,
            sections={"Task Context": ["one", "two"]},
            passages=[PassageRecord("text", 2, 4, "a.py", 0)],
            state=STATE,
            digest="short",
            through_seq=2,
            text="# Summary",
            archive="0a",
            last_seq=3,
            tokens_after=100,
            at=AT,
            learnt=LearntRecord(1, 3, None, [CommandUse("test", "make test")]),
        ),
    ),
    (("thr_1", 2), DistillationRecord(number=2, imported=True, text="a summary", through_seq=2, at=None)),
    (("mem_1",), MEMORY),
    (
        ("a.md",),
        DocumentRecord(
            path="a.md", content="text\n", sha256="00", size=5, version=1, summary="", ids=["mem_1"], updated_at=AT
        ),
    ),
    (("0a",), ArchiveRecord(sha256="0a", kind="dream", ref="space:x", at=AT, size=2, entries=1, body="{}")),
    (
        ("drm_1",),
        DreamRecord(
            id="drm_1",
            at=AT,
            archive="0a",
            tokens_used=1,
            token_budget=2,
            trigger="manual",
            counts={"ADD": 1},
            operation="7",
            proposals=[{"why": "person"}],
            through=7,
        ),
    ),
    (
        ("drm_2",),
        DreamRecord(
            id="drm_2",
            at=AT,
            archive="0a",
            tokens_used=1,
            token_budget=2,
            trigger="schedule",
            operation="8",
            through=6,
            through_memory="mem_1",
            waiting=3,
            oversized=["mem_0"],
            failure=FailureRecord("token_budget_exceeded", "too little", "give more"),
        ),
    ),
    (
        ("imp_1",),
        ImportRecord(
            id="imp_1", source="imp_1", client="claude-code", session="s", thread="thr_1", offset=9, check_from=3
        ),
    ),
    (("a.md",), BaselineRecord(path="a.md", baseline=Agreed("a.md", "00", frozenset({"11"})), at=AT)),
    (MemoriesCursor.KEY, MemoriesCursor(operation=3)),
    (AccessCursor.KEY, AccessCursor(run="a1", batch=2)),
    (ArchivesCursor.KEY, ArchivesCursor(archives=[ArchiveEntryRecord("0a", AT, 1)])),
    (ListedCursor.KEY, ListedCursor(paths=["a.md"])),
    (ProjectsCursor.KEY, ProjectsCursor(projects=[ProjectRecord("harbour", ["h.org/a/harbour"], ["/srv/harbour"])])),
    (MovedThreadsCursor.key(3), MovedThreadsCursor(threads=[("thr_1", None, "harbour")])),
    (
        SessionsCursor.KEY,
        SessionsCursor(
            sessions=[SessionRecord(client="codex", session="s", thread="thr_1", pid=7, started_at=AT, updated_at=AT)]
        ),
    ),
    (PrivacyCursor.KEY, PrivacyCursor(ignored=["/srv/diary"], pauses=[(AT, None)])),
    (FactorRecord.key("opus"), FactorRecord(value=1.5, weight=200)),
    (IdentityRecord.KEY, IdentityRecord(id="ab")),
    (VersionsCursor.KEY, VersionsCursor(after="0264")),
    (("mem_1",), AccessRecord(count=2, at=AT)),
    (("cnf_1",), CONFLICT),
    (("cnf_2",), msgspec.structs.replace(CONFLICT, id="cnf_2", opened_path="b.md")),
    (("00",), RetiredRecord(ids=[("mem_1", AT)])),
    ((0,), FingerprintRecord(number=1, hash="0f" * 16, length=9, prefix=65_535, marker="jwt")),
    (("2026-11-22", "cheap"), SpendRecord(calls=2, failed=1, input_tokens=9, reserved={"call_1": 70})),
    (FingerprintsCursor.KEY, FingerprintsCursor(salt="a7" * 32)),
    (RedactionsCursor.KEY, RedactionsCursor(since="2026-11-21T09:30:00.000Z", unlisted=2)),
    (
        ("rdn_" + "0f" * 16,),
        RedactionRecord(
            id="rdn_" + "0f" * 16,
            marker="password",
            rule="label",
            shape="12:a0-",
            count=3,
            places=[RedactedPlace("thread", "thr_1", [2, 7]), RedactedPlace("document", "facts/user.md")],
            more=True,
            first_at="2026-11-21T09:30:00.000Z",
            last_at="2026-11-22T09:30:00.000Z",
        ),
    ),
    (
        ("cnd_1",),
        CandidateRecord(
            id="cnd_1",
            reason="quarantined",
            why="a web page says so",
            changes=[
                PendingChange(action="ADD", content="it snowed", type=MemoryType.FACT, provenance={"seqs": [2]}),
                PendingChange(action="UPDATE", memory="mem_1", before="it rained", content="it poured", tags=("a",)),
            ],
            created_at=AT,
        ),
    ),
    (
        ("0c",),
        ForgottenRecord(sha256="0c", memory="mem_0", content="it was dry", type=MemoryType.FACT, by="owner", at=AT),
    ),
    (("run_1",), RunRecord(id="run_1", agent="coder", created_at=AT, updated_at=AT, working_memory={"port": "80"})),
    (
        ("run_1", "0d"),
        RunFileRecord(path="a.md", content="text", size=4, sha256="00", author_agent_id="coder", at=AT),
    ),
    (
        ("thr_1",),
        BriefRecord(
            thread="thr_1",
            created_at=AT,
            through=9,
            version=1,
            brief=ThreadBrief((BriefLine("wish", "keep it dry", 3, AT),), {"src/tide.py": 2}, "build", "which?", AT),
        ),
    ),
    (("0e",), DroppedLineRecord(project="harbour", by="owner", at=AT)),
    (("thr_1", 1), OutlineRecord(first=1, through=90, messages=33, rewound=[(4, 9)], repeats=[11])),
]
APPENDED: list[tuple[Key, StoredRecord]] = [
    (("thr_1",), EntryRecord(kind=EntryKind.SPEECH, role="user", content="hello", at=AT, tokens=1, extra={"a": [1]})),
    (("thr_1",), EntryRecord(kind=EntryKind.BAD, raw="{", line=7)),
    ((), LedgerRecord(kind="dream", ref="drm_1", tokens=5, total=9, at=AT)),
]


STORE_OWN = {Kind.OPERATION: OperationRecord, Kind.EVENT: EventRecord, Kind.IDEMPOTENCY: IdempotencyRecord}
WITHOUT_STRUCT = {Kind.JOB, Kind.BLOB, Kind.VERSION, Kind.CHECKSUM, Kind.ROOT, Kind.HEADER}


def test_every_kind_that_holds_data_has_a_struct() -> None:
    """Every kind of record has a typed struct, except those listed as having none."""
    typed = {record.KIND for _, record in (*PUT, *APPENDED)} | set(STORE_OWN)
    assert typed == set(Kind) - WITHOUT_STRUCT


@pytest.mark.parametrize(("key", "record"), PUT, ids=lambda value: type(value).__name__)
def test_a_saved_record_loads_as_it_was(store: Store, key: Key, record: StoredRecord) -> None:
    """A saved record is read back equal: by its key, in a scan, and as the last of its kind."""
    of: Any = BaselineRecord[Agreed] if isinstance(record, BaselineRecord) else type(record)
    write(store, lambda w: w.save(record, key))
    with store.reader(SPACE) as reader:
        assert reader.load(of, key) == record
        assert list(reader.records(of)) == [(key, record)]
        assert reader.last_record(of) == (key, record)


@pytest.mark.parametrize(("prefix", "record"), APPENDED, ids=lambda value: type(value).__name__)
def test_an_appended_record_loads_as_it_was(store: Store, prefix: Key, record: StoredRecord) -> None:
    """A record is appended as a struct or already sealed, and read back equal in each case."""
    write(store, lambda w: w.append_record(record, prefix))
    write(store, lambda w: w.append_many(record.KIND, prefix, [seal_record(record, MASKING)]))
    with store.reader(SPACE) as reader:
        assert list(reader.records(type(record), prefix)) == [((*prefix, 1), record), ((*prefix, 2), record)]
        sealed = [data for _, data in reader.scan_sealed(record.KIND, prefix)]
    assert [open_sealed_as(type(record), data) for data in sealed] == [record, record]


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
