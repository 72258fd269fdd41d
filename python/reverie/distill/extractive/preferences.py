"""Standing preferences: what a person wants always, never or rather, phrased in the third person."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reverie.distill.extractive import cue_phrases
from reverie.distill.extractive.prose import clip, one_line, sentences

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from reverie.distill.extractive.trace import Utterance

__all__ = ["StandingPreference", "preference_sentence", "standing_preferences"]

_LONGEST = 240
"""Characters of a sentence; nobody states a rule in more."""
# Characters of the stored sentence.
_SHOWN = 180
_PASTED = 40  # sentences; more are a document, not the person talking
_SAME = 0.6  # share of the words from which two wishes are one

# Openings without content: "And by the way, always sign commits" gives "always sign commits".
_OPENING = re.compile(
    r"^(?:(?:and|but|so|also|oh|hey|ok(?:ay)?|yes|yep|no|nope|nah|hmm+|wait|actually|btw|by the way|one more thing"
    r"|for the record|fyi|(?:please )?(?:note|remember(?! to\b))(?: that)?|important|reminder|again)\b"
    r"[\s,.:;!\u2013\u2014-]*)+",
    re.IGNORECASE,
)
# Where a wish begins inside a sentence: "Looks good, but never push to main" is split before "never".
_CLAUSE = re.compile(
    r"(?:[,;:\u2013\u2014(]|\s-|\b(?:and|but|so)\b)\s+(?:and |but |so |also |please )*"
    r"(?=(?:from now on|going forward|(?:please )?(?:always|never|do not ever|don'?t ever)\s"
    r"|(?:i|we) (?:always|never|usually|prefer|generally prefer|(?:really )?(?:hate|dislike|don'?t like))\s))",
    re.IGNORECASE,
)
_FROM_NOW = r"(?:from now on|from here on|going forward|in (?:the )?future|in future (?:sessions|threads|work))"
_VERB = (
    r"(?:add|answer|ask|avoid|build|call|check|comment|commit|create|delete|deploy|do|document|explain|follow|format"
    r"|give|include|indent|keep|leave|log|make|merge|name|open|pin|prefer|prefix|push|put|read|rebase|refer|remove|reply"
    r"|respond|review|run|show|sign|speak|squash|start|stick|talk|tell|test|update|use|wait|wrap|write)"
)
_WITHIN = "|".join(
    (
        rf"{_FROM_NOW}[,:]?\s+i(?:'d| would)? (?:want|like) (?:you|us) to ",
        rf"{_FROM_NOW}[,:]?\s+(?:please |you (?:should|must) |let'?s )*",
        r"(?:i|we)(?:'d| would)? (?:want|like|need) (?:you|agents|everyone) to (?=always|never)",
        r"you (?:should|must) (?=always|never)",
        r"please (?:just )?",
    )
)
# Frames around a wish: "from now on please use tabs" gives "use tabs", and says that it is lasting.
_FRAME = re.compile(rf"^(?:{_WITHIN})", re.IGNORECASE)
# "I prefer short answers" is told as "Prefers short answers".
_PREFER = re.compile(
    r"^(?:(?:i|we)(?:'d| would)?(?: (?:really|generally|usually|always|strongly|much))? prefer"
    r"|my preference is(?: for)?|prefer(?=.* (?:over|to|rather than) ))\s+(?P<what>.+)$",
    re.IGNORECASE,
)
# "I hate long lines" is told as "Dislikes long lines".
_DISLIKE = re.compile(
    r"^(?:i|we) (?:really )?(?:hate|dislike|don'?t like|do not like|can'?t stand)\s+(?P<what>.+)$", re.IGNORECASE
)
# "We never squash merges" is told as "Wants agents never to squash merges".
_HABIT = re.compile(rf"^(?:i|we) (?P<how>always|never|usually) (?:want to )?(?P<what>{_VERB}\b.+)$", re.IGNORECASE)
# "Never force-push"
_NEVER = re.compile(r"^(?:never(?: ever)?|(?:don'?t|do not) ever)\s+(?P<what>.+)$", re.IGNORECASE)
# "Don't delete the fixtures again"
_NOT_AGAIN = re.compile(r"^(?:don'?t|do not)\s+(?P<what>.+?)\s+(?:ever )?again$", re.IGNORECASE)
# "Always run the linter first"
_ALWAYS = re.compile(r"^always\s+(?P<what>.+)$", re.IGNORECASE)
# "Remember to update the changelog"
_REMEMBER = re.compile(r"^(?:always )?remember to\s+(?:always )?(?P<what>.+)$", re.IGNORECASE)
# "Don't use mocks": a wish only inside a lasting frame ("from now on don't use mocks").
_NOT = re.compile(r"^(?:don'?t|do not)\s+(?P<what>.+)$", re.IGNORECASE)
# "Stop adding comments": a wish only inside a lasting frame.
_STOP = re.compile(r"^(?P<what>stop \w+ing\b.+)$", re.IGNORECASE)
# "Use tabs": a wish only inside a lasting frame, else an order for the task at hand.
_ORDER = re.compile(rf"^(?P<what>{_VERB}\b.+)$", re.IGNORECASE)
# A lasting frame at the end: "run the tests every time".
_ENDING = re.compile(rf",?\s+(?:{_FROM_NOW}|every time|each time|at all times|always)$", re.IGNORECASE)

# Limited to one occasion, so no standing wish: "never mind this file for now".
_PASSING = re.compile(
    r"\b(?:here|for now|right now|today|tonight|tomorrow|just once|this (?:time|once|one|pr|mr|commit|branch|session"
    r"|task|file|change|case|plan|issue|bug|step|function|line|test)|these (?:changes|tests|files|comments|commits))\b",
    re.IGNORECASE,
)
# Names nothing by itself: "always do that", "prefer the second option".
_POINTING = re.compile(
    r"^(?:(?:to )?(?:do|use|keep|have|go with|take|make|see|be|say) )?(?:that|this|it|these|those|them|so|the (?:first"
    r"|second|third|last|latter|former|other|new|old) (?:one|option|approach|way)?|(?:option|approach) \w+|[a-d\d]\))"
    r"(?:\W|$)",
    re.IGNORECASE,
)
# Not an imperative after all: "never mind", "always been slow".
_NO_ORDER = re.compile(
    r"^(?:mind|been|was|were|is|are|be|had|has|have|a|an|the|seen|heard|thought|knew|(?!bring|need|feed|embed|seed|shed)"
    r"\w+(?:ing|ed))\b",
    re.IGNORECASE,
)
_FRAME_WORDS = {"wants", "prefers", "dislikes", "agents", "to", "a", "an", "the", "always", "never", "ever", "please"}
_PLEASE = re.compile(r"^(?:please |always )+", re.IGNORECASE)
_SHORTEST = 6  # characters; "do so" and the like say nothing by themselves
_WORD = re.compile(r"[\w./@+-]*\w")


@dataclass(frozen=True, slots=True)
class StandingPreference:
    """One standing preference as a sentence about the person, with its source entry."""

    text: str
    seq: int
    at: str | None
    said: str  # the sentence, to be recognised by


def standing_preferences(requests: Iterable[Utterance]) -> Iterator[StandingPreference]:
    """Return the standing preferences in the person's messages, newest first, without repetitions."""
    kept: list[tuple[set[str], bool]] = []
    for said in reversed(list(requests)):
        found = sentences(said.text)
        for sentence in found if len(found) <= _PASTED else ():
            text = preference_sentence(sentence)
            words = _core(text)
            denies = text.startswith(("Wants agents never", "Dislikes"))
            if text and not any(denies is other and _same(words, before) for before, other in kept):
                kept.append((words, denies))
                yield StandingPreference(text, said.seq, said.at, one_line(sentence))


def preference_sentence(sentence: str) -> str:
    """Rephrase `sentence` as a standing preference in the third person, or return the empty string."""
    if len(sentence) > _LONGEST or cue_phrases.is_question(sentence):
        return ""
    line = _OPENING.sub("", one_line(sentence)).replace("\u2019", "'")
    for clause in (line, *_CLAUSE.split(line)[1:]):
        text = _told(clause.strip(" .!;,)"))
        if text:
            return clip(text, _SHOWN)
    return ""


def _told(clause: str) -> str:
    framed = _FRAME.sub("", clause)
    lasting = framed != clause and not clause.lower().startswith(("please", "you"))
    if _PASSING.search(clause):
        return ""
    for pattern, words in ((_PREFER, "Prefers"), (_DISLIKE, "Dislikes")):
        match = pattern.match(framed)
        if match:
            return "" if _POINTING.match(match["what"]) else f"{words} {match['what']}"
    match = _HABIT.match(framed)
    if match:
        how = {"always": "Wants agents to always", "never": "Wants agents never to", "usually": "Prefers to"}
        return f"{how[match['how'].lower()]} {match['what']}"
    return _ordered(framed, lasting=lasting)


def _ordered(text: str, *, lasting: bool) -> str:
    """Rephrase an imperative as a rule for the agent, or return the empty string."""
    ended = _ENDING.sub("", text)
    lasting = lasting or ended != text
    orders = [(_NEVER, "never to"), (_NOT_AGAIN, "never to"), (_ALWAYS, "to always"), (_REMEMBER, "to always")]
    if lasting:
        orders += [(_NOT, "never to"), (_STOP, "to"), (_ORDER, "to always")]
    for pattern, words in orders:
        match = pattern.match(ended)
        if match:
            what = _PLEASE.sub("", match["what"])
            what = what[0].lower() + what[1:] if what[1:2].islower() else what
            refused = len(what) < _SHORTEST or _NO_ORDER.match(what) or _POINTING.match(what)
            return "" if refused else f"Wants agents {words} {what}"
    return ""


def _core(text: str) -> set[str]:
    return {word for word in _WORD.findall(text.lower()) if word not in _FRAME_WORDS}


def _same(words: set[str], other: set[str]) -> bool:
    """True if two preferences share most words or one contains the other."""
    common = len(words & other)
    return common >= _SAME * len(words | other) or (common > 1 and common == min(len(words), len(other)))
