"""Distillations of a thread: what starts one, what it would send to a model, and its answer and summaries."""

from typing import Annotated

from msgspec import Meta, UnsetType

from reverie.wire.base import ABSENT, Json, Reply, Request, TokenBudget
from reverie.wire.memories import MemoryChanges


class DistillRequest(Request):
    """`POST /v1/threads/{id}/distill`."""

    token_budget: TokenBudget | None = None


class ModelMessage(Reply):
    """A message of a request to a model."""

    role: str
    content: str


class ModelRequest(Reply):
    """A request to a model, exactly as it is sent: redacted, with its prompt version and the schema of the answer."""

    id: str
    purpose: str
    role: str
    prompt_version: str
    system: str
    messages: list[ModelMessage]
    schema: dict[str, Json]
    max_output_tokens: int
    tokens: int
    tools: list[dict[str, Json]] | UnsetType = ABSENT


class ModelRequestsQuery(Request):
    """The query of a call that shows what would be sent to a model."""

    reflect: Annotated[bool, Meta(description="The first turn of a reflection instead of a distillation.")] = False


class ModelRequests(Reply):
    """The requests that a distillation of a thread would begin with; `kind` is the distiller that is configured.

    Of a thread with nothing to distill they are those of learning from it. What is asked about the answers follows
    from these.
    """

    kind: str
    items: list[ModelRequest]
    tokenizer: str = "o200k_base"


class SummaryText(Reply):
    """A structured summary: the lines of its seven sections by name, and its text as a context shows it."""

    number: int
    sections: dict[str, list[str]]
    text: str


class TailSize(Reply):
    """The size of the tail: the last messages, which stay in the context unchanged."""

    messages: int
    tokens: int


class DistillAnswer(Reply):
    """A new distillation; `memories` are the changes to the memories learnt from it, both in `operation`."""

    archive: str
    number: int
    summary: SummaryText
    tail: TailSize
    tokens_before: int
    tokens_after: int
    tokens_used: int
    tokenizer: str = "o200k_base"
    memories: MemoryChanges | None = None
    fallback: str | None = None
    operation: str | None = None


class PastDistillation(Reply):
    """A past summary of a thread; `imported` ones were written by the program that the thread comes from."""

    number: int
    summary: SummaryText
    through_seq: int
    at: str | None = None
    archive: str | None = None
    imported: bool = False
