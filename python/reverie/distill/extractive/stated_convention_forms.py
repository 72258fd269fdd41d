"""Forms of rules that a person states as how things are, for each language; `stated_conventions` reads with them.

Each asks for what a convention alone has: a named command or format, "all" or "always" beside it, a generic object.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from reverie.lazy_regex import lazy_regex

__all__ = ["FORMS", "Forms"]

_CODE: Final = r"(?:`[^`]+`|(?:pytest|make|just|tox|nox|npm|pnpm|yarn|cargo|go test|gradle|uv run|docker|bazel)\b)"
# Formats and units: what all values of a kind can be in.
_FORMATS: Final = (
    r"(?:`[^`]+`|UTC|GMT|UTF-8|ISO[ -]?8601|RFC ?\d+|JSON|YAML|TOML|CSV|XML|Markdown|(?:snake|camel|kebab"
    r"|Pascal)[_-]?case"
    r"|cents?|euros?|dollars?|bytes|kilobytes|seconds|milliseconds|ms|minutes|hours|metres|meters|millimetres"
    r"|pixels|px"
    r"|percent|lower ?case|upper ?case|integers?|strings?|decimals?|floats?|UUIDs?|ULIDs?|Unix time(?:stamps)?"
    r"|(?:American |British )?English|German|French|Spanish|Italian|Portuguese|Dutch|Chinese|Japanese"
    r"|Cent|Euro|Bytes|Sekunden|Millisekunden|Minuten|Stunden|Metern|Millimetern|Pixeln?|Prozent|Kleinbuchstaben"
    r"|Ganzzahlen|ganze Zahlen|Zeichenketten|Deutsch|Englisch|Französisch|Spanisch"
    r"|céntimos|centavos|segundos|milisegundos|minutos|metros|píxeles|enteros|cadenas|minúsculas|español|inglés"
    r"|alemán"
    r"|centimes|octets|secondes|millisecondes|mètres|entiers|chaînes|minuscules|français|anglais|allemand)"
)
_FORMATTED: Final = rf"{_FORMATS}(?: (?:as|als|como|en tant qu'|comme) {_FORMATS})?"
_NO_FORMAT: Final = r"(?!.*\b(?:null|none|nan|undefined|error|fehler\w*|erreurs?|errores?)\b)"


@dataclass(frozen=True, slots=True)
class Forms:
    """Patterns of one language for stated conventions: how to work, facts of the project, and decisions."""

    wishes: re.Pattern[str]
    to_reader: re.Pattern[str]
    facts: re.Pattern[str]
    decisions: re.Pattern[str]


def _forms(wishes: tuple[str, ...], facts: tuple[str, ...], decisions: str, to_reader: str = r"(?!)") -> Forms:
    parts = ("|".join(wishes), to_reader, "|".join(facts), decisions)
    return Forms(*(lazy_regex(rf"^(?:{part})$", re.IGNORECASE) for part in parts))


_REASON: Final = r"(?:,? (?:because|since|as|so that|weil|da|damit|porque|ya que|car|parce que|puisque)\b.{5,160})?"
# A name that a decision is for: a product with a version or capital, or quoted.
_NAMED: Final = (
    r"(?-i:(?:the )?(?:`[^`]+`|[A-Z][\w.+#-]*(?: (?:[A-Z][\w.+#-]*|\d[\w.]*)){0,3}|[a-z]+[A-Z]\w*"
    r"|\w+-\w+(?: \d[\w.]*)?))"
)
_FOR: Final = (
    r"(?: (?:for|in|with|on|as|für|im|in|als|para|en|como|pour|dans|comme) (?:the |our |all |die "
    r"|den |das |der |dem |el |la |los |las |le |les |l')?[\w`/ -]{3,40})?"
)
_NEEDED_REASON: Final = _REASON.removesuffix("?")
_NOT_POINTED: Final = r"(?!(?:this|that|the|these|those|it|them|my|your|his|her)\b)"

_VALUES: Final = r"(?:stored|saved|kept|written|recorded|expressed)"  # as all values of a kind are
FORMS: Final = {
    "en": _forms(
        wishes=(
            (
                rf"(?:(?:the|our|all) )?(?:\w+ )?(?:tests?|builds?|releases?|deployments?|migrations?) (?:must"
                rf"|should|have to"
                rf"|need to) (?:always |only )?be (?:run|built|started|deployed|formatted|made) (?:with|through"
                rf"|via|by"
                rf"|using) {_CODE}(?:,? (?:and )?(?:never|not) (?:\w+ ){{0,3}}\S+)?"
            ),
            rf"(?:the|our|all) tests (?:are )?run (?:with|through|via) {_CODE}, (?:and )?never (?:\w+ ){{0,3}}[\w`]+",
            (
                r"(?:don't|do not) (?:\w+) (?:any |new )?(?!(?:this|that|the|these|those|it|them|my|your|his|her)\b)"
                r"(?:[\w-]+ ){0,2}[\w-]+s without (?:asking|checking with me|my (?:ok|okay|approval|permission)"
                r"|confirmation)"
                r"(?: me)?(?: first)?"
            ),
            (
                rf"(?:the|our|all)(?: \w+){{1,3}} (?:(?:are|is) (?:always|only) (?:run|built|started|deployed"
                rf"|formatted|released)"
                rf"|(?:always|only) runs?|(?:must|should) (?:always|only) be (?:run|built|started|deployed"
                rf"|formatted|released))"
                rf" (?:with|through|via|by|using) {_CODE}(?:,? (?:and )?(?:never|not) (?:\w+ ){{0,3}}\S+)?"
            ),
            (
                rf"(?:always )?(?:ask|check with|warn|tell)(?: me| us)?(?: first)?,? before (?:you )?(?:ever )?"
                rf"(?!start|begin|go|leave)"
                rf"(?:\w+ing|[a-z]+) (?:(?:any |new )?{_NOT_POINTED}(?:[\w-]+ ){{0,2}}[\w-]+s|(?:any|an?)"
                rf"(?: new)? [\w-]+)"
            ),
            (
                r"(?:an?|one|1) (?:branch|commit|pr|pull request|changelog (?:line|entry))"
                r" (?:for each|for every|per) (?:\w+ ){0,1}\w+(?:, (?:and )?(?:squash|rebase|merge|delete|no|never"
                r"|always)\b[^,]{3,40})?"
            ),
        ),
        facts=(
            (
                rf"{_NO_FORMAT}(?:all|every) (?:the |our )?[\w-]+(?: [\w-]+){{0,2}} (?:are|is|must be"
                rf"|should be) {_VALUES} (?:in|as) {_FORMATTED}"
            ),
            (
                rf"(?:all )?(?:the |our )?(?!(?:he|she|it|they|you|we|i|this|that|these|those|there)\b)[\w-]+"
                rf"(?: [\w-]+)? (?:are|is) "
                rf"(?:always )?(?:integers? )?(?:stored )?(?:in|as) {_FORMATTED}, (?:and )?(?:never|not) (?:in "
                rf"|as )?{_FORMATS}"
            ),
            (
                rf"we (?:always )?(?:store|save|keep|write|format|name|return|send|log|express|represent|pass"
                rf"|record|encode|count) "
                rf"(?:all|every|each)(?: of)?(?: the| our)? [\w`-]+(?: [\w`-]+){{0,2}} (?:in|as|with|by) "
                rf"(?:the )?{_FORMATTED}"
            ),
            (
                rf"{_NO_FORMAT}(?:all )?(?:the |our )?(?!(?:he|she|it|they|you|we|i|this|that|these|those|there"
                rf"|error\w*)\b)"
                rf"[\w-]+(?: [\w-]+){{0,2}} (?:are|is) always (?:(?:stored|saved|kept|written|named|given) )?"
                rf"(?:in|as) "
                rf"{_FORMATTED}(?:,? (?:and )?(?:never|not) (?:in |as )?\w[\w -]{{1,30}})?"
            ),
        ),
        decisions=rf"(?:i|we)(?:'ve| have)? (?:chose|chosen|decided (?:for|on)) {_NAMED} (?:over|instead of"
        rf"|rather than) {_NAMED}"
        rf"{_FOR}{_REASON}|(?:(?:we|i)(?:'re| are|'m| am) going with|decision: "
        rf"(?:we )?use) {_NAMED}{_FOR}{_NEEDED_REASON}"
        rf"|(?:i|we)(?:'ve| have)? decided (?:that )?(?:we(?:'ll| will)? |to )?"
        rf"(?:use|go with|stick (?:to|with)|stay (?:on|with)|keep|switch to|move to|adopt|support|drop|not "
        rf"(?:to )?use"
        rf"|not (?:to )?support|no longer use) {_NAMED}{_FOR}{_REASON}",
    ),
    "de": _forms(
        wishes=(
            (
                r"(?-i:[A-ZÄÖÜ][\wäöüß-]+)(?: \w+)? (?:bitte )?(?:immer|nie|niemals|nur|stets) (?:mit|in|per"
                r"|über|auf|ohne) "
                r"(?!mal\b)[^,]{3,60} (?-i:[a-zäöüß]{3,}(?:en|ern|eln))"
            ),
            r"keine (?:emojis?|gedankenstriche|semikolons?)(?: in (?:den |der )?[\w-]+)?",
            (
                r"(?:für jede[nrs]?|pro|je) (?:Ticket|Aufgabe|Feature|Issue|Änderung) (?:ein|einen|eine)"
                r"(?: eigene[nrs]?)? "
                r"(?:Branch|Zweig|Commit|PR|Pull Request)(?:, [^,]{3,40})?"
            ),
            (
                rf"(?:die|der|das|alle|unsere?|den)(?: [\w-]+){{1,3}} (?:laufen|läuft|starten|startet|bauen|baut"
                rf"|werden|wird) "
                rf"(?:immer|stets|grundsätzlich|nur|ausschließlich) (?:mit|über|per|via) {_CODE}"
                r"(?: (?:ausgeführt|gestartet|gebaut|veröffentlicht|formatiert|getestet))?"
                r"(?:,? (?:und )?(?:nie|niemals|nicht) (?:\w+ ){0,3}\S+)?"
            ),
            (
                r"(?-i:[Kk]eine?n?|[Nn]iemals|[Nn]ie|[Nn]icht) [^,]{5,80} (?-i:[a-zäöüß]+(?:en|ern|eln)), "
                r"(?:sondern )?(?:immer|stets|ausschließlich) (?!wieder|noch|mehr)[^,]{3,80} (?-i:[a-zäöüß]+(?:en"
                r"|ern|eln))"
            ),
            (
                r"frage?(?: (?:mich|immer|erst|vorher|bitte))*,? (?:immer )?bevor du (?!das |die |den |dies|es "
                r"|sie |ihn )"
                r"(?:neue |irgendwelche )?(?-i:[A-ZÄÖÜ])[\w-]+(?: [\w.-]+){0,3} \w+(?:st|t)"
            ),
            (
                r"(?:ein|eine|einen) (?:Branch|Zweig|Commit|PR|Pull Request)"
                r" (?:für jede[nrs]?|pro|je) [\w-]+(?:, [^,]{3,40})?"
            ),
        ),
        to_reader=r"(?:antworte?|schreibe?|sprich)(?: mir| bitte)* (?:auf|in) (?:deutsch|englisch|französisch"
        r"|spanisch)(?: bitte)?"
        r"|(?:ich bevorzuge|wir bevorzugen|ich ziehe|wir ziehen) (?!d(?:er|ie|as|en|em)\b|ein|es\b"
        r"|ihn\b|sie\b|option\b"
        r"|variante\b|jen|welch|beide\b|mich\b|uns\b|mein|dein)\w[^,.;:!?]{5,90}",
        facts=(
            (
                rf"{_NO_FORMAT}(?:alle|sämtliche) (?:unsere )?[\w-]+(?: [\w-]+)? (?:(?:werden|müssen) )?"
                rf"(?:immer )?(?:in|als) {_FORMATTED} "
                r"(?:gespeichert|speichern|gespeichert werden|angegeben|angeben|ablegen|abgelegt|geschrieben"
                r"|schreiben)"
            ),
            (
                rf"(?:alle )?(?-i:[A-ZÄÖÜ])[\w-]+ (?:immer )?(?:in|als) {_FORMATTED}(?:(?: speichern)?, (?:und )?"
                rf"(?:nie|niemals|nicht) (?:in |als )?\w[\w -]{{1,30}}| immer speichern)"
            ),
            rf"(?:alle )?(?-i:[A-ZÄÖÜ])[\w-]+ immer (?:in|als) {_FORMATTED} (?:speichern|angeben|ablegen|schreiben)",
            (
                r"(?:wir|hier) (?:speichern|sichern|schreiben|führen|halten|formatieren|benennen|liefern|senden"
                r"|protokollieren|zählen|rechnen|kodieren) (?:immer )?(?:alle[nrs]?|jede[nrs]?|sämtliche[nrs]?) "
                rf"(?:unsere[nrs]? )?[\w-]+(?: [\w-]+){{0,2}} (?:in|als|mit|auf) {_FORMATTED}"
            ),
            (
                rf"{_NO_FORMAT}(?:die |alle |unsere )?[\w-]+(?: [\w-]+){{0,2}} (?:sind|stehen|werden) (?:immer"
                rf"|stets|grundsätzlich) "
                rf"(?:in|als) {_FORMATTED}(?: (?:gespeichert|angegeben|geschrieben))?(?:,? (?:und )?(?:nie|niemals"
                rf"|nicht) "
                r"(?:in |als )?\w[\w -]{1,30})?"
            ),
        ),
        decisions=rf"(?:ich habe|wir haben) (?:(?:mich|uns) )?(?:dafür )?(?:entschieden|beschlossen)(?:,|:) "
        rf"(?:dass )?(?:wir )?"
        rf"(?:(?:nehmen|nutzen|verwenden|benutzen) )?{_NAMED}{_FOR}(?: (?:zu )?(?:nehmen|nutzen|verwenden"
        rf"|benutzen|einsetzen))?"
        rf"{_REASON}|(?:ich habe mich|wir haben uns) für {_NAMED}{_FOR} entschieden{_REASON}",
    ),
    "es": _forms(
        wishes=(
            r"(?:no uses|nada de|sin) emojis(?: en (?:los |las |el )?[\w-]+(?: de [\w-]+)?)?",
            (
                rf"(?:los|las|el|la|todos los|todas las)(?: [\w-]+){{1,3}} se (?:ejecutan?|lanzan?|construyen?"
                rf"|despliegan?) "
                rf"(?:siempre|solo|únicamente) (?:con|mediante|por) {_CODE}(?:,? (?:y )?(?:nunca|no) "
                rf"(?:\w+ ){{0,3}}\S+)?"
            ),
            (
                r"(?:nada de|ningun[ao]s?) [^,]{4,60}, siempre (?:con|en|por|mediante|usar|añadir|declarar|poner) "
                r"(?!el mismo)[^,]{3,80}"
            ),
            (
                r"(?:siempre )?pregunta(?:me)?(?: siempre)? antes de \w+[aei]r (?:(?:los|las|nuevas|nuevos"
                r"|cualquier) )?[\w-]+s?"
                r"(?: nuev[ao]s?)?"
            ),
            (
                r"(?:una?) (?:rama|commit|pr|pull request) (?:por|para cada) [\w-]+"
                r"(?:, [^,]{3,40})?"
            ),
        ),
        to_reader=r"(?:responde|contesta|escribe|háblame)(?:me)? en (?:español|inglés|alemán|francés)"
        r"|(?:prefiero|preferimos) (?!(?:el|la|lo|los|las|que|un|una|no|eso|es[ae]"
        r"|\w+[aei]r)\b)\w[^,.;:!?]{5,90}"
        r"|(?:prefiero|preferimos) (?:(?:las|los) (?:respuestas|mensajes|commits|comentarios|nombres) (?:en|con|sin) "
        r"|(?:usar|utilizar) )[^,.;:!?]{3,80}",
        facts=(
            (
                rf"{_NO_FORMAT}tod[oa]s (?:los|las) [\w-]+(?: [\w-]+)? se (?:guardan|almacenan|escriben) "
                rf"(?:siempre )?(?:en|como) {_FORMATTED}"
            ),
            (
                rf"(?:guardamos|almacenamos|escribimos|formateamos|devolvemos|enviamos|registramos) "
                rf"(?:siempre )?tod[oa]s (?:los|las) "
                rf"[\w-]+(?: [\w-]+){{0,2}} (?:en|como|con) {_FORMATTED}"
            ),
            (
                rf"{_NO_FORMAT}(?:los|las|todos los|todas las) [\w-]+(?: [\w-]+){{0,2}} (?:son|están|van"
                rf"|se guardan) siempre "
                rf"(?:en|como) {_FORMATTED}(?:,? (?:y )?(?:nunca|no) (?:en |como )?\w[\w -]{{1,30}})?"
            ),
        ),
        decisions=rf"(?:he|hemos) decidido (?:que )?(?:usar|usamos|usaremos|utilizar|utilizamos|adoptar|mantener) "
        rf"{_NAMED}{_FOR}{_REASON}",
    ),
    "fr": _forms(
        wishes=(
            r"(?:pas d'|n'utilise pas d'|aucun )[ée]mojis?(?: dans (?:les |le |la )?[\w-]+(?: de [\w-]+)?)?",
            (
                rf"(?:les|le|la|tous les|toutes les)(?: [\w-]+){{1,3}} se (?:lancent?|exécutent?|construi(?:sen)?t"
                rf"|déploient?) "
                rf"(?:toujours|uniquement) (?:avec|via|par) {_CODE}(?:,? (?:et )?(?:jamais|pas) (?:\w+ ){{0,3}}\S+)?"
            ),
            (
                r"(?:pas de|aucune?|jamais de) [^,]{4,60}, toujours (?:avec|via|dans|par|utiliser|ajouter|passer"
                r"|déclarer|mettre) "
                r"(?!(?:le|la) même)[^,]{3,80}"
            ),
            (
                r"(?:toujours )?demande(?:-moi)?(?: toujours)? avant (?:de |d')\w+(?:er|ir|re) (?:(?:les|des|toute?"
                r"|une nouvelle"
                r"|un nouveau) )?[\w-]+(?: [\w-]+)?"
            ),
            (
                r"(?:une?) (?:branche|commit|pr|pull request) (?:par"
                r"|pour chaque) [\w-]+(?:, [^,]{3,40})?"
            ),
        ),
        to_reader=r"(?:réponds|écris|parle)(?:-moi)? en (?:français|anglais|allemand|espagnol)"
        r"|(?:je préfère|nous préférons|on préfère) (?!(?:le|la|les|l'\w+|que|un|une|ça|cela|celui"
        r"|celle|ne|plutôt"
        r"|\w+(?:er|ir|re))\b)\w[^,.;:!?]{5,90}"
        r"|(?:je préfère|nous préférons) (?:(?:les|des) (?:réponses|messages|commits|commentaires|noms) (?:en"
        r"|avec|sans) "
        r"|utiliser )[^,.;:!?]{3,80}",
        facts=(
            (
                rf"{_NO_FORMAT}(?:tous les|toutes les) [\w-]+(?: [\w-]+)? sont (?:toujours )?(?:stockée?s"
                rf"|enregistrée?s|écrite?s) (?:en|comme) {_FORMATTED}"
            ),
            (
                rf"(?:nous|on) (?:stockons|stocke|enregistrons|enregistre|écrivons|écrit|gardons|garde|renvoyons"
                rf"|renvoie) "
                rf"(?:toujours )?(?:tous les|toutes les|chaque) [\w-]+(?: [\w-]+){{0,2}} (?:en|comme"
                rf"|avec) {_FORMATTED}"
            ),
            (
                rf"{_NO_FORMAT}(?:les|tous les|toutes les) [\w-]+(?: [\w-]+){{0,2}} (?:sont|restent) toujours (?:"
                rf"(?:stockée?s|écrite?s) )?"
                rf"(?:en|comme) {_FORMATTED}(?:,? (?:et )?(?:jamais|pas) (?:en |comme )?\w[\w -]{{1,30}})?"
            ),
        ),
        decisions=rf"(?:j'ai|nous avons|on a) décidé (?:que nous utilisons |qu'on utilise |d'utiliser "
        rf"|d'adopter |de garder )"
        rf"{_NAMED}{_FOR}{_REASON}",
    ),
    "zh": _forms(
        wishes=(
            r"(?:不要|别|请勿|请不要)(?:在[^，,。]{1,10}(?:里|中))?(?:使)?用(?:任何)?表情(?:符号)?",
            (
                r"(?:更新|修改|删除|添加|安装|升级|引入|发布|提交|推送)(?!了|过|这|那|完)[^，,。？?]{2,16}(?:之前"
                r"|前)，?(?:请|都要|务必|必须|一定要)?先?"
                r"(?:问我|问一下我|征求我的?(?:同意|意见)|跟我确认|和我确认)"
            ),
            (
                r"(?:每个|一个)(?:工单|任务|功能|需求|ticket|issue) ?(?:一个|用一个|对应一个) ?(?:分支|提交|PR)"
                r"(?:[，,][^，,。]{2,20})?"
            ),
            (
                rf"(?:所有)?测试(?:都|总是|始终|一律|永远)(?:用|通过) ?{_CODE} ?(?:来)?(?:跑|运行|执行)?(?:[，,] ?"
                rf"(?:不要|绝不|从不|不)[^，,。]{{2,20}})?"
            ),
        ),
        to_reader=r"(?:请)?(?:都)?用(?:中文|英文|英语|日语|德语)(?:来)?(?:回答|回复|交流|跟我说)(?:我)?"
        r"|(?:我|我们)(?:更)?(?:偏好|倾向于用|更喜欢用)(?!这|那|第|哪)[^，,。？?]{2,40}",
        facts=(
            (
                r"(?:我们)?(?:把)?(?:所有|全部)(?:的)?[^，,。]{1,10}(?:都)?(?:用|以|按|存(?:储)?(?:为|成)|保存为) ?"
                r"(?:UTC|分|毫秒|秒|字节|整数|字符串"
                r"|`[^`]+`|JSON|UTF-8) ?(?:时间)?(?:为单位)?(?:存储|保存|表示|记录)?(?:[，,] ?(?:不用|绝不用|从不用"
                r"|不存)[^，,。]{1,12})?"
            ),
            (
                r"[^，,。这那我你他]{1,8}(?:始终|一律|总是|永远)(?:用|以|是|存(?:储)?(?:为|成)) ?(?:UTC|分|毫秒|秒"
                r"|字节|整数|字符串|`[^`]+`|JSON)(?:为单位)?"
                r"(?:的?整数)?(?:存储|保存|表示)?(?:[，,] ?(?:不用|绝不用|从不用|不是)[^，,。]{1,12})?"
            ),
        ),
        decisions=r"(?:我|我们)(?:已经|已)?决定(?:了)?(?:使用|用|采用|改用|不用|不再用|换成) ?"
        r"(?:`[^`]+`|[A-Za-z][\w.+#-]*(?: ?\d[\w.]*)?)(?: ?(?:来)?(?:做|作为)[^，,。]{2,16})?"
        r"(?:[，,] ?因为[^。]{3,80})?",
    ),
    "ja": _forms(
        wishes=(
            r"(?:[^、。はがこそ]{1,14}に(?:は)?)?絵文字(?:を|は)使わないで(?:ください|下さい|ね|ほしい)",
            (
                r"(?:新しい)?[^、。はがこそ]{2,16}(?:を|の)(?:更新|変更|削除|追加|インストール|導入|コミット"
                r"|プッシュ)(?:する)?前に(?:は)?、?(?:必ず)?(?:私に|一度)?"
                r"(?:確認して|聞いて|相談して)(?:ください|下さい|ね|ほしい)"
            ),
            (
                rf"(?:すべての)?テストは、?(?:必ず|常に|いつも) ?{_CODE} ?(?:で|を使って)(?:実行|起動)?(?:する"
                rf"|します|すること)"
            ),
            (
                r"(?:チケット|機能|課題|イシュー)(?:ごと|毎)に(?:一つの|1つの)?(?:ブランチ|コミット|PR)(?:を(?:切る"
                r"|作る|切ります|作ります))?(?:[、,][^、。]{2,20})?"
            ),
        ),
        to_reader=r"(?:日本語|英語|中国語|ドイツ語)で(?:答えて|回答して|返信して|書いて|お願い)(?:ください"
        r"|下さい|ね|します)?"
        r"|(?:私は)?(?!この|その|あの|こっち|そっち|二番目)[^、。]{2,30}(?:の方が好みです"
        r"|のほうが好みです|を好みます)",
        facts=(
            (
                r"(?:すべての|全ての|全)[^、。]{1,10}は、?(?:必ず|常に|いつも)?、? ?(?:UTC|セント|円|ミリ秒|秒"
                r"|バイト|整数|文字列|`[^`]+`|JSON|UTF-8) ?"
                r"(?:単位)?で(?:保存|管理|記録|表現|扱)(?:する(?:こと)?|します|しています|う|います|っています)"
            ),
            (
                r"[^、。こそあ私]{1,10}は、?(?:必ず|常に|いつも)、? ?(?:UTC|セント|円|ミリ秒|秒|バイト|整数|文字列"
                r"|`[^`]+`|JSON) ?(?:単位)?(?:の整数)?"
                r"(?:で(?:保存|管理|記録|表現|扱)(?:する|します|しています|う|います|っています)|です)"
            ),
        ),
        decisions=r"(?:(?:私|僕|私たち|我々)は)?[^、。]{0,24}?(?:`[^`]+`|[A-Za-z][\w.+#-]*(?: ?\d[\w.]*)?) ?"
        r"(?:を使う|を採用する|を使用する|にする)ことに"
        r"(?:しました|決めました|した|決めた)",
    ),
}
