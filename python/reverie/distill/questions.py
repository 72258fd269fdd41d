"""Questions of an agent that wait for the person, the options that they offer, and the option that an answer names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from reverie.distill import cues as cue_phrases
from reverie.distill.sentences import clip, one_line, sentences
from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["chosen_option", "offered_options", "open_questions"]

_OPTIONS_MIN = 2  # one is no choice
_OPTION_CHARS = 60  # of an option's name, set by hand: it is "A cache" of "1. A cache: kept in memory"
_OPTIONS_MAX = 4  # of a list; of five the last is left out
_LAST_SENTENCES = 4  # of a message, among which a question still waits for the person
_BARE_QUESTION_WORDS = 9  # a shorter question needs its options to be understood
# "The key question is: does the lock outlive its owner?": thinking aloud, unless it speaks of the person or of both.
_ASKS_ITSELF = lazy_regex(
    r"^(?:(?:so|now|but|and|then|also|und|aber|mais|et|pero|y)\b,? *)*(?:the|my|one|another|an?|die|eine|la|une|una)"
    r" (?:[\w-]+ ){0,2}(?:question|frage|pregunta)(?: [\w-]+){0,2} (?:is|was|becomes|remains|ist|bleibt|est|reste|es)\b"
    r"|^(?:hm+|wait)\b",
    re.IGNORECASE,
)
_ASKS_YOU = lazy_regex(
    r"\b(?:you|your|yours|we|us|our|shall i|should i|du|dir|dich|dein\w*|ihr|ihnen|sie|wir|uns|soll ich|tu|te|vous"
    r"|votre|nous|on|tú|usted\w*|ustedes|quieres|prefieres|nosotros)\b",
    re.IGNORECASE,
)
_OPTION = lazy_regex(r"^\s*(?:[-*] +|(?:\d{1,2}|[A-Da-d])[.)] +)?(?P<bold>\*\*)?(?P<text>.+)$")
# "Would you like to:", with the choices in a list below it
_ASKS_WHICH = lazy_regex(r"(?:would you like|do you want|shall i|should i|what would you)\b.*:$", re.IGNORECASE)
_ITEM = lazy_regex(r"\s*(?:[-*•] |\d{1,2}[.)] |\|)")
_CHOOSES_AMONG = lazy_regex(
    r"^(?!(?:do you want|want|would you (?:like|prefer)|shall|should|ready)\b).*\b(?:which|prefer|preference|option)\b",
    re.IGNORECASE,
)
_CHOICE_WORDS = 30  # of a message that chooses one of several options; a longer one says what it wants
# "Option 2 please"; "let's try 2", "1 does seem like a decent path", but not "2.5 seconds" nor "an option a user sets"
_NAMED = lazy_regex(
    r"\b(?:[Oo]ption|[Aa]pproach|[Vv]ariante?|[Aa]lternative|[Cc]hoice|[Oo]pción)s? #?([1-9]|[b-d]|[A-D])\b(?!\.\d)"
)
_BARE = lazy_regex(
    r"^(?:(?:ok(?:ay)?|yes|yeah|let'?s|go|with|try|do|i (?:like|prefer|think)|take|number)[ ,]+)*#?([1-9])"
    r"(?=[=!.]?$|,? (?:please|is|does|seems|sounds|looks|it is|then|and)\b)",
    re.IGNORECASE,
)
_REJECTS = lazy_regex(
    r"\b(?:not|no|never|neither|nor|than|instead|nicht|kein\w*|pas|ni|sin|dont|wont|cant)\b|n't\b|不|ない",
    re.IGNORECASE,
)
# A message with one of these offers its numbered list; another list may be of reasons.
_OFFERS = lazy_regex(
    r"\b(?:alternatives?|approach(?:es)?|choose|options?|prefer|variants?|ways|which|varianten?|optionen|opciones|quelle)\b",
    re.IGNORECASE,
)
_NUMBERED_OPTION = lazy_regex(
    r"^[ \t]*(?:[-*] +|#{1,4} +)?\**(?:option|approach|variant|alternative)? ?#?(?P<number>[1-9]|[A-Da-d])"
    r"(?:[.):]|\**[:.]| [\u2013\u2014-])\**[ \t]+(?P<text>\S.*)$",
    re.MULTILINE | re.IGNORECASE,
)


def open_questions(text: str) -> str:
    """Return the question at the end of an agent's message, with the options it chooses among; empty if there is none.

    A question among the last sentences counts, as something is often added behind it; one that the agent asks itself
    does not. Example: behind the list
    "1. A cache", "2. A queue", "Which one? I can start now." gives "Which one? (A cache / A queue)".
    """
    prose = "\n".join(line for line in text.split("\n") if "?" in line or not _ITEM.match(line))
    said = sentences(prose)[-_LAST_SENTENCES:]
    asked = [sentence for sentence in said if cue_phrases.is_question(sentence) or _ASKS_WHICH.match(sentence)]
    asked = [sentence for sentence in asked if not _ASKS_ITSELF.match(sentence) or _ASKS_YOU.search(sentence)]
    if not asked:
        return ""
    if _ASKS_WHICH.match(asked[-1]):
        return f"{asked[-1].rstrip(':')} {' / '.join(_options(text))}?"
    question = one_line(" ".join(asked[-2:]) if len(asked[-1].split()) < _BARE_QUESTION_WORDS else asked[-1])
    options = _options(text) if _CHOOSES_AMONG.search(question) else []
    return f"{question} ({' / '.join(options)})" if len(options) >= _OPTIONS_MIN else question


def offered_options(text: str) -> dict[str, str]:
    """Return the options that an agent's message offers by number or letter: {"1": "A cache", "2": "A queue"}."""
    if not _OFFERS.search(text):
        return {}
    return {option["number"].lower(): _option_name(option["text"]) for option in _NUMBERED_OPTION.finditer(text)}


def chosen_option(answer: str, options: Mapping[str, str]) -> str:
    """Return the option that a person's short answer chooses by its number, or the empty string.

    Example: "option 2 please" gives "A queue" of {"1": "A cache", "2": "A queue"}. A question, a rejection and an
    answer that names two of them choose none.
    """
    if not options or len(answer.split()) > _CHOICE_WORDS:
        return ""
    numbers: set[str] = set()
    for sentence in sentences(answer) or [answer]:
        named = {number.lower() for number in (*_NAMED.findall(sentence), *_BARE.findall(sentence))}
        if named and (sentence.endswith("?") or _REJECTS.search(sentence)):
            return ""
        numbers |= named
    return options.get(numbers.pop(), "") if len(numbers) == 1 else ""


def _options(text: str) -> list[str]:
    """Return the short names of the last list of alternatives in a message."""
    options: list[str] = []
    group: list[str] = []
    for line in text.split("\n"):
        option = _OPTION.match(line)
        is_item = option is not None and re.match(
            r"\s*(?:(?:\d{1,2}|[A-Da-d])[.)] |\*\*(?:Option|Approach)|[A-D]\) )", line
        )
        is_bold_item = re.match(r"\s*(?:[-*] )?\*\*[A-D1-9][.):]", line) is not None
        if option is not None and (is_item or is_bold_item):
            group.append(_option_name(option["text"]))
        elif line.strip() and not line.startswith((" ", "\t", "-", "`")):
            options = group if len(group) >= _OPTIONS_MIN else options
            group = []
    return (group if len(group) >= _OPTIONS_MIN else options)[:_OPTIONS_MAX]


def _option_name(text: str) -> str:
    text = re.sub(r"^\W*(?:option|approach) \w+\**: *(?=\w)", "", text.replace("`", ""), flags=re.IGNORECASE)
    name = re.split(r"\*\*[:\s]|:\s|\s[-\u2013\u2014]\s", text, maxsplit=1)[0] or text
    return clip(name.strip("* "), _OPTION_CHARS)
