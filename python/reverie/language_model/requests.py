"""The request that is sent to a language model and its answer, the same for every transport.

A request is built from a snapshot by a pure function, and its text is redacted before it is one. A transport
(`reveried.models`) sends it and returns the words of the answer; what they mean is read in this package, by
one strict reader, whichever transport brought them.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec

from reverie.decode import convert

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Purpose: TypeAlias = Literal["extract", "consolidate", "state", "summary", "reflect", "check"]
Role: TypeAlias = Literal["cheap", "strong"]
"""One of the two configured models: `cheap` for frequent and urgent requests, `strong` for lasting results."""

StopReason: TypeAlias = Literal["end", "max_tokens", "refusal", "tool_use", "unknown"]
"""Why a model ended its answer, in words that every provider's can be translated to; `end` is an ordinary end."""

REQUEST_TOKENS_MAX = 100_000  # of system and messages together, in o200k_base tokens
ANSWER_BYTES_MAX = 1 << 20  # a longer answer is refused; memories and summaries have some ten kilobytes
ID_CHARS = 32


class ToolDefinition(msgspec.Struct, frozen=True):
    """A tool that a model may call: its name, when to use it, and the JSON schema of its input."""

    name: str
    description: str
    input_schema: dict[str, Any]


class ToolUse(msgspec.Struct, frozen=True):
    """A call of a tool that a model asks for; `id` is the same in its result."""

    id: str
    name: str
    input: dict[str, Any]


class ToolResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of a call, for the model to read; with `is_error` it says what to do instead."""

    id: str
    content: str
    is_error: bool = False


class ModelMessage(msgspec.Struct, frozen=True, omit_defaults=True):
    """One message of a request: text, and after it the calls of the assistant or before it the results of calls."""

    role: Literal["user", "assistant"]
    content: str
    calls: list[ToolUse] = []
    results: list[ToolResult] = []


class ModelRequest(msgspec.Struct, frozen=True, omit_defaults=True):
    """A question for a model, complete and redacted: nothing is added to it on its way.

    `id` is a hash of what is asked: the same question has the same id, so that an answer that was paid for is found
    again. `schema` is the JSON schema of the answer (an object, `additionalProperties` false).
    `system` is the same for every request of a purpose and prompt version: a prefix that a provider can cache.
    `prompt_version` names the prompt file, such as `extract-5`. A request with `tools` is one turn of a loop: `schema`
    is then the form in which a model without tools of its own writes its calls.
    """

    id: str
    purpose: Purpose
    role: Role
    system: str
    messages: list[ModelMessage]
    schema: dict[str, Any]
    max_output_tokens: int
    prompt_version: str
    tools: list[ToolDefinition] = []


class ModelAnswer(msgspec.Struct, frozen=True):
    """The answer of a model: `text` is what it wrote, not parsed; with structured outputs it is the JSON.

    `input_tokens` and `output_tokens` are the larger of what the provider and a local count say, `cached_tokens` those
    of the input that the provider had in its cache. `model` is the name that the provider answered with. `calls` are
    those of tools, None where the transport has no tools: then the calls are in the text, as the request's schema says.
    """

    text: str
    input_tokens: int
    output_tokens: int
    model: str
    stop_reason: StopReason = "end"
    cached_tokens: int = 0
    calls: list[ToolUse] | None = None


class Outcome(msgspec.Struct, frozen=True):
    """The end of a request: its answer, or the reason (of `errors.ModelFailed`) and message of its failure."""

    answer: ModelAnswer | None = None
    reason: str = ""
    message: str = ""


class ReflectionBounds(msgspec.Struct, frozen=True):
    """The most turns, tokens and seconds of one reflection, over all parts of what it reads."""

    steps: int
    tokens: int
    seconds: float


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
    tools: Sequence[ToolDefinition] = (),
) -> ModelRequest:
    """Return a request whose id is a hash of its fields, with `about` in place of the messages if it is given."""
    fields: dict[str, Any] = {
        "purpose": purpose,
        "role": role,
        "system": system,
        "messages": list(messages),
        "schema": schema,
        "max_output_tokens": max_output_tokens,
        "prompt_version": prompt_version,
        **({"tools": list(tools)} if tools else {}),
    }
    identity = fields if about is None else {**fields, "messages": about}
    digest = hashlib.sha256(msgspec.json.encode(identity, order="sorted")).hexdigest()
    return convert({"id": digest[:ID_CHARS], **msgspec.to_builtins(fields)}, ModelRequest)


def tokens_used(outcomes: Mapping[str, Outcome]) -> int:
    """Return the tokens that the answers of some requests took, read and written."""
    answers = [outcome.answer for outcome in outcomes.values() if outcome.answer is not None]
    return sum(answer.input_tokens + answer.output_tokens for answer in answers)


def message_text(message: ModelMessage) -> str:
    """Return all that a message says as one text: results of tools, its words, and calls of tools as JSON."""
    parts = [
        f"Result of {result.id}{' (error)' if result.is_error else ''}:\n{result.content}" for result in message.results
    ]
    parts += [message.content] if message.content else []
    parts += [
        f"Call {call.id}: {msgspec.json.encode({'name': call.name, 'input': call.input}).decode()}"
        for call in message.calls
    ]
    return "\n\n".join(parts)
