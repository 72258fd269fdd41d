"""The words of people and agents in a value, found by the marks of its type (`reverie.text_types.Text`).

For each type a function is made once that visits the marked fields and no other. So a new field is redacted, purged and
kept out of the log as soon as it is declared. Values are JSON as it is stored, or what `msgspec.to_builtins` returns:
lists may be tuples. A field that the type does not declare came from a newer version, which may keep words in it.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import chain, repeat
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, TypeVar, get_args, get_origin

import msgspec

from reverie.decode import convert
from reverie.models import Json
from reverie.text_types import Words

if TYPE_CHECKING:
    from reverie.redact import Redactor

T = TypeVar("T")

Change: TypeAlias = Callable[[Json], Json]
Which: TypeAlias = Literal["own", "derived"] | None
"""The words that were given in the value itself, those that repeat others, or both."""

_Walk: TypeAlias = Callable[[Json, Change], Json]

MASK = "[text]"


def changed(kind: Any, value: Json, change: Change, which: Which = None) -> Json:
    """Return the JSON of a type with each of its texts changed; the same object if none was.

    `change` gets a string, or all of a JSON value that is a text as a whole.
    """
    walk = _walk(kind, which)
    return value if walk is None else walk(value, change)


def texts(kind: Any, value: Json, which: Which = None) -> list[Json]:
    """Return the texts in the JSON of a type, each as `changed` gives it."""
    found: list[Json] = []

    def note(text: Json) -> Json:
        found.append(text)
        return text

    changed(kind, value, note, which)
    return found


def has_texts(kind: Any, which: Which = None) -> bool:
    """Return True if values of a type may have texts."""
    return _walk(kind, which) is not None


def redacted(value: T, redactor: Redactor) -> T:
    """Return a struct or a dataclass with the secrets in its texts replaced; the same object if there were none."""
    kind: Any = type(value)
    if _walk(kind, None) is None:
        return value
    plain = msgspec.json.decode(msgspec.json.encode(value))  # the redactor does not look into tuples
    clean, replacements = redactor.value(texts(kind, plain))
    if not replacements:
        return value
    rest = iter(clean)
    after: T = convert(changed(kind, plain, lambda _: next(rest)), kind)
    return after


def masked(value: Any) -> Any:
    """Return a struct or a dataclass as JSON with `MASK` in place of each text; other values as they are."""
    if isinstance(value, type) or not (isinstance(value, msgspec.Struct) or dataclasses.is_dataclass(value)):
        return value
    return changed(type(value), msgspec.to_builtins(value), lambda _: MASK)


def strings(value: Json, *, names: bool = False) -> Iterator[str]:
    """Yield every string in a JSON value, with `names` those of its fields too."""
    match value:
        case str():
            yield value
        case list() | tuple():
            for item in value:
                yield from strings(item, names=names)
        case dict():
            for name, item in value.items():
                if names:
                    yield name
                yield from strings(item, names=names)


def with_strings(value: Json, change: Callable[[str], str]) -> Json:
    """Return a JSON value with each of its strings changed, the names of fields as they are; the same if none was."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return _in_object(value, dict.fromkeys(value, _strings_walk), change)
    return _in_list(value, _strings_walk, change) if isinstance(value, (list, tuple)) else value


def _strings_walk(value: Json, change: Change) -> Json:
    return with_strings(value, change)


def _whole(value: Json, change: Change) -> Json:
    return value if value is None else change(value)


def _string(value: Json, change: Change) -> Json:
    return change(value) if isinstance(value, str) else value


def _in_list(value: Sequence[Json], walk: _Walk, change: Change) -> Json:
    items = [walk(item, change) for item in value]
    return value if all(one is other for one, other in zip(items, value, strict=True)) else items


def _in_object(value: dict[str, Json], walks: dict[str, _Walk], change: Change) -> Json:
    new = {}
    for name, walk in walks.items():
        if name in value and (after := walk(value[name], change)) is not value[name]:
            new[name] = after
    return {**value, **new} if new else value


@cache
def _walk(kind: Any, which: Which) -> _Walk | None:
    """Return the function that changes the texts of a type; None where it has none."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        words = next((mark for mark in arguments[1:] if isinstance(mark, Words)), None)
        if words is None:
            return _walk(arguments[0], which)
        if which is not None and words.derived is not (which == "derived"):
            return None
        if words.names:
            return _below(frozenset(words.names))
        return _string if arguments[0] is str else _whole
    if isinstance(origin or kind, type):
        owner = origin or kind
        if issubclass(owner, msgspec.Struct) or dataclasses.is_dataclass(owner):
            return _of_fields(kind, which)
        if issubclass(owner, dict):
            value = _walk(arguments[1], which) if arguments else None
            return value and _of_values(value)
        if issubclass(owner, tuple) and arguments[-1:] != (...,):
            items = [_walk(argument, which) for argument in arguments]
            return _of_items(items) if any(items) else None
        if issubclass(owner, Sequence) and not issubclass(owner, (str, bytes)):
            item = _walk(arguments[0], which) if arguments else None
            return item and _of_list(item)
    parts = [walk for argument in arguments if (walk := _walk(argument, which)) is not None]
    return _one_after_another(parts) if parts and origin is not Literal else None


def _of_fields(kind: Any, which: Which) -> _Walk | None:
    """Return the function of a struct or dataclass: an object with the encoded names, or a list of its fields."""
    owner = get_origin(kind) or kind
    if issubclass(owner, msgspec.Struct):
        fields = [(field.encode_name, field.type) for field in msgspec.structs.fields(kind)]
    else:
        hints = typing.get_type_hints(owner, include_extras=True)
        fields = [(field.name, hints[field.name]) for field in dataclasses.fields(owner)]
    walks = {name: inner for name, type_ in fields if (inner := _walk(type_, which)) is not None}
    if issubclass(owner, msgspec.Struct) and owner.__struct_config__.array_like:
        return _of_items([walks.get(name) for name, _ in fields]) if walks else None
    keeps_unknown = which != "own" and getattr(owner, "KEEPS_UNKNOWN_FIELDS", False)
    if not walks and not keeps_unknown:
        return None
    declared = frozenset(name for name, _ in fields)

    def walk(value: Json, change: Change) -> Json:
        if not isinstance(value, dict):
            return value
        if keeps_unknown and not value.keys() <= declared:
            return _in_object(value, {**walks, **{name: _whole for name in value if name not in declared}}, change)
        return _in_object(value, walks, change)

    return walk


def _of_items(walks: Sequence[_Walk | None]) -> _Walk:
    """Return the function of a list whose items have types of their own."""

    def walk(value: Json, change: Change) -> Json:
        items = [
            item if one is None else one(item, change)
            for item, one in zip(value, chain(walks, repeat(None)), strict=False)
        ]
        return value if all(one is other for one, other in zip(items, value, strict=True)) else items

    return walk


def _of_list(item: _Walk) -> _Walk:
    return lambda value, change: _in_list(value, item, change) if isinstance(value, (list, tuple)) else value


def _of_values(walk: _Walk) -> _Walk:
    return lambda value, change: (
        _in_object(value, dict.fromkeys(value, walk), change) if isinstance(value, dict) else value
    )


def _one_after_another(walks: Sequence[_Walk]) -> _Walk:
    """Return the function of a union, of whose types a value is one: those of the others find nothing in it."""

    def walk(value: Json, change: Change) -> Json:
        for one in walks:
            value = one(value, change)
        return value

    return walk


def _below(names: frozenset[str]) -> _Walk:
    """Return the function of a JSON value in which the texts are below these names."""

    def walk(value: Json, change: Change) -> Json:
        if isinstance(value, dict):
            return _in_object(value, {name: _whole if name in names else walk for name in value}, change)
        return _in_list(value, walk, change) if isinstance(value, (list, tuple)) else value

    return walk
