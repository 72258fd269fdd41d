"""The redacted view of a file, and edits of it that leave the secrets in place."""

from __future__ import annotations

import random
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reverie.sync.redaction import RedactionView
from support.soak import count
from support.sync_sides import REDACTOR


def secret(seed: int) -> str:
    """Return a token that no service issued."""
    pick = random.Random(seed)
    return "sk-" + "ant-api03-" + "".join(pick.choices(string.ascii_letters + string.digits, k=95))


ONE, TWO = secret(1), secret(2)
MARK = "[REDACTED:anthropic-key]"
RAW = f"# Keys\n\n- first: {ONE} until May\n- plain\n- second: {TWO}\n- last\n"
TEXT = RAW.replace(ONE, MARK).replace(TWO, MARK)
PEM = (
    "-----BEGIN RSA "
    "PRIVATE KEY-----\r\n" + "MIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn\r\n" * 3 + "-----END RSA " + "PRIVATE KEY-----"
)


def view_of(raw: str) -> RedactionView:
    return RedactionView.of(raw, REDACTOR)


def test_the_text_has_markers() -> None:
    """The view's text is the redactor's, with a marker for each secret, and the view lists the secrets."""
    assert view_of(RAW).text == TEXT == REDACTOR.text(RAW)
    assert view_of(RAW).secrets == {ONE, TWO}


def test_a_text_without_secrets_is_itself() -> None:
    """A text without secrets is its own view, and any edit of it is the target."""
    plain = "# T\r\n\r\n- a\r\n"

    assert view_of(plain).text is plain
    assert view_of(plain).apply("- b") == "- b"


@pytest.mark.parametrize(
    "target",
    [
        TEXT,
        TEXT + "- more\n",
        TEXT.replace("- plain\n", ""),
        TEXT.replace("until May", "until June"),
        TEXT.replace("first", "the first").replace("- plain", "- pleasant"),
        TEXT.replace("\n", "\r\n"),
        "\ufeff" + TEXT,
        TEXT.rstrip("\n"),
        TEXT.replace("- last\n", f"- a note on [REDACTED:password] and {MARK}\n"),
    ],
    ids=["same", "more", "less", "same line", "words", "crlf", "bom", "no newline", "a marker of one's own"],
)
def test_edits_of_other_bytes_are_made(target: str) -> None:
    """Edits that leave the markers are applied to the file, with both secrets in place of their markers."""
    after = view_of(RAW).apply(target)

    assert after is not None
    assert after.replace(ONE, MARK).replace(TWO, MARK) == target
    assert after.index(ONE) < after.index(TWO)


def test_lines_with_secrets_may_change_places() -> None:
    """Moved lines keep their secrets."""
    lines = RAW.splitlines(keepends=True)
    moved = [*lines[:2], lines[4], lines[3], lines[2], lines[5]]

    assert view_of(RAW).apply("".join(moved).replace(ONE, MARK).replace(TWO, MARK)) == "".join(moved)


def test_equal_lines_keep_the_secret_of_their_neighbours() -> None:
    """Two sections that changed places keep their secrets."""
    one, two = f"## One\n- key: {ONE}\n", f"## Two\n- key: {TWO}\n"

    assert view_of(one + two).apply((two + one).replace(ONE, MARK).replace(TWO, MARK)) == two + one


def test_a_secret_of_several_lines_is_one_line() -> None:
    """A private key of several lines stays unchanged, line endings included."""
    raw = f"# Keys\r\n\r\n- a\r\n{PEM}\r\n- b\r\n"
    text = view_of(raw).text

    assert text == "# Keys\r\n\r\n- a\r\n[REDACTED:private-key]\r\n- b\r\n"
    assert view_of(raw).apply(text.replace("- b", "- c")) == raw.replace("- b", "- c")
    assert view_of(raw).apply(text.replace("[REDACTED:private-key]\r\n", "")) == raw


def test_a_deleted_secret_stays() -> None:
    """A deleted line with a secret stays in its place; the other edits are made."""
    after = view_of(RAW).apply(TEXT.replace(f"- first: {MARK} until May\n", "").replace("last", "the end"))

    assert after == RAW.replace("last", "the end")


def test_a_secret_that_was_written_over_stays() -> None:
    """An overwritten secret stays beside the new text."""
    over = TEXT.replace(f"first: {MARK} until", "first: none until")

    assert view_of(RAW).apply(over) == RAW.replace(f"- first: {ONE}", f"- first: {ONE} until May\n- first: none")


def test_all_deleted_leaves_the_lines_with_secrets() -> None:
    """If all text is deleted, both secrets stay in the file."""
    after = view_of(RAW).apply("")

    assert after is not None
    assert ONE in after
    assert TWO in after


def test_a_secret_that_would_show_is_a_leak() -> None:
    """A secret that was found by its label alone counts as leaked where a text has it under another label."""
    named = view_of("- password: hunter2-Zx9!qq\n- note\n")
    assert named.secrets == {"hunter2-Zx9!qq"}

    assert named.leaks("- note: hunter2-Zx9!qq\n")
    assert not named.leaks(named.text)


WORDS = st.sampled_from(["a", "key:", ONE, TWO, MARK, "[REDACTED:", "é", "password:", "hunter2-Zx9!qq", "[BYOK:x]"])
LINES = st.lists(st.lists(WORDS, max_size=4).map(" ".join), max_size=8)
ENDS = st.sampled_from(["\n", "\r\n"])


@settings(max_examples=count(120, 20_000), deadline=None)
@given(
    LINES,
    ENDS,
    st.sampled_from(["", "\ufeff"]),
    st.lists(st.tuples(st.integers(0, 7), st.none() | st.lists(WORDS, max_size=3)), max_size=4),
)
def test_secrets_stay_whatever_the_edit(
    lines: list[str], end: str, mark: str, edits: list[tuple[int, list[str] | None]]
) -> None:
    """No edit removes a secret from the file, and the unchanged text is no edit."""
    raw = mark + end.join(lines)
    view = view_of(raw)
    assert view.text == REDACTOR.text(raw)
    assert view.apply(view.text) == raw
    assert not any(secret in view.text for secret in view.secrets & {ONE, TWO})

    target = view.text.split("\n")
    for at, words in edits:
        target[at : at + 1] = [] if words is None else [view_of(" ".join(words)).text]
    after = view.apply("\n".join(target))

    assert after is None or all(after.count(each) >= raw.count(each) for each in view.secrets)
