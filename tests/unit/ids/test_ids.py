"""Tests of identifiers: sortable by time, distinct by randomness, equal by content."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.adapters.values import thread_id
from reverie.errors import ValidationError
from reverie.ids import content_id, new_id, of_session

TIMES = st.integers(0, 2**50 - 1)


@given(TIMES, TIMES, st.binary(min_size=10, max_size=10), st.binary(min_size=10, max_size=10))
def test_ids_sort_as_their_times_do(first: int, second: int, one: bytes, two: bytes) -> None:
    """Ids sort by time, then by the random part; different inputs give different ids."""
    left, right = new_id("mem", first, one), new_id("mem", second, two)
    assert (left < right) == ((first, one) < (second, two))
    assert len(left) == len("mem_") + 10 + 16


def test_ids_have_unambiguous_characters() -> None:
    """Ids have lower-case letters and digits, without those that look like another."""
    assert new_id("op", 0, b"\0" * 5) == "op_000000000000000000"
    assert new_id("op", 1_700_000_000_000, b"\xff" * 5) == "op_01hf7yat00zzzzzzzz"
    assert new_id("op", 31, bytes(range(6))) == "op_000000000z000g40r40m"


def test_content_ids_depend_on_the_bytes() -> None:
    """Equal bytes have equal ids; the value is pinned, as it is stored."""
    assert content_id("note", b"") == content_id("note", b"")
    assert content_id("note", b"") != content_id("note", b"x")
    assert content_id("note", b"") == "note_werc8gmrzge196qvyk49jvxs4g"


@pytest.mark.parametrize(
    ("kind", "at_ms", "random"),
    [
        ("", 0, b"12345"),
        ("Mem", 0, b"12345"),
        ("a_b", 0, b"12345"),
        ("m", -1, b"12345"),
        ("m", 2**50, b"12345"),
        ("m", 0, b"1234"),
    ],
)
def test_invalid_arguments_are_rejected(kind: str, at_ms: int, random: bytes) -> None:
    """A kind with an underscore, a time before 1970 and too little randomness are rejected."""
    with pytest.raises(ValidationError):
        new_id(kind, at_ms, random)


def test_names_that_look_alike_have_ids_of_their_own() -> None:
    """Names that differ only in case, normal form, spaces or invisible characters give different thread ids."""
    names = ("ann", "Ann", "ann ", "a\u200bnn", "caf\u00e9", "cafe\u0301", "\u212b", "\u00c5", "\uff41nn", "a\0nn")
    assert len({thread_id("framework", name) for name in names}) == len(names)
    with pytest.raises(ValidationError, match="surrogate"):
        of_session("thr", "framework", "\ud800")
