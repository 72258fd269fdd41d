"""Redaction takes only secrets: names, types, references, numbers and paths stay wherever they are written."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable

import pytest

from reverie.redact import Allow, Redactor
from support import secrets

# One value of each kind that is no secret, whatever is written before it.
NO_SECRETS = {
    "CamelCase": "ArgonPasswordEncoder",
    "CamelCase with numbers": "uint8ArrayToBase64",
    "word with a number": "ed25519Seed",
    "algorithm": "Argon2id",
    "snake_case": "parse_2nd_argument",
    "kebab-case": "tidebox-vault-ipns-key-v1",
    "type": "Uint8Array",
    "generic type": "Option<Token![;]>",
    "path": "tests/e2e/.env",
    "anchor": "epics.md#UX-DR1",
    "variable": "$MAP_SERVER_HOST",
    "variable of an address": "root@$MAP_SERVER_HOST",
    "variable with a default": "${DB_USERNAME:-postgres}",
    "template": "{{ vault.db_password }}",
    "place": "<YOUR_TOKEN>",
    "environment": "process.env.DB_PASSWORD",
    "number": "3334",
    "arithmetics": "15*60",
    "version": "1.24.0-beta.3",
    "address": "https://tide.example/login2",
    "mail": "ann2@tide.example",
    "call": "crypto.randomBytes(32).toString('hex')",
    "member": "state.derivedKeypair?.privateKey",
    "elided": "eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCJ9...",
    "mask": "****************",
}

# Places in which a secret would be taken.
PLACES = (
    "password: {V}", "password = '{V}'", '{"apiToken": "{V}"}', "API_KEY={V}", "privateKey: {V};", "--token {V}",
    "the password is {V}", "use {V} as the password", "<secret>{V}</secret>", "Authorization: Bearer {V}",
    "hash the password with {V} and store the token", "api_key: {V}\n",
)  # fmt: skip

DASHES, KEY, BODY = (
    "-" * 5,
    "PRIVATE" + " KEY",
    "X" * 4,
)  # of an example: a scanner for secrets is not to stop at this file
SENTENCES = (
    "sign up with email and password via Web3Auth, the login provider",
    "ServerAliveInterval=10 and PORT=3334 and max_age=15*60 stay",
    "resolve thread PRRT_kwDOL8gb6s5QabcX of the pull request about passwords",
    "the key k51qzi5uqu5diwu84ktji974vvhsoevxjumpbut0wjndo4al9xxla0wsj449kk is published",
    "hkdf(secret, 'tidebox-ed25519-seed-v1')",
    "--- PASS: TestPromptAttribution_AlwaysStored (0.06s)",
    "MD5 (password-hash.zip) = d2c36dd2368613be08c0d198a4696a77",
    "const HTTP_TOKEN = /^[!#$%&'*+.^_|~A-Za-z0-9-]+$/",
    f'key="{DASHES}BEGIN {KEY}{DASHES}\\n{BODY}\\n{BODY}\\n{DASHES}END {KEY}{DASHES}"',
    "a docs-only pass: I\u2019ll locate it",
)  # fmt: skip

VALUE = "kX9m!Pq2LwZ7vT"

# Forms of labels that are easy to miss.
LABELLED = (
    "password: \x1b[31m{V}\x1b[0m", "password: \\u001b[31m{V}\\u001b[0m", "password: |\n  {V}\n",
    "password: >-\n  {V}\n",
    "password=\\\n{V}", 'expect "assword:"\nsend "{V}\\r"', 'expect "*?assword:*" { send -- "{V}\\r" }',
    "mysql://ann:{V}@db.example/x", '"db_password": "{V}"', "<password>{V}</password>",
    "machine db.example login ann password {V}", '{"name": "DB_PASSWORD", "value": "{V}"}',
)  # fmt: skip


@pytest.mark.parametrize("value", NO_SECRETS.values(), ids=NO_SECRETS)
def test_what_is_no_secret_stays(value: str) -> None:
    """A value of a kind that is no secret stays behind each label and in each sentence, now and later."""
    redactor = Redactor(fingerprints=b"")
    taken = [place for place in PLACES if value not in redactor.text(place.replace("{V}", value))]
    assert taken == []
    assert redactor.text(f"and {value} again") == f"and {value} again"


@pytest.mark.parametrize("text", SENTENCES)
def test_sentences_stay(text: str) -> None:
    """Sentences about secrets, and what is like one in their neighbourhood, stay."""
    assert Redactor().text(text) == text
    assert Redactor().value({"text": text, "password": {"text": text}})[1] == 0


@pytest.mark.parametrize("place", LABELLED)
def test_labelled_secrets_are_taken(place: str) -> None:
    """A secret is taken in colours, in block scalars, on the next line, and as the answer to a prompt."""
    redacted = Redactor().text(place.replace("{V}", VALUE))
    assert VALUE not in redacted, redacted


def test_typed_secrets_are_taken() -> None:
    """Of the forms in which people type a secret, at least 85 of 100 values are taken whole."""
    shares = secrets.typed_coverage(Redactor().spans)
    assert sum(shares.values()) / len(shares) >= 0.85


@pytest.mark.parametrize("encode", [lambda value: base64.b64encode(value).decode(), lambda value: value.hex()])
def test_a_second_mention_is_found_encoded(encode: Callable[[bytes], str]) -> None:
    """A value that was taken by its label is found again in base64 and in hexadecimal, in the same text too."""
    written = encode(VALUE.encode())
    redactor = Redactor(fingerprints=b"")
    assert written not in redactor.text(f"password: {VALUE}\nsent {written} to it")
    assert written not in redactor.text(f"it was {written}")


def test_only_values_of_chance_are_remembered() -> None:
    """A password of few bits is taken by its label alone: what people type by chance is never found later."""
    redactor = Redactor(fingerprints=b"")
    for weak in ("tide-42!", "Sommer2031!", "x1b2c3"):
        assert redactor.value({"password": weak})[1] == 1
        assert redactor.text(f"see {weak} there") == f"see {weak} there"
    assert redactor.fingerprints_after(0) == []


def test_each_finding_says_its_rule_and_shape_and_never_its_value() -> None:
    """What was taken has a stable rule, a kind, a shape and a keyed hash; the hash is the same for the same value."""
    redactor = Redactor(["tidewater"], fingerprints=b"")
    body = {"password": VALUE, "text": f"use {VALUE} as it is said; tidewater, and my token is k3j5h2g8f1d9s7a4"}
    _, taken = redactor.taken(body)
    assert [(one.rule, one.kind, one.shape) for one in taken] == [
        ("label", "password", "14:0Aa!"),
        ("remembered", "password", "14:0Aa!"),
        ("listed", "secret", "9:a"),
        ("sentence", "token", "16:0a"),
    ]
    assert taken[0].hash == taken[1].hash != taken[3].hash
    assert VALUE not in json.dumps([one[:3] for one in taken])
    [found] = redactor.findings(f"<{VALUE}>")
    assert (found.start, found.end, found.rule, found.hash) == (1, 15, "remembered", taken[0].hash)


def test_what_is_allowed_stays() -> None:
    """Rules that are switched off find nothing; an allowed value stays as itself, by a pattern, and by its hash."""
    redactor = Redactor(fingerprints=b"")
    text = f"password: {VALUE}"
    _, [taken] = redactor.taken(text)
    for allow in (
        Allow(rules=["label", "remembered"]),
        Allow(values=[VALUE]),
        Allow(values=["kX9m*"]),
        Allow(hashes=[taken.hash]),
    ):
        redactor.allow(allow)
        assert redactor.text(text) == text
    redactor.allow(Allow(values=["kX9"]))
    assert redactor.text(text) == "password: [REDACTED:password]"
    assert Redactor(allow=Allow(rules=["github-token"])).text("gh" + "p_A1b2C3d4E5f6G7h8I9j0K1l2").startswith("ghp_")
