"""Decoding: values of the type that was asked for, errors that callers catch, and first uses in several threads."""

from __future__ import annotations

import subprocess
import sys

import msgspec
import pytest

from reverie.decode import convert, from_json, from_msgpack, mapped

FIRST_USES = """
import sys, threading, msgspec
from reverie.decode import convert, from_json, from_msgpack, mapped

def nested(number):
    inner = [msgspec.defstruct(f"Inner{number}x{field}", [("a", int), ("b", str)]) for field in range(6)]
    return msgspec.defstruct(f"Outer{number}", [(f"field{field}", kind) for field, kind in enumerate(inner)])

value = {f"field{field}": {"a": field, "b": "text"} for field in range(6)}
json, msgpack = msgspec.json.encode(value), msgspec.msgpack.encode(value)
calls = [
    lambda kind: from_json(json, kind),
    lambda kind: from_msgpack(msgpack, kind),
    lambda kind: convert(value, kind),
]
kinds = [nested(number) for number in range(300)]
gate = threading.Barrier(4)

def run(turn):
    for number, kind in enumerate(kinds):
        gate.wait(60)
        assert calls[(turn + number) % 3](kind).field5.a == 5

sys.setswitchinterval(1e-6)
threads = [threading.Thread(target=run, args=(turn,)) for turn in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


class Point(msgspec.Struct):
    """A value with two fields."""

    x: int
    y: int = 0


def test_errors_are_those_of_msgspec() -> None:
    """Text that is no JSON raises DecodeError, JSON of another type ValidationError, both of msgspec."""
    with pytest.raises(msgspec.ValidationError, match="field `x`"):
        from_json(b"{}", Point)
    with pytest.raises(msgspec.ValidationError):
        convert({"x": "one"}, Point)
    with pytest.raises(msgspec.DecodeError):
        from_json(b"{", Point)
    with pytest.raises(msgspec.DecodeError):
        from_msgpack(b"\x81", Point)


def test_types_are_first_used_in_several_threads() -> None:
    """300 types are each first used by four threads at once without crashing the process."""
    ended = subprocess.run([sys.executable, "-c", FIRST_USES], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_struct_has_the_fields_of_its_source() -> None:
    """Fields are those given, else the source's of the same names; one that is nowhere is an error, default or not."""

    class Place(msgspec.Struct):
        """A value with the fields of a point and others."""

        x: int
        y: int
        name: str
        kind: str = "corner"

    assert mapped(Point(1, 2), Place, name="north", y=3, kind="edge") == Place(1, 3, "north", "edge")
    with pytest.raises(AttributeError, match="kind"):
        mapped(Point(1, 2), Place, name="north")
