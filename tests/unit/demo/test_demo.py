"""The demo: its sample transcript, the selection of a session, and the pages of its report."""

from __future__ import annotations

import io
import os
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from rich.console import Console

from reverie import wire
from reverie.client import Client
from reverie.errors import NotFound, ValidationError
from reverie.evals.continuity import continuity
from reverie.importers import find
from reverie.importers.join import main_line
from reverie.models import EntryKind
from reveried.cli.send_sessions import FileReport
from reveried.demo import steps
from reveried.demo.report import Report
from reveried.demo.session import SESSION, sample
from reveried.demo.steps import Selection, select_sessions

SHARE = re.compile(r"# (\d+) % in")
AT = "2026-11-21T09:30:00.000Z"


def test_the_sample_is_a_valid_transcript(tmp_path: Path) -> None:
    """Every line is a message of one branch, every tool call has its result, and the bytes are the same every time."""
    path = tmp_path / f"{SESSION}.jsonl"
    path.write_bytes(sample())
    assert sample() == path.read_bytes()
    entries = list(find.read_entries(path))
    assert Counter(entry.kind for entry in entries) == {EntryKind.SPEECH: len(entries)}
    assert 50 <= len(entries) <= 70
    messages = main_line(entries)
    blocks = [block for message in messages if isinstance(message.content, list) for block in message.content]
    asked = [block["id"] for block in blocks if block["type"] == "tool_use"]
    assert asked == [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
    assert any(block.get("is_error") for block in blocks)
    assert any(block.get("name") == "TodoWrite" for block in blocks)
    assert find.read_identity(path).session == SESSION


def test_given_sessions_are_selected(tmp_path: Path) -> None:
    """Sessions given on the command line are selected, all of them, also if the user has own sessions."""
    one, two = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    one.write_text("{}\n")
    assert select_sessions([one], tmp_path, tmp_path).description == "the session that you gave"
    two.write_text("{}\n")
    assert select_sessions([tmp_path], tmp_path, tmp_path) == Selection([one, two], "the 2 sessions given")
    (tmp_path / "empty").mkdir()
    with pytest.raises(NotFound):
        select_sessions([tmp_path / "empty"], tmp_path, tmp_path)


def test_what_is_no_session_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is no session ends the demo with the importer's reason, an empty one with another."""
    client = cast("Client", SimpleNamespace(threads=lambda **_: wire.Page(items=[])))
    reports = [FileReport("README.md", error="README.md is not a session")]
    monkeypatch.setattr(steps, "import_files", lambda *_, **__: reports)
    with pytest.raises(ValidationError, match="is not a session"):
        steps.import_sessions(client, [Path("README.md")])
    reports[0].error = None
    with pytest.raises(NotFound, match="no messages"):
        steps.import_sessions(client, [Path("README.md")])


def test_the_users_newest_session_is_selected(tmp_path: Path) -> None:
    """Without a path it is the user's newest session, no subagent's, one of some length first; else the sample."""
    selection = select_sessions([], tmp_path, tmp_path)
    assert selection.is_sample
    assert selection.files[0].read_bytes() == sample()
    projects = tmp_path / ".claude" / "projects" / "p"
    projects.mkdir(parents=True)
    assert select_sessions([], tmp_path, tmp_path).is_sample
    for age, name in enumerate(["d.jsonl", "agent-1.jsonl", "c.jsonl", "b.jsonl", "a.jsonl"]):
        (projects / name).write_text("{}\n")
        os.utime(projects / name, (1_000_000 - age, 1_000_000 - age))
        assert select_sessions([], tmp_path, tmp_path) == Selection([projects / "d.jsonl"], "your newest session")
    for age, name in enumerate(["agent-1.jsonl", "b.jsonl", "a.jsonl"]):
        (projects / name).write_text("{}\n" * steps.SESSION_BYTES_MIN)
        os.utime(projects / name, (900_000 - age, 900_000 - age))
    assert [path.name for path in select_sessions([], tmp_path, tmp_path).files] == ["b.jsonl"]


@pytest.mark.parametrize(("tokens", "budget"), [(0, 4000), (30_000, 6000), (31_999, 6000), (1_000_000, 16_000)])
def test_context_budget(tokens: int, budget: int) -> None:
    """The budget is a fifth of the thread in whole thousands, between 4,000 and 16,000."""
    assert steps.context_budget(tokens) == budget


def memory(
    kind: wire.MemoryKind, content: str = "Close the file before renaming it.", title: str | None = None
) -> wire.Memory:
    """Return a memory of this type."""
    return wire.Memory(
        id="m",
        type=kind,
        content=content,
        tags=[],
        document=f"facts/{kind}.md",
        created_at=AT,
        updated_at=AT,
        title=title,
    )


def test_question_about() -> None:
    """The question is about a mistake before a fact, and about the task if there is neither."""
    memories = [memory("fact", "The sea is salt"), memory("mistake", "one two three four five six seven eight, nine")]
    state = wire.WorkingState(current_task="Fix the table.")
    assert steps.question_about(memories, state) == "What do we know about “one two three four five six seven eight”?"
    assert steps.question_about(memories[:1], state) == "What do we know about “The sea is salt”?"
    assert steps.question_about([memory("episode")], state) == "What about “Fix the table”?"
    assert steps.question_about([], wire.WorkingState()) == "What was the last task?"


def pages(print_pages: Callable[[Report], None], width: int = 80) -> str:
    """Return what a report prints on a plain screen, none of its lines wider than that."""
    out = Console(file=io.StringIO(), width=width, markup=False, highlight=False, emoji=False)
    print_pages(Report(out))
    assert isinstance(out.file, io.StringIO)
    text = out.file.getvalue()
    assert all(len(line) <= width for line in text.splitlines())
    return text


def test_a_demo_without_files(tmp_path: Path) -> None:
    """The page of files says that there are none."""
    assert "None yet" in pages(lambda report: report.print_files(tmp_path))


def result(memories: list[wire.Memory], *, tokens: int = 1000) -> steps.DemoResult:
    """Return the result of a demo with these memories, on a thread of so many tokens."""
    use = wire.ContextUse(tokens=tokens, window=200_000, fraction=0.1)
    thread = wire.Thread(
        id="t", message_count=3, tokens=tokens, distillations=0, context=use, created_at=AT, updated_at=AT
    )
    summary = wire.SummaryText(number=1, sections={}, text="")
    return steps.DemoResult(
        before=thread,
        distilled=wire.DistillAnswer(
            archive="a",
            number=1,
            summary=summary,
            tail=wire.TailSize(messages=1, tokens=1),
            tokens_before=tokens,
            tokens_after=500,
            tokens_used=1,
        ),
        context=wire.ContextAnswer(
            request=wire.RequestFragment(system=[], messages=[]),
            tokens=wire.ContextTokens(total=500, summary=300, tail=200),
            distillation=1,
        ),
        state=wire.WorkingState(),
        memories=memories,
        question="x",
        recalled=wire.RecallAnswer(hits=[], tokens=0),
        root="r",
        measured=None,
    )


def test_long_texts_and_control_characters() -> None:
    """Long texts are cut after three lines, and control characters are not printed."""
    state = wire.WorkingState(current_task="word " * 200, completed_steps=["\x1b[2Jx", "", "y"], open_files=["a" * 300])
    text = pages(lambda report: report.print_working_state(state))
    assert " ..." in text
    assert "\x1b" not in text
    assert "Blocked" not in text


def test_measured_page(tmp_path: Path) -> None:
    """The page compares Reverie's context of the sample with its last messages; of a short session it says why not."""
    path = tmp_path / f"{SESSION}.jsonl"
    path.write_bytes(sample())
    measured = continuity([path], budgets=[4_000], points=1)
    text = pages(lambda report: report.print_measured(measured))
    shares = {line.split()[0]: int(found[1]) for line in text.splitlines() if (found := SHARE.search(line))}
    assert shares["Reverie"] > shares["the"] > 0
    assert "too short" in pages(lambda report: report.print_measured(None))
