"""The parts that sections of the settings are made of: their base, and bounds with descriptions."""

from typing import Annotated

import msgspec
from msgspec import Meta

__all__ = [
    "DAY_MAX",
    "LIST_MAX",
    "TEXT_MAX",
    "TOKENS_MAX",
    "Section",
    "Texts",
    "model_name",
    "number",
    "share",
    "text",
]

DAY_MAX = 36_500
TOKENS_MAX = 10_000_000
TEXT_MAX = 4096  # characters: the longest path that Linux takes
LIST_MAX = 10_000

Texts = tuple[Annotated[str, Meta(min_length=1, max_length=TEXT_MAX)], ...]


def number(least: float, most: float, description: str) -> Meta:
    """Return the bounds, both allowed, and the description of a number."""
    return Meta(ge=least, le=most, description=description)


def share(description: str) -> Meta:
    """Return the bounds of a fraction: above 0 and up to 1."""
    return Meta(gt=0, le=1, description=description)


def text(description: str) -> Meta:
    """Return the description of a path, list or choice."""
    return Meta(description=description)


def model_name(description: str) -> Meta:
    """Return the description of a model's name, which may be empty."""
    return Meta(
        pattern=r"\A[A-Za-z0-9._:/@+-]{0,200}\Z",
        description=f"{description} Empty: the transport's own choice.",
        extra={"expected": "the name of a model, without spaces"},
    )


class Section(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A table of the settings file."""
