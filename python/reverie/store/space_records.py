"""Typed records of a space: its tokens, schedules, projects, sessions of clients, and privacy settings."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec
from msgspec import field

from reverie.store.record_kinds_and_rules import Key, Kind
from reverie.store.typed_records import FailureRecord, StoredRecord

__all__ = [
    "PrivacyCursor",
    "ProjectRecord",
    "ProjectsCursor",
    "ScheduleRecord",
    "SessionRecord",
    "SessionsCursor",
    "SpaceRecord",
    "TokenRecord",
]


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
    failed, None where it did not.
    """

    KIND: ClassVar[Kind] = Kind.SCHEDULE
    OPTIONAL: ClassVar[tuple[str, ...]] = ("failure",)

    id: str
    cron: str
    timezone: str
    job: str
    options: dict[str, Any] = field(default_factory=dict)
    created_at: str
    last_run: str | None = None
    ran: list[str] = field(default_factory=list)
    failure: FailureRecord | None = None


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
