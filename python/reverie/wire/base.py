"""Base types of the wire: camelCase names, strict requests, tolerant replies, pages and the error envelope."""

from typing import Annotated, Any, Final, Generic, TypeAlias, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct

PROTOCOL = 1
PROTOCOL_HEADER = "Reverie-Protocol"
LIMIT_DEFAULT = 100  # items of one page
LIMIT_MAX = 1000

ABSENT: Final[Any] = UNSET
"""Value of a reply's field that is left out of the JSON: a client then reads the field's default."""

T = TypeVar("T")

Json: TypeAlias = Any
"""A JSON value. `reverie.models`, which calls it so too, takes longer to import than all of the wire."""

# `$` alone also matches before a last newline in Python; `\Z` is unknown to readers of the OpenAPI document.
Id = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"^(?!\.{1,2}$)[A-Za-z0-9._:@+-]+(?!\n)$")]
"""An identifier: 1 to 200 letters, digits and `. _ : @ + -`; never `.` or `..`."""

_AFTER = "The `next` of the page before: this one begins behind it."
Cursor = Annotated[str, Meta(min_length=1, max_length=1000, description=_AFTER)]
"""A pagination cursor: the `next` of the previous page."""

SEQUENCE_MAX = 10**18 - 1  # of a sequence number, 18 digits: far more than there will ever be
Sequence = Annotated[int, Meta(ge=0, le=SEQUENCE_MAX, description=_AFTER)]
PageLimit = Annotated[int, Meta(ge=1, le=LIMIT_MAX, description="Items of the page at most.")]

OperationId = Annotated[str, Meta(pattern=r"^[0-9]{1,18}(?!\n)$")]
"""The number of an operation; 0 is the state before the first one."""

Count = Annotated[int, Meta(ge=0)]
TokenBudget = Annotated[int, Meta(ge=1)]
"""Tokens of input and output together; absent means the daemon's `maxTokenBudget`."""


class Request(Struct, rename="camel", forbid_unknown_fields=True, omit_defaults=True):
    """Base of requests. An unknown field is an error, so that a misspelt option is not silently ignored."""


class Reply(Struct, rename="camel"):
    """Base of replies. Unknown fields are skipped, so that an older client can read a newer daemon."""


class Page(Reply, Generic[T]):
    """One page of a list. `next` is the cursor of the next page (to send as `after`), None on the last one."""

    items: list[T]
    next: str | None = None


class NoQuery(Request):
    """The query of a call that takes no parameters."""


class ListQuery(Request):
    """The query of a list: `?limit=&after=`."""

    limit: PageLimit = LIMIT_DEFAULT
    after: Cursor | None = None


class SequenceQuery(Request):
    """The query of a list whose items are numbered: `after` is a sequence number."""

    limit: PageLimit = LIMIT_DEFAULT
    after: Sequence | None = None


class WaitQuery(Request):
    """The query of a call that starts a job."""

    wait: Annotated[bool, Meta(description="Wait for the result (200) instead of the job's id (202).")] = False


class JobAccepted(Reply):
    """202: the work runs as a job; `GET /v1/jobs/{job}` answers its progress."""

    job: str


_PURGE = "Remove it for good, also from the history, the archives and the store's free pages; no undo."


class PurgeQuery(Request):
    """The query of a deletion: `?purge=true`."""

    purge: Annotated[bool, Meta(description=_PURGE)] = False


class BackupFile(Reply):
    """A backup and the time at which it was made."""

    path: str
    at: str


class Purged(Reply):
    """The result of a purge: how much is gone for good, and what still has its words.

    `kept` are memories that were learnt from a purged thread too and stay. `freedBytes` is by how much the store's file
    has become smaller. `backups` were made while it existed, and are not changed.
    """

    operation: str
    memories: Count = 0
    documents: Count = 0
    archives: Count = 0
    kept: list[str] = msgspec.field(default_factory=list)
    freed_bytes: Count = 0
    backups: list[BackupFile] = msgspec.field(default_factory=list)


class ErrorEnvelope(Reply):
    """The body of every error; `details["hint"]` is what to do next."""

    error: str
    message: str
    details: dict[str, Json] = msgspec.field(default_factory=dict)
