"""Generated Claude Code sessions of any length, and the messages that a reader should find in them."""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from reverie.client import Client
from reverie.importers.chunks import plan_chunk
from reverie.importers.join import main_line
from reveried.demo.session import Transcript

WHY = "The wrong value was kept because nobody had asked for another one."  # an episode says more than a subject

_NAMES = uuid.UUID("0d4a8f57-3b0e-4c39-8d6f-2d4f0e7a9b11")
_FOLDER = "/home/ann/harbour"
_PARTS = ("parser", "cache", "router", "exporter", "clock", "ledger", "mailer", "index")
_WORDS = ("the", "buffer", "of", "a", "request", "is", "read", "twice", "when", "its", "retry", "comes", "late", "and")


def generated_session(number: int, turns: int = 4, noise: int = 20, why: str = "") -> bytes:
    """Return a session of `turns` tasks, request to commit; `noise` is the number of words of a tool result.

    The same `number` gives the same bytes; `why` is the body of each commit's message. Some lines are long, and some
    hold text beyond ASCII.
    """
    chance = random.Random(number)
    transcript = Transcript(session=str(uuid.uuid5(_NAMES, str(number))), folder=_FOLDER, branch="main")
    for turn in range(turns):
        _task(transcript, chance, f"{chance.choice(_PARTS)}_{number}_{turn}", noise, why)
    return transcript.to_bytes()


def session_file(folder: Path, number: int, turns: int = 4, noise: int = 20, why: str = "") -> Path:
    """Write a generated session under the file name that Claude Code uses."""
    path = folder / f"{uuid.uuid5(_NAMES, str(number))}.jsonl"
    path.write_bytes(generated_session(number, turns, noise, why))
    return path


def main_line_messages(data: bytes) -> list[tuple[str, Any]]:
    """Return role and content of every message in a transcript, read by the library alone."""
    entries = [
        replace(entry, seq=seq) for seq, entry in enumerate(plan_chunk(data, first_line=1, final=True).entries, 1)
    ]
    return [(message.role, message.content) for message in main_line(entries)]


def stored_messages(client: Client, thread: str, *, limit: int = 1000) -> list[tuple[str, Any]]:
    """Return role and content of every stored message of a thread, page by page."""
    return list(_pages(client, thread, limit))


def _pages(client: Client, thread: str, limit: int) -> Iterator[tuple[str, Any]]:
    after = None
    while True:
        page = client.messages(thread, limit=limit, after=after)
        yield from ((message.role, message.content) for message in page.items)
        if page.next is None:
            return
        after = page.next


def _task(transcript: Transcript, chance: random.Random, name: str, noise: int, why: str) -> None:
    """Write one task: request, analysis, wrong attempt, fix, test, correction and commit."""
    path = f"{_FOLDER}/src/{name}.py"
    transcript.user(
        f"The {name} drops the last line of a file — please find out why and fix it. "
        f"We always write a regression test for {name} first. I prefer small commits."
    )
    transcript.agent(
        transcript.text(f"I'll read `{path}` and then reproduce it."),
        transcript.tool_use("Read", file_path=path),
    )
    transcript.result(f"     1\tdef read_{name}(file):\n" + _prose(chance, noise))
    _todos(transcript, name, "in_progress", "pending")
    transcript.agent(
        transcript.tool_use("Bash", command=f"pytest -q tests/test_{name}.py", description=f"Run the {name} tests")
    )
    transcript.result(
        f"FAILED tests/test_{name}.py::test_last_line\nValueError: line {chance.randrange(999)} is missing", failed=True
    )
    transcript.agent(
        transcript.text(f"The root cause is that `read_{name}` closes the handle before the last line is flushed."),
        transcript.tool_use("Edit", file_path=path, old_string="close()", new_string="flush(); close()"),
    )
    transcript.result(f"The file {path} has been updated.\n" + _prose(chance, noise))
    transcript.user(f"no, never change the signature of `read_{name}`, other tools call it")
    transcript.agent(transcript.text(f"You're right: I will keep the signature of `read_{name}` and flush inside it."))
    transcript.user("yes")
    transcript.agent(
        transcript.tool_use("Bash", command=f"pytest -q tests/test_{name}.py", description=f"Run the {name} tests")
    )
    transcript.result(f"{chance.randrange(3, 99)} passed in 0.{chance.randrange(10, 99)}s\n" + _prose(chance, noise))
    _todos(transcript, name, "completed", "completed")
    message = f"{name}: keep the last line" + (why and f"\n\n{why}")
    transcript.agent(transcript.tool_use("Bash", command=f'git commit -m "{message}"', description="Commit"))
    transcript.result(f"[main {chance.randrange(16**7):07x}] {name}: keep the last line\n 2 files changed")
    transcript.agent(
        transcript.text(f"The {name} keeps its last line now; the fix is `src/{name}.py`, with a test — 完了.")
    )


def _todos(transcript: Transcript, name: str, first: str, second: str) -> None:
    steps = [
        {"content": f"Find out why {name} drops a line", "status": first, "activeForm": "Finding out"},
        {"content": f"Write a regression test for {name}", "status": second, "activeForm": "Writing a test"},
    ]
    transcript.agent(transcript.tool_use("TodoWrite", todos=steps))
    transcript.result("Todos have been modified successfully.")


def _prose(chance: random.Random, words: int) -> str:
    return " ".join(chance.choices(_WORDS, k=chance.randrange(words, 2 * words + 1)))
