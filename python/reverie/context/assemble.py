"""Assembly of tiers into a request fragment (seed 001): budget, order, messages and cache breakpoints."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from msgspec import structs

from reverie import tokenizer
from reverie.context import tiers as context_tiers
from reverie.context.edits import clear, edits_on_server, server_edits, takes_late_system
from reverie.context.fit import FittedConversation, fit_conversation, floor_cost
from reverie.context.inputs import Ceilings, Context, ceilings, hard_limit, target
from reverie.context.text import BEGINNING, TEXT_TIERS, WAITING, largest_count, neutralize_markup, render
from reverie.context.tokens import BLOCK, MESSAGE
from reverie.context.units import is_user_speech, make_unit, split_units, text_block, without_thinking
from reverie.errors import TokenBudgetExceeded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from reverie.context.inputs import Limits, Parts, Placement
    from reverie.context.tiers import Tier
    from reverie.context.units import Unit
    from reverie.models import Dropped, Passage

    _Said: TypeAlias = tuple[list[Unit], list[Dropped]]  # the conversation, and what of it no request can carry


BETAS: Final = ("context-management-2025-06-27",)

_BUILD: Final[dict[str, Callable[[Parts, int], Tier]]] = {
    "recall": lambda parts, ceiling: context_tiers.recall(parts.recall, ceiling),
    "index": lambda parts, ceiling: context_tiers.index(parts.index if parts.distillation == 0 else None, ceiling),
    "digest": lambda parts, ceiling: context_tiers.digest(parts.digest, ceiling),
    "bootstrap": lambda parts, ceiling: context_tiers.bootstrap(parts.bootstrap, ceiling),
    "summary": lambda parts, ceiling: context_tiers.summary(parts.summary, ceiling, parts.state),
    "notes": lambda parts, ceiling: context_tiers.notes(parts.notes, ceiling),
    "state": lambda parts, ceiling: context_tiers.state(parts.state, ceiling),
}
"""How each tier is made, in the order in which they give way where the conversation's floor does not fit beside them;
excerpts went before."""

_FLOORS: Final = {"notes": 48, "state": 48}
"""Tokens that the newest note and the current task keep; every other tier may leave whole."""

_FITTED_STEPS: Final = 64
"""Times that what exceeds a count is taken one by one where each time may fit another conversation or excerpt."""

_STABLE: Final = ("bootstrap", "digest")
_VOLATILE: Final = ("notes", "state", "recall")
_OPENING: Final = ("index", "summary", "excerpts")
_CACHE: Final = {"type": "ephemeral"}


def assemble(parts: Parts, limits: Limits) -> Context:
    """Return the context of one thread: the request fragment, the tokens of each tier, and what was dropped.

    `max_tokens` (or nine tenths of the window) is never exceeded, by our own count of its blocks and by a count of the
    rendered text in any encoding. What gives way, in this order: excerpts by rank; the tail's tool results, then its
    oldest pieces; then recall, index, digest, bootstrap, summary, older notes, all of the state but the current task.
    Raises TokenBudgetExceeded where the current task, the newest note, the last thing the person said and the call
    still open do not fit.
    """
    parts = _neutralized(parts)
    said = split_units(parts.messages)  # once, as it counts every text
    try:
        return _within(parts, said, limits)
    except _TooSmall as small:
        least = _least(parts, said, limits, hard_limit(limits) + small.missing)
    larger = f"ask for {least} tokens or more"
    if least > limits.window:
        larger = f"make the thread's contextWindow {least} or more, not {limits.window}, and {larger}"
    raise TokenBudgetExceeded(
        "the last message, the open call, the newest note and the current task do not fit in the tokens given",
        budget=hard_limit(limits),
        minimum_required=least,
        hint=f"{larger}, or let the agent finish its turn first",
    )


class _TooSmall(Exception):
    """The least of a context does not fit; `missing` tokens would be enough by the count that refused it."""

    def __init__(self, missing: int) -> None:
        super().__init__(missing)
        self.missing = missing


def _least(parts: Parts, said: _Said, limits: Limits, least: int) -> int:
    """Return the first budget from `least` on that is answered: another count may find a few tokens more."""
    while True:
        try:
            _within(parts, said, replace(limits, window=max(limits.window, least), max_tokens=least))
        except _TooSmall as small:
            least += small.missing
        else:
            return least


def _within(parts: Parts, said: _Said, limits: Limits) -> Context:
    """Return the context for these limits. Raises _TooSmall.

    What exceeds them by another count is taken from the room, so often at once that the context is another one. That
    may be more than there is to take, since a smaller context exceeds them by less: then its least decides.
    """
    bound = hard_limit(limits)
    room, is_least = bound, False
    while True:
        try:
            context, used = _assembled(parts, said, limits, room)
        except _TooSmall as small:
            room, is_least = room + small.missing, True
            if room > bound:
                raise _TooSmall(room - bound) from None
            continue
        shown = largest_count(render(context.request)) if limits.max_tokens is not None else 0
        excess = max(shown, context.tokens["total"]) - bound
        if excess <= 0:
            return context
        if is_least:
            raise _TooSmall(excess)
        same = (room - used) // excess
        if same < _FITTED_STEPS and any(part.tier in {"tail", "excerpts"} for part in context.dropped):
            same = 0
        room -= excess * (1 + same)


def _neutralized(parts: Parts) -> Parts:
    """Return the parts with the remembered texts neutralized; the messages are the conversation itself and stay."""
    clean = neutralize_markup
    return replace(
        parts,
        index=None if parts.index is None else clean(parts.index),
        digest=clean(parts.digest),
        notes=tuple(structs.replace(note, content=clean(note.content)) for note in parts.notes),
        state=clean(parts.state),
        recall=tuple(replace(line, text=clean(line.text)) for line in parts.recall),
        summary=None if parts.summary is None else clean(parts.summary),
        passages=tuple(map(_neutralized_passage, parts.passages)),
    )


def _neutralized_passage(passage: Passage) -> Passage:
    text = neutralize_markup(passage.text)
    return passage if text == passage.text else replace(passage, text=text, tokens=tokenizer.count(f"{text}\n"))


def placement(parts: Parts) -> Placement:
    """Return where state, notes and recall go: as requested, else `late` if the model takes it, else `system`."""
    return parts.placement or ("late" if takes_late_system(parts.model) else "system")


def _assembled(parts: Parts, said: _Said, limits: Limits, bound: int) -> tuple[Context, int]:
    """Return the context, and what it takes of `bound`: where all fits, each bound between the two has the same one."""
    caps = ceilings(limits)
    built = {name: _built(parts, name, getattr(caps, name)) for name in _BUILD}
    if parts.by_model:
        built["summary"] = _built(parts, "summary", max(caps.summary, target(limits) // 2))
    units, lost = _cleared_conversation(parts, said, limits, sum(tier.cost for tier in built.values()))
    edges = _edge_overhead()
    fixed, room = _fit_tiers(parts, limits, built, bound - edges - floor_cost(units))
    fitted, excerpt = _split_room(parts, limits, units, fixed, room)
    ordered = {**fixed, "excerpts": excerpt}
    where = placement(parts)
    system = system_blocks(ordered, where)
    spoken = with_edge_notices(ordered, fitted.units)
    messages = request_messages(ordered, spoken, where)
    bill = {_WIRE.get(name, name): tier.cost for name, tier in ordered.items()}
    bill["tail"] = tail_cost(messages, spoken)
    place_cache_breakpoints(system, messages, where, ordered)
    total = sum(bill.values())
    excerpts = max(excerpt.cost, context_tiers.total_tokens(parts.passages))
    used = min(bound, edges + fitted.cost + excerpts + sum(tier.cost for tier in fixed.values()))
    dropped = [*(item for tier in ordered.values() for item in tier.dropped), *lost, *fitted.dropped]
    context = Context(
        request={
            "system": system,
            "messages": messages,
            "context_management": {"edits": server_edits(parts.model, limits)},
            "betas": list(BETAS),
        },
        tokens={**{name: bill[name] for name in TEXT_TIERS}, "total": total, "tokenizer": tokenizer.TOKENIZER},
        distillation=parts.distillation,
        dropped=dropped,
        texts={_WIRE.get(name, name): tier.texts for name, tier in ordered.items()},
    )
    return context, used


_WIRE: Final = {"state": "workingState"}


def _edge_overhead() -> int:
    """Return the tokens reserved for edge notices and for the trailing system message."""
    return 3 * MESSAGE + 2 * BLOCK + tokenizer.count(WAITING) + tokenizer.count(BEGINNING)


def _cleared_conversation(parts: Parts, said: _Said, limits: Limits, beside: int) -> _Said:
    """Return the units after the distilled part without old tool results, and the blocks left out or cleared.

    After a distillation the thinking of finished turns is left out whole: its signatures vouch for a prefix that is
    gone. The turn that is still open keeps its thinking byte for byte.
    """
    units, lost = said
    if not edits_on_server(parts.model):
        units, cleared = clear(units, limits, beside)
        lost = lost + cleared
    if parts.distillation > 0:
        opened = max((index for index, unit in enumerate(units) if is_user_speech(unit)), default=0)
        units = [unit if index > opened else without_thinking(unit) for index, unit in enumerate(units)]
    return units, lost


def _fit_tiers(parts: Parts, limits: Limits, built: dict[str, Tier], room: int) -> tuple[dict[str, Tier], int]:
    """Return the tiers shrunk in a fixed order until the least conversation fits, and the tokens left beside them."""
    if limits.max_tokens is None:
        soft = target(limits) - ceilings(limits).tail
        built = _squeezed(parts, built, min(room, soft))
    built = _squeezed(parts, built, room)
    left = room - sum(tier.cost for tier in built.values())
    if left < 0:
        raise _TooSmall(-left)
    return built, left


def _squeezed(parts: Parts, built: dict[str, Tier], room: int) -> dict[str, Tier]:
    for name in _BUILD:
        over = sum(tier.cost for tier in built.values()) - room
        if over <= 0:
            break
        floor = _FLOORS.get(name, 0)
        built = {**built, name: _built(parts, name, max(floor, built[name].cost - over))}
    return built


def _built(parts: Parts, name: str, ceiling: int) -> Tier:
    return _BUILD[name](parts, max(ceiling, _FLOORS.get(name, 0)))


def _split_room(
    parts: Parts, limits: Limits, units: list[Unit], tiers: dict[str, Tier], room: int
) -> tuple[FittedConversation, Tier]:
    """Return the fitted conversation and the excerpts, between which the remaining `room` is split.

    Under `max_tokens` the tail has its ceiling, and what the excerpts do not need. Without one the conversation keeps
    everything, and the excerpts what a context of 35,000 tokens leaves beside the ceilings of what changes each turn:
    that does not depend on what was said since, so the cached prefix stays.
    """
    caps = ceilings(limits)
    floor = floor_cost(units)
    if limits.max_tokens is not None:
        wanted = max(caps.tail, room + floor - context_tiers.total_tokens(parts.passages))
        fitted = fit_conversation(units, max(floor, min(wanted, room + floor)))
        return fitted, context_tiers.pack_excerpts(parts.passages, room + floor - fitted.cost)
    preserved = _fit_tail(parts, limits, units)
    stable = sum(tiers[name].cost for name in ("bootstrap", "index", "summary"))
    reserved = max(caps.digest, tiers["digest"].cost) + caps.notes + caps.state + caps.recall
    tail = _tail_cost(parts, preserved, caps)
    spare = target(limits) - stable - reserved - tail - _edge_overhead()
    packed = context_tiers.pack_excerpts(parts.passages, min(spare, room))
    fitted = fit_conversation(preserved.units, room + floor - packed.cost)
    return FittedConversation(fitted.units, [*preserved.dropped, *fitted.dropped]), packed


def _fit_tail(parts: Parts, limits: Limits, units: list[Unit]) -> FittedConversation:
    """Return the conversation with the messages preserved by a distillation fitted into their own limit."""
    if parts.distilled_at_seq is None:
        return FittedConversation(units)
    old = [unit for unit in units if unit.seq <= parts.distilled_at_seq]
    bound = max(limits.preserve_tokens, floor_cost(old))
    fitted = fit_conversation(old, bound)
    return FittedConversation([*fitted.units, *units[len(old) :]], fitted.dropped)


def _tail_cost(parts: Parts, preserved: FittedConversation, caps: Ceilings) -> int:
    if parts.distilled_at_seq is None:
        return caps.tail
    return sum(unit.cost for unit in preserved.units if unit.seq <= parts.distilled_at_seq)


def system_blocks(tiers: dict[str, Tier], placement: Placement) -> list[dict[str, Any]]:
    """Return the system prompt: stable tiers, then the volatile ones if the placement is `system`."""
    names = _STABLE if placement == "late" else (*_STABLE, *_VOLATILE)
    return [text_block(text) for name in names for text in tiers[name].texts]


def with_edge_notices(tiers: dict[str, Tier], units: Sequence[Unit]) -> list[Unit]:
    """Return the units with a notice where a user message must open or close the conversation."""
    waiting = make_unit("user", (), (text_block(WAITING),), 0)
    out = list(units)
    if (not out or not out[-1].user_blocks) and (out or not _opening(tiers)):
        out.append(waiting)
    if out and out[0].assistant_blocks and not _opening(tiers):
        out.insert(0, make_unit("user", (), (text_block(BEGINNING),), 0))
    return out


def request_messages(tiers: dict[str, Tier], units: Sequence[Unit], placement: Placement) -> list[dict[str, Any]]:
    """Return the request's messages: index or summary and excerpts, conversation, then late volatile tiers."""
    opening = _opening(tiers)
    messages: list[dict[str, Any]] = [{"role": "user", "content": opening}] if opening else []
    for role, blocks in _sides(units):
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"].extend(blocks)
        else:
            messages.append({"role": role, "content": list(blocks)})
    late = [text_block(text) for name in _VOLATILE for text in tiers[name].texts] if placement == "late" else []
    if late:
        messages.append({"role": "system", "content": late})
    return messages


def tail_cost(messages: Sequence[dict[str, Any]], units: Sequence[Unit]) -> int:
    """Return the tokens of the conversation as emitted, message overhead included."""
    return sum(piece.blocks_cost for piece in units) + MESSAGE * len(messages)


def place_cache_breakpoints(
    system: list[dict[str, Any]], messages: list[dict[str, Any]], placement: Placement, tiers: dict[str, Tier]
) -> None:
    """Mark cache breakpoints after the stable parts: system prompt, distilled part, conversation so far.

    With volatile text in the system prompt nothing after it can be cached for long, so only the stable blocks of the
    prompt are marked. Never more than three of the four that the API allows.
    """
    stable = sum(len(tiers[name].texts) for name in _STABLE)
    if stable:
        system[stable - 1]["cache_control"] = dict(_CACHE)
    if placement == "system":
        return
    if opening := _opening(tiers):
        messages[0]["content"][len(opening) - 1]["cache_control"] = dict(_CACHE)
    last = next(message for message in reversed(messages) if message["role"] == "user")
    last["content"][-1] = {**last["content"][-1], "cache_control": dict(_CACHE)}


def _opening(tiers: dict[str, Tier]) -> list[dict[str, Any]]:
    return [text_block(text) for name in _OPENING for text in tiers[name].texts]


def _sides(units: Iterable[Unit]) -> Iterable[tuple[str, tuple[dict[str, Any], ...]]]:
    for piece in units:
        if piece.assistant_blocks:
            yield "assistant", piece.assistant_blocks
        if piece.user_blocks:
            yield "user", piece.user_blocks
