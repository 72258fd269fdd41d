"""Tests of redaction: secrets are replaced, everything else stays byte for byte."""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable
from pathlib import Path
from time import thread_time
from typing import Any

import pytest

from reverie.errors import ValidationError
from reverie.redact import Redactor, Span
from support.prose import documentation
from support.shared import shared_rows

VECTORS = [
    json.loads(line)
    for line in (Path(__file__).resolve().parents[2] / "vectors" / "redact.jsonl").read_text().splitlines()
]
REDACTOR = Redactor()
ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"

# A published format: its prefix (cut in two, so that no scanner takes this file for a leak), its alphabet, its length.
FORMATS = {
    "anthropic-key": ("sk-" + "ant-api03-", ALNUM + "_-", 95),
    "openai-key": ("sk-" + "proj-", ALNUM + "_-", 120),
    "github-token": ("gh" + "p_", ALNUM, 36),
    "gitlab-token": ("glp" + "at-", ALNUM + "_-", 20),
    "aws-key-id": ("AK" + "IA", string.ascii_uppercase + "234567", 16),
    "google-key": ("AI" + "za", ALNUM + "_-", 35),
    "slack-token": ("xo" + "xb-", string.digits, 24),
    "stripe-key": ("sk_" + "live_", ALNUM, 24),
    "npm-token": ("np" + "m_", ALNUM, 36),
    "pypi-token": ("py" + "pi-AgEIcHlwaS5vcmc", ALNUM + "_-", 60),
    "huggingface-token": ("h" + "f_", ALNUM, 34),
    "sendgrid-key": ("S" + "G.", ALNUM + "_-", 66),
    "digitalocean-token": ("dop" + "_v1_", HEX, 64),
    "databricks-token": ("da" + "pi", HEX, 32),
    "linear-key": ("lin" + "_api_", ALNUM, 40),
    "twilio-key": ("S" + "K", HEX, 32),
}


# Places of a secret `{S}` in texts, code, configuration, commands, logs and markup.
PLACES = [
    "{S}", " {S} ", "{S},", "<{S}>", "({S})", "[{S}]", '"{S}"', "'{S}'", "`{S}`", "*{S}*", "{S}.", "key:{S}", "key={S}",
    "SECRET={S}", "SECRET='{S}'", "set SECRET {S}", "secret: {S} # comment", '{"secret":"{S}"}', '{"n":["{S}",1]}',
    '\\"secret\\":\\"{S}\\"', "secret = '{S}';", 'var s = "{S}"', "f({S})", "env.SECRET || '{S}'", "?token={S}&page=2",
    "https://tide.example.org/?k={S}", "https://ann:{S}@tide.example.org/x", "ftp://{S}@tide.example.org", "#{S}",
    "Authorization: {S}", "Authorization: Bearer {S}", "X-Api-Key: {S}", "Cookie: a=b; s={S}; c=d",
    "curl -H 'K: {S}' x",     "tide login --token {S}", "tide login --token={S}", "-e K={S} image", "echo {S} > file",
    "- {S}", "1. {S}", "> {S}",
    "| a | {S} |", "## {S}", "<!-- {S} -->", "[x](https://h.example/{S})", "<k>{S}</k>", '<k v="{S}"/>', "k: !!str {S}",
    "a\t{S}\tb", "a\n{S}\nb", "a\r\n{S}\r\nb", "```\n{S}\n```", "+ K={S}", "- K={S}", "@@ {S} @@", "ERROR 401 {S}",
    "№{S}",     "2026-01-02T03:04:05Z WARN bad key {S} (try 2)", "鍵は {S} です", "鍵は「{S}」です", "é{S}é",
    "the key {S}, which is old",
]  # fmt: skip


def sample_secret(kind: str, seed: int = 0) -> str:
    """Return a value in the published format of a kind."""
    prefix, alphabet, length = FORMATS[kind]
    pick = random.Random(f"{kind}{seed}")
    return prefix + "".join(pick.choices(alphabet, k=length))


@pytest.mark.parametrize("vector", VECTORS, ids=range(len(VECTORS)))
def test_vectors(vector: dict[str, str]) -> None:
    """The golden vectors are redacted as listed, and a second redaction changes nothing."""
    assert REDACTOR.text(vector["text"]) == vector["redacted"]
    assert REDACTOR.text(vector["redacted"]) == vector["redacted"]


@pytest.mark.parametrize("kind", FORMATS)
def test_published_formats(kind: str) -> None:
    """A value of a published format gets its kind, whatever surrounds it."""
    for seed in range(20):
        value = sample_secret(kind, seed)

        assert REDACTOR.text(f"it is {value}, see") == f"it is [REDACTED:{kind}], see"
        assert REDACTOR.text(f"“{value}”") == f"“[REDACTED:{kind}]”"


def test_contexts() -> None:
    """In every context in which a secret must be redacted, no part of it is left."""
    rows = shared_rows("data/cases/secret_contexts.jsonl")
    templates = [*PLACES, *(row["template"] for row in rows if row["must"] == "redact" and "template" in row)]
    word_like = {"twilio-key", "databricks-token"}  # lower-case hexadecimal after letters that end ordinary words
    left = [
        (kind, template)
        for kind in FORMATS
        for template in templates
        if sample_secret(kind)[8:] in REDACTOR.text(template.replace("{S}", sample_secret(kind)))
        and not (kind in word_like and "x{S}" in template)
    ]

    assert left == []
    assert len(templates) > 30


TRANSFORMS: dict[str, Callable[[str], str]] = {
    "base64": lambda value: base64.b64encode(value.encode()).decode(),
    "base64url": lambda value: base64.urlsafe_b64encode(value.encode()).decode(),
    "hex": lambda value: value.encode().hex(),
    "url-percent": lambda value: "".join(f"%{byte:02x}" for byte in value.encode()),
    "json-escape \\u00xx": lambda value: "".join(f"\\u{byte:04x}" for byte in value.encode()),
    "html-entities": lambda value: "".join(f"&#{byte};" for byte in value.encode()),
    "split by newline at 40": lambda value: "\n".join(value[at : at + 40] for at in range(0, len(value), 40)),
    "split by zero-width": "\u200b".join,
    "upper/lower case changed": str.swapcase,
}


# Ways of writing that only a known value is recognized in.
ONLY_KNOWN = {"split by newline at 40", "upper/lower case changed"}


def test_transformed_contexts() -> None:
    """However a secret is encoded, no part of it is left; some encodings only if the value is listed."""
    left = []
    for kind in FORMATS:
        value = sample_secret(kind)
        for way, transform in TRANSFORMS.items():
            written = transform(value)
            redactor = Redactor([value]) if way in ONLY_KNOWN else REDACTOR
            if redactor.text(f"see {written} there") not in {
                f"see [REDACTED:{kind}] there",
                "see [REDACTED:secret] there",
            }:
                left.append((kind, way))

    assert left == []


def test_listed_values() -> None:
    """Listed values are replaced everywhere except in markers, the longest first; empty ones are ignored."""
    redactor = Redactor(["hunter", "hunter2", "", "REDACTED", "пароль"])

    assert redactor.text("hunter2 hunter xhunter2y") == "[REDACTED:secret] [REDACTED:secret] x[REDACTED:secret]y"
    assert redactor.text("[REDACTED:secret] пароль") == "[REDACTED:secret] [REDACTED:secret]"
    assert redactor.text("nothing known") == "nothing known"


def test_spans_count_characters() -> None:
    """Span offsets are in characters of Python strings, in order."""
    value = sample_secret("github-token")
    text = f"é👍 {value} — {value}"

    first, second = REDACTOR.spans(text)

    assert first == Span(3, 3 + len(value), "github-token")
    assert text[second.start : second.end] == value


def test_json_values_are_traversed() -> None:
    """Strings at any depth are redacted; a value without secrets is the same object; the input is unchanged."""
    value = sample_secret("stripe-key")
    clean = {"a": [1, None, "x", {"b": "y"}], "c": {}}
    body = {"text": f"use {value}", "list": ["a", [f"{value} {value}"]], "n": 1.5, "clean": clean}
    before = json.dumps(body)

    redacted, count = REDACTOR.value(body)

    assert redacted == {
        "text": "use [REDACTED:stripe-key]",
        "list": ["a", ["[REDACTED:stripe-key] [REDACTED:stripe-key]"]],
        "n": 1.5,
        "clean": clean,
    }
    assert count == 3
    assert redacted["clean"] is clean
    assert list(redacted) == list(body)
    assert json.dumps(body) == before
    assert REDACTOR.value(clean) == (clean, 0)
    assert REDACTOR.value(clean)[0] is clean
    assert REDACTOR.value(7) == (7, 0)


def test_tuples_are_traversed_like_lists() -> None:
    """A tuple is redacted like a list, as JSON serializers write it so; without secrets it is the same object."""
    value = sample_secret("stripe-key")
    clean = ("a", ("b",))

    assert REDACTOR.value({"x": ("a", (value,), {"password": ("hunter-22-x!",)})}) == (
        {"x": ["a", ["[REDACTED:stripe-key]"], {"password": ["[REDACTED:password]"]}]},
        2,
    )
    assert REDACTOR.value(clean)[0] is clean


def test_identifiers_signatures_and_images_stay() -> None:
    """Identifiers, signatures and image data stay; only a token format or listed value in an identifier is redacted."""
    value = sample_secret("aws-key-id")
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": value}}
    opaque = [picture, {"type": "thinking", "thinking": "so", "signature": value}]
    opaque += [{"type": "redacted_thinking", "data": value}, {"type": "document", "data": value}]
    block = {"tool_use_id": "token=a1b2c3d4e5", "id": value, "model": "known-value", "opaque": opaque}

    redacted, count = Redactor(["known-value"]).value(block)

    assert redacted == {**block, "id": "[REDACTED:aws-key-id]", "model": "[REDACTED:secret]"}
    assert count == 2
    assert redacted["opaque"] is opaque


def test_signatures_and_data_elsewhere_are_redacted() -> None:
    """`signature` and `data` outside thinking and media blocks are searched for published formats."""
    value = sample_secret("aws-key-id")
    for body in ({"signature": value}, {"type": "text", "signature": value}, {"type": "base64", "data": value}):
        assert value not in str(REDACTOR.value(body)[0])
    assert REDACTOR.value({"type": "base64", "data": "token=a1b2c3d4e5"})[1] == 0
    assert Redactor(["image"]).value({"type": "image", "data": "image"})[1] == 0


ANNOUNCED = [
    ("password", "SURVIVE6horse!7", "password"),
    ("password", "correct!horse7", "password"),
    ("DB_PASS", "tr0ub4dor&3", "password"),
    ("dbPass", "tr0ub4dor&3", "password"),
    ("PGPASSWORD", "tr0ub4dor&3\n", "password"),
    ("hasło", "tr0ub4dor&3", "password"),
    ("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "key"),
    ("api_key", "0123456789abcdef0123456789abcdef", "key"),
    ("x-api-key", "0123456789abcdef0123456789abcdef", "key"),
    ("clientSecret", "a1b2c3d4e5f6", "secret"),
    ("token", "a1b2c3d4e5f6", "token"),
]
UNANNOUNCED = [
    ("password", "${DB_PASSWORD}"),
    ("password", "correct-horse"),
    ("password", "type your password here"),
    ("PWD", "/home/me/project1"),
    ("OLDPWD", "C:\\work\\project1"),
    ("compass", "north-by-northwest"),
    ("bypass", "everything1"),
    ("key", "a1b2c3d4e5f6"),
    ("cache_key", "a1b2c3d4e5f6"),
    ("token", "ordinary"),
    ("tokens", "a1b2c3d4e5f6"),
    ("secret", "[REDACTED:secret]"),
    ("Authorization", "required"),
    ("Authorization", "Basic authentication"),
]


@pytest.mark.parametrize(("name", "value", "kind"), ANNOUNCED)
def test_keys_announce_their_values(name: str, value: str, kind: str) -> None:
    """A value is redacted if its key names a secret: directly, in a list, or in a name and value pair."""
    marker = value.replace(value.strip(), f"[REDACTED:{kind}]")
    for body, redacted in (
        ({"env": {name: value}}, {"env": {name: marker}}),
        ({name: [value, value]}, {name: [marker, marker]}),
        ([{"name": name, "value": value}], [{"name": name, "value": marker}]),
        ([{"Value": value, "Key": name}], [{"Value": marker, "Key": name}]),
    ):
        assert REDACTOR.value(body)[0] == redacted
        assert REDACTOR.value(redacted) == (redacted, 0)
    assert REDACTOR.value({"name": value, "value": name})[1] == 0


@pytest.mark.parametrize(("name", "value"), UNANNOUNCED)
def test_other_names_announce_nothing(name: str, value: str) -> None:
    """Values of keys that only resemble a secret's name are not redacted."""
    for body in ({name: value}, {"name": name, "value": value}, {"value": value}, {name: {"text": value}}):
        assert REDACTOR.value(body) == (body, 0)


@pytest.mark.parametrize("name", ["Web3Auth", "'kX9m!Pq2Lw'"])
def test_a_name_behind_by_is_no_password(name: str) -> None:
    """In prose what is after `token … by` is not redacted; a SQL password after `IDENTIFIED … BY` is."""
    prose = f"The token is verified by {name} and cannot be reached by {name} servers."
    assert Redactor().text(prose) == prose
    bare = "kX9m!Pq2Lw"
    statement = f"ALTER USER ana IDENTIFIED WITH caching_sha2_password BY '{bare}';"
    assert Redactor().text(statement) == statement.replace(bare, "[REDACTED:password]")


@pytest.mark.parametrize("name", ["Authorization", "authorization", "Proxy-Authorization"])
def test_authorization_headers(name: str) -> None:
    """In an Authorization header the credentials after the scheme are redacted, or all of a value without one."""
    for scheme, proof in (("Basic ", "dXNlcjpwYXNzd29yZA=="), ("token ", "a1b2c3d4e5f6"), ("", "a1b2c3d4e5f6")):
        expected = {name: f"{scheme}[REDACTED:authorization]"}
        assert REDACTOR.value({name: scheme + proof}) == (expected, 1)
        assert REDACTOR.value(expected) == (expected, 0)
        if scheme:
            assert REDACTOR.text(json.dumps({name: scheme + proof})) == json.dumps(expected)
    assert REDACTOR.value({name: "Basic dXNlcjpwYXNzd29y"})[1] == 1


def test_only_known_kinds_make_a_marker() -> None:
    """`[REDACTED:…]` around anything but a known kind is redacted as ordinary text."""
    value = sample_secret("github-token")

    assert REDACTOR.text(f"[REDACTED:{value}]") == "[REDACTED:[REDACTED:github-token]]"
    assert Redactor(["jwt", "hunter2"]).text("[REDACTED:jwt] [REDACTED:hunter2]") == (
        "[REDACTED:jwt] [REDACTED:[REDACTED:secret]]"
    )


def test_keys_are_redacted_and_stay_unique() -> None:
    """A secret in a key is replaced; keys that become equal are numbered, and the order stays."""
    one, two = sample_secret("npm-token", 1), sample_secret("npm-token", 2)

    redacted, count = REDACTOR.value({one: 1, "x": f"{two}", two: 2})

    assert list(redacted.items()) == [
        ("[REDACTED:npm-token]", 1),
        ("x", "[REDACTED:npm-token]"),
        ("[REDACTED:npm-token]#2", 2),
    ]
    assert count == 3


@pytest.mark.timeout(60)
def test_many_equal_keys_are_numbered_in_linear_time() -> None:
    """Numbering continues after the last number of a name, past numbers that exist already."""
    many = {f"password=a1b2c3{number:05}": number for number in range(60_000)}
    taken = {"password=[REDACTED:password]#2": "taken"}

    redacted, count = REDACTOR.value(taken | many)

    assert count == 60_000
    assert list(redacted)[:3] == [f"password=[REDACTED:password]{end}" for end in ("#2", "", "#3")]
    assert list(redacted.values()) == ["taken", *range(60_000)]


def test_invalid_values_are_rejected() -> None:
    """Unpaired surrogates and endless nesting raise a ValidationError."""
    loop: list[Any] = []
    loop.append(loop)
    for value in (["\ud800"], {"\ud800": 1}, loop):
        with pytest.raises(ValidationError) as refused:
            REDACTOR.value(value)
        assert refused.value.details["reason"] in {"lone_surrogate", "too_deep"}
    with pytest.raises(ValidationError):
        REDACTOR.text("\udfff")


def test_false_positives_in_prose() -> None:
    """Technical documentation has at most 2 hits in 100,000 words, and identifiers have none."""
    words = hits = 0
    for text in documentation():
        words += len(text.split())
        hits += len(REDACTOR.spans(text))
    pick = random.Random(3)
    for length in (7, 32, 40, 64):
        name = "".join(pick.choices(HEX, k=length))
        for text in (f"commit {name}", f"sha256:{name}", f'"integrity": "{name}"', f"id={name}"):
            assert REDACTOR.spans(text) == []

    assert hits / words * 100_000 <= 2


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "piece",
    [
        "token=", "sk-", "eyJ", "eyJa.", "-----BEGIN PRIV" + "ATE KEY-----", "://a:", "[REDACTED:", "[REDACTED:a]",
        "[BYOK:", "Bearer ", "password: '", "ghp_", "PASSWORD=a1", "AKIA", "<REDACTED:x", 'secret=\\"', "x1", "=", " ",
    ],
)  # fmt: skip
def test_hostile_text_takes_linear_time(piece: str) -> None:
    """Four times as many beginnings of secrets take no eight times as long, and a second redaction changes nothing."""
    took_s = []
    for size in (60_000, 240_000):
        hostile = piece * (size // len(piece))
        began = thread_time()
        once = REDACTOR.text(hostile)
        took_s.append(thread_time() - began)

        assert REDACTOR.text(once) == once
    assert took_s[1] < 8 * took_s[0] + 0.1  # seconds of this thread, where some milliseconds are measured badly


def test_a_marker_announces_no_value() -> None:
    """A marker is not taken as a name that makes the text after it a secret; redacting again changes nothing."""
    text = ">".join(["ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2" * 2, *["user:hunter2"] * 12])
    once = Redactor().text(text)

    assert "ghp_" not in once
    assert Redactor().text(once) == once
    assert Redactor().text("[REDACTED:token]>user:hunter2") == "[REDACTED:token]>user:hunter2"
