"""Parse JSON and query strings into wire types; errors name the field that is wrong."""

from __future__ import annotations

import difflib
import re
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec

from reverie.decode import convert, from_json
from reverie.errors import ReverieError, ValidationError
from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reverie.wire.base import Json, T

_LOCATION = lazy_regex(r"^(?P<what>.*?)(?: - at `(?P<path>[^`]*)`)?$", re.DOTALL)
_UNKNOWN = lazy_regex(r"^Object contains unknown field `(?P<field>.*)`$", re.DOTALL)
_MISSING = lazy_regex(r"^Object missing required field `(?P<field>.*)`$", re.DOTALL)
_TYPE = lazy_regex(r"^Expected `(?P<wanted>[^`]*)`, got `(?P<got>[^`]*)`$")
_RANGE = lazy_regex(r"^Expected `(?P<wanted>[^`]*)` (?P<rule>of length .*|[<>]=? .*)$")
_PATTERN = lazy_regex(r"^Expected `str` matching regex '(?P<pattern>.*)'$")
_ENUM = lazy_regex(r"^Invalid (?:enum )?value (?P<value>.*)$", re.DOTALL)
_WORDS = {
    "int": "an integer",
    "float": "a number",
    "str": "a string",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_INTEGER = lazy_regex(r"-?[0-9]{1,30}")
_BOOLEANS: dict[str, Json] = {"true": True, "1": True, "false": False, "0": False}
# By how a pattern begins: msgspec quotes it with its backslashes doubled.
_PATTERN_REASONS = {
    "^/": "must be an absolute path, without a zero byte",
    "^[^": "cannot have a zero byte",
    "^[0-9]{1,18}": "must be the number of an operation",
    "^[a-z0-9]": "must be a lower-case letter or digit, then such characters, _ and -",
}
_OPERATION_HINT = "reverie log lists them"
_NAME_REASON = "may hold only letters, digits and . _ : @ + -, and cannot be . or .."
_QUOTED_CHARS = 80  # of a caller's text in an error message
_RULE_CHARS = 300  # of a rule about several fields, which may list what is allowed
_INTEGER_MAX = (1 << 63) - 1  # what every part of the daemon can store


def parse(kind: type[T], value: bytes | bytearray | Json) -> T:
    """Return `value` (JSON bytes or decoded JSON) as a wire type.

    Raises:
        ValidationError: with `details["field"]`, the path of what is wrong (`messages[0].role`; empty for the whole).
    """
    try:
        if isinstance(value, bytes | bytearray):
            return _bounded(from_json(value, kind))
        return _bounded(convert(value, kind))
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
    kinds = _parameter_kinds(kind)  # type: ignore[arg-type] # a type is hashable
    for name in query:
        if name not in kinds:
            raise _unknown_parameter(name, list(kinds))
    try:
        return _bounded(convert({name: _plain_value(text, kinds[name]) for name, text in query.items()}, kind))
    except msgspec.ValidationError as error:
        raise _error_of(kind, str(error).replace(" | null", "")) from None


@cache
def _parameter_kinds(kind: type) -> dict[str, str]:
    """Return the type of each parameter of a query by its name: `int`, `bool` or `str`."""
    kinds: dict[str, str] = {}
    for field in msgspec.inspect.type_info(kind).fields:  # type: ignore[attr-defined] # of a struct
        option_kinds = {type(option) for option in _options(field.type)}
        is_int, is_bool = msgspec.inspect.IntType in option_kinds, msgspec.inspect.BoolType in option_kinds
        kinds[field.encode_name] = "int" if is_int else "bool" if is_bool else "str"
    return kinds


def _options(info: msgspec.inspect.Type) -> Iterator[msgspec.inspect.Type]:
    """Yield the type itself, or each option of a union, without the descriptions around them."""
    if isinstance(info, msgspec.inspect.Metadata):
        yield from _options(info.type)
    elif isinstance(info, msgspec.inspect.UnionType):
        for option in info.types:
            yield from _options(option)
    else:
        yield info


def _plain_value(text: str, kind: str) -> Json:
    """Return a parameter as an integer or boolean if its type is one and it can be, else as its text."""
    if kind == "int" and _INTEGER.fullmatch(text):
        return int(text)
    return _BOOLEANS.get(text, text) if kind == "bool" else text


def _unknown_parameter(name: str, known: Sequence[str]) -> ReverieError:
    """Return the error for a query parameter that a call does not take: it names the nearest one, and all."""
    near = difflib.get_close_matches(name, known, n=1)
    takes = f"this call takes {', '.join(known)}" if known else "this call takes no query parameters"
    hint = f"did you mean `{near[0]}`? {takes}" if near else takes
    quoted = _quoted(name)
    return ValidationError(
        f"`{quoted}` is not a known query parameter", hint=hint, field=quoted, reason="unknown", known=list(known)
    )


def plain(value: Any) -> Json:
    """Return a wire value (or a list or dict of them) as dicts, lists and strings."""
    return msgspec.to_builtins(value)


def _bounded(value: T) -> T:
    """Return `value`; raise where one of its fields is an integer of more than 64 bits, which msgspec accepts."""
    if isinstance(value, msgspec.Struct):
        for attribute, name in _field_names_of(type(value)):
            number = getattr(value, attribute)
            if isinstance(number, int) and abs(number) > _INTEGER_MAX:
                raise ValidationError(
                    f"`{name}` is out of range", hint=f"give `{name}` an integer below 2^63", field=name, reason="range"
                )
    return value


@cache
def _field_names_of(kind: type[msgspec.Struct]) -> tuple[tuple[str, str], ...]:
    """Return the attribute and the wire name of each field; kept, as msgspec reads the annotations anew each time."""
    return tuple((field.name, field.encode_name) for field in msgspec.structs.fields(kind))


def _error_of(kind: type, text: str) -> ReverieError:
    """Return the error for a message of msgspec: a sentence that begins with the field."""
    location = _LOCATION.match(text)
    what, path = (location["what"], location["path"] or "") if location else (text, "")
    field = path.removeprefix("$").removeprefix(".")
    if match := _UNKNOWN.match(what):
        return _unknown(kind, _join(field, match["field"]), match["field"])
    if match := _MISSING.match(what):
        name = _join(field, match["field"])
        return ValidationError(f"`{name}` is missing", hint=f"give `{name}`", field=name, reason="missing")
    if not field and not any(pattern.match(what) for pattern in (_TYPE, _RANGE, _PATTERN, _ENUM)):
        # A rule about several fields, in its own words: "give `after` or `last`, not both".
        return ValidationError(_quoted(what, _RULE_CHARS), hint="correct it and send it again")
    name = f"`{field}`" if field else "the body"
    choices = ", ".join(_choices(kind, field))
    hint = f"give one of {choices}" if choices and _ENUM.match(what) else f"correct {name} and send it again"
    reason = _reason(what)
    if reason.endswith("the number of an operation"):
        hint = _OPERATION_HINT
    return ValidationError(f"{name} {reason}", hint=hint, field=field)


def _reason(what: str) -> str:
    if match := _TYPE.match(what):
        return f"must be {_words(match['wanted'])}, not {_words(match['got'])}"
    if match := _RANGE.match(what):
        return f"must be {_words(match['wanted'])} {match['rule']}"
    if match := _PATTERN.match(what):
        pattern = match["pattern"]
        return next((reason for start, reason in _PATTERN_REASONS.items() if pattern.startswith(start)), _NAME_REASON)
    if match := _ENUM.match(what):
        return f"cannot be {_quoted(match['value'])}"
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


def _choices(kind: type, name: str) -> list[str]:
    """Return the values that a field of a struct may have, where it is one of a few texts."""
    info = msgspec.inspect.type_info(kind)
    fields = info.fields if isinstance(info, msgspec.inspect.StructType) else ()
    chosen = [field.type for field in fields if field.encode_name == name]
    options = [option for info in chosen for option in _options(info)]
    return [
        str(value) for option in options if isinstance(option, msgspec.inspect.LiteralType) for value in option.values
    ]


def _words(types: str) -> str:
    return " or ".join(_WORDS.get(part, part) for part in types.split(" | "))


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _quoted(text: str, chars: int = _QUOTED_CHARS) -> str:
    """Return a caller's text short enough for one sentence and free of control characters."""
    clean = "".join(character if character.isprintable() else "?" for character in text)
    return clean if len(clean) <= chars else clean[:chars] + "…"
