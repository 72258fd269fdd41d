"""Tests of `Call`: JSON bodies, query parameters, idempotency keys and the author of a call."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from reverie import wire
from reverie.errors import ValidationError
from reveried.http.types import Call


class Point(msgspec.Struct, forbid_unknown_fields=True):
    """A request body."""

    x: int
    y: int = 0


def call_of(body: bytes = b"", query: wire.Request | None = None, headers: dict[str, str] | None = None) -> Call:
    services: Any = None
    return Call("POST", "/v1/x", "default", None, {}, query or wire.NoQuery(), headers or {}, body, services)


def test_bodies() -> None:
    """A missing body is `{}`; others are checked by their struct, and wrong fields or a repeated key are refused."""
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
    """Integers of the query have bounds, booleans are true, false, 1 or 0, and unknown parameters are named."""
    assert wire.parse_query(wire.ListQuery, {}).limit == 100
    assert wire.parse_query(wire.ListQuery, {"limit": "1000", "after": "7"}) == wire.ListQuery(1000, "7")
    for text in ("", "-1", "1.0", "x", "\u0661", "1001", "null", "1e2", "9" * 40):
        with pytest.raises(ValidationError, match="limit"):
            wire.parse_query(wire.ListQuery, {"limit": text})
    with pytest.raises(ValidationError, match="an integer, not a string"):
        wire.parse_query(wire.SequenceQuery, {"after": "null"})
    for text, wanted in (("true", True), ("1", True), ("false", False), ("0", False)):
        assert wire.parse_query(wire.WaitQuery, {"wait": text}).wait is wanted
    with pytest.raises(ValidationError, match="true or false"):
        wire.parse_query(wire.WaitQuery, {"wait": "yes"})
    with pytest.raises(ValidationError, match="`limt` is not a known query parameter") as caught:
        wire.parse_query(wire.ListQuery, {"limt": "1"})
    assert caught.value.details["known"] == ["limit", "after"]
    assert "did you mean `limit`?" in str(caught.value.hint)
    with pytest.raises(ValidationError, match="wait") as caught:
        wire.parse_query(wire.NoQuery, {"wait": "true"})
    assert "no query parameters" in str(caught.value.hint)


def test_a_handler_gets_the_query_of_its_route() -> None:
    """`query_as` returns the query struct of the route; another struct is a TypeError."""
    call = call_of(query=wire.SequenceQuery(5))
    assert call.query_as(wire.SequenceQuery).limit == 5
    with pytest.raises(TypeError, match="WaitQuery"):
        call.query_as(wire.WaitQuery)


def test_idempotency_keys() -> None:
    """An idempotency key comes with a hash of its request; malformed keys are refused."""
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
