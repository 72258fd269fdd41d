"""Forms in which people type a secret in a sentence or a line, in English and four other languages, and made-up values.

A form has `{V}` in the place of the value. Nobody adds a form to a rule: they measure what the rules cover.
"""

from __future__ import annotations

import random
import string
from collections.abc import Callable, Iterable

FORMS = (
    # English
    "the password is {V}",
    "My password for the staging server is {V}, don't commit it.",
    "ok so the db password is now {V}",
    "use {V} as the password",
    "please log in with the password {V} and check the page",
    'the admin password is "{V}"',
    "Password: {V}",
    "pw: {V}",
    "the passphrase of the backup key is: {V}",
    "I changed the password to {V}",
    "{V} is the password of the router",
    "here's the api key: {V}",
    "The API key for the weather service is {V}.",
    "api key = {V}",
    "this is my access token: {V}",
    "set the client secret to '{V}'",
    "wifi password -> {V}",
    "credentials are ann / {V}",
    "login: ann:{V}",
    "user ann, password {V}",
    "the secret key is `{V}`",
    "root pw is {V} on all three hosts",
    "Passphrase:\n{V}\n",
    "sudo password: {V}\nthen run the migration",
    # German
    "Das Passwort ist {V}",
    "mein Passwort für den Server lautet {V}.",
    "Passwort: {V}",
    "nimm {V} als Passwort",
    # French
    "le mot de passe est {V}",
    "mot de passe : {V}",
    "le mot de passe de la base est « {V} »",
    "utilise {V} comme mot de passe",
    # Spanish
    "la contraseña es {V}",
    "contraseña: {V}",
    "mi contraseña del servidor es {V}, no la guardes",
    "usa {V} como contraseña",
    # Portuguese
    "a senha é {V}",
    "senha: {V}",
    "a senha do banco é {V}.",
    "use {V} como senha",
)

_SYMBOLS = "!#$%&*+?@^~"
_WORDS = ("harbour", "lantern", "winter", "saddle", "copper", "meadow", "thunder", "orchard", "velvet", "pepper")


def _any_of(pick: random.Random, alphabet: str, length: int) -> str:
    return "".join(pick.choices(alphabet, k=length))


VALUES: dict[str, Callable[[random.Random], str]] = {
    "letters and digits": lambda pick: _any_of(pick, string.ascii_letters + string.digits, pick.randint(10, 24)),
    "with symbols": lambda pick: _any_of(pick, string.ascii_letters + string.digits + _SYMBOLS, pick.randint(10, 18)),
    "hexadecimal": lambda pick: _any_of(pick, "0123456789abcdef", 32),
    "words with a year": lambda pick: f"{pick.choice(_WORDS).title()}{pick.choice(_WORDS)}{pick.randint(1970, 2040)}!",
    "words and digits": lambda pick: pick.choice(_WORDS) + pick.choice(_WORDS) + str(pick.randint(10, 9999)),
}  # fmt: skip


def coverage(spans: Callable[[str], Iterable[tuple[int, int, str]]], each: int = 5) -> dict[tuple[str, str], float]:
    """Return for each form and kind of value which share of `each` values is covered whole."""
    shares = {}
    for form in FORMS:
        for kind, made in VALUES.items():
            pick = random.Random(f"{form}{kind}")
            covered = 0
            for _ in range(each):
                value = made(pick)
                text = form.replace("{V}", value)
                start = text.index(value)
                covered += any(s <= start and e >= start + len(value) for s, e, _ in spans(text))
            shares[form, kind] = covered / each
    return shares
