"""Names that were made to lead somewhere else, out of two public lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.shared import shared

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["forms", "payloads"]


def payloads() -> list[str]:
    """Every line of the lists, once; bytes that are no text as surrogates."""
    lines: dict[bytes, None] = {}
    for path in sorted(shared("data/paths").rglob("*")):
        if path.is_file():
            lines.update(dict.fromkeys(path.read_bytes().splitlines()))
    return [line.decode("utf-8", "surrogateescape") for line in lines]


def forms(payload: str) -> Iterator[str]:
    """As it is, and as somebody would build it into the name of a document."""
    yield payload
    for form in ("{}/user.md", "facts/{}", "facts/{}.md", "{}.md"):
        yield form.format(payload)
