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

    def walk(value: Json, change: Change) -> Json:
        return change(value) if isinstance(value, str) else _parts_changed(value, change, lambda _: walk)

    return walk(value, change)


def _whole(value: Json, change: Change) -> Json:
    return value if value is None else change(value)


def _string(value: Json, change: Change) -> Json:
    return change(value) if isinstance(value, str) else value


def _parts_changed(value: Json, change: Change, walk_of: Callable[[Any], _Walk | None]) -> Json:
    """Return an object or a list with its parts changed: `walk_of` returns the function of one by its name or index."""
    is_object = isinstance(value, dict)
    if not (is_object or isinstance(value, (list, tuple))):
        return value
    new = {}
    for at, part in value.items() if is_object else enumerate(value):
        walk = walk_of(at)
        if walk is not None and (after := walk(part, change)) is not part:
            new[at] = after
    if not new:
        return value
    return {**value, **new} if is_object else [new.get(at, part) for at, part in enumerate(value)]


def _parts(walk_of: Callable[[Any], _Walk | None]) -> _Walk:
    return lambda value, change: _parts_changed(value, change, walk_of)


@cache
def _walk(kind: Any, which: Which) -> _Walk | None:
    """Return the function that changes the texts of a type; None where it has none."""
    origin, arguments = get_origin(kind), get_args(kind)
    owner = origin or kind
    if origin is Annotated:
        words = next((mark for mark in arguments[1:] if isinstance(mark, Words)), None)
        if words is None:
            return _walk(arguments[0], which)
        if which is not None and words.derived is not (which == "derived"):
            return None
        if words.names:
            return _below(words.names)
        return _string if arguments[0] is str else _whole
    if isinstance(owner, type) and (issubclass(owner, msgspec.Struct) or dataclasses.is_dataclass(owner)):
        return _of_fields(kind, owner, which)
    if origin is Literal or not arguments:
        return None
    if origin is tuple and arguments[-1] is not ...:
        items = dict(enumerate(_walk(argument, which) for argument in arguments))
        return _parts(items.get) if any(items.values()) else None
    walks = [walk for argument in arguments if argument is not ... and (walk := _walk(argument, which)) is not None]
    if not walks:
        return None
    if isinstance(owner, type) and issubclass(owner, (dict, Sequence)):
        return _parts(lambda _: walks[-1])
    return _one_after_another(walks)


def _of_fields(kind: Any, owner: Any, which: Which) -> _Walk | None:
    """Return the function of a struct or dataclass: an object with the encoded names, or a list of its fields."""
    if issubclass(owner, msgspec.Struct):
        fields = [(field.encode_name, field.type) for field in msgspec.structs.fields(kind)]
    else:
        hints = typing.get_type_hints(owner, include_extras=True)
        fields = [(field.name, hints[field.name]) for field in dataclasses.fields(owner)]
    walks: dict[Any, _Walk | None] = {name: _walk(type_, which) for name, type_ in fields}
    if which != "own" and getattr(owner, "KEEPS_UNKNOWN_FIELDS", False):
        return _parts(lambda name: walks.get(name, _whole))
    if not any(walks.values()):
        return None
    if issubclass(owner, msgspec.Struct) and owner.__struct_config__.array_like:
        walks = dict(enumerate(walks.values()))
    return _parts(walks.get)


def _one_after_another(walks: Sequence[_Walk]) -> _Walk:
    """Return the function of a union, of whose types a value is one: those of the others find nothing in it."""

    def walk(value: Json, change: Change) -> Json:
        for one in walks:
            value = one(value, change)
        return value

    return walk


def _below(names: Sequence[str]) -> _Walk:
    """Return the function of a JSON value in which the texts are below these names."""

    def walk(value: Json, change: Change) -> Json:
        return _parts_changed(value, change, lambda name: _whole if name in names else walk)

    return walk
