"""Hints: every `reverie` command that an error or a text names exists in the command tree."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from reveried.cli.command_tree import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
COMMAND = re.compile(r"\breverie ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?")
FOLDERS = ("python/reverie", "daemon/reveried")


def _hints(source: str) -> Iterator[str]:
    """Yield the text of every `hint=` argument and every constant `..._HINT`; a placeholder of an f-string is `{}`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]).endswith("_HINT"):
            yield _text(node.value)
        if isinstance(node, ast.keyword) and node.arg == "hint":
            yield _text(node.value)


def _texts(source: str) -> Iterator[str]:
    """Yield every string of a module of the command line, with its docstrings: they are the help."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            yield _text(node)


def _text(node: ast.AST) -> str:
    """Return the constant text of an expression, also of one branch beside the other."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(_text(value) for value in values)
        case ast.FormattedValue():
            return "{}"
        case _:
            return " | ".join(filter(None, map(_text, ast.iter_child_nodes(node))))


def _unknown(text: str) -> list[str]:
    """Return the commands in a text that do not exist."""
    groups = {name: set(getattr(command, "commands", ())) for name, command in tree().commands.items()}
    return [
        found[0]
        for found in COMMAND.finditer(text)
        if found[1] not in groups or (groups[found[1]] and found[2] is not None and found[2] not in groups[found[1]])
    ]


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_commands_in_hints_exist(folder: str) -> None:
    """Every hint names commands of the command tree."""
    wrong = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for hint in _hints(path.read_text())
        for name in _unknown(hint)
    }
    assert wrong == set()


def test_the_commands_in_texts_of_the_command_line_exist() -> None:
    """Every sentence and help text of the command line and the demo names commands of the command tree."""
    wrong = {
        f"{path.relative_to(ROOT)}: {name}"
        for part in ("cli", "demo", "sync_service")
        for path in sorted((ROOT / "daemon/reveried" / part).rglob("*.py"))
        for text in _texts(path.read_text())
        for name in _unknown(text)
    }
    assert wrong == set()


def test_an_unknown_command_is_found() -> None:
    """The check itself finds a command and a subcommand that do not exist, in an f-string too."""
    source = 'f(hint="reverie token create")\ng(hint=f"{x}: reverie sync stop" if x else "reverie up")\n'
    assert [name for hint in _hints(source) for name in _unknown(hint)] == ["reverie token create", "reverie sync stop"]
