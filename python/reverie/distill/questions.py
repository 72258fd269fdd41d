"""Questions of an agent that wait for the person, the options of its last list, and the option that an answer names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from reverie.distill import cues
from reverie.distill.sentences import clip, one_line, sentences
from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Mapping

_OPTION_CHARS = 100  # of an option's words
_BARE_WORDS = 9  # of a question; a shorter one needs the sentence before it to be understood
_LAST_SENTENCES = 3  # of a message, among which a question still waits; something is often added behind it
_CHOICE_WORDS = 30  # of a message that chooses an option by its number; a longer one says itself what it wants
# A line of a list; a list of options is one whose lines begin with numbers or letters: "2. A queue", "[c] Continue".
_ITEM = lazy_regex(r"^\s*(?:[-*•+|] ?|\(?\w{1,2}[.)] |#{1,6} )")
_OPTION = lazy_regex(
    r"^\s*(?:[-*•] +|#{1,4} +)?[*_`(\[]{0,3}(?:option |approach )?(?P<key>[1-9]|[a-z])[*_`)\]]{0,3}"
    r"(?:[.):]|(?<=[*_`)\]])(?= )| [-\u2013\u2014=](?= ))[*_`]{0,3} *[-:\u2013\u2014=]? *(?P<text>\S.*)$",
    re.IGNORECASE,
)
_CHOOSES = lazy_regex(r"(?:\b(?:option|approach|choice|alternative|number) ?#?|#)(?P<key>[1-9]|[a-z])\b", re.IGNORECASE)
# Nothing but numbers or letters: "c", "#4", "1+2", "2 and 3 please"
_BARE = lazy_regex(r"\W*(?:[1-9]|[a-z])(?:\W+(?:(?:and|plus|&)\W+)?(?:[1-9]|[a-z]))*\W*(?:please)?\W*", re.IGNORECASE)
_KEY = lazy_regex(r"(?<!\w)(?:[1-9]|[a-z])(?!\w)", re.IGNORECASE)
_AMONG = lazy_regex(r"\b(?:which|what|prefer|option|choose|or)\b", re.IGNORECASE)


def open_question(text: str) -> str:
    """Return the question that an agent's message ends with, with the options it chooses among; empty without one.

    The options themselves are no question, and what the agent announces behind a question does not wait. Example: the
    list "1. A cache", "2. A queue" and "Which one?" give "Which one? (A cache / A queue)".
    """
    prose = [line for line in text.split("\n") if not _ITEM.match(line)]
    said = sentences("\n".join(prose))[-_LAST_SENTENCES:]
    asked = [index for index, sentence in enumerate(said) if cues.is_question(sentence)]
    if not asked or cues.announced(said[-1]):
        return ""
    at = asked[-1]
    question = said[at]
    options = list(offered_options(text).values())
    if len(options) > 1 and _AMONG.search(question):
        question = f"{question} ({' / '.join(options)})"
    elif at and len(question.split()) < _BARE_WORDS and not said[at - 1].endswith(":"):
        question = f"{said[at - 1]} {question}"
    return one_line(question)


def offered_options(text: str) -> dict[str, str]:
    """Return the options of the last list with numbers or letters in a message: {"1": "A cache", "2": "A queue"}."""
    options: dict[str, str] = {}
    for line in text.split("\n"):
        if found := _OPTION.match(line):
            key = found["key"].lower()
            if key in options or key == "1":
                options = {}
            options[key] = clip(found["text"].replace("**", "").replace("`", ""), _OPTION_CHARS)
    return options


def chosen_option(answer: str, options: Mapping[str, str]) -> str:
    """Return the options that a person's answer chooses by number or letter, or the empty string.

    Example: "c" and "option c please" give "Continue" of {"c": "Continue"}, "1+2" both. A question, a no, and a
    sentence that names two of them choose none.
    """
    if not options or len(answer.split()) > _CHOICE_WORDS or cues.is_question(answer) or cues.OBJECTS.match(answer):
        return ""
    if _BARE.fullmatch(answer):
        keys = [key.lower() for key in _KEY.findall(answer)]
    else:
        keys = [*{found["key"].lower() for found in _CHOOSES.finditer(answer)}]
        keys = keys if len(keys) == 1 else []
    return " + ".join(options[key] for key in keys) if all(key in options for key in keys) else ""
