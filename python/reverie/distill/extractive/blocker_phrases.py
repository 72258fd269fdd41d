"""Phrases of obstacles, and of their end, in English, German, Spanish, French, Chinese and Japanese."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from reverie.distill import cues as cue_phrases
from reverie.lazy_regex import lazy_regex

__all__ = ["is_blocker", "is_unblocked"]


@dataclass(frozen=True, slots=True)
class _Phrases:
    """Patterns of one language for obstacles, for conditions that are none, and for the end of an obstacle.

    `blocked`: the speaker cannot go on, or needs something; `supposed` makes a sentence a condition or a denial, and
    no report; `unblocked`: what was missing is there.
    """

    blocked: re.Pattern[str]
    supposed: re.Pattern[str]
    unblocked: re.Pattern[str]


def _phrases(blocked: tuple[str, ...], supposed: str, unblocked: tuple[str, ...]) -> _Phrases:
    parts = ("|".join(blocked), supposed, "|".join(unblocked))
    return _Phrases(*(lazy_regex(part, re.IGNORECASE) for part in parts))


# What a person or an agent waits for. Words that are also of code, such as "access", stand where the rest of the
# sentence is about people.
_EN = r"(?:credentials?|passwords?|tokens?|keys?|access|permissions?|approval|secrets?|accounts?|log-?in|licen[cs]e)"
_DE = (
    r"(?:zugangsdaten|passw[oö]rte?r?|token|(?:api-)?schlüssel|api-keys?|freigabe|genehmigung|berechtigung(?:en)?"
    r"|lizenz|zertifikat|(?:zugang|zugriff) (?:auf|zu[rm]?) (?:\w+ )?(?:server|repo\w*|datenbank|staging|produktion"
    r"|vpn|cluster|account|konto|registry))(?![\w-])"
)
_DE_ALONE = rf"(?:{_DE}|zugang\b|zugriff\b|rechte\b)"
_ES = r"(?:credenciales|contraseñas?|claves?(?: de)? api|token|permisos?|aprobación|licencia|certificado)\b"
_ES_ALONE = rf"(?:{_ES}|acceso\b|claves?\b)"
_FR = (
    r"(?:identifiants|mots? de passe|jeton|clés? (?:d')?api|autorisations?|permissions?|validation|licence"
    r"|certificat)\b"
)
_FR_ALONE = rf"(?:{_FR}|accès\b|droits\b)"
_ZH = (
    r"(?:凭据|凭证|密码|密钥|令牌|token|权限|访问权|账号|帐号|账户|授权|审批|许可证|证书)"
    r"(?!字段|框|参数|校验|检查|策略|管理|系统|功能|验证|表)"
)
_ZH_CANNOT = r"(?:没法|无法|不能|没办法)(?:再)?(?:继续|推进|部署|测试|登录|往下|进行|推送|连接|上线)"
_JA = r"(?:認証情報|パスワード|トークン|APIキー|アクセス権|権限|承認|許可|ライセンス|アカウント|証明書)"
_LANGUAGES: Final = (
    _phrases(
        blocked=(
            r"\b(?:i|we)(?:'m| am|'re| are) (?:now |still |currently )?(?:blocked|stuck)\b",
            r"^blocked\b(?=:| by (?:the |a )?(?:missing|review|ci)\b| on (?!i/o)| until|$)",
            (
                r"^(?:the|this) (?:deploy\w*|release|merge|push|pr|pull request|review|work|task|step) is "
                r"(?:now |still |currently )?blocked (?:by|on|until|because)\b"
            ),
            (
                r"\b(?:i|we) need you to (?:log in|sign in|approve|grant|unlock|provide|(?:give|send) (?:me|us)|add me"
                r"|share)\b"
            ),
            rf"\b(?:i|we) (?:still )?need (?:the|your|an?|my|more)? ?(?:\w+ ){{0,4}}{_EN}\b",
            rf"\b(?:i|we) (?:do not|don'?t|still don'?t) have (?:the|any|an?)? ?(?:\w+ ){{0,3}}{_EN}\b",
            (
                r"\b(?:i|we) (?:cannot|can'?t|am unable to|are unable to) (?:go on|continue|proceed|push|deploy|log in"
                r"|connect|test)\b.{0,80}?\b(?:until|without|unless|because)\b"
            ),
            (
                rf"^(?:(?:i|we)(?:'m| am|'re| are) )?(?:now |still )?(?:waiting|blocked) (?:for|on|until) "
                rf"(?:the |your |an? )?(?:\w+ ){{0,3}}(?:{_EN}|review|ci|merge|release)\b"
            ),
        ),
        supposed=r"\b(?:if|when|whether|perhaps|maybe|would|could|might|once)\b",
        unblocked=(
            r"\b(?:unblocked|no longer blocked|not blocked)\b",
            rf"\b(?:here (?:are|is)|i have(?! no)|got|added|set) .{{0,30}}\b{_EN}\b",
        ),
    ),
    _phrases(
        blocked=(
            (
                r"\b(?:ich|wir) (?:komme|kommen|komm) (?:\w+ ){0,3}nicht (?:mehr )?weiter(?=\s*(?:$"
                r"|[:,.;!\u2013\u2014-]|weil\b|ohne\b|da\b|bis\b|solange\b))"
            ),
            r"\b(?:ich bin|wir sind|bin) (?:\w+ ){0,2}blockiert\b|\b(?:ich stecke|wir stecken) (?:\w+ ){0,2}fest\b",
            rf"\b(?:mir|uns) fehl(?:t|en) (?:\w+ ){{0,4}}{_DE_ALONE}",
            rf"\b(?:ich brauche|wir brauchen|ich benötige|wir benötigen) (?:\w+ ){{0,4}}{_DE}(?!.{{0,20}}\bnicht\b)",
            rf"\b(?:ich kann|wir können) (?:\w+ ){{0,3}}ohne (?:\w+ ){{0,4}}{_DE_ALONE}.{{0,40}}\b(?:nicht|kaum)\b",
            rf"\bohne (?:\w+ ){{0,4}}{_DE_ALONE}.{{0,40}}\b(?:kann ich|können wir)\b.{{0,40}}\bnicht\b",
            rf"\b(?:ich warte|wir warten) (?:\w+ ){{0,2}}auf (?:\w+ ){{0,2}}(?:{_DE}|(?:das )?review\b|den merge\b)",
        ),
        supposed=r"\b(?:wenn|falls|ob|sobald|könnte|würde|vielleicht|keine?[nrms]?|nicht mehr)\b",
        unblocked=(
            rf"\b(?:hier (?:sind|ist)|(?:ich habe|habe ich)(?! keine?n?\b)) (?:\w+ ){{0,4}}{_DE_ALONE}",
            rf"{_DE_ALONE}.{{0,30}}\b(?:bekommen|gesetzt|hinterlegt|eingetragen|freigegeben|erhalten)\b",
            r"\bnicht mehr blockiert\b",
        ),
    ),
    _phrases(
        blocked=(
            r"\b(?:estoy|estamos|me he quedado|nos hemos quedado) (?:\w+ ){0,2}(?:bloquead|atascad)[oa]s?\b",
            rf"\b(?:me|nos) faltan? (?:\w+ ){{0,3}}{_ES_ALONE}",
            rf"\b(?:necesito|necesitamos) (?:que me (?:des|envíes|pases) )?(?:\w+ ){{0,3}}{_ES}",
            r"\bno (?:puedo|podemos) (?:continuar|seguir|avanzar|desplegar|probar|subir)\b.{0,60}\b(?:sin|hasta)\b",
            rf"\b(?:estoy|estamos|sigo|seguimos) esperando (?:\w+ ){{0,2}}(?:{_ES}|revisión\b)",
        ),
        supposed=r"\b(?:si|cuando|quizás|tal vez|podría|no (?:me|nos) falta\w*|no necesit\w+)\b",
        unblocked=(
            rf"\b(?:aquí (?:están|tienes|está)|ya (?:tengo|tienes|tenemos|están?)) (?:\w+ ){{0,3}}{_ES_ALONE}",
            r"\bya no (?:\w+ )?bloquead[oa]s?\b",
        ),
    ),
    _phrases(
        blocked=(
            r"\b(?:je suis|je reste|nous sommes|on est) (?:\w+ ){0,2}bloquée?s?\b",
            rf"\bil (?:me|nous) manque (?:(?:\w+|[ld]') ?){{0,3}}?{_FR_ALONE}",
            rf"\b(?:j'ai|nous avons|on a) (?:\w+ ){{0,2}}besoin (?:de |des |du |d')(?:\w+ ){{0,2}}{_FR}",
            (
                r"\bje ne peux (?:pas|plus) (?:continuer|avancer|déployer|tester|pousser)\b.{0,60}"
                r"\b(?:sans|tant que|avant)\b"
            ),
            rf"(?:\bj'attends|\bnous attendons|\bon attend) (?:\w+ |l')?(?:{_FR}|revue\b|accès\b)",
        ),
        supposed=r"\b(?:si|quand|lorsque|peut-être|pourrait)\b|\bs'il\b",
        unblocked=(
            rf"\b(?:voici|j'ai (?:reçu|ajouté|mis)|tu as maintenant) (?:(?:\w+|l') ?){{0,3}}?{_FR_ALONE}",
            r"\bplus bloquée?s?\b",
        ),
    ),
    _phrases(
        blocked=(
            r"^(?:我|我们)(?:这边|现在|目前)?(?:被)?卡住了",
            rf"(?:没有|缺少|还缺|缺|拿不到).{{0,10}}{_ZH}.{{0,8}}{_ZH_CANNOT}",
            rf"(?:我|我们)(?:还|现在)?需要(?:你|您)?(?:提供|给我|发我|发|给)?.{{0,8}}{_ZH}",
            r"^(?:我|我们)?(?:还|正)?在等(?:待)?.{0,6}(?:审批|授权|权限|批准|评审|review|合并)(?!之?后|完)",
        ),
        supposed=r"如果|要是|假如|的话|可能|也许|是否|不需要|就会|则",
        unblocked=(
            rf"(?:已经|已|刚)(?:给|加|拿到|开通|发|收到|批准|通过|配置).{{0,10}}{_ZH}",
            rf"{_ZH}.{{0,8}}(?:已经|已)(?:给|加|拿到|开通|发|批准|通过|配置)|不卡了",
        ),
    ),
    _phrases(
        blocked=(
            (
                rf"{_JA}(?:が|を|は|も)?(?:まだ)?(?:ない|なく|ありません|もらえ|いただけ|届いていな|不足して).{{0,14}}"
                r"(?:進め|続け|続行|デプロイ|テスト|ログイン|接続|プッシュ|作業)\w{0,8}(?:ません|ない|られない)"
            ),
            r"^(?:(?:私|僕)は)?(?:今|現在)?、?(?:ブロックされて|行き詰まって)い(?:ます|る)",
            r"^(?:(?:今|現在|まだ)、?)?(?:レビュー|承認|許可|権限の付与|マージ)待ちです",
        ),
        supposed=r"場合|もし|なら|れば|たら|かもしれ",
        unblocked=(
            rf"{_JA}.{{0,10}}(?:追加しました|付与しました|送りました|取得できました|もらいました|設定しました|出ました|おりました)",
        ),
    ),
)
# One of these is in every blocker: a plain search that spares most sentences the long patterns.
_MAY_BLOCK: Final = lazy_regex(
    r"[Bb]lo(?:ck|qu)|[Ss]tuck|[Nn]eed|[Ww]aiting|can(?:no|')t|unable|have|[Ww]eiter|[Ff]ehl|[Ww]art|[Ss]teck"
    r"|[Bb]rauch|nötig|[Oo]hne|[Aa]tascad|[Ff]alta|[Nn]ecesit|[Ee]sper|puedo|podemos|manqu|besoin|peux|attend"
    r"|卡住|没有|缺|拿不到|需要|在等|待ち|ない|なく|ありません|もらえ|いただけ|不足|ブロック|行き詰"
)


def is_blocker(sentence: str) -> bool:
    """True if a sentence says that the speaker cannot go on, or what they need for it."""
    sentence = sentence.replace("\u2019", "'")
    if not _MAY_BLOCK.search(sentence) or cue_phrases.is_question(sentence):
        return False
    said = any(of.blocked.search(sentence) and not of.supposed.search(sentence) for of in _LANGUAGES)
    return said and not is_unblocked(sentence)


def is_unblocked(sentence: str) -> bool:
    """True if a sentence ends a blocker."""
    sentence = sentence.replace("\u2019", "'")
    return any(of.unblocked.search(sentence) for of in _LANGUAGES)
