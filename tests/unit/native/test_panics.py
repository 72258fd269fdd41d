"""Tests that a defect of the native core is an error of one call, which names the function and no word of the text."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reverie import _native
from reverie.errors import CoreFailed, ValidationError
from reverie.redact import Redactor

WORDS = "one-word-of-the-text"


@pytest.mark.parametrize("end", ["; b=c", "=c", "é; b=c", "=é; sid=31d4d96e407aad42"])
def test_a_cookie_that_ends_at_the_limit_is_redacted(end: str) -> None:
    """A name or a value that reaches the last byte that is examined is cut there."""
    for length in range(4080, 4100):
        assert Redactor().text("Cookie: a" + "x" * length + end).startswith("Cookie: a"), length


def test_a_panic_is_an_error_that_says_where_and_not_what(capfd: pytest.CaptureFixture[str]) -> None:
    """`except Exception` catches it; the text is neither in the error nor on standard error."""
    with pytest.raises(CoreFailed) as caught:
        _native.panic_with(WORDS)

    error = caught.value
    assert isinstance(error, Exception)
    assert (error.code, error.details["function"]) == ("core_failed", "panic_with")
    assert error.details["at"].startswith("rust/native/src/guard.rs:")
    assert WORDS not in f"{error.message} {error.details}"
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    "call",
    [
        lambda: _native.apply_edits(b"abc", [(2**64 - 1, "b", "c")]),
        lambda: _native.apply_changes(b"- a\n", [("a", 2**64 - 2, 2**64 - 1)], [("delete", "a", "")]),
        lambda: _native.truncate("abc", 2**64 - 1),
        lambda: _native.passage("é" * 300, "é", 2**64 - 1),
        lambda: _native.unpack(b"\xff" * 40, 2**64 - 1),
    ],
)
def test_numbers_beyond_every_text_are_answered(call: Callable[[], object]) -> None:
    """The largest numbers that Python can pass are refused or used, without a panic."""
    try:
        call()
    except CoreFailed as failed:
        pytest.fail(f"{failed.details}")
    except (OverflowError, ValidationError):
        return
