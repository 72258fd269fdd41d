"""Tests of redaction by phrases, commands and cookies, on made-up values, and of what looks like one and is none."""

from __future__ import annotations

import random

import pytest

from reverie.redact import Redactor
from support import phrases
from support.soak import count

REDACTOR = Redactor()
HEX = "0123456789abcdef"


@pytest.mark.parametrize("name", phrases.PHRASES)
def test_phrases(name: str) -> None:
    """Of 100 made-up values in each phrase at least 95 are redacted, and a second redaction changes nothing."""
    once = [REDACTOR.text(text) for text, _ in phrases.filled(name, 100)]

    assert phrases.covered(name, REDACTOR.spans, 100) >= 95
    assert [REDACTOR.text(text) for text in once] == once


@pytest.mark.parametrize(
    "text",
    [
        "the password is wrong", "the password is required.", "The password is stored as a hash.", "my pin is lost",
        "the passphrase is 12-character long", "Das Passwort ist falsch.", "le mot de passe est vide",
        "the password for the wiki is unknown", "the password was changed to another one", "the api key is invalid",
        "docker run -p 8080:80 nginx", "mysql -p shop", "mysql -h db -P 3306 -p", "ssh -p 2222 host", "mkdir -p a/b1c2",
        "sshpass -p $SSHPASS ssh host", "mysql -p${MYSQL_PASSWORD} shop", "docker login -p <password> host",
        "redis-cli -a $REDIS_PASSWORD", "Cookie: lang=en; theme=dark", "Set-Cookie: lang=english; Path=/; Max-Age=3600",
        "Basic authentication is enough", "password = $DB_PASSWORD", "password = %DB_PASSWORD%", "password = @password",
        "lint and tests pass on `fix/parser-2`", "all tests pass on linux-x86_64, not on v2.3.1",
        "pass on to `formatCheckpointOutput`", "primary key is a1b2c3d4e5f6",
        "| password | string | required |", "| name | password |\n|---|---|\n| ann | unknown |\n| bob | see below |",
        "| token | count |\n|---|---|\n| a1 | 12345 |", "- name: DB_PASSWORD\n  value: $DB_PASSWORD", "login: ann",
        "login: https://tide.example/a1b2c3", "credentials: see /etc/tide/login1", "login at: 09:30:05",
        "use base64 as the token format", "bcrypt2 is the password hash", "echo $PASSWORD | sudo -S ls", "sudo -S ls",
        "net user ann /add", "net user is broken", "requirepass directive is missing.",
        "htpasswd -c .htpasswd ann", "log in with password authentication",
        "ConvertTo-SecureString $secret -AsPlainText", "log in with token auth (RFC 6750)",
        "make stands as2 in the token",
        "db.example:5432:shop", "http://db.example:5432:8080", "tide connect --password string --host db",
    ],
)  # fmt: skip
def test_phrases_without_a_secret(text: str) -> None:
    """Words that describe a password or take its place, and options of other programs, are not redacted."""
    assert REDACTOR.text(text) == text


def test_a_value_before_its_name_may_begin_the_text() -> None:
    """A password before the words that name it is redacted at the beginning of a text too, without a word before."""
    for text in ("Tr0ub4dor8x is my password", "`Tr0ub4dor8x` is the password.", "Tr0ub4dor8x as the new password"):
        assert "Tr0ub4dor8x" not in REDACTOR.text(text)
    assert REDACTOR.text("pattern is the password of nobody") == "pattern is the password of nobody"


@pytest.mark.parametrize("space", [" ", "\u00a0", "\u2028", "\u3000", "\t"])
def test_a_value_before_its_name_may_follow_any_space(space: str) -> None:
    """A password before the words that name it is redacted after any space character, of several bytes too."""
    assert REDACTOR.text(f"日本{space}Tr0ub4dor8x is my password") == f"日本{space}[REDACTED:password] is my password"


def test_texts_of_many_scripts_and_commands_are_redacted_once() -> None:
    """Random texts of phrases, commands and many scripts are redacted without error; a second time changes nothing."""
    pick = random.Random(3)
    bits = [
        "password", "é", "日本", "🙂", " is ", " as ", "my ", "the ", "sudo -S ", "| ", "echo ", "<<< ", "net user ",
        "htpasswd -b ", "requirepass ", "X9k!q2Lm", "\n", "`", '"', "(", "with ", "credentials are ann / ", "\u00a0",
        "\u2028", "\u3000", "passwd --stdin ", " -pass stdin", "gh secret --body=", "/p:", "xfreerdp ", "\\",
        "chpasswd",
    ]  # fmt: skip
    for _ in range(count(4_000, 400_000)):
        once = REDACTOR.text("".join(pick.choices(bits, k=pick.randrange(1, 14))))
        assert REDACTOR.text(once) == once


def test_names_of_sessions_stay() -> None:
    """Names of session files with a date and a UUID are not redacted, nor a UUID behind a key's prefix."""
    pick = random.Random(8)
    for _ in range(100):
        digits = "".join(pick.choices(HEX, k=32))
        unique = "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
        for name in (
            f"rollout-2026-01-02T03-04-05-{unique}.jsonl", f"2026-01-02-{unique}", f"{unique}_2026-01-02.json",
            f"sdk-py-{unique}", f"sdk-2026-01-02-{unique}",
        ):  # fmt: skip
            assert REDACTOR.value({"source": name, "path": f"/home/ann/{name}"})[1] == 0
            assert REDACTOR.text(f'"source": "{name}"') == f'"source": "{name}"'
        assert REDACTOR.value({"id": f"sdk-{unique}"})[1] == 0
