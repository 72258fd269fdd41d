"""Tests of a person's message: it opens a task, continues the one in hand, or is a wish for good."""

from __future__ import annotations

import re

from reverie.distill.cues import (
    is_acknowledgement,
    is_approval,
    is_brief,
    is_question,
    is_uninformative,
)
from reverie.lazy_regex import lazy_regex

__all__ = ["is_follow_up", "is_for_good", "opens_task"]

# "And also the docs", "Das war falsch": continues the current task.
_FOLLOW_UP = lazy_regex(
    r"^(?:no|nope|wait|hmm+|actually|don'?t|do not|stop|why did|and|also|but"
    r"|(?:that|this|it)(?:'s| is| was) (?:wrong|incorrect|not (?:right|correct|what|how))"
    r"|nein|nee|stopp|warte|falsch|und|aber|außerdem|warum hast du|so nicht"
    r"|das (?:war|ist) (?:falsch|verkehrt|nicht (?:richtig|korrekt|das|was))"
    r"|non|attends|arrête|mais|pourquoi as-tu|c'(?:est|était) (?:faux|pas)|ce n'est pas"
    r"|espera|pero|por qué has|eso (?:está|es|estuvo) (?:mal|incorrecto))\b",
    re.IGNORECASE,
)
# "Never push to main": holds beyond the task, and asks for nothing now.
_FOR_GOOD = lazy_regex(
    r"^(?:(?:please|and|also|oh|ok(?:ay)?|yes)\b,? *)*(?:always|never(?! mind)|from now on|going forward"
    r"|in (?:the )?future|as a rule|every time|remember that|(?:i|we) (?:always|never|usually|prefer))\b"
    r"|^(?:i|we) (?:hate|dislike|don'?t like) [^,;]+$",
    re.IGNORECASE,
)
# "Ok, let's keep the old one.": chooses within the task and asks for nothing else.
_CHOICE = lazy_regex(
    r"^(?:ok(?:ay)?,? |so,? |and )*let'?s (?:go with|use|keep|stick|not|skip|drop|stay)\b"
    r"(?:(?!\b(?:and|then)\b)[^.!?\n])*[.!]?$",
    re.IGNORECASE,
)
# A question that asks for work: "Can you fix the parser?"
_ASKED_FOR = lazy_regex(
    r"^(?:ok(?:ay)?,? |so,? |now,? |and )*(?:can|could|would|will|please|let'?s|kannst du|könntest du|bitte"
    r"|puedes|podrías|peux-tu|pourrais-tu|tu peux)\b",
    re.IGNORECASE,
)
# "Yes, I think so": agrees, and asks for nothing.
_AGREEMENT = lazy_regex(
    r"^(?:yes|yep|yeah|yup|ok(?:ay)?|sure|right|agreed|exactly|true)\b[\s,.!]*"
    r"(?:it|that|this|there|those|they|i (?:think|agree|guess|see)|you|we)\b",
    re.IGNORECASE,
)


def is_for_good(sentence: str) -> bool:
    """Return True if a sentence is a wish that holds beyond the task, as in "Never push to main"."""
    return not is_question(sentence) and _FOR_GOOD.match(sentence) is not None


def is_follow_up(text: str) -> bool:
    """Return True if a message corrects or adds to the task in hand, as in "No, don't rename it", "and the docs"."""
    return _FOLLOW_UP.match(text) is not None


def opens_task(text: str) -> bool:
    """True if a person's message asks for new work, rather than continues the current task.

    A yes, a correction, an addition, a plain question, a choice between ways of doing it (let's use the other),
    housekeeping (commit, push, run the linter) and a few words that only point back (fix it up) or name nothing do not.
    """
    if is_approval(text) or is_acknowledgement(text) or is_uninformative(text) or is_brief(text):
        return False
    if is_follow_up(text) or _CHOICE.match(text.strip()) or _AGREEMENT.match(text):
        return False
    return not is_question(text) or _ASKED_FOR.match(text) is not None
