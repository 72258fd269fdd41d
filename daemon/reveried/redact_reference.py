"""The page docs/redaction.md, written from the table of kinds: `python -m reveried.redact_reference`."""

from __future__ import annotations

import sys
from collections import defaultdict
from typing import Final

from reverie.redact import KINDS, marks

__all__ = ["page"]

HEAD: Final = """# Redaction

Before anything is stored, secrets in it are replaced by `[REDACTED:<kind>]`. Nothing keeps the original: an archive,
a backup and the markdown files hold the marker, and a text that is redacted again stays as it is.

A secret is found by

- its **published format**: a prefix, or something inside it, and enough of the right characters after it;
- the **name** that it stands under: `password = ...`, `"api_key": ...`, `--token ...`, in text and as a key in JSON;
- its **surroundings**: what a machine made, near the name of a service that gives out keys;
- being **known**: what you list under `redact.literals` or in the file of `redact.literalsFile`
  (see [configuration.md](configuration.md)) is replaced wherever it stands.

It is also found inside one layer of base64, hexadecimal, URL escapes or JSON escapes. Names of things (commits, UUIDs,
digests, the `id` of a message) are left alone unless they are one of your own values or have a published format; so
are the signatures of thinking blocks, and the data of images and documents.

What Reverie does not find stays in the text. Name the secrets that matter most yourself.

## Kinds

| Kind | Known by |
|---|---|
"""

SHAPES: Final = {
    "authorization": "an `Authorization` header, or `Basic` or `Bearer` before credentials",
    "byok": "a foreign marker, `[BYOK:...]`",
    "connection-password": "the password in `scheme://user:password@host`, in `-u user:password`, in `IDENTIFIED BY`",
    "discord-token": "three parts with dots between, the first a number in base64",
    "foreign": "a foreign marker, `<REDACTED:...>`",
    "jwt": "`eyJ`, a dot, and the parts of a token after it",
    "key-material": "what a machine made, beside the name of a service or a word like `credentials`",
    "mailgun-key": "32 and twice 8 hexadecimal digits with dashes between",
    "private-key": "what stands between `BEGIN ... PRIVATE KEY` and its `END`",
    "secret": "a value of your own",
}
"""How a kind is known that no mark gives away, or not alone."""

HOW: Final = {"begins": "begins with", "holds": "holds", "named": "its name has"}


def page() -> str:
    """The page as it should stand in docs/redaction.md."""
    known: dict[str, list[str]] = defaultdict(list)
    for kind in sorted(KINDS & SHAPES.keys()):
        known[kind].append(SHAPES[kind])
    for kind, how, text in marks():
        said = f"`{text.replace('|', chr(92) + '|')}`"
        if known[kind] and known[kind][-1].startswith(HOW[how]):
            known[kind][-1] += f", {said}"
        else:
            known[kind].append(f"{HOW[how]} {said}")
    return HEAD + "".join(f"| `{kind}` | {'; '.join(known[kind])} |\n" for kind in sorted(known))


if __name__ == "__main__":
    sys.stdout.write(page())
