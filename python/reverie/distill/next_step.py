"""The next steps of a thread: orders, announcements, plan and open questions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from reverie.distill import cues as cue_phrases
from reverie.distill.extractive import announced_intents, classify_sentences_by_working_state_cues
from reverie.distill.extractive.announced_step_still_in_progress import (
    CHECKS,
    STILL_DOING,
    announced_step,
    edits_since,
    is_published,
    passed_check,
)
from reverie.distill.extractive.current_request_and_agreed_proposals import (
    ITEM_CHARS,
    REMARK_CHARS,
    THEN,
    agreement,
    latest_remark,
    leading_sentences,
    leans,
    opens_task,
    said_in_passing,
    task_opened,
    telling_request,
    words_of_request,
)
from reverie.distill.extractive.done_but_unticked_todo_items import has_passed, is_overtaken, runs_checks
from reverie.distill.extractive.finished_orders import unfinished_part
from reverie.distill.facts import substantial_requests
from reverie.distill.questions import open_questions
from reverie.distill.sentences import clip, first_sentence, sentences, words_of
from reverie.distill.steps import ToolCall, Utterance
from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.distill.answers import AnsweredQuestion
    from reverie.distill.facts import ThreadFacts
    from reverie.distill.state_text import StateItem
    from reverie.distill.todo import TodoItem

__all__ = ["ASKS", "CHECKS", "OF_NOW", "current_plan", "last_question", "steps_ahead"]


ASKS = "waiting for an answer: "
_ORDERED = "do what the user asked: "
_AGREED = "do what was agreed: "
_ANSWER = "answer the user: "
_GO_ON = "go on: "
_REPORT = "finish, and report that the plan is done"
_FINISH = "finish what was asked"
OF_NOW = (_ORDERED, _AGREED, _ANSWER, _GO_ON)
"""How next steps begin that are computed anew after each message."""

_THOUGHT_SENTENCES = 3  # of an agent's message between two calls, where the thread ends; a report has more
_OF_TESTS = lazy_regex(r"\b(?:tests?|specs?|pruebas?|テスト|测试)\b|Tests?\b", re.IGNORECASE)
_FEW_WORDS = 4  # of an order, which needs the request before it to be understood
# Entries after which a request is not told any more that nobody came back to, as for other items of the state.
_REQUEST_LASTS = 300
_TELLING_WORDS = 5  # of an answer; a shorter one says nothing without its question


def steps_ahead(facts: ThreadFacts) -> list[StateItem]:
    """Return the next steps, nearest first; empty if the agent reported that it has finished.

    In this order: what the person asked last and nobody answered, the announced step, the plan, the agent's own
    question. In the middle of a turn without any of these, the request is still being worked on.
    """
    if not facts.trace.steps:
        return []
    last = facts.trace.steps[-1]
    order = _order(facts)
    if order:
        return [(order, last.seq), *_planned(facts)]
    ahead = _with_failing_check(_planned(facts), facts)
    doing = announced_step(facts, _what_for(facts), is_listed=_is_listed(facts))
    is_newer = _is_newer_than_plan(facts)
    if doing and (not _is_listed(facts) or (runs_checks(doing) and not is_newer)):
        ahead.insert(0, (f"{_GO_ON}{doing}", last.seq))
    elif not isinstance(last, Utterance) and is_newer:
        ahead = [*_unfinished(facts), *ahead]
    question = last_question(facts)
    if question:
        ahead.append((f"{ASKS}{clip(question, 2 * ITEM_CHARS)}", last.seq))
    if ahead:
        return ahead
    if isinstance(last, Utterance) and not _goes_on(last):
        last_steps = [mark for mark in facts.nexts if mark.seq == last.seq]
        if last_steps or len(sentences(last.text)) > _THOUGHT_SENTENCES or last.role == "user":
            return [
                (clip(classify_sentences_by_working_state_cues.without_label(mark.text), ITEM_CHARS), mark.seq)
                for mark in last_steps[-2:]
            ]
        failing = _failing_check(facts, facts.requests[-1].seq if facts.requests else 0)
        return [] if failing is None else [failing]
    return _unfinished(facts)


def _with_failing_check(planned: list[StateItem], facts: ThreadFacts) -> list[StateItem]:
    """Return planned steps with a check that failed since the first began: before it, or behind it if it is of tests.

    A list is often behind the work: what is in progress is written, and its tests fail. New tests are to fail at first.
    """
    begun = [item for item in current_plan(facts) if item.status == "in_progress"]
    failing = _failing_check(facts, max((item.seq for item in begun), default=0), ("tests", "build"))
    if not begun or failing is None:
        return planned
    index = 1 if _OF_TESTS.search(begun[0].subject) else 0
    return [*planned[:index], failing, *planned[index:]]


def _failing_check(facts: ThreadFacts, since: int, checks: Sequence[str] = CHECKS) -> StateItem | None:
    """Return the step to mend the check that failed last after entry `since` and did not pass again, or None."""
    failing = [run for run in facts.failing if run.purpose.value in checks and run.seq > since]
    if not failing:
        return None
    name = failing[-1].purpose.value
    return clip(f"{_GO_ON}make the {name} pass again ({failing[-1].error})", 2 * ITEM_CHARS), failing[-1].seq


def _is_newer_than_plan(facts: ThreadFacts) -> bool:
    """Return True if the person asked for something after the to-do list last changed: a new task, or between items.

    Example: "Commit this first, then go on" between two items of the list.
    """
    plan = [item for item in current_plan(facts) if item.status != "completed"]
    asked = [said for said in substantial_requests(facts.requests) if not leans(said)]
    if not plan or not asked or _is_resumed(facts) or asked[-1].seq <= max(item.seq for item in facts.plan):
        return False
    in_progress = any(item.status == "in_progress" for item in plan)
    said = asked[-1].text
    return not in_progress or (
        classify_sentences_by_working_state_cues.is_new_task(said)
        and classify_sentences_by_working_state_cues.asks_in_words(said)
    )


def _goes_on(last: Utterance) -> bool:
    """Return True if an agent's message ends with an announcement that names nothing: "Good. Let me continue."."""
    intents = map(announced_intents.stated_intent, sentences(last.text)[-1:])
    return any(map(announced_intents.is_contentless, intents))


def _is_listed(facts: ThreadFacts) -> bool:
    """Return True if an item in progress is in the current to-do list, or was begun after the last message."""
    words = max((step.seq for step in facts.trace.steps if isinstance(step, Utterance)), default=0)
    plan = current_plan(facts)
    return any(item.status == "in_progress" and (item in plan or item.seq > words) for item in facts.plan)


def last_question(facts: ThreadFacts) -> str:
    """Return the question that ends the agent's last message if the person has not answered it."""
    last = facts.trace.steps[-1] if facts.trace.steps else None
    if not isinstance(last, Utterance) or last.role != "assistant":
        return ""
    return open_questions(last.text)


def current_plan(facts: ThreadFacts) -> list[TodoItem]:
    """Return the to-do list; without unfinished items if it is older than the task and was not updated since.

    Also without a last item that was never ticked off, where the agent has answered the person's next request since,
    and without items that the work has overtaken.
    """
    opened = task_opened(facts)
    end = facts.trace.steps[-1].seq if facts.trace.steps else 0
    is_of_task = end - opened < STILL_DOING or any(item.seq >= opened for item in facts.plan)
    if (is_of_task or _is_resumed(facts)) and not _is_left_open(facts):
        return [
            item
            for index, item in enumerate(facts.plan)
            if not has_passed(item, facts.runs) and not is_overtaken(index, facts.plan)
        ]
    return [item for item in facts.plan if item.status == "completed"]


def _is_resumed(facts: ThreadFacts) -> bool:
    """Return True if the person came back to the list after a task in between: "ok, let's keep going"."""
    return bool(facts.requests) and classify_sentences_by_working_state_cues.is_go_ahead(facts.requests[-1].text)


def _is_left_open(facts: ThreadFacts) -> bool:
    """Return True if all unfinished items were begun before the person's last request and the agent has answered it."""
    unfinished = [item for item in facts.plan if item.status != "completed"]
    last = facts.trace.steps[-1] if facts.trace.steps else None
    said = facts.requests[-1].seq if facts.requests else 0
    return (
        isinstance(last, Utterance)
        and last.role == "assistant"
        and not open_questions(last.text)
        and all(item.status == "in_progress" and item.seq < said for item in unfinished)
    )


def _order(facts: ThreadFacts) -> str:
    """Return the step that the person's last message asks for; "" if it asks for none or something followed it."""
    said = facts.requests[-1] if facts.requests else None
    if said is None or said.seq != facts.trace.steps[-1].seq:
        return ""
    agreed = said.answers or agreement(said.seq, facts)
    if agreed:
        return "" if cue_phrases.is_correction(said.text) else f"{_AGREED}{clip(agreed, 2 * ITEM_CHARS)}"
    if classify_sentences_by_working_state_cues.asks_for_nothing(
        said.text
    ) or classify_sentences_by_working_state_cues.is_mere_remark(said.text):
        return ""
    asked = words_of_request(said, 2 * ITEM_CHARS)
    is_short = words_of(said.text) <= _FEW_WORDS and not said.choice and not cue_phrases.is_housekeeping(said.text)
    if is_short or leans(said) or (_refuses(said, facts) and len(asked) < ITEM_CHARS):
        # "main is in another worktree", in refusing a call, says nothing without what was being done; nor does "drop
        # the first two" say of what.
        others = [one for one in facts.requests if first_sentence(one.text) != first_sentence(said.text)]
        task = telling_request(others)
        asked = f"{words_of_request(task, ITEM_CHARS)}{THEN}{asked}" if task is not None else asked
    return f"{_ANSWER if cue_phrases.is_question(asked) else _ORDERED}{asked}"


def _refuses(said: Utterance, facts: ThreadFacts) -> bool:
    """Return True if a person's words came with the refusal of a call."""
    last = next((step for step in reversed(facts.trace.steps) if isinstance(step, ToolCall)), None)
    return last is not None and last.failed and last.result_seq == said.seq


def _planned(facts: ThreadFacts) -> list[StateItem]:
    """Return the to-do items in progress, then the pending ones unless a later request has outdated the list."""
    plan = current_plan(facts)
    return [
        (item.label(ITEM_CHARS), item.seq)
        for status in (("in_progress",) if _is_outdated(facts) else ("in_progress", "pending"))
        for item in plan
        if item.status == status
    ]


def _is_outdated(facts: ThreadFacts) -> bool:
    """Return True if the to-do list has not changed for long, and the person asked for something in that time.

    "No, all of it in one commit, please": what was to be done afterwards may be done by now, or be dropped.
    """
    asked = [
        said.seq
        for said in substantial_requests(facts.requests)
        if opens_task(said) or (cue_phrases.is_correction(said.text) and not leans(said))
    ]
    changed = max((item.seq for item in facts.plan), default=0)
    is_newer = bool(asked) and asked[-1] > changed and not _is_resumed(facts)
    return is_newer and facts.trace.steps[-1].seq - changed > STILL_DOING


def _unfinished(facts: ThreadFacts) -> list[StateItem]:
    """Return the next step in the middle of a turn: to mend a failing check, else to finish the request."""
    asked = substantial_requests(facts.requests)
    since = facts.requests[-1].seq if facts.requests else 0
    failing = _failing_check(facts, since)
    if failing is not None:
        return [failing]
    end = facts.trace.steps[-1].seq
    answered = facts.answers[-1].seq if facts.answers else 0
    if answered > max(asked[-1].seq if asked else 0, end - STILL_DOING):
        return [_after_answer(facts.answers[-1])]
    if not asked or facts.pending.turn[0] > since or end - max(since, answered) > _REQUEST_LASTS:
        return []
    task = telling_request(facts.requests)
    asked_at = since if task is None else task.seq
    if facts.plan and max(item.seq for item in facts.plan) > asked_at and _is_done(facts):
        return [(f"{_GO_ON}{_REPORT} ({len(facts.plan)} of {len(facts.plan)} steps)", facts.plan[-1].seq)]
    left = unfinished_part(asked[-1].text, asked[-1].seq, facts.done, facts.runs)
    if left and left != asked[-1].text:
        return [(f"{_GO_ON}{leading_sentences(left, REMARK_CHARS)}", asked[-1].seq)]
    if not left or is_published(facts):
        return []
    finish = _finish(facts, since)
    remark = latest_remark(asked[-1], facts)
    if task is not None and task is not asked[-1] and remark == words_of_request(asked[-1], REMARK_CHARS):
        # "Do it again" says nothing alone; what was said in passing is over after a while, and the task is not.
        is_open = bool(unfinished_part(task.text, task.seq, facts.done, facts.runs))
        telling = [words_of_request(task, ITEM_CHARS)] if is_open else []
        is_over = said_in_passing(asked[-1]) and end - asked[-1].seq > STILL_DOING
        remark = THEN.join(telling or [remark] if is_over else [*telling, remark])
    return [(f"{_GO_ON}{finish}{remark}", asked[-1].seq)]


def _finish(facts: ThreadFacts, since: int) -> str:
    """Return how a next step begins, "finish what was asked (tests passed, committed): ", or an empty text.

    In brackets is what was done since the last message. There are none if there were only edits, and the text is empty
    if there were no edits either.
    """
    words = max((step.seq for step in facts.trace.steps if isinstance(step, Utterance)), default=since)
    done = ["tests passed"] if passed_check(words, facts) == "tests" else []
    done += [
        name for name, action in (("committed", "commit"), ("pushed", "push")) if facts.done.get(action, 0) > words
    ]
    if done:
        return f"{_FINISH} ({', '.join(done)}): "
    return f"{_FINISH}: " if edits_since(words, facts) else ""


def _is_done(facts: ThreadFacts) -> bool:
    """Return True if every item of the to-do list is completed, or a check that passed since it was begun."""
    return all(item.status == "completed" or has_passed(item, facts.runs) for item in facts.plan)


def _what_for(facts: ThreadFacts) -> str:
    """Return the beginning of the person's request, as the purpose of an announced look; empty if it is done."""
    asked = telling_request(facts.requests)
    if asked is None or not unfinished_part(asked.text, asked.seq, facts.done, facts.runs):
        return ""
    return words_of_request(asked, ITEM_CHARS - 1)


def _after_answer(answer: AnsweredQuestion) -> StateItem:
    """Return the step after the person answered a question: what they chose, or to answer a question of their own."""
    said = leading_sentences(answer.answer, 2 * ITEM_CHARS)
    if cue_phrases.is_question(sentences(answer.answer)[-1] if sentences(answer.answer) else ""):
        return f"{_ANSWER}{said}", answer.seq
    asked = f"{clip(answer.question, ITEM_CHARS)} → " if len(said.split()) < _TELLING_WORDS else ""
    return f"{_GO_ON}{asked}{said}", answer.seq
