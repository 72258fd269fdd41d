"""Tests of `Call`: JSON bodies, query parameters, idempotency keys and the author of a call."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from reverie.errors import ValidationError
from reveried.http.call import Call


class Point(msgspec.Struct, forbid_unknown_fields=True):
    """A request body."""

    x: int
    y: int = 0


def call_of(body: bytes = b"", query: dict[str, str] | None = None, headers: dict[str, str] | None = None) -> Call:
    services: Any = None
    return Call("POST", "/v1/x", "default", None, {}, query or {}, headers or {}, body, services)


def test_bodies() -> None:
    """No body is `{}`; other bodies are validated against their struct, and errors name the field."""
    assert call_of().json() == {}
    assert call_of(b'{"x": 1}').into(Point) == Point(1)
    for body in (b'{"x": "1"}', b"{}", b'{"x": 1, "z": 2}', b"[]", b"null"):
        with pytest.raises(ValidationError):
            call_of(body).into(Point)
    with pytest.raises(ValidationError) as caught:
        call_of(b'{"x": 1, "x": 2}').into(Point)
    assert caught.value.details["reason"] == "duplicate_key"
    with pytest.raises(ValidationError):
        call_of(headers={"content-type": "application/json"}).json()


def test_queries() -> None:
    """Integers of the query have bounds, and booleans are true, false, 1 or 0."""
    assert call_of().limit() == 100
    assert call_of(query={"limit": "1000"}).limit() == 1000
    assert call_of(query={"n": "7"}).integer("n", 1) == 7
    for text in ("", "-1", "1.0", "x", "\u0661", "1001"):
        with pytest.raises(ValidationError, match="limit"):
            call_of(query={"limit": text}).limit()
    with pytest.raises(ValidationError, match="or more"):
        call_of(query={"n": "0"}).integer("n", 1, least=1)
    assert call_of(query={"wait": "true"}).flag("wait")
    assert call_of(query={"wait": "1"}).flag("wait")
    assert not call_of(query={"wait": "false"}).flag("wait")
    assert not call_of().flag("wait")
    with pytest.raises(ValidationError, match="true or false"):
        call_of(query={"wait": "yes"}).flag("wait")


def test_idempotency_keys() -> None:
    """A key comes with the hash of its request; malformed keys are refused."""
    assert call_of().idempotency is None
    first = call_of(b"a", headers={"idempotency-key": "k"}).idempotency
    other = call_of(b"b", headers={"idempotency-key": "k"}).idempotency
    assert first is not None
    assert other is not None
    assert first[0] == other[0] == "k"
    assert first[1] != other[1]
    for key in ("", "x" * 256, "é", "a\tb"):
        with pytest.raises(ValidationError, match="Idempotency-Key"):
            _ = call_of(headers={"idempotency-key": key}).idempotency


def test_who_writes() -> None:
    """The author of a call is the agent of its token, or the owner."""
    services: Any = None
    assert call_of().who == "owner"
    assert Call("GET", "/", "s", "mole", {}, {}, {}, b"", services).who == "mole"
