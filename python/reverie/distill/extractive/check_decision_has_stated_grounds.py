"""Decisions with what they rest on: "we decided to use Redis, not a map in memory, because we run four replicas".

Nearly every session decides about its own next step. A decision for good has two of three things: what was rejected,
the reason, and something named (a product, a path, quoted code).
"""

from __future__ import annotations

import re
from typing import Final

from reverie.distill.sentences import specific_names
from reverie.lazy_regex import lazy_regex

__all__ = ["REASON", "is_grounded_decision"]

_DO: Final = (
    r"(?:use|go with|stick (?:to|with)|stay (?:on|with)|keep|switch to|move to|adopt|support|drop|store|put|write"
    r"|return|log|run|host|split|cache|version|name|model|represent|generate|vendor|pin|deploy|require|allow|treat"
    r"|send|serve|render|sort|index|save|not (?:to )?(?:use|support|store|allow|return|add))"
)
_DECIDES: Final = {
    "en": rf"(?:we|i)(?:'ve| have)? (?:decided|agreed|settled)(?: that)?"
    rf"(?: (?:to|we(?:'ll| will)?|on)(?: (?:always|never|only))?(?: {_DO}\b| (?=(?-i:[A-Z])|`))"
    r"| (?!(?:to|on|we|i|you|it|this|these|those|they|against|not)\b)(?<= that )\w)",
    "de": r"(?:wir haben|ich habe)(?: uns| mich)?(?: dafür| dazu| hier)? "
    r"(?:entschieden|beschlossen|festgelegt|vereinbart)"
    r"(?:,|:| dass)",
    "es": r"(?:hemos decidido|decidimos|he decidido|acordamos|hemos acordado) (?:que )?",
    "fr": r"(?:nous avons|on a|j'ai) (?:décidé|convenu) (?:que |qu'|de |d')",
    "zh": r"(?:我们|我)(?:已经|已)?(?:决定|商定)(?:了)?",
    "ja": r"",
}
_BEGINS: Final = {language: lazy_regex(rf"^{form}", re.IGNORECASE) for language, form in _DECIDES.items()}
_ENDS_JA: Final = lazy_regex(r"ことに(?:しました|決めました|決まりました|した|決めた)$")
_REJECTS: Final = lazy_regex(
    r",? (?:and )?not (?!only\b|yet\b|sure\b)|\b(?:instead of|rather than|no longer|over (?:a |the )?(?=[A-Z\w]+))\b"
    r"|\b(?:statt|anstatt|anstelle|nicht mehr|(?:und|,) nicht|sondern)\b|\b(?:en vez de|en lugar de|y no|ya no)\b"
    r"|\b(?:au lieu d|plutôt qu|et non|et pas)|而不是|不再|不用|ではなく|じゃなく|の代わりに",
    re.IGNORECASE,
)
REASON: Final = lazy_regex(
    r",? (?:because|since|so that|weil|da|damit|denn|porque|ya que|para que|car|parce que|puisque|afin)\b"
    r"|[，,] ?(?:因为|为了)|(?:ので|ため(?:に)?|から)、",
    re.IGNORECASE,
)
"""Where the reason of a decision begins."""
# A product in the middle of a sentence; German and Japanese are no help here.
_PRODUCT: Final = lazy_regex(
    r"(?<=[a-zà-ÿ,] )[A-Z][\w.+#-]+(?![\w' ]* (?:said|says|wants))|[\u4e00-\u9fff ][A-Z][\w.+#-]+"
)
# Of one day, or in doubt. An "error" may be what is decided about: "error messages live in locales/de.json".
_DOUBTED: Final = lazy_regex(
    r"\b(?:would|could|might|maybe|perhaps|probably|i (?:think|guess|believe)|for now|yet|today|tomorrow|yesterday|now"
    r"|currently|at the moment|vielleicht|wohl|könnte|würde|glaube|heute|morgen|gestern|gerade|jetzt|vorerst|erstmal"
    r"|quizás?|tal vez|hoy|mañana|ayer|ahora|por ahora|peut-être|aujourd'hui|demain|hier|maintenant|pour l'instant)\b"
    r"|可能|也许|今天|明天|昨天|这次|暂时|かもしれ|たぶん|今日|明日|昨日|今回|とりあえず",
    re.IGNORECASE,
)
# Of one task's step, or nothing by itself: "merge this PR tomorrow", "keep the old one", "option 2".
_OF_STEP: Final = lazy_regex(
    r"\b(?:option|approach|variante|opción|plan [a-d\d]|(?:old|new|other|first|second|last|current|existing|same)"
    r" (?:one|way|version|approach)|it|this|that (?:test|one|way|file|function|change)|these|those|them|merge|push"
    r"|commit|prs?|pull requests?|branch|ticket|meeting|lunch|sprint|deadline|später|zuerst|erst|mergen|pushen|dies\w*"
    r"|es|he|she|her|him|sie|er|primero|después|est[eao]s?|d'abord|ensuite|plus tard|ce|cet|cette|ça)\b"
    r"|选项|方案|这个|那个|先|以后再|この|その|これ|それ",
    re.IGNORECASE,
)


def is_grounded_decision(sentence: str, language: str) -> bool:
    """Return True for a decision that has two of a rejected choice, a reason and a name, and is no step of a task."""
    begins = _BEGINS.get(language)
    if begins is None or not begins.match(sentence) or (language == "ja" and not _ENDS_JA.search(sentence)):
        return False
    reason = REASON.search(sentence)
    decided = sentence[: reason.start()] if reason else sentence
    if _OF_STEP.search(decided) or _DOUBTED.search(decided):
        return False
    product = language != "de" and _PRODUCT.search(decided) is not None
    is_named = bool(specific_names(decided)) or "`" in decided or product
    return (reason is not None) + (_REJECTS.search(decided) is not None) + is_named > 1
