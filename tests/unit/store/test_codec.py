"""The codec: only sealed values can be stored, and any changed bit of a record is noticed and named."""

from __future__ import annotations

import pickle

import orjson
import pytest

from reverie.compression import verified_body
from reverie.errors import Damaged, ValidationError
from reverie.store import Kind, Sealed, open_sealed, seal
from reverie.store.codec import (
    blob_reference,
    decode_record,
    encode_record,
    record_json,
    tombstone,
    verified_sealed,
)
from support.stores import MASKING, SECRET, raw_key

KEY = raw_key(Kind.MEMORY, ("mem_1",))
VALUE = {"content": "two", "deep": [{"a": 1.5, "b": None}]}


def test_a_value_is_redacted_throughout_before_it_is_sealed() -> None:
    sealed = seal({"a": [{"b": f"x {SECRET} y {SECRET}"}]}, MASKING)
    assert sealed.redacted == 2
    assert SECRET.encode() not in sealed.data
    assert sealed.json() == open_sealed(sealed.data) == {"a": [{"b": "x [REDACTED:test] y [REDACTED:test]"}]}


def test_only_the_codec_makes_sealed_values() -> None:
    with pytest.raises(TypeError, match=r"codec\.seal"):
        Sealed(b"x", 0, maker=object())


def test_a_pickled_sealed_value_is_verified_when_unpickled() -> None:
    sealed = seal(VALUE, MASKING)
    assert pickle.loads(pickle.dumps(sealed)).data == sealed.data  # noqa: S301 - our own bytes
    with pytest.raises(Damaged):
        verified_sealed(sealed.data[:-1] + b"?")


@pytest.mark.parametrize("value", [{"a": 2**70}, {"a": object()}, {"a": "\ud800"}, {1: "x"}])
def test_what_json_cannot_hold_is_refused(value: dict[str, object]) -> None:
    with pytest.raises(ValidationError) as caught:
        seal(value, type("Same", (), {"taken": lambda _self, value: (value, ())})())
    assert caught.value.hint


@pytest.mark.parametrize("sealed", [seal(VALUE, MASKING), blob_reference(seal(VALUE, MASKING)), tombstone()])
def test_every_bit_of_a_record_counts(sealed: Sealed) -> None:
    """A flip of any bit raises Damaged naming the record, in each of the three forms of a body."""
    record = encode_record(KEY, 7, 1, sealed.data)
    for bit in range(len(record) * 8):
        bad = bytearray(record)
        bad[bit // 8] ^= 1 << bit % 8
        assert verified_body(KEY, bytes(bad)) is None
        with pytest.raises(Damaged, match="memory mem_1 of space default is damaged"):
            record_json(KEY, decode_record(KEY, bytes(bad)))


def test_a_record_belongs_to_its_key() -> None:
    record = encode_record(KEY, 7, 1, seal(VALUE, MASKING).data)
    assert orjson.loads(verified_body(KEY, record) or b"") == VALUE
    with pytest.raises(Damaged, match="memory mem_2"):
        decode_record(raw_key(Kind.MEMORY, ("mem_2",)), record)


@pytest.mark.parametrize("size", [0, 1, 16, 31, 48, 49])
def test_a_short_record_is_damaged(size: int) -> None:
    record = encode_record(KEY, 7, 1, seal(VALUE, MASKING).data)[:size]
    assert verified_body(KEY, record) is None
    with pytest.raises(Damaged):
        decode_record(KEY, record)
    with pytest.raises(Damaged):
        open_sealed(record)


def test_a_newer_form_says_so() -> None:
    from hashlib import sha256

    inner = bytes((9, 0)) + b"{}"
    with pytest.raises(Damaged, match="form 9") as caught:
        open_sealed(sha256(inner).digest()[:16] + inner)
    assert "newer version" in (caught.value.hint or "")


def test_a_tombstone_is_not_a_value() -> None:
    with pytest.raises(Damaged, match="not in its record"):
        open_sealed(tombstone().data)
