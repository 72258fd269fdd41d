"""Entries of transcript lines of every format: identity, time, tokens, and the rest of the JSON in `extra`."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import orjson
from msgspec.structs import replace

from reverie.importers.lines import Problem
from reverie.lazy_regex import lazy_regex
from reverie.models import Entry
from reverie.tokenizer import count_many

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.models import EntryKind, Json, Role


_FORM: Final = lazy_regex(r"\d{4}-(?:0\d|1[0-2])-(?:[0-2]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z", re.ASCII)
_RFC3339: Final = lazy_regex(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)", re.ASCII)


def new_entry(
    kind: EntryKind,
    value: dict[str, Any],
    number: int,
    *,
    names: tuple[str, str] = ("uuid", "parentUuid"),
    role: Role | None = None,
    content: Json = None,
    reply: str | None = None,
    usage: dict[str, Any] | None = None,
) -> tuple[Entry, Problem | None]:
    """Return the entry of line `number`, and a problem to report or None.

    What is left of `value` becomes `extra`; its id, that of its parent (`names` are their keys) and its time, where it
    is written as it is stored, are taken out.
    """
    own, parents = names
    identity = value.pop(own) if isinstance(value.get(own), str) else None
    parent = value.pop(parents) if isinstance(value.get(parents), str) else None
    at, problem = _entry_time(value, number)
    entry = Entry(
        kind=kind,
        id=identity,
        parent=parent,
        role=role,
        content=content,
        reply=reply,
        at=at,
        usage=usage,
        extra=value,
        line=number,
    )
    return entry, problem


def with_time(line: dict[str, Any], entry: Entry) -> dict[str, Any]:
    """Return a line's object with the entry's time as `timestamp`, unless the object has a time."""
    if entry.at is not None and "timestamp" not in line and "ts" not in line:
        line["timestamp"] = entry.at
    return line


def abbreviated(value: Json) -> str:
    """Return a foreign value shortened for an error message."""
    shown = orjson.dumps(value).decode()
    return shown if len(shown) <= 40 else shown[:39] + "…"


def rfc3339_utc(given: Json) -> str | None:
    """Return a time in RFC 3339 UTC with milliseconds (truncated), or None if it is not RFC 3339."""
    if not isinstance(given, str):
        return None
    # The days 29 to 31 are the only ones that can be wrong in the usual form.
    if _FORM.fullmatch(given) and given[8:10] < "29":
        return given
    if not _RFC3339.fullmatch(given):
        return None
    try:
        moment = datetime.fromisoformat(given.upper()).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def _entry_time(value: dict[str, Any], number: int) -> tuple[str | None, Problem | None]:
    """Return the line's time in RFC 3339 UTC, or None, and a problem or None; `value` keeps another spelling."""
    given = value.get("timestamp", value.get("ts"))
    if given is None:
        return None, None
    at = rfc3339_utc(given)
    if at is None:
        return None, Problem(number, f"{abbreviated(given)} is not a time; the line is kept without one")
    if at == value.get("timestamp") and "ts" not in value:
        del value["timestamp"]
    return at, None


IMAGE_TOKENS: Final = 1600
"""An estimate for any image or document given as data: about what one picture of 1.15 megapixels costs the API."""


def message_tokens(content: Json) -> int:
    """Return the o200k_base tokens of one message's content, without per-block overhead.

    Pieces are texts, thinking, tool names, the compact JSON of tool inputs, results, and the compact JSON of a block
    of a type not known. Signatures count nothing; images are IMAGE_TOKENS each.
    """
    pieces: list[str] = []
    flat = _collect(content, pieces)
    return flat + sum(count_many(pieces))


def with_token_counts(entries: Sequence[Entry]) -> list[Entry]:
    """Return the entries with `tokens` filled in; all texts are counted in one call."""
    pieces: list[str] = []
    ends: list[int] = []
    flats: list[int] = []
    for entry in entries:
        flats.append(0 if entry.content is None else _collect(entry.content, pieces))
        ends.append(len(pieces))
    counts = count_many(pieces)
    weighed = []
    begin = 0
    for entry, end, flat in zip(entries, ends, flats, strict=True):
        tokens = flat + sum(counts[begin:end])
        begin = end
        weighed.append(replace(entry, tokens=tokens) if tokens else entry)
    return weighed


def _collect(content: Json, pieces: list[str]) -> int:
    """Append the texts of a content to `pieces`; return the tokens of non-text blocks."""
    if isinstance(content, str):
        pieces.append(content)
        return 0
    if not isinstance(content, list):
        return 0
    return sum(_collect_block(block, pieces) for block in content)


def _collect_block(block: Json, pieces: list[str]) -> int:
    match block:
        case {"type": "text", "text": str(text)} | {"type": "thinking", "thinking": str(text)}:
            pieces.append(text)
        case {"type": "tool_use", "name": str(name)}:
            pieces += (name, compact(block.get("input", {})))
        case {"type": "tool_result"}:
            return _collect(block.get("content"), pieces)
        case {"type": "image" | "document", "source": {"type": "base64"}} | {"type": "image"}:
            return IMAGE_TOKENS
        case {"type": "redacted_thinking"}:
            return 0
        case _:
            pieces.append(compact(block))
    return 0


def compact(value: Json) -> str:
    """Return a value as JSON text without spaces."""
    return orjson.dumps(value).decode()
