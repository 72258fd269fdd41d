"""Text that an agent writes has an agent's trust: over the API with its token, and by file tools into the folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from reverie import wire
from reverie.client import Client
from reverie.errors import Conflict
from reveried.cli.send_sessions import import_file
from support.daemon import Daemon
from support.projects import import_shell_call
from support.story import Story
from support.waiting import wait_until

LONG_AGO = "2026-03-05T10:00:00.000Z"  # before what the tests save


def root(daemon: Daemon) -> Path:
    return daemon.folder


def memory(client: Client, content: str) -> wire.Memory:
    (found,) = [item for item in client.memories(limit=1000).items if item.content == content]
    return found


def save(client: Client, file: Path, text: str, content: str) -> None:
    """Save a file, and wait until its memory is in the store."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    wait_until(lambda: any(item.content == content for item in client.memories(limit=1000).items))


def test_an_agents_token_writes_no_persons_memory(daemon: Daemon, client: Client) -> None:
    """A memory written with an agent's token has the agent's trust, whichever `author` the request gives."""
    token = client.create_token("default", agent="coder").token
    with Client(daemon.socket, token=token) as agent:
        made = agent.remember(wire.CreateMemory("The runner has four cores", author="person"))
        assert made.trust == "agent"
        assert (
            agent.change_memory(made.id, wire.ChangeMemory("The runner has eight cores", author="person")).trust
            == "agent"
        )
    assert client.remember(wire.CreateMemory("The runner is in Graz", author="person")).trust == "person"


@pytest.mark.parametrize("known_first", ["save", "call"])
def test_a_file_that_a_tool_wrote(daemon: Daemon, client: Client, known_first: str) -> None:
    """A tool's line gets an agent's trust if its save or its call is seen first; a person's line keeps theirs."""
    name = f"facts/ports-{known_first}.md"
    file = root(daemon) / name
    mine, theirs = f"Port 70 is mine {known_first}", f"Port 80 is taken {known_first}"
    save(client, file, f"- {mine}\n", mine)
    assert memory(client, mine).trust == "person"
    text = f"{file.read_text()}- {theirs}\n"
    if known_first == "save":
        save(client, file, text, theirs)
        assert memory(client, theirs).trust == "person"
    else:
        file.write_text(text)
    use = {
        "type": "tool_use",
        "id": "t1",
        "name": "Edit",
        "input": {"file_path": str(file), "new_string": f"- {theirs}"},
    }
    thread = client.create_thread()
    client.append(thread.id, [{"role": "user", "content": "Note it."}, {"role": "assistant", "content": [use]}])
    assert memory(client, theirs).trust == "agent"
    assert memory(client, theirs).provenance["by"] == f"thread:{thread.id}"
    assert memory(client, mine).trust == "person"


@pytest.mark.parametrize(
    "command",
    [
        "echo '- {line}' >> {root}/facts/shell-0.md",
        "cat > {root}/facts/shell-1.md <<'EOF'\n- {line}\nEOF",
        "cd {root} && printf '%s\\n' '- {line}' | tee -a facts/shell-2.md",
    ],
)
def test_a_line_that_a_shell_wrote(daemon: Daemon, client: Client, command: str) -> None:
    """A line that a shell command of the thread wrote has an agent's trust; a line beside it keeps the person's."""
    given = command[command.index("facts/shell") : command.index(".md") + 3]
    file = root(daemon) / given
    mine, theirs = f"The tide table of {given[-4:-3]} is mine", f"The buoy {given[-4:-3]} is taken"
    save(client, file, f"- {mine}\n- {theirs}\n", theirs)
    said = command.format(root=root(daemon), line=theirs)
    use = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": said}}
    thread = client.create_thread()
    client.append(thread.id, [{"role": "user", "content": "Note it."}, {"role": "assistant", "content": [use]}])
    assert memory(client, theirs).trust == "agent"
    assert memory(client, mine).trust == "person"


def stamp(seconds: float) -> str:
    return (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def test_a_forgotten_line_that_a_shell_copied(daemon: Daemon, client: Client, tmp_path: Path) -> None:
    """A line that a person forgot and a command copied into the folder is removed again, and waits in review."""
    gone = client.remember(wire.CreateMemory("The signal of the outer mole is green at night", type="fact"))
    client.forget(gone.id)
    file = root(daemon) / "facts" / "signals.md"
    at = stamp(-1)
    save(client, file, f"- {gone.content}\n", gone.content)
    import_shell_call(client, tmp_path, f"cp CLAUDE.md {file}", at=at, until=stamp(0))
    assert all(item.content != gone.content for item in client.memories(limit=1000).items)
    assert any(item.changes[0].content == gone.content for item in client.candidates(limit=1000).items)


def take_out(client: Client, file: Path, line: str, rest: str) -> str:
    """Save a file with two lines, then without the first; return the time between, once its memory is gone."""
    save(client, file, f"- {line}\n- {rest}\n", line)
    at = stamp(0)
    file.write_text(f"- {rest}\n")
    wait_until(lambda: all(item.content != line for item in client.memories(limit=1000).items))
    return at


def test_a_line_that_a_shell_took_out(daemon: Daemon, client: Client, tmp_path: Path) -> None:
    """A line that a command took out is forgotten by the agent alone, and not held against what it writes later."""
    line = "The winch of the slipway needs grease in May"
    file = root(daemon) / "facts" / "slipway.md"
    at = take_out(client, file, line, "The slipway has two rails")
    token = client.create_token("default", agent="coder").token
    with Client(daemon.socket, token=token) as agent:
        with pytest.raises(Conflict, match="waits in review"):
            agent.remember(wire.CreateMemory(line, type="fact"))
        import_shell_call(client, tmp_path, f"sed -i /winch/d {file}", at=at, until=stamp(0))
        assert agent.remember(wire.CreateMemory(line, type="fact")).content == line


def test_a_line_that_a_person_took_out_meanwhile(daemon: Daemon, client: Client, tmp_path: Path) -> None:
    """What a person deletes from another file while a command runs is forgotten by the person."""
    line = "The bell of the quay rings at nine"
    file = root(daemon) / "facts" / "bell.md"
    at = take_out(client, file, line, "The bell is of bronze")
    import_shell_call(client, tmp_path, f"sed -i s/a/b/ {root(daemon)}/facts/oars.md", at=at, until=stamp(0))
    token = client.create_token("default", agent="coder").token
    with Client(daemon.socket, token=token) as agent, pytest.raises(Conflict, match="waits in review"):
        agent.remember(wire.CreateMemory(line, type="fact"))


@pytest.mark.parametrize(
    ("name", "command"), [("gantry", "grep nine {file} >> {other}"), ("capstan", "cd {folder}; ./sort *.md > yard.md")]
)
def test_a_line_that_a_shell_moved(daemon: Daemon, client: Client, tmp_path: Path, name: str, command: str) -> None:
    """A line that a command took out of one file and put into another, seen one after the other, stays a memory."""
    line = f"The {name} of the yard lifts nine tonnes"
    folder = root(daemon) / "facts"
    file, other = folder / f"{name}.md", folder / "yard.md"
    at = take_out(client, file, line, f"The {name} is blue")
    save(client, other, f"- {line}\n", line)
    ran = command.format(file=file, other=other, folder=folder)
    import_shell_call(client, tmp_path, ran, at=at, until=stamp(0))
    assert memory(client, line).trust == "agent"
    assert all(item.changes[0].content != line for item in client.candidates(limit=1000).items)


def call_and_result(program: str, path: Path | str, line: str) -> list[dict[str, Any]]:
    """Return the record of a call that writes a line to a file of the folder, and the record of its result."""
    at = {"timestamp": LONG_AGO}
    call: dict[str, Any]
    use: dict[str, Any]
    result: dict[str, Any]
    match program:
        case "codex" | "codex-shell":
            patch = f"*** Begin Patch\n*** Update File: {path}\n+- {line}\n*** End Patch"
            call = {"type": "custom_tool_call", "name": "apply_patch", "input": patch}
            if program == "codex-shell":
                command = ["bash", "-lc", f"echo '- {line}' >> {path}"]
                call = {"type": "local_shell_call", "action": {"type": "exec", "command": command}}
            output = {"type": "custom_tool_call_output", "output": "ok"}
            return [
                {"type": "response_item", **at, "payload": payload | {"call_id": "c1"}} for payload in (call, output)
            ]
        case "pi":
            given = {"path": str(path), "edits": [{"oldText": "", "newText": f"- {line}"}]}
            call = {"type": "toolCall", "id": "t1", "name": "edit", "arguments": given}
            use = {"role": "assistant", "content": [call]}
            result = {"role": "toolResult", "toolCallId": "t1", "content": "ok"}
            return [{"type": "message", **at, "message": message} for message in (use, result)]
        case _:
            call = {"type": "tool_use", "id": "t1", "name": "Write", "input": {"file_path": str(path), "content": line}}
            use = {"role": "assistant", "content": [call]}
            result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}]}
            return [
                {"type": message["role"], "uuid": uuid4().hex, "sessionId": "s", "message": message}
                for message in (use, result)
            ]


def send_beside(client: Client, program: str, lines: list[dict[str, Any]], save_file: Callable[[], None]) -> None:
    """Send a session line by line; the file is saved before the last one, the result."""
    place = client.start_import(
        "pi" if program == "pi" else "codex" if program.startswith("codex") else "claude-code", f"{program}-{uuid4()}"
    )
    offset = 0
    for number, line in enumerate(lines, 1):
        if number == len(lines):
            save_file()
        data = f"{json.dumps(line)}\n".encode()
        client.send_chunk(place.id, data, offset=offset, first_line=number, final=number == len(lines))
        offset += len(data)


@pytest.mark.parametrize("program", ["claude-code", "codex", "codex-shell", "pi"])
def test_a_call_that_is_recorded_before_the_tool_runs(daemon: Daemon, client: Client, program: str) -> None:
    """A transcript shows a call, the file is written then, and the result follows: the line has an agent's trust.

    So has all else that was saved meanwhile, by the times of the transcript; without them by those at which it came.
    """
    file, line = root(daemon) / f"facts/ferry-{program}.md", f"The ferry {program} leaves at noon"
    later = f"The ferry {program} is mine"
    lines = call_and_result(program, file, line)
    lines[0].setdefault("timestamp", ["no time"])
    send_beside(client, program, lines, lambda: save(client, file, f"- {line}\n- {later}\n", line))
    assert memory(client, line).trust == "agent"
    assert memory(client, later).trust == ("agent" if program == "claude-code" else "person")


@pytest.mark.parametrize("program", ["codex", "codex-shell", "pi"])
def test_a_call_in_the_folder_that_an_earlier_line_names(daemon: Daemon, client: Client, program: str) -> None:
    """A client names its folder once; a call in a later chunk has a path from there, and its line an agent's trust."""
    name, line = f"facts/tug-{program}.md", f"The tug {program} is moored at the pier"
    cwd = {"cwd": str(root(daemon))}
    begun = {"type": "session", "version": 3, **cwd} if program == "pi" else {"type": "turn_context", "payload": cwd}
    lines = [begun, *call_and_result(program, name, line)]
    send_beside(client, program, lines, lambda: save(client, root(daemon) / name, f"- {line}\n", line))
    assert memory(client, line).trust == "agent"


@pytest.mark.parametrize(
    "again", ["Never paint the lighthouse of Lindau green", "Green is no paint for Lindau's lighthouse"]
)
def test_a_forgotten_line_that_a_tool_wrote(daemon: Daemon, client: Client, again: str) -> None:
    """A line that a person forgot and an agent's tool wrote into the folder is removed, and waits in review."""
    gone = client.remember(
        wire.CreateMemory("Never paint the lighthouse of Lindau green", type="fact", author="person")
    )
    client.forget(gone.id)
    file = root(daemon) / "facts" / "lighthouse.md"
    beside = f"The lighthouse has {len(again)} steps"
    save(client, file, f"- {again}\n- {beside}\n", again)
    use = {
        "type": "tool_use",
        "id": "t1",
        "name": "Write",
        "input": {"file_path": str(file), "content": file.read_text()},
    }
    thread = client.create_thread()
    client.append(thread.id, [{"role": "user", "content": "Note it."}, {"role": "assistant", "content": [use]}])
    assert memory(client, beside).trust == "agent"
    assert all(item.content != again for item in client.memories(limit=1000).items)
    wait_until(lambda: again not in file.read_text() and beside in file.read_text())
    (waiting,) = [item for item in client.candidates().items if item.changes[0].content == again]
    assert waiting.reason == "forgotten"
    token = client.create_token("default", agent="coder").token
    with Client(daemon.socket, token=token) as agent, pytest.raises(Conflict, match="waits in review"):
        agent.remember(wire.CreateMemory(gone.content, type="fact"))


def test_a_file_of_an_imported_session(daemon: Daemon, client: Client, tmp_path: Path) -> None:
    """A line saved before a tool's call stays the person's, though the tool's call wrote the whole file."""
    file = root(daemon) / "facts" / "hosts.md"
    save(client, file, "- The mail host is quay\n", "The mail host is quay")
    at = memory(client, "The mail host is quay").updated_at
    save(client, file, "- The mail host is quay\n- The web host is pier\n", "The web host is pier")
    later = memory(client, "The web host is pier").updated_at
    assert later > at
    use = {
        "type": "tool_use",
        "id": "t1",
        "name": "Write",
        "input": {"file_path": str(file), "content": file.read_text()},
    }
    story = Story()
    story.user("Go.", timestamp=at)
    story.assistant(use, timestamp=later)
    session = tmp_path / "5e7a1c0e-0000-4000-8000-000000000001.jsonl"
    session.write_bytes(story.bytes())
    import_file(client, session, program="claude-code")
    assert memory(client, "The web host is pier").trust == "agent"
