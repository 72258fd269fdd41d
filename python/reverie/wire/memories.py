"""Memories, the changes made to them, and recall."""

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, field

from reverie.models import Json
from reverie.wire.base import Count, ListQuery, Reply, Request, TokenBudget

__all__ = [
    "RECALL_LIMIT_DEFAULT",
    "RECALL_LIMIT_MAX",
    "AddChange",
    "Change",
    "ChangeMemory",
    "CreateMemory",
    "DeleteChange",
    "KeepChange",
    "Memory",
    "MemoryChanges",
    "MemoryDeleted",
    "MemoryKind",
    "MemoryQuery",
    "MemoryVersion",
    "RecallAnswer",
    "RecallHit",
    "RecallRequest",
    "SkipChange",
    "UpdateChange",
]

RECALL_LIMIT_DEFAULT = 10
RECALL_LIMIT_MAX = 100
_TAGS_MAX = 50

MemoryKind: TypeAlias = Literal["skill", "fact", "procedure", "observation", "mistake", "preference", "episode"]
Trust: TypeAlias = Literal["person", "agent", "engine"]
Tag = Annotated[str, Meta(min_length=1, max_length=100)]


class MemoryQuery(ListQuery):
    """The query of `GET /v1/memories`."""

    type: MemoryKind | None = None
    tag: Tag | None = None


class Memory(Reply):
    """One durable item, a block of `document`. `title` and `fields` are those of an episode."""

    id: str
    type: MemoryKind
    content: str
    tags: list[str]
    document: str
    created_at: str
    updated_at: str
    access_count: int = 0
    last_accessed_at: str | None = None
    trust: Trust = "engine"
    provenance: dict[str, Json] = field(default_factory=dict)
    title: str | None = None
    fields: dict[str, str] = field(default_factory=dict)


class CreateMemory(Request):
    """`POST /v1/memories`: something to remember.

    Without a `document` it goes where its type belongs; without a `type` it has that of its document, else it is a
    fact. `title` and `fields` are those of an episode. `author` says whose words they are: engines never change a
    person's by themselves.
    """

    content: Annotated[str, Meta(min_length=1, max_length=100_000)]
    type: MemoryKind | None = None
    tags: Annotated[list[Tag], Meta(max_length=_TAGS_MAX)] = field(default_factory=list)
    document: Annotated[str, Meta(min_length=1, max_length=1024)] | None = None
    title: Annotated[str, Meta(min_length=1, max_length=500)] | None = None
    fields: dict[str, str] = field(default_factory=dict)
    author: Literal["person", "agent"] = "agent"


class ChangeMemory(Request):
    """`PATCH /v1/memories/{id}`: other words, other tags, or both."""

    content: Annotated[str, Meta(min_length=1, max_length=100_000)] | None = None
    tags: Annotated[list[Tag], Meta(max_length=_TAGS_MAX)] | None = None
    author: Literal["person", "agent"] = "agent"


class MemoryDeleted(Reply):
    """A memory that is gone; undo of `operation` brings it back."""

    id: str
    document: str
    operation: str


class MemoryVersion(Reply):
    """A memory as one operation left it; `memory` is None where that operation deleted it."""

    version: int
    operation: str
    at: str
    who: str
    why: str
    memory: Memory | None = None


class RecallRequest(Request):
    """`POST /v1/recall`."""

    query: Annotated[str, Meta(min_length=1, max_length=10_000)]
    limit: Annotated[int, Meta(ge=1, le=RECALL_LIMIT_MAX)] = RECALL_LIMIT_DEFAULT
    token_budget: TokenBudget | None = None
    types: Annotated[list[MemoryKind], Meta(max_length=7)] | None = None
    tags: Annotated[list[Tag], Meta(max_length=_TAGS_MAX)] | None = None


class RecallHit(Reply):
    """A remembered item and why it came up."""

    memory: Memory
    score: float
    why: str


class RecallAnswer(Reply):
    """Best first; `tokens` is what the hits cost together."""

    hits: list[RecallHit]
    tokens: int
    tokenizer: str = "o200k_base"


class _Change(Reply, tag_field="action"):
    """One decision of a consolidation."""


class KeepChange(_Change, tag="KEEP"):
    """Still accurate."""

    id: str


class UpdateChange(_Change, tag="UPDATE"):
    """Says more, or says it better."""

    id: str
    content: str
    tags: list[str] = field(default_factory=list)


class DeleteChange(_Change, tag="DELETE"):
    """Outdated, contradicted or of no value."""

    id: str


class AddChange(_Change, tag="ADD"):
    """New knowledge. `id` is what it was stored under, absent in a dry run."""

    type: MemoryKind
    content: str
    tags: list[str] = field(default_factory=list)
    id: str | None = None


class SkipChange(_Change, tag="SKIP"):
    """Already covered."""

    candidate_index: Count


Change: TypeAlias = KeepChange | UpdateChange | DeleteChange | AddChange | SkipChange


class Proposal(Reply):
    """What an engine would make of a memory that a person wrote last; only a person does it, in the file."""

    change: UpdateChange | DeleteChange
    why: str


class MemoryChanges(Reply):
    """What a consolidation did to the memories: decisions counted by action, and the capacity tier that ruled."""

    candidates: int
    counts: dict[str, int]
    tier: str
    operation: str | None = None
    proposals: list[Proposal] = field(default_factory=list)
