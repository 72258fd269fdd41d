"""Replaces secrets by `[REDACTED:<kind>]`, in text and in JSON values."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from reverie import _native

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from reverie.models import Json

__all__ = ["KINDS", "Redactor", "Span"]

KINDS = frozenset(_native.kinds())
"""Every word that can stand in `[REDACTED:<kind>]`."""


class Span(NamedTuple):
    """A secret in a text: from character `start` to before character `end`, and the word that replaces it."""

    start: int
    end: int
    kind: str


class Redactor:
    """The rules, compiled once with the secret values that its owner knows.

    Redaction is idempotent: a marker that stands in the text stays as it is, and so does the bare word REDACTED.
    Foreign markers `[BYOK:x]` and `<REDACTED:x>` become `[REDACTED:byok]` and `[REDACTED:foreign]`.
    """

    __slots__ = ("_native",)

    def __init__(self, literals: Sequence[str] = ()) -> None:
        self._native = _native.Redactor(list(literals))

    def text(self, text: str) -> str:
        """`text` without its secrets; the same object if it had none.

        Raises ValidationError for half of a surrogate pair.
        """
        return self._native.text(text)

    def value(self, value: Json) -> tuple[Json, int]:
        """A JSON value without its secrets, the same object if it had none, and how many spans were replaced.

        A key announces its value as a name does in text (`{"password": ...}`), and so does a `name` or `key` beside a
        `value`. Strings under keys that name things (`id`, `uuid`, `tool_use_id`, `sessionId`, `model`, ...) are held
        only against known values and the published token formats. The signature of a thinking block, and the base64
        `data` of an image or a document, are left alone.
        Raises ValidationError for half of a surrogate pair and for nesting beyond 1024.
        """
        return self._native.value(value)

    def stream(self, pieces: Iterable[str]) -> Iterator[str]:
        """The text of all `pieces` together without its secrets, in pieces of another size.

        No more is held back than what a secret can reach over.
        """
        stream = self._native.stream()
        for piece in pieces:
            yield stream.feed(piece)
        yield stream.finish()

    def spans(self, text: str) -> list[Span]:
        """Where the secrets of `text` are, in order, apart from each other."""
        return [Span(*span) for span in self._native.spans(text)]
