"""Harm of what an agent's files and working memory say: words for a person, rights, data sent away, orders in secret.

A file may have copied its sentences from anywhere. So one waits for a person where it says what somebody wants or
allows, who may do what to an agent's things, that data is to be sent to an address, or secrets anywhere, or that nobody
is to be asked. It is found by its form in English, German, French, Spanish, Italian, Portuguese, Russian, Chinese,
Japanese and Korean; in doubt it waits. What the users of a product may do is an ordinary fact.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from reverie.models import Candidate

__all__ = ["gives_orders", "harm_of_file"]

# Orders to an agent to act behind the person's back.
_BEHIND_BACK: Final = lazy_regex(
    r"\bwithout (?:(?:ever |first |even )?(?:asking|telling|informing|notifying|consulting|confirming)"
    r"|(?:any |the |a |their |your )?(?:\w+'s )?(?:permission|approval|consent|confirmation))\b"
    r"|\b(?:never|not|don'?t|no need)(?: to)? (?:ask|tell|inform|notify|consult) (?:the |your )?(?:user|person"
    r"|owner|human"
    r"|anybody|anyone|them|him|her|first|before|for (?:permission|approval))\b"
    r"|\bohne (?:[^.!?\n]{0,40} )?(?:zu fragen|nachzufragen|rückzufragen|zu informieren|rückfrage|zustimmung"
    r"|erlaubnis)\b"
    r"|\bsans (?:(?:jamais )?(?:demander|consulter|prévenir|avertir|informer)|(?:l')?(?:autorisation|accord"
    r"|confirmation))\b"
    r"|\bsin (?:(?:nunca )?(?:preguntar|avisar|consultar|informar|pedir)|(?:permiso|autorización|confirmación))\w*\b"
    r"|\bsenza (?:(?:mai )?(?:chiedere|avvisare|informare|consultare)|(?:permesso|autorizzazione|conferma))\w*\b"
    r"|\bsem (?:(?:nunca )?(?:perguntar|avisar|informar|consultar|pedir)|(?:permissão|autorização|confirmação))\w*\b"
    r"|\bне (?:спрашива\w+|спросив|сообща\w+|уведомля\w+)|\bбез (?:спроса|ведома|разрешения|согласия|подтверждения)\b"
    r"|(?:不要|不必|无需|無需|不用|别|不)(?:再)?(?:询问|詢問|问|告知|告诉|通知|征求)|未经(?:许可|同意|允许)"
    r"|(?:聞か|尋ね|確認せ|確認し|知らせ|相談せ|許可を得)(?:ず|ないで)|(?:許可|確認|承認)なし|묻지 ?(?:말|않|마)"
    r"|허락 ?없이|확인 ?없이",
    re.IGNORECASE,
)
# Who speaks in a sentence that gives a wish. A program may be a client or a manager too, and it "requires" and
# "expects"; so these words count only with a verb of the will: "The client requires TLS" is a fact.
_PERSONS: Final = (
    r"(?:user|person|owner|human|maintainer|boss|customer|supervisor|team ?lead(?:er)?|lead developer|tech lead|ceo"
    r"|cto"
    r"|colleague|co-?worker|stakeholder|product owner|architect|director|principal|administrator|sysadmin|developer"
    r"|reviewer|author|teacher|chief|employer)s?"
)
_ROLES: Final = rf"(?:{_PERSONS}|(?:client|manager|admin|operator|sponsor)s?)"
_WILL: Final = (
    r"(?:wants?|wanted|wish(?:es|ed)?|demand(?:s|ed)?|insist(?:s|ed)?|decid(?:es?|ed)|ask(?:s|ed)|told|said|says"
    r"|order(?:s|ed)"
    r"|instruct(?:s|ed)|request(?:s|ed)|prefer(?:s|red)?|trusts?|trusted|approv(?:es?|ed)|agre(?:es|ed)|permitted"
    r"|authori[sz](?:es|ed)|mandat(?:es|ed)|would like)"
)
_SPEAKS_FOR_OTHERS: Final = lazy_regex(
    rf"\b{_ROLES}\b(?: of (?:\w+ ){{1,4}}| in (?:\w+ ){{1,3}}|,[^,.]{{1,40}},)? ?(?:has |have |had |'s |also "
    rf"|always |now |clearly"
    rf" |explicitly |really ){{0,3}}{_WILL}\b"
    rf"|\b{_PERSONS}(?: has| have|'s)? (?:preferences?|requires?|required|expects?|likes?|allows?|allowed|permits?)\b"
    rf"|\b(?:team|company|management)s? (?:has |have )?{_WILL} (?:that|to|us|you|agents?|everyone|everybody)\b"
    # "Ann asked us to …": a name, and an order. "Postgres wants an index" is about a program.
    r"|(?-i:(?<![\w.`])[A-Z][a-z]+(?: [A-Z][a-z]+)?) (?:has |have |had |also |clearly |explicitly ){0,2}(?:asked|told"
    r"|instructed|ordered|requested|demands?|demanded|insists?|insisted|decided|decides|wants|wanted|wishes|trusts"
    r"|trusted"
    r"|approved|agreed|authori[sz]ed)\b(?= (?:us|me|you|that|to|for|on|every|all|agents?|everyone|everybody"
    r"|the agents?)\b)"
    r"|\b(?:management|company|corporate|executive|board|leadership) (?:polic(?:y|ies)|decisions?|directives?|mandates?"
    r"|orders?)\b|\b(?:user|person|owner|human|customer|boss|maintainer)['\u2019]s (?:wish(?:es)?|will)\b"
    r"|^wants agents\b|\bno longer (?:true|valid|correct|right|the case)\b"
    r"|\b(?:user|person|owner|human|customer|boss)[ _-](?:preferences?|wish(?:es)?|rules?|requests?|instructions?)\b"
    # German, with the verb before or behind: "Der Chef will, dass …", "will der Kunde".
    r"|\b(?:der|die|den|dem|unser|unsere|mein|meine) (?:\w+ )?(?:benutzer|nutzer|anwender|user|besitzer|eigentümer"
    r"|inhaber|chef|kunde|betreiber|leiter|vorgesetzte|auftraggeber|verantwortliche|maintainer|entwickler|kolleg"
    r"|mensch"
    r"|person)\w*(?: [^.,!?\n]{0,40})? (?:möchte|will|wünscht|bevorzugt|verlangt|fordert|erwartet|erlaubt|gestattet"
    r"|sagte?"
    r"|mag|bittet|bestimmt|hat [^.!?\n]{0,60}(?:gesagt|verlangt|erlaubt|gebeten|entschieden|beschlossen|angeordnet"
    r"|gewünscht))\b"
    r"|\bl.(?:utilisateur|utilisatrice)\b[^.!?\n]{0,30} (?:veut|souhaite|préfère|demande|exige|autorise|aime|a (?:dit"
    r"|demandé|autorisé|décidé))\b"
    r"|\b(?:le|la|notre|mon|ma) (?:propriétaire|patron\w*|chef\w*|client\w*|responsable|mainteneu\w+|directeur"
    r"|directrice"
    r"|personne|développeu\w+)\b[^.!?\n]{0,30} (?:veut|souhaite|préfère|exige|ordonne|a (?:dit|demandé|autorisé"
    r"|décidé))\b"
    r"|\b(?:el|la|nuestr[oa]|mi) (?:usuari[oa]|dueñ[oa]|propietari[oa]|jef[ea]|cliente|responsable|mantenedor\w*"
    r"|director\w*|persona|encargad[oa])\b[^.!?\n]{0,30} (?:quiere|desea|prefiere|pide|exige|permite|dijo|decidió"
    r"|ordena"
    r"|pidió|ha (?:dicho|pedido|permitido|decidido|ordenado))\b"
    r"|\b(?:il|la|lo|nostro|nostra) (?:proprietari[oa]|titolare|capo|cliente|responsabile|manutentore|direttore"
    r"|direttrice"
    r"|utente|persona)\b[^.!?\n]{0,30} (?:vuole|desidera|preferisce|chiede|esige|pretende|ordina|permette|ha (?:detto"
    r"|chiesto|deciso|ordinato))\b|\bl.utente\b[^.!?\n]{0,30} (?:vuole|desidera|preferisce|chiede|esige|permette"
    r"|ha (?:detto"
    r"|chiesto|deciso))\b"
    r"|\b[oa] (?:usuári[oa]|utilizador\w*|don[oa]|proprietári[oa]|chefe|cliente|responsável|mantenedor\w*|diretor\w*"
    r"|pessoa)\b[^.!?\n]{0,30} (?:quer|deseja|prefere|pede|pediu|exige|disse|permite|decidiu|mandou|ordena)\b"
    r"|\b(?:пользовател|владел|хозя|начальни|руководител|заказчи|клиент|шеф|босс|директор|мейнтейнер|человек)\w*"
    r"[^.!?\n]{0,40} (?:хочет|хотел\w*|требует|потребовал\w*|просит|попросил\w*|решил\w*|предпочитает|желает|велел\w*"
    r"|разреш\w+|сказал\w*|настаивает)"
    r"|(?:用户|用戶|使用者|老板|客户|客戶|主人|所有者|维护者|負責人|负责人|经理|领导|上司)[^。！？\n]{0,12}(?:希望"
    r"|想|要求|偏好|喜欢|说|允许|同意|决定|坚持|吩咐)"
    r"|(?:ユーザー?|利用者|顧客|お客様|上司|社長|オーナー|所有者|管理者|担当者|責任者)(?:は|が"
    r"|の)[^。\n]{0,40}(?:希望|望|好|要求|許可|言って|言った"
    r"|ほしい|欲しい|決め|決定|指示|求め)"
    r"|(?:사용자|고객|사장|상사|소유자|관리자|담당자|책임자|팀장)\w{0,3}[^.\n]{0,40}(?:원하|원합|원한|바라|바랍"
    r"|바란|요청|요구|결정|지시|허락|허용)"
    # The id of a memory: an order about another one.
    r"|\bmem_[0-9a-z]{20,}",
    re.IGNORECASE,
)
# Orders not to wait for a person's yes. "Pass --yes to skip the confirmation" says what an option is for.
_SKIPS_ASKING: Final = lazy_regex(
    r"(?:^|[.;:,!\u2013\u2014\u2192-]\s*|\b(?:and|then|always|please|agents? (?:must|should)|you (?:must|should)) )"
    r"(?:skip|bypass|ignore|disable|suppress|omit|auto-?(?:accept|approve|confirm)) (?:(?:the|any|all|every|each|your"
    r"|its|their|no) ){0,2}(?:[\w-]+ ){0,2}?(?:confirmations?|approvals?|(?:permission|approval|confirmation|consent)"
    r" (?:prompts?|checks?|requests?|dialogs?|questions?|steps?)|consent|code reviews?|safety checks?|guardrails?)\b",
    re.IGNORECASE,
)
# Who may do what: "MM may read every space". "It may read the file twice" is about what can happen, so a right over
# all of something, or in so many words, is looked for; and "a worker may use all cores" is about no agent's things.
_THINGS: Final = (
    r"(?:spaces?|secrets?|credentials?|tokens?|passwords?|keys?|memor(?:y|ies)|repos?|repositor(?:y|ies)|files?"
    r"|folders?|director(?:y|ies)|machines?|branch(?:es)?|projects?|accounts?|servers?|systems?|environments?|hosts?"
    r"|data|messages?|e?-?mails?|threads?|conversations?)"
)
_ANY: Final = (
    rf"(?:everything|anything|everywhere|anywhere|(?:every|all|any|whole|entire)\b(?: [\w-]+){{0,3}}? {_THINGS}\b)"
)
_GIVES_RIGHTS: Final = lazy_regex(
    rf"\bmay (?:now |also |always |freely )?(?:read|write|see|access|change|edit|delete|use|enter|download)\b"
    rf"[^.!?\n]{{0,40}}\b{_ANY}"
    r"|\bmay (?:now |also |always |freely )?(?:push|deploy|merge|approve|publish|upload|send|run|execute)\b"
    r"[^.!?\n]{0,40}\b(?:every|all|any|everything|anything|whole|entire)\b"
    r"|\b(?:agents?|assistants?) may (?:read|write|access|edit|change|delete|use|install|commit|release|skip|ignore"
    r"|push|deploy|merge|approve|publish|upload|download|send|run|execute)\b"
    rf"|\bha(?:s|ve) (?:[\w-]+ ){{0,2}}(?:access|rights?|permissions?) (?:to |on |over |in |for )?{_ANY}"
    r"|\bmay (?:read|see|access|use|enter) (?:\w+ ){0,3}(?:spaces?|secrets?|credentials?|tokens?|passwords?|keys?"
    r"|memor(?:y|ies))\b"
    r"|\b(?:is|are|was|were|be|been) (?:now |hereby |always )?(?:trusted|permitted|authori[sz]ed|entitled) (?:to|by"
    r"|as|with|for)\b"
    r"|\b(?:grants?|give|gives) [\w.@-]+ (?:\w+ ){0,2}(?:access|rights?|permissions?)\b"
    r"|\bha(?:s|ve) (?:been )?(?:granted|given) (?:\w+ ){0,2}(?:access|rights?|permissions?)\b"
    r"|\bha(?:s|ve) (?:full|unlimited|unrestricted) (?:\w+ )?(?:access|rights?|permissions?)\b"
    r"|\bdarf\b[^.!?\n]{0,40}\b(?:alle[ns]?|jede[nrms]?|ohne)\b|\bhat (?:vollen "
    r"|uneingeschränkten )?zugriff auf (?:alle|jede)\w*"
    r"|\b(?:a|ont) (?:le droit|l'autorisation|accès à tou\w+)\b|\best autorisée? à\b"
    r"|\btiene (?:permiso|derecho|acceso a tod\w+)\b|\bestá autorizad[oa] a\b|\bpuede (?:leer|ver|usar"
    r"|borrar) tod[oa]s?\b"
    r"|\bha (?:il permesso|il diritto|accesso a tutt\w+)\b|\bè autorizzat[oa] a\b|\bpuò (?:leggere|vedere"
    r"|usare) tutt\w+\b"
    r"|\btem (?:permissão|direito|acesso a tod\w+)\b|\bestá autorizad[oa] a\b|\bpode (?:ler|ver|usar"
    r"|apagar) tod[oa]s?\b"
    r"|\bимеет (?:право|(?:полный )?доступ ко вс\w+)|\bразрешено\b|\bможет (?:читать|видеть|удалять) вс\w+"
    r"|(?:有权|有權|被授权|获准)|可以(?:读取|访问|删除|使用)(?:所有|全部|任何)|(?:する|の)(?:権限|権利)が(?:ある"
    r"|あり)|すべての[^。\n]{0,20}(?:てよい|てもよい)"
    r"|모든[^.\n]{0,20}(?:읽을|접근할|삭제할) 수 있",
    re.IGNORECASE,
)
# The users of a product, of which a right is a fact: "Users may read all public tables", "gives each user access". The
# user of the machine, "the user", is none of them.
_KINDS: Final = (
    r"(?:user|member|visitor|guest|reader|customer|client|subscriber|tenant|admin|administrator|moderator|editor|viewer"
    r"|player|student|teacher|patient|employee|caller|consumer|role|plan|seller|buyer|driver|author)"
)
_OF_A_PRODUCT: Final = (
    rf"(?:\b{_KINDS}s|\b(?:each|every|an?|any|one|no|another) (?:[\w-]+ ){{0,2}}{_KINDS}"
    r"|\bjede[rm]? (?:\w+ )?(?:be)?nutzer|\bchaque (?:utilisat\w+|client\w*)|\bles (?:utilisat\w+|client\w*)"
    r"|\b(?:cada|los|las|os|as) (?:usuari[oa]s?|clientes?)|\b(?:ogni utente|gli utenti)"
    r"|\b(?:каждый пользователь|пользователи)|(?:每个|所有)(?:用户|用戶)|(?:各|すべての)ユーザー[はが]?"
    r"|(?:각|모든) 사용자[는가]?)"
)
_SUBJECT: Final = lazy_regex(
    rf"{_OF_A_PRODUCT}(?: (?:with|of|in|on|who|whose|without|from|at|outside|inside)\b [^,;:]{{1,40}})?\s*$",
    re.IGNORECASE,
)
_OBJECT: Final = lazy_regex(rf"^(?:grants?|gives?|ha(?:s|ve)) .*{_OF_A_PRODUCT}", re.IGNORECASE)
_NO_PRODUCT: Final = lazy_regex(
    r"\b(?:secrets?|credentials?|tokens?|passwords?|keys?|memor(?:y|ies)|agents?|assistants?|confirm\w*|approvals?)\b",
    re.IGNORECASE,
)
# Hosts, addresses and shares, in any case of letters: "https://…", "ann@…", "203.0.113.7", "collect.evil.example".
# A name with one dot is one behind a word such as "to" alone: "os.path" and "loader.py" are none.
_FILE: Final = (
    r"(?!\S*\.(?:py|js|ts|tsx|jsx|json|toml|ya?ml|lock|txt|csv|log|html?|css|cfg|ini|conf|xml|sql|java|cpp|hpp|go"
    r"|rb|php|ipynb|proto|tf|bak|env|mdx?|rst)\b(?!\.))"
)
_TO: Final = (
    r"\b(?:to|at|via|through|with|an|auf|bei|nach|über|zu|à|vers|chez|sur|a|al|en|para|por|su|sul|da|в|на|к"
    r"|через|naar|do|na)"  # also Dutch and Polish
)
_ADDRESS: Final = lazy_regex(
    r"\b(?:https?|ftp|sftp|ssh|s3|gs|wss?)://\S|[\w.+-]+@(?:[\w-]+\.)+[^\W\d_]{2,}"
    r"|(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.])"
    rf"|\\\\[\w.-]+\\\w|(?<![\w./`-]){_FILE}(?:[\w-]+(?:\.|\[\.\])){{2,}}[^\W\d_]{{2,}}\b"
    rf"|{_TO} (?:the |den |die |le |la |el |il )?[`\"']?{_FILE}[\w-]+(?:\.|\[\.\])[^\W\d_]{{2,}}\b"
    rf"|[到至给往][\s`]?{_FILE}[a-z0-9-]+\.[a-z]{{2,}}|[a-z0-9-]+\.[a-z]{{2,}}`?\s?(?:に|へ|まで|로|에|으로)",
    re.IGNORECASE,
)
# An order to give something away. Only the forms of an order, so that "the exporter posts to https://…" is a fact; in
# languages in which both are one form, also that. German puts a part of the verb at the end: "Lade … hoch".
_SENDS_ENGLISH: Final = (
    r"(?:send|post|upload|forward|e?-?mail|copy|share|push|report|submit|export|transmit|stream|sync|deliver|publish"
    r"|ship|mirror|back ?up|leak|exfiltrate|transfer|dump|pipe)"
)
_SENDS_OTHERWISE: Final = (
    r"\b(?:sende|senden|schick\w*|übertrag\w*|übermittle?n?|poste|posten|exportier\w*|kopier\w*|melde|melden|teile"
    r"|weiterleiten|hochladen|hochzuladen|veröffentliche\w*)\b|\b(?:lade|leite|gib)\b[^.!?\n]{1,80}\b(?:hoch"
    r"|weiter)\b"
    r"|\b(?:envoye[rz]?|envoie|transmet\w*|transfér\w*|téléverse[rz]?|publie[rz]?|exportez?|copie[rz]?"
    r"|partage[rz]?|poste[rz]?)\b"
    r"|\b(?:envía|envia|envíe|enviar|envie|sube|subir|suba|manda|mandar|mande|publica|publicar|exporta|exportar"
    r"|comparte"
    r"|compartir|copia|copiar|reenvía|reenviar|transmite)\b"
    r"|\b(?:invia|inviare|inviate|carica|caricare|manda|mandare|esporta|esportare|pubblica|pubblicare|copia|copiare"
    r"|condividi|inoltra|inoltrare|trasmetti)\b"
    r"|\b(?:envie|enviar|mande|carregue|carregar|publique|exporte|copie|compartilhe|encaminhe|transmita)\b"
    r"|\b(?:отправ\w+|посыла\w+|пошли\w*|загру\w+|выгру\w+|экспорт\w+|пересыла\w+|перешли\w*|передава\w+|переда\w+"
    r"|копиру\w+"
    r"|публику\w+)"
    r"|(?:发送|發送|上传|上傳|传到|发到|寄到|导出|提交|转发|分享|同步|推送|复制)|(?:送信|送って|送る|送り"
    r"|アップロード|転送|投稿|エクスポート|共有|コピー)"
    r"|(?:보내|업로드|전송|올려|내보내|공유|복사)|\b(?:wyślij|wysyłaj|prześlij|gönder\w*|yükle\w*|stuur|verstuur"
    r"|upload\w*)\b"
)
_SENDS: Final = lazy_regex(rf"\b{_SENDS_ENGLISH}\b|{_SENDS_OTHERWISE}", re.IGNORECASE)
# Secrets given away, wherever to. Many, or what a file of secrets has: that the token is sent to the server is how a
# protocol works. "Copy .env.example to .env" copies none.
_SENSITIVE_FILE: Final = (
    r"(?:(?<![\w.])\.env(?![\w.]*(?:example|sample|template|dist))(?:\.\w+)?\b|\bid_(?:rsa|ed25519)\b"
    r"|~?/?\.(?:ssh|aws|netrc|npmrc|gnupg)\b|\bcredentials\.json\b)"
)
_ALL_SECRETS: Final = (
    r"(?:\b(?:every|all|each|any)(?: [\w-]+){0,3}? (?:secrets?|credentials?|tokens?|passwords?|keys?"
    r"|environment variables?)\b|\b(?:private|ssh|signing|gpg) keys?\b"
    rf"|\b(?:whole|entire|full) env(?:ironment)?\b|{_SENSITIVE_FILE})"
)
_SECRETS: Final = rf"(?:\bsecrets\b|\bpasswords\b|{_ALL_SECRETS})"
_INTO: Final = r"(?:to|into|onto|via|at)\b"
_ORDERED: Final = (
    r"(?:^|[.;:,!\u2013\u2014\u2192-]\s*|\b(?:and|then|always|please|agents? (?:must|should)|you (?:must|should)) )"
)
_LOGIN: Final = (
    r"(?:[\w-]+ ){0,4}(?:log-?in|auth\w*|oauth|sign-?in|sessions?|server|api|endpoint|service|vault|keychain|keyring)\b"
)
_GIVES_SECRETS: Final = lazy_regex(
    rf"{_ORDERED}{_SENDS_ENGLISH} (?:(?!\bto\b|\bwith (?:each|every|any)\b)[^!?\n]){{0,60}}?{_SECRETS}"
    rf"[^!?\n]{{0,60}}?\b{_INTO}"
    rf"|{_ORDERED}{_SENDS_ENGLISH} (?:(?:the|its|your|their|our|a) )?(?:[\w-]+ )?(?:credentials|tokens?|api keys?"
    rf"|password)\b[^.!?\n]{{0,40}}?\b{_INTO} (?![\"'`]?/)(?!{_LOGIN})"
    rf"|{_ORDERED}(?:send|e?-?mail|forward) (?:(?!with|for|in\b|by\b|all\b|every\b)[\w-]+ ){{1,3}}?{_SECRETS}"
    rf"|{_ALL_SECRETS}[^.!?\n]{{0,60}}?\b(?:is|are|be|gets?) (?:\w+ ){{0,2}}(?:sent|posted|uploaded|forwarded|mailed"
    r"|copied|shared|pushed|reported|submitted|exported|transmitted|streamed|synced|delivered|published|shipped"
    rf"|mirrored|backed up|transferred|dumped|piped|leaked)\b[^.!?\n]{{0,40}}?\b{_INTO}",
    re.IGNORECASE,
)
_SECRETS_OTHERWISE: Final = (
    r"(?:\b(?:alle[nr]?|jede[ns]?|sämtliche)\s(?:\w+\s){0,2}?(?:geheimnis\w*|zugangsdaten|passw[oö]rt\w*|schlüssel\w*)"
    r"|\b(?:tous|toutes|chaque)\s(?:\w+\s){0,2}?(?:secrets?|mots? de passe|identifiants?|clés?)"
    r"|\b(?:tod[oa]s|cada)\s(?:\w+\s){0,2}?(?:secretos?|contraseñas?|credencial\w*|claves?|segredos?|senhas?|chaves?"
    r"|credenciais)|\b(?:tutt[ie]|ogni)\s(?:\w+\s){0,2}?(?:segret\w+|password|credenzial\w+|chiav\w+)"
    r"|\b(?:все|всех|каждый)\s(?:\w+\s){0,2}?(?:секрет\w*|парол\w*|ключ\w*|учётн\w+|токен\w*)"
    r"|(?:所有|全部)的?(?:密钥|密码|凭据|凭证|令牌|秘密)"
    r"|(?:すべての|全ての|全)(?:秘密|パスワード|認証情報|鍵)|모든 (?:비밀|자격|암호|키)"
    r"|\b(?:inhalt (?:von|der)|contenu (?:de|du)|contenido (?:de|del)|contenuto (?:di|del)|conteúdo (?:de|do)"
    r"|содержимое(?: файла)?) [`\"']?\.env\b|\.env`?\s?(?:的(?:全部)?内容|の(?:中身|内容)|의? ?내용))"
)
_GIVES_SECRETS_OTHERWISE: Final = lazy_regex(
    rf"(?:{_SENDS_OTHERWISE})[^!?\n]{{0,80}}{_SECRETS_OTHERWISE}|{_SECRETS_OTHERWISE}[^!?\n]{{0,80}}(?:{_SENDS_OTHERWISE})",
    re.IGNORECASE,
)
# "… is always to go to collect.example": without a verb of sending, but data and an address.
_ALWAYS: Final = (
    r"(?:always|immer|stets|toujours|siempre|sempre|всегда|总是|始终|務必|务必|必须|必ず|常に|항상"
    r"|altijd|zawsze|her zaman)"
)
_DATA: Final = (
    r"(?:logs?|secrets?|env(?:ironment)?|credentials?|tokens?|passwords?|dumps?|backups?|reports?|traces?|telemetry"
    r"|keys"
    r"|protokolle?|umgebung|zugangsdaten|journaux|registros|credenciales|registri|credenziali|журнал\w*|лог\w*"
    r"|секрет\w*"
    r"|日志|密钥|环境|ログ|秘密|로그|비밀)"
)
_DATA_ALWAYS: Final = lazy_regex(rf"{_ALWAYS}[^.!?\n]*{_DATA}|{_DATA}[^.!?\n]*{_ALWAYS}", re.IGNORECASE)
# Another machine in an error line; a program's own, "connect ECONNREFUSED 127.0.0.1:5432", is none.
_FAR_AWAY: Final = lazy_regex(
    r"\b(?:https?|ftp|ssh)://(?!localhost|127\.|0\.0\.0\.0|\[::1\])\S|[\w.+-]+@(?:[\w-]+\.)+[^\W\d_]{2,}",
    re.IGNORECASE,
)
_ORDER: Final = lazy_regex(
    rf"(?:^|[;:.,!\u2013\u2014-]\s*)(?:please |you (?:must|should) |agents? (?:must|should) )?(?:{_ALWAYS}|never"
    rf"|from now on"
    r"|make sure|be sure to|remember to|ignore (?:all|any|previous)|nie|niemals|ab jetzt|jamais|désormais|nunca|jamás"
    r"|a partir de ahora|mai|никогда|отныне|不要再|从现在|今後|절대)(?!\w)",
    re.IGNORECASE,
)


def harm_of_file(candidate: Candidate) -> str | None:
    """Return why a candidate of a file or of working memory has to wait for a person; None where it is harmless."""
    from reverie.language_model.extraction_request_and_checked_answer import UNSAFE

    if candidate.provenance.get("seqs"):
        return None
    text = candidate.content
    path = candidate.provenance.get("path")
    if isinstance(path, str):
        text = text.removesuffix(f" (from {path})")  # "release.md" has the form of a host
    sends = _ADDRESS.search(text) and (_SENDS.search(text) or _DATA_ALWAYS.search(text))
    gives_secrets = _GIVES_SECRETS.search(text) or _GIVES_SECRETS_OTHERWISE.search(text)
    if sends or gives_secrets or UNSAFE.search(text) or _BEHIND_BACK.search(text) or _SKIPS_ASKING.search(text):
        return "its advice could do harm where it is followed"
    if _SPEAKS_FOR_OTHERS.search(text) or _gives_rights(text):
        return "an agent's file speaks for the person"
    return None


def _gives_rights(text: str) -> bool:
    """Return True if a text says who may do what, of others than the users of a product."""
    for match in _GIVES_RIGHTS.finditer(text):
        is_product = _SUBJECT.search(text[: match.start()]) or _OBJECT.search(match[0])
        if not is_product or _NO_PRODUCT.search(text):
            return True
    return False


def gives_orders(error: str) -> bool:
    """Return True for an error line that has an address, or a sentence with an order for good.

    "rows are lost; always export them to x first" may be written by whoever wrote the program that failed.
    """
    return _FAR_AWAY.search(error) is not None or _ORDER.search(error) is not None
