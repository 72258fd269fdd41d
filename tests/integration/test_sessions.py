"""Whole sessions through a daemon: each message stored once, in order, verbatim; a second import adds none."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest

from reverie.client import Client
from reverie.redact import Redactor
from reveried.cli.send_sessions import FileReport, import_file
from support.daemon import Daemon, running_daemon
from support.pages import newest_operation
from support.shared import all_sessions
from support.soak import count

SMALLEST = min(all_sessions(10), key=lambda path: path.stat().st_size)


def main_line(path: Path) -> list[tuple[str, Any]]:
    """Return the blocks of the file's main line as the store may have them: redacted, each line once."""
    redactor = Redactor()
    ids: set[str] = set()
    spoken: list[tuple[str, Any]] = []
    with gzip.open(path, "rt") as lines:
        for line in lines:
            entry = json.loads(line)
            if entry.get("type") not in {"user", "assistant"} or entry.get("isSidechain"):
                continue
            if entry.get("isMeta") or entry.get("isCompactSummary") or entry["uuid"] in ids:
                continue
            ids.add(entry["uuid"])
            clean, _ = redactor.value(entry["message"]["content"])
            role = entry["message"]["role"]
            spoken += [(role, clean)] if isinstance(clean, str) else [(role, block) for block in clean]
    return spoken


def queued_words(path: Path) -> list[str]:
    """Return the texts in the client's queue, which are lines of their own beside the main line."""
    with gzip.open(path, "rt") as lines:
        entries = [json.loads(line) for line in lines]
    return [str(entry.get("content")) for entry in entries if entry.get("type") == "queue-operation"]


def stored_blocks(client: Client, thread: str) -> list[tuple[str, Any]]:
    """Return the blocks that the daemon has of a thread."""
    blocks: list[tuple[str, Any]] = []
    after = None
    while True:
        page = client.messages(thread, limit=1000, after=after)
        for message in page.items:
            if isinstance(message.content, str):
                blocks.append((message.role, message.content))
            else:
                blocks += [(message.role, block) for block in message.content]
        if page.next is None:
            return blocks
        after = page.next


def as_block(content: Any) -> Any:
    """Return message content that is a string as one text block, and any other content as it is."""
    return {"type": "text", "text": content} if isinstance(content, str) else content


def of_role(spoken: list[tuple[str, Any]], role: str) -> list[Any]:
    """Return one role's blocks in order."""
    return [as_block(content) for who, content in spoken if who == role]


def imported(client: Client, path: Path) -> FileReport:
    """Import one file, which must succeed without an error."""
    report = import_file(client, path, program="claude-code")
    assert report.error is None
    assert report.thread is not None
    return report


@pytest.mark.parametrize("path", all_sessions(4, count=count(4, 39)), ids=lambda path: path.name[:13])
def test_every_message_is_there(client: Client, path: Path) -> None:
    """Every block of user and assistant is stored, in order and equal (but local commands and what was queued)."""
    report = imported(client, path)

    expected, actual = main_line(path), stored_blocks(client, str(report.thread))
    commands = {"<command-name>", "<local-command-stdout>", "<command-message>"}
    queued = queued_words(path)

    def typed(spoken: list[tuple[str, Any]]) -> list[Any]:
        blocks = [block for block in of_role(spoken, "user") if block.get("text") not in queued]
        return [block for block in blocks if not any(mark in str(block) for mark in commands)]

    assert of_role(actual, "assistant") == of_role(expected, "assistant")
    assert typed(actual) == typed(expected)


def test_importing_again_changes_nothing(client: Client) -> None:
    """The second import adds no entry and no operation."""
    path = SMALLEST
    first = imported(client, path)
    before = newest_operation(client).seq
    messages = client.thread(str(first.thread)).message_count

    again = imported(client, path)

    assert again.added == 0
    assert newest_operation(client).seq == before
    assert client.thread(str(first.thread)).message_count == messages


def test_a_file_imported_in_two_parts(daemon: Daemon, tmp_path: Path) -> None:
    """A transcript cut at any byte imports without error, and with the rest gives the same messages as at once."""
    data = gzip.decompress(SMALLEST.read_bytes())
    draw = random.Random(7)
    growing = tmp_path / "growing.jsonl"
    with running_daemon() as other, Client(other.socket) as cut, Client(daemon.socket) as once:
        for end in [*sorted(draw.sample(range(1, len(data)), count(6, 60))), len(data)]:
            growing.write_bytes(data[:end])
            imported(cut, growing)
        report = imported(cut, growing)
        complete = tmp_path / "complete.jsonl"
        complete.write_bytes(data)
        reference = imported(once, complete)

        assert stored_blocks(cut, str(report.thread)) == stored_blocks(once, str(reference.thread))
        assert cut.thread(str(report.thread)).message_count == once.thread(str(reference.thread)).message_count
