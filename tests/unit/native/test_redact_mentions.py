"""Tests of redaction near words for secrets: phrases of any build, and what near such a word is no secret."""

from __future__ import annotations

import random

import pytest

from reverie.redact import Redactor
from support import mentioned_secrets
from support.soak import count

REDACTOR = Redactor()


@pytest.mark.parametrize("phrase", mentioned_secrets.PHRASES)
def test_phrases_of_any_build(phrase: str) -> None:
    """Of 100 made-up values in each phrase at least 95 are redacted, and a second redaction changes nothing."""
    once = [REDACTOR.text(text) for text, _ in mentioned_secrets.filled(phrase, 100)]

    assert mentioned_secrets.covered(phrase, Redactor().spans, 100) >= 95
    assert [REDACTOR.text(text) for text in once] == once


@pytest.mark.parametrize(
    "text",
    [
        "the secret is kept in S3-compatible storage", "a 16-byte key for Poly1305, see RFC 8439",
        "the key is used with ChaCha20-Poly1305 and AES256-GCM", "the token is checked by Web3Auth",
        "log in with Web3Auth", "`allowHTTP1` takes cert and key", "const privateKey1 = randomPrivateKey()",
        "def public_key(self) -> Ed25519PublicKey:", "auth = httpx2.Auth(token)", "key.lower().encode('latin-1')",
        "the password hash is 5f4dcc3b5aa765d61d8327deb882cf99", "token id tk-77, token count 12k3",
        "the token was removed in commit 9fceb02d0ae598e95dc970b74767f19372d61af8", "login at 2026-01-31T09:30:05Z",
        "the password is read from /run/secrets/db1", "see auth in src/login/session2.ts:41",
        "sudo apt-get install python3.12",
        "the passphrase is asked for by restic 0.16.4", "password: see https://tide.example/a1B2c3D4",
        'auth=("my_user", "password123")', "unlock it with `git lfs unlock --id=4471`", "encrypted with AES-256-CTR",
        "ask ann@tide.example for the password", "pull request #1234 renames the token", "UTF16-LE-encoded key",
        '"login": "copilot-pull-request-reviewer"', 'the title of the page is "move token usage into agent"',
        "user,password\nann,none\nbob,unset\n", "The token:\n\nnext steps follow\n", "API keys:\n- production\n",
        "Enter your password:\n$ restic init --repo /tmp/backup2\n",
        "AWS_SECRET_ACCESS_KEY    Amazon S3 secret access key",
        "primary key a1b2c3d4e5f60718", "the cache key is 0f1e2d3c4b5a69788796a5b4c3d2e1f0",
        "password 550e8400-e29b", "docker login is broken since 2.34.1-rc3", "it accepts Basic auth and 0x1F8B08",
    ],
)  # fmt: skip
def test_names_near_a_mention_stay(text: str) -> None:
    """Names of code and of standards, digests, versions, paths, addresses and sentences are no secrets."""
    assert Redactor().text(text) == text


def test_a_mention_on_another_line_says_nothing() -> None:
    """A value on a line after a word for secrets is redacted only if a colon ended that line."""
    assert (
        Redactor().text("the password changed\nbuild kX9mPq2Lw is green")
        == "the password changed\nbuild kX9mPq2Lw is green"
    )
    assert "kX9mPq2Lw" not in Redactor().text("the password:\n\nkX9mPq2Lw\n")


def test_only_the_column_of_the_heading_is_redacted() -> None:
    """In a table only the column under `password` is redacted, and nothing after the table."""
    text = "name;password;host\nann;{};kX9mPq2Lw\n\nbuild;zT4rWq8Np;x\n"

    assert Redactor().text(text.format("Tr0ub4dor8x")) == text.format("[REDACTED:password]")


def test_texts_of_mentions_in_many_scripts_are_redacted_once() -> None:
    """Random texts of mentions, values and marks in many scripts are redacted without error, and only once."""
    pick = random.Random(11)
    bits = [
        "password", "login", "密码", "トークン", "clé", "Schlüssel", "token", "sudo", "pat:", "unlock", " with ",
        " is ",
        "X9k!q2Lm", "Sommer2031!", "kX9mPq2Lw", "0a1b2c3d4e5f60718293", '"lumo taka resi vuna"', "\n", ":\n", ",", ";",
        "\t", "  ", "'", '"', "`", "(", "|", "é", "🙂", "\u3000", "\u2028", "\u00a0", "=", "-", "->", "_", "KEY",
        "[REDACTED:password]", "commit ", "\\", "```\n", "。", "“", "」",
    ]  # fmt: skip
    for _ in range(count(4_000, 1_000_000)):
        once = REDACTOR.text("".join(pick.choices(bits, k=pick.randrange(1, 14))))
        assert REDACTOR.text(once) == once


@pytest.mark.parametrize("quote", ['"', "'"])
def test_a_passphrase_may_begin_with_a_short_word(quote: str) -> None:
    """Four words of three letters or more in quotes are one, however short the first is."""
    assert "lumo" not in Redactor().text(f"for the vault, unlock with {quote}lumo taka resi vuna{quote}")
