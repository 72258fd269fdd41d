"""Stored messages as indivisible units of valid request blocks, the open turn, and where the preserved tail starts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from reverie.context.tokens import BLOCK, MESSAGE, block_cost, content_cost
from reverie.lazy_regex import lazy_regex
from reverie.models import Dropped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from reverie.models import Json, Message


_ID: Final = lazy_regex(r"[a-zA-Z0-9_-]+")
_NAME: Final = lazy_regex(r"[a-zA-Z0-9_-]{1,128}")

_SERVER_SIDE: Final = frozenset(
    {
        "server_tool_use",
        "web_search_tool_result",
        "web_fetch_tool_result",
        "code_execution_tool_result",
        "bash_code_execution_tool_result",
        "text_editor_code_execution_tool_result",
        "tool_search_tool_result",
        "mcp_tool_use",
        "mcp_tool_result",
        "container_upload",
    }
)
"""Blocks that the API's own tools leave in a reply: whole and in place they are valid, whatever they hold."""

_MEDIA: Final = frozenset({"image", "document", "search_result"})


def text_block(text: str) -> dict[str, Any]:
    """Return a text block; `text` must not be empty."""
    return {"type": "text", "text": text}


def notice_block(what: str) -> dict[str, Any]:
    """Return the bracketed text block that marks omitted content."""
    return text_block(f"[… {what} …]")


def user_blocks(content: Json, lost: list[Dropped], seq: int) -> list[dict[str, Any]]:
    """Return the blocks of a user message that a request may carry; all others are listed in `lost`."""
    return [clean for block in _listed(content) if (clean := _user_block(block, lost, seq)) is not None]


def assistant_blocks(content: Json, lost: list[Dropped], seq: int) -> list[dict[str, Any]]:
    """Return the blocks of an assistant message that a request may carry; thinking stays byte for byte."""
    return [clean for block in _listed(content) if (clean := _assistant_block(block, lost, seq)) is not None]


def _listed(content: Json) -> Iterable[Json]:
    if isinstance(content, str):
        return [text_block(content)]
    return content if isinstance(content, list | tuple) else []


def _user_block(block: Json, lost: list[Dropped], seq: int) -> dict[str, Any] | None:
    match block:
        case {"type": "text", "text": str()}:
            return _text(block)
        case {"type": "tool_result", "tool_use_id": str(made_by)} if _ID.fullmatch(made_by):
            return _result(block, lost, seq)
        case {"type": str(kind)} if kind in _MEDIA:
            return _media(block, lost, seq)
        case str():
            return text_block(block) if block.strip() else None
        case _:
            return _left_out(block, lost, seq)


def _assistant_block(block: Json, lost: list[Dropped], seq: int) -> dict[str, Any] | None:
    match block:
        case {"type": "text", "text": str()}:
            return _text(block)
        case {"type": "thinking", "thinking": str(), "signature": str(signature)} if signature:
            return dict(block)
        case {"type": "redacted_thinking", "data": str(data)} if data:
            return dict(block)
        case {"type": "thinking" | "redacted_thinking"}:
            lost.append(Dropped("tail", seq=seq, what="thinking", why="it is not signed"))
            return None
        case {"type": "tool_use", "id": str(made), "name": str(name), "input": dict()} if _ID.fullmatch(
            made
        ) and _NAME.fullmatch(name):
            return {"type": "tool_use", "id": made, "name": name, "input": block["input"]}
        case {"type": str(kind)} if kind in _SERVER_SIDE:
            return _without_cache_control(block)
        case str():
            return text_block(block) if block.strip() else None
        case _:
            return _left_out(block, lost, seq)


def _text(block: dict[str, Any]) -> dict[str, Any] | None:
    """Return a text block without citations, which refer to documents that may be gone; None for a blank text."""
    if not block["text"].strip():
        return None
    return text_block(block["text"])


def _result(block: dict[str, Any], lost: list[Dropped], seq: int) -> dict[str, Any]:
    """Return a tool_result whose content is a string or valid blocks, never empty."""
    content = block.get("content", "")
    kept: Json
    if isinstance(content, str):
        kept = content if content.strip() else "[no output]"
    else:
        inner = [clean for item in _listed(content) if (clean := _inner(item, lost, seq)) is not None]
        kept = inner or "[no output]"
    result = {"type": "tool_result", "tool_use_id": block["tool_use_id"], "content": kept}
    return {**result, "is_error": True} if block.get("is_error") is True else result


def _inner(block: Json, lost: list[Dropped], seq: int) -> dict[str, Any] | None:
    if isinstance(block, dict) and block.get("type") == "tool_result":
        return _left_out(block, lost, seq)
    return _user_block(block, lost, seq)


def _media(block: dict[str, Any], lost: list[Dropped], seq: int) -> dict[str, Any]:
    source = block.get("source")
    if block["type"] in {"image", "document"} and not _has_source(source):
        return _left_out(block, lost, seq)
    return _without_cache_control(block)


def _has_source(source: Json) -> bool:
    match source:
        case {"type": "base64" | "text", "data": str(data), "media_type": str()}:
            return bool(data)
        case {"type": "url", "url": str(where)} | {"type": "file", "file_id": str(where)}:
            return bool(where)
        case _:
            return False


def _without_cache_control(block: dict[str, Any]) -> dict[str, Any]:
    """Return a block without the sender's cache breakpoint: a request may have four, and assembly places them."""
    return {key: value for key, value in block.items() if key != "cache_control"}


def _left_out(block: Json, lost: list[Dropped], seq: int) -> dict[str, Any]:
    kind = block.get("type") if isinstance(block, dict) else None
    name = kind if isinstance(kind, str) and _NAME.fullmatch(kind) else "unknown"
    lost.append(Dropped("tail", seq=seq, what=name, why="a request cannot carry it"))
    return notice_block(f"a block of type {name} left out")


Blocks: TypeAlias = tuple[dict[str, Any], ...]

_THINKING: Final = ("thinking", "redacted_thinking")


@dataclass(frozen=True, slots=True)
class Unit:
    """One indivisible unit: the assistant blocks of a reply and the user blocks that answer them.

    A `call` has both: every tool_use of `assistant_blocks` has its tool_result in `user_blocks`. `seq` is the last
    entry it came from. `fixed` are the tokens of all blocks but the contents of results, `results` the tokens inside
    each tool_result: every text is counted once, however often a unit is weighed.
    """

    kind: Literal["user", "reply", "call"]
    assistant_blocks: Blocks
    user_blocks: Blocks
    seq: int
    fixed: int
    results: tuple[int, ...]

    @property
    def blocks_cost(self) -> int:
        """The tokens of the unit's blocks, without the overhead of its messages."""
        return self.fixed + sum(self.results)

    @property
    def cost(self) -> int:
        """The tokens of the unit as separate messages; never fewer than after neighbours are merged."""
        return self.overhead + self.blocks_cost

    @property
    def overhead(self) -> int:
        """Overhead tokens of its one or two messages."""
        return MESSAGE * (bool(self.assistant_blocks) + bool(self.user_blocks))

    def at(self, cap: int) -> int:
        """Return the unit's tokens if the text of each tool result is cut to `cap` tokens."""
        return self.overhead + self.fixed + sum(min(size, cap + BLOCK) for size in self.results)


def make_unit(kind: Literal["user", "reply", "call"], assistant_blocks: Blocks, user_blocks: Blocks, seq: int) -> Unit:
    """Return a unit with its block costs computed."""
    results = tuple(content_cost(block["content"]) for block in user_blocks if block["type"] == "tool_result")
    others = sum(block_cost(block) for block in user_blocks if block["type"] != "tool_result")
    return Unit(
        kind,
        assistant_blocks,
        user_blocks,
        seq,
        sum(map(block_cost, assistant_blocks)) + others + BLOCK * len(results),
        results,
    )


@dataclass(slots=True)
class _Side:
    """Consecutive messages of one role, merged."""

    role: str
    blocks: list[dict[str, Any]]
    seq: int


def split_units(messages: Sequence[Message]) -> tuple[list[Unit], list[Dropped]]:
    """Return the units of `messages` in order, and the content that no valid request can carry.

    Messages that were rewound do not count. Neighbours of one role are one message. A tool_use stays only where its
    tool_result is in the very next user message; an orphan of either kind leaves a line in its place.
    """
    lost: list[Dropped] = []
    sides = list(_sides(messages, lost))
    taken: set[str] = set()
    units: list[Unit] = []
    for position, side in enumerate(sides):
        if side.role == "assistant":
            answer = sides[position + 1] if position + 1 < len(sides) else None
            units.extend(_assistant(side, answer, taken, lost))
        else:
            units.extend(_user(side, taken, lost))
    return units, lost


def is_user_speech(piece: Unit) -> bool:
    """True if the unit is a message of the person, not a notice about omitted content."""
    return piece.kind == "user" and any(not is_notice(block) for block in piece.user_blocks)


def is_notice(block: dict[str, Any]) -> bool:
    """True if a block is one of our own bracketed notices."""
    text = block.get("text")
    return isinstance(text, str) and text.startswith("[…") and text.endswith("…]")


def without_thinking(piece: Unit) -> Unit:
    """Return the unit without its thinking blocks; other blocks stay byte for byte."""
    assistant_blocks = tuple(block for block in piece.assistant_blocks if block["type"] not in _THINKING)
    if len(assistant_blocks) == len(piece.assistant_blocks):
        return piece
    gone = sum(block_cost(block) for block in piece.assistant_blocks if block["type"] in _THINKING)
    return replace(piece, assistant_blocks=assistant_blocks, fixed=piece.fixed - gone)


def _sides(messages: Sequence[Message], lost: list[Dropped]) -> Iterator[_Side]:
    current: _Side | None = None
    for message in messages:
        if message.rewound:
            continue
        clean = assistant_blocks if message.role == "assistant" else user_blocks
        blocks = clean(message.content, lost, message.last_seq)
        if not blocks:
            continue
        if current is not None and current.role == message.role:
            current.blocks.extend(blocks)
            current.seq = message.last_seq
            continue
        if current is not None:
            yield current
        current = _Side(message.role, blocks, message.last_seq)
    if current is not None:
        yield current


def _assistant(side: _Side, answer: _Side | None, taken: set[str], lost: list[Dropped]) -> Iterator[Unit]:
    """Yield the units of one assistant side: a reply, or a call with the results found in `answer`."""
    asked = {block["id"] for block in side.blocks if block["type"] == "tool_use"}
    results: dict[str, dict[str, Any]] = {}
    for block in answer.blocks if answer is not None else ():
        if block["type"] == "tool_result" and block["tool_use_id"] in asked - taken:
            results.setdefault(block["tool_use_id"], block)
    assistant_blocks: list[dict[str, Any]] = []
    open_ids = set(results)
    orphaned = False
    for block in side.blocks:
        if block["type"] != "tool_use":
            assistant_blocks.append(block)
        elif block["id"] in open_ids:
            open_ids.discard(block["id"])
            assistant_blocks.append(block)
        else:
            orphaned = True
            lost.append(Dropped("tail", seq=side.seq, what="tool_use", why="no result follows it"))
            assistant_blocks.append(notice_block(f"a call of {block['name']} without a result"))
    if orphaned:
        assistant_blocks = [block for block in assistant_blocks if block["type"] not in _THINKING]
    while assistant_blocks and assistant_blocks[-1]["type"] in _THINKING:
        assistant_blocks.pop()
    if not assistant_blocks:
        return
    taken.update(results)
    if results:
        assert answer is not None
        used = {id(block) for block in results.values()}
        user_blocks = tuple(block for block in answer.blocks if id(block) in used)
        answer.blocks = [block for block in answer.blocks if id(block) not in used]
        yield make_unit("call", tuple(assistant_blocks), user_blocks, answer.seq)
    else:
        yield make_unit("reply", tuple(assistant_blocks), (), side.seq)


def _user(side: _Side, taken: set[str], lost: list[Dropped]) -> Iterator[Unit]:
    user_blocks = []
    for block in side.blocks:
        if block["type"] != "tool_result":
            user_blocks.append(block)
            continue
        why = "answered twice" if block["tool_use_id"] in taken else "no call precedes it"
        lost.append(Dropped("tail", seq=side.seq, what="tool_result", why=why))
        user_blocks.append(notice_block("a tool result without its call"))
    if user_blocks:
        yield make_unit("user", (), tuple(user_blocks), side.seq)


def tail_start(messages: Sequence[Message], max_messages: int = 10, max_tokens: int = 12_000) -> int:
    """Return the index of the first message to keep verbatim; `len(messages)` keeps none.

    A tail begins where a person speaks, unless that would give away more than half of the messages that fit; then it
    begins at a reply. It never begins with tool results, whose calls would be lost. The last message, or the last call
    and its results, stay even where they alone are larger than `max_tokens`: the assembly then trims those results
    visibly.
    """
    spent = 0
    turn = reply = None
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        spent += MESSAGE + _tokens(message)
        fits = len(messages) - index <= max_messages and spent <= max_tokens
        if not fits and reply is not None:
            break
        if _has(message, "tool_result"):
            continue
        reply = index
        turn = index if message.role == "user" else turn
    if reply is None:
        return len(messages)
    whole = turn is not None and 2 * (len(messages) - turn) >= len(messages) - reply
    return turn if whole and turn is not None else reply


def is_turn_finished(messages: Sequence[Message]) -> bool:
    """True if no tool call waits for its result or reply, so that a distillation may run."""
    last = next((message for message in reversed(messages) if not message.rewound), None)
    return last is not None and _ends_turn(last)


def has_open_call(messages: Sequence[Message]) -> bool:
    """True if the last that was said, in messages as they were, is a tool call whose result is not there yet."""
    waiting: set[str] = set()
    for message in messages:
        if message.rewound:
            continue
        blocks = [block for block in _blocks(message) if isinstance(block, dict)]
        if message.role == "assistant":
            waiting |= {str(block.get("id")) for block in blocks if block.get("type") == "tool_use"}
        else:
            results = {str(block.get("tool_use_id")) for block in blocks if block.get("type") == "tool_result"}
            waiting = waiting - results if results else set()
    return bool(waiting)


def open_turn_start(messages: Sequence[Message]) -> int:
    """Return the index at which the unfinished turn begins, or `len(messages)` if there is none.

    A turn is over with a reply that calls no tool. What came after the last such reply is still going on: words that
    nobody answered, calls, their results.
    """
    over = (index + 1 for index in reversed(range(len(messages))) if _ends_turn(messages[index]))
    return next(over, 0)


def _ends_turn(message: Message) -> bool:
    return message.role == "assistant" and not message.rewound and not _has(message, "tool_use")


def _tokens(message: Message) -> int:
    """Return the tokens a message adds to a request (`Message.tokens` counts the texts alone)."""
    if message.tokens:
        return message.tokens + BLOCK * max(1, len(_blocks(message)))
    blocks = assistant_blocks if message.role == "assistant" else user_blocks
    return sum(block_cost(block) for block in blocks(message.content, [], message.last_seq))


def _has(message: Message, kind: str) -> bool:
    return any(isinstance(block, dict) and block.get("type") == kind for block in _blocks(message))


def _blocks(message: Message) -> list[object]:
    return message.content if isinstance(message.content, list) else []
