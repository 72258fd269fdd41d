"""JSON, msgpack and plain values as typed values, in any thread.

msgspec looks at the fields of a type when it is first used, and marks the type as known before it has seen them all. A
second thread that decodes one of that type in the meantime reads fields that are not there yet, and the process ends
with a segmentation fault (seen with msgspec 0.22: two requests, right after a start). So the first use of each type is
made here, by one thread at a time. The decoders are kept, too: building one takes longer than decoding a small value.
"""

from __future__ import annotations

from functools import cache
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar, overload

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
S = TypeVar("S", bound=msgspec.Struct)

_FIRST_USE = RLock()  # reentrant: looking at a type may import a module that has a decoder of its own


def _new_json_decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    with _FIRST_USE:
        return msgspec.json.Decoder(kind)


def _new_msgpack_decoder(kind: Any) -> msgspec.msgpack.Decoder[Any]:
    with _FIRST_USE:
        return msgspec.msgpack.Decoder(kind)


_json_decoder: Callable[[Any], msgspec.json.Decoder[Any]] = cache(_new_json_decoder)
_msgpack_decoder: Callable[[Any], msgspec.msgpack.Decoder[Any]] = cache(_new_msgpack_decoder)


def from_json(data: bytes | bytearray | str, kind: type[T]) -> T:
    """Return the value of type `kind` that JSON text contains.

    Raises msgspec.DecodeError for what is no JSON, and its subclass msgspec.ValidationError for JSON of another type.
    """
    value: T = _json_decoder(kind).decode(data)
    return value


def from_msgpack(data: bytes, kind: type[T]) -> T:
    """Return the value of type `kind` that msgpack bytes contain. Raises msgspec.DecodeError as `from_json` does."""
    value: T = _msgpack_decoder(kind).decode(data)
    return value


@overload
def convert(value: Any, kind: type[T], *, from_attributes: bool = ...) -> T: ...
@overload
def convert(value: Any, kind: Any, *, from_attributes: bool = ...) -> Any: ...
def convert(value: Any, kind: Any, *, from_attributes: bool = False) -> Any:
    """Return dicts, lists and scalars as a value of type `kind`, or an object that has its fields as attributes.

    Raises msgspec.ValidationError where a field is missing or of another type.
    """
    _json_decoder(kind)
    return msgspec.convert(value, kind, from_attributes=from_attributes)


def mapped(source: object, kind: type[S], /, **fields: Any) -> S:
    """Return a struct of type `kind`: `fields`, and of its other fields the attributes of `source` with their names.

    Values are taken as they are: `mapped(record, wire.Note, thread=None)` is
    `wire.Note(id=record.id, content=record.content, …, thread=None)`. A field that is nowhere is an AttributeError,
    also where it has a default: a misspelt name would have it for ever.
    """
    return kind(**{name: getattr(source, name) for name in kind.__struct_fields__ if name not in fields}, **fields)


def json_decoder(kind: type[T]) -> msgspec.json.Decoder[T]:
    """Return the decoder of a type, for a caller that decodes many values of one."""
    decoder: msgspec.json.Decoder[T] = _json_decoder(kind)
    return decoder
