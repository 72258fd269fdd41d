"""Tier 1: the working state, read from the plan, the requests, the files, the commands and how they ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie.distill.extractive import signals
from reverie.distill.extractive.prose import clip, first_sentence, sentences
from reverie.distill.state import bounded
from reverie.models import WorkingState

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reverie.distill.extractive.story import Story
    from reverie.distill.extractive.trace import Said

__all__ = ["current_request", "last_question", "working_state"]

_MAX_STEPS = 6
_MAX_FILES = 6
_MAX_CHAIN = 8
_ITEM = 110
_TASK = 280


def working_state(story: Story, previous: WorkingState | None = None) -> WorkingState:
    """The state at the end of `story`, within 500 tokens. What `previous` held and nothing replaced is kept."""
    before = previous or WorkingState()
    if not story.trace.steps:
        return before
    return bounded(
        WorkingState(
            current_task=_current_task(story) or before.current_task,
            task_chain=_newest((*before.task_chain, *_chain(story.requests)), _MAX_CHAIN),
            completed_steps=_newest((*before.completed_steps, *_completed(story)), _MAX_STEPS),
            next_steps=_next_steps(story, before)[:_MAX_STEPS],
            open_files=_newest((*before.open_files, *_open_files(story)), _MAX_FILES),
            recent_decisions=_newest((*before.recent_decisions, *_decisions(story)), _MAX_STEPS),
            blockers=_newest(_blockers(story), 3),
            updated_at=story.trace.last_at or before.updated_at,
        )
    )


def current_request(requests: Sequence[Said]) -> str:
    """What the person last asked for; a later remark, correction or question is shown behind it."""
    substantial = [said for said in requests if not signals.is_acknowledgement(said.text)]
    if not substantial:
        return ""
    opener = next((said for said in reversed(substantial) if signals.opens_task(said.text)), substantial[0])
    if opener is substantial[-1]:
        return _essence(opener.text, _TASK)
    last = _essence(substantial[-1].text, _TASK // 2)
    return f"{_essence(opener.text, _TASK - len(last))} → {last}"


def last_question(story: Story) -> str:
    """The question with which the agent ended its last words, where the person has not answered yet."""
    last = story.trace.steps[-1] if story.trace.steps else None
    spoken = story.trace.said("assistant")
    if not spoken or last is not spoken[-1]:
        return ""
    found = sentences(spoken[-1].text)
    return found[-1] if found and signals.is_question(found[-1]) else ""


def _essence(text: str, length: int) -> str:
    """The beginning of a request: as many whole sentences as fit in `length`, the first one always."""
    found = sentences(text) or [text]
    kept = found[0]
    for sentence in found[1:]:
        if len(kept) + len(sentence) + 1 > length:
            break
        kept = f"{kept} {sentence}"
    return clip(kept, max(length, 40))


def _current_task(story: Story) -> str:
    request = current_request(story.requests)
    doing = [item.subject for item in story.plan if item.status == "in_progress"]
    if doing and request:
        return f"{request} (now: {clip(doing[-1], _ITEM)})"
    return request or "".join(doing[-1:])


def _chain(requests: Iterable[Said]) -> list[str]:
    return [clip(first_sentence(said.text), _ITEM) for said in requests if not signals.is_acknowledgement(said.text)]


def _completed(story: Story) -> list[str]:
    """Finished entries of the plan, commits and passing checks, in the order in which they happened."""
    done = [(item.seq, clip(item.subject, _ITEM)) for item in story.plan if item.status == "completed"]
    done += [(commit.seq, clip(f"committed {commit.sha} {commit.subject}", _ITEM)) for commit in story.commits]
    done += [(seq, f"opened {address}") for address, seq in story.pulls]
    checks = {run.purpose.value: run for run in story.runs if run.purpose.value in {"tests", "build", "lint"}}
    done += [
        (run.seq, f"{name} passed ({clip(run.description or run.command, 60)})")
        for name, run in checks.items()
        if not run.failed
    ]
    if len(done) < 3:
        done += [(mark.seq, clip(mark.text, _ITEM)) for mark in story.outcomes[-3:]]
    return [text for _, text in sorted(done, key=lambda pair: pair[0])]


def _next_steps(story: Story, before: WorkingState) -> tuple[str, ...]:
    waiting = [clip(item.subject, _ITEM) for item in story.plan if item.status == "in_progress"]
    waiting += [clip(item.subject, _ITEM) for item in story.plan if item.status == "pending"]
    question = last_question(story)
    if question:
        waiting.append(f"waiting for an answer: {clip(question, _ITEM)}")
    if not waiting:
        end = story.trace.steps[-1].seq
        recent = [mark for mark in story.nexts if mark.seq >= end - 60]
        waiting = [clip(mark.text, _ITEM) for mark in recent[-2:]]
    done = {item.subject for item in story.plan if item.status == "completed"}
    waiting += [step for step in before.next_steps if step not in done]
    return tuple(dict.fromkeys(waiting))


def _open_files(story: Story) -> list[str]:
    """Files read lately, then files edited lately: what was edited is the last to age out."""
    read = [path for path in story.touched[-_MAX_FILES:] if path not in story.edited]
    return [*read[-2:], *story.edited[-_MAX_FILES:]]


def _decisions(story: Story) -> list[str]:
    made = [(mark.seq, clip(mark.text, _ITEM + 40)) for mark in story.decisions[-12:] if mark.by_user]
    made += [(answer.seq, clip(f"{answer.question} → {answer.answer}", _ITEM + 40)) for answer in story.answers[-6:]]
    if len(made) < 3:
        made += [(mark.seq, clip(mark.text, _ITEM + 40)) for mark in story.decisions[-3:] if not mark.by_user]
    return [text for _, text in sorted(made, key=lambda pair: pair[0])]


def _blockers(story: Story) -> list[str]:
    end = story.trace.steps[-1].seq
    return [
        clip(f"{run.purpose.value} failing: {run.error or run.command}", _ITEM + 40)
        for run in story.failing
        if run.purpose.value != "other" and run.seq >= end - 80
    ]


def _newest(items: Iterable[str], limit: int) -> tuple[str, ...]:
    """The last `limit` distinct items; one that comes again counts as new."""
    found: dict[str, None] = {}
    for item in items:
        found.pop(item, None)
        if item:
            found[item] = None
    return tuple(found)[-limit:]
