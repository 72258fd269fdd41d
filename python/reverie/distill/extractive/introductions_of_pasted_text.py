"""Detection of lines that announce, enclose or disguise text from another author.

"Summarise this:", "Voici le mail du fournisseur :", a rule of dashes. In doubt a line announces: what follows
it waits for the person and is not lost.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from reverie.distill.extractive.words_for_texts_by_language import OWN_RULES, TEXT_WORDS
from reverie.lazy_regex import lazy_regex

__all__ = [
    "announced_at",
    "announces_own",
    "announces_text",
    "asks_about_text_above",
    "heads_chat_message",
    "is_disguised",
    "is_separator",
]

_CHARS_MAX: Final = 400  # of a line that is searched: an announcement is short

_TEXTS: Final = (
    r"(?:e-?mails?|messages?|texts?|letters?|reviews?|tickets?|issues?|articles?|pages?|posts?|logs?|outputs?|docs?"
    r"|documents?|documentation|readme|transcripts?|chat|slack|snippets?|paragraphs?|sentences?|descriptions?"
    r"|comments?"
    r"|contents?|rfcs?|specs?|drafts?|wiki|newsletters?|release notes|changelogs?)"
)
# Nobody asks to translate or to summarise what they say themselves.
_OF_TEXT: Final = (
    r"(?:summari[sz]e|summary of|translate|proof-?read|paraphrase|rephrase|rewrite|reply to|respond to|shorten"
    r"|explain"
    r"|what (?:does|do|did)\b.{0,40}\b(?:mean|say|want)|make sense of|fix the (?:grammar|typos|spelling) (?:of|in)"
    r"|tl;?dr)"
)
_TO_READ: Final = (
    r"(?:review|check|read|see|look (?:at|over|through)|analy[sz]e|consider|comment on|look into|here(?:'s| is| are))"
)
# "Rewrite this module: always keep …" is about code, and not about the words behind the colon.
_CODE: Final = r"(?:modules?|functions?|files?|class(?:es)?|code|parsers?|tests?|components?|scripts?|methods?|queries)"
_ASKS: Final = lazy_regex(
    rf"\b{_OF_TEXT}\b[^.!?]{{0,60}}\b(?:(?:this|these|the following|following|{_TEXTS})\b[^.!?]{{0,40}}|below\W*)"
    rf"[.!?]?$"
    rf"|\b{_TO_READ}\b[^.!?]{{0,60}}"
    rf"\b(?:the following|below|(?:this|these|the following|his|her|their) (?:\w+ )?{_TEXTS})\b"
    rf"[^.!?]{{0,20}}[.!?]?$|^(?:please |can you |could you )*{_OF_TEXT}\W*$"
    r"|\b(?:wrote|said|says|answered|replied|sent)(?: (?:this|back|me|us|the following)){0,2}$",
    re.IGNORECASE,
)
# The same at the beginning of a line that goes on with the words: "Translate this into German: …", "from the doc: …".
_INLINE: Final = lazy_regex(
    rf"^(?:please |can you |could you |now |and )*"
    rf"(?:(?:{_OF_TEXT}|{_TO_READ})\b(?![^:]*\b{_CODE}\b)[^:\uff1a.!?]{{0,60}}"
    rf"\b(?:this|these|that|the|his|her|their|following|below)\b[^:\uff1a.!?]{{0,40}}"
    rf"|(?:from|per|according to|(?:the|their|his|her))\b[^:\uff1a.!?]{{0,40}}\b{_TEXTS}(?: \w+){{0,3}}"
    rf"|{_OF_TEXT})\s*[:\uff1a]\s+(?=\S)",
    re.IGNORECASE,
)
_ABOVE: Final = lazy_regex(
    rf"\b(?:{_OF_TEXT}|{_TO_READ})\b.{{0,40}}\babove\b|^(?:please |can you |could you |what about )*{_OF_TEXT}\b"
    r".{0,20}\b(?:this|that|it)\b(?: (?:for me|in|into|to) ?\w*){0,2}\W*$",
    re.IGNORECASE,
)
_COLON: Final = lazy_regex(r"[:\uff1a\ufe55\ua789\u2014\u2013\u2192\u2193][^\w]{0,8}$")
# Here a colon is not needed: "Il a écrit ceci", "mira este correo", "schau dir diese Mail an".
_POINTS_AT: Final = lazy_regex(
    r"\b(?:écrit|dit) (?:ceci|cela)\W*$|\b(?:est[eaos]+|siguiente) (?:correo|mensaje|texto|documento|página)\W*$"
    r"|\b(?:ce|cet|cette|ces) (?:mail|courriel|message|texte|document|page)\W*$"
    r"|\b(?:diese[rnms]?|folgende[rnms]?) (?:e-?mail|nachricht|text|dokument|seite|brief)\b.{0,12}$"
    r"|\b(?:questa|questo|esta?|este) (?:messaggio|testo|mensagem)\W*$",
    re.IGNORECASE,
)
_CJK: Final = lazy_regex(
    r"^(?:请|帮我|你)?.{0,8}(?:下面|以下|如下|这是|这封|这篇|这段|これは|次の|以下の|この).{0,20}(?:邮件|文档|内容"
    r"|文章|日志|消息|评论"
    r"|工单|说明|文本|信|メール|文書|記事|ログ|コメント|本文|文章|文).{0,12}$"
)
_SEPARATOR: Final = lazy_regex(
    r"^\s*(?:[-=*_~#+<>]{3,}|\"{3,}|'{3,}|-{3,} ?[A-Z][A-Z ]+ ?-{3,}|={3,} ?\S.{0,40} ?={3,})\s*$"
)
# The head of a message that was copied from a chat: "bob  10:42 AM", "Ann Lee — Today at 9:15", "Jo, [12.03.26 10:42]".
_CHAT_HEAD: Final = lazy_regex(
    r"^\s*(?:[^\W\d_][\w.'-]{0,30}(?: {1,2}[\w.'-]{1,30}){0,2}(?:\s*[(:][\w/ ]{1,20}[):])?)?[^\w:]{0,6}"
    r"(?:(?:today|yesterday|heute|gestern|hoy|ayer|aujourd'hui|hier|今天|昨天|今日|昨日)[, ]{0,2}(?:at|um|a las|à)?"
    r"|\d{1,4}[./-]\d\d?[./-]\d{1,4},?)?\s*"
    r"\d\d?:\d\d(?::\d\d)?(?:\s?[ap]\.?m\.?)?(?:\s*\(\w+\))?[^\w]{0,4}$",
    re.IGNORECASE,
)
# "Deploy at 10:42" is a time in a sentence.
_TIME_IN_SENTENCE: Final = lazy_regex(
    r"\b(?:at|by|until|till|from|around|before|after|since|to|for|um|bis|ab|vor|nach|gegen|seit|von|las|hasta|desde"
    r"|para"
    r"|à|vers|avant|après|dès|pour)\s+\d\d?:\d\d",
    re.IGNORECASE,
)
_DAY_AT: Final = lazy_regex(
    r"\b(?:today at|yesterday at|heute um|gestern um|hoy a las|ayer a las|aujourd'hui à|hier à)\s+\d", re.IGNORECASE
)
_OWN: Final = lazy_regex(
    r"\b(?:my|our|meine?|unsere?|mis?|nuestr[ao]s?|mes|nos|notre|mon)\b|我的|我们的|私の"
    r"|\b(?:i|we) (?:want|need|would|expect|prefer|like|ask|decided|always|never)\b|\brules? (?:for|of|is)\b",
    re.IGNORECASE,
)
# The person's own rules, whatever stands between: "Here are my rules for this repo:", "meine Regeln:". Not those of
# somebody of theirs: "my colleague's rules:".
_OWN_LIST: Final = lazy_regex(
    r"\b(?:my|our) (?:\w+ )?(?:rules?|preferences?|wish(?:es)?|conventions?|requirements?|guidelines?|requests?|plan"
    r"|list|instructions?|thoughts?|feedback|comments?|answers?|notes?|tasks?|todos?|habits?|setup|decisions?)\b(?!')"
    r"|\b(?:i|we) (?:want|need|would|expect|prefer|like|ask|decided|always|never)\b|\bfor you\b"
    r"|^(?:please )?remember\b"
    r"|\b(?:meine?|unsere?) (?:\w+ )?(?:regeln|vorgaben|wünsche|vorlieben|konventionen|anforderungen|bitten)\b"
    r"|\b(?:mes|nos) (?:\w+ )?(?:règles|préférences|consignes|conventions|exigences|souhaits)\b"
    r"|\b(?:mis|nuestras|nuestros) (?:\w+ )?(?:reglas|preferencias|normas|convenciones|requisitos|deseos)\b"
    r"|\b(?:le )?(?:mie|nostre) (?:\w+ )?(?:regole|preferenze|convenzioni)\b|\b(?:minhas|nossas) (?:\w+ )?(?:regras"
    r"|preferências|convenções)\b|\b(?:мои|наши) (?:\w+ )?(?:правила|предпочтения|требования|пожелания)\b"
    r"|(?:我|我们)的?(?:规则|要求|偏好|规范)|(?:私|私たち|うち)の(?:ルール|規則|希望|好み)|(?:내|제|우리)\s?(?:규칙"
    r"|요청|선호)",
    re.IGNORECASE,
)
# A Latin and a Cyrillic or Greek letter that looks like a Latin one in one word: nobody types that.
_LOOKALIKES: Final = (
    r"\u0405\u0406\u0408\u0410\u0412\u0415\u041a\u041c-\u041e\u0420-\u0423\u0425\u0430\u0435\u043e\u0440\u0441\u0443\u0445"
    r"\u0455\u0456\u0458\u0501\u04bb\u0391\u0392\u0395-\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bf"
)
_MIXED: Final = lazy_regex(rf"[A-Za-z][{_LOOKALIKES}]|[{_LOOKALIKES}][A-Za-z]")
_JOINERS: Final = "\u200c\u200d"  # of Persian, Indic scripts and emoji


def announces_text(line: str) -> bool:
    """Return True for a line after which the lines that follow are another's words, in any of these languages.

    English, Chinese, Japanese, and those of `TEXT_WORDS`.
    """
    plain = unicodedata.normalize("NFC", _visible(line)).strip()
    if not plain or len(plain) > _CHARS_MAX:
        return False
    if _MIXED.search(plain):
        return True
    if _OWN.search(plain):
        return False
    if _ASKS.search(plain) or _POINTS_AT.search(plain) or _CJK.match(plain):
        return True
    return _COLON.search(plain) is not None and (
        _is_about_text(plain) or re.search(rf"\b{_TEXTS}\b", plain, re.IGNORECASE) is not None
    )


def _is_about_text(plain: str) -> bool:
    """Return True for a line with a word for a text, for writing or saying, that does not say "my rules" beside it."""
    return any(words.search(plain) for words in TEXT_WORDS.values()) and not any(
        own.search(plain) for own in OWN_RULES.values()
    )


def announces_own(line: str) -> bool:
    """Return True for a line that announces what the person wants themself: "Here are my rules for this repo:"."""
    return _OWN_LIST.search(line[:_CHARS_MAX]) is not None


def announced_at(line: str) -> int:
    """Return where the words begin that a line announces and has itself, as "Translate this: …"; -1 without such."""
    match = _INLINE.match(line[:_CHARS_MAX])
    return -1 if match is None or _OWN.search(match[0]) else match.end()


def heads_chat_message(line: str) -> bool:
    """Return True for a line of a name and a time of day, as chats put above each message when several are copied."""
    if len(line) > _CHARS_MAX or _CHAT_HEAD.match(line) is None:
        return False
    return _TIME_IN_SENTENCE.search(line) is None or _DAY_AT.search(line) is not None


def asks_about_text_above(line: str) -> bool:
    """Return True for a request about the lines before it: "Can you translate the above?"."""
    return len(line) <= _CHARS_MAX and _ABOVE.search(line.strip()) is not None


def is_separator(line: str) -> bool:
    """Return True for a line that parts a pasted text from the person's: dashes, equals signs, three quotes."""
    return _SEPARATOR.match(line[:_CHARS_MAX]) is not None


def is_disguised(line: str) -> bool:
    """Return True for a line with invisible characters, or with letters of two scripts in one word."""
    return not line.isascii() and (_visible(line) != line or _MIXED.search(line) is not None)


def _visible(text: str) -> str:
    """Return a text without zero-width, bidirectional and other characters that show nothing."""
    if text.isascii():
        return text
    return "".join(char for char in text if char in _JOINERS or char == "\t" or unicodedata.category(char) != "Cf")
