"""Standing wishes in everyday words, without "always": "we use Conventional Commits here", "please be brief".

They are quoted: in the third person many would read as something else, or lose what they are opposed to.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from reverie.distill.extractive import cue_phrases
from reverie.distill.extractive.everyday_wish_forms_of_de_es_fr_zh_ja import BY_LANGUAGE
from reverie.distill.extractive.everyday_wish_forms_of_english import ENGLISH
from reverie.distill.extractive.messages_that_open_a_task import opens_task
from reverie.distill.sentences import one_line, sentences
from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Callable

    from reverie.distill.extractive.compile_everyday_wish_forms import OrdinaryForms

__all__ = ["asks_for_more", "confirmed_statement", "is_only_alone", "order_in_complaint", "ordinary_wish"]

_FORMS: Final = {"en": ENGLISH, **BY_LANGUAGE}
# Openings that say nothing of the rule: "No, ", "btw", "und ".
_OPENING: Final = lazy_regex(
    r"^(?:(?:and|but|so|also|oh|hey|ok(?:ay)?|yes|yep|no(?=[,.:!])|nope|nah|hmm+|wait|actually|btw|by the way|note"
    r" that|note|fyi"
    r"|one more thing|for the record|remember|important|reminder|again|look|und|aber|also|ach ja|ja|nein|nee|übrigens"
    r"|hinweis|wichtig|y|pero|sí|ojo|por cierto|et|mais|oui|non(?=[,.:!])|au fait|attention)\b[\s,.:;!\u2013\u2014-]*"
    r"|(?:不|不对|对了|另外|请注意|いや|いいえ|ちなみに|あと)[，,、。！!：:]\s*)+",
    re.IGNORECASE,
)
# "From now on" has a "now" that is not of one occasion.
_FROM_NOW: Final = lazy_regex(r"^from now on\b|^ab jetzt\b|^a partir de ahora\b|^从现在开始", re.IGNORECASE)
# A question or an exclamation before the rule: "why fmt.Println? we log with slog everywhere".
_BEFORE: Final = lazy_regex(r"[?!？！]\s*|;\s+|\s[\u2013\u2014-]\s")
# What another sentence confirms: "Our API returns dates in UTC. Keep it that way."
_CONFIRMS: Final = lazy_regex(
    r"^(?:please )?(?:(?:let's )?(?:keep|leave) (?:it|them) (?:that way|like that|like this|so|as (?:it is|they are))"
    r"|(?:that|it|this) (?:must|should|has to|needs to) (?:stay|remain) (?:so|that way|like that|as it is))(?:,?"
    r" please)?"
    r"|^(?:bitte )?(?:(?:das|es) (?:soll|muss) (?:bitte )?so bleiben|lass(?:t)? (?:das|es) (?:bitte )?so)(?: bitte)?"
    r"|^(?:por favor,? )?(?:déjalo así|que siga así|mantenlo así)|^(?:garde(?:-le|z-le)? (?:ça )?(?:comme ça|ainsi)"
    r"|ça doit rester (?:comme ça|ainsi)|laisse(?:-le)? comme ça)|^(?:请)?(?:保持这样|就保持这样|不要改变)"
    r"|^(?:そのまま|このまま)に?(?:して|しておいて)(?:おいて)?(?:ください|下さい|ね)",
    re.IGNORECASE,
)
# The state of one thing of the day, or of nothing named: "it works now. Keep it that way."
_NO_STATEMENT: Final = lazy_regex(
    r"^(?:it|this|that|these|those|they|he|she|there|i|you|let|please|don't|do|can|now|ok|es|das|dies\w*|ich|du|bitte"
    r"|eso?|est[ae]|yo|ça|cela|c'est|je|tu|这|那|它|これ|それ)\b|\b(?:now|works?|working|fixed|pass(?:es|ed|ing)?|green"
    r"|was|were|just|today|yesterday|currently|jetzt|heute|gerade|läuft|ahora|hoy|maintenant|aujourd'hui)\b|现在|今天|今",
    re.IGNORECASE,
)
# "You forgot to run the linter again": what is done again and again in any project, and not a detail of the task.
_FORGOTTEN: Final = lazy_regex(
    r"^you (?:forgot|didn't remember|failed|keep forgetting|always forget|keep failing) to (?P<what>"
    r"(?:run|update|format|lint|check|regenerate|rebuild|bump|sign|write|add)(?: (?:the|all|your|our|my))?"
    r"(?: (?!(?:this|that|it|test)\b)[\w-]+)? (?:linter|formatter|type ?checker|tests?|test suite|checks?|changelog"
    r"|docs"
    r"|documentation|docstrings|type hints|build|lock ?file|readme|snapshots?|translations|version(?: number)?|commits"
    r"|`[^`]+`|[\w-]+\.(?:md|json|toml|lock))(?: (?:before|after) [^,;:]{3,50})?)"
    r"(?P<again> (?:once )?again| (?:each|every) time)?$",
    re.IGNORECASE,
)
_CJK: Final = lazy_regex(r"[\u3040-\u30ff\u3400-\u9fff]")
# Of all of a kind, or of what "we" have: "the button is blue" is of one thing of the task.
_OF_ALL: Final = lazy_regex(
    r"^(?:our|we|all|every|each|in our|unsere?\w*|wir|alle|jede\w*|nuestr[oa]s?|todos|todas|cada|notre|nos|tous|toutes"
    r"|chaque|nous|on)\b|^(?:我们|所有|全部|每)|^(?:すべて|全て|うち|私たち|各)",
    re.IGNORECASE,
)
_STATEMENT_MIN: Final = 4  # words, or twice as many Chinese or Japanese characters


def ordinary_wish(sentence: str, language: str, *, chat: bool = False) -> str:
    """Return the standing wish in everyday words that a sentence is, in its own words; empty if it is none.

    `chat`: only what is about how the agent talks.
    """
    forms = _FORMS.get(language)
    if forms is None or cue_phrases.is_question(sentence):
        return ""
    line = _plain(sentence)
    for part in dict.fromkeys((line, _plain(_BEFORE.split(line)[-1]))):
        if _matches(part, forms, chat=chat):
            return part
    return ""


def is_only_alone(wish: str, language: str) -> bool:
    """Return True for a wish that is a rule only in a message that asks for nothing else: "no semicolons, please"."""
    forms = _FORMS.get(language)
    if forms is None:
        return False
    lasting = forms.standing.match(wish) or forms.talk.match(wish)
    return not lasting and bool(forms.alone.match(wish) or forms.talk_alone.match(wish))


def asks_for_more(message: str, sentence: str, is_wish: Callable[[str], bool]) -> bool:
    """Return True if a message has a question or an order of work beside a sentence, which may then be about that.

    Another wish, as `is_wish` finds it, is no such order.
    """
    others = [one for one in sentences(message) if one_line(one) != one_line(sentence)]
    return any(cue_phrases.is_question(one) or (opens_task(one) and not is_wish(one)) for one in others)


def confirmed_statement(sentence: str, after: str) -> str:
    """Return a statement with the sentence after it that makes it a rule; empty if it does not.

    Example: "Our API returns dates as RFC 3339 in UTC" before "Keep it that way".
    """
    line, end = _plain(sentence), one_line(after).replace("\u2019", "'").rstrip(" .!。！")
    if (
        not _CONFIRMS.fullmatch(end)
        or not _OF_ALL.match(line)
        or _NO_STATEMENT.search(line)
        or cue_phrases.is_question(sentence)
    ):
        return ""
    words = len(line) // 2 if _CJK.search(line) else len(line.split())
    return f"{line}. {end}" if words >= _STATEMENT_MIN else ""


def order_in_complaint(sentence: str) -> str:
    """Return what a complaint says an agent forgot again, as an order: "run the linter"; empty for another sentence."""
    match = _FORGOTTEN.match(_plain(sentence))
    if match is None or ENGLISH.passing.search(match["what"]):
        return ""
    is_repeated = match["again"] or re.match(r"you (?:keep|always)", _plain(sentence), re.IGNORECASE)
    return match["what"] if is_repeated else ""


def _matches(line: str, forms: OrdinaryForms, *, chat: bool) -> bool:
    if forms.passing.search(_FROM_NOW.sub("", line)):
        return False
    kinds = (forms.talk, forms.talk_alone) if chat else (forms.talk, forms.talk_alone, forms.standing, forms.alone)
    return any(kind.match(line) for kind in kinds)


def _plain(sentence: str) -> str:
    """Return a sentence on one line without its opening and its full stop."""
    return _OPENING.sub("", one_line(sentence).replace("\u2019", "'")).rstrip(" .!。！,;")
