"""Encoders of sentences with numpy: a BERT encoder (Devlin et al., 2019), and a static table of vectors for tokens."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from reverie.embedding.table import numpy, unit_rows
from reverie.embedding.wordpiece import check_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reverie.embedding.wordpiece import WordPiece

TOKENS_MAX: Final = 128  # of a text, its marks of beginning and end included: what such models were trained on
BATCH: Final = 16  # texts of like length at once
_EMBEDDINGS: Final = "embeddings."
_ERF: Final = (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)  # Abramowitz and Stegun 7.1.26

TABLE_TOKENS_MAX: Final = 512


class Bert:
    """An embedder of a BERT model. `layers` are its tensors by their names in the file."""

    def __init__(self, name: str, tokens: WordPiece, layers: Mapping[str, Any], config: Mapping[str, Any]) -> None:
        """Use the tensors of a model and its `config.json`.

        Raises:
            KeyError: a tensor or setting is missing.
            ValueError: it uses another activation than gelu, or a tensor has another shape than the settings say.
            ArithmeticError: a setting is no number.
        """
        if config.get("hidden_act", "gelu") != "gelu":
            raise ValueError(f"its activation is {config['hidden_act']}, and only gelu is known")
        self.name = name
        self.dimensions = int(config["hidden_size"])
        self._heads = int(config["num_attention_heads"])
        self._epsilon = float(config.get("layer_norm_eps", 1e-12))
        self._tokens = tokens
        self._layers = layers
        self._depth = int(config["num_hidden_layers"])
        self._begin, self._end = tokens.vocabulary["[CLS]"], tokens.vocabulary["[SEP]"]
        self._tokens_max = min(TOKENS_MAX, len(layers[f"{_EMBEDDINGS}position_embeddings.weight"]))
        self._check()

    def _check(self) -> None:
        """Compare every tensor's shape with the settings. Raises KeyError, ValueError."""
        size, layers = self.dimensions, self._layers
        check_table(layers[f"{_EMBEDDINGS}word_embeddings.weight"], self._tokens)
        inner = len(layers["encoder.layer.0.intermediate.dense.bias"]) if self._depth > 0 else 0
        shapes: dict[str, tuple[int, ...]] = {}
        for kind in ("word", "position", "token_type"):
            name = f"{_EMBEDDINGS}{kind}_embeddings.weight"
            shapes[name] = (len(layers[name]), size)
        for part in ("weight", "bias"):
            shapes[f"{_EMBEDDINGS}LayerNorm.{part}"] = (size,)
        for at in range(self._depth):
            shapes |= _layer_shapes(f"encoder.layer.{at}.", size, inner)
            wrong = [name for name in shapes if layers[name].shape != shapes[name]]
            if wrong:
                raise ValueError(f"the tensor {wrong[0]} has the shape {layers[wrong[0]].shape}")
            shapes.clear()
        fits = self._heads > 0 and size % self._heads == 0 and self._depth > 0 and self._tokens_max > 2
        if not fits or not 0 <= self._epsilon < 1 or not len(layers[f"{_EMBEDDINGS}token_type_embeddings.weight"]):
            raise ValueError("its settings do not fit each other")

    def embed(self, texts: Sequence[str]) -> Any:
        """Return a float32 array with a row of length 1 for each text."""
        np = numpy()
        numbers = [[self._begin, *self._tokens.numbers(text, self._tokens_max - 2), self._end] for text in texts]
        order = sorted(range(len(texts)), key=lambda at: len(numbers[at]))
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        for start in range(0, len(order), BATCH):
            chosen = order[start : start + BATCH]
            with np.errstate(all="ignore"):  # what is no number has no direction
                rows[chosen] = self._means(np, [numbers[at] for at in chosen])
        return unit_rows(np, rows)

    def _means(self, np: Any, batch: Sequence[Sequence[int]]) -> Any:
        """Return the mean of the last layer over the tokens of each text."""
        longest = max(map(len, batch))
        ids = np.zeros((len(batch), longest), np.int64)
        mask = np.zeros((len(batch), longest), np.float32)
        for at, numbers in enumerate(batch):
            ids[at, : len(numbers)] = numbers
            mask[at, : len(numbers)] = 1.0
        layers = self._layers
        state = layers["embeddings.word_embeddings.weight"][ids]
        state = state + layers["embeddings.position_embeddings.weight"][:longest]
        state = state + layers["embeddings.token_type_embeddings.weight"][0]
        state = self._norm(np, state, "embeddings.LayerNorm")
        hidden = (mask[:, None, None, :] - 1.0) * 1e9  # what is no token is not attended to
        for at in range(self._depth):
            state = self._layer(np, state, hidden, f"encoder.layer.{at}.")
        return (state * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)

    def _layer(self, np: Any, state: Any, hidden: Any, name: str) -> Any:
        texts, length, size = state.shape
        width = size // self._heads

        def heads(part: str) -> Any:
            projection = self._linear(state, f"{name}attention.self.{part}")
            return projection.reshape(texts, length, self._heads, width).transpose(0, 2, 1, 3)

        scores = heads("query") @ heads("key").transpose(0, 1, 3, 2) / math.sqrt(width) + hidden
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        mixed = (scores @ heads("value")).transpose(0, 2, 1, 3).reshape(texts, length, size)
        mixed = self._linear(mixed, f"{name}attention.output.dense")
        state = self._norm(np, state + mixed, f"{name}attention.output.LayerNorm")
        inner = _gelu(np, self._linear(state, f"{name}intermediate.dense"))
        return self._norm(np, state + self._linear(inner, f"{name}output.dense"), f"{name}output.LayerNorm")

    def _linear(self, values: Any, name: str) -> Any:
        return values @ self._layers[f"{name}.weight"].T + self._layers[f"{name}.bias"]

    def _norm(self, np: Any, values: Any, name: str) -> Any:
        centred = values - values.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + self._epsilon)
        return centred / spread * self._layers[f"{name}.weight"] + self._layers[f"{name}.bias"]


def _layer_shapes(layer: str, size: int, inner: int) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the tensors of one layer by their names."""
    shapes: dict[str, tuple[int, ...]] = {}
    square = ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense")
    matrices = {
        **dict.fromkeys(square, (size, size)),
        "intermediate.dense": (inner, size),
        "output.dense": (size, inner),
    }
    for name, shape in matrices.items():
        shapes[f"{layer}{name}.weight"], shapes[f"{layer}{name}.bias"] = shape, shape[:1]
    for name in ("attention.output.LayerNorm", "output.LayerNorm"):
        shapes[f"{layer}{name}.weight"] = shapes[f"{layer}{name}.bias"] = (size,)
    return shapes


def _gelu(np: Any, values: Any) -> Any:
    """Return values times the share of a normal distribution below each; numpy has no erf: within 2e-7 of it."""
    x = np.abs(values) / math.sqrt(2.0)
    t = 1.0 / (1.0 + 0.3275911 * x)
    polynomial = ((((_ERF[4] * t + _ERF[3]) * t + _ERF[2]) * t + _ERF[1]) * t + _ERF[0]) * t
    erf = np.sign(values) * (1.0 - polynomial * np.exp(-x * x))
    return values * 0.5 * (1.0 + erf)


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
            numbers = [
                number for number in self._tokens.numbers(text, TABLE_TOKENS_MAX) if number != self._tokens.unknown
            ]
            if numbers:
                with np.errstate(over="ignore", invalid="ignore"):
                    rows[at] = self._table[numbers].mean(axis=0)
        return unit_rows(np, rows)
