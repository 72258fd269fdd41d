"""Properties of importing: chunk borders do not matter, every line can be rebuilt, and joining loses nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from reverie.importers import chunks, detect
from reverie.importers import lines as importer_lines
from reverie.importers.chunks import ChunkPlan, plan_chunk
from reverie.importers.detect import json_object_of, read_line
from reverie.importers.join import main_line
from reverie.models import NO_RESULT, Entry, EntryKind, Message
from support.soak import count
from support.story import Story, call, result, text
from support.talk import bad_line_bytes, thread_entries

SMALL_LIMIT = 400
WORDS = st.text(max_size=20)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)
IDS = st.sampled_from(["a", "b", "c", "d"])
BLOCKS = st.one_of(
    st.builds(text, WORDS),
    st.builds(call, IDS),
    st.builds(result, IDS, WORDS),
    st.builds(lambda words: {"type": "thinking", "thinking": words, "signature": words}, WORDS),
    st.builds(lambda kind, value: {"type": kind, "value": value}, WORDS, JSON),
)
MESSAGE = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "system", "god"]), "content": WORDS | st.lists(BLOCKS, max_size=4)},
    optional={"id": IDS | JSON, "usage": st.dictionaries(WORDS, JSON, max_size=2) | JSON, "more": JSON},
)
LINES = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["user", "assistant", "system", "progress", "attachment", "new"]) | JSON,
        "message": MESSAGE | JSON,
        "role": st.sampled_from(["user", "assistant", "tool", "god"]),
        "content": WORDS | st.lists(BLOCKS, max_size=3),
        "uuid": IDS | JSON,
        "parentUuid": IDS | JSON,
        "timestamp": st.sampled_from(["2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05Z", "yesterday"]) | JSON,
        "ts": st.just("2026-01-02T03:04:05.678Z") | JSON,
        "subtype": st.sampled_from(["compact_boundary", "other"]),
        "isMeta": st.booleans(),
        "isSidechain": st.booleans(),
        "isCompactSummary": st.booleans(),
    },
)
# Broken lines hold no `}` before their end: a whole object with words behind it is nobody's half-written line.
BROKEN = st.sampled_from(
    [b"", b" ", b"hello", b"\0\1", b'{"a":"\\ud800"}', b"\xff\xfe", b"{", b"[" * 500, b"x" * 900, b'{"a']
)


def _concatenated(first: ChunkPlan, rest: ChunkPlan) -> ChunkPlan:
    """Return the plans of two consecutive chunks as the plan of both together."""
    return ChunkPlan(
        first.entries + rest.entries,
        first.consumed + rest.consumed,
        first.lines + rest.lines,
        first.problems + rest.problems,
        dict(Counter(first.counts) + Counter(rest.counts)),
        rest.inside,
    )


def plan_in_chunks(data: bytes, cuts: list[int], *, ends: bool) -> ChunkPlan:
    """Return the plan of a transcript parsed in chunks; with `ends`, every chunk is parsed as the last one."""
    so_far = ChunkPlan((), 0, 0)
    for cut in [*sorted(cuts), len(data)]:
        piece = plan_chunk(
            data[so_far.consumed : cut],
            first_line=1 + so_far.lines,
            final=ends or cut == len(data),
            inside=so_far.inside,
            tokens=False,
        )
        so_far = _concatenated(so_far, piece)
    return so_far


def _half(raw: bytes) -> bool:
    return b"\n" not in raw and b"}" not in raw


RAW_LINES = st.one_of(LINES.map(orjson.dumps), BROKEN, st.binary(max_size=8).filter(_half))


@st.composite
def transcripts(draw: st.DrawFn) -> bytes:
    """Return a strategy of complete and broken lines with LF or CRLF, the last one perhaps without.

    The first is a plain one, so that no file is taken for another encoding.
    """
    lines = draw(st.lists(RAW_LINES, max_size=8))
    data = b"{}\n" + b"".join(line + draw(st.sampled_from([b"\n", b"\r\n"])) for line in lines)
    return data if draw(st.booleans()) else data[:-1]


@pytest.fixture(scope="module", autouse=True)
def _small_limits() -> Iterator[None]:
    """Set line limits that generated lines can reach."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (chunks, detect, importer_lines):
            patch.setattr(module, "LINE_BYTES_MAX", SMALL_LIMIT)
        patch.setattr(importer_lines, "HEAD_BYTES", 10)
        yield


@settings(max_examples=count(120, 5000), deadline=None)
@given(data=transcripts(), cuts=st.lists(st.integers(0, 3000), max_size=4), ends=st.booleans())
@example(data=b'{}\n{"role":"user","content":"x"}\r\n', cuts=[33, 34], ends=True)
def test_any_chunks_equal_a_single_pass(data: bytes, cuts: list[int], *, ends: bool) -> None:
    """Entries, problems, lines and counts are equal, whether the file grew or was read in chunks."""
    single = plan_chunk(data, first_line=1, final=True, tokens=False)
    pieces = plan_in_chunks(data, [min(cut, len(data)) for cut in cuts], ends=ends)
    assert pieces.entries == single.entries
    assert (pieces.problems, pieces.lines, pieces.counts) == (single.problems, single.lines, single.counts)
    assert (pieces.consumed, pieces.inside) == (single.consumed, single.inside)
    assert [entry.line for entry in single.entries] == sorted({entry.line for entry in single.entries})


@settings(max_examples=count(12, 300), deadline=None)
@given(data=transcripts(), ends=st.booleans())
def test_every_single_cut_equals_a_single_pass(data: bytes, *, ends: bool) -> None:
    """A cut at any byte gives the same entries."""
    single = plan_chunk(data, first_line=1, final=True, tokens=False)
    for cut in range(len(data) + 1):
        assert plan_in_chunks(data, [cut], ends=ends) == single


@settings(max_examples=count(150, 10_000), deadline=None)
@given(value=LINES)
def test_a_line_can_be_rebuilt(value: dict[str, Any]) -> None:
    """The JSON of a line can be rebuilt from its entry, and an unreadable line byte for byte, up to the size limit."""
    raw = orjson.dumps(value)
    entry = read_line(raw, 1)[0]
    if entry.kind is EntryKind.BAD:
        assert entry.extra["problem"]
        assert bad_line_bytes(entry) == (raw if len(raw) <= SMALL_LIMIT else raw[:10].decode(errors="ignore").encode())
    else:
        assert json_object_of(entry) == value
        assert orjson.dumps(json_object_of(entry), option=orjson.OPT_SORT_KEYS) == orjson.dumps(
            value, option=orjson.OPT_SORT_KEYS
        )


@settings(max_examples=count(150, 10_000), deadline=None)
@given(raw=st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_any_bytes_are_accepted_as_a_line(raw: bytes) -> None:
    """Bytes that are no JSON object are stored exactly."""
    entry = read_line(raw, 1)[0]
    assert entry.kind is EntryKind.OTHER or bad_line_bytes(entry) == raw


@st.composite
def talks(draw: st.DrawFn) -> Story:
    """Return a strategy of conversations with every disorder that a transcript can have."""
    talk = Story()
    for _ in range(draw(st.integers(0, 12))):
        parents: list[str | None] = ["", "", "", None, *(line["uuid"] for line in talk.lines if "uuid" in line)]
        parent, uuid = draw(st.sampled_from(parents)), draw(st.none() | st.sampled_from(["x", "y"]))
        match draw(st.sampled_from(["user", "results", "assistant", "assistant", "compaction", "progress"])):
            case "user":
                talk.user(draw(WORDS | st.lists(BLOCKS, max_size=2)), parent=parent, uuid=uuid)
            case "results":
                talk.user([result(name) for name in draw(st.lists(IDS, max_size=3))], parent=parent, uuid=uuid)
            case "assistant":
                blocks = draw(st.lists(BLOCKS, max_size=3))
                talk.assistant(*blocks, reply=draw(st.sampled_from(["m", "n", "o", None])), parent=parent, uuid=uuid)
            case "compaction" if talk.lines:
                talk.compact(draw(WORDS))
            case _:
                talk.add("progress", parent=parent)
    return talk


@settings(max_examples=count(150, 10_000), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(talk=talks())
def test_joining_loses_and_invents_nothing(talk: Story) -> None:
    """The messages have the blocks of the main line verbatim, each once, and the parts of a reply in order."""
    speech = once([entry for entry in thread_entries(talk.bytes()) if entry.kind is EntryKind.SPEECH])
    messages = main_line(thread_entries(talk.bytes()), verbatim=True)
    expected = Counter(orjson.dumps([entry.role, block]) for entry in speech for block in blocks(entry))
    read = Counter(orjson.dumps([message.role, block]) for message in messages for block in blocks(message))
    assert read == expected
    assert sum(message.tokens for message in messages) == sum(entry.tokens for entry in speech)
    assert all(message.first_seq <= message.last_seq for message in messages)


@settings(max_examples=count(150, 10_000), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(talk=talks())
def test_joining_pairs_every_call_with_its_result(talk: Story) -> None:
    """Each call of a message has its result in the next one, results first, and no other results exist."""
    entries = thread_entries(talk.bytes())
    messages = main_line(entries)
    check_pairs(messages)
    invented = [block for message in messages for block in blocks(message) if block.get("content") == NO_RESULT]
    assert len(messages) - len(main_line(entries, verbatim=True)) <= len(invented)


def check_pairs(messages: list[Message]) -> None:
    """Assert the API's rule about calls and results."""
    calls = [
        block["id"]
        for message in messages
        for block in blocks(message)
        if block["type"] == "tool_use" and message.role == "assistant"
    ]
    assert len(calls) == len(set(calls))
    for before, message in pairwise([Message("user", "", 0, 0), *messages, Message("user", "", 0, 0)]):
        ids = [block["id"] for block in blocks(before) if before.role == "assistant" and block["type"] == "tool_use"]
        kinds = [block["type"] == "tool_result" for block in blocks(message)]
        if message.role == "user":
            answered = [block["tool_use_id"] for block in blocks(message) if block["type"] == "tool_result"]
            assert sorted(answered) == sorted(ids)
            assert kinds == sorted(kinds, reverse=True)
        else:
            assert not ids


def blocks(holder: Entry | Message) -> list[dict[str, Any]]:
    if isinstance(holder.content, str):
        return [text(holder.content)] if holder.content else []
    return list(holder.content)


def once(speech: list[Entry]) -> list[Entry]:
    """Return the entries without repetitions of an id with the same content."""
    unique = []
    first: dict[str | None, Entry] = {}
    for entry in speech:
        earlier = first.setdefault(entry.id, entry)
        if earlier is entry or (earlier.role, earlier.content) != (entry.role, entry.content):
            unique.append(entry)
    return unique
