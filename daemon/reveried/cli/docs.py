"""Generated parts of docs/: `python -m reveried.cli.docs docs` writes them anew, below the head of each page.

They are made of what the program itself uses: the command tree, the settings schema, the redaction kinds. A test
compares them.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from reverie.redact import KINDS, indicators
from reveried.cli.tree import tree
from reveried.config import KEYS

if TYPE_CHECKING:
    from collections.abc import Iterator

SHAPES: Final = {
    "authorization": "an `Authorization` header, or `Basic` or `Bearer` before credentials",
    "byok": "a foreign marker, `[BYOK:...]`",
    "connection-password": "the password in `scheme://user:password@host`, in `-u user:password`, in `IDENTIFIED BY`",
    "cookie": "the value of a session in `Cookie`, `Set-Cookie` or `--cookie`",
    "discord-token": "three parts with dots between, the first a number in base64",
    "foreign": "a foreign marker, `<REDACTED:...>`",
    "jwt": "`eyJ`, a dot, and the parts of a token after it",
    "key-material": "a line of a key in base64",
    "mailgun-key": "32 and twice 8 hexadecimal digits with dashes between",
    "private": "`<private>`, also with a reason, and the text up to `</private>`: marked by a person; without it, all",
    "private-key": "the text between `BEGIN ... PRIVATE KEY` and its `END`",
    "secret": "a value of your own",
}
"""Descriptions of the kinds that no published prefix identifies, or not alone."""

HOW: Final = {"begins": "begins with", "holds": "contains", "named": "its name has"}


def commands_page() -> str:
    """Return the generated part of docs/cli.md: the help of every command."""
    parts: list[str] = []
    for name, command in tree().commands.items():
        if hasattr(command, "commands"):
            parts.append(f"## reverie {name}\n\n{_help_text(command)}\n")
            parts.extend(
                _command_section(f"reverie {name} {inner_name}", inner, "###")
                for inner_name, inner in command.commands.items()
            )
        else:
            parts.append(_command_section(f"reverie {name}", command, "##"))
    return "\n".join(parts)


def settings_page() -> str:
    """Return the generated part of docs/configuration.md: a table row for each setting of the schema."""
    rows = (
        f"| `{key.name}` | `{json.dumps(key.default)}` | {key.description} | {key.expected} | `{key.environment}` |"
        for key in KEYS
    )
    return "\n".join(rows) + "\n"


def redaction_page() -> str:
    """Return the generated part of docs/redaction.md: what indicates a secret of each kind."""
    descriptions: dict[str, list[str]] = defaultdict(list)
    for kind in sorted(KINDS & SHAPES.keys()):
        descriptions[kind].append(SHAPES[kind])
    for kind, how, text in indicators():
        code = f"`{text.replace('|', chr(92) + '|')}`"
        if descriptions[kind] and descriptions[kind][-1].startswith(HOW[how]):
            descriptions[kind][-1] += f", {code}"
        else:
            descriptions[kind].append(f"{HOW[how]} {code}")
    return "".join(f"| `{kind}` | {'; '.join(descriptions[kind])} |\n" for kind in sorted(descriptions))


def _command_section(name: str, command: Any, heading: str) -> str:
    """Return the section of one command: its help, usage line, arguments and options."""
    rows = list(_parameter_rows(command))
    usage = " ".join([name, *(row[0] for row in rows if not row[0].startswith("-")), "[OPTIONS]"])
    lines = [f"{heading} {name}", "", _help_text(command), "", f"    {usage}", ""]
    if rows:
        lines += ["| | |", "|---|---|", *(f"| `{left}` | {right} |" for left, right in rows), ""]
    return "\n".join(lines)


def _help_text(command: Any) -> str:
    """Return a command's help: its sentence, its example as code, and the text that follows the example."""
    sentence, marker, rest = (command.help or "").partition("Example: ")
    if not marker:
        return sentence.strip()
    example, _, more = rest.strip().partition("\n\n")
    return "\n\n".join(part for part in (sentence.strip(), f"Example: `{example}`", more.strip()) if part)


def _parameter_rows(command: Any) -> Iterator[tuple[str, str]]:
    """Yield each argument and option of a command with its description."""
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            yield parameter.metavar or parameter.name.upper(), parameter.help or ""
            continue
        flag = ", ".join(parameter.opts)
        metavar = "" if parameter.is_flag else f" {parameter.metavar or parameter.name.upper()}"
        default = f" (default {parameter.default})" if parameter.default not in (None, False) else ""
        yield f"{flag}{metavar}", f"{parameter.help or ''}{default}"


PAGES: Final = {
    "cli": ("## ", commands_page),
    "configuration": ("| `", settings_page),
    "redaction": ("| `", redaction_page),
}
"""Of each page the beginning of its first generated line, and what makes the part from there."""


def page(name: str, text: str) -> str:
    """Return the text of a page with its generated part made anew."""
    begins, make = PAGES[name]
    head, _, _ = text.partition(f"\n{begins}")
    return f"{head}\n{make()}"


if __name__ == "__main__":
    for name in PAGES:
        path = Path(sys.argv[1]) / f"{name}.md"
        path.write_text(page(name, path.read_text("utf-8")), "utf-8")
