"""Hints: every `reverie` command that an error or a text names exists in the command tree."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from reveried.cli.tree import tree
from reveried.config import BY_NAME, KEYS

ROOT = Path(__file__).parents[2]
COMMAND = re.compile(r"\breverie ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
SETTING = re.compile(rf"\b(?:{'|'.join(sorted({key.section for key in KEYS}))})\.[a-z][A-Za-z]+\b(?!\.?[a-z(])")
VARIABLE = re.compile(r"\bREVERIE_[A-Z_]+\b")
OTHER_VARIABLES = {"REVERIE_HOME", "REVERIE_TOKEN"}  # they are no settings
FOLDERS = ("python/reverie", "daemon/reveried")


def _hints(source: str) -> Iterator[str]:
    """Yield the text of every `hint=` argument and every constant `..._HINT`; a placeholder of an f-string is `{}`."""
    has_constants = "_HINT" in source  # in few modules, and it takes long to write out what is assigned to
    for node in ast.walk(ast.parse(source)):
        if has_constants and isinstance(node, ast.Assign) and ast.unparse(node.targets[0]).endswith("_HINT"):
            yield _text(node.value)
        if isinstance(node, ast.keyword) and node.arg == "hint":
            yield _text(node.value)


def _texts(source: str) -> Iterator[str]:
    """Yield every string of a module of the command line, docstrings included, since they are its help texts."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            yield _text(node)


def _options_of(words: list[str]) -> set[str]:
    """Return the options of a command, or of a group and all its commands."""
    command: Any = tree()
    for word in words:
        command = getattr(command, "commands", {}).get(word, command)
    members = getattr(command, "commands", {}).values()
    parameters = [parameter for one in (command, *members) for parameter in one.params]
    return {option for parameter in parameters for option in parameter.opts} | {"--help", "-h"}


def _unknown_options(text: str) -> list[str]:
    """Return the options that a text names behind a command that has no such option."""
    return [
        f"reverie {' '.join(filter(None, found.groups()))} {option}"
        for found in COMMAND.finditer(text)
        for option in OPTION.findall(text[found.end() :].split("reverie ", maxsplit=1)[0].split("`", maxsplit=1)[0])
        if option not in _options_of([word for word in found.groups() if word])
    ]


def _unknown_settings(text: str) -> list[str]:
    """Return the settings and REVERIE_* variables in a text that do not exist."""
    keys = [found for found in SETTING.findall(text) if found not in BY_NAME]
    variables = {key.environment for key in KEYS} | OTHER_VARIABLES
    return keys + [found for found in VARIABLE.findall(text) if found not in variables]


def _text(node: ast.AST) -> str:
    """Return the constant text of an expression; the texts of a condition's branches are joined."""
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


@cache
def _hints_of(path: Path) -> list[str]:
    """Return the hints of a module, which is parsed once."""
    return list(_hints(path.read_text()))


@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.parametrize("unknown", [_unknown, _unknown_options, _unknown_settings])
def test_what_hints_name_exists(folder: str, unknown: Callable[[str], list[str]]) -> None:
    """Every hint names commands, options, settings and variables that exist."""
    wrong = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for hint in _hints_of(path)
        for name in unknown(hint)
    }
    assert wrong == set()


@pytest.mark.parametrize("unknown", [_unknown, _unknown_options])
def test_what_texts_of_the_command_line_name_exists(unknown: Callable[[str], list[str]]) -> None:
    """Every sentence and help text of the command line and the demo names commands and options that exist."""
    wrong = {
        f"{path.relative_to(ROOT)}: {name}"
        for part in ("cli", "demo", "sync_service")
        for path in sorted((ROOT / "daemon/reveried" / part).rglob("*.py"))
        for text in _texts(path.read_text())
        for name in unknown(text)
    }
    assert wrong == set()


def test_an_unknown_command_is_found() -> None:
    """The check itself finds a command and a subcommand that do not exist, in an f-string too."""
    source = 'f(hint="reverie token renew")\ng(hint=f"{x}: reverie sync stop" if x else "reverie up")\n'
    assert [name for hint in _hints(source) for name in _unknown(hint)] == ["reverie token renew", "reverie sync stop"]


def test_unknown_options_and_settings_are_found() -> None:
    """The check itself finds an option that the command lacks, a setting and a variable that do not exist."""
    assert _unknown_options("run `reverie sync now --deeper`, or reverie threads --json") == [
        "reverie sync now --deeper"
    ]
    assert _unknown_settings("set daemon.sokcet or REVERIE_SOCKET or REVERIE_NOTHING") == [
        "daemon.sokcet",
        "REVERIE_NOTHING",
    ]
