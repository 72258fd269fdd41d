"""Tests of parsing requests: unknown and wrong fields are refused with the field's name and a hint."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reverie import wire
from reverie.errors import ValidationError


def check(kind: type[Any], value: Any, field: str, words: str, hint: str = "") -> None:
    """Assert that `value` is refused, naming `field`, with `words` in the message."""
    with pytest.raises(ValidationError) as caught:
        wire.parse(kind, value)
    assert caught.value.details["field"] == field
    assert words in str(caught.value)
    assert caught.value.hint
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("kind", "value", "field", "words", "hint"),
    [
        (wire.AppendMessages, {}, "messages", "`messages` is missing", "give `messages`"),
        (wire.AppendMessages, {"messages": []}, "messages", "must be a list of length >= 1", ""),
        (wire.AppendMessages, {"messages": [{"role": "god", "content": "x"}]}, "messages[0].role", "'god'", ""),
        (
            wire.AppendMessages,
            {"messages": [{"role": "user", "content": 7}]},
            "messages[0].content",
            "must be a string or a list, not an integer",
            "",
        ),
        (
            wire.AppendMessages,
            {"messages": [{"role": "user", "content": [{"text": "x"}]}]},
            "messages[0]",
            "content[0] has no `type`",
            "",
        ),
        (
            wire.AppendMessages,
            {"messages": [{"role": "user", "content": [{"type": "text"}]}]},
            "messages[0]",
            "content[0] is of type text and has no `text`",
            "",
        ),
        (
            wire.AppendMessages,
            {"messages": [{"role": "user", "contents": "x"}]},
            "messages[0].contents",
            "not a known field",
            "did you mean `content`?",
        ),
        (wire.CreateThread, {"titel": "x"}, "titel", "not a known field", "did you mean `title`?"),
        (wire.CreateThread, {"zzzzzz": 1}, "zzzzzz", "not a known field", "openapi.json"),
        (wire.CreateThread, {"id": "a b"}, "id", "may hold only letters, digits", ""),
        (wire.CreateThread, {"id": "a\n"}, "id", "may hold only letters, digits", ""),
        (wire.CreateThread, {"id": "."}, "id", "cannot be . or ..", ""),
        (wire.CreateThread, {"id": ".."}, "id", "cannot be . or ..", ""),
        (wire.StartDream, {"tokenBudget": 1 << 64}, "tokenBudget", "out of range", "below 2^63"),
        (wire.StartDream, b'{"tokenBudget": 9223372036854775808}', "tokenBudget", "out of range", ""),
        (wire.CreateThread, {"contextWindow": 1}, "contextWindow", "must be an integer >= 1000", ""),
        (wire.StartDream, {"tokenBudget": 0}, "tokenBudget", "must be an integer >= 1", ""),
        (wire.StartDream, {"tokenBudget": "7"}, "tokenBudget", "must be an integer or null, not a string", ""),
        (wire.StartDream, [], "", "the body must be an object, not a list", ""),
        (wire.StartDream, b'{"tokenBudget":', "", "not JSON that can be read", "UTF-8"),
        (wire.StartDream, b"\xff", "", "not JSON that can be read", ""),
        (wire.RecallRequest, {"query": ""}, "query", "length >= 1", ""),
        (wire.RecallRequest, {"query": "x", "types": ["virtue"]}, "types[0]", "'virtue'", ""),
        (wire.CreateNote, {"content": "x", "category": "gossip"}, "category", "'gossip'", ""),
        (wire.CreateBackup, {"path": "here"}, "path", "must be an absolute path", ""),
        (wire.StartImport, {"client": "notepad", "session": "s"}, "client", "'notepad'", ""),
    ],
)
def test_refusals(kind: type[Any], value: Any, field: str, words: str, hint: str) -> None:
    """Each refusal names the path of the field, the problem, and what to do."""
    check(kind, value, field, words, hint)


@pytest.mark.parametrize("name", ["a", "...", ".a", "a.", "..a", "a:b@c+d-e_f", "x" * 200])
def test_ids_with_dots(name: str) -> None:
    """An id may contain dots, but not be `.` or `..`."""
    assert wire.parse(wire.CreateThread, {"id": name}).id == name


def test_a_long_hostile_field_name_is_cut_and_cleaned() -> None:
    """A caller's text is shortened in messages, and its control characters are replaced."""
    with pytest.raises(ValidationError) as caught:
        wire.parse(wire.CreateThread, {"\x1b[31m" + "x" * 5000: 1})
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 200


def test_bytes_and_decoded_json_parse_alike() -> None:
    """Parsing bytes and parsing decoded JSON give equal values."""
    value = {"cron": "0 3 * * *", "timezone": "Europe/Vienna"}
    assert wire.parse(wire.CreateSchedule, value) == wire.parse(
        wire.CreateSchedule, b'{"cron":"0 3 * * *","timezone":"Europe/Vienna"}'
    )


def test_query_strings_become_numbers_and_flags() -> None:
    """Query parameters are converted to numbers and booleans."""
    assert wire.parse_query(wire.ChunkQuery, {"offset": "5", "firstLine": "2", "final": "1"}) == wire.ChunkQuery(
        offset=5, first_line=2, final=True
    )


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"offset": "-1", "firstLine": "1"}, "offset"),
        ({"offset": "x", "firstLine": "1"}, "offset"),
        ({"offset": "1"}, "firstLine"),
        ({"offset": "1", "firstLine": str(1 << 64)}, "firstLine"),
        ({"offset": "9e22", "firstLine": "1"}, "offset"),
        ({"offset": "1", "firstLine": "1", "final": "maybe"}, "final"),
        ({"offset": "1", "firstLine": "1", "ofset": "1"}, "ofset"),
    ],
)
def test_query_refusals(query: dict[str, str], field: str) -> None:
    """A wrong query parameter is refused with its name."""
    with pytest.raises(ValidationError) as caught:
        wire.parse_query(wire.ChunkQuery, query)
    assert caught.value.details["field"] == field


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@settings(deadline=None)
@given(_JSON)
def test_any_json_is_parsed_or_refused_with_a_field(value: Any) -> None:
    """Any JSON gives a typed value or a ValidationError with a field, and never another exception."""
    for kind in (wire.AppendMessages, wire.CreateThread, wire.RecallRequest, wire.StartImport):
        try:
            parsed = wire.parse(kind, value)
        except ValidationError as error:
            outcome = isinstance(error.details["field"], str)
        else:
            outcome = isinstance(parsed, kind)
        assert outcome


def test_a_rule_of_a_query_as_a_whole_is_said_in_its_own_words() -> None:
    """A broken rule about two query parameters is reported with the rule's own sentence."""
    with pytest.raises(ValidationError) as refused:
        wire.parse_query(wire.MessagesQuery, {"last": "1", "after": "1"})
    assert refused.value.message == "give `after` or `last`, not both"


def test_a_rule_that_lists_what_is_allowed_is_said_whole() -> None:
    """The error for an unknown tier lists all allowed tiers, and cuts an overlong name."""
    with pytest.raises(ValidationError, match="excerpts, tail, and not 'nowhere") as refused:
        wire.parse_query(wire.ContextQuery, {"format": "text", "tiers": "notes," + "nowhere" * 25})
    assert len(refused.value.message) < 320
