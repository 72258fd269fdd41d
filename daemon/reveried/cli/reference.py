"""The page docs/cli.md, written from the tree of commands: `python -m reveried.cli.reference > docs/cli.md`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from reveried.cli.tree import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["markdown"]

_HEAD = """\
# The command line

This page is written from the program itself (`python -m reveried.cli.reference`); a test compares the two.

- Every command takes `--json` for machines and prints a table or a sentence for people. `NO_COLOR` is honoured, and
  what goes to a pipe is plain text.
- Exit codes: 0 done, 1 failed, 2 usage, 3 the daemon is not running, 4 conflict or stale, 5 refused.
- An error says what failed and why, and after `next:` what to type.
"""


def markdown() -> str:
    """The page."""
    parts = [_HEAD]
    for name, command in tree().commands.items():
        if hasattr(command, "commands"):
            parts.append(f"## reverie {name}\n\n{_says(command)}\n")
            parts.extend(_section(f"reverie {name} {inner}", found, "###") for inner, found in command.commands.items())
        else:
            parts.append(_section(f"reverie {name}", command, "##"))
    return "\n".join(parts)


def _section(name: str, command: Any, heading: str) -> str:
    rows = list(_rows(command))
    usage = " ".join([name, *(row[0] for row in rows if not row[0].startswith("-")), "[OPTIONS]"])
    lines = [f"{heading} {name}", "", _says(command), "", f"    {usage}", ""]
    if rows:
        lines += ["| | |", "|---|---|", *(f"| `{left}` | {right} |" for left, right in rows), ""]
    return "\n".join(lines)


def _says(command: Any) -> str:
    """The command's sentence, and its example as code."""
    sentence, found, example = (command.help or "").partition("Example: ")
    return f"{sentence.strip()}\n\nExample: `{example.strip()}`" if found else sentence.strip()


def _rows(command: Any) -> Iterator[tuple[str, str]]:
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            yield parameter.metavar or parameter.name.upper(), parameter.help or ""
            continue
        flag = ", ".join(parameter.opts)
        metavar = "" if parameter.is_flag else f" {parameter.metavar or parameter.name.upper()}"
        default = f" (default {parameter.default})" if parameter.default not in (None, False) else ""
        yield f"{flag}{metavar}", f"{parameter.help or ''}{default}"


if __name__ == "__main__":
    sys.stdout.write(markdown())
