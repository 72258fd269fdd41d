"""Announcements of agents: "Now let me update the parser", "I'm checking the logs"."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from reverie.distill.sentences import sentences
from reverie.distill.steps import Utterance
from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reverie.distill.steps import Step

__all__ = ["is_contentless", "is_inspection", "is_only_pointer", "last_reply", "stated_intent"]

# A step that only refers back: "fix it up".
_POINTING = lazy_regex(r"\w+(?: \w+)? (?:this|that|it|these|those|them)(?: \w+)?", re.IGNORECASE)
# A look at nothing but what was said: "look at that more closely", not "verify that migrations apply"
_LOOKS_BACK = lazy_regex(
    r"(?:\w+ )?\w+(?: (?:at|into|on|through|out))? (?:this|that|it|these|those|them)"
    r"(?: (?:again|carefully|closely|closer|first|further|in (?:more )?detail|more|now|quickly|too))*",
    re.IGNORECASE,
)
# "Now let me update the parser" announces "update the parser".
_ABOUT_TO = lazy_regex(
    r"^(?:(?:ok(?:ay)?|great|good|perfect|excellent|now|next|first|then|so|but|wait)\b[!,.:]?[\s-]*)*"
    r"(?:let me|let['\u2019]s|i['\u2019]?ll|i will|i(?: still)? need to|i['\u2019]?m going to|i have to|i should"
    r"|need to)\s+(?P<what>.{8,})$",
    re.IGNORECASE,
)
# "I need to fix the path - let me rerun with the right one": the nearer of two steps
_NEARER = lazy_regex(r"(?:[,;:\u2013\u2014-]|\bso)\s+(?:let me|i['\u2019]?ll)\s+(?P<what>.{8,})$", re.IGNORECASE)
# "Now updating the parser" announces "updating the parser".
_NOW_DOING = lazy_regex(
    r"^(?:(?:ok(?:ay)?|great|good|perfect|excellent)\b[!,.:]?[\s-]*)*(?:now|next)\b[,:]?\s+"
    r"(?!(?:i|we|you|he|she|it|they|the|an?|this|that|these|those|there|all|both|every\w*|only|when|with|in|for|if"
    r"|tests?)"
    r"\b)(?P<what>[a-z]{3,} .{8,})$",
    re.IGNORECASE,
)
# "I'm checking the logs for the lost entry": not "I'm thinking", which is no step, nor "I'm keeping it", a choice.
_BUSY = lazy_regex(
    r"^(?:(?:ok(?:ay)?|great|good|now|next|first|so)\b[!,.:]?[\s-]*)*i['\u2019]?m (?:now |still |also |first )?"
    r"(?P<what>(?!(?:going|getting|seeing|thinking|assuming|hoping|wondering|expecting|guessing|leaning|treating|keeping"
    r"|leaving|using|noticing|missing|having|feeling|being|skipping|sticking|talking|referring|running (?:into|out))\b)"
    r"[a-z]+ing .{8,})$",
    re.IGNORECASE,
)
_IS_DOING = lazy_regex(r"\bi['\u2019]?m (?:now |still |also |first )?\w+ing\b", re.IGNORECASE)
# What stands behind "Let me", and says nothing by itself.
_CONTENTLESS = lazy_regex(
    r"(?:now |just |also )*(?:continue|proceed|carry on|keep going|go (?:on|ahead)|move on|get started|start|begin"
    r"|retry|try (?:it |this |that |them )?(?:again|once more)|do (?:it|this|that|so|both|them)"
    r"|(?:use|try|take) (?:an?|the) (?:different|another|simpler|better|other|alternative) (?:approach|route|way)"
    r"|(?:check|see|understand|find out|figure out|look at) what(?:['\u2019]s| is) (?:happening|going on|wrong|there)"
    r"(?: and (?:use|try|take) a different approach)?|take a (?:closer )?look|dig deeper|try something else"
    r"|(?:apply|change|edit|fix|implement|make|mend|update|write) (?:the |these |those )?"
    r"(?:bugs?|changes?|code|edits?|errors?|fix(?:es)?|implementation|issues?|problems?))(?: (?:now|then))?",
    re.IGNORECASE,
)
_INSPECTION = lazy_regex(
    r"^(?:also |first |now |quickly )*(?:check|look|read|see|find|search|verify|examine|explore|understand|inspect"
    r"|review|trace|confirm|investigate|view|list|get|think|try|start|wait|checking|looking|reading|finding|searching"
    r"|verifying|examining|exploring|inspecting|reviewing|tracing|confirming|investigating|viewing|listing|waiting)\b",
    re.IGNORECASE,
)


def stated_intent(sentence: str) -> str:
    """Return what an agent announces to do next, or the empty string."""
    match = _ABOUT_TO.match(sentence) or _NOW_DOING.match(sentence) or _BUSY.match(sentence)
    if match is None:
        return ""
    nearer = _NEARER.search(match["what"])
    return (nearer or match)["what"].rstrip(" :.…")


def _is_about_now(sentence: str) -> bool:
    """Return True if an agent says what it does now or next, as in "I'm checking the logs."."""
    return bool(stated_intent(sentence)) or _IS_DOING.search(sentence) is not None


def is_contentless(doing: str) -> bool:
    """Return True if an announced step says nothing by itself, as in "try again" or "look at that more closely"."""
    return _CONTENTLESS.fullmatch(doing) is not None or (
        is_inspection(doing) and _LOOKS_BACK.fullmatch(doing) is not None
    )


def is_only_pointer(doing: str) -> bool:
    """True if an intent names nothing by itself, as in "fix this"."""
    return _POINTING.fullmatch(doing) is not None


def is_inspection(doing: str) -> bool:
    """Return True if an announced step only looks at something; the purpose of it is in an earlier sentence."""
    return _INSPECTION.match(doing) is not None


def last_reply(steps: Iterable[Step], before: tuple[int, int]) -> tuple[int, int]:
    """Return two entries: the agent's last message that ended a turn, and its last message if no step follows (else 0).

    `before` is the result for the steps before. A turn has ended between words of two messages, unless the
    first say what comes now: what the person did in between is no text (a command, a picture).
    """
    replied, words = before
    for step in steps:
        if not isinstance(step, Utterance) or step.role != "assistant":
            words = 0
            continue
        replied = words if words not in {0, step.seq} else replied
        words = 0 if any(map(_is_about_now, sentences(step.text)[-1:])) else step.seq
    return replied, words
