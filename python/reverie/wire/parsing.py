"""Parse JSON and query strings into wire types; errors name the field that is wrong."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from reverie.errors import ReverieError, ValidationError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reverie.models import Json

__all__ = ["parse", "parse_query", "plain"]

T = TypeVar("T")

_LOCATION = re.compile(r"^(?P<what>.*?)(?: - at `(?P<path>[^`]*)`)?$", re.DOTALL)
_UNKNOWN = re.compile(r"^Object contains unknown field `(?P<field>.*)`$", re.DOTALL)
_MISSING = re.compile(r"^Object missing required field `(?P<field>.*)`$", re.DOTALL)
_TYPE = re.compile(r"^Expected `(?P<wanted>[^`]*)`, got `(?P<got>[^`]*)`$")
_RANGE = re.compile(r"^Expected `(?P<wanted>[^`]*)` (?P<rule>of length .*|[<>]=? .*)$")
_PATTERN = re.compile(r"^Expected `str` matching regex '(?P<pattern>.*)'$")
_ENUM = re.compile(r"^Invalid (?:enum )?value (?P<value>.*)$", re.DOTALL)
_WORDS = {
    "int": "an integer",
    "float": "a number",
    "str": "a string",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_QUOTED_CHARS = 80  # of a caller's text in an error message
_INTEGER_MAX = (1 << 63) - 1  # what every part of the daemon can store


def parse(kind: type[T], value: bytes | bytearray | Json) -> T:
    """Return `value` (JSON bytes or decoded JSON) as a wire type.

    Raises:
        ValidationError: with `details["field"]`, the path of what is wrong (`messages[0].role`; empty for the whole).
    """
    try:
        if isinstance(value, bytes | bytearray):
            return _bounded(msgspec.json.decode(value, type=kind))
        return _bounded(msgspec.convert(value, kind))
    except msgspec.ValidationError as error:
        raise _error_of(kind, str(error)) from None
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValidationError(
            f"the body is not JSON that can be read: {error}",
            hint="send UTF-8 JSON with Content-Type: application/json",
            field="",
            reason="malformed",
        ) from None


def parse_query(kind: type[T], query: Mapping[str, str]) -> T:
    """Return the pairs of a query string as a wire type: `limit=5`, `final=1`, `dryRun=true`.

    Raises:
        ValidationError: with `details["field"]` naming the parameter.
    """
    try:
        return _bounded(msgspec.convert(dict(query), kind, strict=False))
    except msgspec.ValidationError as error:
        raise _error_of(kind, str(error)) from None


def plain(value: Any) -> Json:
    """Return a wire value (or a list or dict of them) as dicts, lists and strings."""
    return msgspec.to_builtins(value)


def _bounded(value: T) -> T:
    """Return `value`; raise where one of its fields is an integer of more than 64 bits, which msgspec accepts."""
    if isinstance(value, msgspec.Struct):
        for field in msgspec.structs.fields(value):
            number = getattr(value, field.name)
            if isinstance(number, int) and abs(number) > _INTEGER_MAX:
                name = field.encode_name
                raise ValidationError(
                    f"`{name}` is out of range", hint=f"give `{name}` an integer below 2^63", field=name, reason="range"
                )
    return value


def _error_of(kind: type, text: str) -> ReverieError:
    """Return the error for a message of msgspec: a sentence that begins with the field."""
    match = _LOCATION.match(text)
    what, path = (match["what"], match["path"] or "") if match else (text, "")
    field = path.removeprefix("$").removeprefix(".")
    if found := _UNKNOWN.match(what):
        return _unknown(kind, _join(field, found["field"]), found["field"])
    if found := _MISSING.match(what):
        name = _join(field, found["field"])
        return ValidationError(f"`{name}` is missing", hint=f"give `{name}`", field=name, reason="missing")
    name = f"`{field}`" if field else "the body"
    return ValidationError(f"{name} {_reason(what)}", hint=f"correct {name} and send it again", field=field)


def _reason(what: str) -> str:
    if found := _TYPE.match(what):
        return f"must be {_words(found['wanted'])}, not {_words(found['got'])}"
    if found := _RANGE.match(what):
        return f"must be {_words(found['wanted'])} {found['rule']}"
    if found := _PATTERN.match(what):
        absolute = found["pattern"] == "^/"
        names = "may hold only letters, digits and . _ : @ + -, and cannot be . or .."
        return "must be an absolute path" if absolute else names
    if found := _ENUM.match(what):
        return f"cannot be {_quoted(found['value'])}"
    return f"is not usable: {_quoted(what)}"


def _unknown(kind: type, path: str, name: str) -> ReverieError:
    near = difflib.get_close_matches(name, _field_names(kind), n=1)
    hint = f"did you mean `{near[0]}`?" if near else "leave it out; GET /v1/openapi.json lists all fields"
    return ValidationError(f"`{_quoted(path)}` is not a known field", hint=hint, field=_quoted(path), reason="unknown")


def _field_names(kind: type) -> list[str]:
    """Return the wire names of a struct's fields and of the structs in them, one level deep (for suggestions)."""
    names: list[str] = []
    for info in msgspec.inspect.multi_type_info([kind]):
        for field in getattr(info, "fields", ()):
            names.append(field.encode_name)
            names.extend(inner.encode_name for inner in getattr(getattr(field.type, "item_type", None), "fields", ()))
    return names


def _words(types: str) -> str:
    return " or ".join(_WORDS.get(part, part) for part in types.split(" | "))


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _quoted(text: str) -> str:
    """Return a caller's text short enough for one sentence and free of control characters."""
    clean = "".join(character if character.isprintable() else "?" for character in text)
    return clean if len(clean) <= _QUOTED_CHARS else clean[:_QUOTED_CHARS] + "…"
