"""Typed records of threads (entries, outlines, states, notes, distillations, imports) and of runs with their files."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import field

from reverie.models import CommandUse, EntryKind, Note, Role, ThreadBrief, WorkingState
from reverie.store.kinds import Key, Kind
from reverie.store.records import StoredRecord
from reverie.text_types import Decision, DerivedText, JsonText, Text, Words


class UsageRecord(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """The API's last token count of a thread's context (`tokens`), and our own count at that time (`live`)."""

    tokens: int
    live: int | None = None


class ClearedRecord(msgspec.Struct, frozen=True, rename="camel"):
    """The API's context edits of a thread so far: their number, and the tokens that they cleared."""

    edits: int
    tokens: int


class FactorRecord(StoredRecord, frozen=True, kw_only=True):
    """The API's count of a model's tokens divided by ours, for threads to come.

    `weight` is how many of our tokens the factor was learned from. A thread's record has its own copy.
    Key: ("tokens:" + model,).
    """

    KIND: ClassVar[Kind] = Kind.CURSOR

    value: float
    weight: int = field(name="from")

    @staticmethod
    def key(model: str) -> Key:
        """Return the key of a model's factor."""
        return (f"tokens:{model}",)


class ThreadRecord(StoredRecord, frozen=True, kw_only=True):
    """A thread: its agent, title, model and project, and the running totals of its entries.

    `last_seq` is its last entry, `through_seq` the last entry that a distillation covers, `extracted_seq` the last
    entry that memories were drawn from. `tokens` counts all messages, `live_tokens` those still in the context.
    `carried` are the ids of the notes that it was opened with; None for an imported thread without messages. `project`
    is a name of `ProjectsCursor`; older releases wrote a folder's name there (`projects.of_thread`). `commands` are
    those that passed in it up to `extracted_seq`. `model_tokens` are what a model took to distil it and to
    learn from it. `subagent`: it is of an agent that another one has started. `owner` is the agent whose token imported
    it. Key: (thread,).
    """

    KIND: ClassVar[Kind] = Kind.THREAD
    OPTIONAL: ClassVar[tuple[str, ...]] = (
        "carried",
        "factor",
        "cleared",
        "commands",
        "modelTokens",
        "subagent",
        "owner",
    )
    KEEPS_UNKNOWN_FIELDS: ClassVar[bool] = True

    id: str
    agent: str | None = None
    title: Text | None = None
    model: str | None = None
    context_window: int | None = None
    source: str | None = None
    index: DerivedText | None = None
    project: str | None = None
    created_at: str
    updated_at: str
    last_seq: int = 0
    message_count: int = 0
    tokens: int = 0
    live_tokens: int = 0
    distillations: int = 0
    through_seq: int = 0
    extracted_seq: int = 0
    usage: UsageRecord | None = None
    carried: list[str] | None = None
    factor: FactorRecord | None = None
    cleared: ClearedRecord | None = None
    commands: list[CommandUse] | None = None
    model_tokens: int | None = None
    owner: str | None = None
    subagent: bool | None = None


class EntryRecord(StoredRecord, frozen=True, kw_only=True, omit_defaults=True):
    """One stored transcript line of a thread; `reverie.models.Entry` explains the fields.

    The sequence number is in the key alone, and empty fields are left out of the JSON. Key: (thread, seq).
    """

    KIND: ClassVar[Kind] = Kind.ENTRY

    kind: EntryKind
    id: str | None = None
    parent: str | None = None
    role: Role | None = None
    content: JsonText = None
    reply: str | None = None
    at: str | None = None
    usage: dict[str, Any] | None = None
    raw: Text | None = None
    tokens: int = 0
    extra: Annotated[dict[str, Any], Words()] = field(default_factory=dict)
    line: int = 0


class OutlineRecord(StoredRecord, frozen=True, kw_only=True, omit_defaults=True):
    """A part of a thread's outline. Key: (thread, part).

    Its fields are those of `importers.outline`.

    Part 0 is the last one, which may still grow: `parts` counts those before it, numbered from 1, and `created_at` is
    the thread's, since a thread may be deleted and created again under its id.
    """

    KIND: ClassVar[Kind] = Kind.OUTLINE

    first: int
    through: int
    messages: int
    rewound: list[tuple[int, int]] = field(default_factory=list)
    repeats: list[int] = field(default_factory=list)
    parts: int = 0
    created_at: str | None = None


class BriefRecord(StoredRecord, frozen=True, kw_only=True):
    """The lines that a thread has for the brief of its project, from its entries up to `through`. Key: (thread,).

    Derived: it is made anew where the thread has grown or `version` is not that of `distill.brief`. `created_at` is the
    thread's, since a thread may be deleted and created again under its id.
    """

    KIND: ClassVar[Kind] = Kind.BRIEF

    thread: str
    created_at: str
    through: int
    version: int
    brief: ThreadBrief


class DroppedLineRecord(StoredRecord, frozen=True, kw_only=True):
    """A line that a person took out of the brief of a project. Key: (line,), which is a hash of project and words.

    So it has no words, and a session that says the same does not bring the line back.
    """

    KIND: ClassVar[Kind] = Kind.DROPPED_LINE

    project: str
    by: str
    at: str


class WorkingStateRecord(StoredRecord, frozen=True, kw_only=True):
    """The stored working state of a thread. Key: (thread,).

    It was stored when entry `seq` was the last. Entries after `through_seq` are read on top of it.
    """

    KIND: ClassVar[Kind] = Kind.STATE

    state: WorkingState
    seq: int = 0
    through_seq: int = field(default=0, name="from")


class NoteRecord(Note, StoredRecord, frozen=True, kw_only=True):
    """A note in a thread; `thread` is the one it was copied from, or None. Key: (thread, note)."""

    KIND: ClassVar[Kind] = Kind.NOTE
    OPTIONAL: ClassVar[tuple[str, ...]] = ("thread",)

    thread: str | None = None


class DigestRecord(StoredRecord, frozen=True, kw_only=True):
    """The digest of a thread, and when it was written. Key: (thread,)."""

    KIND: ClassVar[Kind] = Kind.DIGEST

    text: DerivedText
    at: str | None = None


class PassageRecord(msgspec.Struct, frozen=True, array_like=True):
    """An excerpt of a distillation as a JSON array; `reverie.models.Passage` explains the fields."""

    text: DerivedText
    seq: int
    tokens: int
    origin: DerivedText
    place: int


class LearntRecord(msgspec.Struct, frozen=True, rename="camel"):
    """The entries that a distillation learnt memories from, `before` (exclusive) to `through`, with its counts.

    `commands_before` and `commands` are those of the thread's record: an undo restores them, so that the same entries
    are not counted twice.
    """

    before: int
    through: int
    commands_before: list[CommandUse] | None = None
    commands: list[CommandUse] | None = None


class DistillationRecord(StoredRecord, frozen=True, kw_only=True):
    """A summary of a thread's older entries, up to `through_seq`.

    One made here has every field. One found in an imported transcript (`imported`) has a text and the last entry that
    it covers, and nothing else. `last_seq` is the thread's last entry when it was made, `tokens_after` what its
    context weighed then, `learnt` what memories came from. `by_model` says that a model wrote the text, which is then
    served as it is. Key: (thread, number).
    """

    KIND: ClassVar[Kind] = Kind.DISTILLATION
    OPTIONAL: ClassVar[tuple[str, ...]] = (
        "imported",
        "sections",
        "passages",
        "state",
        "digest",
        "archive",
        "lastSeq",
        "tokensAfter",
        "learnt",
        "byModel",
    )

    number: int
    imported: bool = False
    sections: dict[str, list[DerivedText]] | None = None
    passages: list[PassageRecord] | None = None
    state: WorkingState | None = None
    digest: DerivedText | None = None
    through_seq: int
    text: DerivedText
    archive: str | None = None
    last_seq: int | None = None
    tokens_after: int | None = None
    at: str | None = None
    learnt: LearntRecord | None = None
    by_model: bool = False


class ImportRecord(StoredRecord, frozen=True, kw_only=True, rename=None):
    """The position up to which a transcript file has been imported.

    `sha256` is of the bytes from `check_from` to `offset`, the last chunk: a file with other bytes there is not the
    file that was read. `reply` is the API reply that the last message belongs to. `mixed`: more than one file was read
    for this session, so every line may be stored already. `folder` is where the client was at the last line, as far as
    lines say so. `forgotten` is when a person deleted the thread: then the record is only the mark of that, without
    client and session. Key: (source,).
    """

    KIND: ClassVar[Kind] = Kind.IMPORT

    id: str
    source: str
    client: str
    session: str
    thread: str
    offset: int = 0
    lines: int = 0
    check_from: int = 0
    sha256: str = ""
    inside: str = "nothing"
    reply: str | None = None
    mixed: bool = False
    folder: str | None = None
    forgotten: str | None = None


class RunRecord(StoredRecord, frozen=True, kw_only=True):
    """A run: who works, in which thread, and what became of it. Key: (run,).

    `first_seq` is the thread's last entry when the run began. `ended_by` is `call`, `session` or `idle`; `answer` is
    the result of its completion as the API answers it.
    """

    KIND: ClassVar[Kind] = Kind.RUN
    KEEPS_UNKNOWN_FIELDS: ClassVar[bool] = True

    id: str
    agent: str | None = None
    thread: str | None = None
    title: Text | None = None
    project: str | None = None
    state: Literal["running", "completed"] = "running"
    first_seq: int = 0
    created_at: str
    updated_at: str
    completed_at: str | None = None
    ended_by: Literal["call", "session", "idle"] | None = None
    working_memory: Annotated[dict[str, str], Words()] = field(default_factory=dict)
    answer: Decision | None = None


class RunFileRecord(StoredRecord, frozen=True, kw_only=True):
    """A file that an agent wrote in a run, whole and redacted; `content` is None for a binary or too large one.

    `source` says who reported it: a call of the API, an edit by a tool of the thread, a watched folder. `size` is in
    bytes. Key: (run, SHA-256 of the path).
    """

    KIND: ClassVar[Kind] = Kind.RUN_FILE

    path: str
    content: Text | None
    size: int
    sha256: str
    author_agent_id: str | None = None
    source: Literal["api", "tool", "folder"] = "api"
    omitted: Literal["binary", "large"] | None = None
    at: str
