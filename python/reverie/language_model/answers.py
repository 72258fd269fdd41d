"""The strict reader of a model's answer: exactly one JSON value of the requested shape, or ModelFailed.

What is repaired, and nothing else: a code fence around the JSON, and prose before or after one single JSON object.
Everything that leaves a doubt about what was meant is refused: two objects, a key that occurs twice, half an object, a
trailing comma, NaN, an unknown field, a number as text.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar

import msgspec

from reverie.decode import convert
from reverie.errors import ModelFailed
from reverie.language_model.requests import ANSWER_BYTES_MAX
from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from reverie.language_model.requests import ModelAnswer, Outcome

T = TypeVar("T")

_FENCED: Final = lazy_regex(r"```[A-Za-z]*[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL)
_HINT: Final = "Nothing was changed. reverie distill THREAD --show-request prints what is sent."
_JOINERS: Final = "\u200c\u200d"  # Persian, Indic scripts and emoji need them; between ASCII letters they only hide
_HIDDEN_JOINER: Final = lazy_regex(rf"(?<=[\x00-\x7f])[{_JOINERS}]+|[{_JOINERS}]+(?=[\x00-\x7f])")
_INT_MIN: Final = -(2**63)
_INT_MAX: Final = 2**64 - 1  # what MessagePack holds, in which answers and requests are passed on
_SCHEMA_KEYS: Final = frozenset(
    {"type", "properties", "required", "additionalProperties", "items", "enum", "anyOf", "description", "const"}
)
"""What a provider's structured outputs understand; bounds are checked here when the answer is read."""


def read_outcome(outcome: Outcome, kind: type[T]) -> T:
    """Return the answer in an outcome as a value of `kind`. Raises ModelFailed for a failure or bad answer."""
    if outcome.answer is None:
        raise ModelFailed(outcome.message, reason=convert(outcome.reason or "failed", Any), hint=_HINT)
    return read_answer(outcome.answer, kind)


def read_answer(answer: ModelAnswer, kind: type[T]) -> T:
    """Return the answer as a value of `kind`, its texts without invisible characters.

    Raises:
        ModelFailed: with the reason refused, truncated or unparseable.
    """
    match answer.stop_reason:
        case "refusal":
            raise ModelFailed("The model refused to answer.", reason="refused", hint=_HINT)
        case "max_tokens":
            raise ModelFailed("The answer was cut off at its limit.", reason="truncated", hint=_HINT)
        case "tool_use":
            _refuse("it asks for a tool, and none was offered")
        case _:
            pass
    if len(answer.text.encode(errors="replace")) > ANSWER_BYTES_MAX:
        _refuse(f"it is longer than {ANSWER_BYTES_MAX:,} bytes")
    try:
        return convert(visible_value(_json(answer.text)), kind)
    except msgspec.ValidationError as error:
        # Its message names types and the place, never a value.
        _refuse(f"it is not of the requested shape ({error})")
    except RecursionError:
        _refuse("it is nested too deeply")


def visible(text: str) -> str:
    """Return `text` without invisible characters: zero-width, bidirectional, tag and control characters."""
    if text.isascii():
        return "".join(char for char in text if char >= " " or char in "\n\t") if not text.isprintable() else text
    kept = "".join(char for char in text if char in _JOINERS or char in "\n\t" or not _is_hidden(char))
    return _HIDDEN_JOINER.sub("", kept)


def answer_schema(kind: type[Any]) -> dict[str, Any]:
    """Return the JSON schema of `kind` as providers take it: without references and bounds, every field required."""
    schema = msgspec.json.schema(kind)
    inlined: dict[str, Any] = _inlined(schema, schema.get("$defs", {}))
    return inlined


def _inlined(schema: Any, definitions: dict[str, Any]) -> Any:
    """Return a schema with each reference replaced by its definition, and without keywords providers reject."""
    if isinstance(schema, list):
        return [_inlined(item, definitions) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _inlined(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    kept = {key: _inlined(item, definitions) for key, item in schema.items() if key in _SCHEMA_KEYS}
    if "properties" in schema:
        kept["properties"] = {name: _inlined(item, definitions) for name, item in schema["properties"].items()}
        kept |= {"required": list(schema["properties"]), "additionalProperties": False}
    return kept


def _json(text: str) -> Any:
    """Return the one JSON value of an answer. Raises ModelFailed."""
    text = text.strip().removeprefix("\ufeff").strip()
    if not text:
        _refuse("it is empty")
    fenced = _FENCED.findall(text)
    if len(fenced) > 1:
        _refuse("it has more than one JSON value")
    if fenced:
        text = fenced[0].strip()
    elif text[:1] not in "{[":
        begin = text.find("{")
        if begin < 0:
            _refuse("it is not JSON")
        text = text[begin:]
    decoder = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_refuse_constant)
    try:
        value, end = decoder.raw_decode(text)
    except ValueError as error:
        _refuse(f"it is not JSON (character {getattr(error, 'pos', 0)})")
    except RecursionError:
        _refuse("it is nested too deeply")
    if any(mark in text[end:] for mark in "{}["):
        _refuse("it has more than one JSON value")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object as a dict. Raises ModelFailed if a key occurs twice."""
    made = dict(pairs)
    if len(made) != len(pairs):
        _refuse("a key occurs twice in one object")
    return made


def _refuse_constant(_: str) -> NoReturn:
    _refuse("it has a number that JSON does not know")


def visible_value(value: Any) -> Any:
    """Return a JSON value with visible texts only.

    Raises:
        ModelFailed: it has half a surrogate pair, or a number that no 64 bits can hold.
    """
    match value:
        case str():
            return visible(_whole(value))
        case list():
            return [visible_value(item) for item in value]
        case dict():
            return {_whole(name): visible_value(item) for name, item in value.items()}
        case _:
            return _bounded(value)


def _bounded(value: Any) -> Any:
    """Return `value`. Raises ModelFailed for a number that no 64 bits can hold."""
    is_too_large = isinstance(value, int) and not _INT_MIN <= value <= _INT_MAX
    if is_too_large or (isinstance(value, float) and not math.isfinite(value)):
        _refuse("it has a number that is too large")
    return value


def _whole(text: str) -> str:
    """Return `text` unchanged. Raises ModelFailed if it has half a surrogate pair."""
    if not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
        _refuse("it has half a character")
    return text


def _is_hidden(char: str) -> bool:
    """Return True for a character of the categories control, format, private use and unassigned, and soft hyphens."""
    return unicodedata.category(char) in {"Cc", "Cf", "Co", "Cn", "Cs"}


def _refuse(why: str) -> NoReturn:
    raise ModelFailed(f"The answer cannot be used: {why}.", reason="unparseable", hint=_HINT)
