"""Memories, their changes by consolidation, recall, and candidates that wait for a person."""

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, field

from reverie.text_types import Text, Words
from reverie.wire.base import Count, Json, ListQuery, Page, Purged, Reply, Request, TokenBudget
from reverie.wire.spaces import Folder, ProjectText

RECALL_LIMIT_DEFAULT = 10
RECALL_LIMIT_MAX = 100
_TAGS_MAX = 50

MemoryKind: TypeAlias = Literal["skill", "fact", "procedure", "observation", "mistake", "preference", "episode"]
Trust: TypeAlias = Literal["person", "agent", "engine"]
Tag = Annotated[Text, Meta(min_length=1, max_length=100)]

CandidateState: TypeAlias = Literal["waiting", "accepted", "rejected"]


class MemoryQuery(ListQuery):
    """Query of `GET /v1/memories`.

    With a `project`, its memories and the person's; with a `folder`, those of its project where it has a known one.
    `allProjects` asks for every memory whatever the two say, as a query without them does.
    """

    kind: MemoryKind | None = field(name="type", default=None)
    tag: Tag | None = None
    project: ProjectText | None = None
    folder: Folder | None = None
    all_projects: bool = False


class Memory(Reply):
    """A memory: one block of `document`. Only episodes have `title` and `fields`.

    `project` is the name of the project that it belongs to, null where it is of none: then it is recalled everywhere.
    `in_doubt_since` is when a later session said or did something against it, null where a person has decided since.
    """

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
    project: str | None = None
    in_doubt_since: str | None = None


class MemoryPage(Page[Memory]):
    """One page of memories; `project` is the one whose memories it lists beside the person's."""

    project: str | None = None


class RememberedMemory(Memory, kw_only=True):
    """Answer of `POST /v1/memories`. `existed`: the same memory was there already, none was added (200, not 201)."""

    existed: bool = False


class CreateMemory(Request):
    """Body of `POST /v1/memories`: a new memory.

    Without a `document` it goes into the one for its type; without a `type` it has that of its document, else `fact`.
    Only episodes have `title` and `fields`. With a `project` it belongs to that, without one to the person, unless the
    `document` is a project's. `author` is whose words they are: engines never change a person's words.
    """

    content: Annotated[Text, Meta(min_length=1, max_length=100_000)]
    type: MemoryKind | None = None
    tags: Annotated[list[Tag], Meta(max_length=_TAGS_MAX)] = field(default_factory=list)
    document: Annotated[str, Meta(min_length=1, max_length=1024)] | None = None
    title: Annotated[Text, Meta(min_length=1, max_length=500)] | None = None
    fields: Annotated[dict[str, str], Words()] = field(default_factory=dict)
    author: Literal["person", "agent"] = "agent"
    project: ProjectText | None = None


class ChangeMemory(Request):
    """Body of `PATCH /v1/memories/{id}`: new content, new tags, or both."""

    content: Annotated[Text, Meta(min_length=1, max_length=100_000)] | None = None
    tags: Annotated[list[Tag], Meta(max_length=_TAGS_MAX)] | None = None
    author: Literal["person", "agent"] = "agent"


class MemoryDeleted(Reply):
    """A deleted memory; undo of `operation` restores it, unless it was `purged`."""

    id: str
    document: str
    operation: str
    purged: Purged | None = None


class MemoryVersion(Reply):
    """One version of a memory; `memory` is None if the operation deleted it."""

    version: int
    operation: str
    at: str
    who: str
    why: str
    memory: Memory | None = None


MinScore = Annotated[
    float,
    Meta(
        ge=0,
        le=1,
        description="Least relevance of a hit; 0 shows every hit. Without it the store's own decides, for all or none.",
    ),
]


class RecallRequest(Request):
    """Body of `POST /v1/recall`: a search.

    With a `project`, among its memories and the person's; with a `folder`, among those of its project where it has a
    known one. `allProjects` searches all memories whatever the two say, as a request without them does.
    """

    query: Annotated[Text, Meta(min_length=1, max_length=10_000)]
    limit: Annotated[int, Meta(ge=1, le=RECALL_LIMIT_MAX)] = RECALL_LIMIT_DEFAULT
    token_budget: TokenBudget | None = None
    types: Annotated[list[MemoryKind], Meta(max_length=7)] | None = None
    tags: Annotated[list[Tag], Meta(max_length=_TAGS_MAX)] | None = None
    project: ProjectText | None = None
    folder: Folder | None = None
    all_projects: bool = False
    min_score: MinScore | None = None
    peek: Annotated[bool, Meta(description="Count no access: nothing is written.")] = False


class RecallHit(Reply):
    """A memory that answers the query, its score, and the terms that contributed to it.

    `score` ranks the hits of one query; `relevance`, 0 to 1, is how much of what the query is about the memory has.
    """

    memory: Memory
    score: float
    why: str
    relevance: float = 1.0


class RecallAnswer(Reply):
    """Result of a recall: the hits, best first, and their tokens together; `project` is the one that was searched.

    `weaker` hits are not shown, since they or the best of them are not above the relevance `minScore`.
    """

    hits: list[RecallHit]
    tokens: int
    tokenizer: str = "o200k_base"
    project: str | None = None
    weaker: int = 0
    min_score: float = 0.0


class _Change(Reply, tag_field="action"):
    """One decision of a consolidation."""


class KeepChange(_Change, tag="KEEP"):
    """The memory stays: it is still accurate."""

    id: str


class UpdateChange(_Change, tag="UPDATE"):
    """The memory gets new content: it says more, or says it better."""

    id: str
    content: str
    tags: list[str] = field(default_factory=list)
    candidate_index: Count | None = None


class DeleteChange(_Change, tag="DELETE"):
    """The memory is deleted: it is outdated, contradicted or of no value."""

    id: str


class AddChange(_Change, tag="ADD"):
    """A new memory, of the candidate at `candidateIndex`. `id` is None in a dry run."""

    type: MemoryKind
    content: str
    tags: list[str] = field(default_factory=list)
    id: str | None = None
    candidate_index: Count | None = None


class SkipChange(_Change, tag="SKIP"):
    """The candidate is skipped: a memory covers it already."""

    candidate_index: Count


Change: TypeAlias = KeepChange | UpdateChange | DeleteChange | AddChange | SkipChange


class Proposal(Reply):
    """A change of a memory in a person's words: it is proposed only, and a person may make it in the file."""

    change: UpdateChange | DeleteChange
    why: str


class ProposedMemory(Reply):
    """A candidate: a memory that was proposed, before it was decided what becomes of it."""

    type: MemoryKind
    content: str
    tags: list[str] = field(default_factory=list)
    title: str | None = None


class MemoryChanges(Reply):
    """Result of a consolidation: how many decisions of each action; the capacity tier, which bounds removals.

    `proposed` are the candidates, which a change names by `candidateIndex`; `changes` are all decisions but KEEP.
    `fallback` says what a model was asked for and did not decide, and why; null where it decided all.
    `waiting` are the candidates that wait for a person because of it; `forgotten` is how many said again, in the same
    words, what was forgotten, and were dropped.
    """

    candidates: int
    counts: dict[str, int]
    tier: str
    operation: str | None = None
    proposals: list[Proposal] = field(default_factory=list)
    proposed: list[ProposedMemory] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    fallback: str | None = None
    waiting: list[str] = field(default_factory=list)
    forgotten: Count = 0


class CandidateQuery(ListQuery):
    """Query of `GET /v1/candidates`: those that wait, or `?state=accepted`, `rejected` or `all`."""

    state: Literal["waiting", "accepted", "rejected", "all"] = "waiting"


class PendingChange(Reply):
    """A change that waits: ADD of a new memory, UPDATE or DELETE of `memory`, which had the content `before`.

    `stale`: the memory has other words by now, so this change would not be made.
    """

    action: Literal["ADD", "UPDATE", "DELETE"]
    memory: str | None = None
    before: str | None = None
    content: str | None = None
    type: MemoryKind | None = None
    tags: list[str] = field(default_factory=list)
    title: str | None = None
    fields: dict[str, str] = field(default_factory=dict)
    project: str | None = None
    provenance: dict[str, Json] = field(default_factory=dict)
    stale: bool = False


class Candidate(Reply):
    """Changes of memories that only a person may make; accepted or rejected together.

    `reason`: `quarantined` (the words of a tool's result, a web page, a paste), `forgotten` (near to what was
    forgotten), `person` (it changes a person's words), `contradiction` (a wish that a newer one may exclude),
    `large_deletion` (a consolidation that would have deleted more than a fifth of the memories). `memories` are those
    that its acceptance wrote.
    """

    id: str
    state: CandidateState
    reason: Literal["quarantined", "forgotten", "person", "contradiction", "large_deletion"]
    why: str
    changes: list[PendingChange]
    created_at: str
    decided_at: str | None = None
    decided_by: str | None = None
    memories: list[str] = field(default_factory=list)


class CandidateDecided(Reply):
    """A candidate after it was accepted or rejected; undo of `operation` lets it wait again.

    `stale` are memories that were not changed, because they have other words by now.
    """

    id: str
    state: CandidateState
    operation: str
    memories: list[str] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)
