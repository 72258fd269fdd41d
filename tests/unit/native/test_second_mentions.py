"""Tests of second mentions: a value that was redacted once is redacted when it comes again without its name."""

from __future__ import annotations

import random

import pytest

from reverie.redact import Redactor
from reverie.usecases.fingerprints import SLOTS


def test_a_value_with_digits_is_found_always() -> None:
    """A value with digits that was redacted once is redacted wherever it is again: in quotes, options, addresses."""
    pick = random.Random(5)
    for _ in range(200):
        value = pick.randbytes(pick.randint(8, 20)).hex()
        redactor = Redactor(fingerprints=b"")
        for text in (
            f"use {value}; token = '{value}' | '{value}'", f"({value}).", f"`{value}`", f"-p{value}", f"a={value}&b=1",
            f"https://ann:{value}@db.example", f"one\\n{value}\\n", f"是{value}是", value,
        ):  # fmt: skip
            assert value not in redactor.text(text), text


@pytest.mark.parametrize(
    ("announced", "later"),
    [
        ("the password is secret", "the secret of this is a secret"),
        ("password = password1", "password1 is a bad choice"),
        ("token: sha256", "a sha256 of it"),
        ("password = Uint8Array", "folderKey: Uint8Array | null;"),
        ("--- PASS: TestReadsJSONFiles/second_line (0.00s)", "=== RUN   TestReadsJSONFiles/second_line"),
        ("password = parse_2nd_argument", "def parse_2nd_argument(text):"),
        ("the pin is 2041", "in 2041"),
        ("password: ann@tide.example", "write to ann@tide.example"),
        ("password = k3j5h2g8f1d9s7", "k3j5h2g8f1d9s7y and ak3j5h2g8f1d9s7 and k3j5h2g8f1d9s7-x"),
        ("password: Sommer2031!", "in Sommer2031! it was"),
    ],
)
def test_ordinary_words_and_names_stay(announced: str, later: str) -> None:
    """Ordinary words, short numbers, addresses and identifiers are not redacted as second mentions."""
    redactor = Redactor(fingerprints=b"")
    redactor.text(announced)
    assert redactor.text(later) == later


def test_a_value_is_found_in_the_strings_before_and_after_it() -> None:
    """In one JSON value a secret is redacted before and after its name, but not in ids or under the given names."""
    redactor = Redactor(names=("parent",))
    value = "k3j5h2g8f1d9s7"
    content = [f"use {value}", {"password": value}, f"or {value}", {"id": value}]
    marker = "[REDACTED:password]"
    redacted = [f"use {marker}", {"password": marker}, f"or {marker}", {"id": value}]
    assert redactor.value({"parent": value, "content": content}) == ({"parent": value, "content": redacted}, 3)


def test_what_is_remembered_is_kept_as_hashes() -> None:
    """Redactors with the same key and fingerprints find a value again; one with another key does not."""
    first = Redactor(fingerprints=b"")
    first.text("password: k3j5-h2g8-f1d9-s7")
    assert b"k3j5" not in first.fingerprints
    other = Redactor(fingerprints=first.key)
    other.add_fingerprints(first.fingerprints_after(0))
    for redactor in (Redactor(fingerprints=first.fingerprints), other):
        assert redactor.text("try k3j5-h2g8-f1d9-s7") == "try [REDACTED:password]"
    stranger = Redactor(fingerprints=b"")
    stranger.add_fingerprints(first.fingerprints_after(0))
    assert stranger.text("try k3j5-h2g8-f1d9-s7") == "try k3j5-h2g8-f1d9-s7"
    with pytest.raises(ValueError, match="not fingerprints"):
        Redactor(fingerprints=b"short")


def test_redactors_without_fingerprints_forget() -> None:
    """Without fingerprints a redactor remembers values for one text only; with `forgets` not even that."""
    text = "token = 'k3j5h2g8f1d9s7'\n'k3j5h2g8f1d9s7'"
    once = Redactor()
    assert once.text(text) == "token = '[REDACTED:token]'\n'[REDACTED:token]'"
    assert once.text("'k3j5h2g8f1d9s7'") == "'k3j5h2g8f1d9s7'"
    assert Redactor(forgets=True).text(text) == "token = '[REDACTED:token]'\n'k3j5h2g8f1d9s7'"


def test_the_newest_values_are_remembered() -> None:
    """A redactor remembers SLOTS fingerprints; further ones replace the oldest."""
    pick = random.Random(3)
    values = [f"x{pick.randbytes(12).hex()}7" for _ in range(SLOTS + 10)]
    redactor = Redactor(fingerprints=b"")
    for value in values:
        redactor.text(f"password: {value}")
    assert len(redactor.fingerprints_after(0)) == SLOTS
    assert redactor.text(values[0]) == values[0]
    assert redactor.text(f"see {values[10]} and {values[-1]}") == "see [REDACTED:password] and [REDACTED:password]"
