"""Secrets leave the text, everything else stays byte for byte."""

from __future__ import annotations

import json
import random
import string
import time
from pathlib import Path
from typing import Any

import pytest

from reverie import _native
from reverie.errors import ValidationError
from reverie.redact import Redactor, Span
from support.shared import shared

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


def secret(kind: str, seed: int = 0) -> str:
    """A value of that kind's published format."""
    prefix, alphabet, length = FORMATS[kind]
    pick = random.Random(f"{kind}{seed}")
    return prefix + "".join(pick.choices(alphabet, k=length))


@pytest.mark.parametrize("vector", VECTORS, ids=range(len(VECTORS)))
def test_vectors(vector: dict[str, str]) -> None:
    """Each text is redacted to this one, and that one is left alone."""
    assert REDACTOR.text(vector["text"]) == vector["redacted"]
    assert REDACTOR.text(vector["redacted"]) == vector["redacted"]
    assert _native.redact(vector["text"])[0] == vector["redacted"]


@pytest.mark.parametrize("kind", FORMATS)
def test_published_formats(kind: str) -> None:
    """A value of a published format is named for what it is, whatever surrounds it."""
    for seed in range(20):
        value = secret(kind, seed)

        assert REDACTOR.text(f"it is {value}, see") == f"it is [REDACTED:{kind}], see"
        assert REDACTOR.text(f"“{value}”") == f"“[REDACTED:{kind}]”"


def test_contexts() -> None:
    """In every place where a secret must be redacted, nothing of it is left."""
    contexts = [json.loads(line) for line in shared("data/cases/secret_contexts.jsonl").read_text().splitlines()]
    templates = [row["template"] for row in contexts if row["must"] == "redact" and "template" in row]
    word_like = {"twilio-key", "databricks-token"}  # lower-case hexadecimal after letters that end ordinary words
    left = [
        (kind, template)
        for kind in FORMATS
        for template in templates
        if secret(kind)[8:] in REDACTOR.text(template.replace("{S}", secret(kind)))
        and not (kind in word_like and "x{S}" in template)
    ]

    assert left == []
    assert len(templates) > 30


def test_literals() -> None:
    """Known values go, the longest first, wherever they stand but in a marker; empty ones are ignored."""
    redactor = Redactor(["hunter", "hunter2", "", "REDACTED", "пароль"])

    assert redactor.text("hunter2 hunter xhunter2y") == "[REDACTED:secret] [REDACTED:secret] x[REDACTED:secret]y"
    assert redactor.text("[REDACTED:secret] пароль") == "[REDACTED:secret] [REDACTED:secret]"
    assert redactor.text("nothing known") == "nothing known"


def test_spans_count_characters() -> None:
    """Offsets are those of Python strings, in order."""
    value = secret("github-token")
    text = f"é👍 {value} — {value}"

    first, second = REDACTOR.spans(text)

    assert first == Span(3, 3 + len(value), "github-token")
    assert text[second.start : second.end] == value
    assert _native.redact(text)[1] == [tuple(first), tuple(second)]


def test_values_are_walked() -> None:
    """Strings at any depth lose their secrets; what had none is the same object; the input is left as it was."""
    value = secret("stripe-key")
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


def test_identifiers_signatures_and_images_are_left_alone() -> None:
    """Names of things keep their spelling, unless it is a published token format; opaque data is not looked into."""
    known = Redactor(["known-value"])
    value = secret("aws-key-id")
    source = {"type": "base64", "media_type": "image/png", "data": f"known-value{value}"}
    block = {"tool_use_id": "known-value", "id": value, "signature": f"known-value {value}", "source": source}

    redacted, count = known.value(block)

    assert redacted == {**block, "id": "[REDACTED:aws-key-id]"}
    assert count == 1
    assert redacted["source"] is source
    assert known.value({"data": "known-value"}) == ({"data": "[REDACTED:secret]"}, 1)


def test_keys_are_redacted_and_stay_apart() -> None:
    """A secret that is a key goes too; keys that become equal are numbered, and order is kept."""
    one, two = secret("npm-token", 1), secret("npm-token", 2)

    redacted, count = REDACTOR.value({one: 1, "x": f"{two}", two: 2})

    assert list(redacted.items()) == [
        ("[REDACTED:npm-token]", 1),
        ("x", "[REDACTED:npm-token]"),
        ("[REDACTED:npm-token]#2", 2),
    ]
    assert count == 3


def test_what_cannot_be_walked_is_refused() -> None:
    """Half of a surrogate pair, and nesting without end."""
    loop: list[Any] = []
    loop.append(loop)
    for value in (["\ud800"], {"\ud800": 1}, loop):
        with pytest.raises(ValidationError) as refused:
            REDACTOR.value(value)
        assert refused.value.details["reason"] in {"lone_surrogate", "too_deep"}
    with pytest.raises(ValidationError):
        REDACTOR.text("\udfff")


def test_ordinary_prose_is_left_alone() -> None:
    """Technical documentation has at most 60 hits in 100,000 words, and names of things have none."""
    words = hits = 0
    for path in shared("data/prose").glob("*.txt"):
        text = path.read_text()
        words += len(text.split())
        hits += len(REDACTOR.spans(text))
    pick = random.Random(3)
    for length in (7, 32, 40, 64):
        name = "".join(pick.choices(HEX, k=length))
        for text in (f"commit {name}", f"sha256:{name}", f'"integrity": "{name}"', f"id={name}"):
            assert REDACTOR.spans(text) == []

    assert hits / words * 100_000 <= 60


@pytest.mark.parametrize(
    "piece",
    [
        "token=", "sk-", "eyJ", "eyJa.", "-----BEGIN PRIVATE KEY-----", "://a:", "[REDACTED:", "[REDACTED:a]",
        "[BYOK:", "Bearer ", "password: '", "ghp_", "PASSWORD=a1", "AKIA", "<REDACTED:x", 'secret=\\"', "x1", "=", " ",
    ],
)  # fmt: skip
def test_no_text_takes_longer_than_its_length(piece: str) -> None:
    """A megabyte of what begins like a secret is read in well under a second."""
    hostile = piece * (1_000_000 // len(piece))
    started = time.monotonic()
    once = REDACTOR.text(hostile)

    assert time.monotonic() - started < 5
    assert REDACTOR.text(once) == once
