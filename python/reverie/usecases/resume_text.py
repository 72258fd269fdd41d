"""The compaction of a client's conversation: the text that takes the place of its messages, made without a model.

A client sends its whole conversation with the request for a summary. Where it is a session whose thread has all of it,
the text is made from the thread, which also knows what was before earlier compactions, the agent's notes, and what the
person has forgotten since. Else the messages themselves are distilled, and nothing of them is stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal

import msgspec
from msgspec.structs import replace

from reverie import tokenizer, wire
from reverie.context.inputs import Limits, Parts
from reverie.context.text import text_of_tokens
from reverie.context.tokens import shorten
from reverie.distill import state_text
from reverie.distill.steps import read_trace
from reverie.importers import claude_code, codex
from reverie.importers.entry import with_token_counts
from reverie.importers.join import blocks_of, main_line
from reverie.importers.lines import Unreadable
from reverie.models import Entry, EntryKind, Json, Message
from reverie.usecases import contexts
from reverie.usecases.limits import sized_context

TIERS: Final = ("digest", "workingState", "notes", "summary", "excerpts", "tail")
REQUESTS_SHARE: Final = 8  # of the size: the person's last requests have an eighth at most
EARLIER_SHARE: Final = 3  # of the size: a summary that the conversation begins with has a third at most
LAST_MESSAGES: Final = 12  # of the thread, among which the conversation's last reply has to be

_EARLIER: Final = (
    "This session is being continued from a previous conversation",  # Claude Code
    "Another language model started to solve this problem",  # Codex
)
_EARLIER_HEADING: Final = "## Summary of the work before this conversation"
_REMINDER: Final = "<system-reminder>"  # what Claude Code adds to a message of the person

HEADING: Final = "## What the person asked for (their own words, latest first)"
REQUEST_TOKENS: Final = 300  # a longer one is shortened to its beginning and its end
_LEAST: Final = 40  # tokens; where fewer are left, an older request is left out instead of being cut to nothing


class CompactionJob(msgspec.Struct):
    """A conversation as its client sent it, the tokens that its text may have, and its thread's snapshot, if any.

    `messages` are those of the Messages API, for Codex the items of the Responses API.
    """

    client: str
    messages: list[Any]
    tokens: int
    thread: contexts.ContextJob | None = None


def decide(job: CompactionJob) -> wire.Compaction:
    """Return the text that replaces the conversation's messages; pure. Raises Damaged."""
    entries = _entries(job.client, job.messages)
    if job.thread is not None:
        stored = contexts.messages_of(job.thread)
        if _has_all(stored[-LAST_MESSAGES:], main_line(entries)):
            requests = last_requests(stored, job.tokens // REQUESTS_SHARE)
            text = contexts.text_with_requests(job.thread, requests, tiers=TIERS, max_tokens=job.tokens)
            return _answer(text, "thread")
    entries = with_token_counts(entries)
    earlier = "\n\n".join(_text(entry.content) for entry in entries if entry.kind is EntryKind.SUMMARY)
    return _answer(_distilled(entries, tuple(main_line(entries)), earlier, job.tokens), "messages")


def _answer(text: str, source: Literal["thread", "messages"]) -> wire.Compaction:
    return wire.Compaction(text=text, tokens=tokenizer.count(text), source=source)


def _distilled(entries: Sequence[Entry], messages: tuple[Message, ...], earlier: str, size: int) -> str:
    """Return the text of a conversation that is not stored, within about `size` tokens."""
    from reverie.distill.distiller import Extractive

    parts: list[str] = []
    if earlier:
        parts.append(f"{_EARLIER_HEADING}\n{shorten(earlier, size // EARLIER_SHARE)}")
        size -= tokenizer.count(parts[0])
    if messages:
        distiller = Extractive()
        requests = last_requests(messages, size // REQUESTS_SHARE)
        context = sized_context(
            Parts(state=state_text.render(distiller.working_state(messages)), messages=messages),
            Limits(max_tokens=size - tokenizer.count(requests)),
            number=1,
            previous=None,
            inherited_digest="",
            # An id marks the last turn as one that is not continued here: it is distilled like the rest.
            entries=[replace(entries[-1], id="last")],
            beside=requests,
            distiller=distiller,
        )
        parts.append(text_of_tokens(context, requests, tiers=TIERS, max_tokens=size))
    return "\n\n".join(part for part in parts if part)


def _entries(client: str, messages: Iterable[Json]) -> list[Entry]:
    """Return the entries of a conversation without lines that are no message and without the client's own reminders."""
    entries: list[Entry] = []
    for message in messages:
        if not isinstance(message, dict):
            continue
        entry = _entry_of(client, message, len(entries) + 1)
        if entry is not None:
            entries.append(entry)
    return entries


def _entry_of(client: str, message: dict[str, Any], number: int) -> Entry | None:
    """Return the entry of one message (of Codex: of one item), or None if it is not a message."""
    try:
        if client == "codex":
            entry, _ = codex.entry_of({"type": "response_item", "payload": dict(message)}, number)
        else:
            given: dict[str, Any] = {name: message[name] for name in ("role", "content") if name in message}
            entry, _ = claude_code.entry_of(given | {"content": _spoken(given.get("content"))}, number)
    except (Unreadable, KeyError, TypeError):
        return None
    if entry.role is None:
        return None
    is_earlier = entry.role == "user" and _text(entry.content).lstrip().startswith(_EARLIER)
    return replace(entry, seq=number, id=None, parent=None, kind=EntryKind.SUMMARY if is_earlier else entry.kind)


def _spoken(content: Json) -> Json:
    """Return message content without the client's reminders and `cache_control` fields."""
    if isinstance(content, str):
        return content
    return [
        {name: part for name, part in block.items() if name != "cache_control"}
        for block in content
        if isinstance(block, dict) and not str(block.get("text", "")).lstrip().startswith(_REMINDER)
    ]


def _text(content: Json) -> str:
    return "\n".join(block["text"] for block in blocks_of(content) if isinstance(block.get("text"), str))


def _has_all(stored: Sequence[Message], messages: Sequence[Message]) -> bool:
    """Return True if the last reply of a conversation is one of a thread's last messages."""
    last = next((message for message in reversed(messages) if message.role == "assistant"), None)
    if last is None:
        return False
    marks = _marks(last)
    return bool(marks) and marks <= {
        mark for message in stored if message.role == "assistant" for mark in _marks(message)
    }


def _marks(message: Message) -> set[str]:
    """Return what identifies a reply: the ids of its tool calls, or its texts if it has no calls."""
    blocks = blocks_of(message.content)
    calls = {str(block.get("id")) for block in blocks if block.get("type") == "tool_use"}
    return calls or {text.strip() for block in blocks if (text := str(block.get("text", ""))).strip()}


def last_requests(messages: Sequence[Message], max_tokens: int) -> str:
    """Return the person's requests within `max_tokens` tokens, latest first; empty where there is none or no room.

    A request of at most `REQUEST_TOKENS` stands there whole, and one that was made twice stands there once. The first
    for which there is too little room is shortened, and older ones are left out.
    """
    left = max_tokens - tokenizer.count(HEADING)
    lines: list[str] = []
    for text in dict.fromkeys(said.text for said in reversed(read_trace(messages).said("user"))):
        request = _listed(text, REQUEST_TOKENS)
        cost = tokenizer.count(f"\n{request}") + 1
        if cost > left:
            if left >= _LEAST:
                lines.append(_listed(text, left - _LEAST // 4))
            break
        lines.append(request)
        left -= cost
    return "\n".join([HEADING, *lines]) if lines else ""


def _listed(text: str, max_tokens: int) -> str:
    """Return a request as an item of a list, of its text `max_tokens` tokens at most."""
    return "- " + "\n  ".join(shorten(text, max_tokens).split("\n"))
