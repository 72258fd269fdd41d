"""Generated phrases with a word for a secret somewhere near its value, and values as people and machines make them.

The phrases are built in as many ways as people write them: no rule is about one of them alone. A value begins and ends
with a letter or a digit, but for the mark behind a password, so that no syntax around it changes what is meant.
"""

from __future__ import annotations

import base64
import random
import string
from typing import TYPE_CHECKING

from support.phrases import SYLLABLES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# Phrases by what they are; {S} is the place of the value.
PHRASES = (
    # English
    "btw the staging db pw has been rotated, from today on it's {S}",
    "{S} <- that's the new root password",
    "just use {S} for the sudo prompt",
    "my deploy token, please don't commit it: {S}",
    "when it asks for the passphrase type {S}",
    "sign in as root using {S}",
    "for the vault, unlock with {S}",
    "the credentials for grafana are ann@tide.example and {S}",
    "it rejects {S} even though that is the right password",
    "can you test the endpoint with the api key {S}?",
    "access key id is on the wiki and the secret one is {S}",
    "is {S} still the password of the jump host?",
    "ssh into box1 as ann, password {S}, port 2222",
    "paste {S} at the password prompt",
    "MFA recovery code: {S}",
    "my password? {S}",
    "please remove my password {S} from the logs",
    "the archive is encrypted with {S}",
    "Here is the api key:\n```\n{S}\n```",
    "The admin password is below.\n\n{S}\n",
    # commands and code
    "export REDIS_AUTH={S}",
    "npm config set //tide.example/:_authToken {S}",
    "kinit ann <<< {S}",
    "set PGPASSWORD to {S} and retry",
    "SECRET_KEY_BASE: {S}",
    "host,user,password\ndb1,ann,{S}\ndb2,eve,none\n",
    "Host    User  Password\ndb1     ann   {S}\n",
    "password\t{S}",
    # other languages
    "ich habe das PW auf {S} geändert",
    "gib beim sudo {S} ein",
    "Der Zugriffstoken, den du brauchst: {S}",
    "Zugangsdaten für den Server: ann / {S}",
    "mon mdp c'est {S}",
    "tape {S} quand sudo demande le mot de passe",
    "le jeton d'accès est {S}",
    "usuario ann, contraseña {S}",
    "pon {S} cuando pida la contraseña",
    "a senha nova do wifi é {S}",
    "le credenziali sono ann / {S}",
    "数据库密码改成了 {S}",
    "请用密码 {S} 登录",
    "访问令牌：{S}",
    "パスワードを {S} に変更しました",
    "トークンは {S} を使って",
    "вот токен: {S}",
)


def value(pick: random.Random) -> str:
    """Return a made-up value: a password of a generator or of a person, a passphrase in quotes, a key or a token."""
    made: Callable[[random.Random], str] = pick.choice(
        (_generated, _generated, _by_person, _passphrase, _hexadecimal, _base64, _key)
    )
    return made(pick)


def filled(phrase: str, count: int) -> list[tuple[str, str]]:
    """Return a phrase with so many different values: the text, and the value in it without its quotes."""
    pick = random.Random(phrase)
    values = [value(pick) for _ in range(count)]
    return [(phrase.replace("{S}", made), made.strip('"')) for made in values]


def covered(phrase: str, spans: Callable[[str], Iterable[tuple[int, int, str]]], count: int) -> int:
    """Return of how many values in a phrase every character lies in a span."""
    hits = 0
    for text, made in filled(phrase, count):
        start = text.index(made)
        hits += any(first <= start and last >= start + len(made) for first, last, _ in spans(text))
    return hits


def _generated(pick: random.Random) -> str:
    """Return 10 to 20 letters, digits and marks, with a letter of either case, a digit and a mark."""
    while True:
        letters = string.ascii_letters + string.digits
        made = "".join(pick.choices(letters + "!#$%&*+-?@_^~", k=pick.randint(10, 20)))
        kinds = (string.ascii_lowercase, string.ascii_uppercase, string.digits, "!#$%&*+?@^~")
        if all(set(made) & set(kind) for kind in kinds) and made[0] in letters and made[-1] in letters:
            return made


def _by_person(pick: random.Random) -> str:
    """Return a word with a year, or with a number and a mark."""
    word = "".join(pick.choices(SYLLABLES, k=3)).capitalize()
    return pick.choice((f"{word}{pick.randint(1970, 2039)}", f"{word}{pick.randint(10, 9999)}{pick.choice('!#$')}"))


def _passphrase(pick: random.Random) -> str:
    """Return four words in quotes."""
    words = ["".join(pick.choices(SYLLABLES, k=3)) for _ in range(4)]
    return '"' + " ".join(words) + '"'


def _hexadecimal(pick: random.Random) -> str:
    """Return 32 or 40 hexadecimal digits."""
    return pick.randbytes(pick.choice((16, 20))).hex()


def _base64(pick: random.Random) -> str:
    """Return base64 that has a letter of either case and a digit, without a slash, which ends words in some syntax."""
    while True:
        made = base64.b64encode(pick.randbytes(pick.choice((18, 24, 33)))).decode()
        if "/" not in made and any(letter.isdigit() for letter in made):
            return made


def _key(pick: random.Random) -> str:
    """Return a key with a prefix that no service has."""
    return pick.choice(("nx_live_", "key-", "tide_")) + "".join(
        pick.choices(string.ascii_letters + string.digits, k=24)
    )
