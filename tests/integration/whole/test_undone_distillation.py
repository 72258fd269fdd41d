"""Learning after an undone distillation: what the distillation read is not counted a second time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reverie.client import Client
from reveried.cli.send_sessions import import_file
from support.projects import command_run, session

TALK = [text for number in range(6) for text in (f"How is gauge {number}?", f"Gauge {number} shows " + "water " * 300)]


def imported(client: Client, path: Path) -> str:
    """Import a session that runs one test command once; return its thread."""
    ran: list[Any] = command_run("pnpm test", "3 passed in 0.1s")
    folder = str(path.parent / path.stem.split("-")[0])
    return str(
        import_file(
            client, session(path, folder, ["Run the tests", *ran, "All passed.", *TALK]), program="claude-code"
        ).thread
    )


def undo_last(client: Client, why: str) -> str:
    """Undo the newest operation of a kind; return the operation of the undo."""
    operation = next(operation.id for operation in client.operations(limit=100).items if operation.why == why)
    return str(client.undo(operation).operation)


def procedures(client: Client, project: str) -> list[str]:
    """Return the memories of a project that name the command."""
    memories = client.memories(limit=1000).items
    return [memory.content for memory in memories if memory.project == project and "pnpm test" in memory.content]


def test_a_command_that_ran_once_counts_once(client: Client, tmp_path: Path) -> None:
    """A command that passed once is no procedure after distill, undo, redo, undo and learning each time."""
    thread = imported(client, tmp_path / "pier-1.jsonl")
    client.learn(thread)
    client.distill(thread)
    undone = undo_last(client, "thread.distill")
    assert client.learn(thread).candidates == 0
    redone = client.undo(undone).operation
    assert client.learn(thread).candidates == 0
    client.undo(str(redone))
    assert client.learn(thread).candidates == 0
    assert procedures(client, "pier") == []

    imported_again = imported(client, tmp_path / "pier-2.jsonl")
    client.learn(imported_again)
    assert len(procedures(client, "pier")) == 1  # in a second session it passed again


def test_what_was_undone_is_learnt_by_the_next_run(client: Client, tmp_path: Path) -> None:
    """Messages that only an undone distillation had read are read by the next run, and their commands count once."""
    thread = imported(client, tmp_path / "quay-1.jsonl")
    client.distill(thread)
    undo_last(client, "thread.distill")
    client.append(thread, [{"role": "user", "content": "From now on, always run the linter before you commit."}])
    learnt = client.learn(thread)
    assert learnt.candidates > 0
    assert procedures(client, "quay") == []
