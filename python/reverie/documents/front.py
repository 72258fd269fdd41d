"""Reads a file's front matter as memory files use it: scalars, one level of nesting, lists of tags; no more of YAML."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from reverie.blocks import BlockKind, parse

__all__ = ["Front", "front_of"]

_KEY: Final = re.compile(r"(?P<indent>[ \t]*)(?P<key>[A-Za-z_][\w.-]*)[ \t]*:(?:[ \t]+(?P<value>.*))?$")
_ENTRY: Final = re.compile(r"[ \t]*-[ \t]+(.*)$")
_COMMENT: Final = re.compile(r"(?:^|[ \t])#.*$")
_FOLDED: Final = re.compile(r"[|>][+-]?\d?$")
_BOM: Final = "\ufeff"


@dataclass(frozen=True, slots=True)
class Front:
    """Front matter: its scalars by name (`name`, `metadata.type`), its tags, and the byte behind its last line."""

    values: dict[str, str]
    tags: tuple[str, ...]
    end: int


def front_of(text: str) -> Front | None:
    """The front matter of a text, None if it has none; what is not understood in it is left out."""
    if not text.removeprefix(_BOM).startswith("---"):
        return None
    for block in parse(text.encode("utf-8", "replace"))[:2]:
        if block.kind is BlockKind.FRONT_MATTER:
            values, tags = _values(block.text)
            return Front(values, tags, block.end)
    return None


def _values(text: str) -> tuple[dict[str, str], tuple[str, ...]]:
    """Every scalar by its name, the first of two; and the entries of `tags`."""
    values: dict[str, list[str]] = {}
    tags: list[str] = []
    parent = name = ""
    for line in text.split("\n"):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        entry = _ENTRY.match(line)
        found = None if entry is not None else _KEY.match(line)
        if entry is not None:
            if name == "tags":
                tags.append(_scalar(entry[1]))
        elif found is not None:
            parent = parent if found["indent"] else found["key"]
            name = f"{parent}.{found['key']}" if found["indent"] else found["key"]
            value = (found["value"] or "").strip()
            if name == "tags":
                tags += map(_scalar, value.strip("[]").split(","))
            elif name not in values:
                values[name] = [] if _FOLDED.match(value) else [_scalar(value)]
            else:
                name = ""
        elif name in values:
            values[name].append(line.strip())  # goes on the scalar before it
    scalars = {key: " ".join(part for part in parts if part) for key, parts in values.items()}
    words = (word.lstrip("#").strip().lower() for word in tags)
    return {key: value for key, value in scalars.items() if value}, tuple(dict.fromkeys(word for word in words if word))


def _scalar(text: str) -> str:
    text = text.strip()
    quote = text[:1]
    if quote in {'"', "'"} and (close := text.find(quote, 1)) > 0:
        return text[1:close].strip()
    return _COMMENT.sub("", text).strip()
