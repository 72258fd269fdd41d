"""A typed sample record of every kind that callers write, with its key."""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from reverie.models import BriefLine, CommandUse, EntryKind, MemoryType, StateSources, ThreadBrief, WorkingState
from reverie.store import (
    AccessCursor,
    AccessRecord,
    ArchiveEntryRecord,
    ArchiveRecord,
    ArchivesCursor,
    BaselineRecord,
    BriefRecord,
    CandidateRecord,
    ClearedRecord,
    ConflictRecord,
    DigestRecord,
    DistillationRecord,
    DocumentRecord,
    DreamRecord,
    DroppedLineRecord,
    EntryRecord,
    FactorRecord,
    FailureRecord,
    FingerprintRecord,
    FingerprintsCursor,
    ForgottenRecord,
    IdentityRecord,
    ImportRecord,
    Key,
    LearntRecord,
    LedgerRecord,
    ListedCursor,
    MemoriesCursor,
    MemoryRecord,
    MovedThreadsCursor,
    NoteRecord,
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
    StoredRecord,
    ThreadRecord,
    TokenRecord,
    UsageRecord,
    VersionsCursor,
    WorkingStateRecord,
)
from support.stores import AT

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
