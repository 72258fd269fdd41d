"""Requests of Claude Code: its request for a summary is recognised and answered, the others are capped if asked for.

The request for a summary ends with a message of the client's own wording (2.1.330). What is not recognised for certain
is an ordinary request. The client reads the text in `<summary>` out of the answer.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from typing import TYPE_CHECKING, Any, Final

import msgspec
import orjson

from reverie import wire
from reverie.context.cut import Cap, CutNeeded, TooSmall
from reverie.decode import from_json
from reverie.errors import ReverieError
from reveried.compaction_hint import COMPACTION_HINT
from reveried.log import logger
from reveried.proxy.http import response

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reverie.client import AsyncClient
    from reverie.context.cut import Capped
    from reveried.proxy.http import RequestHead

# Bytes of a request: half of what fills a window of 200,000 tokens, after which it is compacted.
LARGE_BYTES: Final = 256 * 1024
PREPARED_S: Final = 30.0  # between two messages to the daemon that a compaction may follow
FAILED_S: Final = 60.0  # after a cut that failed, before another is tried
PIECE_CHARS: Final = 8_000  # of the text in one event
INSTRUCTIONS_CHARS: Final = 2_000

_PATH: Final = b"/v1/messages"
_BEGINS: Final = "CRITICAL: Respond with TEXT ONLY"
_ASKS: Final = "Your task is to create a detailed summary of the conversation so far"
_NEAR: Final = 2_000  # characters from the beginning of the message within which it asks
_INSTRUCTIONS: Final = ("\nAdditional Instructions:\n", "\n\nREMINDER:")


class _Request(msgspec.Struct):
    """The fields of a request that are read."""

    messages: list[msgspec.Raw]
    model: str
    stream: bool = False


class ClaudeRequests:
    """Answers and changes requests of the Messages API.

    `daemon` distils; `max_tokens` is the cap of each request, None for none. `summary_tokens` are those of a summary.
    """

    def __init__(
        self,
        daemon: AsyncClient,
        *,
        max_tokens: int | None = None,
        summary_tokens: int = 16_000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._daemon = daemon
        self._cap = None if max_tokens is None else Cap(max_tokens)
        self._summary_tokens = summary_tokens
        self._clock = clock
        self._failed_at = float("-inf")
        self._warned = False
        self._prepared_at = float("-inf")
        self._preparing: set[asyncio.Task[None]] = set()

    async def close(self) -> None:
        """Close the connections to the daemon."""
        for task in list(self._preparing):
            task.cancel()
        await asyncio.gather(*self._preparing, return_exceptions=True)
        await self._daemon.close()

    def looks_at(self, head: RequestHead) -> bool:
        """Return True for an uncompressed POST to the Messages API: only such a request is read, and maybe changed."""
        return head.method == b"POST" and head.path.endswith(_PATH) and head.get(b"content-encoding") is None

    async def answer(self, head: RequestHead, body: bytes) -> tuple[bytes | None, bytes]:
        """Return the response to a request for a summary; for any other request None, and its body within the cap."""
        try:
            if _ASKS.encode() in body and (asked := _summary_asked(body)) is not None:
                return await self._summary(head, *asked), body
            if len(body) >= LARGE_BYTES:
                self._prepare()
            if self._cap is not None:
                return None, await self._capped(self._cap, body)
        except (ReverieError, msgspec.MsgspecError, TypeError, KeyError, ValueError) as error:
            why = error.code if isinstance(error, ReverieError) else type(error).__name__
            logger("reveried.proxy").warning("a request is passed on as it came", why=why)
        return None, body

    def _prepare(self) -> None:
        """Tell the daemon in the background, at most every PREPARED_S, that a compaction may follow."""
        if self._clock() - self._prepared_at < PREPARED_S:
            return
        self._prepared_at = self._clock()
        task = asyncio.get_running_loop().create_task(self._prepared())
        self._preparing.add(task)
        task.add_done_callback(self._preparing.discard)

    async def _prepared(self) -> None:
        try:
            await self._daemon.prepare_compaction()
        except ReverieError as error:
            logger("reveried.proxy").info("the daemon was not made ready for a compaction", why=error.code)

    async def _summary(self, head: RequestHead, request: _Request, asked: str) -> bytes:
        """Return the response with the summary of a conversation. Raises ReverieError."""
        # A subagent has the session's id, and a conversation of its own.
        session = None if head.get(b"x-claude-code-agent-id") else head.get(b"x-claude-code-session-id")
        conversation = [orjson.loads(bytes(message)) for message in request.messages]
        made = await self._daemon.compact_conversation(
            wire.CompactConversation(
                "claude-code",
                conversation,
                session=None if session is None else session.decode("ascii", "replace"),
                tokens=self._summary_tokens,
            )
        )
        text = made.text
        if asked:
            text += f"\n\n## Asked for with the compaction\n{asked}"
        logger("reveried.proxy").info("a conversation was compacted", source=made.source, tokens=made.tokens)
        return _response(request, f"<summary>\n{_without_marks(text)}\n</summary>", made.source)

    async def _capped(self, cap: Cap, body: bytes) -> bytes:
        """Return the body of a request with its messages cut to the cap, or as near to the cap as possible."""
        fields: dict[str, msgspec.Raw] = from_json(body, dict[str, msgspec.Raw])
        try:
            done = cap.apply(fields)
        except TooSmall:
            if not self._warned:
                logger("reveried.proxy").warning("the cap is smaller than what every request has", cap=cap.max_tokens)
            self._warned = True
            return body
        if isinstance(done, CutNeeded):
            done = await self._cut(cap, done)
        if done is None:
            return body
        fields["messages"] = msgspec.Raw(msgspec.json.encode(done))
        return msgspec.json.encode(fields)

    async def _cut(self, cap: Cap, needed: CutNeeded) -> Capped | None:
        """Return the messages with a new cut; if the daemon has no text for it, with the earlier cut, or None."""
        if self._clock() - self._failed_at < FAILED_S:
            return needed.earlier
        try:
            made = await self._daemon.compact_conversation(
                wire.CompactConversation("claude-code", needed.dropped, tokens=needed.tokens)
            )
        except ReverieError as error:
            self._failed_at = self._clock()
            logger("reveried.proxy").warning("a conversation was not cut", why=error.code)
            return needed.earlier
        logger("reveried.proxy").info("a conversation was cut", messages=len(needed.dropped), tokens=made.tokens)
        return cap.cut(needed, made.text)


def _summary_asked(body: bytes) -> tuple[_Request, str] | None:
    """Return the request without the client's prompt for a full summary, and the person's instructions in that prompt.

    None if it does not ask for that.
    """
    request = from_json(body, _Request)
    last: dict[str, Any] = {}
    while request.messages:
        # What hooks add to the request comes behind it, as messages of the system.
        last = orjson.loads(bytes(request.messages.pop()))
        if last.get("role") != "system":
            break
    content = last.get("content")
    before: list[Any] = []  # what the client sends in the same message: results of calls, and what the person said last
    if isinstance(content, list):
        before = content[:-1]
        content = content[-1].get("text") if content and isinstance(content[-1], dict) else None
    if last.get("role") != "user" or not isinstance(content, str):
        return None
    if not content.lstrip().startswith(_BEGINS) or _ASKS not in content[:_NEAR] or "<summary>" not in content:
        return None
    begin, end = _INSTRUCTIONS
    if before:
        request.messages.append(msgspec.Raw(orjson.dumps({**last, "content": before})))
    asked = content.rpartition(begin)[2].partition(end)[0] if begin in content else ""
    return request, asked.replace(COMPACTION_HINT, "").strip()[:INSTRUCTIONS_CHARS]


def _without_marks(text: str) -> str:
    """Return a text whose tags `<summary>` and `<analysis>` are broken up, since the client looks for them."""
    for mark in ("summary", "analysis"):
        text = text.replace(f"</{mark}>", f"< /{mark}>").replace(f"<{mark}>", f"< {mark}>")
    return text


def _response(request: _Request, text: str, source: str) -> bytes:
    """Return a response of the Messages API with one text, as a stream if the request wants one. It cost no tokens."""
    usage = {"input_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 0}
    message: dict[str, Any] = {
        "id": f"msg_reverie_{secrets.token_hex(10)}",
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    made_from = (b"Reverie-Compaction", source.encode())
    if not request.stream:
        whole = message | {"content": [{"type": "text", "text": text}], "stop_reason": "end_turn"}
        return response(200, b"application/json", orjson.dumps(whole), made_from)
    events = b"".join(
        b"event: %b\ndata: %b\n\n" % (event["type"].encode(), orjson.dumps(event)) for event in _events(message, text)
    )
    return response(200, b"text/event-stream; charset=utf-8", events, made_from)


def _events(message: dict[str, Any], text: str) -> Iterator[dict[str, Any]]:
    """Yield the events of a reply with one text."""
    yield {"type": "message_start", "message": message}
    yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    for start in range(0, len(text), PIECE_CHARS):
        delta = {"type": "text_delta", "text": text[start : start + PIECE_CHARS]}
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    stop = {"stop_reason": "end_turn", "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 0}}
    yield {"type": "message_stop"}
