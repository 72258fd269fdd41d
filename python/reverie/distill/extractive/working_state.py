"""The working state (tier 1), computed from to-do list, requests, files, commands and outcomes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie.distill.extractive import cue_phrases
from reverie.distill.extractive.prose import clip, first_sentence, sentences
from reverie.distill.extractive.thread_facts import substantial_requests
from reverie.distill.extractive.trace import Utterance
from reverie.distill.state_rendering import state_items, trim_to_tokens, with_items
from reverie.models import StateSources, WorkingState

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reverie.distill.extractive.thread_facts import ThreadFacts
    from reverie.distill.state_rendering import StateItem

__all__ = ["current_request", "last_question", "working_state"]

# Items of a list; with the lengths below a full state stays near its 500 tokens (seed 001, tier 1).
_MAX_STEPS = 6
_MAX_FILES = 6
_MAX_CHAIN = 8
# Characters of one item.
_ITEM = 110
# Characters of the current task.
_TASK = 320
_LATEST = 210  # of it, for what was said last
# Separates the task from the person's latest remark: "Add a cache → use Redis".
_THEN = " → "
# Prefix of a next step that waits for the person's answer.
_ASKS = "waiting for an answer: "
# Between a check and its error: "tests failing: undefined: parse".
_FAILS = " failing: "

# After so many entries of the thread an item is stale: nobody spoke of it since.
_STEP_LASTS = 1_000
_FILE_LASTS = 600
_NEXT_LASTS = 300
_BLOCKER_LASTS = 80
# Entries after which an announced step counts as done or given up.
_STILL_DOING = 60


def working_state(facts: ThreadFacts, previous: WorkingState | None = None) -> WorkingState:
    """Return the state at the end of a thread within 500 tokens; unreplaced items of `previous` are kept.

    Every item comes with the entry that says so; one that nothing mentioned for long ages out.
    """
    before = previous or WorkingState()
    if not facts.trace.steps:
        return before
    end = facts.trace.steps[-1].seq
    lists = {
        "task_chain": _newest([*state_items(before, "task_chain"), *_task_chain(facts.requests)], _MAX_CHAIN),
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
        "blockers": _newest(_unexpired([*_still_blocking(facts, before), *_blockers(facts)], end - _BLOCKER_LASTS), 3),
    }
    task, since = _current_task(facts, before)
    state = WorkingState(
        current_task=task,
        updated_at=facts.trace.last_at or before.updated_at,
        sources=StateSources(current_task=since),
    )
    return trim_to_tokens(with_items(state, **lists))


def current_request(requests: Sequence[Utterance]) -> str:
    """Return what the person last asked for, followed by a later remark, correction or question."""
    asked = substantial_requests(requests)
    if not asked:
        return ""
    opener = next((said for said in reversed(asked) if cue_phrases.opens_task(said.text)), asked[0])
    if opener is asked[-1]:
        return _leading_sentences(opener.text, _TASK)
    last = _leading_sentences(asked[-1].text, _LATEST)
    return f"{_leading_sentences(opener.text, _TASK - len(last))}{_THEN}{last}"


def last_question(facts: ThreadFacts) -> str:
    """Return the question that ends the agent's last message if the person has not answered it."""
    last = facts.trace.steps[-1] if facts.trace.steps else None
    spoken = facts.trace.said("assistant")
    if not spoken or last is not spoken[-1]:
        return ""
    found = sentences(spoken[-1].text)
    return found[-1] if found and cue_phrases.is_question(found[-1]) else ""


def _leading_sentences(text: str, length: int) -> str:
    """Return the beginning of a request: as many whole sentences as fit in `length`, at least one."""
    found = sentences(text) or [text]
    kept = found[0]
    for sentence in found[1:]:
        if len(kept) + len(sentence) + 1 > length:
            break
        kept = f"{kept} {sentence}"
    return clip(kept, max(length, 40))


def _current_task(facts: ThreadFacts, before: WorkingState) -> tuple[str, int]:
    """Return the current task and the number of its source entry."""
    request, since = _request_in_force(facts.requests, before)
    doing = [item for item in facts.plan if item.status == "in_progress"]
    if not doing:
        return (request, since) if request else (before.current_task, before.sources.current_task)
    held = request or _task_without_suffixes(before)
    task = f"{held} (now: {clip(doing[-1].subject, _ITEM)})" if held else doing[-1].subject
    return task, max(since, doing[-1].seq)


def _request_in_force(requests: Sequence[Utterance], before: WorkingState) -> tuple[str, int]:
    """Return the current request; the task of `before` continues if no new task was opened."""
    asked = substantial_requests(requests)
    if not asked:
        return "", 0
    since = asked[-1].seq
    known = _task_without_suffixes(before)
    if known and not any(cue_phrases.opens_task(said.text) for said in asked):
        last = _leading_sentences(asked[-1].text, _LATEST)
        return f"{clip(known, _TASK - len(last))}{_THEN}{last}", since
    return current_request(requests), since


def _task_without_suffixes(before: WorkingState) -> str:
    """Strip progress suffixes from the previous task."""
    return before.current_task.partition(_THEN)[0].partition(" (now: ")[0]


def _task_chain(requests: Iterable[Utterance]) -> list[StateItem]:
    return [(clip(first_sentence(said.text), _ITEM), said.seq) for said in substantial_requests(requests)]


def _completed(facts: ThreadFacts) -> list[StateItem]:
    """Return finished to-do items, commits and passing checks in order of time."""
    done = [(clip(item.subject, _ITEM), item.seq) for item in facts.plan if item.status == "completed"]
    done += [(clip(f"committed {commit.sha} {commit.subject}", _ITEM), commit.seq) for commit in facts.commits]
    done += [(f"opened {address}", seq) for address, seq in facts.pulls]
    checks = {run.purpose.value: run for run in facts.runs if run.purpose.value in {"tests", "build", "lint"}}
    done += [
        (f"{name} passed ({clip(run.description or run.command, 60)})", run.seq)
        for name, run in checks.items()
        if not run.failed
    ]
    if len(done) < 3:
        done += [(clip(mark.text, _ITEM), mark.seq) for mark in facts.outcomes[-3:]]
    return _in_order(done)


def _next_steps(facts: ThreadFacts, before: WorkingState) -> list[StateItem]:
    """Return steps in progress, planned steps and pending questions, else the announced next steps."""
    end = facts.trace.steps[-1].seq
    waiting = [(item.label(_ITEM), item.seq) for item in facts.plan if item.status == "in_progress"]
    waiting += [(item.label(_ITEM), item.seq) for item in facts.plan if item.status == "pending"]
    question = last_question(facts)
    if question:
        waiting.append((f"{_ASKS}{clip(question, _ITEM)}", end))
    doing = _announced_step(facts)
    if doing and not any(item.status == "in_progress" for item in facts.plan):
        waiting.insert(0, (doing, end))
    if not waiting:
        recent = [mark for mark in facts.nexts if mark.seq >= end - 60]
        waiting = [(clip(mark.text, _ITEM), mark.seq) for mark in recent[-2:]]
    done = {item.label(_ITEM) for item in facts.plan if item.status == "completed"}
    closed = tuple(facts.closed)
    answered = bool(facts.requests)
    waiting += [
        (step, seq)
        for step, seq in _unexpired(state_items(before, "next_steps"), end - _NEXT_LASTS)
        if step not in done and not step.endswith(closed) and not (answered and step.startswith(_ASKS))
    ]
    kept: dict[str, int] = {}
    for step, seq in waiting:
        kept.setdefault(step, seq)
    return list(kept.items())


def _announced_step(facts: ThreadFacts) -> str:
    """Return what the agent last announced to do, if it may still be doing it."""
    last = next((step for step in reversed(facts.trace.steps) if isinstance(step, Utterance)), None)
    if last is None or last.role != "assistant" or last.seq < facts.trace.steps[-1].seq - _STILL_DOING:
        return ""
    said = sentences(last.text)
    doing = cue_phrases.stated_intent(said[-1]) if said else ""
    if (
        cue_phrases.is_only_pointer(doing) and len(said) > 1
    ):  # "let me fix this": what it is stands in the sentence before
        doing = f"{doing}: {said[-2]}"
    return clip(doing, _ITEM)


def _open_files(facts: ThreadFacts) -> list[StateItem]:
    """Return files read lately, then files edited lately (edited files age out last)."""
    used = {facts.trace.relative(call.path): call.seq for call in facts.trace.calls if call.path and not call.failed}
    read = [path for path in facts.touched[-_MAX_FILES:] if path not in facts.edited]
    return [(path, used.get(path, 0)) for path in (*read[-2:], *facts.edited[-_MAX_FILES:])]


def _decisions(facts: ThreadFacts) -> list[StateItem]:
    made = [(clip(mark.text, _ITEM + 40), mark.seq) for mark in facts.decisions[-12:] if mark.by_user]
    made += [(clip(f"{answer.question} → {answer.answer}", _ITEM + 40), answer.seq) for answer in facts.answers[-6:]]
    if len(made) < 3:
        own = [mark for mark in facts.decisions if not mark.by_user and cue_phrases.is_settled(mark.text)]
        made += [(clip(mark.text, _ITEM + 40), mark.seq) for mark in own[-3:]]
    return _in_order(made)


def _blockers(facts: ThreadFacts) -> list[StateItem]:
    return [
        (clip(f"{run.purpose.value}{_FAILS}{run.error or run.command}", _ITEM + 40), run.seq)
        for run in facts.failing
        if run.purpose.value != "other"
    ]


def _still_blocking(facts: ThreadFacts, before: WorkingState) -> list[StateItem]:
    """Return earlier blockers, without checks that were run again since."""
    again = {run.purpose.value for run in facts.runs}
    return [(text, seq) for text, seq in state_items(before, "blockers") if text.partition(_FAILS)[0] not in again]


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
