"""Wording of a wish in the third person: a rule that reads as its opposite, or names "me" and "you", is put right."""

from __future__ import annotations

import re
from typing import Final

from reverie.distill.extractive.order_verbs_and_general_rules import VERB
from reverie.lazy_regex import lazy_regex

__all__ = ["reworded"]

_SHOWN: Final = 180  # characters of the stored sentence
# "Never use panic, return errors" would be read as "never return errors" behind "Wants agents never to". Not a list, as
# in "never add, remove or rename files".
_TWO_CLAUSES: Final = lazy_regex(
    rf"^(?P<never>Wants agents never to \S+ [^,;]+)[,;] (?:please )?(?:but |rather |just |instead,? )*"
    rf"(?P<rather>(?!.*\bor {VERB}\b){VERB}\b.+?)(?:,? instead)?$",
    re.IGNORECASE,
)
# What follows a semicolon is of the task at hand: "I hate side effects on import; pass the client in".
_OF_TASK: Final = lazy_regex(r"^(?P<wish>(?:Dislikes|Prefers) [^;]+);\s.+$")
_CONJUNCTION: Final = r"(?:before|after|when(?:ever)?|if|unless|until|while|where|that|what|once|how|as|because)"
# In this order: "before you ask me" has two of them.
_THIRD_PERSON: Final = (
    (lazy_regex(r"\byou're\b", re.IGNORECASE), "they are"),
    (lazy_regex(rf"\b(?P<before>{_CONJUNCTION}) you\b", re.IGNORECASE), r"\g<before> they"),
    (lazy_regex(r"\byourself\b", re.IGNORECASE), "themselves"),
    (lazy_regex(r"\byour\b", re.IGNORECASE), "their"),
    (lazy_regex(r"\bme\b", re.IGNORECASE), "the user"),
    (lazy_regex(r"\bmy\b", re.IGNORECASE), "the user's"),
)
# "unless I ask for it" would need another verb form, "I told you" another object: such a wish is quoted.
_FIRST_OR_SECOND: Final = lazy_regex(r"\b(?:I|I'(?:m|d|ll|ve)|mine|myself|you|yours)\b")
_QUOTED: Final = lazy_regex(r"(`[^`]*`|\"[^\"]*\"|“[^”]*”)")


def reworded(text: str, clause: str) -> str:
    """Return a wish in the third person, understandable without its message; else quote `clause`, its own words.

    Example: "Wants agents never to use panic, return errors" becomes "Wants agents never to use panic; instead: return
    errors". A long wish ends at its first full stop: the sentences behind it explain.
    """
    text = text.split(". ", 1)[0] if len(text) > _SHOWN else text
    of_task = _OF_TASK.match(text)
    text = of_task["wish"] if of_task else text
    two = _TWO_CLAUSES.match(text)
    text = f"{two['never']}; instead: {two['rather']}" if two else text
    parts = _QUOTED.split(text)  # what is quoted stays as it is
    for number in range(len(parts)):
        for pattern, words in _THIRD_PERSON if number % 2 == 0 else ():
            parts[number] = pattern.sub(words, parts[number])
    text = "".join(parts)
    if _FIRST_OR_SECOND.search("".join(parts[::2])):
        return f"The user wants: “{clause}”"
    return text
