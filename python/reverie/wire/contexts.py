"""Context, working state, notes and digest of a thread, and the compaction of a client's conversation."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType, field

from reverie.models import Dropped, NoteCategory
from reverie.text_types import Text
from reverie.wire.base import Id, Json, Reply, Request, TokenBudget
from reverie.wire.sessions import AgentClient

STATE_TASK_CHARS_MAX = 1_000  # of the current task that an agent or a distiller gives a working state
STATE_ITEM_CHARS_MAX = 500
STATE_ITEMS_MAX = 20  # in one list of a working state
CompactionSource = Literal["thread", "messages"]
Placement = Literal["system", "late"]
TIERS = ("bootstrap", "index", "digest", "workingState", "notes", "recall", "summary", "excerpts", "tail")


class ContextQuery(Request):
    """The query of `GET /v1/threads/{id}/context`."""

    query: Annotated[Text, Meta(max_length=10_000)] | None = None
    placement: Placement | None = None
    max_tokens: TokenBudget | None = None
    format: Annotated[Literal["request", "text"], Meta(description="The fields of a request, or one plain text.")] = (
        "request"
    )
    max_chars: Annotated[int, Meta(ge=1, le=10_000_000, description="Of a text: its characters at most.")] | None = None
    tiers: (
        Annotated[str, Meta(max_length=200, description="Of a text: its tiers, with commas: `workingState,notes`.")]
        | None
    ) = None

    def __post_init__(self) -> None:
        """Refuse `maxChars` and `tiers` without `format=text`, and unknown tiers."""
        if self.format != "text" and (self.max_chars is not None or self.tiers is not None):
            raise ValueError("`maxChars` and `tiers` belong to `format=text`")
        if unknown := [name for name in self.tier_names or () if name not in TIERS]:
            raise ValueError(f"`tiers` are of {', '.join(TIERS)}, and not {unknown[0]!r}")

    @property
    def tier_names(self) -> list[str] | None:
        """The names in `tiers` as a list, or None if the query has no `tiers`."""
        return None if self.tiers is None else [name.strip() for name in self.tiers.split(",")]


class RequestFragment(Reply):
    """The fields for an agent's call of the model API, under that API's own names (not camelCase).

    It is a mapping: `client.beta.messages.create(model=…, max_tokens=…, **answer.request)`.
    """

    system: Json
    messages: list[dict[str, Any]]
    context_management: Json = field(name="context_management", default=None)
    betas: list[str] = field(default_factory=list)

    def keys(self) -> tuple[str, ...]:
        """Return the four field names of the fragment."""
        return self.__struct_fields__

    def __getitem__(self, name: str) -> Json:
        """Return the value of the field `name`. Raises KeyError for any other name."""
        if name not in self.__struct_fields__:
            raise KeyError(name)
        return getattr(self, name)


class ContextTokens(Reply):
    """The cost of each tier of a context, in tokens of `tokenizer`."""

    total: int
    bootstrap: int = 0
    index: int = 0
    digest: int = 0
    working_state: int = 0
    notes: int = 0
    recall: int = 0
    summary: int = 0
    excerpts: int = 0
    tail: int = 0
    tools: int = 0
    tokenizer: str = "o200k_base"


class ContextAnswer(Reply):
    """`GET /v1/threads/{id}/context`. `dropped` lists what found no room; `distillation` is the number in use, or 0."""

    request: RequestFragment
    tokens: ContextTokens
    distillation: int
    dropped: list[Dropped] = field(default_factory=list)


class ContextText(Reply):
    """The text of a context."""

    text: str


class StateSources(Reply):
    """The sequence number of the entry that each item of a working state came from; 0 if unknown."""

    current_task: int = 0
    task_chain: list[int] = field(default_factory=list)
    completed_steps: list[int] = field(default_factory=list)
    next_steps: list[int] = field(default_factory=list)
    open_files: list[int] = field(default_factory=list)
    recent_decisions: list[int] = field(default_factory=list)
    blockers: list[int] = field(default_factory=list)


_Item = Annotated[Text, Meta(min_length=1, max_length=STATE_ITEM_CHARS_MAX)]
_Items = Annotated[list[_Item], Meta(max_length=STATE_ITEMS_MAX)]


class SetWorkingState(Request):
    """`PUT` and `PATCH /v1/threads/{id}/working-state`: fields that an agent sets itself; later messages build on them.

    PUT empties the fields that are left out, PATCH keeps them.
    """

    current_task: Annotated[Text, Meta(max_length=STATE_TASK_CHARS_MAX)] | UnsetType = UNSET
    task_chain: _Items | UnsetType = UNSET
    completed_steps: _Items | UnsetType = UNSET
    next_steps: _Items | UnsetType = UNSET
    open_files: _Items | UnsetType = UNSET
    recent_decisions: _Items | UnsetType = UNSET
    blockers: _Items | UnsetType = UNSET


class WorkingState(Reply):
    """Task, steps, files, decisions and blockers of a thread. Next steps are soonest first, other lists newest last."""

    current_task: str = ""
    task_chain: list[str] = field(default_factory=list)
    completed_steps: list[str] = field(default_factory=list)
    next_steps: list[str] = field(default_factory=list)
    open_files: list[str] = field(default_factory=list)
    recent_decisions: list[str] = field(default_factory=list)
    blockers: list[str] = field(default_factory=list)
    updated_at: str | None = None
    sources: StateSources = field(default_factory=StateSources)


class CreateNote(Request):
    """`POST /v1/threads/{id}/notes`."""

    content: Annotated[Text, Meta(min_length=1, max_length=20_000)]
    category: NoteCategory


class Note(Reply):
    """A note of a thread. `thread` is the earlier thread of the same agent that it was inherited from, or None."""

    id: str
    content: str
    category: NoteCategory
    at: str
    thread: str | None = None


class ThreadDigest(Reply):
    """A short profile of the user and their usual work; empty until the first distillation."""

    text: str
    tokens: int
    updated_at: str | None = None
    tokenizer: str = "o200k_base"


class CompactConversation(Request):
    """`POST /v1/compactions`: a client's conversation, to be replaced by a text of at most about `tokens`.

    `messages` are those of the Messages API, for Codex the items of the Responses API. With a `session` that is
    recorded, the text is made from its thread; nothing is stored either way.
    """

    client: AgentClient
    messages: list[Json]
    session: Id | None = None
    tokens: Annotated[int, Meta(ge=1_000, le=200_000, description="Of the text, about.")] = 16_000


class Compaction(Reply):
    """The text that takes a conversation's place, and what it was made from."""

    text: str
    tokens: int
    source: CompactionSource
