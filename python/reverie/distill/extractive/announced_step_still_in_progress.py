"""The step that an agent announced last and is still doing; the calls made since tell whether it is over."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from reverie.distill import cues as cue_phrases
from reverie.distill.extractive import announced_intents, classify_sentences_by_working_state_cues
from reverie.distill.extractive.done_but_unticked_todo_items import have_checks_run, runs_checks
from reverie.distill.extractive.finished_orders import unfinished_part
from reverie.distill.sentences import clip, sentences, specific_names
from reverie.distill.steps import ToolCall, Utterance
from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.distill.facts import ThreadFacts

__all__ = ["CHECKS", "STILL_DOING", "announced_step", "edits_since", "is_published", "passed_check"]

STILL_DOING: Final = 60
"""Entries after which an announced step counts as done or given up, and an older plan as left for another task."""

CHECKS: Final = ("tests", "build", "lint")

_CHECK = "see that it works, and finish: "
# Characters of a step, about 50 tokens of a state's 500, set by hand: "update the docs (read the plan)" has 31, a
# purpose and a look of a long sentence each still fit.
_STEP_CHARS = 220
# Edits that belong to an announced step; after more of them without a word the agent may well be at the next step.
_EDITS_OF_A_STEP = 1
# Calls that belong to an announced look ("check how ships are counted"); after more the agent has gone on to others.
_CALLS_OF_A_LOOK = 2
_CALLS_OF_LOOKS = 8  # of a look at several things: "verify a few details"
_SEVERAL = lazy_regex(
    r"\b(?:all|both|each|every|few|files|more|other|places|remaining|rest|several|some)\b", re.IGNORECASE
)
_TELLING_STEP_WORDS = 8  # of a step that looks at something; a shorter one does not say what for
_TELLING_PURPOSE_WORDS = 5  # of what a look is for: "understand the pattern" says nothing
# Characters from which a purpose is left out: half of a step, which has the look behind it, as "read the plan" in
# "update the docs (read the plan)", and would lose its end behind a longer purpose.
_PURPOSE_CHARS = 110
# "Check the resolver to understand why images fail": what the look is for is still to be done when it is over.
_PURPOSE = lazy_regex(
    r"\b(?:(?:so (?:that )?(?:i|we) can|in order to|to) (?:properly |fully |better )?"
    r"(?P<to>(?:understand|determine|figure out|find out|work out|decide|explain|diagnose|debug|fix|implement|design"
    r"|plan|answer|write|address) .+)|(?P<why>\bwhy .+))$",
    re.IGNORECASE,
)
_POINTS_BACK = lazy_regex(r"\b(?:it|this|that|them|they|these|those)\b", re.IGNORECASE)
# "Look at that test to understand the issue": of what?
_VAGUE = lazy_regex(
    r"\b(?:it|these|this|those|that (?:\w+ )?(?:to|in|for|more)|that$|the (?:actual|full|key) \w+"
    r"|the (?:code(?:base)?|error|failure|files?|issue|problem))\b",
    re.IGNORECASE,
)
_ONE_COMMAND = lazy_regex(
    r"^(?:(?:also|first|now|just|then|quickly|try) )*(?:(?:re-?)?run(?:ning)?|(?:re-?)?execut(?:e|ing)|install(?:ing)?"
    r"|restart(?:ing)?|fetch(?:ing)?|download(?:ing)?|clon(?:e|ing)|lint(?:ing)?|kill(?:ing)?|auto-?fix(?:ing)?"
    r"|(?:auto-?)?format(?:ting)?|dispatch(?:ing)?|spawn(?:ing)?|launch(?:ing)?|invok(?:e|ing)|delegat(?:e|ing)|trigger(?:ing)?)\b",
    re.IGNORECASE,
)


def announced_step(facts: ThreadFacts, request: str, *, is_listed: bool) -> str:
    """Return what the agent last announced to do, if it may still be doing it, else the empty string.

    `request` is the beginning of the person's request, which says what a short look is for. `is_listed` is True if
    the to-do list names the step in hand.
    """
    last = next((step for step in reversed(facts.trace.steps) if isinstance(step, Utterance)), None)
    if last is None or last.role != "assistant" or last.seq < facts.trace.steps[-1].seq - STILL_DOING:
        return ""
    said = sentences(last.text)
    edits = edits_since(last.seq, facts)
    if (
        passed_check(last.seq, facts)
        or is_published(facts)
        or (edits > _EDITS_OF_A_STEP and not _answers_question(facts))
    ):
        return ""
    doing = announced_intents.stated_intent(said[-1]) if said else ""
    if not doing and last is not facts.trace.steps[-1]:
        # "Let me trace how it breaks. The key is the base commit.": what it is doing stands before what it thinks.
        doing = next((intent for one in said[-2:-4:-1] if (intent := announced_intents.stated_intent(one))), "")
    left = unfinished_part(doing, last.seq - 1, facts.done, facts.runs)
    if left == doing and facts.done.get("commit", 0) > last.seq:
        return ""  # it was committed
    doing = doing if announced_intents.is_only_pointer(left) else left  # "build and test it"
    if not doing or announced_intents.is_contentless(doing) or have_checks_run(doing, last.seq, facts.runs):
        return ""
    if announced_intents.is_inspection(doing):
        # It has seen what it looked for once something was edited.
        return "" if edits else clip(_look(doing, last, facts, request, is_listed=is_listed), _STEP_CHARS)
    ran = _answered_calls(last.seq, facts) - (1 if _is_under_way(facts) else 0)
    if ran > 0 and _ONE_COMMAND.match(doing) and not runs_checks(doing):
        return ""
    if announced_intents.is_only_pointer(doing):
        doing = f"{doing}: {_referred_to(said)}" if len(said) > 1 else f"{request} ({doing})" if request else doing
    return clip(f"{_CHECK}{doing}" if edits else doing, _STEP_CHARS)


def _answers_question(facts: ThreadFacts) -> bool:
    """Return True if the person's last message was a question: edits made since then do not show it to be answered."""
    return bool(facts.requests) and cue_phrases.is_question(facts.requests[-1].text)


def _look(doing: str, last: Utterance, facts: ThreadFacts, request: str, *, is_listed: bool) -> str:
    """Return `purpose (look)` during an announced look at something, and only the purpose once it is over.

    Example: "I need to update the docs. Let me read the plan." is "update the docs (read the plan)", and "update the
    docs" when the plan was read.
    """
    if runs_checks(doing) and is_listed:
        return doing
    looked = _answered_calls(last.seq, facts)
    most = _CALLS_OF_LOOKS if _SEVERAL.search(doing) else _CALLS_OF_A_LOOK
    said = sentences(last.text)
    purpose = next((intent for one in said[-4:-1] if (intent := announced_intents.stated_intent(one))), "")
    purpose = "" if purpose == doing or len(purpose) >= _PURPOSE_CHARS else purpose
    if looked > most or (looked and not _is_under_way(facts)):
        own = _PURPOSE.search(doing)
        lasts = "" if own is None else own["to"] or f"find out {own['why']}"
        if purpose and not announced_intents.is_inspection(purpose):
            return purpose
        if len(lasts.split()) >= _TELLING_PURPOSE_WORDS and not _POINTS_BACK.search(lasts):
            return lasts
        # "Check the map and the harbour, and how ships are counted" may go on.
        goes_on = _SEVERAL.search(doing) is not None or " and " in doing or not request
        return doing if goes_on and looked <= most and len(doing.split()) >= _TELLING_STEP_WORDS else ""
    if not purpose and (len(doing.split()) < _TELLING_STEP_WORDS or _is_vague(doing)):
        purpose = request  # what is looked at says little without what it is looked at for
    return f"{purpose} ({doing})" if purpose else doing


def _is_vague(doing: str) -> bool:
    return _VAGUE.search(doing) is not None and not specific_names(doing)


def _referred_to(said: Sequence[str]) -> str:
    """Return the sentence that says what a final "fix this" means, with the one before if it points back as well."""
    before = said[-2]
    if len(said) > 2 and _POINTS_BACK.match(before):  # "It is redundant."
        before = f"{said[-3]} {before}"
    return before


def _answered_calls(since: int, facts: ThreadFacts) -> int:
    """Return how many calls from entry `since` on have a result."""
    calls = (step for step in facts.trace.steps if isinstance(step, ToolCall) and step.seq >= since)
    return sum(call.answered for call in calls)


def _is_under_way(facts: ThreadFacts) -> bool:
    """Return True if the last step is a call without a result."""
    last = facts.trace.steps[-1]
    return isinstance(last, ToolCall) and not last.answered


def is_published(facts: ThreadFacts) -> bool:
    """Return True if the last step sent something out and that succeeded: an issue, replies to comments, a push.

    What was asked for is then done as far as the thread shows; the agent only has to say so.
    """
    last = facts.trace.steps[-1]
    if not isinstance(last, ToolCall) or not last.answered or last.failed:
        return False
    words = last.word("command") if last.tool == "Bash" else last.tool
    return classify_sentences_by_working_state_cues.publishes(words)


def passed_check(since: int, facts: ThreadFacts) -> str:
    """Return the check that passed after edits from entry `since` on, or the empty string."""
    run = max((run for run in facts.runs if run.seq > since), key=lambda run: run.seq, default=None)
    if run is None or run.failed or run.purpose.value not in CHECKS or not edits_since(since, facts):
        return ""
    return run.purpose.value


def edits_since(entry: int, facts: ThreadFacts) -> int:
    """Return how many edits succeeded from `entry` on, those of shell commands included."""
    calls = (step for step in facts.trace.steps if isinstance(step, ToolCall) and step.seq >= entry)
    return sum(call.edits and call.answered and not call.failed for call in calls)
