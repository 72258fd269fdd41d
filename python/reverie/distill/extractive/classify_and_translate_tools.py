"""Tools by what they do, with a table for each client: the tools of every client are read as those of Claude Code.

A client names its tools, and their inputs, as it likes. The rest of the engine asks only what a call did: run a
command, read a file, edit files, search. So a call is translated once, where messages become a trace, into the tool and
the inputs that Claude Code would have used. Example: Codex's `exec_command {"cmd": "make test"}` becomes
`Bash {"command": "make test"}`. A tool in no table keeps its name, and nothing is concluded from it.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["EDITS", "READS", "ToolKind", "canonical_calls", "canonical_result"]

EDITS: Final = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})
"""Tools of Claude Code that change files."""

READS: Final = frozenset({"Read", "NotebookRead"})
"""Tools of Claude Code that read one whole file."""


class ToolKind(Enum):
    """Purpose of a tool; the value is the tool of Claude Code that does the same."""

    RUN = "Bash"
    READ = "Read"
    EDIT = "Edit"
    WRITE = "Write"
    PATCH = "apply_patch"  # several files in one call; each becomes an edit
    SEARCH = "Grep"
    PLAN = "TodoWrite"


# Lower case; each client's own names. Where two clients use one name for one purpose it stands once.
_TABLES: Final[Mapping[str, Mapping[str, ToolKind]]] = {
    "codex": {
        "exec_command": ToolKind.RUN,
        "shell": ToolKind.RUN,
        "shell_command": ToolKind.RUN,
        "local_shell": ToolKind.RUN,
        "container.exec": ToolKind.RUN,
        "apply_patch": ToolKind.PATCH,
        "update_plan": ToolKind.PLAN,
    },
    "gemini": {
        "run_shell_command": ToolKind.RUN,
        "replace": ToolKind.EDIT,
        "search_file_content": ToolKind.SEARCH,
    },
    "cursor": {
        "run_terminal_cmd": ToolKind.RUN,
        "read_file": ToolKind.READ,
        "edit_file": ToolKind.EDIT,
        "search_replace": ToolKind.EDIT,
        "codebase_search": ToolKind.SEARCH,
        "grep_search": ToolKind.SEARCH,
    },
    "cline": {
        "execute_command": ToolKind.RUN,
        "write_to_file": ToolKind.WRITE,
        "replace_in_file": ToolKind.EDIT,
        "search_files": ToolKind.SEARCH,
    },
    "others": {
        "bash": ToolKind.RUN,
        "run_command": ToolKind.RUN,
        "read": ToolKind.READ,
        "edit": ToolKind.EDIT,
        "write": ToolKind.WRITE,
        "write_file": ToolKind.WRITE,
        "create_file": ToolKind.WRITE,
        "str_replace": ToolKind.EDIT,
        "grep": ToolKind.SEARCH,
    },
}
_KINDS: Final = {name: kind for table in _TABLES.values() for name, kind in table.items()}
# Of Claude Code itself: such a call is taken as it is.
_CANONICAL: Final = EDITS | READS | {"Bash", "Grep", "Glob", "TodoWrite"}

_COMMAND_KEYS = ("command", "cmd", "CommandLine")
_PATH_KEYS = ("file_path", "path", "target_file", "filePath", "absolute_path", "filename")
_NEW_TEXT_KEYS = ("new_string", "new_str", "newString", "content", "code_edit", "file_text", "diff")
_OLD_TEXT_KEYS = ("old_string", "old_str", "oldString")
# `bash -lc "make test"` runs `make test`.
_SHELL_WORDS = 3
_SHELLS = re.compile(r"(?:^|/)(?:ba|z|da)?sh$|(?:^|/)(?:pwsh|powershell)(?:\.exe)?$")
# One file of a patch: "*** Update File: src/app.py".
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update) File: (?P<path>.+?)\s*$", re.MULTILINE)
_ADDED = re.compile(r"^\+(?P<line>.*)$", re.MULTILINE)
_REMOVED = re.compile(r"^-(?P<line>.*)$", re.MULTILINE)
# What Codex writes before a command's output: "Exit code: 1\nWall time: 0.2 seconds\nOutput:\n".
_HEADER = re.compile(
    r"\A(?=(?:Chunk ID|Wall time|Exit code|Process exited)\b)(?P<head>(?:[^\n]*\n){1,8}?)Output:\n?", re.MULTILINE
)
_STATUS = re.compile(r"(?:^Exit code: |exited with code )(?P<code>-?\d+)", re.MULTILINE)


def canonical_calls(name: str, given: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a tool call as Claude Code would have made it; a patch of several files is one edit for each."""
    kind = None if name in _CANONICAL else _KINDS.get(name.lower())
    match kind:
        case ToolKind.RUN:
            yield "Bash", _without_empty(command=_command(given), description=_text(given, "description"))
        case ToolKind.PATCH:
            yield from _patched(_text(given, "input", "patch"), given)
        case ToolKind.PLAN:
            yield "TodoWrite", {"todos": [*_todos(given)]}
        case ToolKind.READ | ToolKind.EDIT | ToolKind.WRITE:
            path, text = _text(given, *_PATH_KEYS), _text(given, *_NEW_TEXT_KEYS)
            key = "content" if kind is ToolKind.WRITE else "new_string"
            old = _text(given, *_OLD_TEXT_KEYS) if kind is ToolKind.EDIT else ""
            new = text if kind is not ToolKind.READ else ""
            yield kind.value, _without_empty(**{"file_path": path, "old_string": old, key: new})
        case ToolKind.SEARCH:
            yield (
                "Grep",
                _without_empty(
                    pattern=_text(given, "pattern", "query", "regex"), path=_text(given, "path", "dir_path")
                ),
            )
        case None:
            yield name, dict(given)


def canonical_result(name: str, text: str) -> str:
    """Return a command's output as Claude Code would have it: without a header, `Exit code N` first where it failed."""
    if _KINDS.get(name.lower()) not in {ToolKind.RUN, ToolKind.PATCH} or name in _CANONICAL:
        return text
    if text.startswith("{"):
        code, output = _from_json(text)
    else:
        header = _HEADER.match(text)
        status = _STATUS.search(header["head"]) if header else None
        code, output = (int(status["code"]) if status else 0), text[header.end() :] if header else text
    return f"Exit code {code}\n{output}" if code else output


def _from_json(text: str) -> tuple[int, str]:
    """Return exit code and output of `{"output": "", "metadata": {"exit_code": 1}}`; else 0 and `text`."""
    try:
        found = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return 0, text
    if not isinstance(found, dict) or not isinstance(found.get("output"), str):
        return 0, text
    about = found.get("metadata")
    code = about.get("exit_code") if isinstance(about, dict) else None
    return (code if isinstance(code, int) else 0), found["output"]


def _command(given: Mapping[str, Any]) -> str:
    """Return the command line of a call: a string, or a list of words whose shell is left out."""
    action = given.get("action")
    found = next((given[key] for key in _COMMAND_KEYS if key in given), None)
    if found is None and isinstance(action, dict):
        found = action.get("command")
    if isinstance(found, list):
        words = [word for word in found if isinstance(word, str)]
        if len(words) == _SHELL_WORDS and _SHELLS.search(words[0]) and words[1].startswith("-"):
            return words[2]
        return " ".join(words)
    return found if isinstance(found, str) else ""


def _patched(patch: str, given: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    found = list(_PATCHED.finditer(patch))
    if not found:
        yield "apply_patch", dict(given)
    for place, match in enumerate(found):
        end = found[place + 1].start() if place + 1 < len(found) else len(patch)
        added = "\n".join(line["line"] for line in _ADDED.finditer(patch, match.end(), end))
        removed = "\n".join(line["line"] for line in _REMOVED.finditer(patch, match.end(), end))
        yield "Edit", {"file_path": match["path"], "old_string": removed, "new_string": added}


def _todos(given: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    steps = given.get("plan")
    for step in steps if isinstance(steps, list) else []:
        if isinstance(step, dict) and isinstance(step.get("step"), str):
            yield {"content": step["step"], "status": str(step.get("status") or "pending")}


def _text(given: Mapping[str, Any], *keys: str) -> str:
    """Return the first of some inputs that is text, or the empty string."""
    return next((given[key] for key in keys if isinstance(given.get(key), str)), "")


def _without_empty(**given: str) -> dict[str, Any]:
    return {key: value for key, value in given.items() if value}
