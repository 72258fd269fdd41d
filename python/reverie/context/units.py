"""The pieces of a conversation that are kept or dropped whole: what a person said, a reply, a call with its result."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from reverie.context.content_blocks import assistant_blocks, notice_block, user_blocks
from reverie.context.cost import BLOCK, MESSAGE, block_cost, content_cost

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reverie.models import Message

__all__ = ["Blocks", "Unit", "is_notice", "is_user_speech", "make_unit", "split_units", "without_thinking"]

Blocks: TypeAlias = tuple[dict[str, Any], ...]

_THINKING: Final = ("thinking", "redacted_thinking")


@dataclass(frozen=True, slots=True)
class Unit:
    """One indivisible piece: `says` are the assistant's blocks, `hears` the user's blocks that answer them.

    A `call` has both, every tool_use of `says` with its tool_result in `hears`. `seq` is the last entry it came from.
    `fixed` are the tokens of all blocks but what the results hold, `results` the tokens inside each tool_result: every
    text is counted once, however often a piece is weighed.
    """

    kind: Literal["user", "reply", "call"]
    says: Blocks
    hears: Blocks
    seq: int
    fixed: int
    results: tuple[int, ...]

    @property
    def blocks_cost(self) -> int:
        """Tokens of the blocks alone."""
        return self.fixed + sum(self.results)

    @property
    def cost(self) -> int:
        """Tokens of the piece as messages of its own: an upper bound of what it adds to a merged list."""
        return self.overhead + self.blocks_cost

    @property
    def overhead(self) -> int:
        """Tokens for its one or two messages."""
        return MESSAGE * (bool(self.says) + bool(self.hears))

    def at(self, cap: int) -> int:
        """What it would cost with each result's text cut to `cap` tokens."""
        return self.overhead + self.fixed + sum(min(size, cap + BLOCK) for size in self.results)


def make_unit(kind: Literal["user", "reply", "call"], says: Blocks, hears: Blocks, seq: int) -> Unit:
    """A piece with its blocks counted."""
    results = tuple(content_cost(block["content"]) for block in hears if block["type"] == "tool_result")
    others = sum(block_cost(block) for block in hears if block["type"] != "tool_result")
    return Unit(kind, says, hears, seq, sum(map(block_cost, says)) + others + BLOCK * len(results), results)


@dataclass(slots=True)
class _Side:
    """Neighbouring messages of one role, joined."""

    role: str
    blocks: list[dict[str, Any]]
    seq: int


def split_units(messages: Sequence[Message]) -> tuple[list[Unit], list[dict[str, Any]]]:
    """The pieces of `messages` in order, and what could not be part of any valid request.

    Messages that were rewound do not count. Neighbours of one role are one message. A tool_use stays only where its
    tool_result stands in the very next user message; an orphan of either kind leaves a line in its place.
    """
    lost: list[dict[str, Any]] = []
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
    """Whether this is something the person said, as against a line that stands for what is gone."""
    return piece.kind == "user" and any(not is_notice(block) for block in piece.hears)


def is_notice(block: dict[str, Any]) -> bool:
    """Whether a block is one of our own bracketed lines."""
    text = block.get("text")
    return isinstance(text, str) and text.startswith("[…") and text.endswith("…]")


def without_thinking(piece: Unit) -> Unit:
    """The piece without its thinking: blocks go whole or stay byte for byte."""
    says = tuple(block for block in piece.says if block["type"] not in _THINKING)
    if len(says) == len(piece.says):
        return piece
    gone = sum(block_cost(block) for block in piece.says if block["type"] in _THINKING)
    return replace(piece, says=says, fixed=piece.fixed - gone)


def _sides(messages: Sequence[Message], lost: list[dict[str, Any]]) -> Iterator[_Side]:
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


def _assistant(side: _Side, answer: _Side | None, taken: set[str], lost: list[dict[str, Any]]) -> Iterator[Unit]:
    """The reply, or the call with its results; results that are used leave the answering side."""
    asked = {block["id"] for block in side.blocks if block["type"] == "tool_use"}
    results: dict[str, dict[str, Any]] = {}
    for block in answer.blocks if answer is not None else ():
        if block["type"] == "tool_result" and block["tool_use_id"] in asked - taken:
            results.setdefault(block["tool_use_id"], block)
    says: list[dict[str, Any]] = []
    open_ids = set(results)
    orphaned = False
    for block in side.blocks:
        if block["type"] != "tool_use":
            says.append(block)
        elif block["id"] in open_ids:
            open_ids.discard(block["id"])
            says.append(block)
        else:
            orphaned = True
            lost.append({"tier": "tail", "seq": side.seq, "what": "tool_use", "why": "no result follows it"})
            says.append(notice_block(f"a call of {block['name']} without a result"))
    if orphaned:
        says = [block for block in says if block["type"] not in _THINKING]
    while says and says[-1]["type"] in _THINKING:
        says.pop()
    if not says:
        return
    taken.update(results)
    if results:
        assert answer is not None
        used = {id(block) for block in results.values()}
        hears = tuple(block for block in answer.blocks if id(block) in used)
        answer.blocks = [block for block in answer.blocks if id(block) not in used]
        yield make_unit("call", tuple(says), hears, answer.seq)
    else:
        yield make_unit("reply", tuple(says), (), side.seq)


def _user(side: _Side, taken: set[str], lost: list[dict[str, Any]]) -> Iterator[Unit]:
    hears = []
    for block in side.blocks:
        if block["type"] != "tool_result":
            hears.append(block)
            continue
        why = "answered twice" if block["tool_use_id"] in taken else "no call precedes it"
        lost.append({"tier": "tail", "seq": side.seq, "what": "tool_result", "why": why})
        hears.append(notice_block("a tool result without its call"))
    if hears:
        yield make_unit("user", (), tuple(hears), side.seq)
