"""Calls and results made whole, where a source lost one of the two."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from reverie.importers.messages import blocks_of, ids_of
from reverie.importers.token_count import compact, message_tokens
from reverie.models import Json, Message

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["NO_RESULT", "made_whole"]

NO_RESULT: Final = "[no result was recorded]"
_REPEATED: Final = "[a call that cannot be made again]"


def made_whole(messages: Sequence[Message]) -> list[Message]:
    """Every call is answered in the next message, and every result answers a call in the one before.

    A call without a result gets the error NO_RESULT; a result without its call, or a second one, becomes a text. So
    does a call without an id, or with one that was used before: the API takes each id once.
    Roles may repeat: the API joins neighbours of one role, and the person's words stay separate here.
    """
    whole: list[Message] = []
    waiting: list[str] = []
    used: set[str] = set()
    for message in messages:
        if message.role == "assistant":
            _close(whole, waiting)
            asking = _asking(message, used)
            waiting = ids_of(asking.content, "tool_use", "id")
            whole.append(asking)
            continue
        answered, mended = _answered(message, waiting)
        missing = [call for call in waiting if call not in answered]
        waiting = []
        if missing and not answered:
            # Nothing was answered, so the results that say so stand by themselves before the person's words.
            _close(whole, missing)
        elif missing:
            mended = replace(
                mended,
                content=_no_results(missing) + mended.content,
                tokens=mended.tokens + message_tokens(_no_results(missing)),
            )
        whole.append(mended)
    _close(whole, waiting)
    return whole


def _close(whole: list[Message], calls: list[str]) -> None:
    if not calls:
        return
    asked = whole[-1]
    content = _no_results(calls)
    whole.append(
        Message(
            role="user",
            content=content,
            first_seq=asked.last_seq,
            last_seq=asked.last_seq,
            at=asked.at,
            tokens=message_tokens(content),
            rewound=asked.rewound,
        )
    )


def _no_results(calls: list[str]) -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": call, "is_error": True, "content": NO_RESULT} for call in calls]


def _asking(message: Message, used: set[str]) -> Message:
    """An assistant's message in which every call has an id of its own; `used` grows by them."""
    content: list[dict[str, Any]] = []
    changed = False
    for block in blocks_of(message.content):
        call = block.get("id")
        if block["type"] != "tool_use" or (isinstance(call, str) and call not in used):
            content.append(block)
        else:
            changed = True
            content.append({"type": "text", "text": f"{_REPEATED} {compact(block)}"})
        if block["type"] == "tool_use" and isinstance(call, str):
            used.add(call)
    return replace(message, content=content, tokens=message_tokens(content)) if changed else message


def _answered(message: Message, waiting: list[str]) -> tuple[set[str], Message]:
    """Which calls a user message answers, and the message with its other results turned into texts."""
    if isinstance(message.content, str):
        return set(), message
    answered: set[str] = set()
    results: list[dict[str, Any]] = []
    others: list[dict[str, Any]] = []
    changed = False
    for block in message.content:
        if block["type"] != "tool_result":
            others.append(block)
        elif (call := block.get("tool_use_id")) in waiting and call not in answered:
            answered.add(call)
            results.append(block)
        else:
            changed = True
            others += _as_text(block.get("content"))
    content = results + others
    if content == message.content:
        return answered, message
    tokens = message_tokens(content) if changed else message.tokens
    return answered, replace(message, content=content, tokens=tokens)


def _as_text(content: Json) -> list[dict[str, Any]]:
    """What a result without its call said, as the blocks of a user."""
    return blocks_of(content) if isinstance(content, str | list) else []
