"""How full a model's window is: the API's own account of it, and what that teaches about our count.

No tokenizer of every model is public. Between two accounts of one thread the API has counted what we have counted too,
so their ratio is the model's factor; what came since the last account is our count times that factor, an estimate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reverie import tokens

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["applied", "context_use", "is_full", "live_tokens", "told", "used"]

USAGE_MAX = 1_000_000_000  # tokens; more in one number of a usage is a mistake, not a window
LEARNT_FROM_MIN = 200  # of our tokens between two accounts; fewer say little
LEARNT_FROM_MAX = 50_000  # so that a factor goes on learning
FACTOR_MIN, FACTOR_MAX = 0.5, 2.0


def used(usage: Mapping[str, Any]) -> int:
    """The tokens that the model's window held after a reply, by the API's own account of it.

    A number that no model can have counted is passed over.
    """
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
    return sum(_count(usage, name) for name in names)


def told(
    thread: Mapping[str, Any], live: int, usage: Mapping[str, Any] | None, edits: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """What a reply's `usage` and `applied_edits` change in a thread's record, `live` being our own count by now.

    Without a usage, what the edits cleared is taken off the last account.
    """
    changed: dict[str, Any] = {}
    cleared = sum(_count(edit, "cleared_input_tokens") for edit in edits)
    if usage:
        changed["usage"] = {"tokens": used(usage), "live": live}
        if not edits:
            changed |= _learnt(thread, live, used(usage))
    elif cleared:
        left = max(0, live_tokens({**thread, "liveTokens": live}) - cleared)
        changed["usage"] = {"tokens": left, "live": live}
    if edits:
        before = thread.get("cleared") or {"edits": 0, "tokens": 0}
        changed["cleared"] = {"edits": before["edits"] + len(edits), "tokens": before["tokens"] + cleared}
    return changed


def applied(edits: Sequence[Mapping[str, Any]]) -> list[str]:
    """The names of the edits that the API applied, without their dates: `clear_tool_uses`, `clear_thinking`."""
    return list(dict.fromkeys(str(edit.get("type", "")).rsplit("_", 1)[0] for edit in edits))


def live_tokens(thread: Mapping[str, Any]) -> int:
    """The tokens that the thread's context holds now: the API's last account of it, and what came since.

    Without an account the whole is our own count. Our count is multiplied by the factor that is known of the model.
    """
    live, factor = int(thread["liveTokens"]), float((thread.get("factor") or {}).get("value", 1.0))
    account = thread["usage"]
    if account is None:
        return round(live * factor)
    return int(account["tokens"]) + round(max(0, live - int(account.get("live", live))) * factor)


def context_use(thread: Mapping[str, Any], window: int) -> dict[str, Any]:
    """How full the model's window is, as api.md 2 words it; `estimated` where some of it is our own count."""
    live, room = live_tokens(thread), int(thread["contextWindow"] or window)
    account = thread["usage"]
    return {
        "tokens": live,
        "window": room,
        "fraction": round(live / room, 4),
        "tokenizer": tokens.TOKENIZER,
        "estimated": account is None or int(thread["liveTokens"]) > int(account.get("live", thread["liveTokens"])),
        "factor": round(float((thread.get("factor") or {}).get("value", 1.0)), 4),
    }


def is_full(thread: Mapping[str, Any], *, window: int, distil_at: float, absolute_cap: int) -> bool:
    """Whether the thread has passed its threshold: a share of the window, and never more than the absolute cap."""
    live = live_tokens(thread)
    return live >= absolute_cap or live >= distil_at * int(thread["contextWindow"] or window)


def _learnt(thread: Mapping[str, Any], live: int, account: int) -> dict[str, Any]:
    """The factor after one more stretch of messages that both have counted; nothing where it teaches nothing."""
    before = thread["usage"]
    if before is None or "live" not in before:
        return {}
    ours, theirs = live - int(before["live"]), account - int(before["tokens"])
    if ours < LEARNT_FROM_MIN or theirs <= 0:
        return {}
    known = thread.get("factor") or {"value": 1.0, "from": 0}
    seen = min(FACTOR_MAX, max(FACTOR_MIN, theirs / ours))
    value = (known["value"] * known["from"] + seen * ours) / (known["from"] + ours)
    return {"factor": {"value": value, "from": min(known["from"] + ours, LEARNT_FROM_MAX)}}


def _count(numbers: Mapping[str, Any], name: str) -> int:
    found = numbers.get(name)
    return found if type(found) is int and 0 <= found <= USAGE_MAX else 0
