"""What redaction took, and what a person allows."""

from typing import Annotated

from msgspec import Meta, field

from reverie.wire.base import Count, ListQuery, Page, Reply, Request
from reverie.wire.spaces import ProjectText


class RedactedPlace(Reply):
    """Where a value was replaced: the entries of a thread by their numbers, a memory by its id, a document by its path.

    `messages` is empty for a thread's title, a note or its working state. In the list, `lines` are the entries that are
    no messages, by their lines of `source`, the thread's transcript.
    """

    thread: str | None = None
    memory: str | None = None
    document: str | None = None
    project: str | None = None
    messages: list[int] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    source: str | None = None


class Redaction(Reply):
    """A value that was replaced, without the value: kind and rule, its length and classes of characters, and where.

    `id` is made of a keyed hash. `count` is how often it was found; `more`: not all places are listed. `allowed`: it is
    no longer taken, by its id or its rule.
    """

    id: str
    kind: str
    rule: str
    shape: str
    count: Count
    places: list[RedactedPlace]
    more: bool
    allowed: bool
    first_at: str
    last_at: str


class RedactionsQuery(ListQuery):
    """The query of `GET /v1/redactions`."""

    project: ProjectText | None = None


class RedactionsPage(Page[Redaction]):
    """One page of redactions, those first that were found last.

    `since`: what was taken before, by an older release, is not listed. `unlisted` counts what came after the list was
    full. `allow` is the setting `redact.allow`.
    """

    since: str | None = None
    unlisted: Count = 0
    allow: list[str] = field(default_factory=list)


_PATTERN = "A pattern of whole values; * stands for any characters."


class AllowRedactions(Request):
    """Body of `POST /v1/redactions/allow` and `…/disallow`: one of a redaction's id, a rule's name, a pattern."""

    id: Annotated[str, Meta(pattern=r"^rdn_[0-9a-f]{32}(?!\n)$")] | None = None
    rule: Annotated[str, Meta(min_length=1, max_length=60, pattern=r"^[a-z0-9-]+(?!\n)$")] | None = None
    like: Annotated[str, Meta(min_length=1, max_length=200, description=_PATTERN)] | None = None


class UnrestoredPlace(RedactedPlace):
    """A place that still has a marker, and why: its text is not in a transcript any more."""

    why: str = ""


class Allowed(Reply):
    """The setting `redact.allow` after a change, the places whose texts changed by it, and those left as they were.

    `values` counts the markers that became texts again; after `disallow`, the values that were replaced again. Each
    document counts once, and what else repeats a message does not: `Redaction.count` is what was found as it came in.
    """

    allow: list[str]
    values: Count = 0
    restored: list[RedactedPlace] = field(default_factory=list)
    left: list[UnrestoredPlace] = field(default_factory=list)
