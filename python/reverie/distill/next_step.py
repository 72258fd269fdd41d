"""The task that a thread is about, and its next steps, in the words of whoever set them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from reverie.distill import cues
from reverie.distill.facts import CHECKS, asking
from reverie.distill.questions import open_question
from reverie.distill.sentences import clip, sentences, words_of
from reverie.distill.todo import OPEN
from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.distill.facts import Facts
    from reverie.distill.state_text import StateItem
    from reverie.distill.steps import Utterance
    from reverie.distill.todo import TodoItem

ITEM_CHARS = 110  # of one item
TASK_CHARS = 320  # of the current task
REMARK_CHARS = 110  # of it, for what was said last
THEN = " → "
"""Separates the task from the person's latest remark: "Add a cache → use Redis"."""

ASKS = "waiting for an answer: "
_ORDERED = "do what the user asked: "
_AGREED = "do what was agreed: "
_ANSWER = "answer the user: "
_GO_ON = "go on: "
OF_NOW = (ASKS, _ORDERED, _AGREED, _ANSWER, _GO_ON)
"""How next steps begin that are computed anew after each message."""

_LABEL = lazy_regex(r"^(?:next(?: steps?)?|remaining|to-?do): *", re.IGNORECASE)  # the list has one of its own

_TASK_WORDS = 8  # of a message that sets a task; a shorter one steers the one in hand: "and the tests, too" (4)
_WHOLE_TASK_WORDS = 12  # of one that is told without the task before it; "can you do it again, I broke it" (8) is not
_CLEAR_WORDS = 4  # of a message that can be told without the request before it; "fix it up" cannot
_STILL_DOING = 80  # entries after which work that does not touch the to-do list is no longer about it
_ANNOUNCED_CALLS = 6  # after which an announced step is made, and no longer the next one


def is_task(said: Utterance) -> bool:
    """Return True for a message that opens work: a slash command, or enough words that answer and steer nothing."""
    if said.via in {"objection", "refusal", "talk", "aside"} or cues.ANSWERS.match(said.text):
        return False
    return said.text.startswith("/") or words_of(said.text) >= _TASK_WORDS


def opening(asked: Sequence[Utterance]) -> list[Utterance]:
    """Return the messages that open work; without one the first that does not steer what the agent was doing."""
    return [said for said in asked if is_task(said)] or [said for said in asked if said.via in {"", "talk"}][:1]


def current_request(facts: Facts) -> tuple[str, int]:
    """Return the task in the person's words, a later remark behind it, and the entry of the last of both.

    Without a message of the person it is what another agent ordered last, named as its order.
    """
    asked = asking(facts.requests)
    if not asked:
        return _ordered(facts) if facts.orders else ("", 0)
    before = (
        asked[:-1] if words_of(asked[-1].text) < _WHOLE_TASK_WORDS and not asked[-1].text.startswith("/") else asked
    )
    opener = (opening(before) or asked)[-1]
    if opener is asked[-1]:
        return leading(opener.text, TASK_CHARS), opener.seq
    last = _told(asked[-1], REMARK_CHARS)
    return f"{leading(opener.text, TASK_CHARS - len(last))}{THEN}{last}", asked[-1].seq


def _ordered(facts: Facts) -> tuple[str, int]:
    order = facts.orders[-1]
    return f"({order.name or 'another agent'} asked) {leading(order.text, TASK_CHARS - ITEM_CHARS)}", order.seq


def current_plan(facts: Facts) -> list[TodoItem]:
    """Return the to-do list; without open items where the work has long gone on with another task.

    A list is often behind the work, so a message of the person does not end it at once: it may be about an item.
    """
    opened = next((said.seq for said in reversed(facts.requests) if is_task(said)), 0)
    items = facts.todo
    is_current = facts.end - opened < _STILL_DOING or any(item.seq >= opened for item in items)
    return [item for item in items if is_current or item.status not in OPEN]


def _is_newer(asked: Utterance, facts: Facts) -> bool:
    """Return True for a message that is in hand before the to-do list, which did not change since.

    A short one in the middle of an item steers it, and the item stays in hand.
    """
    items = facts.todo
    is_begun = any(item.status == "in_progress" for item in items)
    return all(item.seq < asked.seq for item in items) and (is_task(asked) or not is_begun)


def steps_ahead(facts: Facts) -> list[StateItem]:
    """Return the next steps, nearest first; empty if the agent reported the end of its work.

    In this order: the agent's question that waits, the person's message that nobody answered, the to-do list, a check
    that fails, the step that the agent announced, the request. The last three are only told of work in progress.
    """
    planned = [
        (item.label(ITEM_CHARS), item.seq) for status in OPEN for item in current_plan(facts) if item.status == status
    ]
    words = facts.words
    if words is None:
        return planned
    if facts.is_speech and words.role == "assistant":
        question = open_question(words.text)
        if question:
            return [(f"{ASKS}{clip(question, 2 * ITEM_CHARS)}", words.seq), *planned]
        left = [mark for mark in facts.said if mark.kind == "next" and mark.seq == words.seq]
        return planned or [(clip(_LABEL.sub("", mark.text), 2 * ITEM_CHARS), mark.seq) for mark in left[-2:]]
    if facts.is_speech and (order := _unanswered(words)):
        return [(order, words.seq), *planned]
    asked = asking(facts.requests)[-1:]
    if planned and not (asked and _is_newer(asked[0], facts)):
        return planned
    return [*_in_hand(facts), *planned]


def _unanswered(said: Utterance) -> str:
    """Return the step that the person's last message asks for; empty if it only lets the agent go on."""
    if said.choice:
        return f"{_ORDERED}{said.choice}"
    if said.proposal and not cues.NAVIGATES.search(said.proposal):
        return f"{_AGREED}{clip(said.proposal, 2 * ITEM_CHARS)}"
    if said.via == "answer":
        return f"{_GO_ON}{clip(said.text, 2 * ITEM_CHARS)}"
    if not asking([said]):
        return ""
    return f"{_ANSWER if cues.is_question(said.text) else _ORDERED}{leading(said.text, 2 * ITEM_CHARS)}"


def _in_hand(facts: Facts) -> list[StateItem]:
    """Return the next step in the middle of a turn."""
    asked = asking(facts.requests)
    since = asked[-1].seq if asked else 0
    failing = [run for run in facts.failing if run.purpose in CHECKS and run.seq > since]
    if failing:
        run = failing[-1]
        return [(clip(f"{_GO_ON}make the {run.purpose.value} pass again ({run.error})", 2 * ITEM_CHARS), run.seq)]
    announced = ""
    if facts.reply_seq > since and facts.calls <= _ANNOUNCED_CALLS:
        announced = next(filter(None, map(cues.announced, reversed(sentences(facts.reply)[-2:]))), "")
    announced = announced if words_of(announced) > 1 else ""
    if not asked or (not announced and _is_done(asked[-1], facts)):
        return []
    steers = asked[-1].via in {"refusal", "objection"} or words_of(asked[-1].text) < _CLEAR_WORDS
    text = clip(current_request(facts)[0] if steers else _told(asked[-1], ITEM_CHARS), 2 * ITEM_CHARS)
    at = f" (at: {clip(announced, ITEM_CHARS)})" if announced else ""
    return [(f"{_GO_ON}{text}{at}", max(since, facts.reply_seq if at else 0))]


def _is_done(asked: Utterance, facts: Facts) -> bool:
    """Return True where a request looks done: answered, committed, or changed and checked; a steer by its first call.

    Whether something is left of it is not known then, and a step that is done again costs more than one untold.
    """
    if asked.via in {"refusal", "objection"} and words_of(asked.text) < _WHOLE_TASK_WORDS:
        return facts.looked > 0
    is_answered = cues.is_question(asked.text) and facts.reply_seq > asked.seq
    is_checked = facts.acted and facts.checked_at > asked.seq
    return is_answered or is_checked or any(commit.seq > asked.seq for commit in facts.commits[-1:])


def _told(said: Utterance, length: int) -> str:
    """Return a message in its own words; a choice by number in those of the option."""
    return f"{clip(said.text, 30)} ({clip(said.choice, length - 32)})" if said.choice else leading(said.text, length)


def leading(text: str, length: int) -> str:
    """Return the beginning of a request: as many whole sentences as fit in `length`, at least one."""
    parts = sentences(text) or [text]
    kept = parts[0]
    for sentence in parts[1:]:
        if len(kept) + len(sentence) + 1 > length:
            break
        kept = f"{kept} {sentence}"
    return clip(kept, max(length, 40))
