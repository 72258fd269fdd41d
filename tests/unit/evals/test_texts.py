"""Context and knowledge text of a transcript: budget, content, determinism."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest

from reverie import tokenizer
from reverie.errors import ReverieError
from reverie.evals.__main__ import main
from reverie.evals.after_transcript import context_text, knowledge_text
from support.shared import all_sessions
from support.soak import count
from support.story import Story
from support.talk import Talk, logger_fix

BUDGETS = (4_000, 8_000, 16_000, 32_000)


def transcript(path: Path, thread: Talk) -> Path:
    """Write the thread as a transcript and return its path."""
    story = Story()
    for number, message in enumerate(thread.messages):
        said = {"role": message.role, "content": message.content, "id": f"msg_{number}"}
        story.add(message.role, message=said, timestamp=message.at)
    path.write_bytes(story.bytes())
    return path


def long_thread() -> Talk:
    """Return a thread of 150 requests, edits and replies."""
    thread = Talk()
    for number in range(150):
        thread.user(f"Please add field number {number} to the `WireRecord` in src/wire_{number}.py and test it")
        thread.edit(
            f"/w/src/wire_{number}.py", "", f"field_{number}: int = {number}  # how many times it was sent\n" * 5
        )
        thread.agent(f"Added `field_{number}` because the receiver needs it.")
    return thread


def test_a_thread_that_fits_is_whole(tmp_path: Path) -> None:
    """A context that has room for the whole thread has every message and no summary."""
    thread = logger_fix()
    text = context_text(transcript(tmp_path / "a.jsonl", thread), 4_000)
    assert "## Working State (auto-maintained)\nCurrent task: The logger writes to stdout" in text
    assert "# Conversation Summary" not in text
    assert all(message.content in text for message in thread.messages if isinstance(message.content, str))


def test_a_longer_thread_is_distilled(tmp_path: Path) -> None:
    """A context of a longer thread has the task, a summary and the person's words."""
    text = context_text(transcript(tmp_path / "a.jsonl", long_thread()), 4_000)
    assert "## Working State (auto-maintained)\nCurrent task: Please add field number 149" in text
    assert "# Conversation Summary (Distillation #1)" in text
    assert "Please add field number 148" in text.partition("## Excerpts")[2]


@pytest.mark.parametrize("budget", [1_500, 4_000, 8_000])
def test_context_fits_as_counted(tmp_path: Path, budget: int) -> None:
    """The context of a long thread fits its budget, counted on the printed text, and uses most of it."""
    text = context_text(transcript(tmp_path / "a.jsonl", long_thread()), budget)
    assert budget * 3 // 4 < tokenizer.count(text) <= budget
    assert "field number 149" in text


def test_last_turn_larger_than_the_budget_is_distilled(tmp_path: Path) -> None:
    """If the last turn does not fit, everything is distilled and the tail is empty."""
    thread = Talk().user("Please write the whole manual of the pump in one go")
    thread.call("Write", {"file_path": "/w/manual.md", "content": "The pump_valve opens at noon. " * 4_000})
    text = context_text(transcript(tmp_path / "a.jsonl", thread), 2_000)
    assert tokenizer.count(text) <= 2_000
    assert "write the whole manual of the pump" in text


def test_an_open_call_that_takes_all_room_is_distilled(tmp_path: Path) -> None:
    """An unanswered call that leaves no room for excerpts is distilled too."""
    thread = logger_fix()
    body = "\n".join(f"export const stored_value_{number} = {number}" for number in range(330))
    thread.open_call("Write", {"file_path": "/home/ann/app/src/values.ts", "content": body})
    text = context_text(transcript(tmp_path / "a.jsonl", thread), 3_700)
    assert tokenizer.count(text) <= 3_700
    assert "no, don't touch the public makeLogger signature in src/logger.ts" in text.partition("## Excerpts")[2]


def test_knowledge_has_summary_and_memories_without_the_tail(tmp_path: Path) -> None:
    """The knowledge text has the summary and the memories, within the budget."""
    why = "The worker of the pipeline wrote to stdout because nothing had told it where to write."
    command = f'git commit -m "fix(logger): close the pipeline\n\n{why}"'
    thread = logger_fix().bash(command, "[main 1a2b3c5] fix(logger): close the pipeline\n 2 files changed")
    path = transcript(tmp_path / "a.jsonl", thread)
    text = knowledge_text(path, 4_000)
    assert text.startswith("# Conversation Summary (Distillation #1)")
    assert "## fix(logger): replace the pipeline by lineTransport\n- Summary:" in text
    assert tokenizer.count(knowledge_text(path, 300)) <= 300


def test_an_empty_transcript_gives_a_context(tmp_path: Path) -> None:
    """An empty transcript gives a context and a knowledge text."""
    path = tmp_path / "empty.jsonl"
    path.write_bytes(b"")
    assert tokenizer.count(context_text(path, 1_000)) <= 1_000
    assert "Distillation #1" in knowledge_text(path, 1_000)


def test_a_missing_file_is_an_error_with_a_name(tmp_path: Path) -> None:
    """A missing file is an error with its name."""
    with pytest.raises((ReverieError, OSError), match=r"absent\.jsonl"):
        context_text(tmp_path / "absent.jsonl", 1_000)


def test_command_prints_the_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`python -m reverie.evals context|knowledge FILE --max-tokens N` prints the text."""
    path = transcript(tmp_path / "a.jsonl", logger_fix())
    assert main(["context", str(path), "--max-tokens", "2000"]) == 0
    assert capsys.readouterr().out == context_text(path, 2_000)
    assert main(["knowledge", str(path), "--max-tokens", "2000"]) == 0
    assert capsys.readouterr().out == knowledge_text(path, 2_000)


def test_same_bytes_in_any_process(tmp_path: Path) -> None:
    """The text does not depend on the hash seed or the time zone."""
    path = transcript(tmp_path / "a.jsonl", logger_fix())
    printed = {
        subprocess.run(
            [sys.executable, "-m", "reverie.evals", "context", str(path), "--max-tokens", "3000"],
            env={**os.environ, "PYTHONHASHSEED": seed, "TZ": zone},
            capture_output=True,
            check=True,
        ).stdout
        for seed, zone in (("0", "UTC"), ("1", "Asia/Tokyo"), ("4242", "America/New_York"))
    }
    assert len(printed) == 1


def test_whole_sessions_fit_every_budget() -> None:
    """Contexts, labels of roles included, fit every budget in both encodings; all sessions in a soak."""
    for path in all_sessions(3, step=count(12, 1)):
        for budget in BUDGETS:
            text = context_text(path, budget)
            for encoding in ("o200k_base", "cl100k_base"):
                assert tokenizer.count(text, encoding) <= budget, (path.name, budget, encoding)


def test_packed_transcripts_are_read(tmp_path: Path) -> None:
    """A gzipped transcript gives the same text."""
    plain = transcript(tmp_path / "a.jsonl", logger_fix())
    packed = tmp_path / "b.jsonl.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert context_text(packed, 4_000) == context_text(plain, 4_000)
