"""Changes one value in a TOML text and leaves every other byte, comments above all, as it is."""

from __future__ import annotations

import json
import re
from typing import Any

__all__ = ["with_value"]

_TABLE = re.compile(r"^\s*\[\s*([A-Za-z0-9_-]+)\s*\]\s*(?:#.*)?$")
_COMMENT = re.compile(r"\s+#[^\"']*$")


def with_value(text: str, name: str, value: Any) -> str:
    """`text` with `section.key` set: its line replaced, or added at the end of its table, or with a table of its own.

    The settings have two levels and their lists stand on one line; a list written over several lines is replaced whole.
    """
    section, _, key = name.partition(".")
    lines = text.split("\n")
    line = f"{key} = {_written(value)}"
    begin, end = _table(lines, section)
    if begin is None:
        body = text.rstrip("\n")
        return f"{body}\n\n[{section}]\n{line}\n" if body else f"[{section}]\n{line}\n"
    for at in range(begin, end):
        if re.match(rf"^\s*{re.escape(key)}\s*=", lines[at]):
            last = _last_line(lines, at, end)
            comment = _COMMENT.search(lines[last])
            lines[at : last + 1] = [line + (comment.group() if comment else "")]
            return _ended(lines)
    while end > begin and not lines[end - 1].strip():
        end -= 1
    lines.insert(end, line)
    return _ended(lines)


def _ended(lines: list[str]) -> str:
    text = "\n".join(lines)
    return text if text.endswith("\n") else text + "\n"


def _table(lines: list[str], section: str) -> tuple[int | None, int]:
    """The lines of a table, its heading left out."""
    begin: int | None = None
    for at, line in enumerate(lines):
        heading = _TABLE.match(line)
        if heading is None:
            continue
        if begin is not None:
            return begin, at
        if heading.group(1) == section:
            begin = at + 1
    return begin, len(lines)


def _last_line(lines: list[str], at: int, end: int) -> int:
    """The last line of the value that begins at `at`: a list goes on to its closing bracket."""
    depth = 0
    for last in range(at, end):
        bare = re.sub(r"\"(?:\\.|[^\"\\])*\"|'[^']*'|#.*$", "", lines[last])
        depth += bare.count("[") - bare.count("]")
        if depth <= 0:
            return last
    return at


def _written(value: Any) -> str:
    """A value as TOML: strings and lists of strings are written alike in JSON, which escapes no less."""
    if isinstance(value, tuple | list):
        return "[" + ", ".join(_written(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False) if not isinstance(value, float) else repr(value)
