"""A cap on the messages of a client's requests: older ones give way to a text, always at the same place.

A client sends its whole conversation with each request. Once it is above the cap it is cut, and from then on every
request of the conversation begins with the same bytes, so that the provider's cache holds, until it is above the cap
again. Nothing of the messages behind the cut is changed, byte for byte: thinking keeps its signature. Of the messages
before it those of role `system` stay, and the reminders that the client put at the beginning. A cut is made before a
message of the assistant, and never between a call and its result.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec
import orjson

from reverie import tokenizer
from reverie.context.text import content_blocks
from reverie.context.tokens import message_cost, shorten
from reverie.decode import from_json

if TYPE_CHECKING:
    from collections.abc import Sequence

KEPT_SHARE: Final = 4  # a quarter of the room is for the messages behind a new cut, a quarter for the text
TEXT_TOKENS: Final = (1_000, 16_000)  # of the text, at least and at most
ROOM_MIN: Final = 4_000  # beside system prompt, tools and system messages
CUTS_MAX: Final = 256  # conversations whose cut is remembered
FACTS_MAX: Final = 50_000  # messages, of some 200 bytes each
PROMPT_TOKENS: Final = 4_000  # of the person's last message, where it is before the cut

_REMINDER: Final = "<system-reminder>"
_CACHE: Final = {"type": "ephemeral"}
_COMPACTED: Final = "compaction"  # a block by which the provider has compacted the conversation itself


Capped: TypeAlias = list[msgspec.Raw]
"""The messages to be sent, as JSON each."""


class TooSmall(ValueError):
    """System prompt, tools and system messages leave no room below the cap."""


@dataclass(frozen=True, slots=True)
class _Cut:
    """A cut of a conversation: how many messages are replaced, the messages in their place, and their tokens."""

    count: int
    opening: tuple[dict[str, Any], ...]
    cost: int


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts of one message: a hash without cache breakpoints, tokens, role, if it has a compaction or breakpoint."""

    key: bytes
    cost: int
    role: str
    is_compacted: bool
    is_marked: bool


@dataclass(frozen=True, slots=True)
class Read:
    """The messages of a request as bytes, the facts of each, and for each a hash of all messages up to it."""

    raw: list[msgspec.Raw]
    facts: list[Facts]
    hashes: list[bytes]

    def values(self, end: int | None = None) -> list[dict[str, Any]]:
        """Return the messages before `end`, or all, decoded from JSON."""
        return [orjson.loads(bytes(message)) for message in self.raw[:end]]

    def cost(self, start: int = 0) -> int:
        """Return the tokens of the messages from `start` on."""
        return sum(facts.cost for facts in self.facts[start:])


@dataclass(frozen=True, slots=True)
class CutNeeded:
    """A cut to be made: the messages that will give way, and the tokens of the text in their place.

    `earlier` are the messages with the cut before it, for where there is no text; None where it would be the first.
    """

    dropped: list[dict[str, Any]]
    tokens: int
    read: Read = field(repr=False)
    earlier: Capped | None = field(repr=False)


class Cap:
    """The cuts of conversations, for requests of at most about `max_tokens` in o200k_base tokens."""

    def __init__(self, max_tokens: int) -> None:
        self.max_tokens = max_tokens
        self._cuts: OrderedDict[bytes, _Cut] = OrderedDict()
        self._facts: OrderedDict[bytes, Facts] = OrderedDict()
        self._costs: OrderedDict[bytes, int] = OrderedDict()  # of system prompts and tools

    def apply(self, request: dict[str, msgspec.Raw]) -> Capped | CutNeeded | None:
        """Return the messages within the cap, or the cut that is needed, or the last possible one; None for no change.

        `request` are the fields of a request of the Messages API. Where it needs a cut, `cut` makes it with a text.

        Raises:
            TooSmall: nothing can be done below this cap.
            msgspec.DecodeError, TypeError, KeyError, ValueError: the request is not one of the Messages API.
        """
        read = self._read(request["messages"])
        if any(facts.is_compacted for facts in read.facts):
            return None
        fixed = sum(self._text_cost(bytes(request[name])) for name in ("system", "tools") if name in request)
        known_facts = self._known(read)
        earlier = None if known_facts is None else _messages(read, known_facts)
        used = fixed + (read.cost() if known_facts is None else known_facts.cost + read.cost(known_facts.count))
        if used <= self.max_tokens:
            return earlier
        return self._cut_needed(read, fixed, 1 if known_facts is None else known_facts.count, earlier)

    def cut(self, needed: CutNeeded, text: str) -> Capped:
        """Replace the messages of `needed` by `text` in this and in later requests; return the capped messages."""
        read = needed.read
        count = len(needed.dropped)
        opening = _opening(needed.dropped, text, is_open=not any(map(_is_prompt, read.values()[count:])))
        made = _Cut(count, opening, sum(map(message_cost, opening)))
        self._cuts[read.hashes[count - 1]] = made
        if len(self._cuts) > CUTS_MAX:
            self._cuts.popitem(last=False)
        return _messages(read, made)

    def _read(self, messages: msgspec.Raw) -> Read:
        """Return the messages of a request with cached facts about each, and its hash chained to the one before."""
        raw = from_json(messages, list[msgspec.Raw])
        facts = [self._facts_of(bytes(message)) for message in raw]
        hashes, before = [], b""
        for one in facts:
            before = _hash(before + one.key)
            hashes.append(before)
        return Read(raw, facts, hashes)

    def _facts_of(self, data: bytes) -> Facts:
        """Return the facts of a message, computed once for the same bytes."""
        key = _hash(data)
        facts = self._facts.get(key)
        if facts is None:
            message: dict[str, Any] = orjson.loads(data)
            plain = _without_marks(message)
            facts = self._facts[key] = Facts(
                _hash(orjson.dumps(plain)),
                message_cost(plain),
                message["role"],
                is_compacted=any(block.get("type") == _COMPACTED for block in content_blocks(message)),
                is_marked=any("cache_control" in block for block in content_blocks(message)),
            )
            if len(self._facts) > FACTS_MAX:
                self._facts.popitem(last=False)
        return facts

    def _known(self, read: Read) -> _Cut | None:
        """Return the longest cut that was made in a beginning of these messages, or None."""
        for key in reversed(read.hashes):
            if (cut := self._cuts.get(key)) is not None:
                self._cuts.move_to_end(key)
                return cut
        return None

    def _cut_needed(self, read: Read, fixed: int, count: int, earlier: Capped | None) -> CutNeeded | Capped | None:
        """Return the first cut after `count` messages that leaves a quarter of the room, else the last possible one.

        Without any it is `earlier`, the messages with the cut before.
        """
        kept = sum(facts.cost for facts in read.facts if facts.role == "system")
        room = self.max_tokens - fixed - kept
        if room < ROOM_MIN and earlier is None:
            raise TooSmall("the cap is too small")
        values = read.values()
        places = [index for index in _places(values) if index > count]
        if room < ROOM_MIN or not places:
            return earlier
        fits = (index for index in places if read.cost(index) <= room // KEPT_SHARE)
        end = next(fits, places[-1])
        least, most = TEXT_TOKENS
        return CutNeeded(values[:end], max(least, min(most, room // KEPT_SHARE)), read, earlier)

    def _text_cost(self, data: bytes) -> int:
        """Return the tokens of JSON, counted once."""
        key = _hash(data)
        cost = self._costs.get(key)
        if cost is None:
            cost = self._costs[key] = tokenizer.count(data.decode())
            if len(self._costs) > CUTS_MAX:
                self._costs.popitem(last=False)
        return cost


def _hash(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()


def _places(messages: Sequence[dict[str, Any]]) -> list[int]:
    """Return the indices of assistant messages before which a cut separates no tool result from its call."""
    calls: dict[str, int] = {}
    first_call = len(messages)  # the earliest call that a result from here on answers
    for index, message in enumerate(messages):
        calls.update((block["id"], index) for block in content_blocks(message) if block.get("type") == "tool_use")
    indexes = []
    for index in range(len(messages) - 1, -1, -1):
        answered = [
            block.get("tool_use_id") for block in content_blocks(messages[index]) if block.get("type") == "tool_result"
        ]
        first_call = min([first_call, *(calls.get(call, -1) for call in answered if isinstance(call, str))])
        if messages[index]["role"] == "assistant" and index <= first_call:
            indexes.append(index)
    return indexes[::-1]


def _opening(dropped: Sequence[dict[str, Any]], text: str, *, is_open: bool) -> tuple[dict[str, Any], ...]:
    """Return the messages in place of the dropped ones: a user's with `text`, then a system's with instructions."""
    reminders = (
        [block for block in content_blocks(dropped[0]) if _is_reminder(block)] if dropped[0]["role"] == "user" else []
    )
    blocks = [*reminders, {"type": "text", "text": text}]
    prompt = next((message for message in reversed(dropped) if _is_prompt(message)), None) if is_open else None
    if prompt is not None:
        said = "\n".join(
            block["text"] for block in content_blocks(prompt) if block.get("type") == "text" and not _is_reminder(block)
        )
        blocks.append({"type": "text", "text": shorten(said, PROMPT_TOKENS)})
    messages: list[dict[str, Any]] = [{"role": "user", "content": blocks}]
    system: list[dict[str, Any]] = []
    for message in dropped:
        if message["role"] == "system" and message.keys() == {"role", "content"}:
            system += content_blocks(_without_marks(message))
    if system:
        messages.append({"role": "system", "content": system})
    return tuple(_without_marks(message) for message in messages)


def _messages(read: Read, cut: _Cut) -> Capped:
    """Return the messages after a cut; if a cache breakpoint was cut off, the last replacing message gets one."""
    opening = list(cut.opening)
    if any(facts.is_marked for facts in read.facts[: cut.count]):
        last = opening[-1]["content"]
        opening[-1] = {**opening[-1], "content": [*last[:-1], {**last[-1], "cache_control": _CACHE}]}
    return [*(msgspec.Raw(orjson.dumps(message)) for message in opening), *read.raw[cut.count :]]


def _without_marks(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message without the client's cache breakpoints and with its content as a list of blocks."""
    blocks = content_blocks(message)
    if any("cache_control" in block for block in blocks):
        blocks = [{name: part for name, part in block.items() if name != "cache_control"} for block in blocks]
    return {**message, "content": blocks}


def _is_reminder(block: dict[str, Any]) -> bool:
    return str(block.get("text", "")).lstrip().startswith(_REMINDER)


def _is_prompt(message: dict[str, Any]) -> bool:
    """Return True for a message in which the person says something."""
    said = (block for block in content_blocks(message) if block.get("type") == "text" and not _is_reminder(block))
    return message["role"] == "user" and next(said, None) is not None
