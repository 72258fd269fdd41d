"""Replaces secrets by `[REDACTED:<kind>]`, in text and in JSON values."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple

from reverie import _native

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from reverie.models import Json

__all__ = ["KINDS", "Indicator", "Redactor", "Span", "indicators"]

KINDS = frozenset(_native.kinds())
"""Every word that can stand in `[REDACTED:<kind>]`."""


class Span(NamedTuple):
    """A secret in a text: from character `start` to before character `end`, and the word that replaces it."""

    start: int
    end: int
    kind: str


class Indicator(NamedTuple):
    """What gives a secret of a kind away: it `begins` with the text, `holds` it, or is `named` by it."""

    kind: str
    how: Literal["begins", "holds", "named"]
    text: str


_SPACED = re.compile(r"(?:\S ){15,}\S")
"""Characters with a space between each two, as many as a secret has."""

_EDGE = 256
"""Characters at the end of one text and the beginning of the next in which a secret may have been split."""

_BY_CONTEXT = frozenset({"token", "key-material"})
"""Kinds that words nearby decide: they mean nothing where these are out of order."""


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

    def suspects(self, texts: Sequence[str]) -> list[tuple[int, str]]:
        """Texts that may hide a secret where none can be replaced, as their index and how, for a person to look at.

        "spaced": with a space between each two characters; "reversed": from the last to the first; "split": the first
        part at the end of this text, the rest at the beginning of the next.
        """
        found = []
        for index, text in enumerate(texts):
            if any(self._is_formed(run.replace(" ", "")) for run in _SPACED.findall(text)):
                found.append((index, "spaced"))
            if self._is_formed(text[::-1]):
                found.append((index, "reversed"))
            if index + 1 < len(texts):
                end, begin = text.rstrip()[-_EDGE:], texts[index + 1].lstrip()[:_EDGE]
                spans = self.spans(end + begin) if end and begin else []
                if any(span.start < len(end) < span.end and span.kind not in _BY_CONTEXT for span in spans):
                    found.append((index, "split"))
        return found

    def _is_formed(self, text: str) -> bool:
        return any(span.kind not in _BY_CONTEXT for span in self.spans(text))

    def spans(self, text: str) -> list[Span]:
        """Where the secrets of `text` are, in order, apart from each other."""
        return [Span(*span) for span in self._native.spans(text)]


def indicators() -> list[Indicator]:
    """Every mark of the tables, in order of kinds. A kind that has none is known by its shape or its surroundings."""
    return [Indicator(*mark) for mark in _native.marks()]
