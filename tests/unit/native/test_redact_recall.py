"""Recall and false positives of redaction over labelled sets."""

from __future__ import annotations

import base64
import random
import string
from collections.abc import Callable
from typing import Any

import pytest

from reverie.redact import KINDS, Redactor
from support import secrets
from support.secrets import Labelled
from support.soak import count

_SYLLABLES = ["bro", "zen", "lum", "ta", "vix", "or", "mel", "quo", "dra", "pin", "sy", "hub", "nex", "ro", "gly", "fi"]

_BASE62 = string.digits + string.ascii_letters

_KEYWORDS = [
    "password",
    "passwd",
    "secret",
    "api_key",
    "apikey",
    "auth_token",
    "client_secret",
    "private_key",
    "db_pass",
]

_ASSIGNMENTS = [
    '{keyword} = "{value}"',
    "{keyword} = '{value}'",
    '{keyword}: "{value}"',
    "{keyword}: {value}",
    '  "{keyword}": "{value}",',
    "export {upper}={value}",
    '{upper}="{value}"',
    'final String {keyword} = "{value}";',
    "const {keyword} = '{value}';",
    '{keyword} := "{value}"',
    '${keyword} = "{value}";',
    "<{keyword}>{value}</{keyword}>",
    'if {keyword} == "{value}":',
    'connect(user="tide", {keyword}="{value}")',
    "--{keyword}={value}",
    '#define {upper} "{value}"',
    '<add key="{keyword}" value="{value}" />',
]


def assigned_keywords(number: int) -> list[Labelled]:
    """Return code and settings in which a keyword precedes a value: words with digits, or random letters."""
    pick = random.Random(13)
    rows = []
    for _ in range(number):
        keyword = pick.choice(_KEYWORDS)
        value = pick.choice(
            [
                "".join(pick.choices(_SYLLABLES, k=3)) + str(pick.randrange(10, 10_000)) + pick.choice("!?$%"),
                "".join(pick.choices(_BASE62, k=pick.choice([10, 16, 24, 40]))) + str(pick.randrange(10)),
                "".join(pick.choices(string.hexdigits[:16], k=pick.choice([16, 32, 64]))),
                base64.b64encode(pick.randbytes(pick.choice([12, 18, 30]))).decode(),
            ]
        )
        text = pick.choice(_ASSIGNMENTS).format(keyword=keyword, upper=keyword.upper(), value=value)
        start = text.index(value)
        rows.append(Labelled(keyword, text, start, start + len(value)))
    return rows


REDACTOR = Redactor()
TOKEN = "gh" + "p_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
KNOWN = "Tr0ub4dor-and-Battery-Staple-of-the-Horse-in-1936"
ZERO_WIDTH = "\u200b"


def labelled_set(rows: Callable[[], list[Labelled]], least: float, path: str, name: str) -> Any:
    """Return the parameters of a labelled set in `../shared/<path>`, skipped if it is missing."""
    return pytest.param(rows, least, id=name, marks=pytest.mark.measures(path))


@pytest.mark.parametrize(
    ("rows", "least"),
    [
        pytest.param(lambda: assigned_keywords(count(2_000, 20_000)), 0.95, id="assigned keywords"),
        labelled_set(secrets.gitleaks, 0.985, secrets.GITLEAKS, "gitleaks"),
        labelled_set(secrets.keywords, 0.95, secrets.DETECT_SECRETS, "keywords"),
        labelled_set(lambda: secrets.credsweeper(whole_files=True), 0.92, secrets.CREDSWEEPER, "credsweeper files"),
        labelled_set(lambda: secrets.credsweeper(whole_files=False), 0.84, secrets.CREDSWEEPER, "credsweeper lines"),
    ],
)
def test_recall_of_labelled_secrets(rows: Callable[[], list[Labelled]], least: float) -> None:
    """Of each labelled set, at least this share of secrets is covered completely."""
    covered, total = secrets.coverage(rows(), REDACTOR.spans)

    assert covered / total >= least


def test_identifiers_are_kept() -> None:
    """Identifiers give at most one false hit in 10,000 lines, and this project's own lock files none."""
    lines = secrets.benign(count(340, 3_400))
    wrong = [line for _, line in lines if REDACTOR.spans(line)]

    assert len(wrong) / len(lines) <= 1 / 10_000
    assert [span for text in secrets.lock_files() for span in REDACTOR.spans(text)] == []


def test_false_positives_in_conversations() -> None:
    """Conversations of people and agents have at most 2 hits in 100,000 words."""
    said = secrets.conversations()
    hits = sum(len(REDACTOR.spans(text)) for text in said)

    assert hits / sum(len(text.split()) for text in said) * 100_000 <= 2


@pytest.mark.parametrize(
    "encoded",
    [
        base64.b64encode(TOKEN.encode()).decode(),
        base64.b64encode(f"user {TOKEN} here".encode()).decode().rstrip("="),
        base64.urlsafe_b64encode(f"?>{TOKEN}~".encode()).decode(),
        TOKEN.encode().hex(),
        TOKEN.encode().hex().upper(),
        "".join(f"%{byte:02X}" for byte in TOKEN.encode()),
        TOKEN.replace("_", "%5f"),
        "".join(f"\\u{byte:04x}" for byte in TOKEN.encode()),
        TOKEN.replace("_", "\\x5f"),
        "".join(f"&#{byte};" for byte in TOKEN.encode()),
        "".join(f"&#x{byte:x};" for byte in TOKEN.encode()),
        ZERO_WIDTH.join(TOKEN),
        TOKEN[:9] + "\u2060" + TOKEN[9:],
    ],
)
def test_one_layer_of_encoding_is_decoded(encoded: str) -> None:
    """An encoded secret is replaced completely, and nothing around it."""
    assert REDACTOR.text(f"see {encoded} there") == "see [REDACTED:github-token] there"
    assert REDACTOR.text(f'{{"a": "{encoded}"}}') == '{"a": "[REDACTED:github-token]"}'


@pytest.mark.parametrize(
    "written",
    [
        KNOWN,
        KNOWN.upper(),
        KNOWN.lower(),
        KNOWN.encode().hex(),
        base64.b64encode(f"x:{KNOWN}".encode()).decode(),
        "".join(f"&#{byte};" for byte in KNOWN.encode()),
        KNOWN.replace("-", "%2D"),
        f"{KNOWN[:40]}\n{KNOWN[40:]}",
        f"{KNOWN[:20]}\r\n{KNOWN[20:40]}\r\n{KNOWN[40:]}",
        ZERO_WIDTH.join(KNOWN),
    ],
)
def test_listed_values_are_found_in_any_spelling(written: str) -> None:
    """Listed values are found in any case, across lines, and below one layer of encoding."""
    assert Redactor([KNOWN]).text(f"see {written} there") == "see [REDACTED:secret] there"
    assert "there" in REDACTOR.text(f"see {written} there")


def test_suspicious_texts_are_reported() -> None:
    """Spaced, reversed and split secrets are reported; ordinary texts are not."""
    texts = [
        " ".join(TOKEN),
        f"see {TOKEN[::-1]} there",
        f"it begins {TOKEN[:12]}",
        f"{TOKEN[12:]} it ends",
        "",
        "x y z",
    ]

    assert REDACTOR.suspects(texts) == [(0, "spaced"), (1, "reversed"), (2, "split")]
    assert REDACTOR.suspects(["a b c d e f g h i j k l m n o p q r s t", "ordinary", "words"]) == []


def test_conversations_are_not_suspected() -> None:
    """Hardly any text of whole sessions is reported as suspicious."""
    said = secrets.conversations()[:2_000]

    assert len(REDACTOR.suspects(said)) <= len(said) / 500


def test_kinds_are_plain_words() -> None:
    """Every kind is a plain word, and markers have no other kinds."""
    assert {"secret", "token", "key", "password", "jwt", "private-key", "byok", "foreign"} <= KINDS
    for kind in KINDS:
        assert REDACTOR.text(f"[REDACTED:{kind}] {TOKEN}") == f"[REDACTED:{kind}] [REDACTED:github-token]"
