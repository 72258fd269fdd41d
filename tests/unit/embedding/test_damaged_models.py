"""Folders of models that are damaged, foreign or hostile: each is refused with the stable code, before it is used."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reverie.embedding import configured, open_embedder
from reverie.errors import EmbedderFailed
from support.small_models import MEANINGS, SPECIAL, static_folder, weights

np: Any = pytest.importorskip("numpy", reason="pip install 'reverie[embed]'")
pytest.importorskip("model2vec", reason="pip install 'reverie[embed]'")

ROWS = len(SPECIAL) + len(MEANINGS)


def safetensors(header: object, data: bytes = b"") -> bytes:
    """Return a safetensors file with any header."""
    head = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(head)) + head + data


def entry(**changes: object) -> dict[str, object]:
    """Return a safetensors header entry of a table that fits the vocabulary, with some fields replaced."""
    return {"dtype": "F32", "shape": [ROWS, 4], "data_offsets": [0, 16 * ROWS], **changes}


DATA = bytes(16 * ROWS)
STATIC: dict[str, tuple[str, bytes]] = {
    "no header": ("model.safetensors", b""),
    "a header of 2**64 bytes": ("model.safetensors", b"\xff" * 9),
    "a list": ("model.safetensors", safetensors([1])),
    "brackets without end": ("model.safetensors", safetensors(b"[" * 200_000)),
    "an entry without fields": ("model.safetensors", safetensors({"embeddings": {}})),
    "an entry that is a text": ("model.safetensors", safetensors({"embeddings": "x"})),
    "a negative shape": ("model.safetensors", safetensors({"embeddings": entry(shape=[-1, 4])}, DATA)),
    "another shape": ("model.safetensors", safetensors({"embeddings": entry(shape=[2**62, 4])}, DATA)),
    "a broken shape": ("model.safetensors", safetensors({"embeddings": entry(shape=[ROWS, 4.0])}, DATA)),
    "bytes beyond the end": ("model.safetensors", safetensors({"embeddings": entry()}, DATA[:-1])),
    "bytes before the beginning": ("model.safetensors", safetensors({"embeddings": entry(data_offsets=[-4, 0])}, DATA)),
    "no columns": (
        "model.safetensors",
        safetensors({"embeddings": entry(shape=[ROWS, 0], data_offsets=[0, 0])}),
    ),
    "another weight of numbers": ("model.safetensors", safetensors({"embeddings": entry(dtype=["F32"])}, DATA)),
    "tensors that share bytes": (
        "model.safetensors",
        safetensors({"embeddings": entry(), **{f"t{number}": entry() for number in range(9)}}, DATA),
    ),
    "numbers that are none": (
        "model.safetensors",
        weights({"embeddings": [[float("nan")] * 4] * ROWS}),
    ),
    "infinite numbers": ("model.safetensors", weights({"embeddings": [[float("inf")] * 4] * ROWS})),
    "settings that are a list": ("config.json", b"[]"),
    "settings without end": ("config.json", b"[" * 200_000),
    "a vocabulary of texts": ("tokenizer.json", b'{"model": {"type": "WordPiece", "vocab": {"the": "4"}}}'),
    "negative rows": ("tokenizer.json", b'{"model": {"type": "WordPiece", "vocab": {"the": -4000}}}'),
    "broken rows": ("tokenizer.json", b'{"model": {"type": "WordPiece", "vocab": {"the": 1.5}}}'),
    "a tokenizer that is a list": ("tokenizer.json", b"[]"),
    "a tokenizer without end": ("tokenizer.json", b"[" * 200_000),
}


@pytest.mark.parametrize("name", STATIC)
def test_a_hostile_file_of_a_table_is_refused(tmp_path: Path, name: str) -> None:
    """A damaged file of a static model is refused with `embedder_failed` and a hint."""
    folder = static_folder(tmp_path)
    file, content = STATIC[name]
    (folder / file).write_bytes(content)
    refused(folder)


def test_files_that_are_none_are_not_waited_for(tmp_path: Path) -> None:
    """A pipe, device, folder, circular link or huge file in place of a model's file is refused without waiting."""
    huge = tmp_path / "long.bin"
    with huge.open("wb") as file:
        file.truncate(1 << 40)  # takes no room
    made: dict[str, Callable[[Path], None]] = {
        "pipe": os.mkfifo,
        "device": lambda path: path.symlink_to("/dev/zero"),
        "folder": lambda path: path.mkdir(),
        "circle": lambda path: path.symlink_to(path),
        "huge": lambda path: path.symlink_to(huge),
    }
    for kind, make in made.items():
        for name in ("model.safetensors", "config.json", "tokenizer.json"):
            folder = static_folder(tmp_path / kind / name)
            (folder / name).unlink()
            make(folder / name)
            refused(folder)


def test_numbers_too_large_for_a_length_have_no_direction(tmp_path: Path) -> None:
    """Where a vector is too large for its length to be computed, `embed` still returns finite numbers only."""
    rows = open_embedder(static_folder(tmp_path, scale=3e38)).embed(["the car", "the parser"])
    assert np.isfinite(rows).all()


def test_a_model_with_another_vocabulary_has_another_name(tmp_path: Path) -> None:
    """The name of a model changes with its vocabulary, so that vectors of two vocabularies are never compared."""
    folder = static_folder(tmp_path)
    before = open_embedder(folder).name
    text = (folder / "tokenizer.json").read_text()
    (folder / "tokenizer.json").write_text(text.replace('"car"', '"cat"'))
    assert open_embedder(folder).name != before


@pytest.mark.parametrize("model", ["__main__", "/" + "x" * 300, "/proc/1/root/model", "/\0/x"])
def test_names_that_no_model_can_have_are_refused(tmp_path: Path, model: str) -> None:
    """A configured model name that cannot be found or read as a model is refused with EmbedderFailed."""
    with pytest.raises(EmbedderFailed):
        configured(model, home=tmp_path)


def refused(folder: Path) -> None:
    """Assert that opening a model folder fails with `embedder_failed`, a hint and a short message."""
    with pytest.raises(EmbedderFailed) as caught:
        open_embedder(folder)
    assert caught.value.code == "embedder_failed"
    assert caught.value.hint
    assert len(str(caught.value)) < 600
