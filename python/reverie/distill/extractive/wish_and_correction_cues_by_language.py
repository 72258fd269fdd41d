"""Tables of cues for each language: standing wishes, things to remember, corrections, and the person about themselves.

A sentence is read with the table of its own language; one in a language without a table yields nothing, since a wrong
rule is worse than none. English wishes are rephrased (`standing_preferences`), those of other languages are quoted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from reverie.lazy_regex import lazy_regex

__all__ = ["Language", "is_quoted_wish", "language_of", "words_of"]

_CJK = lazy_regex(r"[\u3400-\u9fff\u3040-\u30ff\uac00-\ud7af]")
_KANA = lazy_regex(r"[\u3040-\u30ff]")
_HANGUL = lazy_regex(r"[\uac00-\ud7af]")
_WORD = lazy_regex(r"[^\W\d_]+")
_CHARACTERS_A_WORD = 2  # of Chinese and Japanese
_COUNTED = 2_000  # characters of a text whose words are counted; what is asked for are numbers below 20


@dataclass(frozen=True, slots=True)
class Language:
    """The cues of one language; a pattern with a group captures the person's words as `what` or `later`.

    `wishes` match a sentence that is an instruction for good, `not_wishes` a part that makes it none: only for now, a
    report ("the test always fails"), a question. `remember` and `correction` begin a sentence; `about_me` is the
    person about themselves. `to_agent` is an instruction about how an assistant answers in a chat. `rejection` says
    that work which was done does not work, or is to be undone ("it still fails", "revert that"); `fails` only says that
    something does not work.
    """

    name: str
    wishes: re.Pattern[str]
    not_wishes: re.Pattern[str]
    remember: re.Pattern[str]
    correction: re.Pattern[str]
    about_me: re.Pattern[str]
    to_agent: re.Pattern[str]
    rejection: re.Pattern[str]
    fails: re.Pattern[str]


def _language(
    name: str,
    *,
    wishes: str,
    not_wishes: str,
    remember: str,
    correction: str,
    about_me: str,
    to_agent: str,
    rejection: str,
    fails: str,
) -> Language:
    patterns = (wishes, not_wishes, remember, correction, about_me, to_agent, rejection, fails)
    return Language(name, *(lazy_regex(text, re.IGNORECASE) for text in patterns))


_DE_VERBS = (
    r"(?:antworte|schreibe?|verwende|nutze|benutze|nimm|führe?|mache?|lasse?|teste|prüfe|frage?|committe|pushe|halte"
    r"|achte|formatiere|benenne|lösche|ändere|füge|gib|zeige?|sprich|erkläre|starte|sage?|rufe?)"
)
_ES_VERBS = (
    r"(?:usa|utiliza|responde|contesta|escribe|ejecuta|haz|pon|añade|agrega|mantén|deja|pregunta|prueba|evita|habla"
    r"|cambia|crea|llama|corre|no (?!es\b|más\b)\w+(?:es|as|s))"
)
_FR_VERBS = (
    r"(?:utilise|emploie|réponds|écris|lance|exécute|fais|mets|garde|laisse|demande|teste|vérifie|évite|nomme|ajoute"
    r"|parle|appelle|commence|ne \w+(?:e|s)|n'\w+(?:e|s)) "
)
_LANGUAGES: Final = {
    "en": _language(
        "en",
        wishes=r"(?!)",  # rephrased in `standing_preferences`
        not_wishes=r"(?!)",
        remember=r"^(?:please )?(?:(?:remember|keep in mind|bear in mind|don'?t forget) that (?!time|day|night|one"
        r"|when|song"
        r"|trip|feeling|moment|guy|girl|movie|book)|remember: |(?:just )?for (?:future reference"
        r"|the record(?!,? i\b))[,:]? (?:that )?|note for (?:later|next time): )"
        r"(?P<what>.+)$"
        r"|^(?!(?:it|this|that|these|those|they|he|she|so|then|i'?(?:m|ll)?|there)\b)(?!.*\b(?:now|today|tonight"
        r"|tomorrow"
        r"|currently|yet|for the moment)\b)(?P<later>[^,;?!]{8,160})[,;] (?:so |and |but )?(?:please )?"
        r"(?:(?:keep|bear) (?:that|this|it) in mind|remember (?:that|this|it)|don'?t forget (?:that|this|it))"
        r"(?:,? please)?\W*$",
        correction=r"^(?:(?:no|nope|stop|wrong)\b[,.!:\s–—-]+(?:(?:that|this)(?:'s| is| was) (?:wrong|incorrect"
        r"|not (?:right|correct|how we do it|what i (?:want|meant|asked for)))[,.!:;\s–—-]+)?|(?:that|this)(?:'s| is|"
        r" was)"
        r" (?:wrong|the wrong \w+)[:;,] )(?:(?:please|we|you should|instead)[,\s]+)*"
        r"(?P<what>(?:(?:don'?t|do not|never|always|avoid|only|use|keep|leave|put|run|call|name|write|make sure"
        r"|we use)\b|no (?!one\b|need\b|idea\b)[\w -]{3,40}[,;] (?:please )?use ).+)$"
        r"|^(?:no|nope|wrong)\b[,.!:\s–—-]+(?P<choice>(?:[a-z-]+ ){0,2}(?P<kind>[a-z-]{3,}),? not (?:a |an )?"
        r"(?:[a-z-]+ ){1,2}(?P=kind))[.!]*$",
        about_me=r"(?!)",
        rejection=r"^(?!.*\b(?:one (?:more )?thing|another|also|unrelated|separate\w*)\b).*(?:"
        r"\bstill (?:not\b|isn'?t\b|doesn'?t\b|don'?t\b|can'?t\b|won'?t\b|the same (?:error|problem|issue)\b"
        r"|(?:see(?:ing)?|get(?:s|ting)?|ha(?:s|ve|ving)|show(?:s|ing)?|throw(?:s|ing)?) .{0,30}\b(?:errors?|failures?"
        r"|problems?|issues?|warnings?|bugs?)\b|(?:fail|broke|break|crash|hang|leak|flak|wrong|happen|stuck|buggy"
        r"|throw)\w*)|(?<!don't )(?<!not )(?<!without )\b(?:revert|undo|roll back|back out) (?:that|this|it|them"
        r"|those|these|everything|all|your|the (?:last|latest|previous)|what you)\b"
        r"|\b(?:roll|back) (?:it|this|that|them|everything) (?:back|out)\b|\blet'?s (?:revert|undo|roll back)\b"
        r"|^(?:(?:please|no|ok|okay|nah)\b[,.]? *)*(?:revert|undo|roll back)\W*$"
        r"|^(?:(?:no|nope|but|hmm+)\b[,.]? *)*(?:that|this|it|nothing)(?:'s)? (?:(?:doesn'?t|does not|didn'?t|did not)"
        r" (?:really |actually )?(?:work|fix|help)|(?:is |still )*(?:not working|broken)))",
        fails=r"\b(?:doesn'?t|does not|didn'?t|did not|isn'?t|is not|not|never) (?:actually |really |quite )?(?:work"
        r"|working|worked|fix|fixed|help|helped)\b|\b(?:broken|bugged|buggy)\b|\b(?:crash|fail)(?:s|es|ing)\b",
        to_agent=r"(?!)",
    ),
    "de": _language(
        "de",
        wishes=rf"^(?:und |also |ach ja,? )?(?:bitte,? )?(?:(?:ab (?:jetzt|sofort)|von (?:jetzt|nun) an|in zukunft"
        rf"|künftig"
        rf"|zukünftig)\b,? (?:(?:bitte|nur|nie|niemals|immer|keine?n?|nicht|alle|jede\w*)\b|{_DE_VERBS}\b)"
        rf"|(?:ab (?:jetzt|sofort)|von (?:jetzt|nun) an),? (?:\w+st du|\w+en wir)\b"
        rf"|(?:wir|du) (?:dürfen|darfst|sollen|sollst|müssen|musst) (?:\w+ )?(?:immer|nie|niemals)\b"
        rf"|(?:{_DE_VERBS}|wir (?:verwenden|nutzen|benutzen)) [^\s,]+(?: hier)?, (?:und )?nicht \S+$"
        rf"|(?:immer|nie|niemals|grundsätzlich) (?!noch|wieder|mehr|im)"
        rf"|{_DE_VERBS}\b[^.]*\b(?:immer|nie|niemals|grundsätzlich|jedes mal|in zukunft|ab jetzt)\b"
        rf"|(?:wir|hier) (?:verwenden|nutzen|benutzen|schreiben|committen|pushen|werden) (?:wir |hier )?"
        rf"(?:immer|nie|niemals|grundsätzlich)\b)",
        not_wishes=r"\b(?:heute|gerade|diesmal|vorerst|in dies\w+|fehlschl\w*|schlägt|warum|wieso)\b",
        remember=r"^(?:bitte )?(?:merke? dir|denke? (?:bitte )?daran|vergiss (?:bitte )?nicht|behalte im kopf"
        r"|für (?:die zukunft|später)(?=:))"
        r"(?: bitte)?[,:]? (?:dass )?(?!(?!.*\b(?:immer|nie\w*)\b).*\b(?:zu \w+en|\w+zu\w+en)\b(?:,|$|[.!]))"
        r"(?P<what>.+)$"
        r"|^(?!(?:das|dies\w*|es|sie|er|ich|da)\b)(?!.*\b(?:heute|jetzt|gerade|morgen|noch|derzeit)\b)"
        r"(?P<later>[^,;?!]{8,160})[,;] (?:bitte )?(?:merke? dir (?:das|es)|denke? (?:bitte )?daran"
        r"|vergiss das nicht|behalte das im kopf)\W*$",
        correction=r"^(?:(?:nein|nee|stopp|falsch)\b[,.!:\s–—-]+(?:das (?:ist|war) (?:leider )?(?:falsch|verkehrt"
        r"|nicht richtig)[,.!:;\s–—-]+)?|das (?:ist|war) (?:falsch|verkehrt|(?:der|die|das) falsche \w+)[:;,]"
        r" )(?:bitte )?"
        rf"(?P<what>(?:(?:{_DE_VERBS}|nicht|nie|niemals|immer|wir (?:verwenden|nutzen|benutzen))\b"
        rf"|keine?n? [^,;]{{3,60}}[,;] (?:sondern|lieber|stattdessen|bitte|{_DE_VERBS})\b).+)$",
        about_me=r"^(?:hallo[,! ]+)?(?:ich heiße|mein name ist|nenn(?:e)? mich|ich (?:wohne|lebe|arbeite) (?:in|bei"
        r"|als|an)"
        r"|ich bin (?:\w+ )?(?:\w+(?:entwickler|ingenieur|lehrer|student|ärzt|designer|manager)\w*|vegetarier\w*"
        r"|veganer\w*)"
        r"|meine muttersprache ist)\b",
        rejection=r"^(?!.*\b(?:außerdem|übrigens|noch etwas|nebenbei)\b).*(?:"
        r"\b(?:immer noch|noch immer|nach wie vor|weiterhin) (?:\w+ )?(?:nicht|kein\w*|kaputt|falsch|fehl\w*"
        r"|rot|defekt|ein(?:en)? fehler)\b|\b(?:fehl\w+|crasht|hängt|scheitert|bricht|schlägt) (?:es |das |er |sie )?"
        r"(?:immer noch|noch immer|weiterhin)\b|\b(?:mach|mache|nimm) (?:das|es|die|den|alles|deine)\b.{0,40}"
        r"\b(?:rückgängig|zurück)|\brückgängig machen\b|\brevertier\w*\b"
        r"|^(?:(?:nein|nee|aber|hm+)\b[,.]? *)*(?:das|es) (?:funktioniert|geht|klappt|läuft|hilft)(?: \w+)? nicht\b)",
        fails=r"\b(?:funktioniert|geht|klappt|läuft|hilft|tut)\b(?: \w+){0,2} nicht\b|\bkaputt\b|\b(?:stürzt|schlägt)\b"
        r".{0,20}\b(?:ab|fehl)\b",
        to_agent=r"\b(?:antwort|schreib|sprich|nenn|erklär|übersetz|fass|formatier|deutsch|englisch|stichpunkt|duz|siez)",
    ),
    "es": _language(
        "es",
        wishes=rf"^(?:y |ah,? )?(?:por favor,? )?(?:(?:a partir de ahora|de ahora en adelante|en (?:el )?futuro"
        rf"|en adelante),? "
        rf"(?:por favor,? )?(?:siempre |nunca )?(?:{_ES_VERBS}\b|no\b)"
        rf"|(?:nunca|jamás) (?!(?:olvidas|pruebas|usas|ejecutas|escuchas|haces|pones|dices|lees|compruebas|miras)\b)"
        r"\w+(?:es|as)\b"
        rf"|(?:siempre|nunca|jamás) (?:{_ES_VERBS}\b|(?:usamos|utilizamos|escribimos|hacemos)\b"
        r"|(?:debemos|debes|hay que|se debe)\b)|(?:usa|usamos|utiliza|utilizamos) [^\s,]+(?: aquí)?,? (?:y )?no "
        r"(?!(?:funciona|va|puedo|podemos|compila|está|sale|arranca)\b)\S+$"
        rf"|{_ES_VERBS}\b[^.]*\b(?:siempre|nunca|jamás|cada vez|de ahora en adelante|a partir de ahora)\b"
        rf"|(?:usamos|utilizamos|escribimos|hacemos) (?:siempre|nunca)\b)",
        not_wishes=r"\b(?:hoy|esta vez|por ahora|ahora mismo|en est[ea]|falla|por qué)\b",
        remember=r"^(?:por favor,? )?(?:recuerda|acuérdate(?: de)?|ten en cuenta"
        r"|no olvides)[,:]? (?:que )(?P<what>.+)$"
        r"|^para (?:futuras? referencias?|el futuro|más adelante)[,:] (?P<later>.+)$"
        r"|^(?!(?:eso?|est[aeo]s?|lo|ya|yo)\b)(?!.*\b(?:hoy|ahora|mañana|todavía)\b)(?P<after>[^,;?!]{8,160})[,;] "
        r"(?:por favor,? )?(?:tenlo (?:en cuenta|presente)|recuérdalo|no lo olvides)\W*$",
        correction=r"^no[,.!:]\s*(?:es[oa] (?:está mal|es incorrecto|no es así)[,.:;]\s*)?(?:por favor,? )?"
        rf"(?P<what>(?:{_ES_VERBS}|nunca|siempre|usamos)\b.+)$",
        about_me=r"^(?:hola[,! ]+)?(?:me llamo|mi nombre es|llámame|vivo en|trabajo (?:en|como|de|para)"
        r"|soy (?:un |una )?(?:ingenier|desarrollador|programador|profesor|médic|estudiante|diseñador|abogad"
        r"|vegetarian|vegan)\w*"
        r"|mi idioma (?:materno )?es)\b",
        rejection=r"^(?!.*\b(?:además|otra cosa)\b).*(?:"
        r"\b(?:sigue|siguen|continúa|todavía|aún) (?:sin|no|fallando|roto|rota|mal|igual|dando|con el mismo)\b"
        r"|^(?:(?:no|por favor)[,.]? *)*(?:deshaz|revierte|deshacer|revertir)\b"
        r"|^(?:(?:no|pero)\b[,.]? *)*(?:eso|esto) no (?:funciona|va|sirve|ayuda)\b)",
        fails=r"\bno (?:funciona|va|sirve|ayuda|arranca)\b|\b(?:falla|está roto|está rota|se cuelga)\b",
        to_agent=r"\b(?:respond|contest|escrib|habl|explic|traduc|resum|español|inglés|list|tutéa|llám)",
    ),
    "fr": _language(
        "fr",
        wishes=rf"^(?:et |ah,? )?(?:s'il (?:te|vous) plaît,? |stp,? |svp,? )?(?:(?:désormais|dorénavant"
        rf"|à partir de maintenant"
        rf"|à l'avenir),? (?:toujours )?{_FR_VERBS}|toujours (?:utiliser|écrire|lancer|répondre|faire|mettre|tester) "
        rf"|{_FR_VERBS}[^.]*\b(?:toujours|jamais|systématiquement|à chaque fois|désormais|dorénavant)\b"
        r"|(?:utilise|on utilise|nous utilisons) [^\s,]+(?: ici)?,? (?:et )?pas \S+$"
        rf"|(?:on|nous) (?:n')?(?:utilisons?|utilise|écrit|écrivons|fait|faisons) (?:toujours|jamais)\b)",
        not_wishes=r"\b(?:aujourd'hui|cette fois|pour l'instant|dans ce|dans cette|pourquoi)\b",
        remember=r"^(?:s'il te plaît,? )?(?:rappelle-toi|souviens-toi|n'oublie pas|retiens|garde en tête)[,:]? "
        r"(?:que |qu')(?P<what>.+)$"
        r"|^pour (?:référence(?: future)?|mémoire|plus tard) ?: (?P<later>.+)$"
        r"|^(?!(?:ça|cela|ceci|il|elle|je|c')\b)(?!.*\b(?:aujourd'hui|maintenant|demain|encore)\b)"
        r"(?P<after>[^,;?!]{8,160})[,;] "
        r"(?:garde-le (?:en tête|à l'esprit)|souviens-t'en|retiens-le|ne l'oublie pas)\W*$",
        correction=r"^non[,.!:]\s*(?:c'est (?:faux|incorrect|pas ça) ?[,.:;]\s*)?(?:s'il te plaît,? )?"
        rf"(?P<what>(?:{_FR_VERBS}|jamais |toujours ).+)$",
        about_me=r"^(?:bonjour[,! ]+|salut[,! ]+)?(?:je m'appelle|mon nom est|appelle-moi|j'habite|je travaille (?:à"
        r"|chez|comme|pour)"
        r"|je suis (?:un |une )?(?:ingénieur|développeu|professeur|médecin|étudiant|designer|avocat|végétarien"
        r"|végan)\w*)",
        rejection=r"^(?!.*\b(?:autre chose|par ailleurs)\b).*(?:"
        r"\btoujours (?:pas|cassée?|en erreur|en échec|faux|la même erreur|le même problème)\b"
        r"|\b(?:marche|fonctionne|passe) toujours pas\b"
        r"|^(?:(?:non|s'il te plaît)[,.]? *)*(?:annule|reviens en arrière)\b"
        r"|^(?:(?:non|mais)\b[,.]? *)*(?:ça|cela) (?:ne )?(?:marche|fonctionne|aide) pas\b)",
        fails=r"\b(?:marche|fonctionne|passe) pas\b|\b(?:cassé|plante|échoue)\b",
        to_agent=r"\b(?:répond|écri|parl|expliqu|tradui|résum|français|anglais|list|tutoi|vouvoi|appell)",
    ),
    "zh": _language(
        "zh",
        wishes=r"^(?!我(?:总是|每次|从来|一直|以后)|(?:我们的|所有)?(?:用户|客户|顾客|系统|程序|页面|接口|服务|老板|经理|同事)|[他她它]"
        r"|你(?:总是|每次|老是))[^?？]*(?:(?:以后|今后|从现在开始|从今以后|每次|始终|一律|总是|务必)"
        r".*(?:要|请|用|不|别|先|写|跑|运行|执行|回答|提交|保持|使用)|(?:永远|绝对|千万|一定)(?:不要|别|不能|要)"
        r"|(?:不要|别)再"
        r"|^(?:请|我们)?(?:都)?用 ?[\w.-]+ ?[，,] ?(?:不是|而不是|不要用|不用|别用)"
        r" ?(?!了)[\w.-]+[。！!]?$)",
        not_wishes=r"今天|这次|现在先|暂时|刚才|失败|报错|出错|为什么|吗|以后再说",
        remember=r"^(?:请|你)?(?:记住|记一下|别忘了|不要忘记)[，,：:]?(?P<what>.{4,})$"
        r"|^(?:供(?:以后|日后|今后)?参考|备忘)[：:](?P<later>.{4,})$",
        correction=r"^(?:不对|不是|不|错了|不行)[，,。！!：:]\s*(?:这(?:样)?(?:是)?(?:错的|不对|错了)[，,：:]\s*)?"
        r"(?P<what>(?:请|要|应该|用|改用|不要|别|我们用|保持).+)$",
        about_me=r"^(?:你好[，,！!]?)?(?:我叫|我的名字(?:是|叫)|叫我|我住在|我在.{1,12}工作|我是.{0,8}(?:工程师|开发者|程序员|老师|医生|学生|设计师))",
        rejection=r"^(?!.*(?:另外|还有一|此外)).*(?:(?:还是|仍然|依然|依旧|仍).{0,8}(?:不行|失败|报错|出错|有问题|不对|不能|不工作|没|错|崩溃|坏)"
        r"|(?<!不要)(?<!别)(?:撤销|撤回|回滚|还原|回退)(?!功能|按钮|操作的|命令)"
        r"|^(?:不行|不对|但是?)?[，,]?(?:这|那)(?:样|个)?(?:还是)?(?:不行|不起作用|不管用|没用|没有用))",
        fails=r"不起作用|不能用|不管用|没(?:有)?(?:用|效果|修好|解决)|不工作|坏了|崩溃",
        to_agent=r"回答|回复|中文|英文|写|解释|翻译|总结|格式|称呼|叫我",
    ),
    "ja": _language(
        "ja",
        wishes=r"^(?!(?:私|僕|俺|彼|彼女|ユーザー|お客様|顧客|システム|画面|ページ|ボタン|サーバー|アプリ|上司)(?:たち)?[はがに])[^?？]*(?:今後|これから|次回から|毎回|必ず|常に|いつも|絶対に|決して|二度と).*"
        r"(?:ください|下さい|こと|しないで|してほしい|お願いします|ように|使って|しないように)[。！!]?$"
        r"|^[\w.-]+ ?(?:ではなく|じゃなく)て?、? ?[\w.-]+ ?を使(?:って(?:ください|下さい|ね)?|うこと)[。！!]?$",
        not_wishes=r"今日|今回|とりあえず|失敗|なぜ|どうして|ですか|ますか",
        remember=r"^(?P<what>.{4,}?)(?:こと)?を?(?:覚えておいて|忘れないで)(?:ください|下さい|ね)?[。！!]?$"
        r"|^(?:今後の参考に|備忘)[：:、](?P<later>.{4,})$",
        correction=r"^(?:いや|いいえ|違います|違う|ちがう|そうじゃなくて)[、，,。！!]\s*(?:それは(?:違います|間違いです)[、，,。]\s*)?"
        r"(?P<what>.+(?:ください|下さい|使って|しないで|こと|お願いします)[。！!]?)$",
        about_me=r"^(?:こんにちは[、。！!]?)?(?:(?:私|僕)の名前は|(?:私|僕)は.{1,20}(?:エンジニア|開発者|教師|医者|学生|デザイナー)(?:です|だ)"
        r"|(?:私|僕)?は?.{1,12}に住んで(?:います|いる)|.{1,12}で働いて(?:います|いる))",
        rejection=r"^(?!.*(?:ちなみに|もう一つ|別件)).*(?:(?:まだ|相変わらず|やはり|依然).{0,12}(?:動か|動き|失敗|エラー|直って|壊れ|だめ|ダメ|落ち|出ます|出る)"
        r"|(?:元に)?戻して(?:ください|下さい|ほしい|$|。)|取り消して|(?:リバート|ロールバック)して"
        r"|^(?:いや|でも)?[、，]?(?:それ|これ)(?:で|は|では)(?:も)?(?:動き|動か|だめ|ダメ|直り|直ら))",
        fails=r"動か(?:ない|なく)|動きません|動作し(?:ない|ません)|直って(?:い)?(?:ない|ません)|壊れて|効かない|効きません",
        to_agent=r"答え|返信|回答|書い|日本語|英語|説明|翻訳|要約|箇条書き|呼ん|敬語",
    ),
}
# Frequent words by which a language is told from others; those without a table stand here so that they are recognized.
_FUNCTION_WORDS: Final = {
    language: frozenset(words.split())
    for language, words in {
        "en": "the a an and or is are was to of in on it that this with for not be we you i do don't please my"
        " your always"
        " never use from now no have all when if by at as you before one per",
        "de": "der die das und oder ist sind war zu von im in auf es dass mit für nicht wir du ich bitte mein immer nie"
        " niemals nein ein eine einen den dem kein keine ab jetzt nur wenn bei als aus zum zur alle dir"
        " dich dein deine deinen ohne auch sich vor",
        "es": "el la los las y o es son de del en que con para no nosotros tú yo por favor mi siempre nunca un una a"
        " partir ahora usa lo se al como vivo soy me más antes usamos utilizamos prefiero"
        " tu tus mis sin nuestro",
        "fr": "le la les et ou est sont de du des en que qui avec pour ne pas nous tu je s'il te plaît mon"
        " toujours jamais"
        " non un une à ce dans sur au aux désormais suis avant réponds"
        " ton tes ta mes sans il elle y avons plutôt arrête",
        "pt": "o os as e ou é são do da dos das em que com para não nós você eu por favor meu sempre nunca um uma ao"
        " use usar antes isso na no",
        "it": "il lo gli e o è sono di del della in che con per non noi tu io favore mio sempre mai un una al dei usa"
        " prima nel",
        "nl": "de het en of is zijn van in op dat met voor niet wij jij ik alsjeblieft mijn altijd nooit een geen"
        " gebruik"
        " vanaf nu",
        "sv": "och eller är av på att med för inte vi du jag snälla min alltid aldrig en ett den det använd från nu",
        "pl": "i lub jest są z w na że dla nie my ty ja proszę mój zawsze nigdy to się do użyj od",
        "tr": "ve veya bir bu için ile değil biz sen ben lütfen her zaman asla kullan",
    }.items()
}


def language_of(text: str) -> Language | None:
    """Return the table of the language that `text` is in, or None for a language without one.

    By script, else by the most frequent small words. Text with none of them, such as "Run pytest", counts as English.
    """
    name = _name_of(text)
    return _LANGUAGES.get(name)


@lru_cache(maxsize=1024)
def _name_of(text: str) -> str:
    if _CJK.search(text):
        return "ja" if _KANA.search(text) else "ko" if _HANGUL.search(text) else "zh"
    letters = [character for character in text if character.isalpha()]
    if not letters or sum(character < "\u0250" for character in letters) < len(letters) // 2 + 1:
        return "unknown" if letters else "en"
    words = text.lower().replace("\u2019", "'").split()
    plain = [word.strip('.,;:!?()"“”«»¡¿`') for word in words]
    counts = {name: sum(word in function_words for word in plain) for name, function_words in _FUNCTION_WORDS.items()}
    best = max(counts.values())
    if best == 0:
        return "en" if text.isascii() else "unknown"
    first = [name for name, count in counts.items() if count == best]
    return first[0]


def is_quoted_wish(sentence: str, language: Language) -> bool:
    """Return True if a sentence is an instruction for good in a language whose wishes are quoted."""
    return (
        not sentence.rstrip().endswith(("?", "？"))
        and language.wishes.search(sentence) is not None
        and language.not_wishes.search(sentence) is None
    )


def words_of(text: str) -> int:
    """Return how many words a text has; Chinese and Japanese, written without spaces, have one for two characters.

    Of a long text those at its beginning are counted: what matters is whether there are only a few.
    """
    text = text[:_COUNTED]
    characters = len(_CJK.findall(text))
    return len(_CJK.sub(" ", text).split()) + -(-characters // _CHARACTERS_A_WORD) if characters else len(text.split())
