"""Ways to put text between the blocks of a document so that those around it do not take it in."""

from __future__ import annotations

import re
from itertools import product
from typing import TYPE_CHECKING, Final

from reverie.blocks import BlockKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reverie.blocks import Block

__all__ = ["inserted", "replaced", "top_of"]

_COMMENT: Final = "<!-- -->\n"  # ends a list or a paragraph, whatever stands behind it
_BLANK: Final = re.compile(r"(?:\n|\r\n?)[ \t]*(?:\n|\r\n?)\Z")
_BEFORE: Final = ("\n", "", f"\n{_COMMENT}")
_COMMENTS: Final = ("", _COMMENT)
_BEHIND: Final = ("\n", "", f"\n{_COMMENT}\n")
_INSTEAD: Final = ("", "\n", _COMMENT, f"\n{_COMMENT}\n")
_BOM: Final = "\ufeff".encode()


def inserted(data: bytes, at: int, new: str, ending: str) -> Iterator[str]:
    """The document with `new`, whose lines end by a newline, at byte `at`, parted less or more from its neighbours."""
    head, tail = data[:at].decode(), data[at:].decode()
    written = head.removeprefix("\ufeff")
    unended = ending if written and not written.endswith(("\n", "\r")) else ""
    befores = (_COMMENTS if _BLANK.search(written) else _BEFORE) if written else ("",)
    behinds = (("", *_BEHIND) if tail[0] in "\r\n" else _BEHIND) if tail else ("",)
    for before, behind in product(befores, behinds):
        yield head + unended + (before + new + behind).replace("\n", ending) + tail


def replaced(data: bytes, span: tuple[int, int], new: str, ending: str) -> Iterator[str]:
    """The document with `new` instead of these bytes, parted less or more from what stands around it."""
    start, end = span
    head, tail = data[:start].decode(), data[end:].decode()
    for before, behind in product(_INSTEAD, _INSTEAD if new else ("",)):
        yield head + (before + new + behind).replace("\n", ending) + tail


def top_of(blocks: Sequence[Block], data: bytes) -> int:
    """The byte behind a byte order mark and front matter."""
    head = next((block.end for block in blocks[:2] if block.kind is BlockKind.FRONT_MATTER), 0)
    return head or (len(_BOM) if data.startswith(_BOM) else 0)
