"""Change one setting in the text of a settings file; comments and all other lines stay as they are.

A small line editor of our own (75 lines). tomlkit does it in a more general way, but the daemon would depend on it for
this alone, and it refuses a file whose only syntax error is the value to be replaced.
"""

from __future__ import annotations

import json
import re
from typing import Any

from reverie.lazy_regex import lazy_regex

_TABLE = lazy_regex(r"^\s*\[\s*([A-Za-z0-9_-]+)\s*\]\s*(?:#.*)?$")
_COMMENT = lazy_regex(r"\s+#[^\"']*$")


def with_value(text: str, name: str, value: Any) -> str:
    """Return the TOML text with `section.key` set; every other byte, comments above all, stays the same.

    The key's line is replaced, or added at the end of its table, or with a new table. Settings have two levels, and a
    list that goes over several lines is replaced whole.
    """
    section, _, key = name.partition(".")
    lines = text.split("\n")
    line = f"{key} = {_toml_value(value)}"
    begin, end = _table_lines(lines, section)
    if begin is None:
        body = text.rstrip("\n")
        return f"{body}\n\n[{section}]\n{line}\n" if body else f"[{section}]\n{line}\n"
    for at in range(begin, end):
        if re.match(rf"^\s*{re.escape(key)}\s*=", lines[at]):
            last = _last_line(lines, at, end)
            comment = _COMMENT.search(lines[last])
            lines[at : last + 1] = [line + (comment.group() if comment else "")]
            return _joined(lines)
    while end > begin and not lines[end - 1].strip():
        end -= 1  # before the blank lines that separate this table from the next
    lines.insert(end, line)
    return _joined(lines)


def _joined(lines: list[str]) -> str:
    """Join lines to a text that ends with a newline."""
    text = "\n".join(lines)
    return text if text.endswith("\n") else text + "\n"


def _table_lines(lines: list[str], section: str) -> tuple[int | None, int]:
    """Return the range of a table's lines without its heading; (None, n) if there is no such table."""
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
    """Return the index of the last line of the TOML value that begins at line `at`; a list ends at its closing bracket.

    Brackets in strings and comments do not count: after `["a]",  # ]` the list is still open.
    """
    depth = 0
    for last in range(at, end):
        code = re.sub(r"\"(?:\\.|[^\"\\])*\"|'[^']*'|#.*$", "", lines[last])
        depth += code.count("[") - code.count("]")
        if depth <= 0:
            return last
    return at


def _toml_value(value: Any) -> str:
    """Format a value as TOML; strings as in JSON, whose escapes TOML reads too."""
    if isinstance(value, tuple | list):
        return "[" + ", ".join(_toml_value(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False) if not isinstance(value, float) else repr(value)
