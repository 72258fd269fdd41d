"""Strict parsing of one JSON line, with repair of what is safe to repair."""

from __future__ import annotations

import codecs
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NoReturn

import orjson

from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from reverie.models import Json

DEPTH_MAX: Final = 200
"""Objects and lists inside one another. The JSON writer stops at 254, and a stored record adds levels of its own."""

LINE_BYTES_MAX: Final = 32 * 1024 * 1024 - 2
"""A longer line is not read; with its line end it still fits into a chunk of the import protocol.

Of such a line the first HEAD_BYTES are kept, of any other unreadable line all of it.
"""

HEAD_BYTES: Final = 64 * 1024
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")  # noqa: TID251 - bytes
_CONTROL = re.compile(rb"[\0-\x1f]")  # noqa: TID251 - bytes
_LONE: Final = lazy_regex("[\ud800-\udfff]")
_INT_MAX: Final = 2**64 - 1
_INT_MIN: Final = -(2**63)


class Unreadable(Exception):
    """Raised for a line that is not a JSON object of a known shape; its text is the reason."""


def load(line: bytes) -> tuple[dict[str, Any], str | None]:
    """Return the object of one line, and what was repaired in it; raises Unreadable.

    Of a key given twice the last value counts, as in every JavaScript engine. Half of a surrogate pair cannot be
    written in UTF-8: it becomes U+FFFD, which is reported; so do bytes that are not UTF-8. Control characters stay.
    """
    value, mended = parse(line)
    if not isinstance(value, dict):
        raise Unreadable("JSON, but not an object")
    if line.count(b"[") + line.count(b"{") > DEPTH_MAX:
        _check_depth(value)
    return value, mended


def parse(data: bytes) -> tuple[Json, str | None]:
    """Return any JSON value, and what was repaired in it as `load` does; raises Unreadable."""
    try:
        return orjson.loads(data), None
    except orjson.JSONDecodeError as error:
        why = _why(data, error)
    if _SURROGATE.search(data):
        mended = "half of a surrogate pair stands in a text; it was replaced by U+FFFD"
    elif (wrong := _not_utf8(data)) is not None:
        mended = f"not UTF-8 at byte {wrong}; what is none was replaced by U+FFFD"
    elif _CONTROL.search(data):
        mended = "a text holds control characters"
    else:
        raise Unreadable(why)
    try:
        return _with_repairs(json.loads(data.decode("utf-8", "replace"), parse_constant=_refuse, strict=False)), mended
    except (ValueError, RecursionError) as error:
        # orjson stopped at the surrogate, which is no fault here.
        raise Unreadable(f"not JSON: {error}" if _SURROGATE.search(data) else why) from None


def text_of(line: bytes) -> tuple[str, str | None]:
    """Return an unreadable line as text, and its encoding if that is not UTF-8.

    Bytes that are not UTF-8 are read as Latin-1: exact, and ASCII in them stays readable, so redaction sees it.
    """
    whole = len(line) <= LINE_BYTES_MAX
    kept = line if whole else line[:HEAD_BYTES]
    try:
        # A beginning may end inside a character, which is then left out.
        return codecs.getincrementaldecoder("utf-8")().decode(kept, final=whole), None
    except UnicodeDecodeError:
        return kept.decode("latin-1"), "latin-1"


def _why(line: bytes, error: orjson.JSONDecodeError) -> str:
    if line[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        return "UTF-16 text; transcripts are UTF-8"
    if b"\0" in line:
        return "binary data: it holds NUL bytes"
    if (wrong := _not_utf8(line)) is not None:
        return f"not UTF-8 at byte {wrong}"
    return f"not JSON: {error.msg} at character {error.pos}"


def _not_utf8(data: bytes) -> int | None:
    """Return the first byte that is not UTF-8, or None."""
    try:
        data.decode()
    except UnicodeDecodeError as wrong:
        return wrong.start
    return None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number")


def _with_repairs(value: Json) -> Json:
    """Return the value with U+FFFD for lone surrogates and numbers as the strict parser gives them."""
    match value:
        case str():
            return _LONE.sub("\ufffd", value)
        case list():
            return [_with_repairs(item) for item in value]
        case dict():
            return {_with_repairs(key): _with_repairs(item) for key, item in value.items()}
        case bool() | None | float():
            return value
        case int():
            return value if _INT_MIN <= value <= _INT_MAX else float(value)
        case _:
            raise AssertionError(type(value))


def _check_depth(value: Json) -> None:
    """Refuse nesting deeper than the JSON writer supports; cheap for flat values."""
    for _ in range(254 - DEPTH_MAX):
        value = [value]
    try:
        orjson.dumps(value)
    except orjson.JSONEncodeError:
        raise Unreadable(f"nested deeper than {DEPTH_MAX} levels") from None


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem with one line of a transcript; `line` counts from 1, 0 means the whole file."""

    line: int
    why: str
