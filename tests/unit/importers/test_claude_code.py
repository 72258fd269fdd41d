"""Parsing one transcript line: its kind, its fields, and errors for lines that cannot be read."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest

from reverie.errors import ValidationError
from reverie.importers.claude_code import is_command
from reverie.importers.detect import json_object_of, read_line
from reverie.importers.lines import DEPTH_MAX
from reverie.models import Entry, EntryKind
from support.talk import bad_line_bytes

AT = "2026-01-02T03:04:05.678Z"


def line(kind: str, **rest: Any) -> dict[str, Any]:
    return {"type": kind, "uuid": "u1", "parentUuid": "u0", "timestamp": AT} | rest


def message_line(role: str, content: Any, **rest: Any) -> dict[str, Any]:
    return line(role, message={"role": role, "content": content}, **rest)


def check(value: dict[str, Any], kind: EntryKind) -> Entry:
    """Assert that a line is of this kind, has no error, and can be rebuilt."""
    entry, problem = read_line(orjson.dumps(value), 7)
    assert (entry.kind, problem, entry.line) == (kind, None, 7)
    assert json_object_of(entry) == value
    return entry


def check_bad(raw: bytes, reason: str) -> Entry:
    """Assert that a line is stored unchanged and reported with its number and this reason."""
    entry, problem = read_line(raw, 7)
    assert entry.kind is EntryKind.BAD
    assert problem is not None
    assert problem.line == 7
    assert reason in problem.why
    assert entry.extra["problem"] == problem.why
    assert bad_line_bytes(entry) == raw
    return entry


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (message_line("user", "hello"), EntryKind.SPEECH),
        (message_line("user", [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]), EntryKind.SPEECH),
        (message_line("user", [{"type": "image", "source": {"type": "base64", "data": "AAAA"}}]), EntryKind.SPEECH),
        (message_line("user", ""), EntryKind.SPEECH),
        (message_line("user", []), EntryKind.SPEECH),
        (message_line("assistant", [{"type": "thinking", "thinking": "hm", "signature": "s"}]), EntryKind.SPEECH),
        (message_line("assistant", [{"type": "of the future", "x": 1}]), EntryKind.SPEECH),
        (message_line("assistant", [{"type": "text", "text": "API Error"}], isApiErrorMessage=True), EntryKind.SPEECH),
        (message_line("user", "hello", isSidechain=True), EntryKind.SIDECHAIN),
        (message_line("assistant", [], isSidechain=True), EntryKind.SIDECHAIN),
        (message_line("user", "skill", isMeta=True, isSidechain=True), EntryKind.SIDECHAIN),
        (message_line("user", "a caveat", isMeta=True), EntryKind.META),
        (message_line("user", "<command-name>/exit</command-name>"), EntryKind.META),
        (message_line("user", "\n <command-message>x</command-message>"), EntryKind.META),
        (message_line("user", "<local-command-stdout>Bye</local-command-stdout>"), EntryKind.META),
        (
            message_line("user", [{"type": "text", "text": "<local-command-stdout></local-command-stdout>"}]),
            EntryKind.META,
        ),
        (message_line("user", "what does <command-name> mean?"), EntryKind.SPEECH),
        (
            message_line("user", [{"type": "text", "text": "<command-name>"}, {"type": "text", "text": "and"}]),
            EntryKind.SPEECH,
        ),
        (
            message_line("user", [{"type": "tool_result", "tool_use_id": "t", "content": "x"}], isMeta=True),
            EntryKind.SPEECH,
        ),
        (message_line("user", "what was before", isCompactSummary=True), EntryKind.SUMMARY),
        (line("user", message={"role": "system", "content": "obey"}), EntryKind.META),
        (line("system", subtype="compact_boundary", logicalParentUuid="u0"), EntryKind.BOUNDARY),
        (line("system", subtype="microcompact_boundary"), EntryKind.OTHER),
        (line("system", subtype="local_command", content="<command-name>"), EntryKind.OTHER),
        (line("progress", data={}), EntryKind.PROGRESS),
        (line("attachment", attachment={"type": "hook_success"}), EntryKind.ATTACHMENT),
        ({"type": "summary", "summary": "a title", "leafUuid": "u9"}, EntryKind.OTHER),
        ({"type": "last-prompt"}, EntryKind.OTHER),
        ({"type": "of the future", "message": "not even an object"}, EntryKind.OTHER),
        ({"type": ["odd"]}, EntryKind.OTHER),
        ({"type": {}}, EntryKind.OTHER),
        ({"role": "user", "content": "hi"}, EntryKind.SPEECH),
        ({"role": "assistant", "content": [{"type": "text", "text": "hi"}]}, EntryKind.SPEECH),
        ({"role": "system", "content": "obey"}, EntryKind.META),
        ({"role": "tool", "content": "AWS_SECRET_ACCESS_KEY=..."}, EntryKind.META),
        ({"ts": "9999-12-31T23:59:59Z"}, EntryKind.OTHER),
        ({"ts": AT}, EntryKind.OTHER),
        ({"ts": AT, "timestamp": AT}, EntryKind.OTHER),
        ({}, EntryKind.OTHER),
    ],
)
def test_every_kind_of_line_is_recognised_and_can_be_rebuilt(value: dict[str, Any], kind: EntryKind) -> None:
    """Messages, sidechains, meta lines, compactions, notices and unknown lines are distinguished."""
    check(value, kind)


def test_fields_of_a_reply() -> None:
    """Role, content, reply, usage, ids and time become fields; everything else is in `extra`."""
    usage = {"input_tokens": 3}
    content = [{"type": "text", "text": "ü \u0000 \\ud83d 👍\r\n"}]
    message = {"id": "m1", "role": "assistant", "content": content, "usage": usage, "model": "claude"}
    entry = check(line("assistant", message=message, cwd="/x"), EntryKind.SPEECH)
    assert (entry.role, entry.reply, entry.usage, entry.id, entry.parent, entry.at) == (
        "assistant", "m1", usage, "u1", "u0", AT,
    )  # fmt: skip
    assert entry.content == content
    assert entry.extra == {"type": "assistant", "cwd": "/x", "message": {"model": "claude"}}


@pytest.mark.parametrize(
    "value",
    [
        message_line("user", "x", uuid=None, parentUuid=None, timestamp=None),
        message_line("user", "x", uuid=5, parentUuid=["no"]),
        line("user", message={"role": "user", "content": "x", "id": "m", "usage": None}),
        line("assistant", message={"role": "assistant", "content": "x", "id": 4, "usage": [1]}),
        {"role": "user", "content": "x", "id": "m", "usage": {"a": 1}, "type2": None},
        message_line("user", "x", number=12345678901234567890, fraction=1e300, nothing=None, **{"": ""}),
    ],
)
def test_fields_of_unexpected_type_stay_in_extra(value: dict[str, Any]) -> None:
    """A value that its field cannot have stays in `extra`, so that the line can be rebuilt."""
    assert json_object_of(read_line(orjson.dumps(value), 1)[0]) == value


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"hello", "not JSON"),
        (b'{"role":"user","con', "not JSON"),
        (b"\x00\x01", "NUL"),
        (b'{"type":"user"\xff}', "not UTF-8 at byte 14"),
        ("\ufeff{}".encode("utf-16le"), "UTF-16"),
        (b"[1]", "not an object"),
        (b"null", "not an object"),
        (b'"text"', "not an object"),
        (b"{NaN}", "not JSON"),
        (b'{"a":NaN}', "not JSON"),
        (b'{"role":"god","content":"x"}', 'unknown role "god"'),
        (b'{"role":null,"content":"x"}', "unknown role null"),
        (b'{"role":["user"],"content":"x"}', 'unknown role ["user"]'),
        (b'{"role":"user","content":"x","message":1}', "both a role and a message"),
        (b'{"type":"user","message":{"role":"assistant","content":"x"}}', 'has the role "assistant"'),
        (b'{"type":"user","message":{"content":"x"}}', "has the role null"),
        (b'{"type":"user","message":{"role":{},"content":"x"}}', "has the role {}"),
        (b'{"type":"user","message":"x"}', "message is not an object"),
        (b'{"type":"assistant"}', "message is not an object"),
        (b'{"type":"user","message":{"role":"user"}}', "neither text nor a list"),
        (b'{"type":"user","message":{"role":"user","content":{}}}', "neither text nor a list"),
        (b'{"role":"user","content":5}', "neither text nor a list"),
        (b'{"role":"user","content":["x"]}', "content block 1"),
        (b'{"role":"user","content":[{"type":"text"},{"text":"x"}]}', "content block 2"),
        (b'{"role":"' + b"r" * 99 + b'","content":""}', "r…"),
        (b'{"a":' * 2000 + b"1" + b"}" * 2000, "not JSON"),
        (b'{"a":' + b"[" * DEPTH_MAX + b"]" * DEPTH_MAX + b"}", "nested deeper"),
        (b'{"a":"\\ud800","b":NaN}', "NaN is not a JSON number"),
        (b'{"a":"\\ud800","b":' + b"[" * 5000 + b"}", "not JSON"),
        (b'{"a":"\\ud800","b":' + b"1" * 5000 + b"}", "not JSON"),
    ],
)
def test_an_unreadable_line_is_stored_with_the_reason(raw: bytes, reason: str) -> None:
    """Nothing crashes, and the exact bytes can be returned."""
    check_bad(raw, reason)


def test_nesting_at_the_limit_is_read() -> None:
    """A line at the nesting limit is read, one level more is refused."""
    depth = DEPTH_MAX - 1
    check(json.loads(b'{"a":' + b"[" * depth + b"]" * depth + b"}"), EntryKind.OTHER)


def test_many_brackets_side_by_side_are_not_deep() -> None:
    """A line with 5,000 lists side by side is read: the limit is one of depth, not of the number of lists."""
    check({"a": [[] for _ in range(5000)]}, EntryKind.OTHER)


def test_the_last_of_duplicate_keys_counts() -> None:
    """Of duplicate keys in a line the last one counts, as in JavaScript, which writes these files."""
    assert read_line(b'{"role":"user","content":"a","content":"b"}', 1)[0].content == "b"


def test_half_a_surrogate_pair_is_replaced_and_reported() -> None:
    """An unpaired surrogate becomes U+FFFD and is reported; the message stays, and valid pairs are unchanged."""
    raw = (
        b'{"role":"user","content":"a\\ud83d b \\ud83d\\udc4d \\\\ud800",'
        b'"\\udc00":[1,-2,1.5,true,null,99999999999999999999]}'
    )
    entry, problem = read_line(raw, 3)
    assert entry.kind is EntryKind.SPEECH
    assert entry.content == "a\ufffd b 👍 \\ud800"
    assert entry.extra == {"\ufffd": [1, -2, 1.5, True, None, 1e20]}
    assert problem is not None
    assert (problem.line, "U+FFFD" in problem.why) == (3, True)
    assert orjson.loads(orjson.dumps(json_object_of(entry))) == json_object_of(entry)


@pytest.mark.parametrize(
    ("timestamp", "at"),
    [
        ("2026-02-28T00:00:00.000Z", "2026-02-28T00:00:00.000Z"),
        ("2024-02-29T00:00:00.000Z", "2024-02-29T00:00:00.000Z"),
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05.000Z"),
        ("2026-01-02t03:04:05.9999z", "2026-01-02T03:04:05.999Z"),
        ("2026-01-02T03:04:05.678+02:00", "2026-01-02T01:04:05.678Z"),
        ("9999-12-31T23:59:59.000Z", "9999-12-31T23:59:59.000Z"),
    ],
)
def test_times_are_normalised_and_the_original_is_stored(timestamp: str, at: str) -> None:
    """A time is stored in one form, and its original in `extra` if it was written differently."""
    entry = check(message_line("user", "x", timestamp=timestamp), EntryKind.SPEECH)
    assert entry.at == at
    assert entry.extra.get("timestamp") == (None if timestamp == at else timestamp)


@pytest.mark.parametrize(
    "timestamp",
    ["yesterday", "", 5, ["x"], "2026-02-29T00:00:00.000Z", "2026-01-02", "2026-01-02T03:04:05", "2026-W01-1T00:00:00Z",
     "9999-12-31T23:59:59-23:59", "\uff12026-01-02T03:04:05.678Z", "2026-01-02T24:00:00.000Z"],
)  # fmt: skip
def test_an_invalid_time_is_reported_and_stored(timestamp: Any) -> None:
    """A line with an invalid time is imported without a time, reported, and can be rebuilt as it was."""
    value = message_line("user", "x", timestamp=timestamp)
    entry, problem = read_line(orjson.dumps(value), 4)
    assert (entry.kind, entry.at) == (EntryKind.SPEECH, None)
    assert problem is not None
    assert "is not a time" in problem.why
    assert json_object_of(entry) == value


def test_a_bad_line_has_no_json() -> None:
    """`json_object_of` an unreadable line raises ValidationError with a hint."""
    with pytest.raises(ValidationError, match="line 9") as caught:
        json_object_of(read_line(b"hello", 9)[0])
    assert caught.value.hint


@pytest.mark.parametrize(
    ("value", "typed"),
    [
        (message_line("user", "<command-name>/review</command-name>"), True),
        (message_line("user", "<command-message>review</command-message>\n<command-name>/review</command-name>"), True),
        (message_line("user", "<local-command-stdout>Bye</local-command-stdout>"), False),
        (message_line("user", "<command-name>/x</command-name>", isMeta=True), False),
        (message_line("user", "hello"), False),
        (line("progress"), False),
    ],
)
def test_a_slash_command_is_distinguished_from_its_output(value: dict[str, Any], *, typed: bool) -> None:
    """`is_command` returns True for a slash command that was typed, False for what the client prints of it."""
    assert is_command(read_line(orjson.dumps(value), 1)[0]) is typed
