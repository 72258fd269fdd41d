"""The working state (tier 1), computed from to-do list, requests, files, commands and outcomes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from reverie.distill import commands as shell_commands_and_commits
from reverie.distill.extractive import blocker_phrases, classify_sentences_by_working_state_cues
from reverie.distill.extractive.current_request_and_agreed_proposals import (
    ITEM_CHARS,
    TASK_CHARS,
    THEN,
    current_request,
    latest_remark,
    task_opened,
)
from reverie.distill.facts import substantial_requests
from reverie.distill.next_step import ASKS, CHECKS, OF_NOW, current_plan, steps_ahead
from reverie.distill.sentences import clip, first_sentence
from reverie.distill.state_text import state_items, trim_to_tokens, with_items
from reverie.models import StateSources, WorkingState

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reverie.distill.facts import KeySentence, ThreadFacts
    from reverie.distill.state_text import StateItem

__all__ = ["request_excerpt", "working_state"]

_LONG = 4_000  # characters of a request; of a longer one the beginning and the end are read
# Characters read of a long request's end, where people often put the question.
_END = 400

# Items of a list; with the lengths below a full state stays near its 500 tokens (seed 001, tier 1).
_MAX_STEPS = 6
_MAX_FILES = 6
_MAX_CHAIN = 8
_MAX_BLOCKERS = 3
# Between a check and its error: "tests failing: undefined: parse".
_FAILS = " failing: "
# Prefixes of blockers that a person ends.
_NEEDS = "waiting for the user: "
_REPORTED = "reported by the user: "

# After so many entries of the thread an item is stale: nobody spoke of it since. Set by hand and not measured. Their
# order has a reason: what was done or decided stays true, a file belongs to a part of the work, a next step is soon
# made or given up, and a check that still failed would have been run again.
_STEP_LASTS = 1_000  # also decisions
_FILE_LASTS = 600
_NEXT_LASTS = 300
_BLOCKER_LASTS = 80  # "tests failing: undefined: parse" of 81 entries ago is left out
_SHARED = 5  # letters of a word that links a blocker to what ends it


def request_excerpt(text: str) -> str:
    """Return a person's message; of a long one, such as a pasted log, only the beginning and the end."""
    return text if len(text) <= _LONG else f"{text[:_LONG]}\n{text[-_END:]}"


def working_state(facts: ThreadFacts, previous: WorkingState | None = None) -> WorkingState:
    """Return the state at the end of a thread within 500 tokens; unreplaced items of `previous` are kept.

    Every item comes with the entry that says so; one that nothing mentioned for long ages out.
    """
    before = previous or WorkingState()
    if not facts.trace.steps:
        return before
    end = facts.trace.steps[-1].seq
    lists = {
        "task_chain": _task_chain(facts, before),
        "completed_steps": _newest(
            _unexpired([*state_items(before, "completed_steps"), *_completed(facts)], end - _STEP_LASTS), _MAX_STEPS
        ),
        "next_steps": _next_steps(facts, before)[:_MAX_STEPS],
        "open_files": _newest(
            _unexpired([*state_items(before, "open_files"), *_open_files(facts)], end - _FILE_LASTS), _MAX_FILES
        ),
        "recent_decisions": _newest(
            _unexpired([*state_items(before, "recent_decisions"), *_decisions(facts)], end - _STEP_LASTS), _MAX_STEPS
        ),
        "blockers": _newest(
            _unexpired(_in_order([*_still_blocking(facts, before), *_blockers(facts)]), end - _BLOCKER_LASTS),
            _MAX_BLOCKERS,
        ),
    }
    task, since = _current_task(facts, before)
    state = WorkingState(
        current_task=task,
        updated_at=facts.trace.last_at or before.updated_at,
        sources=StateSources(current_task=since),
    )
    return trim_to_tokens(with_items(state, **lists))


def _current_task(facts: ThreadFacts, before: WorkingState) -> tuple[str, int]:
    """Return the current task and the number of its source entry."""
    request, since = _request_in_force(facts, before)
    doing = [item for item in current_plan(facts) if item.status == "in_progress"]
    if not doing:
        return (request, since) if request else (before.current_task, before.sources.current_task)
    request = request or _task_without_suffixes(before)
    task = f"{request} (now: {clip(doing[-1].subject, ITEM_CHARS)})" if request else doing[-1].subject
    return task, max(since, doing[-1].seq)


def _request_in_force(facts: ThreadFacts, before: WorkingState) -> tuple[str, int]:
    """Return the current request and its entry number; the task of state `before` continues if there is no new one."""
    asked = substantial_requests(facts.requests)
    if not asked:
        return current_request(facts), facts.answers[-1].seq if facts.answers else 0
    since = asked[-1].seq
    task = _task_without_suffixes(before)
    if task and not any(classify_sentences_by_working_state_cues.is_new_task(said.text) for said in asked):
        last = latest_remark(asked[-1], facts)
        return f"{clip(task, TASK_CHARS - len(last))}{THEN}{last}", since
    return current_request(facts), since


def _task_without_suffixes(before: WorkingState) -> str:
    """Return the previous task without the progress suffixes that were appended to it."""
    return before.current_task.partition(THEN)[0].partition(" (now: ")[0]


def _task_chain(facts: ThreadFacts, before: WorkingState) -> list[StateItem]:
    """Return the steps of the to-do list, else of a numbered plan, else the tasks that were asked for.

    Of a long plan the steps around the first unfinished one are shown.
    """
    plan = current_plan(facts)
    if any(item.status != "completed" for item in plan) or len(plan) == len(facts.plan) > 0:
        open_at = next((at for at, item in enumerate(plan) if item.status != "completed"), len(plan))
        first = max(0, min(open_at - 2, len(plan) - _MAX_CHAIN))
        return [(clip(item.subject, ITEM_CHARS), item.seq) for item in plan[first : first + _MAX_CHAIN]]
    if facts.steps and facts.steps[0].seq >= task_opened(facts):
        return [(clip(step.text, ITEM_CHARS), step.seq) for step in facts.steps[:_MAX_CHAIN]]
    asked = [
        said
        for said in substantial_requests(facts.requests)
        if not classify_sentences_by_working_state_cues.is_only_for_good(said.text)
    ]
    tasks = [
        said for said in asked if said is asked[0] or classify_sentences_by_working_state_cues.is_new_task(said.text)
    ]
    chain = [(clip(first_sentence(said.text), ITEM_CHARS), said.seq) for said in tasks]
    return _newest([*state_items(before, "task_chain"), *chain], _MAX_CHAIN)


def _completed(facts: ThreadFacts) -> list[StateItem]:
    """Return finished to-do items, commits and passing checks in order of time."""
    done = [(clip(item.subject, ITEM_CHARS), item.seq) for item in facts.plan if item.status == "completed"]
    done += [(clip(f"committed {commit.sha} {commit.subject}", ITEM_CHARS), commit.seq) for commit in facts.commits]
    done += [(f"opened {address}", seq) for address, seq in facts.pulls]
    checks = {run.purpose.value: run for run in facts.runs if run.purpose.value in CHECKS}
    done += [
        (f"{name} passed ({clip(run.description or run.command, 60)})", run.seq)
        for name, run in checks.items()
        if not run.failed
    ]
    reported = [
        mark
        for mark in facts.outcomes
        if classify_sentences_by_working_state_cues.is_finished_step(mark.text)
        and not any(commit.sha in mark.text for commit in facts.commits)
    ]
    done += [(clip(mark.text.rstrip("."), ITEM_CHARS), mark.seq) for mark in reported[-3:]]
    return _in_order(done)


def _next_steps(facts: ThreadFacts, before: WorkingState) -> list[StateItem]:
    """Return the steps ahead, followed by those of `before` that nothing has finished or replaced since."""
    end = facts.trace.steps[-1].seq
    ahead = steps_ahead(facts)
    done = {item.label(ITEM_CHARS) for item in facts.plan if item.status == "completed"}
    closed = tuple(facts.closed)
    replaced = (*(OF_NOW if ahead else ()), *((ASKS,) if facts.requests else ()))
    ahead += [
        (step, seq)
        for step, seq in _unexpired(state_items(before, "next_steps"), end - _NEXT_LASTS)
        if step not in done and not step.endswith(closed) and not step.startswith(replaced)
    ]
    kept: dict[str, int] = {}
    for step, seq in ahead:
        kept.setdefault(step, seq)
    return list(kept.items())


def _open_files(facts: ThreadFacts) -> list[StateItem]:
    """Return files read lately, then files edited lately (edited files age out last)."""
    used = {facts.trace.relative(call.path): call.seq for call in facts.trace.calls if call.path and not call.failed}
    read = [path for path in facts.touched[-_MAX_FILES:] if path not in facts.edited]
    return [(path, used.get(path, 0)) for path in (*read[-2:], *facts.edited[-_MAX_FILES:])]


def _decisions(facts: ThreadFacts) -> list[StateItem]:
    made = [(clip(mark.text, ITEM_CHARS + 40), mark.seq) for mark in facts.decisions[-12:] if mark.by_user]
    made += [
        (f"{clip(answer.question, ITEM_CHARS - 20)} → {clip(answer.answer, ITEM_CHARS - 20)}", answer.seq)
        for answer in facts.answers[-6:]
        if "?" not in answer.answer
    ]
    if len(made) < 3:
        own = [mark for mark in facts.decisions if not mark.by_user]
        made += [(clip(mark.text, ITEM_CHARS + 40), mark.seq) for mark in own[-3:]]
    return _in_order(made)


def _blockers(facts: ThreadFacts) -> list[StateItem]:
    """Return failing checks, an error that the person pasted since the last check, and obstacles that were named."""
    blockers = [
        (clip(f"{run.purpose.value}{_FAILS}{run.error or run.command}", ITEM_CHARS + 40), run.seq)
        for run in facts.failing
        if run.purpose.value != "other"
    ]
    asked = substantial_requests(facts.requests)
    checked = max((run.seq for run in facts.runs if run.purpose.value in CHECKS), default=0)
    said = request_excerpt(asked[-1].text) if asked else ""
    if asked and asked[-1].seq > checked and (error := shell_commands_and_commits.pasted_error(said)):
        blockers.append((f"{_REPORTED}{clip(error, ITEM_CHARS)}", asked[-1].seq))
    waiting = [mark for mark in facts.blocks if not _is_ended(mark, facts)]
    return blockers + [(f"{'' if mark.by_user else _NEEDS}{clip(mark.text, ITEM_CHARS)}", mark.seq) for mark in waiting]


def _is_ended(block: KeySentence, facts: ThreadFacts) -> bool:
    """Return True if the person answered what the agent waited for, or later reported their own obstacle as removed."""
    later = [said.text for said in facts.requests if said.seq > block.seq]
    if not block.by_user:
        return bool(later)
    words = _long_words(block.text)
    return any(blocker_phrases.is_unblocked(text) or not words.isdisjoint(_long_words(text)) for text in later)


def _long_words(text: str) -> set[str]:
    return {word for word in re.findall(rf"[^\W\d_]{{{_SHARED},}}", text.lower()) if word != "blocked"}


def _still_blocking(facts: ThreadFacts, before: WorkingState) -> list[StateItem]:
    """Return the blockers of `before`, leaving out checks that ran again, errors checked since, and ended obstacles."""
    again = {run.purpose.value for run in facts.runs}
    over = (*((_NEEDS,) if facts.requests else ()), *((_REPORTED,) if not again.isdisjoint(CHECKS) else ()))
    return [
        (text, seq)
        for text, seq in state_items(before, "blockers")
        if text.partition(_FAILS)[0] not in again
        and not text.startswith(over)
        and not any(blocker_phrases.is_unblocked(said.text) for said in facts.requests)
    ]


def _in_order(found: Iterable[StateItem]) -> list[StateItem]:
    return sorted(found, key=lambda item: item[1])


def _unexpired(found: Iterable[StateItem], since: int) -> list[StateItem]:
    """Return the items whose source entry is `since` or later, or unknown."""
    return [(text, seq) for text, seq in found if seq >= since or not seq]


def _newest(found: Iterable[StateItem], limit: int) -> list[StateItem]:
    """Return the last `limit` distinct items; a repeated item counts as new."""
    kept: dict[str, int] = {}
    for text, seq in found:
        kept.pop(text, None)
        if text:
            kept[text] = seq
    return list(kept.items())[-limit:]
