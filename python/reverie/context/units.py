"""Indivisible units of a conversation, its open turn, and where the preserved tail starts (seed 001, tier 3)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from reverie.context.blocks import assistant_blocks, notice_block, user_blocks
from reverie.context.token_cost import BLOCK, MESSAGE, block_cost, content_cost
from reverie.models import Dropped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reverie.models import Message

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
        if _answers(message):
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


def open_turn_start(messages: Sequence[Message]) -> int:
    """Return the index at which the unfinished turn begins, or `len(messages)` if there is none.

    A turn is over with a reply that calls no tool. What came after the last such reply is still going on: words that
    nobody answered, calls, their results.
    """
    over = (index + 1 for index in reversed(range(len(messages))) if _ends_turn(messages[index]))
    return next(over, 0)


def _ends_turn(message: Message) -> bool:
    return message.role == "assistant" and not message.rewound and not _calls(message)


def _calls(message: Message) -> bool:
    return any(isinstance(block, dict) and block.get("type") == "tool_use" for block in _blocks(message))


def _tokens(message: Message) -> int:
    """Return the tokens a message adds to a request (`Message.tokens` counts the texts alone)."""
    if message.tokens:
        return message.tokens + BLOCK * max(1, len(_blocks(message)))
    blocks = assistant_blocks if message.role == "assistant" else user_blocks
    return sum(block_cost(block) for block in blocks(message.content, [], message.last_seq))


def _answers(message: Message) -> bool:
    return any(isinstance(block, dict) and block.get("type") == "tool_result" for block in _blocks(message))


def _blocks(message: Message) -> list[object]:
    return message.content if isinstance(message.content, list) else []
