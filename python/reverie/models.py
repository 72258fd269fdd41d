"""The concepts of the domain as plain values: frozen, without behaviour.

Times are RFC 3339 UTC with milliseconds (`2026-11-21T09:30:00.000Z`). Token counts are o200k_base tokens.
JSON values keep their shape; a `dict` inside a frozen value is never changed in place.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec

from reverie.text_types import DerivedText, JsonText, Provenance, Text, Words

ORPHAN_RESULT: Final = "[a result whose call is not recorded]"
"""The line before the words of a tool's result that became text in a user message: nobody said them."""

NO_RESULT: Final = "[no result was recorded]"
"""The result of a call whose own is not recorded: the call is under way, or was cut off."""

DATE_CHARS: Final = 10
"""Characters of the date at the beginning of an RFC 3339 time: `2026-11-21`."""

Json: TypeAlias = Any
Role: TypeAlias = Literal["user", "assistant"]


class EntryKind(StrEnum):
    """The kind of one transcript line. Only `speech` is part of the conversation itself."""

    SPEECH = "speech"  # a user or assistant message of the main line, tool results included
    SIDECHAIN = "sidechain"  # a subagent's message
    META = "meta"  # user-role text that the client inserted: caveats, command output, skill texts
    BOUNDARY = "boundary"  # a compaction took place here
    SUMMARY = "summary"  # the text that replaced the messages before a boundary
    PROGRESS = "progress"  # interim output of a running tool or hook
    ATTACHMENT = "attachment"  # context that the client added by itself
    OTHER = "other"  # bookkeeping of the client, and line types that are not known
    BAD = "bad"  # a line that could not be parsed; stored raw


class Entry(msgspec.Struct, frozen=True):
    """One stored transcript line of a thread, in file order.

    `content` is Anthropic message content (a string or a list of blocks) where the line has a message, else None.
    `reply` is the API reply (`message.id`) that several lines may share. `extra` is the rest of the line's JSON.
    """

    kind: EntryKind
    seq: int = 0  # dense per thread from 1; 0 before it is stored
    id: str | None = None  # the source's uuid
    parent: str | None = None  # the source's parentUuid
    role: Role | None = None
    content: JsonText = None
    reply: str | None = None
    at: str | None = None
    usage: dict[str, Any] | None = None
    tokens: int = 0  # of the message's content; 0 for lines without one
    extra: Annotated[dict[str, Any], Words()] = {}
    raw: Text | None = None  # only for BAD: the line's text
    line: int = 0  # line number in its file, from 1; 0 where there is no file


class Message(msgspec.Struct, frozen=True):
    """One message of a conversation: the entries of one API reply joined, tool results gathered into a user message.

    `first_seq..last_seq` are the entries it was joined from. `rewound`: the person went back to before it.
    """

    role: Role
    content: JsonText  # a string, or a list of Anthropic content blocks
    first_seq: int
    last_seq: int
    at: str | None = None
    tokens: int = 0
    rewound: bool = False
    usage: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class StateSources:
    """The sequence number of the entry behind each item of a working state, field by field in the order of the items.

    0 where it is unknown. For items that an agent set itself, the last entry at that time.
    """

    current_task: int = 0
    task_chain: tuple[int, ...] = ()
    completed_steps: tuple[int, ...] = ()
    next_steps: tuple[int, ...] = ()
    open_files: tuple[int, ...] = ()
    recent_decisions: tuple[int, ...] = ()
    blockers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class WorkingState:
    """Tier 1: the task and its progress (seed 001, tier 1, plus `next_steps`). Lists are newest last and bounded."""

    current_task: DerivedText = ""
    task_chain: tuple[DerivedText, ...] = ()
    completed_steps: tuple[DerivedText, ...] = ()
    next_steps: tuple[DerivedText, ...] = ()
    open_files: tuple[DerivedText, ...] = ()
    recent_decisions: tuple[DerivedText, ...] = ()
    blockers: tuple[DerivedText, ...] = ()
    updated_at: str | None = None
    sources: StateSources = StateSources()


NoteCategory: TypeAlias = Literal["task", "decision", "preference", "correction", "context"]


class Note(msgspec.Struct, frozen=True):
    """Tier 5: a note that an agent wrote to its own memory of a thread."""

    id: str
    content: Text
    category: NoteCategory
    at: str


class Dropped(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something that a context left out, shortened or cleared; a field that does not apply is absent.

    `tier` is where it would have been. `path`, `seq` (the message's number), `what` and `id` say what it is, `count`
    how many there were, `tokens` how many tokens are gone, and `why` the reason.
    """

    tier: str
    path: str | None = None
    seq: int | None = None
    what: str | None = None
    count: int | None = None
    id: str | None = None
    tokens: int | None = None
    why: str | None = None


class Section(StrEnum):
    """The seven sections of a structured summary, spelt as seed 001 spells them, in its order."""

    TASK_CONTEXT = "Task Context"
    COMPLETED_WORK = "Completed Work"
    DECISIONS = "Key Decisions & Rationale"
    CURRENT_STATE = "Current State"
    OPEN_THREADS = "Open Threads"
    CORRECTIONS = "Corrections & Failed Approaches"
    TONE = "Tone & Register"


@dataclass(frozen=True, slots=True)
class Summary:
    """Tier 2: one structured summary. `sections` has every section, each a tuple of lines, the most important first."""

    number: int
    sections: dict[Section, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Passage:
    """A verbatim excerpt of the distilled part of a thread. Rank 0 is the one to keep first."""

    text: str
    seq: int  # entry it came from
    rank: int
    tokens: int  # of `text` + newline
    origin: str = ""  # the file, command or speaker it comes from; passages of one origin are shown together
    place: int = 0  # its position in the thread, to order passages of one entry


@dataclass(frozen=True, slots=True)
class Distillation:
    """The summary, passages, state and digest that replace a thread's older messages."""

    summary: Summary
    passages: tuple[Passage, ...]
    state: WorkingState
    digest: str
    through_seq: int  # the last entry that the summary covers; the preserved tail begins after it


class MemoryType(StrEnum):
    """The types of durable memory (seed 003), and the episode of seed 004."""

    SKILL = "skill"
    FACT = "fact"
    PROCEDURE = "procedure"
    OBSERVATION = "observation"
    MISTAKE = "mistake"
    PREFERENCE = "preference"
    EPISODE = "episode"


@dataclass(frozen=True, slots=True)
class CommandUse:
    """A shell command that passed in one thread: what for, how often, and how the agent described it last.

    `purpose` is a key of `distill.procedures.DOING`, or "other".
    """

    purpose: str
    command: DerivedText
    times: int = 1
    description: DerivedText = ""


@dataclass(frozen=True, slots=True)
class BriefLine:
    """A line that a thread has for the brief of its project: a quote or a fact, and where it was said.

    `key` is the same for lines of other threads that say the same, `fix` what made a failed command work. `weight` is
    what the place of a quote in its thread says for it, `times` how often it came up there.
    """

    kind: Literal["wish", "mistake", "command", "finding", "decision"]
    text: DerivedText
    seq: int
    at: str | None
    key: DerivedText = ""
    fix: DerivedText = ""
    weight: float = 0.0
    times: int = 1


@dataclass(frozen=True, slots=True)
class ThreadBrief:
    """What one thread has for the brief of its project: its lines, and the weight of each name that was used in it.

    A name counts as often as it was used; one of a file or symbol of the project counts more.

    `task` is what the person asked for last, `open` what the agent asked or left undone, a step a line; both may be
    empty.
    """

    lines: tuple[BriefLine, ...] = ()
    names: Annotated[dict[str, int], Words(derived=True)] = field(default_factory=dict)
    task: DerivedText = ""
    open: DerivedText = ""
    at: str | None = None


class Candidate(msgspec.Struct, frozen=True):
    """A proposed memory, before consolidation.

    `title` and `fields` are for episodes only: the `##` line and its `- Key: value` lines. `subject` says what a fact
    is about: `user` facts go to facts/user.md, `project` facts to facts/project.md. `provenance` names the entries it
    was extracted from: `{"thread": id, "seqs": [..]}`.
    `project` is the name of the project that it belongs to, empty for what concerns the person.
    """

    type: MemoryType
    content: Text
    tags: tuple[Text, ...] = ()
    subject: Literal["user", "project"] = "project"
    title: Text | None = None
    fields: Annotated[tuple[tuple[str, str], ...], Words()] = ()
    at: str | None = None
    provenance: Provenance = msgspec.field(default_factory=dict)
    project: str = ""


class Memory(msgspec.Struct, frozen=True):
    """A memory: one durable item, a block of the markdown document at `document`.

    `project` is the name of the project that it belongs to, empty for what concerns the person; None where an older
    release stored it (`documents.layout.memory_project`). In a record `access_count` and
    `last_accessed_at` are 0 and None: they are stored apart, in an `AccessRecord`, and filled in by
    `AccessCounts.with_access`.
    """

    id: str
    type: MemoryType
    content: Text
    tags: tuple[Text, ...]
    document: str
    created_at: str
    updated_at: str
    access_count: int = 0
    last_accessed_at: str | None = None
    trust: Literal["person", "agent", "engine"] = "engine"  # the block's last author
    provenance: Provenance = msgspec.field(default_factory=dict)
    title: Text | None = None
    fields: Annotated[tuple[tuple[str, str], ...], Words()] = ()
    order: int = 0  # position inside its document when it was last written
    project: str | None = None


@dataclass(frozen=True, slots=True)
class Keep:
    """The change of a memory that is still accurate and not redundant."""

    id: str
    action: Literal["KEEP"] = "KEEP"


@dataclass(frozen=True, slots=True)
class Update:
    """The change of a memory that gets new content; `candidate_index` is the candidate that it is from."""

    id: str
    content: str
    tags: tuple[str, ...]
    candidate_index: int | None = None
    action: Literal["UPDATE"] = "UPDATE"


@dataclass(frozen=True, slots=True)
class Delete:
    """The change of a memory that is outdated, superseded, contradicted or of no value."""

    id: str
    action: Literal["DELETE"] = "DELETE"


@dataclass(frozen=True, slots=True)
class Add:
    """The change of a candidate that becomes a new memory."""

    candidate_index: int
    candidate: Candidate
    action: Literal["ADD"] = "ADD"


@dataclass(frozen=True, slots=True)
class Skip:
    """The change of a candidate that says nothing new; `covered_by` is the memory that says it."""

    candidate_index: int
    covered_by: str | None = None
    action: Literal["SKIP"] = "SKIP"


Change: TypeAlias = Keep | Update | Delete | Add | Skip


class Tier(StrEnum):
    """The capacity tiers of seed 003: how much consolidation may remove."""

    GENEROUS = "GENEROUS"
    SELECTIVE = "SELECTIVE"
    HEAVY_CUT = "HEAVY_CUT"
