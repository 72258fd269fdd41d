"""Forms of standing wishes in everyday German, Spanish, French, Chinese and Japanese."""

from __future__ import annotations

from typing import Final

from reverie.distill.extractive.compile_everyday_wish_forms import ordinary_forms

__all__ = ["BY_LANGUAGE"]

_TOOL: Final = (
    r"(?:`[^`]+`|(?:pytest|make|just|tox|nox|npm|pnpm|yarn|bun|uv|poetry|cargo|go test|gradle|maven|bazel|docker|ruff"
    r"|black|eslint|biome|prettier|jest|vitest|redis|postgres\w*|kafka|zod)\b)"
)
# Two or more words with capitals: "Conventional Commits".
_TITLE: Final = r"(?-i:[A-Z][\w.+#-]*(?: [A-Z][\w.+#-]*){1,3})"
_STYLE: Final = (
    r"(?:emojis?|semi(?:kolons?|colons?)|puntos? y coma|points?-virgules?|any[- ](?:typen|types?)|mocks?"
    r"|(?:\w+ )?(?:ternar\w*)|singletons?|console\.logs?|sleeps?|default[- ]exports?|abkürzungen|abreviaturas"
    r"|abréviations|globale[n]? variablen|variables globales|force[- ]push(?:es)?|merge[- ]commits?)"
)
_DE_NO: Final = r"(?:der|die|das|den|dem|ein\w*|dies\w*|jen\w*|mein\w*|dein\w*|es|sie|ihn|beide\w*)\b"
_DE_CRAFT: Final = (
    r"(?:(?:den |der |dem |unseren |unserem |unserer |allen )?(?:unit-?)?(?:tests?|code|produktionscode"
    r"|bibliothekscode|commits?|commit-?nachrichten|kommentaren?|komponenten|modulen|migrationen|skripten|doku\w*"
    r"|dokumentation|typescript|python|go|rust|java|kotlin))"
)
_DE_HERE: Final = r"(?:hier|bei uns|in (?:diesem|unserem) (?:projekt|repo\w*|code\w*|team))"
_DE_WE: Final = r"(?:benutzen|nutzen|verwenden|schreiben|loggen|folgen|bauen|testen|deployen|formatieren)"
_DE_LABEL: Final = (
    r"(?:commit-?nachrichten|commit-?messages|commits|branch-?namen|branches|pr-?titel|pull requests|code-?stil"
    r"|variablennamen|funktionsnamen|dateinamen|testnamen|fehlermeldungen|kommentare|einrückung|benennung)"
)
_ES_NO: Final = r"(?:el|la|los|las|un|una|est[aeo]s?|es[aeo]s?|mi|tu|lo)\b"
_ES_CRAFT: Final = (
    r"(?:(?:el |la |los |las |nuestr[oa]s? )?(?:tests?|pruebas|código|commits?|mensajes de commit|comentarios"
    r"|componentes|módulos|migraciones|scripts|documentación|producción|typescript|python|go|rust))"
)
_ES_HERE: Final = r"(?:aquí|en (?:este|nuestro) (?:proyecto|repo\w*|código|equipo))"
_FR_NO: Final = r"(?:le|la|les|un|une|ce|cet|cette|ces|mon|ton|ça)\b|l'"
_FR_CRAFT: Final = (
    r"(?:(?:le |la |les |l'|nos )?(?:tests?|code|commits?|messages de commit|commentaires|composants|modules"
    r"|migrations|scripts|documentation|production|typescript|python|go|rust))"
)
_FR_HERE: Final = r"(?:ici|dans (?:ce|notre) (?:projet|dépôt|repo|code|équipe))"

BY_LANGUAGE: Final = {
    "de": ordinary_forms(
        (
            r"\b(?:heute|gerade|jetzt|diesmal|dieses mal|vorerst|erstmal|erst mal|im moment|derzeit|morgen|gestern"
            r"|vielleicht"
            r"|wohl|könnte|würde|glaube|falls|wenn|war|waren|wurden?|hatte|noch|schon|leider|falsch|kaputt|voll|langsam"
            r"|fehlschl\w*|option|zeile \d+|in dies(?:er|em) (?!projekt|repo|code|team)\w+|diese[rsnm]? (?!projekt|repo"
            r"|code"
            r"|team)\w+|bevor wir)\b"
        ),
        standing=(
            # "Bei uns laufen die Tests mit `just test`, nie direkt mit cargo"
            (
                r"(?:bei uns|in (?:diesem|unserem) (?:projekt|repo\w*|team)) (?:laufen|starten|bauen|testen|formatieren"
                r"|committen|deployen|loggen|schreiben|heißen) .{2,60}\b(?:mit|per|über|via|auf|als|nie|niemals|nicht"
                r"|nur|immer)\b.{2,100}"
            ),
            rf"in (?:diesem|unserem) (?:projekt|repo\w*|team) {_DE_WE} wir (?!{_DE_NO}).{{2,120}}",
            # "Wir benutzen pnpm und nicht npm, bitte nie npm install aufrufen"
            (
                rf"wir {_DE_WE} (?:hier |nur )?(?!{_DE_NO})[^\s,;]+(?: (?!{_DE_NO})[^\s,;]+){{0,2}}?"
                rf"(?:,| und|, und| statt| anstatt)(?: nicht| kein\w*| nie)? (?!{_DE_NO})[^\s,;]+(?: [^\s,;]+)?"
                r"(?:, (?:also )?(?:bitte )?(?:nie|niemals|nicht|immer|kein\w*) .{4,80})?(?<!\bauch)"
            ),
            # "Wir verwenden hier Conventional Commits"
            rf"wir {_DE_WE} (?:{_DE_HERE} (?:{_TITLE}|{_TOOL})|(?:{_TITLE}|{_TOOL}) {_DE_HERE})",
            # "wir loggen überall mit slog"
            (
                rf"wir {_DE_WE} (?!{_DE_NO})(?:[^,;:]{{2,50}} )?(?:überall|durchgehend|durchgängig)"
                r"(?: mit [\w.-]+(?: [\w.-]+)?)?"
            ),
            # A list behind a label, as of commit messages: imperative, no emojis
            (
                rf"(?:für )?{_DE_LABEL}(?: in \w+)?: ?(?=.*\b(?:kein\w*|nie|immer|nur|nicht|höchstens|maximal|imperativ"
                r"|präsens|kleingeschrieben|großgeschrieben|englisch|deutsch|präfix|ohne|kurz)\b)[^:;?]{6,160}"
            ),
            # "console.log ist in Tests nicht erlaubt"
            (
                r"(?!(?:das|dies|es|er|sie|ich|wir|du)\b)[\w`./*()+#%-]+(?: [\w`./*()+#%-]+){0,4}? (?:ist|sind) (?:"
                rf"{_DE_HERE}|in {_DE_CRAFT}) (?:nicht erlaubt|verboten|tabu|unerwünscht)"
            ),
            # "Du hast schon wieder vergessen, den Linter zu starten"
            r"du hast (?:schon )?wieder vergessen,? (?!das |es |ihn |sie )[^,;:]{4,60} zu \w+en",
        ),
        alone=(
            rf"(?:bitte )?keine?n? {_STYLE}(?: (?:in|für) {_DE_CRAFT})?(?:,? bitte| mehr)?",
            (
                rf"(?:bitte )?(?:(?:benutze?|verwende?|nutze?|nimm|schreibe?) )?(?:bitte )?keine?n? (?:{_STYLE}|"
                rf"(?!{_DE_NO})[\w-]+(?: [\w-]+)? in {_DE_CRAFT})(?: verwenden| benutzen)?, (?:sondern |lieber |bitte"
                rf" )*"
                rf"(?:(?:nimm|benutze?|verwende?|nutze?) )?(?:stattdessen |lieber )?(?!{_DE_NO})[\w`./-]+(?:"
                rf" [\w`./-]+){{0,2}}"
            ),
            # "Achte darauf, dass jede öffentliche Funktion einen Doc-Kommentar hat"
            (
                r"(?:bitte )?(?:achte darauf|stell(?:e)? sicher|sorge? dafür),? dass jede[rs]? (?:\w+ ){0,2}[\w-]+"
                r" (?:ein\w*"
                r"|mindestens|nur|kein\w*) [^,;:]{3,60} (?:hat|bekommt|enthält|zurückgibt|verwendet|benutzt)"
            ),
            (
                rf"ich (?:mag|hasse|will|möchte)(?: wirklich)? keine (?:\w+en )?(?:{_STYLE}|(?:\w+ )?(?:kommentare"
                r"|funktionen|klassen|commits|prs|abkürzungen|einzeiler|schleifen))(?: in [\w -]{3,30})?"
            ),
            rf"(?:ich|wir) hätten? lieber (?!{_DE_NO})[^,;:]{{3,60}} als [^,;:]{{3,60}}",
        ),
        talk=(
            (
                r"(?:bitte )?halte? (?:deine|die) (?:antworten|erklärungen|nachrichten) (?:bitte )?(?:immer )?(?:sehr "
                r"|möglichst )?"
                r"(?:kurz|knapp|einfach|kürzer|knapper|sachlich)(?: und \w+)?(?:,? bitte)?"
            ),
            (
                r"(?:bitte )?hör(?:e)? (?:bitte )?(?:endlich )?auf,? (?:dich (?:\w+ )?zu entschuldigen|mir zu danken"
                r"|(?:jede[ns]?|alles) [^,;:]{0,40}zu (?:erklären|wiederholen|kommentieren))"
            ),
            (
                r"(?:bitte )?(?:entschuldige? dich (?:bitte )?nicht (?:immer|ständig|dauernd|jedes mal)"
                r"|du (?:musst|brauchst) (?:dich nicht (?:\w+ )?(?:zu )?entschuldigen|mir nicht alles (?:zu"
                r" )?erklären))"
            ),
            (
                r"(?:bitte )?(?:keine|ohne) (?:entschuldigungen|floskeln|lobeshymnen|schmeicheleien)(?: mehr)?(?:,?"
                r" bitte)?"
            ),
        ),
        talk_alone=(
            r"(?:bitte )?fasse? dich (?:bitte )?(?:immer )?(?:kurz|kürzer)|(?:bitte )?(?:kurze|kürzere|knappe|knappere)"
            r" (?:antworten|erklärungen)(?:,? bitte)?|(?:bitte )?antworte (?:bitte |mir )*(?:kurz|knapp|kürzer|in"
            r" höchstens"
            r" \w+ (?:sätzen|zeilen|worten|wörtern))(?: und \w+)?(?:,? bitte)?|sei (?:bitte )?(?:kurz|knapp|kürzer)"
        ),
    ),
    "es": ordinary_forms(
        (
            r"\b(?:hoy|ahora|esta vez|por ahora|mañana|ayer|quizás?|tal vez|creo|si|era|estaba\w*|fue|todavía|aún|ya"
            r"|opción"
            r"|línea \d+|est[ea] (?!proyecto|repo|código|equipo)\w+|fall\w+|roto|mal)\b"
        ),
        standing=(
            (
                r"en (?:este|nuestro) (?:proyecto|repo\w*|equipo),? (?:ejecutamos|lanzamos|usamos|utilizamos|escribimos"
                rf"|probamos|compilamos|desplegamos|formateamos) (?:.{{2,60}}\b(?:con|por|mediante|en|nunca|no"
                rf"|siempre)\b"
                rf".{{2,100}}|(?!{_ES_NO})[\w`.-]+.{{0,80}})"
            ),
            # "Usamos pnpm y no npm, por favor nunca ejecutes npm install"
            (
                rf"(?:nosotros )?(?:usamos|utilizamos) (?!{_ES_NO})[^\s,;]+(?: [^\s,;]+){{0,2}}?,? (?:(?:y|e) no|no"
                rf"|en (?:vez|lugar) de) (?!{_ES_NO}|(?:funciona|va|puedo|podemos|tenemos|hay|compila|está|sale"
                rf"|arranca)\b)[^\s,;]+(?: [^\s,;]+)?(?:, (?:así que )?(?:por favor,? )?(?:nunca"
                r"|no|siempre) .{4,80})?"
            ),
            (
                rf"(?:aquí )?(?:usamos|utilizamos|seguimos) (?:(?:{_TITLE}|{_TOOL}) {_ES_HERE}"
                rf"|(?!{_ES_NO})[^,;:]{{2,50}}"
                r" en todas partes)"
            ),
            (
                r"(?:(?:los )?mensajes de commit|commits|nombres de (?:ramas|variables|archivos|tests)|ramas"
                r"|comentarios"
                r"|estilo(?: de código)?): ?(?=.*\b(?:sin|nunca|siempre|solo|no|máximo|como máximo|imperativo|presente"
                r"|minúsculas|inglés|español|prefijo|cortos)\b)[^:;?]{6,160}"
            ),
            (
                r"(?!(?:eso?|esto?|él|ella|yo)\b)[\w`./*()+#%-]+(?: [\w`./*()+#%-]+){0,4}? (?:no está permitido|no"
                r" están"
                rf" permitidos|está prohibido|están prohibid[oa]s) (?:{_ES_HERE}|en {_ES_CRAFT})"
            ),
        ),
        alone=(
            rf"(?:por favor,? )?(?:sin|nada de|no uses) {_STYLE}(?: en {_ES_CRAFT})?(?:,? por favor)?",
            (
                rf"(?:por favor,? )?no (?:uses|escribas|utilices) (?:{_STYLE}|(?!{_ES_NO})[\w-]+ en {_ES_CRAFT})(?: en "
                rf"{_ES_CRAFT})?, (?:sino |mejor )?(?:usa|utiliza|prefiere) (?!{_ES_NO})[\w`./-]+(?: [\w`./-]+){{0,2}}"
            ),
            (
                r"(?:por favor,? )?asegúrate de que cada (?:\w+ ){1,3}(?:tenga|devuelva|incluya|use) (?:un|una|al"
                r" menos|solo"
                r") [^,;:]{3,60}"
            ),
            rf"(?:preferiría|prefiero) (?:tener |ver )?(?!{_ES_NO})[\w -]{{3,60}} (?:que|a|en vez de) [\w -]{{3,60}}",
        ),
        talk=(
            (
                r"(?:por favor,? )?(?:mantén|haz) (?:tus|las) respuestas (?:más )?(?:cortas|breves|concisas|simples)"
                r"(?:,? por favor)?"
            ),
            (
                r"(?:por favor,? )?(?:deja de|para de) (?:disculparte|pedir (?:perdón|disculpas)|agradecerme"
                r"|explicar(?:lo|me)? (?:todo|cada) ?[^,;:]{0,40})"
            ),
            r"(?:por favor,? )?(?:no te disculpes(?: tanto| siempre)|no hace falta que te disculpes)",
        ),
        talk_alone=(
            r"(?:por favor,? )?(?:sé|se) (?:más )?(?:breve|conciso)(?:,? por favor)?|(?:por favor,? )?respuestas"
            r" (?:más )?"
            r"(?:cortas|breves)(?:,? por favor)?|(?:por favor,? )?responde (?:en (?:como máximo|máximo) \w+ (?:frases"
            r"|líneas|palabras)|brevemente)(?:,? por favor)?"
        ),
    ),
    "fr": ordinary_forms(
        (
            r"\b(?:aujourd'hui|maintenant|cette fois|pour l'instant|demain|hier|peut-être|crois|si|était|étaient|encore"
            r"|déjà|option|ligne \d+|(?:ce|cet|cette) (?!projet|dépôt|repo|code|équipe)\w+|échou\w+|cassée?|faux)\b"
        ),
        standing=(
            (
                r"dans (?:ce|notre) (?:projet|dépôt|repo|équipe),? (?:on|nous) (?:lance|lançons|utilise|utilisons|écrit"
                rf"|écrivons|teste|testons|déploie|déployons|formate|formatons) (?:.{{2,60}}\b(?:avec|par|via|en|jamais"
                rf"|pas|toujours)\b.{{2,100}}|(?!{_FR_NO})[\w`.-]+.{{0,80}})"
            ),
            # "Nous utilisons pnpm et non npm"
            (
                rf"(?:on|nous) (?:utilise|utilisons) (?!{_FR_NO})[^\s,;]+(?: [^\s,;]+){{0,2}}?,? (?:et (?:non|pas)|pas"
                rf"|non"
                rf"|au lieu de|plutôt que) (?!{_FR_NO})[^\s,;]+(?: [^\s,;]+)?(?:, (?:donc )?(?:s'il (?:te|vous)"
                rf" plaît,? )?"
                r"(?:jamais|pas|ne|n'|toujours).{4,80})?"
            ),
            (
                rf"(?:ici,? )?(?:on|nous) (?:utilise|utilisons|suit|suivons) (?:(?:{_TITLE}|{_TOOL}) {_FR_HERE}"
                rf"|(?!{_FR_NO})[^,;:]{{2,50}} partout)"
            ),
            (
                r"(?:(?:les )?messages de commit|commits|noms de (?:branches|variables|fichiers|tests)|branches"
                r"|commentaires"
                r"|style(?: de code)?) ?: ?(?=.*\b(?:sans|jamais|toujours|uniquement|pas|maximum|impératif|présent"
                r"|minuscules|anglais|français|préfixe|courts)\b)[^:;?]{6,160}"
            ),
            (
                r"(?!(?:ça|cela|il|elle|je|ce|c'est)\b)[\w`./*()+#%-]+(?: [\w`./*()+#%-]+){0,4}? (?:n'est pas (?:permis"
                rf"|autorisé)e?|est interdite?|sont interdite?s) (?:{_FR_HERE}|dans {_FR_CRAFT})"
            ),
        ),
        alone=(
            (
                rf"(?:s'il (?:te|vous) plaît,? )?(?:pas de|pas d'|sans|aucun) ?{_STYLE}(?: dans {_FR_CRAFT})?"
                r"(?:,? s'il (?:te|vous) plaît)?"
            ),
            (
                rf"(?:s'il (?:te|vous) plaît,? )?n'utilise pas (?:de |d')(?:{_STYLE}|[\w-]+ dans {_FR_CRAFT})(?: dans "
                rf"{_FR_CRAFT})?, (?:mais |plutôt )?(?:utilise|prends|préfère) (?:de |des )?(?:vrais )?[\w`./-]+(?:"
                rf" [\w`./-]+)?"
            ),
            (
                r"(?:s'il (?:te|vous) plaît,? )?(?:assure-toi|fais en sorte) que chaque (?:\w+ ){1,3}(?:ait|a|renvoie"
                r"|contienne) (?:un|une|au moins) [^,;:]{3,60}"
            ),
            rf"je préférerais (?:avoir )?(?:de |des )?(?!{_FR_NO})[\w -]{{3,60}} (?:plutôt que|à) [\w -]{{3,60}}",
        ),
        talk=(
            r"(?:s'il (?:te|vous) plaît,? )?garde (?:tes|les) réponses (?:plus )?(?:courtes|brèves|concises|simples)",
            r"(?:s'il (?:te|vous) plaît,? )?arrête de (?:t'excuser|me remercier|(?:tout )?m'expliquer ?[^,;:]{0,40})",
            r"(?:ne )?t'excuse pas (?:tout le temps|à chaque fois)",
        ),
        talk_alone=(
            r"(?:s'il (?:te|vous) plaît,? )?sois (?:plus )?(?:bref|brève|concise?)|(?:s'il (?:te|vous) plaît,?"
            r" )?(?:des )?"
            r"réponses (?:plus )?(?:courtes|brèves)(?:,? s'il (?:te|vous) plaît)?|réponds (?:brièvement|en (?:au plus"
            r"|trois"
            r"|deux) \w+ ?\w*)"
        ),
    ),
    "zh": ordinary_forms(
        (
            r"今天|这次|现在|暂时|刚才|失败|报错|出错|为什么|如果|可能|也许|明天|昨天|这个(?!项目|仓库|代码库)|那个|已经"
            r"|过了?[，。]|[吗呢]"
        ),
        standing=(
            # "我们用 pnpm，不用 npm"
            (
                r"(?:我们|咱们)(?:都|只)?(?:用|使用|采用) ?[A-Za-z][\w.+#-]*(?: [A-Z]\w+)* ?[，,]? ?(?:不是|而不是"
                r"|不要用?|不用"
                r"|别用) ?[A-Za-z][\w.+#-]*(?:[，,].{2,40})?"
            ),
            (
                r"(?:在)?(?:这个|我们的?)(?:项目|仓库|代码库)(?:里|中)?[，,]?(?:我们)?(?:都|统一)?(?:用|使用|采用)(?!了"
                r"|过|的).{2,60}"
            ),
            r"(?:我们)?(?:这里|全部|到处|统一)(?:都)?(?:用|使用|采用) ?[A-Za-z`][\w.+#`-]*(?: [A-Z]\w+)*(?:来)?.{0,12}",
            (
                r"(?:提交信息|提交说明|分支名|变量名|文件名|测试名|代码风格|注释)[：:](?=.*(?:不|用|必须|最多|不超过"
                r"|小写|英文|中文|祈使)).{3,80}"
            ),
            (
                r"[^，,。这那我你他它]{2,20}(?:在测试(?:里|中)|在(?:生产)?代码(?:里|中)|在这里|在(?:我们的"
                r"|这个)项目(?:里|中))?(?:是)?(?:不允许的|禁止使用(?:的)?)"
            ),
        ),
        alone=(
            (
                r"(?:请)?(?:不要|别)(?:在(?:测试|代码|文档|注释)(?:里|中))?(?:使)?用 ?(?:mock|分号|缩写|全局变量"
                r"|any)[^，,。]{0,6}(?:[，,]"
                r"(?:请)?(?:改用|用|使用).{2,20})?"
            ),
            r"(?:请)?(?:确保|保证)每(?:个|一个)[^，,。]{2,16}(?:都)?有.{2,20}",
        ),
        talk=(
            r"(?:请)?(?:让|把)?(?:你的)?(?:回答|回复)(?:请)?(?:要|尽量|都)?(?:保持)?(?:简短|简洁|短)(?:一点|一些|点)?",
            r"(?:请)?(?:不要|别)(?:再|总是|老是)?(?:一直)?道歉(?:了)?",
        ),
        talk_alone=r"(?:请)?(?:尽量)?(?:简短|简洁)(?:一点|一些|点)?(?:地)?(?:回答|回复)?|(?:请)?说短(?:一)?点|(?:请)?用(?:最多)?[一二三两\d]+句话回答",
    ),
    "ja": ordinary_forms(
        (
            r"今日|今回|とりあえず|失敗|なぜ|どうして|もし|たぶん|明日|昨日|さっき|この(?!プロジェクト|リポジトリ)|その"
            r"|あの|でした|ました(?!ら)"
        ),
        standing=(
            (
                r"(?:この|うちの)?(?:プロジェクト|リポジトリ|チーム|ここ)で(?:は)、?[^、。]{2,30}(?:を使い(?:ます"
                r"|、)|を使って(?:います|ください)|で"
                r"(?:実行|ビルド|テスト)します)[^。]{0,40}"
            ),
            (
                r"(?:私たちは|うちは|ここでは)?[\w.+#-]+ ?(?:ではなく|じゃなく)て?、? ?[\w.+#-]+ ?を使(?:います"
                r"|っています)(?:[。、].{2,40})?"
            ),
            (
                r"(?:コミットメッセージ|ブランチ名|変数名|ファイル名|テスト名|コメント)(?:は|："
                r"|:)、?[^、。]{2,30}(?:で(?:書いて|付けて|お願い)(?:ください"
                r"|下さい|します)|にして(?:ください|下さい))"
            ),
            (
                r"(?:コミットメッセージ|ブランチ名|変数名|ファイル名|テスト名|コメント)[：:](?=.*(?:なし|禁止|のみ"
                r"|小文字|英語|命令形|以内)).{3,60}"
            ),
            r"[^、。こそあ]{2,20}は(?:ここでは|テストでは|このプロジェクトでは)?(?:使用)?禁止(?:です)?",
        ),
        alone=(
            (
                r"(?:テスト|コード|コメント|ドキュメント)(?:では|に|で)(?:モック|セミコロン|略語"
                r"|any)[^、。]{0,6}(?:を|は)使わない(?:で(?:ください|下さい)?|こと)"
                r"(?:[。、].{2,30})?"
            ),
            r"(?:すべて|全て|各)の?[^、。]{2,16}に[^、。]{2,16}を(?:付けて|書いて)(?:ください|下さい)",
        ),
        talk=(
            (
                r"(?:返事|回答|答え|説明)は(?:もっと|できるだけ|なるべく)?(?:短く|簡潔に)(?:して)?(?:ください|下さい"
                r"|お願いします)?"
            ),
            r"(?:いちいち|毎回)?謝らないで(?:ください|下さい)?",
        ),
        talk_alone=r"(?:もっと|できるだけ|なるべく)?(?:短く|簡潔に)(?:お願いします|答えてください|回答してください|してください)",
    ),
}
"""The forms of each language but English that has some."""
