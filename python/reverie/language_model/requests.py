"""The request that is sent to a language model and its answer, the same for every transport.

A request is built from a snapshot by a pure function, and its text is redacted before it is one. A transport
(`reveried.models`) sends it and returns the words of the answer; what they mean is read in this package, by one strict
reader, whichever transport brought them.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "ANSWER_BYTES_MAX",
    "REQUEST_TOKENS_MAX",
    "ModelAnswer",
    "ModelMessage",
    "ModelRequest",
    "Outcome",
    "Purpose",
    "Role",
    "StopReason",
    "new_request",
]

Purpose: TypeAlias = Literal["extract", "consolidate", "state", "summary", "reflect", "check"]
Role: TypeAlias = Literal["cheap", "strong"]
"""Which of the two configured models is asked: `cheap` for what is wanted often and soon, `strong` for what is kept."""

StopReason: TypeAlias = Literal["end", "max_tokens", "refusal", "tool_use", "unknown"]
"""Why a model ended its answer, in words that every provider's can be translated to; `end` is an ordinary end."""

REQUEST_TOKENS_MAX = 100_000  # of system and messages together, in o200k_base tokens
ANSWER_BYTES_MAX = 1 << 20  # a longer answer is refused; memories and summaries have some ten kilobytes
ID_CHARS = 32


class ModelMessage(msgspec.Struct, frozen=True):
    """One message of a request; `content` is text."""

    role: Literal["user", "assistant"]
    content: str


class ModelRequest(msgspec.Struct, frozen=True):
    """A question for a model, complete and redacted: nothing is added to it on its way.

    `id` is a hash of what is asked: the same question has the same id, so that an answer that was paid for is found
    again. `schema` is the JSON schema of the answer (an object, `additionalProperties` false).
    `system` is the same for every request of a purpose and prompt version: a prefix that a provider can cache.
    `prompt_version` names the prompt file, such as `extract-1`.
    """

    id: str
    purpose: Purpose
    role: Role
    system: str
    messages: list[ModelMessage]
    schema: dict[str, Any]
    max_output_tokens: int
    prompt_version: str


class ModelAnswer(msgspec.Struct, frozen=True):
    """The answer of a model: `text` is what it wrote, unread; with structured outputs it is the JSON.

    `input_tokens` and `output_tokens` are the larger of what the provider and a local count say, `cached_tokens` those
    of the input that the provider had in its cache. `model` is the name that the provider answered with.
    """

    text: str
    input_tokens: int
    output_tokens: int
    model: str
    stop_reason: StopReason = "end"
    cached_tokens: int = 0


class Outcome(msgspec.Struct, frozen=True):
    """The end of a request: its answer, or the reason (of `errors.ModelFailed`) and message of its failure."""

    answer: ModelAnswer | None = None
    reason: str = ""
    message: str = ""


def new_request(
    *,
    purpose: Purpose,
    role: Role,
    system: str,
    messages: Sequence[ModelMessage],
    schema: dict[str, Any],
    max_output_tokens: int,
    prompt_version: str,
    about: str | None = None,
) -> ModelRequest:
    """Return a request with its id: of all its fields, or with `about` of that text in place of the messages."""
    fields = {
        "purpose": purpose,
        "role": role,
        "system": system,
        "messages": list(messages),
        "schema": schema,
        "max_output_tokens": max_output_tokens,
        "prompt_version": prompt_version,
    }
    identity = fields if about is None else {**fields, "messages": about}
    digest = hashlib.sha256(msgspec.json.encode(identity, order="sorted")).hexdigest()
    return msgspec.convert({"id": digest[:ID_CHARS], **msgspec.to_builtins(fields)}, ModelRequest)
