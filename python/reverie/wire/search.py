"""The search in messages, memories and documents."""

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, field

from reverie.text_types import Text
from reverie.wire.base import Id, Reply, Request
from reverie.wire.spaces import ProjectText

SEARCH_LIMIT_DEFAULT = 10
SEARCH_LIMIT_MAX = 100
_TIME_CHARS = 64

SearchPlace: TypeAlias = Literal["messages", "memories", "documents", "all"]
_Time = Annotated[str, Meta(min_length=1, max_length=_TIME_CHARS, description="RFC 3339, or a day such as 2026-11-21.")]


class SearchRequest(Request):
    """Body of `POST /v1/search`: a question, and where to look.

    `agent` and `thread` are those of messages; `since <= time < before`. With `project`, messages of its threads, and
    memories and documents that belong to it or to no project.
    """

    query: Annotated[Text, Meta(min_length=1, max_length=10_000)]
    where: SearchPlace = field(name="in", default="messages")
    project: ProjectText | None = None
    agent: Id | None = None
    thread: Id | None = None
    since: _Time | None = None
    before: _Time | None = None
    limit: Annotated[int, Meta(ge=1, le=SEARCH_LIMIT_MAX)] = SEARCH_LIMIT_DEFAULT


class SearchThread(Reply):
    """The thread of a found message."""

    id: str
    title: str | None = None
    project: str | None = None


class SearchedMessage(Reply):
    """A found message: the number of its entry in the thread, its id in the transcript it came from, and its role.

    Results of tools are messages of the role user; `tool_result` is true for one that has nothing else, and for one
    that a client wrote, such as a task notification.
    """

    seq: int
    role: Literal["user", "assistant"]
    id: str | None = None
    tool_result: bool = False


class Neighbour(Reply):
    """The message right before or after a found one, cut; `tool_result` as in `SearchedMessage`."""

    seq: int
    role: Literal["user", "assistant"]
    text: str
    tool_result: bool = False


class SearchHit(Reply):
    """Something that was found: its best passage, and where it is.

    A message has `thread`, `message` and `neighbours`, of which the one before has a lower `seq`; `agent` is the
    thread's. A memory has its id and document, a section of a document its path and heading. `at` is when it was said,
    or last changed.
    """

    kind: Literal["message", "memory", "document"]
    passage: str
    score: float
    why: str
    at: str | None = None
    thread: SearchThread | None = None
    message: SearchedMessage | None = None
    agent: str | None = None
    neighbours: list[Neighbour] = field(default_factory=list)
    memory: str | None = None
    document: str | None = None
    heading: str | None = None


class SearchAnswer(Reply):
    """Result of a search: the hits, best first. `complete` is false while the index is still being built."""

    hits: list[SearchHit]
    complete: bool = True
