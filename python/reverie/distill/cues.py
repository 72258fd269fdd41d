"""All cue words of the distiller: a handful each, in one place. What needs understanding is a model's work.

What carries most is not here but in the structure: who said it, where it stands, what succeeded after it failed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Sequence

# The opening of a person's message: "yes, do that", "no, keep the old one"; after a proposal "I think ..." objects too.
_YES = lazy_regex(
    r"(?:y|yes|yep|yeah|yup|ok(?:ay)?|sure|right|great|good|nice|perfect|agreed|exactly|correct|lgtm|thanks?"
    r"|go (?:ahead|on|for it)|do (?:it|that|so|both)|(?:sounds|looks) good|please do|ship it"
    r"|ja|oui|sí|да|好|はい)(?!\w)|please\W*$|(?:please )?(?:continue|proceed)\b",
    re.IGNORECASE,
)
# A message of these alone agrees, thanks or lets the agent go on, and asks for nothing: "ok, please continue".
_GO_ON = lazy_regex(
    r"y|yes|yep|yeah|yup|ok(?:ay)?|sure|right|great|good|nice|perfect|agreed|exactly|correct|lgtm|thanks?|you|do|it|that"
    r"|so|sounds|looks|ship|please|let'?s|us|just|and|now|to|the|with|continue|proceed|go|on|ahead|for|keep|going|carry"
    r"|resume|next|step|task|ja|oui|sí|да|好|はい"
)
_WORDS = lazy_regex(r"[\w']+")
OBJECTS: Final = lazy_regex(
    r"(?:(?:hm+|oh|ok(?:ay)?|yes|sorry|please)\b\W+(?:but\b\W+)?)?"
    r"(?:no(?! (?:problem|worries|need|rush|idea))|nope|nah|wait|stop|hold on|wrong|actually|not|don'?t|do not"
    r"|better not|rather|instead|revert|undo|that'?s (?:not|wrong)|nein|non|нет)(?!\w)|不",
    re.IGNORECASE,
)
"""How a message begins that objects: with a no."""
ANSWERS: Final = lazy_regex(r"(?:yes|yep|yeah|yup|no|nope|ja|nein|oui|non|sí|да|нет)(?!\w)", re.IGNORECASE)
"""How a message begins that answers, with nothing softer than yes or no: "ok, now the docs" is no answer."""
DOUBTS: Final = lazy_regex(
    r"(?:hm+\b\W+)?(?:i (?:think|would|don'?t|prefer)|i'?d|but|why|what about|how about|can'?t we)\b", re.IGNORECASE
)
"""How a message begins that puts another view against a proposal: "I think the table is enough"."""
NAVIGATES: Final = lazy_regex(
    r"\b(?:next|proceed|continue|go (?:on|ahead)|move on|ready|start|begin|anything else|looks? (?:good|right))\b",
    re.IGNORECASE,
)
"""In a question, an option or an offer: it is about going on, and decides nothing about the work."""
OF_STEP: Final = lazy_regex(
    r"\b(?:ready|proceed|continue|next|now|push\w*|prs?|pull requests?|these|those|plans?|this (?:design|work))\b",
    re.IGNORECASE,
)
"""In a question of the question tool: it is about the step at hand, "Ready to push this branch?"."""
NO_CHOICE: Final = lazy_regex(
    r"^(?:\W*\w\W*|(?:yes|no|ok(?:ay)?|skip|later|continue|proceed|done|next|more|move on|other|none|both|either"
    r"|neither|stop|cancel|looks|not (?:now|sure))\b.*|.*\b(?:you|claude|agent)\b.*\b(?:decide|choose|pick|call)\b.*)$",
    re.IGNORECASE | re.DOTALL,
)
"""An answer that chooses nothing: a letter, a yes or no, "You decide", "Skip", "More discussion"."""

# What the agent says it does at once: "Now let me look at the tests".
_LEAD = r"(?:(?:ok(?:ay)?|great|good|perfect|excellent|now|next|first|then|so|but)\b[!,.:]? *)*"
_ANNOUNCES = lazy_regex(
    rf"{_LEAD}(?:let me|let'?s|i'?ll|i will|i need to|i'?m going to)\b\s*(?P<what>.*)", re.IGNORECASE
)

EXPLAINS = lazy_regex(
    r"\b(?:root cause|turns out|because|caused by|due to|the (?:real |actual )?(?:issue|problem|bug|cause|culprit)"
    r" (?:is|was))\b",
    re.IGNORECASE,
)
"""Words of a sentence that says why something was so."""
_KINDS: Sequence[tuple[str, re.Pattern[str]]] = (
    (
        "failure",
        lazy_regex(
            r"\b(?:fail(?:s|ed|ing|ure)?|broken?|error|crash\w*|panic\w*|(?:doesn|didn)'?t work|incorrect\w*)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "outcome",
        lazy_regex(
            r"^(?:[✅✓✔]\s*)?(?:i(?:'ve| have) )?(?:done|fixed|implemented|completed?|committed|pushed|merged|created"
            r"|added|removed|refactored|updated|renamed|moved|replaced|verified)\b|\btests? (?:now )?pass\w*",
            re.IGNORECASE,
        ),
    ),
    (
        "decision",  # "Now uses a queue instead of a table"; "it reads a table instead of a queue" is a finding
        lazy_regex(
            r"\b(?:decided|went with|going with)\b|^(?=.*\b(?:instead of|rather than)\b).*\b(?:now|use|using|should"
            r"|will|i'?ll|i'?ve|keep|switch\w*|changed|replaced)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "next",
        lazy_regex(
            r"^(?:next|remaining|to-?do)\b|\bstill (?:need|to do|left|open)\b|\bnext step|\bout of scope\b",
            re.IGNORECASE,
        ),
    ),
    ("finding", EXPLAINS),
)
# A choice in a person's own sentence: "let's go with LMDB", "squash, not merge".
CHOOSES: Final = lazy_regex(r"\blet'?s (?:go with|use)\b|\binstead of\b|\brather than\b|, not ", re.IGNORECASE)


def is_question(text: str) -> bool:
    """Return True if a text ends with a question mark."""
    return text.rstrip("\"')`*_ ").endswith(("?", "？"))


def agrees(text: str) -> bool:
    """Return True for a message that begins with a yes."""
    return _YES.match(text) is not None and not is_question(text)


def goes_on(text: str) -> bool:
    """Return True for a message that only agrees, or lets the agent go on."""
    words = _WORDS.findall(text.lower().replace("\u2019", "'"))
    return bool(words) and all(map(_GO_ON.fullmatch, words))


def announced(sentence: str) -> str:
    """Return what a sentence of the agent says it does next, empty where it announces nothing: "look at the tests"."""
    found = _ANNOUNCES.match(sentence)
    return found["what"].rstrip(".:") if found else ""


def kind_of(sentence: str) -> str:
    """Return what a sentence of the agent tells: failure, outcome, decision, next, finding; else the empty string."""
    return next((kind for kind, pattern in _KINDS if pattern.search(sentence)), "")


# What memories are taken by, in one table: standing wishes, lasting words, words of what passes, causes.
_OPENING = (
    r"(?:^|, )(?P<lead>(?:(?:and|also|but|so|please|ok(?:ay)?|no|btw|stop|then|you should|make sure to"
    r"|remember)\b[,.:!]? +)*)"
)
# An order, and no remark: "always run the tests", but not "always happy to help" or "never been there".
_RULE = (
    r"(?:always|never)\b(?! ?(?:mind|again|been|here|there|happy|good|an?|the|on|in|at|saw|felt|heard|thought|would|had"
    r"|got|did|was|were|ha(?:s|ve)|\w+(?:ed|ing))\b)"
)
# Not of what points at something on the screen: "prefer that", "use the first one, not the second one".
_POINTS = r"(?!.*\b(?:this|that|it|ones?|first|second|other|option)\b)"
_USE = rf"prefer {_POINTS}(?!the\b|\w\b)|use {_POINTS}(?:the |an? )?\S+(?: \S+)?,? not \S"
CHAT_WISH = lazy_regex(rf"{_OPENING}(?:{_RULE}|from now on\b|going forward\b|(?:i )?{_USE})", re.IGNORECASE)
"""A standing wish where a sentence begins, also where people may talk to each other."""
WISH = lazy_regex(
    rf"{_OPENING}(?:{_RULE}|from now on\b|going forward\b|in (?:the )?future,|do(?: not|n['\u2019]?t) ever\b"
    rf"|(?:i|we) {_RULE}|we do(?: not|n['\u2019]?t) (?:use|want) (?!this\b|that\b|it\b|to\b)|(?:(?:i|we) )?{_USE})"
    r"|\S, always$",
    re.IGNORECASE,
)
"""A standing wish where a sentence begins: always, never, from now on, prefer, use X not Y."""
LASTING = lazy_regex(
    r"\b(?:(?:should|must|please) (?:always|never)|prefer(?! (?:that|this|it)\b)|from now on|going forward|on purpose"
    r"|wherever|whenever|every time|remember to|in (?:the )?future)\b",
    re.IGNORECASE,
)
"""A word of what holds for longer, anywhere in a sentence."""
PASSING = lazy_regex(
    r"\b(?:for now|this time|just once|today|this (?:pr|commit|branch|task|session|file)|never ?mind)\b", re.IGNORECASE
)
"""Words of what holds for one task."""
CAUSE = lazy_regex(
    r"\b(?:because|since|so|root cause|caused by|due to|turns out|instead of|rather than|otherwise|to avoid"
    r"|to prevent|previously|no longer|which (?:means|meant|broke|made|caused)|(?:issue|problem|bug) (?:is|was))\b",
    re.IGNORECASE,
)
"""Words of a reason."""
GUESSES = lazy_regex(
    r"\b(?:likely|probably|maybe|perhaps|might|seems?|i think|not sure|should be|could be|let me|i'll|i need)\b"
    r"|^(?:this|that|these|it|both|so|but|no|yes|ah|oh)\b|[?:]$",
    re.IGNORECASE,
)
"""Words of a guess or a plan, and openings that point back to the sentence before."""
