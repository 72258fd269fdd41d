"""A static table of embeddings: a text is the mean of the vectors of its tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reverie.embedding.embedder import numpy
from reverie.embedding.vector_search import unit_rows
from reverie.embedding.wordpiece import check_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.embedding.wordpiece import WordPiece

__all__ = ["StaticTable"]

TOKENS_MAX: Final = 512


class StaticTable:
    """An embedder of a table with a row for each token."""

    def __init__(self, name: str, tokens: WordPiece, table: Any, *, weights: Any | None = None) -> None:
        """Use a table of shape (tokens, dimensions); `weights` count each token's row, where the model has them.

        Raises:
            ValueError: the table has fewer rows than the vocabulary, or too many columns, or none.
        """
        check_table(table, tokens)
        self.name = name
        self.dimensions = int(table.shape[1])
        self._tokens = tokens
        with numpy().errstate(over="ignore"):
            self._table = table if weights is None else table * weights.reshape(-1, 1)

    def embed(self, texts: Sequence[str]) -> Any:
        """Return a float32 array with a row of length 1 for each text; zeros for one without a known token."""
        np = numpy()
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        for at, text in enumerate(texts):
            numbers = [number for number in self._tokens.numbers(text, TOKENS_MAX) if number != self._tokens.unknown]
            if numbers:
                with np.errstate(over="ignore", invalid="ignore"):
                    rows[at] = self._table[numbers].mean(axis=0)
        return unit_rows(np, rows)
