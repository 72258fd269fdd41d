"""Tiers to one request fragment under a hard token budget (api.md 2.1): stable text first, volatile text last."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from reverie import tokens
from reverie.context import excerpts, tiers
from reverie.context.budget import Ceilings, ceilings, hard_limit, target
from reverie.context.clearing import clear, edits
from reverie.context.cost import BLOCK, MESSAGE
from reverie.context.emit import BEGINNING, WAITING, bounded, emit, mark, system_blocks, tail_cost
from reverie.context.families import edits_on_server, takes_late_system
from reverie.context.fit import Fitted, fit, floor_cost
from reverie.context.parts import Context
from reverie.context.render import render
from reverie.context.units import said, split, unthinking
from reverie.errors import TokenBudgetExceeded

if TYPE_CHECKING:
    from reverie.context.parts import Limits, Parts, Placement
    from reverie.context.tiers import Tier
    from reverie.context.units import Unit

__all__ = ["BETAS", "assemble", "placement"]

BETAS: Final = ("context-management-2025-06-27",)

SQUEEZE: Final = ("recall", "index", "digest", "bootstrap", "summary", "notes", "state")
"""What gives way, in this order, when the conversation's floor does not fit beside it; excerpts went before."""

_FLOORS: Final = {"notes": 48, "state": 48}
"""Tokens that the newest note and the current task keep; every other tier may leave whole."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """The tiers that are settled, and how much room is left beside them."""

    tiers: dict[str, Tier]
    room: int


def assemble(parts: Parts, limits: Limits) -> Context:
    """The context of one thread: what an agent sends, what each tier costs, and what found no room.

    `max_tokens` (or nine tenths of the window) is never exceeded, by our own count and by a count of the rendered
    text. What gives way, in this order: excerpts by rank; the tail's tool results, then its oldest pieces; then recall,
    index, digest, bootstrap, summary, older notes, all of the state but the current task. Raises TokenBudgetExceeded
    where the current task, the newest note, the last thing the person said and the call still open do not fit.
    """
    bound = hard_limit(limits)
    room = bound
    while True:
        context = _assembled(parts, limits, room)
        shown = tokens.count(render(context)) + parts.tools if limits.max_tokens is not None else 0
        excess = max(shown, context.tokens["total"]) - bound
        if excess <= 0:
            return context
        room -= excess


def placement(parts: Parts) -> Placement:
    """`late` where the model takes system messages inside the conversation, else `system`, unless one was asked for."""
    return parts.placement or ("late" if takes_late_system(parts.model) else "system")


def _assembled(parts: Parts, limits: Limits, bound: int) -> Context:
    caps = ceilings(limits)
    built = {name: _built(parts, name, getattr(caps, name)) for name in SQUEEZE}
    units, lost = _conversation(parts, limits, parts.tools + sum(tier.cost for tier in built.values()))
    edges = _edges()
    plan = _planned(parts, limits, built, bound - parts.tools - edges - floor_cost(units))
    fitted, excerpt = _shared(parts, limits, units, plan)
    ordered = {**plan.tiers, "excerpts": excerpt}
    where = placement(parts)
    system = system_blocks(ordered, where)
    spoken = bounded(ordered, fitted.units)
    messages = emit(ordered, spoken, where)
    bill = {_WIRE.get(name, name): tier.cost for name, tier in ordered.items()}
    bill["tail"] = tail_cost(messages, spoken)
    mark(system, messages, where, ordered)
    total = sum(bill.values()) + parts.tools
    dropped = [*(item for tier in ordered.values() for item in tier.dropped), *lost, *fitted.dropped]
    return Context(
        request={
            "system": system,
            "messages": messages,
            "context_management": {"edits": edits(parts.model, limits)},
            "betas": list(BETAS),
        },
        tokens={
            **{name: bill[name] for name in _ORDER},
            "tools": parts.tools,
            "total": total,
            "tokenizer": tokens.TOKENIZER,
        },
        distillation=parts.distillation,
        dropped=dropped,
        texts={_WIRE.get(name, name): tier.texts for name, tier in ordered.items()},
    )


_WIRE: Final = {"state": "workingState"}
_ORDER: Final = ("bootstrap", "index", "digest", "workingState", "notes", "recall", "summary", "excerpts", "tail")


def _edges() -> int:
    """Room for the lines that open and close a conversation, and for the message of what is late."""
    return 3 * MESSAGE + 2 * BLOCK + tokens.count(WAITING) + tokens.count(BEGINNING)


def _conversation(parts: Parts, limits: Limits, beside: int) -> tuple[list[Unit], list[dict[str, Any]]]:
    """The pieces that follow the distilled part, with what local rules clear already cleared.

    After a distillation the thinking of finished turns is left out whole: its signatures vouch for a prefix that is
    gone. The turn that is still open keeps its thinking byte for byte.
    """
    units, lost = split(parts.messages)
    if not edits_on_server(parts.model):
        units, cleared = clear(units, limits, beside)
        lost += cleared
    if parts.distillation > 0:
        opened = max((place for place, unit in enumerate(units) if said(unit)), default=0)
        units = [unit if place > opened else unthinking(unit) for place, unit in enumerate(units)]
    return units, lost


def _planned(parts: Parts, limits: Limits, built: dict[str, Tier], room: int) -> _Plan:
    """Every tier within its ceiling, squeezed further in the stated order until the conversation's floor fits."""
    if limits.max_tokens is None:
        soft = target(limits) - parts.tools - ceilings(limits).tail
        built = _squeezed(parts, built, min(room, soft))
    built = _squeezed(parts, built, room)
    left = room - sum(tier.cost for tier in built.values())
    if left < 0:
        short = -left
        raise TokenBudgetExceeded(
            "the last message, the open call, the newest note and the current task do not fit in the tokens given",
            budget=hard_limit(limits),
            minimum_required=hard_limit(limits) + short,
            hint=f"ask for {hard_limit(limits) + short} tokens or more, or let the agent finish its turn first",
        )
    return _Plan(built, left)


def _squeezed(parts: Parts, built: dict[str, Tier], room: int) -> dict[str, Tier]:
    for name in SQUEEZE:
        over = sum(tier.cost for tier in built.values()) - room
        if over <= 0:
            break
        floor = _FLOORS.get(name, 0)
        built = {**built, name: _built(parts, name, max(floor, built[name].cost - over))}
    return built


def _built(parts: Parts, name: str, ceiling: int) -> Tier:
    ceiling = max(ceiling, _FLOORS.get(name, 0))
    match name:
        case "bootstrap":
            return tiers.bootstrap(parts.bootstrap, ceiling)
        case "index":
            return tiers.index(parts.index if parts.distillation == 0 else None, ceiling)
        case "digest":
            return tiers.digest(parts.digest, ceiling)
        case "notes":
            return tiers.notes(parts.notes, ceiling)
        case "state":
            return tiers.state(parts.state, ceiling)
        case "recall":
            return tiers.recall(parts.recall, ceiling)
        case _:
            return tiers.summary(parts.summary, ceiling, parts.state)


def _shared(parts: Parts, limits: Limits, units: list[Unit], plan: _Plan) -> tuple[Fitted, Tier]:
    """The room that is left, shared between the conversation and the excerpts.

    Under `max_tokens` the tail has its ceiling, and what the excerpts do not need. Without one the conversation keeps
    everything, and the excerpts what a context of 35,000 tokens leaves beside the ceilings of what changes each turn:
    that does not depend on what was said since, so the cached prefix stays.
    """
    caps = ceilings(limits)
    floor = floor_cost(units)
    if limits.max_tokens is not None:
        wanted = max(caps.tail, plan.room + floor - excerpts.demand(parts.passages))
        fitted = fit(units, max(floor, min(wanted, plan.room + floor)))
        return fitted, excerpts.pack(parts.passages, plan.room + floor - fitted.cost)
    preserved = _preserved(parts, limits, units)
    stable = sum(plan.tiers[name].cost for name in ("bootstrap", "index", "summary"))
    reserved = max(caps.digest, plan.tiers["digest"].cost) + caps.notes + caps.state + caps.recall
    tail = _tail_cost(parts, preserved, caps)
    spare = target(limits) - parts.tools - stable - reserved - tail - _edges()
    packed = excerpts.pack(parts.passages, min(spare, plan.room))
    fitted = fit(preserved.units, plan.room + floor - packed.cost)
    return Fitted(fitted.units, [*preserved.dropped, *fitted.dropped]), packed


def _preserved(parts: Parts, limits: Limits, units: list[Unit]) -> Fitted:
    """The conversation with the preserved tail inside its own bound: an oversized last message is trimmed there."""
    if parts.distilled_at_seq is None:
        return Fitted(units)
    old = [unit for unit in units if unit.seq <= parts.distilled_at_seq]
    bound = max(limits.preserve_tokens, floor_cost(old))
    fitted = fit(old, bound)
    return Fitted([*fitted.units, *units[len(old) :]], fitted.dropped)


def _tail_cost(parts: Parts, preserved: Fitted, caps: Ceilings) -> int:
    if parts.distilled_at_seq is None:
        return caps.tail
    return sum(unit.cost for unit in preserved.units if unit.seq <= parts.distilled_at_seq)
