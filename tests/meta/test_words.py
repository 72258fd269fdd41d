"""The words of the code are the glossary's: documentation is understood without the body that it describes."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NARRATIVE = re.compile(r"\b(told|somebody|nobody|whoever|stands?|stood|held|goes on)\b|^(Whether|What)\b")
"""Words of a story rather than of a specification: they name neither an object nor a result."""
RUST_DOC = re.compile(r"\s*//[/!] ?(.*)")
RUST_BEGINNING = re.compile(r"(How|That)\b")
"""Beginnings of a relative clause, which leaves out the object that it describes: "How often a text occurs."."""


@cache
def first_lines() -> list[tuple[str, str]]:
    """Return every first docstring line of the two distributions and their tests with its file and name."""
    lines = []
    for base in ("python", "daemon", "tests"):
        for path in sorted((ROOT / base).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                    text = ast.get_docstring(node)
                    if text:
                        location = f"{path.relative_to(ROOT)} {getattr(node, 'name', '')}"
                        lines.append((location, text.splitlines()[0]))
    return lines


@cache
def rust_first_lines() -> list[tuple[str, str]]:
    """Return the first line of every documentation comment of the Rust crates with its file and line number."""
    lines = []
    for path in sorted((ROOT / "rust").rglob("*.rs")):
        documented = False
        for number, line in enumerate(path.read_text().splitlines(), 1):
            comment = RUST_DOC.match(line)
            if comment and not documented:
                lines.append((f"{path.relative_to(ROOT)}:{number}", comment[1]))
            documented = comment is not None
    return lines


def test_first_lines_name_objects_and_results() -> None:
    """A first docstring line says what is returned or done, in the words of a specification."""
    narrated = [f"{location}: {line}" for location, line in first_lines() if NARRATIVE.search(line)]

    assert narrated == []


def test_first_lines_are_sentences() -> None:
    """A first docstring line ends a sentence, so that it can be read alone."""
    cut = [f"{location}: {line}" for location, line in first_lines() if line[-1] not in ".:?"]

    assert cut == []


def test_first_lines_of_rust_name_objects_and_results() -> None:
    """The first line of a documentation comment of Rust follows the same rule, and begins with no clause."""
    lines = rust_first_lines()
    narrated = [
        f"{location}: {line}" for location, line in lines if NARRATIVE.search(line) or RUST_BEGINNING.match(line)
    ]

    assert len(lines) > 1000
    assert narrated == []
