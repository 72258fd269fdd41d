"""The demo's parts: the sample is a real transcript, sessions are chosen rightly, the pages bear anything."""

from __future__ import annotations

import io
import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from reverie import wire
from reverie.errors import NotFound
from reverie.importers import files
from reverie.importers.messages import main_line
from reverie.models import EntryKind
from reveried.cli.import_file import FileReport
from reveried.demo import scenario
from reveried.demo.choose import Choice, choose
from reveried.demo.report import Teller
from reveried.demo.sample import SESSION, sample

if TYPE_CHECKING:
    from collections.abc import Callable

AT = "2026-11-21T09:30:00.000Z"


def test_the_sample_is_a_real_transcript(tmp_path: Path) -> None:
    """Every line is speech of one main line, every tool call has its result, and it is the same bytes every time."""
    path = tmp_path / f"{SESSION}.jsonl"
    path.write_bytes(sample())
    assert sample() == path.read_bytes()
    entries = list(files.read_entries(path))
    assert Counter(entry.kind for entry in entries) == {EntryKind.SPEECH: len(entries)}
    assert 50 <= len(entries) <= 70
    messages = main_line(entries)
    blocks = [block for message in messages if isinstance(message.content, list) for block in message.content]
    asked = [block["id"] for block in blocks if block["type"] == "tool_use"]
    assert asked == [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
    assert any(block.get("is_error") for block in blocks)
    assert any(block.get("name") == "TodoWrite" for block in blocks)
    assert files.read_identity(path).session == SESSION


def test_given_sessions_win(tmp_path: Path) -> None:
    """What is named on the command line is shown, own sessions or not."""
    one, two = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    one.write_text("{}\n")
    assert choose([one], tmp_path, tmp_path).whose == "the session that you gave"
    two.write_text("{}\n")
    assert choose([tmp_path], tmp_path, tmp_path) == Choice([one, two], "the 2 sessions you gave")
    (tmp_path / "empty").mkdir()
    with pytest.raises(NotFound):
        choose([tmp_path / "empty"], tmp_path, tmp_path)


def test_own_sessions_newest_first(tmp_path: Path) -> None:
    """Without a path it is one's own newest sessions, subagents' files passed over; without any, the sample."""
    found = choose([], tmp_path, tmp_path)
    assert found.is_sample
    assert found.files[0].read_bytes() == sample()
    projects = tmp_path / ".claude" / "projects" / "p"
    projects.mkdir(parents=True)
    for age, name in enumerate(["d.jsonl", "agent-1.jsonl", "c.jsonl", "b.jsonl", "a.jsonl"]):
        (projects / name).write_text("{}\n")
        os.utime(projects / name, (1_000_000 - age, 1_000_000 - age))
        assert choose([], tmp_path, tmp_path).whose.startswith("your newest session" if age < 2 else "your ")
    assert [path.name for path in choose([], tmp_path, tmp_path).files] == ["d.jsonl", "c.jsonl", "b.jsonl"]


@pytest.mark.parametrize(("tokens", "room"), [(0, 4000), (30_000, 6000), (31_999, 6000), (1_000_000, 16_000)])
def test_the_room_that_is_given(tokens: int, room: int) -> None:
    """A fifth of the conversation in round numbers, between 4,000 and 16,000."""
    assert scenario.room(tokens) == room


def memory(
    kind: wire.MemoryKind, content: str = "Close the file before renaming it.", title: str | None = None
) -> wire.Memory:
    """A memory."""
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


def test_the_question_that_is_asked() -> None:
    """The hardest lesson is asked about first; without lessons, the task."""
    memories = [memory("fact", "The sea is salt"), memory("mistake", "one two three four five six seven eight, nine")]
    state = wire.WorkingState(current_task="Mend the table.")
    assert scenario.question(memories, state) == "What do we know about one two three four five six seven eight?"
    assert scenario.question(memories[:1], state) == "What do we know about The sea is salt?"
    assert scenario.question([memory("episode")], state) == "What about Mend the table?"
    assert scenario.question([], wire.WorkingState()) == "What about the last task?"


def pages(tell: Callable[[Teller], None], width: int = 80) -> str:
    """What a teller prints on a plain screen."""
    out = Console(file=io.StringIO(), width=width, markup=False, highlight=False, emoji=False)
    tell(Teller(out))
    assert isinstance(out.file, io.StringIO)
    text = out.file.getvalue()
    assert all(len(line) <= width for line in text.splitlines())
    return text


def shown(memories: list[wire.Memory], *, tokens: int = 1000) -> scenario.Shown:
    """Results of a demo."""
    use = wire.ContextUse(tokens=tokens, window=200_000, fraction=0.1)
    thread = wire.Thread(
        id="t", message_count=3, tokens=tokens, distillations=0, context=use, created_at=AT, updated_at=AT
    )
    summary = wire.SummaryText(number=1, sections={}, text="")
    return scenario.Shown(
        reports=[],
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
        asked="x",
        recalled=wire.RecallAnswer(hits=[], tokens=0),
        root="r",
        others=0,
    )


def test_before_and_after() -> None:
    """Two bars and only the tiers that cost anything."""
    text = pages(lambda teller: teller.distilled(shown([])))
    assert "1,000" in text
    assert "reads 50% of the conversation" in text
    assert "summary" in text
    assert "notes" not in text
    assert "reads 100%" in pages(lambda teller: teller.distilled(shown([], tokens=0)))


def test_what_was_learnt() -> None:
    """Memories by kind with their files, a few of each; an episode by its title; nothing is said to be nothing."""
    many = [memory("mistake", f"Lesson {number}") for number in range(5)]
    text = pages(lambda teller: teller.learnt(shown([*many, memory("episode", title="The mended table")])))
    assert "Mistakes not to make again (5), in facts/mistake.md:" in text
    assert "and 2 more" in text
    assert "The mended table" in text
    assert "Lesson 4" not in text
    assert "without lessons leaves none" in pages(lambda teller: teller.learnt(shown([])))


def test_long_and_hostile_words() -> None:
    """Long words are cut after three lines, control characters never reach the screen."""
    state = wire.WorkingState(current_task="word " * 200, completed_steps=["\x1b[2Jx", "", "y"], open_files=["a" * 300])
    text = pages(lambda teller: teller.state(state))
    assert " ..." in text
    assert "\x1b" not in text
    assert "Blocked" not in text


def test_reports_and_answers() -> None:
    """Hidden secrets and files left out are told; a question without an answer too."""
    reports = [FileReport("a", lines=3, redacted=2), FileReport("b", error="no")]
    text = pages(lambda teller: teller.taken_in(reports, shown([]).before))
    assert "3 lines from 2 files" in text
    assert "2 secrets in it never reached the disk" in text
    assert "Left out: b: no" in text
    assert "Nothing remembered" in pages(lambda teller: teller.recalled("q", wire.RecallAnswer(hits=[], tokens=0)))


def test_the_folder(tmp_path: Path) -> None:
    """All files but the mark, and the beginning of the one that tells most."""
    for name in ("facts/preferences.md", ".reverie/space.json", "empty.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("- Short sentences.\n" * 40 if "preferences" in name else "")
    text = pages(lambda teller: teller.folder(tmp_path))
    assert "facts/preferences.md reads:" in text
    assert text.count("| - Short sentences.") == 12
    assert "space.json" not in text
    (tmp_path / "facts/preferences.md").unlink()
    assert "reads:" not in pages(lambda teller: teller.folder(tmp_path))


@pytest.mark.parametrize("keep", [True, False])
def test_how_to_go_on(*, keep: bool) -> None:
    """A kept daemon comes with the words to reach and end it; else the words to start for good."""
    text = pages(lambda teller: teller.ending(Path("/h"), Path("/h/root"), 7, keep=keep))
    assert ("export REVERIE_HOME=/h" in text) is keep
    assert ("reverie up" in text) is not keep
