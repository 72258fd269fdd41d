"""Whole sessions, generated and recorded: every message read once, in order and equal, in a form the API accepts."""

from __future__ import annotations

import gzip
from itertools import pairwise
from typing import Any

import orjson
import pytest

from reverie.importers.claude_code import is_queue_operation
from reverie.importers.find import find_transcripts, read_entries, read_identity
from reverie.importers.join import main_line as join
from reverie.importers.join import past_summaries
from reverie.models import NO_RESULT, Entry, EntryKind, Message
from support.shared import all_sessions, real_sessions
from support.story import COUNT, generate, generated_files

SESSIONS = all_sessions(COUNT)
RECORDED = "data/transcripts/claude-code"


@pytest.fixture(scope="module")
def lines() -> dict[str, list[dict[str, Any]]]:
    """Return every line of every session, parsed without the code under test."""
    return {path.name: [orjson.loads(line) for line in gzip.open(path)] for path in SESSIONS}


@pytest.fixture(scope="module")
def read() -> dict[str, list[Entry]]:
    """Return every session as entries."""
    return {path.name: list(read_entries(path, tokens=False)) for path in SESSIONS}


def main_line(session: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the conversation's lines: no meta lines, commands, summaries or subagents."""
    return [line for line in session if line["type"] in {"user", "assistant"} and not set_apart(line)]


def set_apart(line: dict[str, Any]) -> bool:
    words = line["message"]["content"]
    if isinstance(words, list):
        words = words[0].get("text", "")
    command = line["type"] == "user" and words.lstrip().startswith(("<command-", "<local-command-"))
    return command or any(line.get(mark) for mark in ("isMeta", "isCompactSummary", "isSidechain"))


def blocks(content: Any) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def test_the_main_line_has_every_message_once(
    lines: dict[str, list[dict[str, Any]]], read: dict[str, list[Entry]]
) -> None:
    """Every user and assistant message once, in order, equal as JSON values."""
    for name, session in lines.items():
        expected = [(line["message"]["role"], line["message"]["content"]) for line in main_line(session)]
        speech = [entry for entry in read[name] if entry.kind is EntryKind.SPEECH and not is_queue_operation(entry)]
        assert [(entry.role, entry.content) for entry in speech] == expected


def test_a_joined_conversation_is_accepted_by_the_api(read: dict[str, list[Entry]]) -> None:
    """Every call has a result in the next message, also if its result was never recorded."""
    for session in read.values():
        messages = join(session)
        for before, after in pairwise([*messages, Message("user", [], 0, 0)]):
            call_ids = calls(before)
            answered = [block["tool_use_id"] for block in blocks(after.content) if block["type"] == "tool_result"]
            assert sorted(call_ids) == sorted(answered)
            assert not call_ids or (before.role, after.role) == ("assistant", "user")


def test_lost_results_rewound_prompts_and_compactions_are_those_of_the_session(read: dict[str, list[Entry]]) -> None:
    """The generator's lost results, rewound prompts and compactions are found in each session."""
    for number in range(COUNT):
        session = generate(number)
        messages = join(read[f"{session.name}.jsonl.gz"])
        assert lost_results(messages) == session.unanswered
        assert [message.content for message in messages if message.rewound][::2] == list(session.rewound)
        assert len(past_summaries(read[f"{session.name}.jsonl.gz"])) == session.compactions


@pytest.mark.measures(RECORDED)
def test_figures_of_the_recorded_sessions(read: dict[str, list[Entry]]) -> None:
    """28 compactions, six lost results and no rewinds in 39 sessions.

    Every fork in them is a parallel call, a tool's progress notice, or a client that was left and started again.
    """
    recorded = [read[path.name] for path in real_sessions()]
    messages = [join(session) for session in recorded]
    assert len(recorded) == 39
    assert sum(len(past_summaries(session)) for session in recorded) == 28
    assert sum(map(lost_results, messages)) == 6
    assert not any(message.rewound for session in messages for message in session)


def lost_results(messages: list[Message]) -> int:
    return sum(block.get("content") == NO_RESULT for message in messages for block in blocks(message.content))


def test_seqs_of_closed_turns_do_not_overlap(read: dict[str, list[Entry]]) -> None:
    """Only a reply and its own results may interleave, so a thread can be split after any result."""
    for session in read.values():
        for before, after in pairwise(join(session, verbatim=True)):
            assert before.first_seq < after.first_seq
            assert before.last_seq < after.first_seq or calls(before)


def test_compactions_are_found_with_their_summaries(
    lines: dict[str, list[dict[str, Any]]], read: dict[str, list[Entry]]
) -> None:
    """Every compaction of a session is found, with its summary text, position and the client's token count."""
    for name, session in lines.items():
        past = past_summaries(read[name])
        texts = [line["message"]["content"] for line in session if line.get("isCompactSummary")]
        boundaries = [
            (number, line["compactMetadata"]["preTokens"])
            for number, line in enumerate(session, 1)
            if line.get("subtype") == "compact_boundary"
        ]
        assert [summary.text for summary in past] == texts
        assert [(summary.seq, summary.tokens_before) for summary in past] == boundaries


def test_sessions_are_found_and_named() -> None:
    """Transcripts are found in their folder, and each one's session id is part of its name and in its lines."""
    assert find_transcripts([generated_files()[0].parent]) == list(generated_files())
    if real_sessions():
        assert find_transcripts([real_sessions()[0].parent]) == real_sessions()
    for path in SESSIONS:
        session_ids = {entry.extra.get("sessionId") for entry in read_entries(path, tokens=False)}
        assert read_identity(path).session in path.name
        assert read_identity(path).session in session_ids


def calls(message: Message) -> list[str]:
    return [block["id"] for block in blocks(message.content) if block["type"] == "tool_use"]
