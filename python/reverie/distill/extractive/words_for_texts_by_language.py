"""Words for texts, for writing and for saying in other languages than English, with which a pasted text is announced.

"Voici le mail de Bob :", "Här är mejlet från Bo:". A new language is one entry of `TEXT_WORDS`, and one of `OWN_RULES`
if its words for "the following" announce the person's own rules too: "Mina regler är följande:". The list of languages
is also in docs/agents.md. English is in `introductions_of_pasted_text`, and so are Chinese and Japanese, which put no
blanks between words.
"""

from __future__ import annotations

import re
from typing import Final

from reverie.lazy_regex import lazy_regex

__all__ = ["OWN_RULES", "TEXT_WORDS"]


def _words(pattern: str) -> re.Pattern[str]:
    return lazy_regex(rf"\b(?:{pattern})\b", re.IGNORECASE)


def _parts(pattern: str) -> re.Pattern[str]:
    """Return a pattern that may match inside of a word, for a script in which no word ends where `re` sees an end."""
    return lazy_regex(rf"(?:{pattern})", re.IGNORECASE)


TEXT_WORDS: Final = {
    "German": _words(
        r"e-?mails?|mails?|nachricht(?:en)?|brief|texte?s?|dokument\w*|seite|ticket|schreibt|schrieb|geschrieben|sagt"
        r"|sagte|meinte|folgende\w*"
    ),
    "French": _words(r"courriels?|courrier|messages?|page|document|écrit|dit|suivant\w*|voici|voilà"),
    "Spanish": _words(r"correos?|mensajes?|texto|página|documento|escribi\w+|dice|dijo|siguiente\w*|proveedor"),
    "Italian": _words(r"messaggio|pagina|scritto|ha detto|seguente"),
    "Portuguese": _words(r"mensagem|escreveu|disse|seguinte"),
    "Dutch": _words(r"bericht|schreef|volgende"),
    "Swedish": _words(
        r"mejl\w*|mailet|e-?post\w*|meddeland\w*|brevet|texten|dokumentet|kommentar(?:en|er|erna|ene|erne)?|inlägg\w*|artikeln|sidan|loggen"
        r"|skrev|skriver|säger|sade|skickade|följande|(?:sa|sagt)(?=\W*$)"
    ),
    "Danish": _words(
        r"mailen|e-?mailen|besked(?:en)?|meddelels\w*|brevet|teksten|dokumentet|kommentar(?:en|er|erna|ene|erne)?|indlæg\w*|artiklen"
        r"|loggen|skrev|skriver|sagde|siger|sendte|følgende"
    ),
    "Norwegian": _words(
        r"e-?posten|melding(?:en|a)?|beskjed(?:en)?|brevet|teksten|dokumentet|kommentar(?:en|er|erna|ene|erne)?|innlegg\w*|artikkelen|loggen"
        r"|skrev|skriver|sier|sendte|følgende|(?:sa|sagt)(?=\W*$)"
    ),
    "Czech": _words(
        r"zpráv\w*|(?:e-?)?mail(?:u|em|y|ů)?|dopis\w*|text(?:u|em|y)?|dokument\w*|komentář\w*|člán(?:ek|k\w*)|stránk\w*|příspěv\w*"
        r"|vzkaz\w*|napsal\w*|píše|řekl\w*|říká|poslal\w*|následující\w*"
    ),
    "Polish": _words(r"następując\w*|napisał\w*|wiadomość"),
    "Russian": _words(r"письмо|сообщение|пишет|написал\w*|сказал\w*"),
    "Greek": _words(
        r"μήνυμα|μηνύματ\w*|μέιλ|e-?mail|γράμμα|επιστολή|κείμενο|κειμέν\w*|έγγραφο|σχόλι\w*|άρθρο|σελίδα|έγραψ\w*"
        r"|γράφει|είπε|λέει|έστειλ\w*|ακόλουθ\w*|παρακάτω|εξής"
    ),
    "Turkish": _words(
        r"mesaj\w*|e-?posta\w*|metin|metni|belge\w*|sayfa\w*|yorum\w*|yazdı\w*|dedi|söyledi|gönderdi\w*|şunu|şöyle"
        r"|aşağıdaki\w*"
    ),
    "Arabic": _words(r"رسالة|رسائل|بريد|نص|مقال\w*|صفحة|وثيقة|مستند|تعليق|كتب\w*|قال\w*|أرسل\w*|التالي\w*"),
    "Vietnamese": _words(
        r"thư|e-?mail|mail|tin nhắn|thông điệp|văn bản|tài liệu|bình luận|bài viết|bài báo|trang|nhật ký|viết|nói|gửi"
        r"|sau đây|như sau|dưới đây"
    ),
    # Its signs of vowels are no letters to `re`: "संदेश", "कहा" but not "कहाँ" (where).
    "Hindi": _parts(
        r"संदेश|सन्देश|ई-?मेल|मेल|पत्र|चिट्ठी|दस्तावेज|टिप्पणी|लेख|पाठ|पृष्ठ|लॉग|लिखा|लिखते|कहा(?![ँं])|कहते|भेजा|बताया"
        r"|निम्नलिखित"
    ),
    # It puts its particles behind a word, so no word ends there: "밥의 메시지:", "밥이 보낸 메일이야:".
    "Korean": _parts(
        r"메시지|메일|편지|문서|댓글|게시글|페이지|로그|본문|기사|이슈|보낸|보냈|쓴|썼|말한|말했|적은|적었|남긴|다음은"
    ),
}

# The person's own rules, which another's words may be named beside: "Mina regler är följande:".
OWN_RULES: Final = {
    "Swedish": _words(r"(?:min|mitt|mina|vår|vårt|våra) (?:\w+ )?(?:regel|regler|önskemål|krav|riktlinjer|rutiner)"),
    "Danish": _words(r"(?:min|mit|mine|vores) (?:\w+ )?(?:regel|regler|ønsker|krav|retningslinjer|rutiner)"),
    "Norwegian": _words(
        r"(?:min|mitt|mine|vår|vårt|våre) (?:\w+ )?(?:regel|regler|ønsker|krav|retningslinjer|rutiner)"
    ),
    "Czech": _words(r"(?:moje|mé|naše|má) (?:\w+ )?(?:pravidl\w+|požadavk\w+|přání|zvyklosti)"),
    "Greek": _words(r"(?:κανόνες|προτιμήσεις|απαιτήσεις|επιθυμίες) (?:μου|μας)"),
    "Hindi": _parts(r"(?:मेरे|मेरी|मेरा|हमारे|हमारी|हमारा)\s(?:\S+\s)?(?:नियम|पसंद|शर्त|इच्छा)"),
    "Vietnamese": _words(r"(?:quy tắc|nguyên tắc|yêu cầu|mong muốn|sở thích) của (?:tôi|chúng tôi|mình)"),
}
