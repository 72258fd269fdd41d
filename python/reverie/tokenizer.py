"""Token counts of ordinary text, exactly as tiktoken counts, without a download.

Names of special tokens such as `<|endoftext|>` are text like any other. An unpaired surrogate is counted as U+FFFD, as
tiktoken does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from reverie import _native

if TYPE_CHECKING:
    from collections.abc import Sequence

Encoding: TypeAlias = Literal["o200k_base", "cl100k_base"]

TOKENIZER: Final[Encoding] = "o200k_base"


def count(text: str, encoding: Encoding = TOKENIZER) -> int:
    """Count the tokens of `text`. Raises ValidationError for an encoding that is not built in."""
    return _native.count(text, encoding)


def count_many(texts: Sequence[str], encoding: Encoding = TOKENIZER) -> list[int]:
    """Count the tokens of each text, in order, in one call for many small texts."""
    return _native.count_many(texts, encoding)


def count_items(bodies: Sequence[str], encoding: Encoding = TOKENIZER) -> list[int]:
    r"""Count the tokens of `- body\n` for each body.

    The sum over any list of such lines is the exact count of the joined text, as long as bodies are one line and do
    not begin with white space or `/`.
    """
    return _native.count_items(bodies, encoding)


def fits(text: str, limit: int, encoding: Encoding = TOKENIZER) -> bool:
    """Return whether `text` has at most `limit` tokens; nothing fits a negative limit."""
    return limit >= 0 and _native.fits(text, limit, encoding)


def truncate(text: str, limit: int, encoding: Encoding = TOKENIZER) -> str:
    """Return a prefix of `text` with at most `limit` tokens, cut between characters; `text` itself if it fits."""
    limit = max(limit, 0)
    return _native.truncate(text, limit, encoding)
