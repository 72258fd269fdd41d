"""Generated pages of docs/: `python -m reveried.cli.reference [cli|configuration|redaction] > docs/PAGE.md`.

Each page is written from what the program itself uses: the command tree, the settings schema, the redaction kinds.
Tests compare the pages with this module's output.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

from reverie.redact import KINDS, indicators
from reveried.cli.command_tree import tree
from reveried.config import KEYS

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["SHAPES", "commands_page", "redaction_page", "settings_page"]

COMMANDS_HEAD: Final = """\
# The command line

This page is generated from the program itself (`python -m reveried.cli.reference cli`); a test compares the two.

- Every command takes `--json` for programs; without it, it prints a table or a sentence. `NO_COLOR` is honoured, and
  output to a pipe is plain text.
- Exit codes: 0 done, 1 failed, 2 usage, 3 the daemon is not running, 4 conflict or stale, 5 refused.
- An error names what failed and why, and after `next:` the command to type.
"""

SETTINGS_HEAD: Final = """# Configuration

Reverie works without a configuration file. Settings go into `~/.config/reverie/config.toml`
(`reverie config path` prints its path), and an environment variable of the name below overrides the file.
A key that does not exist is an error that names the nearest one; `reverie config validate` checks the file.

```toml
[memory]
dataDir = "~/Notes/reverie"

[context]
window = 1000000
```

`REVERIE_HOME` moves configuration, data, state and socket under one folder.

| Key | Default | What it is | Values | Environment |
|---|---|---|---|---|
"""

REDACTION_HEAD: Final = """# Redaction

Before anything is stored, secrets in it are replaced by `[REDACTED:<kind>]`. The original is stored nowhere: an
archive, a backup and the markdown files have the marker, and redacting a text twice changes nothing.

A secret is found by

- its **published format**: a prefix, or something inside it, and enough of the right characters after it;
- its **name**: `password = ...`, `"api_key": ...`, `--token ...`, in text and as a key in JSON;
- its **surroundings**: a random string near the name of a service that issues keys; and, on the line of a word for a
  password, a key, a token or signing in, a value that is no word, however the sentence, the
  command or the line of code is built: `try X first, that's the new root password`, `for the vault, unlock with X`. How
  little a value looks like a word, a name or an identifier, how surely the word names a secret, and whether the text
  between them points at the value count together. Below a line that ends with a colon, and in the column of a list
  whose heading is such a word, it counts as well;
- your **own list**: what you list under `redact.literals` or in the file of `redact.literalsFile`
  (see [configuration.md](configuration.md)) is replaced wherever it occurs;
- a **second mention**: a value that was found once is found again without its name, in the same text and in every later
  one, also after a restart. The store keeps keyed hashes of such values, its last 4,096, never the values. Plain words,
  short numbers and names that many texts have (`secret`, `2041`, `python3`) are not remembered. What was stored before
  its value was known stays as it is.

It is also found inside one layer of base64, hexadecimal, URL escapes or JSON escapes. Identifiers (commits, UUIDs,
digests, the `id` of a message) are not redacted unless they are one of your own values or have a published format; nor
are the signatures of thinking blocks, and the data of images and documents. Nor are the names of tests behind their
result (`--- PASS: TestMerge2`), plain results and literals (`"password": null`, `'pass' : 'fail'`), boundaries of
multipart messages, and versions of Go modules.

What Reverie does not find stays in the text. List the secrets that matter most yourself.

## Kinds

| Kind | Found by |
|---|---|
"""

SHAPES: Final = {
    "authorization": "an `Authorization` header, or `Basic` or `Bearer` before credentials",
    "byok": "a foreign marker, `[BYOK:...]`",
    "connection-password": "the password in `scheme://user:password@host`, in `-u user:password`, in `IDENTIFIED BY`",
    "cookie": "the value of a session in `Cookie`, `Set-Cookie` or `--cookie`",
    "discord-token": "three parts with dots between, the first a number in base64",
    "foreign": "a foreign marker, `<REDACTED:...>`",
    "jwt": "`eyJ`, a dot, and the parts of a token after it",
    "key-material": "a random string beside the name of a service or a word like `credentials`",
    "mailgun-key": "32 and twice 8 hexadecimal digits with dashes between",
    "private": "`<private>`, the text after it, and `</private>`: marked so by a person; without its end, all the rest",
    "private-key": "the text between `BEGIN ... PRIVATE KEY` and its `END`",
    "secret": "a value of your own",
}
"""Descriptions of the kinds that no published prefix identifies, or not alone."""

HOW: Final = {"begins": "begins with", "holds": "contains", "named": "its name has"}


def commands_page() -> str:
    """Return docs/cli.md."""
    parts = [COMMANDS_HEAD]
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
    """Return docs/configuration.md."""
    rows = (
        f"| `{key.name}` | `{json.dumps(key.default)}` | {key.description} | {key.expected} | `{key.environment}` |"
        for key in KEYS
    )
    return SETTINGS_HEAD + "\n".join(rows) + "\n"


def redaction_page() -> str:
    """Return docs/redaction.md."""
    descriptions: dict[str, list[str]] = defaultdict(list)
    for kind in sorted(KINDS & SHAPES.keys()):
        descriptions[kind].append(SHAPES[kind])
    for kind, how, text in indicators():
        code = f"`{text.replace('|', chr(92) + '|')}`"
        if descriptions[kind] and descriptions[kind][-1].startswith(HOW[how]):
            descriptions[kind][-1] += f", {code}"
        else:
            descriptions[kind].append(f"{HOW[how]} {code}")
    return REDACTION_HEAD + "".join(
        f"| `{kind}` | {'; '.join(descriptions[kind])} |\n" for kind in sorted(descriptions)
    )


def _command_section(name: str, command: Any, heading: str) -> str:
    """Return the section of one command: its help, usage line, arguments and options."""
    rows = list(_parameter_rows(command))
    usage = " ".join([name, *(row[0] for row in rows if not row[0].startswith("-")), "[OPTIONS]"])
    lines = [f"{heading} {name}", "", _help_text(command), "", f"    {usage}", ""]
    if rows:
        lines += ["| | |", "|---|---|", *(f"| `{left}` | {right} |" for left, right in rows), ""]
    return "\n".join(lines)


def _help_text(command: Any) -> str:
    """Return the command's help: a sentence, its example as code, and what is said behind that."""
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


PAGES: Final = {"cli": commands_page, "configuration": settings_page, "redaction": redaction_page}

if __name__ == "__main__":
    sys.stdout.write(PAGES[sys.argv[1] if sys.argv[1:] else "cli"]())
