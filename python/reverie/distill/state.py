"""The working state (tier 1), computed from to-do list, requests, files, commands and outcomes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie.distill.facts import CHECKS, asking
from reverie.distill.next_step import (
    ITEM_CHARS,
    OF_NOW,
    THEN,
    current_plan,
    current_request,
    is_task,
    leading,
    steps_ahead,
)
from reverie.distill.sentences import clip, first_sentence
from reverie.distill.state_text import state_items, trim_to_tokens, with_items
from reverie.models import StateSources, WorkingState
from reverie.words import analyze

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reverie.distill.facts import Facts
    from reverie.distill.state_text import StateItem
    from reverie.distill.steps import AnsweredQuestion

_LONG = 4_000  # characters of a request; of a longer one, such as a pasted log, the beginning and the end are read
_END = 400  # characters of its end, where people often put the question

# Items of a list; with the lengths below a full state stays near its 500 tokens (seed 001, tier 1).
_MAX_STEPS = 6
_MAX_FILES = 6
_MAX_CHAIN = 8
_MAX_BLOCKERS = 3
_FAILS = " failing: "  # between a check and its error: "tests failing: undefined: parse"
_NOW = " (now: "

# After so many entries of the thread an item is stale: nobody spoke of it since. Set by hand. What was done or decided
# stays true, a file belongs to a part of the work, a next step is soon made or given up, and a check that still failed
# would have been run again: "tests failing: undefined: parse" of 81 entries ago is left out.
_STEP_LASTS = 1_000
_FILE_LASTS = 600
_NEXT_LASTS = 300
_BLOCKER_LASTS = 80


def request_excerpt(text: str) -> str:
    """Return a person's message; of a long one only the beginning and the end."""
    return text if len(text) <= _LONG else f"{text[:_LONG]}\n{text[-_END:]}"


def working_state(facts: Facts, previous: WorkingState | None = None) -> WorkingState:
    """Return the state at the end of a thread within 500 tokens; unreplaced items of `previous` are kept.

    Every item comes with the entry that says so; one that nothing mentioned for long ages out.
    """
    before = previous or WorkingState()
    if not facts.end:
        return before
    steps = [*state_items(before, "completed_steps"), *completed(facts)]
    files = [*state_items(before, "open_files"), *_open_files(facts)]
    decisions = [*state_items(before, "recent_decisions"), *_decisions(facts)]
    blockers = [*_still_failing(facts, before), *_blockers(facts)]
    task, since = _current_task(facts, before)
    state = WorkingState(
        current_task=task,
        updated_at=facts.last_at or before.updated_at,
        sources=StateSources(current_task=since),
    )
    lists = {
        "task_chain": _task_chain(facts, before),
        "completed_steps": _newest(steps, facts.end - _STEP_LASTS, _MAX_STEPS),
        "next_steps": _next_steps(facts, before)[:_MAX_STEPS],
        "open_files": _newest(files, facts.end - _FILE_LASTS, _MAX_FILES),
        "recent_decisions": _newest(decisions, facts.end - _STEP_LASTS, _MAX_STEPS),
        "blockers": _newest(_in_order(blockers), facts.end - _BLOCKER_LASTS, _MAX_BLOCKERS),
    }
    return trim_to_tokens(with_items(state, **lists))


def _current_task(facts: Facts, before: WorkingState) -> tuple[str, int]:
    """Return the current task and the number of its source entry; that of `before` continues without a new one."""
    request, since = current_request(facts)
    old = before.current_task.partition(THEN)[0].partition(_NOW)[0]
    if old and not any(is_task(said) for said in facts.requests):
        last = asking(facts.requests)[-1:]
        request = f"{old}{THEN}{leading(last[0].text, ITEM_CHARS)}" if last else old
        since = last[0].seq if last else before.sources.current_task
    doing = [item for item in current_plan(facts) if item.status == "in_progress"]
    if not doing:
        return request, since
    now = clip(doing[-1].subject, ITEM_CHARS)
    return f"{request}{_NOW}{now})" if request else now, max(since, doing[-1].seq)


def _task_chain(facts: Facts, before: WorkingState) -> list[StateItem]:
    """Return the steps of the to-do list, of a long one those around the first open one; else the tasks asked for."""
    plan = current_plan(facts)
    open_at = next((at for at, item in enumerate(plan) if item.status != "completed"), None)
    if open_at is not None:
        first = max(0, min(open_at - 2, len(plan) - _MAX_CHAIN))
        return [(clip(item.subject, ITEM_CHARS), item.seq) for item in plan[first : first + _MAX_CHAIN]]
    asked = asking(facts.requests)
    tasks = [said for said in asked if said is asked[0] or is_task(said)]
    chain = [(clip(first_sentence(said.text), ITEM_CHARS), said.seq) for said in tasks]
    return _newest([*state_items(before, "task_chain"), *chain], 0, _MAX_CHAIN)


def completed(facts: Facts) -> list[StateItem]:
    """Return finished to-do items, commits, passing checks and the agent's last reports, in order of time."""
    done = [(clip(item.subject, ITEM_CHARS), item.seq) for item in facts.todo if item.status == "completed"]
    done += [(clip(f"committed {commit.sha} {commit.subject}", ITEM_CHARS), commit.seq) for commit in facts.commits]
    done += [(f"opened {address}", seq) for address, seq in facts.pulls.items()]
    checks = {run.purpose: run for run in facts.runs if run.purpose in CHECKS}
    done += [
        (f"{run.purpose.value} passed ({clip(run.description or run.command, 60)})", run.seq)
        for run in checks.values()
        if not run.failed
    ]
    told = [commit.sha for commit in facts.commits]
    reported = [mark for mark in facts.said if mark.kind == "outcome" and not any(sha in mark.text for sha in told)]
    done += [(clip(mark.text.rstrip("."), ITEM_CHARS), mark.seq) for mark in reported[-3:]]
    return _in_order(done)


def decided(facts: Facts, length: int) -> list[StateItem]:
    """Return the person's decisions in order of time, each with `length` characters at most."""
    made = [(clip(mark.text, length), mark.seq) for mark in facts.decisions]
    made += [
        (clip(answer.text, length), answer.seq)
        for answer in facts.answers
        if answer.decides and not _is_overruled(answer, facts)
    ]
    return _in_order(made)


def _is_overruled(answer: AnsweredQuestion, facts: Facts) -> bool:
    """Return True for a chosen option that the person came back to in their own words, in a later answer.

    "Condense when? → On commit: …" goes where "explicit, but the change to idle needs to condense" follows.
    """
    about = set() if answer.own_words else set(analyze(answer.text).content)
    return any(
        later.seq > answer.seq
        and later.own_words
        and later.decides
        and not about.isdisjoint(analyze(later.answer).content)
        for later in facts.answers
    )


def _decisions(facts: Facts) -> list[StateItem]:
    made = decided(facts, 2 * ITEM_CHARS)
    if len(made) < 3:
        own = [mark for mark in facts.said if mark.kind == "decision"]
        made += [(clip(mark.text, ITEM_CHARS + 40), mark.seq) for mark in own[-3:]]
    return _in_order(made)


def _next_steps(facts: Facts, before: WorkingState) -> list[StateItem]:
    """Return the steps ahead, followed by those of `before` that nothing has finished or replaced since."""
    done = {item.label(ITEM_CHARS) for item in facts.todo if item.status == "completed"}
    kept = dict(steps_ahead(facts))
    for step, seq in state_items(before, "next_steps"):
        is_over = step in done or step.endswith(facts.plan.closed()) or step.startswith(OF_NOW)
        if not is_over and (not seq or seq >= facts.end - _NEXT_LASTS):
            kept.setdefault(step, seq)
    return list(kept.items())


def _open_files(facts: Facts) -> list[StateItem]:
    used = facts.used()
    edited = facts.edited
    read = [path for path in list(used)[-_MAX_FILES:] if path not in edited]
    return [(path, used[path]) for path in (*read[-2:], *edited[-_MAX_FILES:])]


def _blockers(facts: Facts) -> list[StateItem]:
    return [
        (clip(f"{run.purpose.value}{_FAILS}{run.error or run.command}", ITEM_CHARS + 40), run.seq)
        for run in facts.failing
        if run.purpose in CHECKS
    ]


def _still_failing(facts: Facts, before: WorkingState) -> list[StateItem]:
    return [
        (text, seq) for text, seq in state_items(before, "blockers") if text.partition(_FAILS)[0] not in facts.checked
    ]


def _in_order(found: Iterable[StateItem]) -> list[StateItem]:
    return sorted(found, key=lambda item: item[1])


def _newest(found: Iterable[StateItem], since: int, limit: int) -> list[StateItem]:
    """Return the last `limit` distinct items from entry `since` on, or of no known entry; a repeated item is new."""
    kept: dict[str, int] = {}
    for text, seq in found:
        kept.pop(text, None)
        if text and (seq >= since or not seq):
            kept[text] = seq
    return list(kept.items())[-limit:]
