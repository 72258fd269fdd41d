"""Tools of other clients, read as those of Claude Code: commands, edits, plans, results; and episodes of their work."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from reverie.distill.distiller import Extractive
from reverie.distill.steps import read_trace
from reverie.models import MemoryType
from support.talk import Talk

ENGINE = Extractive()
PATCH = """*** Begin Patch
*** Update File: src/parser.py
@@
-old = 1
+new = 1
*** Add File: src/lexer.py
+first
+second
*** End Patch"""


@pytest.mark.parametrize(
    ("tool", "given", "command"),
    [
        ("exec_command", {"cmd": "make test", "workdir": "/w"}, "make test"),
        ("shell", {"command": ["bash", "-lc", "make test"]}, "make test"),
        ("shell", {"command": ["make", "test"]}, "make test"),
        ("local_shell", {"action": {"command": ["/bin/zsh", "-c", "make test"]}}, "make test"),
        ("run_shell_command", {"command": "make test", "description": "Run"}, "make test"),
        ("run_terminal_cmd", {"command": "make test"}, "make test"),
        ("execute_command", {"command": "make test"}, "make test"),
        ("Bash", {"command": "make test"}, "make test"),
        ("run_in_terminal", {"command": "make test", "explanation": "Run the tests"}, "make test"),
        ("run_command", {"CommandLine": "make test", "Cwd": "/w"}, "make test"),
        ("developer__shell", {"command": "make test"}, "make test"),
        ("executeBash", {"command": "make test"}, "make test"),
        ("shell", {"commands": ["make", "make test"]}, "make\nmake test"),
        ("Execute", {"command": "make test", "riskLevel": "low"}, "make test"),
        ("executePwsh", {"command": "make test", "path": "."}, "make test"),
        ("run_shell", {"command": "make test"}, "make test"),
        ("PowerShell", {"command": "make test"}, "make test"),
        ("launch-process", {"command": "make test", "wait": True}, "make test"),
        ("Bash", {"cmd": "make test", "cwd": "/w"}, "make test"),
        ("exec_command", {"cmd": 7}, ""),
    ],
)
def test_commands_of_every_client(tool: str, given: dict[str, Any], command: str) -> None:
    """A shell command of any client's tool is read as a call of `Bash` with that command."""
    [call] = read_trace(Talk().call(tool, given).messages).calls
    assert (call.tool, call.word("command")) == ("Bash", command)


@pytest.mark.parametrize(
    ("result", "shown", "failed"),
    [
        ("Exit code: 1\nWall time: 0.2 seconds\nOutput:\n2 failed", "Exit code 1\n2 failed", True),
        ("Chunk ID: a1\nWall time: 1.0 seconds\nProcess exited with code 0\nOutput:\nok", "ok", False),
        ('{"output": "boom", "metadata": {"exit_code": 2}}', "Exit code 2\nboom", True),
        ('{"output": "fine", "metadata": {"exit_code": 0}}', "fine", False),
        ('{"output": 3}', '{"output": 3}', False),
        ("{broken", "{broken", False),
        ("plain", "plain", False),
    ],
)
def test_results_of_commands(result: str, shown: str, failed: bool) -> None:  # noqa: FBT001
    """The exit status is read from the client's header, which is cut from the shown output."""
    thread = Talk().call("exec_command", {"cmd": "./run"}, result)
    [call] = read_trace(thread.messages).calls
    assert call.result == shown
    [run] = ENGINE.facts(thread.messages).runs
    assert run.failed is failed


@pytest.mark.parametrize(
    ("result", "failed"),
    [
        ("2 failed\n[The command completed with exit code 1.]", True),
        ("2 failed\n\nCommand exited with code 2", True),
        ("Command: ./run\nDirectory: (root)\nOutput: 2 failed\nExit Code: 1", True),
        ("Command: ./run\nOutput: fine\nExit Code: 0", False),
        ("the command exited with code 1 in the test of the shell\nok", False),
    ],
)
def test_a_status_below_the_output(result: str, failed: bool) -> None:  # noqa: FBT001
    """A failure status in the last line of an output is read as an exit code; the output stays."""
    [call] = read_trace(Talk().call("run_shell_command", {"command": "./run"}, result).messages).calls
    assert call.result.endswith(result)
    assert call.result.startswith("Exit code ") is failed


def test_a_patch_is_an_edit_of_each_of_its_files() -> None:
    """A patch is read as one edit or new file for each of its files; an unreadable patch keeps its own tool name."""
    edits = read_trace(Talk().call("apply_patch", {"input": PATCH}).messages).calls
    assert [(call.tool, call.path, call.word("new_string") or call.word("content")) for call in edits] == [
        ("Edit", "src/parser.py", "new = 1"),
        ("Write", "src/lexer.py", "first\nsecond\n"),
    ]
    hunks = "*** Begin Patch\n*** Update File: a.py\n@@ def one\n one\n-two\n+2\n@@\n-six\n*** Delete File: b.py\n"
    [call] = read_trace(Talk().call("patch", {"patchText": f"{hunks}*** End Patch"}).messages).calls
    assert call.input["edits"] == [
        {"old_string": "one\ntwo", "new_string": "one\n2"},
        {"old_string": "six", "new_string": ""},
    ]
    [odd] = read_trace(Talk().call("apply_patch", {"input": "nothing"}).messages).calls
    assert odd.tool == "apply_patch"


def test_files_plans_and_searches_of_other_clients() -> None:
    """Calls that read, write, search or plan are read as those of Claude Code; an unknown tool keeps its name."""
    thread = (
        Talk()
        .call("read_file", {"target_file": "a.py"})
        .call("write_to_file", {"path": "b.py", "content": "x = 1"})
        .call("search_file_content", {"pattern": "x", "dir_path": "src"})
        .call("update_plan", {"plan": [{"step": "Write it", "status": "completed"}, "odd"]})
        .call("browse", {"url": "https://example.com"})
    )
    calls = read_trace(thread.messages).calls
    assert [(call.tool, call.input) for call in calls] == [
        ("Read", {"file_path": "a.py"}),
        ("Write", {"file_path": "b.py", "content": "x = 1"}),
        ("Grep", {"pattern": "x", "path": "src"}),
        ("TodoWrite", {"todos": [{"content": "Write it", "status": "completed"}]}),
        ("browse", {"url": "https://example.com"}),
    ]


@pytest.mark.parametrize(
    ("tool", "given", "call"),
    [
        ("view_file", {"AbsolutePath": "/w/a.py"}, ("Read", {"file_path": "/w/a.py"})),
        ("write_to_file", {"TargetFile": "a.py", "CodeContent": "x"}, ("Write", {"file_path": "a.py", "content": "x"})),
        ("builtin_edit_existing_file", {"filepath": "a.py", "changes": "x"}, ("Edit", {"new_string": "x"})),
        ("str_replace_editor", {"command": "view", "path": "a.py"}, ("Read", {"file_path": "a.py"})),
        ("str_replace_based_edit_tool", {"command": "create", "path": "a.py", "file_text": "x"}, ("Write", {})),
        (
            "developer__text_editor",
            {"command": "str_replace", "path": "a.py", "old_str": "x", "new_str": "y"},
            ("Edit", {"old_string": "x", "new_string": "y"}),
        ),
        ("Create", {"file_path": "a.py", "content": "x"}, ("Write", {"file_path": "a.py", "content": "x"})),
        ("Edit", {"file_path": "a.py", "old_str": "x", "new_str": "y"}, ("Edit", {"old_string": "x"})),
        ("edit", {"path": "a.py", "oldText": "x", "newText": "y"}, ("Edit", {"new_string": "y"})),
        ("fsWrite", {"path": "a.py", "text": "x"}, ("Write", {"file_path": "a.py", "content": "x"})),
        ("fsAppend", {"path": "a.py", "text": "x"}, ("Edit", {"file_path": "a.py", "new_string": "x"})),
        ("strReplace", {"path": "a.py", "oldStr": "x", "newStr": "y"}, ("Edit", {"old_string": "x"})),
        ("save-file", {"path": "a.py", "file_content": "x"}, ("Write", {"content": "x"})),
        ("Read", {"path": "a.py"}, ("Read", {"file_path": "a.py"})),
        ("fs_read", {"operations": [{"mode": "Line", "path": "a.py"}]}, ("Read", {"file_path": "a.py"})),
        (
            "replace_file_content",
            {"TargetFile": "a.py", "ReplacementChunks": [{"TargetContent": "x", "ReplacementContent": "y"}]},
            ("MultiEdit", {"file_path": "a.py", "edits": [{"old_string": "x", "new_string": "y"}]}),
        ),
        (
            "multi_replace_string_in_file",
            {"replacements": [{"filePath": "a.py", "oldString": "x", "newString": "y"}, {"filePath": "b.py"}, 3]},
            ("MultiEdit", {"file_path": "a.py", "edits": [{"old_string": "x", "new_string": "y"}]}),
        ),
    ],
)
def test_editors_of_other_clients(tool: str, given: dict[str, Any], call: tuple[str, dict[str, Any]]) -> None:
    """Calls of other editors (several edits at once, other names of inputs) are read as those of Claude Code."""
    [found] = read_trace(Talk().call(tool, given).messages).calls
    assert (found.tool, {**found.input, **call[1]}) == (call[0], found.input)


@pytest.mark.parametrize(
    ("tool", "given", "paths"),
    [
        ("read_many_files", {"include": ["a.py", "src/**/*.py", "b.py"]}, ["a.py", "b.py"]),
        ("readMultipleFiles", {"paths": ["a.py", 3, "b.py"]}, ["a.py", "b.py"]),
    ],
)
def test_a_call_that_reads_several_files(tool: str, given: dict[str, Any], paths: list[str]) -> None:
    """A call that reads several files is read as one `Read` for each; patterns name no file."""
    calls = read_trace(Talk().call(tool, given).messages).calls
    assert [(call.tool, call.path) for call in calls] == [("Read", path) for path in paths]


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("manage_todo_list", {"todoList": [{"title": "Write it", "status": "not-started"}, {"title": "Test it"}]}),
        ("todowrite", {"todos": [{"content": "Write it", "status": "pending"}, {"content": "Test it"}]}),
        ("write_todos", {"todos": [{"description": "Write it", "status": "pending"}, {"description": "Test it"}]}),
        ("update_todo_list", {"todos": "[ ] Write it\n- [] Test it\nother"}),
    ],
)
def test_plans_of_other_clients(tool: str, given: dict[str, Any]) -> None:
    """Plans of other clients are read as a call of `TodoWrite` with the same steps and their states."""
    [found] = read_trace(Talk().call(tool, given).messages).calls
    steps = [{"content": text, "status": "pending"} for text in ("Write it", "Test it")]
    assert (found.tool, found.input) == ("TodoWrite", {"todos": steps})


STORE = "Where are the tides kept?"
OPTIONS = [{"label": "Files", "description": "one for each day"}, {"label": "LMDB", "description": "one file"}]


@pytest.mark.parametrize(
    ("given", "answer"),
    [
        (["LMDB"], "LMDB: one file"),
        (["LMDB", "user_note: It runs here."], "LMDB\nIt runs here.: one file"),
        (["None of the above", 'user_note: In "Redis", on the host.'], 'In "Redis", on the host.'),
        ([], None),
    ],
)
def test_answers_to_questions_of_codex(given: list[str], answer: str | None) -> None:
    """What a person answers to `request_user_input` is said by them; what they typed unseen is not read."""
    key = {"id": "key", "question": "Which key?", "isSecret": True, "options": OPTIONS}
    asked = {"questions": [{"id": "store", "header": "Store", "question": STORE, "options": OPTIONS}, key]}
    result = {"answers": {"key": {"answers": ["user_note: k-7"]}, "store": {"answers": given}}}
    trace = read_trace(Talk().call("request_user_input", asked, orjson.dumps(result).decode()).messages)
    assert [one.text for one in trace.said("user")] == ([f"{STORE} → {answer}"] if answer else [])


def test_questions_of_codex_without_answers() -> None:
    """A result that is no answers says nothing."""
    for result in ("request_user_input was cancelled before receiving a response", '{"answers":{"store":["LMDB"]}}'):
        asked = {"questions": [{"id": "store", "question": STORE, "options": OPTIONS}, 7]}
        assert not read_trace(Talk().call("request_user_input", asked, result).messages).said("user")


def test_a_session_of_codex_teaches_like_one_of_claude_code() -> None:
    """A session of Codex gives a procedure from its checks, and an episode from its edits and its commit."""
    ok = "Exit code: 0\nWall time: 0.2 seconds\nOutput:\n"
    commit = (
        "git commit -m \"$(cat <<'EOF'\nfeat(parser): accept tabs before a heading\n\n"
        'Tabs were counted as one space, so that nested headings lost their level.\nEOF\n)"'
    )
    thread = Talk().user("Nested headings lose their level, please look into the parser of documents")
    for _ in range(2):
        thread.call("apply_patch", {"input": PATCH}, f"{ok}Success").call("exec_command", {"cmd": "make test"}, ok)
    thread.call(
        "exec_command",
        {"cmd": commit},
        f"{ok}[main 1a2b3c4] feat(parser): accept tabs before a heading\n 2 files changed",
    )
    found = ENGINE.candidates(thread.messages)
    assert [one.type for one in found] == [MemoryType.PROCEDURE, MemoryType.EPISODE]
    fields = dict(found[1].fields)
    assert found[1].title == "feat(parser): accept tabs before a heading"
    assert fields["Task"] == "“Nested headings lose their level, please look into the parser of documents”"
    assert fields["Message"] == "Tabs were counted as one space, so that nested headings lost their level."
    assert fields["Files"] == "src/parser.py, src/lexer.py"
    assert found[1].provenance == {"seqs": [1, 10, 11]}


@pytest.mark.parametrize(
    "subject",
    [
        "address the review comments",
        "fix: fix failing tests",
        "Merge branch 'main' into feature",
        "Initial commit",
        "wip: half of the parser is done",
        "docs: describe the whole parser in the guide",
        "more test fixes",
    ],
)
def test_housekeeping_is_no_episode(subject: str) -> None:
    """Commits of merges, review answers, tests, documents or leftovers make no candidate, whatever they explain."""
    message = f'git commit -m "{subject}\n\nThe parser was wrong before because tabs were counted as one space."'
    thread = Talk().user("Nested headings lose their level, please fix that").edit("/w/src/parser.py")
    thread.bash(message, f"[main 1a2b3c4] {subject}")
    assert ENGINE.candidates(thread.messages) == ()
