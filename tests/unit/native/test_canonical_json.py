"""Tests of canonical JSON and strict validation: one form for one value, or an error with its position."""

from __future__ import annotations

import gc
import hashlib
import json
import struct
import sys
import threading
from collections import OrderedDict, defaultdict
from enum import IntEnum, StrEnum
from pathlib import Path
from typing import Any

import pytest

from reverie.canonical_json import canonical, check_json, sha256
from reverie.errors import ValidationError
from support.hostile_cases import JSON_CASES
from support.shared import SHARED, shared_files

VECTORS = [
    json.loads(line)
    for line in (Path(__file__).resolve().parents[2] / "vectors" / "canonical.jsonl").read_text().splitlines()
]

# What the standard leaves open, as this reader decides it.
OPEN = {
    "i_number_double_huge_neg_exp.json": None,
    "i_number_huge_exp.json": "number_out_of_range",
    "i_number_neg_int_huge_exp.json": "number_out_of_range",
    "i_number_pos_double_huge_exp.json": "number_out_of_range",
    "i_number_real_neg_overflow.json": "number_out_of_range",
    "i_number_real_pos_overflow.json": "number_out_of_range",
    "i_number_real_underflow.json": None,
    "i_number_too_big_neg_int.json": "number_out_of_range",
    "i_number_too_big_pos_int.json": "number_out_of_range",
    "i_number_very_big_negative_int.json": "number_out_of_range",
    "i_object_key_lone_2nd_surrogate.json": "lone_surrogate",
    "i_string_1st_surrogate_but_2nd_missing.json": "lone_surrogate",
    "i_string_1st_valid_surrogate_2nd_invalid.json": "lone_surrogate",
    "i_string_UTF-16LE_with_BOM.json": "encoding",
    "i_string_UTF-8_invalid_sequence.json": "encoding",
    "i_string_UTF8_surrogate_U+D800.json": "encoding",
    "i_string_incomplete_surrogate_and_escape_valid.json": "lone_surrogate",
    "i_string_incomplete_surrogate_pair.json": "lone_surrogate",
    "i_string_incomplete_surrogates_escape_valid.json": "lone_surrogate",
    "i_string_invalid_lonely_surrogate.json": "lone_surrogate",
    "i_string_invalid_surrogate.json": "lone_surrogate",
    "i_string_invalid_utf-8.json": "encoding",
    "i_string_inverted_surrogates_U+1D11E.json": "lone_surrogate",
    "i_string_iso_latin_1.json": "encoding",
    "i_string_lone_second_surrogate.json": "lone_surrogate",
    "i_string_lone_utf8_continuation_byte.json": "encoding",
    "i_string_not_in_unicode_range.json": "encoding",
    "i_string_overlong_sequence_2_bytes.json": "encoding",
    "i_string_overlong_sequence_6_bytes.json": "encoding",
    "i_string_overlong_sequence_6_bytes_null.json": "encoding",
    "i_string_truncated-utf-8.json": "encoding",
    "i_string_utf16BE_no_BOM.json": "encoding",
    "i_string_utf16LE_no_BOM.json": "encoding",
    "i_structure_500_nested_arrays.json": "too_deep",
    "i_structure_UTF-8_BOM_empty_object.json": "encoding",
    # Valid by the grammar, and refused: two readers keep two different values.
    "y_object_duplicated_key.json": "duplicate_key",
    "y_object_duplicated_key_and_value.json": "duplicate_key",
}


def rejection_reason(data: bytes) -> str | None:
    """Return why `check_json` rejects data as JSON, or None if it does not; its offset must be within the text."""
    try:
        check_json(data)
    except ValidationError as error:
        details = error.details
    else:
        return None
    word: str = details["reason"]
    assert 0 <= details["offset"] <= len(data)
    assert details["hint"]
    return word


def rejection(value: Any) -> tuple[Any, Any]:
    """Return reason and path (or offset) of the ValidationError that `canonical` raises for a value."""
    with pytest.raises(ValidationError) as error:
        canonical(value)
    details = error.value.details
    return details["reason"], details.get("path", details.get("offset"))


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["text"][:30])
def test_vectors(vector: dict[str, Any]) -> None:
    """Each golden vector has its listed canonical form, as text and Python value, or is rejected for its reason."""
    data = vector["text"].encode()
    if "canonical" not in vector:
        assert rejection(data) == (vector["reason"], vector["offset"])
        return
    expected = vector["canonical"].encode()

    assert canonical(data) == expected
    assert canonical(json.loads(data)) == expected
    assert canonical(expected) == expected
    assert sha256(data) == hashlib.sha256(expected).hexdigest()


@pytest.mark.measures("data/jcs/testdata/input")
def test_published_vectors() -> None:
    """The test vectors of the RFC 8785 authors hold for text and for Python values."""
    inputs = shared_files("data/jcs/testdata/input", "*.json")
    for path in inputs:
        expected = (path.parent.parent / "output" / path.name).read_bytes()

        assert canonical(path.read_bytes()) == expected
        assert canonical(json.loads(path.read_text())) == expected
    assert len(inputs) >= 6


@pytest.mark.measures("data/jcs/es6testfile100k.txt")
def test_published_numbers() -> None:
    """100,000 published doubles are written as ECMAScript does, and read back as the same."""
    wrong = []
    lines = (SHARED / "data/jcs/es6testfile100k.txt").read_text().split()
    for line in lines:
        bits, expected = line.split(",")
        (number,) = struct.unpack(">d", int(bits, 16).to_bytes(8, "big"))
        # A whole number beyond 2^53 is a double only when it is written as one.
        text = expected if "." in expected or "e" in expected else expected + ".0"
        if canonical(number) != expected.encode() or canonical(text.encode()) != expected.encode():
            wrong.append(line)

    assert wrong == []
    assert len(lines) == 100_000


def test_invalid_python_values_are_rejected_with_their_path() -> None:
    """NaN, infinities, large integers, other types, unpaired surrogates and cycles are rejected with their path."""
    loop: list[Any] = []
    loop.append(loop)

    assert rejection({"a": [1, {"b": float("nan")}]}) == ("number_out_of_range", "$.a[1].b")
    assert rejection([float("-inf")]) == ("number_out_of_range", "$[0]")
    assert rejection({"a": (0, 2**53)}) == ("number_out_of_range", "$.a[1]")
    assert rejection(-(2**70)) == ("number_out_of_range", "$")
    assert rejection([{1: 2}]) == ("unsupported", "$[0]")
    assert rejection({"x": {"y": object()}}) == ("unsupported", "$.x.y")
    assert rejection(["\ud800"]) == ("lone_surrogate", "$[0]")
    assert rejection([{"\udc00": 1}]) == ("lone_surrogate", "$[0]")
    assert rejection(loop) == ("too_deep", "$" + "[0]" * 128)


def test_equivalent_python_types() -> None:
    """Booleans are not numbers, tuples are lists, and enumerations are their values."""

    class Word(StrEnum):
        A = "a"

    class Number(IntEnum):
        ONE = 1

    value = {"t": (True, False, None), "w": Word.A, "n": Number.ONE, "i": 2**53 - 1, "d": -0.0, "e": {}, "l": []}

    assert canonical(value) == b'{"d":0,"e":{},"i":9007199254740991,"l":[],"n":1,"t":[true,false,null],"w":"a"}'


class _Said(str):
    """A string subclass whose `str()` is another text, and that equals no other object."""

    __slots__ = ()

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __str__(self) -> str:
        return "other"


def test_subclasses_are_written_by_their_content() -> None:
    """Overridden methods of a subclass are not called: its built-in content is written."""

    def lie(*_: object) -> Any:
        raise AssertionError

    number = type("Number", (int,), {"__int__": lie, "__index__": lie, "__str__": lie})(7)
    double = type("Double", (float,), {"__float__": lie, "__repr__": lie})(0.5)
    items = type("Items", (list,), {"__iter__": lie, "__getitem__": lie, "__len__": lie})([1])
    pair = type("Pair", (tuple,), {"__iter__": lie, "__getitem__": lie, "__len__": lie})((1, 2))
    members = type("Members", (dict,), {"items": lie, "__iter__": lie, "__getitem__": lie, "keys": lie})(k=1)
    posing = type("Posing", (), {"__class__": property(lambda _: dict)})()

    assert canonical([number, double, items, pair, members]) == b'[7,0.5,[1],[1,2],{"k":1}]'
    assert canonical([_Said("a"), OrderedDict(b=1, a=2), defaultdict(list, z=[])]) == b'["a",{"a":2,"b":1},{"z":[]}]'
    assert rejection([posing]) == ("unsupported", "$[0]")


def test_keys_that_are_equal_as_text_are_rejected() -> None:
    """Two dictionary keys of equal characters are duplicates, among few keys and many."""
    twice: dict[str, Any] = {"b": 0, _Said("a"): 1, "c": 2, _Said("a"): 3}

    assert rejection({"x": [twice]}) == ("duplicate_key", "$.x[0].a")
    assert rejection({**twice, **{f"k{number}": 0 for number in range(100)}}) == ("duplicate_key", "$.a")
    assert rejection({"\udc00" + "a": 1, **twice}) == ("lone_surrogate", "$")


@pytest.mark.parametrize("value", [{1}, bytearray(b"1"), memoryview(b"1"), 1j, range(2), object, ..., {"a": 1}.items()])
def test_other_types_are_rejected(value: Any) -> None:
    """Types that JSON does not have are rejected, also inside a value; so are bytes inside a value."""
    assert rejection(value) == ("unsupported", "$")
    assert rejection({"a": [value]}) == ("unsupported", "$.a[0]")
    assert rejection({"a": [b"1"]}) == ("unsupported", "$.a[0]")


def test_no_reference_leaks_and_the_collector_is_restored() -> None:
    """Neither success nor failure leaks a reference, and a disabled garbage collector stays disabled."""
    inner = ["text"]
    value, wrong = {"key": inner}, {"key": inner, "\ud800": 1}
    before = sys.getrefcount(inner)
    for collecting in (True, False):
        (gc.enable if collecting else gc.disable)()
        try:
            for _ in range(100):
                canonical(value)
                rejection(wrong)
            assert gc.isenabled() is collecting
        finally:
            gc.enable()

    assert sys.getrefcount(inner) == before


def test_finalizers_cannot_change_a_value_while_it_is_written() -> None:
    """Garbage whose finalizer empties the value is not collected while an error is built deep inside it."""

    class Trap:
        """Empties a value when it is collected."""

        def __init__(self, value: Any) -> None:
            self.value = value
            self.loop = self

        def __del__(self) -> None:
            for inner in self.value.values():
                inner.clear()
            self.value.clear()

    threshold = gc.get_threshold()
    gc.set_threshold(1)
    try:
        for number in range(50):
            key = f"key {number}"
            value = {key: ["a" * 100, ["b"], [chr(0xD800 + number)]], "zzz": [f"{number}" for _ in range(20)]}
            Trap(value)

            try:
                written = canonical(value)
            except ValidationError as error:
                assert error.details["path"] == f"$.{key}[2][0]"  # noqa: PT017  # the trap may also come first
            else:
                assert written == b"{}"
    finally:
        gc.set_threshold(*threshold)


def test_values_may_change_in_other_threads() -> None:
    """While other threads change a value, it is always written as valid JSON with both of its keys."""
    value: dict[str, Any] = {"list": list(range(50)), "map": {}}
    ended = threading.Event()

    def change() -> None:
        number = 0
        while not ended.is_set():
            number += 1
            value["list"] = [str(number)] * (number % 60)
            value["list"].append(number)
            value["map"][f"k{number % 40}"] = [number]
            value["map"].pop(f"k{(number + 7) % 40}", None)

    threads = [threading.Thread(target=change) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(3000):
            assert set(json.loads(canonical(value))) == {"list", "map"}
    finally:
        ended.set()
        for thread in threads:
            thread.join()


def test_characters_are_escaped_at_every_position() -> None:
    """A special character anywhere in a string of any length up to 150 is written as the reference writes it."""
    wrong = []
    for length in range(151):
        plain = "é" * (length // 4) + "x" * (length - length // 4)
        for at in range(length + 1):
            text = plain[:at] + '"\\\x1f\n\x7f !'[(at + length) % 7] + plain[at:]
            expected = json.dumps(text, ensure_ascii=False).encode()
            if canonical(text) != expected or canonical(expected) != expected:
                wrong.append(text)

    assert wrong == []


def test_integers_are_written_up_to_the_limit() -> None:
    """Integers of every length are written alike from values and text; the first ones beyond 2^53-1 are rejected."""
    for number in {sign * (10**power + near) for power in range(16) for near in (-1, 0, 1) for sign in (1, -1)}:
        if abs(number) < 2**53:
            assert canonical(number) == canonical(str(number).encode()) == str(number).encode()
    for beyond in (2**53, -(2**53), 2**63 - 1, -(2**63)):
        assert rejection(beyond) == ("number_out_of_range", "$")
        assert rejection(str(beyond).encode()) == ("number_out_of_range", 0)
    assert canonical(b"-0") == b"0"


def test_large_whole_doubles_are_written_and_not_read() -> None:
    """Whole doubles above 2^53 are written without an exponent; as text without one they are rejected."""
    assert canonical(1.2345678901234568e20) == b"123456789012345680000"
    assert canonical(b"1.2345678901234568e20") == b"123456789012345680000"
    assert rejection(b"123456789012345680000") == ("number_out_of_range", 0)


def test_depth() -> None:
    """128 nested containers are allowed, for text and values, and one more is rejected."""
    text = b"[" * 128 + b"]" * 128

    check_json(text)
    assert canonical(text) == canonical(json.loads(text)) == text
    assert rejection_reason(b"[" * 129 + b"]" * 129) == "too_deep"
    assert rejection_reason(b"[" * 1_000_000) == "too_deep"
    assert rejection_reason(b'{"a":' * 1_000_000) == "too_deep"


def test_generated_texts() -> None:
    """Each generated JSON text is accepted, or rejected for its own reason."""
    wrong = [(case, found) for case in JSON_CASES if (found := rejection_reason(case.text)) != case.reason]

    assert wrong == []
    assert len(JSON_CASES) > 318


@pytest.mark.measures("data/json/test_parsing")
def test_parsing_suite() -> None:
    """The files of JSONTestSuite are accepted or rejected as they must be, the optional ones as the table lists."""
    files = shared_files("data/json/test_parsing", "*.json")
    found = {path.name: rejection_reason(path.read_bytes()) for path in files}
    wrong = {
        name: word
        for name, word in found.items()
        if (OPEN[name] != word if name in OPEN else (word is None) != name.startswith("y_"))
    }

    assert wrong == {}
    assert len(files) == 318
    assert {name for name in found if name.startswith("i_")} <= OPEN.keys()


def test_numbers_of_64_bits_pass() -> None:
    """Integers of 64 bits and finite doubles are accepted, the next larger ones rejected."""
    for accepted in (b"9223372036854775807", b"-9223372036854775808", b"18446744073709551615", b"1e308", b"1e-400"):
        assert rejection_reason(accepted) is None
    for beyond in (b"18446744073709551616", b"-9223372036854775809", b"1e309", b"-1e309", b"1" + b"0" * 400):
        assert rejection_reason(beyond) == "number_out_of_range"


def test_the_first_repeated_key_is_named() -> None:
    """The offset is that of the first duplicate key, also among many keys."""
    keys = [f'"k{number}":0' for number in range(40)]
    text = "{" + ",".join([*keys, '"k30":1', '"k2":1']) + "}"

    with pytest.raises(ValidationError) as error:
        check_json(text.encode())

    assert error.value.details["offset"] == text.rindex('"k30"')
    assert rejection_reason(b'{"a":{"a":0},"b":[{"a":1},{"a":2}]}') is None


@pytest.mark.timeout(60)
def test_hostile_text_takes_linear_time() -> None:
    """Megabyte texts of many keys, deep nesting or digits are accepted, or rejected for the right reason."""
    many = "{" + ",".join(f'"{number:06}":0' for number in range(90_000)) + "}"
    same = '{"' + "a" * 1000 + '0":0' + "".join(f',"{"a" * 1000}{number}":0' for number in range(1, 1000)) + "}"
    accepted = '"' + "\\u0041" * 170_000 + '"'

    assert [rejection_reason(text.encode()) for text in (many, same, accepted)] == [None, None, None]
    assert [rejection_reason(text.encode()) for text in ("[" * 10**6, "1" * 10**6, " " * 10**6, "[{}" * 300_000)] == [
        "too_deep",
        "number_out_of_range",
        "malformed",
        "malformed",
    ]
