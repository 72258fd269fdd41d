"""Keys: encoded tuples sort as the tuples do, and impossible parts are refused."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.errors import Damaged, ValidationError
from reverie.store.keys import (
    decode_key,
    encode_key,
    key_text,
    prefix_end,
    record_key,
    record_name,
    space_prefix,
    split_key,
)
from reverie.store.kinds import Kind

texts = st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=40)
numbers = st.integers(0, 2**64 - 1)
parts = st.lists(st.one_of(texts, numbers), max_size=5).map(tuple)
same_shape = st.tuples(st.tuples(texts, numbers, texts), st.tuples(texts, numbers, texts))


@given(parts)
def test_decoding_an_encoded_key_gives_the_key(key: tuple[str | int, ...]) -> None:
    assert decode_key(encode_key(key)) == key


@given(same_shape)
def test_keys_sort_as_their_tuples(pair: tuple[tuple[str, int, str], tuple[str, int, str]]) -> None:
    left, right = pair
    assert (encode_key(left) < encode_key(right)) == (left < right)


@given(parts, parts)
def test_a_prefix_is_made_of_whole_parts(key: tuple[str | int, ...], prefix: tuple[str | int, ...]) -> None:
    begins = encode_key(key).startswith(encode_key(prefix))
    assert begins == (key[: len(prefix)] == prefix)
    if begins:
        assert encode_key(prefix) <= encode_key(key) < prefix_end(encode_key(prefix))


@given(st.binary(max_size=40))
def test_any_bytes_are_a_key_or_damage(data: bytes) -> None:
    """Random bytes decode to a key or raise Damaged, never another exception."""
    with suppress(Damaged):
        decode_key(data)
    assert record_name(data)


@pytest.mark.parametrize("part", ["a\0b", "\ud800", -1, 2**64, True, None, 1.5, b"x"])
def test_impossible_key_parts_are_refused(part: object) -> None:
    with pytest.raises(ValidationError) as caught:
        encode_key((part,))  # type: ignore[arg-type] # the point of the test
    assert caught.value.hint


def test_a_key_has_the_parts_of_its_kind_and_a_greatest_length() -> None:
    space = space_prefix("default")
    with pytest.raises(ValidationError, match="keyed by thread, seq"):
        record_key(space, Kind.ENTRY, ("t",))
    with pytest.raises(ValidationError, match="bytes long"):
        record_key(space, Kind.MEMORY, ("x" * 600,))
    assert len(record_key(space, Kind.DOCUMENT, ("x" * 6000,))) < 64


@pytest.mark.parametrize("space", ["", "x" * 65, "\0"])
def test_a_space_has_a_short_name(space: str) -> None:
    with pytest.raises(ValidationError):
        space_prefix(space)


def test_the_text_of_a_key() -> None:
    space = space_prefix("default")
    assert record_name(record_key(space, Kind.ENTRY, ("t", 17))) == "entry t/17 of space default"
    version = record_key(space, Kind.MEMORY, ("m",))[len(space) :] + encode_key((3,))
    assert key_text(Kind.VERSION, version) == "version of memory m/3"
    assert key_text(Kind.CHECKSUM, b"\x03" + encode_key(("t",))) == "tally of entry t"
    assert key_text(Kind.VERSION, b"\xee" + encode_key(("t",))) == "version of 238 t"
    assert key_text(Kind.CHECKSUM, b"\xee") == "tally of 238"
    assert key_text(Kind.MEMORY, b"\xff") == "memory ff"
    assert record_name(b"\xff") == "key ff"
    assert split_key(space + b"\xee")[1] == 0xEE
