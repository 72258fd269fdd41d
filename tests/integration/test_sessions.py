"""Whole sessions through a running daemon: each message stored once, in order, verbatim; a second import adds none."""

from __future__ import annotations

import gzip
import json
import random
from typing import TYPE_CHECKING, Any

import pytest

from reverie.client import Client
from reverie.redact import Redactor
from reveried.cli.imports import FileReport, import_file
from support.daemon import Daemon, running_daemon
from support.shared import all_sessions
from support.soak import count

if TYPE_CHECKING:
    from pathlib import Path

SMALLEST = min(all_sessions(10), key=lambda path: path.stat().st_size)


def said(path: Path) -> list[tuple[str, Any]]:
    """What the file's main line says, block by block, as the store may hold it: redacted, each line once."""
    redactor = Redactor()
    seen: set[str] = set()
    spoken: list[tuple[str, Any]] = []
    with gzip.open(path, "rt") as lines:
        for line in lines:
            entry = json.loads(line)
            if entry.get("type") not in {"user", "assistant"} or entry.get("isSidechain"):
                continue
            if entry.get("isMeta") or entry.get("isCompactSummary") or entry["uuid"] in seen:
                continue
            seen.add(entry["uuid"])
            clean, _ = redactor.value(entry["message"]["content"])
            role = entry["message"]["role"]
            spoken += [(role, clean)] if isinstance(clean, str) else [(role, block) for block in clean]
    return spoken


def kept(client: Client, thread: str) -> list[tuple[str, Any]]:
    """What the daemon gives back of a thread, block by block."""
    found: list[tuple[str, Any]] = []
    after = None
    while True:
        page = client.messages(thread, limit=1000, after=after)
        for message in page.items:
            if isinstance(message.content, str):
                found.append((message.role, message.content))
            else:
                found += [(message.role, block) for block in message.content]
        if page.next is None:
            return found
        after = page.next


def as_block(content: Any) -> Any:
    """A message given as one string and the same as one text block say the same."""
    return {"type": "text", "text": content} if isinstance(content, str) else content


def of_role(spoken: list[tuple[str, Any]], role: str) -> list[Any]:
    """One speaker's blocks in order."""
    return [as_block(content) for who, content in spoken if who == role]


def brought(client: Client, path: Path) -> FileReport:
    """Imports one file, which must go in without an error."""
    report = import_file(client, path)
    assert report.error is None
    assert report.thread is not None
    return report


@pytest.mark.parametrize("path", all_sessions(4, count=count(4, 39)), ids=lambda path: path.name[:13])
def test_every_message_is_there(client: Client, path: Path) -> None:
    """Both speakers' blocks, in order, equal as JSON values; what nobody said is kept apart."""
    report = brought(client, path)

    expected, found = said(path), kept(client, str(report.thread))
    commands = {"<command-name>", "<local-command-stdout>", "<command-message>"}
    people = [block for block in of_role(expected, "user") if not any(mark in str(block) for mark in commands)]
    assert of_role(found, "assistant") == of_role(expected, "assistant")
    assert [block for block in of_role(found, "user") if not any(mark in str(block) for mark in commands)] == people


def test_importing_again_changes_nothing(client: Client) -> None:
    """The second import adds no entry and makes no operation."""
    path = SMALLEST
    first = brought(client, path)
    before = client.operations(limit=1).items[0].seq
    messages = client.thread(str(first.thread)).message_count

    again = brought(client, path)

    assert again.added == 0
    assert client.operations(limit=1).items[0].seq == before
    assert client.thread(str(first.thread)).message_count == messages


def test_a_cut_file_joins_on_later(daemon: Daemon, tmp_path: Path) -> None:
    """A transcript cut at any byte imports cleanly, and what comes later joins on: the same messages as at once."""
    whole = gzip.decompress(SMALLEST.read_bytes())
    draw = random.Random(7)
    growing = tmp_path / "growing.jsonl"
    with running_daemon() as other, Client(other.socket) as cut, Client(daemon.socket) as once:
        for end in [*sorted(draw.sample(range(1, len(whole)), count(6, 60))), len(whole)]:
            growing.write_bytes(whole[:end])
            brought(cut, growing)
        report = brought(cut, growing)
        complete = tmp_path / "complete.jsonl"
        complete.write_bytes(whole)
        reference = brought(once, complete)

        assert kept(cut, str(report.thread)) == kept(once, str(reference.thread))
        assert cut.thread(str(report.thread)).message_count == once.thread(str(reference.thread)).message_count
