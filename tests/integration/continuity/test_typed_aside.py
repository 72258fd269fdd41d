"""The working state of an imported session: slash commands, and words that were typed while the agent worked, count."""

from __future__ import annotations

from pathlib import Path

from reverie.client import Client
from reveried.cli.send_sessions import import_file
from support.story import Story, call, result, text

COMMAND = "<command-name>/plan</command-name>\n<command-args>count the ships in every harbour</command-args>"
MEANWHILE = "and please leave the wrecks out"


def test_what_was_typed_aside_is_the_task_and_the_next_step(client: Client, tmp_path: Path) -> None:
    """A command is the task from the first import on; words that are sent meanwhile are an order."""
    transcript = Story()
    transcript.user(COMMAND)
    transcript.assistant(call("a", command="ls harbours"))
    path = tmp_path / "session.jsonl"
    path.write_bytes(transcript.bytes())
    thread = str(import_file(client, path, program="claude-code").thread)
    state = client.working_state(thread)
    assert state.current_task == "/plan count the ships in every harbour"
    assert state.next_steps == ["go on: /plan count the ships in every harbour"]

    transcript.queue("enqueue", "leave them in")
    path.write_bytes(transcript.bytes())
    import_file(client, path, program="claude-code")
    assert "leave them in" in client.working_state(thread).current_task
    transcript.queue("popAll", "leave them in")
    transcript.queue("enqueue", MEANWHILE)
    transcript.queue("remove")
    transcript.user([result("a", "north\nsouth")])
    path.write_bytes(transcript.bytes())
    import_file(client, path, program="claude-code")
    state = client.working_state(thread)
    assert "leave them in" not in state.current_task  # it was taken back
    assert state.current_task.endswith(MEANWHILE)
    assert any(MEANWHILE in step for step in state.next_steps)

    transcript.assistant(text("Seven ships, without wrecks."))
    path.write_bytes(transcript.bytes())
    import_file(client, path, program="claude-code")
    assert client.working_state(thread).next_steps == []
