"""Sessions of Codex and pi and exports of ChatGPT: imported, found again, distilled, and written back line by line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import orjson
import pytest

from reverie import wire
from reverie.client import Client
from reverie.errors import ValidationError
from reverie.importers import chatgpt
from reveried.cli.send_sessions import import_file
from support.cli import reverie
from support.daemon import Daemon
from support.pages import LIST

SESSION = "019ed893-d2a6-7c30-a8b8-5a8a49cfa23e"
FOLDER = "/home/mira/tidetable"


def line(kind: str, number: int, **payload: Any) -> dict[str, Any]:
    """Return a line of a Codex rollout."""
    return {"timestamp": f"2026-06-18T02:{number:02}:03.508Z", "type": kind, "payload": payload}


def codex_lines() -> list[dict[str, Any]]:
    """Return a short rollout: a request, a call with its output, a reply, and a compaction."""
    said = {"type": "message", "role": "user"}
    return [
        line("session_meta", 0, id=SESSION, cwd=FOLDER, cli_version="0.169.0"),
        line("turn_context", 1, cwd=FOLDER, model="gpt-5"),
        line("response_item", 2, **said, content=[{"type": "input_text", "text": "<environment_context>\n</x>"}]),
        line("response_item", 3, **said, content=[{"type": "input_text", "text": "Why is the lamp of Gull Rock off?"}]),
        line("response_item", 4, type="function_call", name="exec_command", arguments='{"cmd":"ls"}', call_id="c1"),
        line("response_item", 5, type="function_call_output", call_id="c1", output="Exit code: 0\nlamp.py"),
        line(
            "response_item",
            6,
            type="message",
            role="assistant",
            content=[{"type": "output_text", "text": "The fuse of the lantern burnt through."}],
        ),
        line("compacted", 7, message="The lamp is off.", replacement_history=[]),
    ]


def pi_lines() -> list[dict[str, Any]]:
    """Return a short session of pi."""
    user = {"role": "user", "content": "Why is the lamp of Gull Rock off?"}
    reply = {"role": "assistant", "content": [{"type": "text", "text": "The fuse of the lantern burnt through."}]}
    at = "2026-06-18T02:00:03.508Z"
    return [
        {"type": "session", "version": 3, "id": SESSION, "timestamp": at, "cwd": FOLDER},
        {"type": "message", "id": "a1", "parentId": None, "timestamp": at, "message": user},
        {"type": "message", "id": "a2", "parentId": "a1", "timestamp": at, "message": {**reply, "model": "m-1"}},
    ]


def write(path: Path, lines: Sequence[dict[str, Any]]) -> Path:
    """Write a session file, and return its path."""
    path.write_bytes(b"".join(orjson.dumps(value) + b"\n" for value in lines))
    return path


@pytest.mark.parametrize(("program", "lines"), [("codex", codex_lines()), ("pi", pi_lines())])
def test_a_session_of_another_program(
    client: Client, tmp_path: Path, program: wire.ImportClient, lines: list[dict[str, Any]]
) -> None:
    """An imported session has its project and title, and is searched and served; importing it again adds nothing."""
    path = write(tmp_path / f"rollout-2026-06-18T02-33-46-{SESSION}.jsonl", lines)
    report = import_file(client, path, program=program)
    assert (report.added, report.problems) == (len(lines), [])
    thread = client.thread(str(report.thread))
    assert (thread.agent, thread.project, thread.title) == (program, "tidetable", "Why is the lamp of Gull Rock off?")

    [hit, *_] = client.search("burnt fuse of the lantern", project="tidetable").hits
    assert hit.thread is not None
    assert hit.thread.id == thread.id
    request = msgspec.json.encode(client.context(thread.id, query="lamp").request).decode()
    assert ("The lamp is off." if thread.distillations else "fuse") in request
    assert [entry.value for entry in client.entries(thread.id).items] == lines

    again = import_file(client, path, program=program)
    assert (again.thread, again.added) == (thread.id, 0)


def test_what_an_agent_told_another_was_said_by_nobody(client: Client, tmp_path: Path) -> None:
    """Of a subagent's session nothing is a memory or in a brief."""
    wish = "Never use npm in this repository, always use pnpm for installs."
    found = {}
    for number, source in ((10, "cli"), (20, {"subagent": {"thread_spawn": {}}})):
        project = tmp_path / f"lantern{number}"
        project.mkdir()
        session = f"{SESSION[:-2]}{number}"
        lines = [line("session_meta", number, id=session, cwd=str(project), source=source)] + [
            line("response_item", number, type="message", role=role, content=[{"type": f"{kind}_text", "text": text}])
            for role, kind, text in (("user", "input", wish), ("assistant", "output", "Understood."))
        ]
        report = import_file(client, write(tmp_path / f"rollout-{session}.jsonl", lines), program="codex")
        client.learn(str(report.thread))
        assert client.learn(str(report.thread)).candidates == 0
        found[source == "cli"] = (
            [item.content for item in client.memories(project=project.name).items],
            [item.text for item in client.brief(project.name).lines],
        )
    assert "pnpm" in str(found[True][0])
    assert "pnpm" in str(found[True][1])
    assert found[False] == ([], [])


def test_two_programs_with_one_session_id(client: Client, tmp_path: Path) -> None:
    """The same id of two programs is two threads."""
    one = import_file(client, write(tmp_path / f"{SESSION}.jsonl", codex_lines()), program="codex")
    (tmp_path / "pi").mkdir()
    two = import_file(client, write(tmp_path / "pi" / f"{SESSION}.jsonl", pi_lines()), program="pi")
    assert one.thread != two.thread


def test_an_export_of_chatgpt_that_has_grown(client: Client, tmp_path: Path) -> None:
    """Of a newer export only the new messages are added."""

    def node(key: str, parent: str | None, role: str, text: str, at: int) -> dict[str, Any]:
        content = {"content_type": "text", "parts": [text]}
        return {
            "id": key,
            "parent": parent,
            "message": {"author": {"role": role}, "content": content, "create_time": at},
        }

    nodes = {
        "u1": node("u1", None, "user", "Which lamps burn oil?", 100),
        "a1": node("a1", "u1", "assistant", "Only that of Old Pier.", 101),
    }
    export = tmp_path / "conversations.json"
    for added in (2, 1):
        export.write_bytes(orjson.dumps([{"id": "c-1", "mapping": nodes}]))
        [(name, lines)] = chatgpt.conversations(export)
        path = tmp_path / f"{name}.jsonl"
        path.write_bytes(lines)
        report = import_file(client, path, program="chatgpt", source="conversations.json (c-1)")
        thread = client.thread(str(report.thread))
        assert (report.added, thread.agent) == (added, "chatgpt")
        nodes["u2"] = node("u2", "a1", "user", "And Gull Rock?", 102)
    [only] = [thread for thread in client.threads().items if thread.agent == "chatgpt"]
    assert only.message_count == 3


def test_a_bad_conversation_of_an_export_is_named(daemon: Daemon, tmp_path: Path) -> None:
    """The command imports the others, names the bad one with the reason, and ends with 1."""
    message = {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["Which lamp is red?"]}}
    good = {"id": "c-7", "mapping": {"u": {"id": "u", "parent": None, "message": message}}}
    export = tmp_path / "conversations.json"
    export.write_bytes(orjson.dumps([{"id": "c-6", "title": "Tides", "mapping": None}, good]))
    plain = reverie(daemon.env, "import", "chatgpt", str(export))
    assert plain.code == 1
    assert "(Tides): skipped: it has no `mapping`" in plain.err
    assert "1 new line" in plain.out
    found = reverie(daemon.env, "import", "chatgpt", str(export), "--json").json
    assert (found["failed"], found["files"][1]["duplicates"] + found["files"][1]["added"]) == (1, 0)
    assert "skipped" in found["files"][0]["error"]


def test_an_unknown_program_is_refused(client: Client) -> None:
    """The error names the programs that there are."""
    with pytest.raises(ValidationError, match="client"):
        client.start_import("emacs", SESSION)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("lines", "wrong", "right"),
    [
        (codex_lines(), "claude-code", "codex"),
        (pi_lines(), "claude-code", "pi"),
        (codex_lines(), "pi", "codex"),
        ([{"type": "user", "uuid": "u1", "sessionId": SESSION}], "codex", "claude-code"),
    ],
)
def test_a_session_of_another_program_is_refused(
    client: Client, tmp_path: Path, lines: list[dict[str, Any]], wrong: wire.ImportClient, right: str
) -> None:
    """An import under the wrong program's name is refused with the right command, and stores nothing."""
    path = write(tmp_path / "wrong name.jsonl", [{"of": "no program"}, *lines])
    before = made(client)
    with pytest.raises(ValidationError, match=f"is a session of {right}, not of {wrong}") as caught:
        import_file(client, path, program=wrong)
    assert caught.value.hint == f"reverie import {right} '{path}'"
    assert made(client) == before


def made(client: Client) -> list[str]:
    """Return the ids of the operations that callers made, without those that bring MEMORY.md up to date later."""
    return [operation.id for operation in client.operations(limit=1000).items if operation.why != LIST]


def test_a_file_that_does_not_tell_its_program_is_refused(client: Client, tmp_path: Path) -> None:
    """Lines of no known form are none of a session, whatever program the person names; no thread is made."""
    path = write(tmp_path / "plain-1.jsonl", [{"of": "no program"}])
    before = client.threads().items
    with pytest.raises(ValidationError, match="no line of it is understood"):
        import_file(client, path, program="codex")
    assert client.threads().items == before
