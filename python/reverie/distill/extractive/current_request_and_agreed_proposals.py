"""The person's request that a thread is about: the task, the latest remark, and what a short answer agrees to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie.distill import cues as cue_phrases
from reverie.distill.extractive import classify_sentences_by_working_state_cues
from reverie.distill.extractive.finished_orders import unfinished_part
from reverie.distill.facts import substantial_requests
from reverie.distill.sentences import clip, sentences, words_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reverie.distill.facts import ThreadFacts
    from reverie.distill.steps import Utterance

__all__ = [
    "ITEM_CHARS",
    "REMARK_CHARS",
    "TASK_CHARS",
    "THEN",
    "agreement",
    "current_request",
    "latest_remark",
    "leading_sentences",
    "leans",
    "opens_task",
    "said_in_passing",
    "task_opened",
    "telling_request",
    "words_of_request",
]

ITEM_CHARS = 110  # of one item
TASK_CHARS = 320  # of the current task
REMARK_CHARS = 210  # of it, for what was said last
THEN = " → "
"""Separates the task from the person's latest remark: "Add a cache → use Redis"."""

# Between a person's yes and what it agrees to, as `thread_facts` writes it.
_TO = "” to: "
_SHORT_REMARK = 10  # words of a statement, which needs the request before it


def current_request(facts: ThreadFacts) -> str:
    """Return what the person last asked for, followed by a later remark, correction or question."""
    asked = substantial_requests(facts.requests)
    tasks = [said for said in asked if not classify_sentences_by_working_state_cues.is_only_for_good(said.text)]
    if not tasks:
        return leading_sentences(facts.answers[-1].answer, TASK_CHARS) if facts.answers else ""
    opener = next((said for said in reversed(tasks) if opens_task(said)), tasks[0])
    if _is_over(opener, facts):
        if not leans(asked[-1]):
            return words_of_request(asked[-1], TASK_CHARS)
        opener = next((said for said in reversed(tasks) if opens_task(said) and not _is_over(said, facts)), tasks[0])
    if opener is asked[-1]:
        return words_of_request(opener, TASK_CHARS)
    last = latest_remark(asked[-1], facts)
    return f"{leading_sentences(opener.text, TASK_CHARS - len(last))}{THEN}{last}"


def opens_task(said: Utterance) -> bool:
    """Return True for a message that opens a task, and not one that steers the task in hand."""
    return classify_sentences_by_working_state_cues.is_new_task(said.text) and not leans(said)


def _is_over(said: Utterance, facts: ThreadFacts) -> bool:
    """Return True for an order that later calls carried out, unless it is the last message."""
    return said is not facts.requests[-1] and not unfinished_part(said.text, said.seq, facts.done, facts.runs)


def telling_request(requests: Iterable[Utterance]) -> Utterance | None:
    """Return the person's last request that can be understood alone, else their last; None without a request.

    "Commit the changes" does, "do it again" does not, nor what was said aside while the agent was at work.
    """
    asked = substantial_requests(requests)
    telling = (
        said
        for said in reversed(asked)
        if cue_phrases.is_housekeeping(said.text) or not (cue_phrases.is_uninformative(said.text) or leans(said))
    )
    return next(telling, asked[-1] if asked else None)


def leans(said: Utterance) -> bool:
    """Return True for a message that needs the request before it to be clear: a short statement, or one in passing."""
    if said_in_passing(said) or classify_sentences_by_working_state_cues.is_go_ahead(said.text):
        return True
    is_order = bool(said.choice) or said.text.startswith("/") or cue_phrases.is_housekeeping(said.text)
    is_order = is_order or cue_phrases.is_correction(said.text)
    is_short = words_of(said.text) <= _SHORT_REMARK and not is_order
    asks = (
        classify_sentences_by_working_state_cues.asks_in_words
        if said.aside
        else classify_sentences_by_working_state_cues.asks_for_work
    )
    return is_short and not asks(said.text)


def said_in_passing(said: Utterance) -> bool:
    """Return True for short words that steer the work in hand: in refusing a call, or a question meanwhile."""
    is_short = words_of(said.text) <= 2 * _SHORT_REMARK
    return is_short and (said.refusal or (said.aside and cue_phrases.is_question(said.text)))


def latest_remark(said: Utterance, facts: ThreadFacts) -> str:
    """Return the beginning of a person's message; of a short agreement ("do both please") also what it agrees to."""
    agreed = agreement(said.seq, facts)
    if agreed and len(said.text) < ITEM_CHARS:
        return f"{leading_sentences(said.text, ITEM_CHARS)} (agreed: {clip(agreed, REMARK_CHARS - ITEM_CHARS)})"
    return words_of_request(said, REMARK_CHARS)


def words_of_request(said: Utterance, length: int) -> str:
    """Return the beginning of a person's message, and in brackets the words of the option that it chooses by number.

    Example: "let's go with option 2 (option: a queue in the store)".
    """
    if not said.choice:
        return leading_sentences(said.text, length)
    return f"{leading_sentences(said.text, length - len(said.choice))} (option: {said.choice})"


def leading_sentences(text: str, length: int) -> str:
    """Return the beginning of a request: as many whole sentences as fit in `length`, at least one."""
    parts = sentences(text) or [text]
    kept = parts[0]
    for sentence in parts[1:]:
        if len(kept) + len(sentence) + 1 > length:
            break
        kept = f"{kept} {sentence}"
    return clip(kept, max(length, 40))


def agreement(seq: int, facts: ThreadFacts) -> str:
    """Return the proposal that the person's message at `seq` accepts, or the empty string."""
    texts = (mark.text for mark in reversed(facts.decisions) if mark.seq == seq and mark.by_user)
    return next((text.partition(_TO)[2] for text in texts if text.startswith("“")), "")


def task_opened(facts: ThreadFacts) -> int:
    """Return the entry number of the last message in which the person gave a new task, or 0."""
    return next(
        (
            said.seq
            for said in reversed(facts.requests)
            if classify_sentences_by_working_state_cues.is_new_task(said.text)
        ),
        0,
    )
