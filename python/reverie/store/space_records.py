"""Typed records of a space (tokens, schedules, projects, sessions, privacy), of maintenance, and of model usage."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import msgspec
from msgspec import field

from reverie.store.kinds import Key, Kind
from reverie.store.records import FailureRecord, StoredRecord


class IdentityRecord(StoredRecord, frozen=True, kw_only=True):
    """The random id of this store; a restored backup keeps it. Key: `KEY`, in the system space."""

    KIND: ClassVar[Kind] = Kind.CURSOR
    KEY: ClassVar[Key] = ("identity",)

    id: str


class VersionsCursor(StoredRecord, frozen=True, kw_only=True):
    """Progress of the conversion of whole versions, as older releases stored them, to edits. Key: `KEY`.

    `after` is the key of the last version looked at, in hex; `done` once all were.
    """

    KIND: ClassVar[Kind] = Kind.CURSOR
    KEY: ClassVar[Key] = ("versions",)

    after: str = ""
    done: bool = False


class PendingPurge(msgspec.Struct, frozen=True, rename="camel"):
    """A purge that is under way: the memory, document or thread, by its key; or a thread's deletion without a purge.

    `keep_memories`: what was learnt from the thread stays. `messages` are those that the thread of a deletion had.
    """

    kind: Literal["memory", "document", "thread", "deletion"]
    key: str
    keep_memories: bool = False
    messages: int = 0


class PurgesCursor(StoredRecord, frozen=True, kw_only=True):
    """The purges that are under way, and the archives that they replaced, whose files have to go. Key: `KEY`."""

    KIND: ClassVar[Kind] = Kind.CURSOR
    KEY: ClassVar[Key] = ("purges",)

    pending: list[PendingPurge] = field(default_factory=list)
    archives: list[str] = field(default_factory=list)


class RootCursor(StoredRecord, frozen=True, kw_only=True):
    """The folder of this space as it was opened last: device, inode, and the store in its space file. Key: `KEY`."""

    KIND: ClassVar[Kind] = Kind.CURSOR
    KEY: ClassVar[Key] = ("root",)

    device: int
    inode: int
    mark: str


class CompactionCursor(StoredRecord, frozen=True, kw_only=True):
    """The time of the last purge whose bytes are still in the store's file. Key: `KEY`, in the system space."""

    KIND: ClassVar[Kind] = Kind.CURSOR
    KEY: ClassVar[Key] = ("compaction",)

    since: str


class BackupEntry(msgspec.Struct, frozen=True):
    """A backup that was made: its path and time."""

    path: str
    at: str


class BackupsCursor(StoredRecord, frozen=True, kw_only=True):
    """The backups that were made, so that a purge can name those that have it. Key: `KEY`, in the system space."""

    KIND: ClassVar[Kind] = Kind.CURSOR
    KEY: ClassVar[Key] = ("backups",)

    backups: list[BackupEntry] = field(default_factory=list)


class FingerprintRecord(StoredRecord, frozen=True, kw_only=True):
    """The keyed hash of a redacted value; `reverie.redact.Fingerprint` explains the fields.

    Key: (slot,), in the system space.
    """

    KIND: ClassVar[Kind] = Kind.FINGERPRINT

    number: int
    hash: str
    length: int
    prefix: int
    marker: str


class FingerprintsCursor(StoredRecord, frozen=True, kw_only=True):
    """The key of the fingerprints, in hex. Key: `KEY`, in the system space."""

    KIND: ClassVar[Kind] = Kind.CURSOR
    KEY: ClassVar[Key] = ("fingerprints",)

    salt: str


class RedactedPlace(msgspec.Struct, frozen=True, array_like=True):
    """Where a value was redacted: a thread, memory or document by id or path; of a thread the numbers of entries."""

    kind: Literal["thread", "memory", "document"]
    key: str
    seqs: list[int] = field(default_factory=list)


class RedactionRecord(StoredRecord, frozen=True, kw_only=True):
    """A value that redaction replaced, without the value. Key: (id,), `rdn_` and the keyed hash of the value in hex.

    `shape` is its length and classes of characters. `places` are the first ones; `more`: there were others.
    """

    KIND: ClassVar[Kind] = Kind.REDACTION

    id: str
    marker: str
    rule: str
    shape: str
    count: int
    places: list[RedactedPlace] = field(default_factory=list)
    more: bool = False
    first_at: str
    last_at: str


class RedactionsCursor(StoredRecord, frozen=True, kw_only=True):
    """What a list of redactions lacks. Key: `KEY`.

    In a space `unlisted` counts the values found after the list was full. In the system space `since` is when a store
    of an older release began to list them, empty in a store that always did.
    """

    KIND: ClassVar[Kind] = Kind.CURSOR
    KEY: ClassVar[Key] = ("redactions",)

    since: str = ""
    unlisted: int = 0


class LedgerRecord(StoredRecord, frozen=True, kw_only=True):
    """The tokens that one distillation (`kind` thread) or dream used, and the total so far. Key: (seq,)."""

    KIND: ClassVar[Kind] = Kind.LEDGER

    kind: str
    ref: str
    tokens: int
    total: int
    at: str


class SpendRecord(StoredRecord, frozen=True, kw_only=True):
    """The tokens and calls of requests to the model of one role on one UTC day. Key: (day, role), in the system space.

    `calls` are the requests that were sent, `failed` those of them that brought no answer. `cached_tokens` are those of
    `input_tokens` that the provider read from its cache. `reserved` has the requests whose end is not known, by id, and
    the most tokens that each may have used: written before it is sent, so that a process that is killed has sent
    nothing that is not counted.
    """

    KIND: ClassVar[Kind] = Kind.SPEND

    calls: int = 0
    failed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reserved: dict[str, int] = field(default_factory=dict)


class SpaceRecord(StoredRecord, frozen=True, kw_only=True):
    """A space that was created. Key: (space,), in the system space."""

    KIND: ClassVar[Kind] = Kind.SPACE

    created_at: str = ""


class TokenRecord(StoredRecord, frozen=True, kw_only=True):
    """The space and agent that an access token belongs to. Key: (SHA-256 of the token,), in the system space."""

    KIND: ClassVar[Kind] = Kind.TOKEN

    space: str
    agent: str | None = None
    created_at: str = ""


class ScheduleRecord(StoredRecord, frozen=True, kw_only=True):
    """A schedule: the job, its cron expression and its last run. Key: (schedule,).

    `ran` are the local times of past runs, which a clock set back must not repeat. `failure` is why the last run
    failed, None where it did not. `begun` has the fire times of the runs that were begun since the
    last one with an end. `owner` is the agent whose token added it.
    """

    KIND: ClassVar[Kind] = Kind.SCHEDULE
    OPTIONAL: ClassVar[tuple[str, ...]] = ("failure", "begun", "owner")

    id: str
    cron: str
    timezone: str
    job: str
    options: dict[str, Any] = field(default_factory=dict)
    created_at: str
    last_run: str | None = None
    ran: list[str] = field(default_factory=list)
    failure: FailureRecord | None = None
    begun: list[str] | None = None
    owner: str | None = None


class ProjectRecord(msgspec.Struct, frozen=True, rename="camel"):
    """A project: its name, the normalized addresses of its remotes, and the folders by which it is known, newest last.

    The name is that of its folder below `facts/`. One that was given by name alone has neither remotes nor folders.
    One that turned out to be the repository of another project has the name of that in `joined`, and the number of the
    operation that moved its memories there in `joined_in`.
    """

    name: str
    remotes: list[str] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    joined: str = ""
    joined_in: int = 0


class ProjectsCursor(StoredRecord, frozen=True, kw_only=True):
    """The projects of a space, in the order in which they became known. Key: `KEY`."""

    KIND: ClassVar[Kind] = Kind.CURSOR
    KEY: ClassVar[Key] = ("projects",)

    projects: list[ProjectRecord] = field(default_factory=list)


class MovedThreadsCursor(StoredRecord, frozen=True, kw_only=True):
    """The threads that an operation gave another project, so that an undo can give them the one before.

    Each has its id, and the project before and after. Key: `key(operation)`.
    """

    KIND: ClassVar[Kind] = Kind.CURSOR

    threads: list[tuple[str, str | None, str | None]] = field(default_factory=list)

    @staticmethod
    def key(operation: int) -> Key:
        """Return the key of an operation's moves."""
        return (f"moved:{operation}",)


class SessionRecord(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, kw_only=True):
    """A session of an agent's client, and the thread that its transcript is imported into.

    `pid` is the client's process, `before` the session that the same process had before (`/clear` begins a new one).
    """

    client: str
    session: str
    thread: str
    project: str | None = None
    transcript: str | None = None
    pid: int | None = None
    before: str | None = None
    started_at: str
    updated_at: str
    ended_at: str | None = None


class SessionsCursor(StoredRecord, frozen=True, kw_only=True):
    """The newest sessions of a space, the one that was heard of last at the end. Key: `KEY`."""

    KIND: ClassVar[Kind] = Kind.CURSOR
    KEY: ClassVar[Key] = ("sessions",)

    sessions: list[SessionRecord] = field(default_factory=list)


class PrivacyCursor(StoredRecord, frozen=True, kw_only=True):
    """Privacy settings: folders, and times in which nothing of a session is recorded. Key: `KEY`.

    `pauses` are pairs of times; the end of the last one is None while recording is paused.
    """

    KIND: ClassVar[Kind] = Kind.CURSOR
    KEY: ClassVar[Key] = ("privacy",)

    ignored: list[str] = field(default_factory=list)
    pauses: list[tuple[str, str | None]] = field(default_factory=list)
