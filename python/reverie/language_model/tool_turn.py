"""One turn of a loop in which a model calls tools: its request, and the calls of its answer.

A provider with tools of its own returns calls beside the text. Every other model writes them as JSON: `{"calls":
[{"name": …, "input": {…}}]}`, and an empty list when it is done. Calls get ids of ours, in the order of the loop, so
that the same conversation is the same request, whoever answered it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from reverie.decode import convert
from reverie.errors import ModelFailed
from reverie.language_model.answers import answer_schema, read_answer, visible_value
from reverie.language_model.prompts import REFLECT
from reverie.language_model.requests import ANSWER_BYTES_MAX, ModelAnswer, ModelRequest, ToolUse, new_request

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.language_model.requests import ModelMessage, Outcome, ToolDefinition

OUTPUT_TOKENS: Final = 8_000
FACTS_HEADING: Final = "# Existing facts"  # the instructions end here, and words of the person begin
CALLS_MAX: Final = 40  # of one turn


class Call(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A call as a model without tools of its own writes it."""

    name: str
    input: dict[str, Any]


class Turn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The calls in the answer of a model without native tools; none if the model is done."""

    calls: list[Call]


def turn_request(system: str, messages: Sequence[ModelMessage], tools: Sequence[ToolDefinition]) -> ModelRequest:
    """Return the request of the next turn of a reflection."""
    return new_request(
        purpose="reflect",
        role="strong",
        system=system,
        messages=messages,
        schema=answer_schema(Turn),
        max_output_tokens=OUTPUT_TOKENS,
        prompt_version=REFLECT,
        tools=tools,
    )


def read_turn(outcome: Outcome, *, first: int) -> list[ToolUse]:
    """Return the calls of an answer, numbered from `first`; none where the model is done.

    Raises:
        ModelFailed: the request failed, or its answer is refused, cut off, or no turn.
    """
    answer = outcome.answer
    if answer is None:
        raise ModelFailed(outcome.message, reason=convert(outcome.reason or "failed", Any))
    calls = _native(answer) if answer.calls is not None else read_answer(answer, Turn).calls
    if len(calls) > CALLS_MAX:
        raise _unusable(f"it has {len(calls)} calls of tools, more than {CALLS_MAX}")
    return [ToolUse(f"call-{number}", call.name, call.input) for number, call in enumerate(calls, first)]


def _native(answer: ModelAnswer) -> list[Call]:
    """Return the tool calls of an answer in the provider's own form. Raises ModelFailed if it is refused or cut off."""
    match answer.stop_reason:
        case "refusal":
            raise ModelFailed("The model refused to answer.", reason="refused")
        case "max_tokens":
            raise ModelFailed("The answer was cut off at its limit.", reason="truncated")
        case "tool_use" if not answer.calls:
            raise _unusable("it stops for a tool, and calls none")
        case _:
            pass
    if len(msgspec.json.encode(answer.calls)) > ANSWER_BYTES_MAX:
        raise _unusable(f"its calls are longer than {ANSWER_BYTES_MAX:,} bytes")
    try:
        return [Call(call.name, visible_value(call.input)) for call in answer.calls or ()]
    except RecursionError:
        raise _unusable("it is nested too deeply") from None


def _unusable(why: str) -> ModelFailed:
    return ModelFailed(f"The answer cannot be used: {why}.", reason="unparseable")
