"""Rules in the words of how things are: "the tests always run with `make check`", "we store all times in UTC".

Such sentences are also reports ("the build always runs with errors") and orders of one task, so each form asks for what
a convention alone has: a named command or format, "all" or "always" beside it, a generic object, a named choice.
"""

from __future__ import annotations

import re
from typing import Final

from reverie.distill.extractive import cue_phrases
from reverie.distill.extractive.check_decision_has_stated_grounds import REASON, is_grounded_decision
from reverie.distill.extractive.stated_convention_forms import FORMS
from reverie.lazy_regex import lazy_regex

__all__ = ["decision_in", "is_per_piece", "stated_fact", "stated_wish"]

# What shows that a sentence is of one occasion, of the past or uncertain.
_UNSURE: Final = lazy_regex(
    r"\b(?:would|could|might|maybe|perhaps|probably|i (?:think|guess|believe)|not sure|if|for now|yet|right now|today"
    r"|tomorrow|yesterday|now|currently|at the moment|used to|here|this (?:time|one|pr|branch|task|session|file"
    r"|test|case)"
    r"|was|were|had|did|still|again|why|wrong|weird|broken|fail\w*|errors?|bugs?|slow|stuck"
    r"|vielleicht|wohl|könnte|würde|hätte|glaube|falls|wenn|heute|morgen|gestern|gerade|jetzt|derzeit|noch"
    r"|erstmal|vorerst"
    r"|diesmal|dies(?:e[mnrs]?|es)|hier|war|waren|wurden?|hatte|warum|wieso|leider|falsch|kaputt|fehler\w*"
    r"|langsam|hängen"
    r"|quizás?|tal vez|podría|creo|hoy|mañana|ayer|ahora|todavía|aquí|est[eao]s?|era|eran|estaba\w*|fue|por qué"
    r"|si|fall\w+"
    r"|errore?s?|roto|mal"
    r"|peut-être|pourrait|crois|aujourd'hui|demain|hier|maintenant|encore|ici|ce|cette|ces|cet|était|étaient|pourquoi"
    r"|erreurs?|cassée?s?|échou\w+|faux)\b"
    r"|可能|也许|如果|今天|明天|昨天|这次|现在|刚才|暂时|为什么|失败|报错|错误|[吗呢]|这个|那个|过了"
    r"|かもしれ|たぶん|もし|今日|明日|昨日|今回|今は|とりあえず|なぜ|失敗|エラー|この|その|ました(?!。?$)|でした",
    re.IGNORECASE,
)
# Openings that say nothing of the rule: "No, ", "btw", "und ".
_OPENING: Final = lazy_regex(
    r"^(?:(?:and|but|so|also|oh|hey|ok(?:ay)?|yes|no|nope|btw|by the way|note that|note|fyi|one more thing"
    r"|please|remember"
    r"|und|aber|also|ach ja|ja|nein|nee|übrigens|bitte|hinweis|wichtig|important|y|pero|sí|ojo|por cierto"
    r"|por favor|et|mais"
    r"|oui|non|au fait|s'il te plaît|attention)\b[\s,.:;!\u2013\u2014-]*"
    r"|(?:不|不对|对了|另外|请注意|いや|いいえ|ちなみに|あと)[，,、。！!：:]\s*)+",
    re.IGNORECASE,
)
# What is done on fixed days: "we deploy only on Thursdays", "wir setzen den Cache jeden Montag um 6 Uhr zurück".
_EN_DAYS: Final = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_DE_DAYS: Final = r"(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonnabend|sonntag)"
_ON_DAYS: Final = {
    "en": (
        r"we (?:only )?(?:deploy|release|ship|publish|merge|rotate|reset|wipe|back up|tag|upgrade) (?:[\w -]{2,40} )?"
        rf"(?:(?:only )?on {_EN_DAYS}s|only on (?:an? )?{_EN_DAYS}|(?:every|each) (?:{_EN_DAYS}|night|week|month))"
        r"(?: (?:morning|evening|night)s?)?(?: at \d[\d:]*(?: ?[ap]m)?)?"
    ),
    "de": (
        r"wir (?:deployen|releasen|veröffentlichen|mergen|setzen|spielen|leeren|löschen|sichern|rotieren|taggen) "
        rf"(?:[\w -]{{2,40}} )?(?:(?:nur|immer|nie|niemals) )?(?:jeden (?:{_DE_DAYS}|tag|abend|monat)"
        rf"|jede (?:woche|nacht)|{_DE_DAYS}s)(?: um \d[\d:.]*(?: uhr)?)?(?: (?:zurück|um|ein|aus|auf))?"
    ),
    "es": (
        r"(?:desplegamos|publicamos|lanzamos|reiniciamos|borramos) (?:[\w -]{2,40} )?(?:(?:solo|únicamente|nunca) )?"
        r"(?:cada|todos los|los) (?:lunes|martes|miércoles|jueves|viernes|sábados?|domingos?)(?: a las \d[\d:]*)?"
    ),
    "fr": (
        r"(?:nous|on) (?:déployons|déploie|publions|publie|livrons|livre) (?:[\w -]{2,40} )?(?:chaque|tous les"
        r"|(?:seulement|uniquement) le) (?:lundis?|mardis?|mercredis?|jeudis?|vendredis?|samedis?"
        r"|dimanches?)(?: à \d\w*)?"
    ),
    "zh": (
        r"(?:我们)(?:只在|只能在|固定在|每)(?:周|星期)[一二三四五六日天](?:晚上|早上|上午|下午)?"
        r"(?:才)?(?:部署|发布|上线|备份|重置)"
    ),
    "ja": (
        r"(?:毎週[月火水木金土日]曜日?に(?:のみ|だけ)?|[月火水木金土日]曜日?に(?:のみ|だけ))"
        r"(?:デプロイ|リリース|公開|バックアップ)(?:する|します)"
    ),
}
_DAYS: Final = {language: lazy_regex(rf"^(?:{form})$", re.IGNORECASE) for language, form in _ON_DAYS.items()}
_PER_PIECE: Final = lazy_regex(
    r"“(?:(?:an?|one|1|eine?n?|una?|une?|pro|je|für jede[nrs]?) |每个|一个|チケット|機能|課題|イシュー)", re.IGNORECASE
)
_SHORTEST: Final = 12  # characters of a rule; half as many of Chinese and Japanese
_CJK: Final = lazy_regex(r"[\u3040-\u30ff\u3400-\u9fff]")


def stated_wish(sentence: str, language: str, *, to_reader: bool = False) -> str:
    """Return the rule about how to work that a sentence states, in its words; empty if it states none.

    `to_reader`: only what the person prefers, which is all that may be a rule in a chat.
    """
    forms = FORMS.get(language)
    rule = _plain(sentence)
    if forms is None or _is_none(rule):
        return ""
    if forms.to_reader.match(rule) or (not to_reader and forms.wishes.match(rule)):
        return rule
    return ""


def is_per_piece(wish: str) -> bool:
    """Return True for a quoted wish such as "one commit per fix", which after an order is about that task alone."""
    return _PER_PIECE.search(wish) is not None


def stated_fact(sentence: str, language: str) -> str:
    """Return the convention about the project's values that a sentence states, in its words; empty if it has none."""
    forms = FORMS.get(language)
    rule = _plain(sentence)
    if forms is None or _is_none(rule):
        return ""
    return rule if forms.facts.match(rule) or _DAYS[language].match(rule) else ""


def decision_in(sentence: str, language: str) -> str:
    """Return the decision for something named that a sentence tells, with its reason; empty if it tells none."""
    forms = FORMS.get(language)
    said = _plain(sentence)
    if forms is None or cue_phrases.is_question(sentence) or _is_short(said):
        return ""
    if is_grounded_decision(said, language):
        return said
    if not forms.decisions.match(said):
        return ""
    decided = REASON.split(said, maxsplit=1)[0]
    return "" if _UNSURE.search(decided) else said


def _plain(sentence: str) -> str:
    """Return a sentence without its opening and its full stop."""
    return _OPENING.sub("", sentence.replace("\u2019", "'").strip()).rstrip(" .!。！")


def _is_none(rule: str) -> bool:
    return _is_short(rule) or cue_phrases.is_question(rule) or _UNSURE.search(rule) is not None


def _is_short(rule: str) -> bool:
    return len(rule) * (2 if _CJK.search(rule) else 1) < _SHORTEST
