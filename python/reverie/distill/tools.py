"""Tools of all clients by what they do, and their calls translated to those of Claude Code.

A client names its tools, and their inputs, as it likes. The rest of the engine asks only what a call did: run a
command, read a file, edit files, search. So a call is translated once, where messages become a trace, into the tool and
the inputs that Claude Code would have used. Example: Codex's `exec_command {"cmd": "make test"}` becomes
`Bash {"command": "make test"}`. A tool in no table keeps its name, and nothing is concluded from it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import msgspec

from reverie.decode import from_json
from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

EDITS: Final = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})
"""Tools of Claude Code that change files."""

READS: Final = frozenset({"Read", "NotebookRead"})
"""Tools of Claude Code that read one whole file."""


# The tool of Claude Code that does the same, with the names of Codex, Gemini, Cursor, Cline, Roo, Copilot, OpenCode,
# Windsurf, OpenHands, Goose, the API of Anthropic, Continue, Kiro, Droid, Augment and others, in lower case. A "patch"
# changes several files in one call, an "editor" views, creates and edits, as its input `command` says.
_NAMES: Final[Mapping[str, str]] = {
    "Bash": (
        "exec_command shell shell_command local_shell container.exec run_shell_command run_terminal_cmd execute_command"
        " run_in_terminal execute_bash developer__shell builtin_run_terminal_command executebash executepwsh execute"
        " launch-process bash run_command run_shell powershell terminal"
    ),
    "Read": "read_many_files read_file view_file builtin_read_file fs_read readfile readmultiplefiles read view",
    "Edit": (
        "replace edit_file search_replace replace_in_file insert_content apply_diff replace_string_in_file"
        " multi_replace_string_in_file insert_edit_into_file multiedit replace_file_content"
        " builtin_edit_existing_file fsappend strreplace edit str_replace"
    ),
    "Write": "write_to_file builtin_create_new_file fswrite create save-file write write_file create_file",
    "patch": "apply_patch patch applypatch",
    "Grep": "search_file_content codebase_search grep_search search_files grepsearch grep",
    "TodoWrite": "update_plan write_todos update_todo_list manage_todo_list todowrite",
    "AskUserQuestion": "request_user_input",
    "editor": "str_replace_editor developer__text_editor str_replace_based_edit_tool fs_write str-replace-editor",
}
_KINDS: Final = {name: kind for kind, names in _NAMES.items() for name in names.split()}
# Of Claude Code itself: such a call is taken as it is.
_CANONICAL: Final = EDITS | READS | {"Bash", "Grep", "Glob", "TodoWrite"}
# Unless its input is another client's: Amp's `Bash {"cmd": "make"}`, Droid's `Edit {"old_str": "a"}`.
_OWN_INPUTS: Final = {"Bash": "command", "Edit": "old_string", "Read": "file_path", "Write": "file_path"}

COMMAND_KEYS = ("command", "cmd", "CommandLine")
PATH_KEYS = (
    *("file_path", "path", "target_file", "filePath", "absolute_path", "filename"),
    *("filepath", "TargetFile", "AbsolutePath"),
)
NEW_TEXT_KEYS = (
    *("new_string", "new_str", "newString", "content", "code_edit", "file_text", "diff"),
    *("CodeContent", "ReplacementContent", "code", "contents", "changes", "text", "newStr", "newText", "file_content"),
)
_OLD_TEXT_KEYS = ("old_string", "old_str", "oldString", "TargetContent", "oldStr", "oldText")
PATCH_KEYS = ("input", "patch", "patchText")
FOLDER_KEYS = ("workdir", "cwd", "working_directory", "directory", "dir_path")  # in which a command runs
_PATHS_KEYS = ("paths", "include", "files", "operations")  # of a call that reads several files
SEVERAL_KEYS = ("edits", "replacements", "ReplacementChunks")
_PLAN_KEYS = ("plan", "todos", "todoList")
_STEP_KEYS = ("step", "content", "title", "description")
# As Claude Code calls the states of a step.
_STATES: Final = {
    "not-started": "pending",
    "in-progress": "in_progress",
    "done": "completed",
    **dict.fromkeys(("", " "), "pending"),
    **dict.fromkeys("xX", "completed"),
    **dict.fromkeys("-~", "in_progress"),
}
# A list of steps as text: "[x] Write it".
_CHECKBOX = lazy_regex(r"^[^\S\n]*(?:[-*]\s+)?\[(?P<state>[ xX~-]?)\]\s+(?P<step>\S.*?)\s*$", re.MULTILINE)
_EDITOR_KINDS: Final = {"view": "Read", "create": "Write", "write": "Write"}
# `bash -lc "make test"` runs `make test`.
_SHELL_WORDS = 3
_SHELLS = lazy_regex(r"(?:^|/)(?:ba|z|da)?sh$|(?:^|/)(?:pwsh|powershell)(?:\.exe)?$")
# One file of a patch: "*** Update File: src/app.py".
_PATCHED = lazy_regex(r"^\*\*\* (?P<how>Add|Update|Delete) File: (?P<path>.+?)\s*$", re.MULTILINE)
# Between the places of a file that a patch changes: "@@ def parse", and the lines that begin and end a patch.
_BETWEEN_HUNKS = lazy_regex(r"^(?:@@.*|\*\*\*.*)$", re.MULTILINE)
_ADDED = lazy_regex(r"^\+(?P<line>.*)$", re.MULTILINE)
_REMOVED = lazy_regex(r"^-(?P<line>.*)$", re.MULTILINE)
# What Codex writes before a command's output: "Exit code: 1\nWall time: 0.2 seconds\nOutput:\n".
_HEADER = lazy_regex(
    r"\A(?=(?:Chunk ID|Wall time|Exit code|Process exited)\b)(?P<head>(?:[^\n]*\n){1,8}?)Output:\n?", re.MULTILINE
)
_STATUS = lazy_regex(r"(?:^Exit code: |exited with code )(?P<code>-?\d+)", re.MULTILINE)
# What Gemini CLI writes below a command's output, and what OpenHands and others do.
_STATUS_BELOW = lazy_regex(
    r"\ACommand: [^\0]*^Exit Code: (?P<code>-?\d+)\s*$"
    r"|^\W*(?:the )?command (?:completed|finished|exited|failed) with (?:exit )?code:? (?P<end>-?\d+)\W*\Z",
    re.MULTILINE | re.IGNORECASE,
)

_NOTE: Final = "user_note: "  # before what a person typed in answering a question of Codex
_OTHER: Final = "None of the above"  # the choice that it adds to those of the agent


class _Answer(msgspec.Struct):
    answers: list[str]


class _Answers(msgspec.Struct):
    answers: dict[str, _Answer]


def canonical_calls(name: str, given: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a tool call of any client as the equal call of Claude Code; a patch yields one call for each file."""
    own = name in _CANONICAL and (name not in _OWN_INPUTS or _OWN_INPUTS[name] in given)
    kind = None if own else _KINDS.get(name.lower())
    match kind:
        case "Bash":
            yield kind, _without_empty(command=_command(given), description=_text(given, "description"))
        case "AskUserQuestion":
            yield kind, dict(given)
        case "patch":
            yield from _patched(_text(given, *PATCH_KEYS), name, given)
        case "TodoWrite":
            yield kind, {"todos": [*_todos(given)]}
        case "Read" if paths := _several_paths(given):
            yield from ((kind, {"file_path": path}) for path in paths)
        case "Read" | "Edit" | "Write":
            yield _of_file(kind, given)
        case "editor":
            yield _of_file(_EDITOR_KINDS.get(_text(given, "command"), "Edit"), given)
        case "Grep":
            pattern, path = _text(given, "pattern", "query", "regex"), _text(given, "path", "dir_path")
            yield kind, _without_empty(pattern=pattern, path=path)
        case _:
            yield name, dict(given)


def _several_paths(given: Mapping[str, Any]) -> list[str]:
    """Return the paths of a call that reads several files; none of patterns such as `src/**`."""
    named = [one.get("path") if isinstance(one, dict) else one for one in _list(given, *_PATHS_KEYS) or []]
    return [path for path in named if isinstance(path, str) and "*" not in path]


def _of_file(kind: str, given: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    path = _text(given, *PATH_KEYS)
    if kind == "Read":
        return kind, _without_empty(file_path=path)
    if kind == "Write":
        return kind, _without_empty(file_path=path, content=_text(given, *NEW_TEXT_KEYS))
    several = _list(given, *SEVERAL_KEYS)
    if several is None:
        return kind, _without_empty(file_path=path, **_replacement(given))
    edits = [one for one in several if isinstance(one, dict)]
    path = path or next((edited_path for one in edits if (edited_path := _text(one, *PATH_KEYS))), "")
    of_file = [one for one in edits if _text(one, *PATH_KEYS) in {"", path}]
    return "MultiEdit", {**_without_empty(file_path=path), "edits": [_replacement(one) for one in of_file]}


def _replacement(given: Mapping[str, Any]) -> dict[str, str]:
    return _without_empty(old_string=_text(given, *_OLD_TEXT_KEYS), new_string=_text(given, *NEW_TEXT_KEYS))


def canonical_result(name: str, text: str, given: Mapping[str, Any]) -> tuple[str, int | None]:
    """Return a command's output in Claude Code's form and its exit code; None where the client does not name it.

    The form: no header, and `Exit code N` first if it failed. The answers to the questions of `given`, the call's
    input, stand behind them.
    """
    if _KINDS.get(name.lower()) == "AskUserQuestion":
        return _answered(text, given), None
    if _KINDS.get(name.lower()) not in {"Bash", "patch"} or name in _CANONICAL:
        return text, None
    code: int | None
    if text.startswith("{"):
        code, output = _from_json(text)
    else:
        header = _HEADER.match(text)
        status = _STATUS.search(header["head"]) if header else None
        below = _STATUS_BELOW.search(text) if header is None else None
        code = int(status["code"]) if status else int(below["code"] or below["end"]) if below else None
        output = text[header.end() :] if header else text
    return (f"Exit code {code}\n{output}" if code else output), code


def _answered(text: str, given: Mapping[str, Any]) -> str:
    """Return the answers of Codex, which are by the questions' ids, as Claude Code writes them; else `text`.

    An answer is the labels that were chosen, and what the person typed beside or instead of them. One that was not
    shown while it was typed is left out.
    """
    try:
        by_id = from_json(text, _Answers).answers
    except msgspec.DecodeError:
        return text
    shown = ""
    for one in _list(given, "questions") or []:
        if isinstance(one, dict) and not one.get("isSecret") and (said := by_id.get(str(one.get("id")))):
            labels = ", ".join(word for word in said.answers if not word.startswith(_NOTE) and word != _OTHER)
            note = "\n".join(word.removeprefix(_NOTE) for word in said.answers if word.startswith(_NOTE))
            notes = f" user notes: {note}" if labels and note else ""
            shown += f'"{one.get("question")}"="{labels or note}"{notes}\n' if labels or note else ""
    return shown


def _from_json(text: str) -> tuple[int | None, str]:
    """Return exit code and output of `{"output": "", "metadata": {"exit_code": 1}}`; else None and `text`."""
    try:
        value = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return None, text
    if not isinstance(value, dict) or not isinstance(value.get("output"), str):
        return None, text
    about = value.get("metadata")
    code = about.get("exit_code") if isinstance(about, dict) else None
    return (code if isinstance(code, int) else None), value["output"]


def _command(given: Mapping[str, Any]) -> str:
    """Return the command line of a call: a string, or a list of words whose shell is left out."""
    action = given.get("action")
    command = next((given[key] for key in COMMAND_KEYS if key in given), None)
    if command is None and isinstance(action, dict):
        command = action.get("command")
    several = given.get("commands")
    if command is None and isinstance(several, list):
        return "\n".join(line for line in several if isinstance(line, str))
    if isinstance(command, list):
        words = [word for word in command if isinstance(word, str)]
        if len(words) == _SHELL_WORDS and _SHELLS.search(words[0]) and words[1].startswith("-"):
            return words[2]
        return " ".join(words)
    return command if isinstance(command, str) else ""


def _patched(patch: str, name: str, given: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a `Write` for each file that a patch adds and an `Edit` for each that it changes; none for removed ones."""
    matches = list(_PATCHED.finditer(patch))
    if not matches:
        yield name, dict(given)
    for index, match in enumerate(matches):
        end = matches[index + 1].start() if index + 1 < len(matches) else len(patch)
        added = "\n".join(line["line"] for line in _ADDED.finditer(patch, match.end(), end))
        if match["how"] == "Add":
            yield "Write", {"file_path": match["path"], "content": f"{added}\n"}
        elif match["how"] == "Update":
            removed = "\n".join(line["line"] for line in _REMOVED.finditer(patch, match.end(), end))
            hunks = [hunk for part in _BETWEEN_HUNKS.split(patch[match.end() : end]) if (hunk := _hunk(part))]
            yield "Edit", {"file_path": match["path"], "old_string": removed, "new_string": added, "edits": hunks}


def _hunk(part: str) -> dict[str, str]:
    """Return the old and new lines of one hunk of a patch, as the inputs of an edit; empty if no line is changed."""
    lines = part.strip("\n").split("\n")
    if not any(line.startswith(("+", "-")) for line in lines):
        return {}
    old, new = ("\n".join(line[1:] for line in lines if not line.startswith(other)) for other in ("+", "-"))
    return {"old_string": old, "new_string": new}


def _todos(given: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    boxes = [box.groupdict() | {"status": box["state"]} for box in _CHECKBOX.finditer(_text(given, *_PLAN_KEYS))]
    for step in _list(given, *_PLAN_KEYS) or boxes:
        if isinstance(step, dict) and (text := _text(step, *_STEP_KEYS)):
            status = str(step.get("status") or "pending")
            yield {"content": text, "status": _STATES.get(status, status)}


def _text(given: Mapping[str, Any], *keys: str) -> str:
    return next((given[key] for key in keys if isinstance(given.get(key), str)), "")


def _list(given: Mapping[str, Any], *keys: str) -> list[Any] | None:
    return next((given[key] for key in keys if isinstance(given.get(key), list)), None)


def _without_empty(**given: str) -> dict[str, Any]:
    return {key: value for key, value in given.items() if value}
