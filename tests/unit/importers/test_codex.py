"""Codex rollouts: what becomes of each line, and that it can be written back."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from msgspec.structs import replace

from reverie.importers.detect import folder_of, json_object_of, model_named_in, read_line
from reverie.importers.join import main_line
from reverie.importers.outline import is_continued, outline
from reverie.models import Entry, EntryKind

AT = "2026-06-18T02:35:03.508Z"


def read(kind: str, payload: dict[str, Any], **more: Any) -> Entry:
    """Return the entry of a line, which must give the same line back."""
    line = {"timestamp": AT, "type": kind, "payload": payload, **more}
    entry, problem = read_line(orjson.dumps(line), 3)
    assert problem is None
    assert json_object_of(entry) == line
    assert (entry.at, entry.line) == (AT, 3)
    return entry


def item(kind: str, **fields: Any) -> Entry:
    """Return the entry of a response item."""
    return read("response_item", {"type": kind, **fields})


def message(role: str, *texts: str) -> Entry:
    """Return the entry of a message of texts."""
    form = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": form, "text": text} for text in texts])


def call(number: int, command: str) -> Entry:
    """Return the entry of a call of the shell."""
    arguments = orjson.dumps({"cmd": command}).decode()
    return item("function_call", name="exec_command", arguments=arguments, call_id=f"call_{number}")


def output(number: int, text: str) -> Entry:
    """Return the entry of an output."""
    return item("function_call_output", call_id=f"call_{number}", output=text)


@pytest.mark.parametrize(("role", "text"), [("user", "Fix the harbour"), ("assistant", "I look at it first.")])
def test_messages(role: str, text: str) -> None:
    """A message becomes speech with text blocks."""
    entry = message(role, text, "and more")
    assert entry.kind is EntryKind.SPEECH
    assert entry.role == role
    assert entry.content == [{"type": "text", "text": text}, {"type": "text", "text": "and more"}]


@pytest.mark.parametrize(
    "text",
    [
        *("# AGENTS.md instructions for /h", "<environment_context>\n<cwd>/h</cwd>", "<skill>x"),
        "<user_shell_command>\n<command>\nls\n</command>\n<result>\nExit code: 0\n</result>\n</user_shell_command>",
        *('<codex_internal_context source="goal">\nGo on', "<recommended_plugins>\n- x (x)", "<external_page>x"),
        *("<goal_context>x", '<hook_prompt hook_run_id="1">x</hook_prompt>'),
        "Warning: apply_patch was requested via exec_command. Use the apply_patch tool instead of exec_command.",
    ],
)
def test_what_the_client_wrote_is_not_said(text: str) -> None:
    """Instructions and machine state that Codex sends as the user's messages are entries of kind META."""
    assert message("user", text).kind is EntryKind.META
    assert item("message", role="developer", content=[]).kind is EntryKind.META


IDE = "# Context from my IDE setup:\n\n## Active selection of the file:\n## My request for Codex:\nsink\n"


@pytest.mark.parametrize(
    ("before", "words"),
    [
        (f"{IDE}## My request for Codex:\n", "Fix the harbour.\n"),
        ("\n# Files mentioned by the user:\n\n## a.png: /h/a.png\n\n## My request:\n", "Fix\n\n## the harbour"),
        ("", f"{IDE}## My request for Codex:\n"),
        ("", "## My request for Codex:\nFix the harbour"),
        ("", "# Context from my IDE setup:\nnone"),
    ],
)
def test_what_an_editor_puts_before_a_prompt(before: str, words: str) -> None:
    """The person's words are those behind the last heading; the rest is kept, and what is no such text is whole."""
    assert message("user", before + words).content == [{"type": "text", "text": words}]


def test_images() -> None:
    """An image in the line becomes an image block; one elsewhere is named."""
    url = "data:image/png;base64,aGFyYm91cg=="
    entry = item("message", role="user", content=[{"type": "input_image", "image_url": url, "detail": "low"}])
    assert entry.content == [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGFyYm91cg=="}}
    ]
    elsewhere = item("message", role="user", content=[{"type": "input_image", "image_url": "https://example.org/a"}])
    assert elsewhere.content == [{"type": "text", "text": "[input_image]"}]


@pytest.mark.parametrize(
    ("kind", "fields", "name", "taken"),
    [
        ("function_call", {"name": "read", "arguments": '{"path":"a"}'}, "read", {"path": "a"}),
        ("function_call", {"name": "read", "arguments": '{ "path": "é" }'}, "read", {"path": "é"}),
        ("function_call", {"name": "read", "arguments": "{broken"}, "read", {"arguments": "{broken"}),
        ("function_call", {"name": "read", "arguments": "[1]"}, "read", {"arguments": "[1]"}),
        ("custom_tool_call", {"name": "apply_patch", "input": "*** Begin"}, "apply_patch", {"input": "*** Begin"}),
        ("local_shell_call", {"action": {"command": ["ls"]}}, "local_shell_call", {"command": ["ls"]}),
    ],
)
def test_calls(kind: str, fields: dict[str, Any], name: str, taken: dict[str, Any]) -> None:
    """Each kind of call becomes a `tool_use`, whatever its input is."""
    entry = item(kind, call_id="call_1", **fields)
    assert (entry.kind, entry.role) == (EntryKind.SPEECH, "assistant")
    assert entry.content == [{"type": "tool_use", "id": "call_1", "name": name, "input": taken}]


@pytest.mark.parametrize(
    ("namespace", "name"),
    [("mcp__x", "mcp__x__ask_user"), ("mcp__x__", "mcp__x__ask_user"), ("functions", "ask_user"), (None, "ask_user")],
)
def test_a_tool_of_a_server(namespace: str | None, name: str) -> None:
    """A server's tool has the server's name before its own, and so is not taken for one of Codex."""
    entry = item("function_call", name="ask_user", namespace=namespace, arguments="{}", call_id="c")
    assert entry.content == [{"type": "tool_use", "id": "c", "name": name, "input": {}}]


@pytest.mark.parametrize(
    ("given", "text", "failed"),
    [
        ("Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nok", None, False),
        ("Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 2\nOutput:\nno", None, True),
        ("Exit code: 1\nWall time: 0 seconds\nOutput:\n", None, True),
        ('{"output":"no","metadata":{"exit_code":1,"duration_seconds":0.1}}', None, True),
        ("Output:\nExit code: 1 is what the manual says", None, False),
        ([{"type": "input_text", "text": "one"}, {"type": "input_text", "text": "two"}], "one\ntwo", False),
        ({"content": "text", "success": True}, "text", False),
        ({"unknown": 1}, '{"unknown":1}', False),
    ],
)
def test_outputs(given: Any, text: str | None, *, failed: bool) -> None:
    """An output becomes a `tool_result`, marked as an error if its text reports an exit status other than 0."""
    entry = item("function_call_output", call_id="call_1", output=given)
    [block] = entry.content or []
    assert block["content"] == (given if text is None else text)
    assert block.get("is_error", False) is failed


def test_compactions() -> None:
    """A compaction with a text is a summary, one without is a boundary."""
    summary = read("compacted", {"message": "The lamps are fixed.", "replacement_history": []})
    assert (summary.kind, summary.role, summary.content) == (EntryKind.SUMMARY, "user", "The lamps are fixed.")
    assert read("compacted", {"message": "", "replacement_history": [{}]}).kind is EntryKind.BOUNDARY


def rolled_back(count: Any) -> Entry:
    """Return the entry that takes so many prompts back."""
    return read("event_msg", {"type": "thread_rolled_back", "num_turns": count})


def test_what_was_rolled_back_is_rewound() -> None:
    """The last prompts that were left are rewound with all behind them; a later line counts on from there."""
    entries = [
        *(message("user", "one"), message("assistant", "1"), message("user", "two"), message("user", "<skill>x")),
        *(call(1, "ls"), output(1, "a"), message("user", "three"), rolled_back(1), rolled_back(0), rolled_back("1")),
        *(message("user", "four"), message("assistant", "4"), rolled_back(2), message("user", "five")),
    ]
    entries = [replace(entry, seq=seq) for seq, entry in enumerate(entries, 1)]
    kept = [entry.first_seq for entry in main_line(entries, verbatim=True) if not entry.rewound]
    assert kept == [1, 2, 14]
    assert not is_continued(entries, 12)
    assert is_continued(entries, 13)
    assert outline(entries)[0].rewound == ((3, 12),)
    tail = main_line([*entries[11:13], entries[13]], verbatim=True)
    assert [entry.first_seq for entry in tail if not entry.rewound] == [14]


def test_folder_and_model() -> None:
    """The beginnings of the session and of a turn name the folder and the model."""
    meta = read("session_meta", {"id": "x", "cwd": "/home/mira/tidetable"})
    turn = read("turn_context", {"cwd": "/home/mira/lamps", "model": "gpt-5"})
    assert (folder_of(meta.extra), folder_of(turn.extra)) == ("/home/mira/tidetable", "/home/mira/lamps")
    assert (model_named_in(meta), model_named_in(turn)) == (None, "gpt-5")
    assert meta.kind is turn.kind is EntryKind.OTHER


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        ("event_msg", {"type": "user_message", "message": "again"}),
        ("response_item", {"type": "reasoning", "summary": []}),
        ("response_item", {"type": "web_search_call", "status": "completed"}),
        ("response_item", {"type": "function_call", "name": "x"}),
        ("response_item", {"type": "message", "role": "user", "content": []}),
    ],
)
def test_the_rest_is_data(kind: str, payload: dict[str, Any]) -> None:
    """Lines that are only for the screen, encrypted or without an id become entries of kind OTHER."""
    assert read(kind, payload).kind is EntryKind.OTHER


def test_a_message_that_is_none() -> None:
    """A message whose content has an unknown form is reported, and its line stored raw as a bad entry."""
    line = orjson.dumps({"type": "response_item", "payload": {"type": "message", "role": "user", "content": "text"}})
    entry, problem = read_line(line, 1)
    assert (entry.kind, entry.raw) == (EntryKind.BAD, line.decode())
    assert problem is not None


def test_calls_at_once_have_their_results() -> None:
    """Two calls before the first output: in the messages each is followed by its own result."""
    lines = [
        message("user", "Look at both"),
        call(1, "ls"),
        call(2, "pwd"),
        output(1, "Process exited with code 0\nharbour"),
        output(2, "Process exited with code 0\n/home/mira"),
        message("assistant", "Done."),
    ]
    messages = main_line(lines)
    assert [entry.role for entry in messages] == ["user", "assistant", "user", "assistant", "user", "assistant"]
    calls = [messages[place].content[0]["id"] for place in (1, 3)]
    results = [messages[place].content[0]["tool_use_id"] for place in (2, 4)]
    assert calls == results == ["call_1", "call_2"]
