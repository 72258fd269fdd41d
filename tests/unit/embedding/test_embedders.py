"""Embedders of folders with a model's files: what they compute, and what they say where something is missing."""

from __future__ import annotations

import shutil
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

from reverie.embedding import configured, folder_of, open_embedder
from reverie.errors import EmbedderFailed
from support.small_models import MEANINGS, static_folder, weights

np: Any = pytest.importorskip("numpy", reason="pip install 'reverie[embed]'")
pytest.importorskip("model2vec", reason="pip install 'reverie[embed]'")


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library could download a model: a folder that it cannot use must not make it try."""

    def refused(*_: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)


def test_a_text_is_the_mean_of_its_tokens(tmp_path: Path) -> None:
    """A text's vector is the normalised mean of its tokens' rows; unknown words add nothing, alone they give zero."""
    embedder = open_embedder(static_folder(tmp_path))
    rows = embedder.embed(["the car", "cars xyzzy", "xyzzy", ""])
    mean = np.mean([MEANINGS["the"], MEANINGS["car"]], axis=0)
    assert np.allclose(rows[0], mean / np.linalg.norm(mean), atol=1e-6)
    assert np.allclose(np.linalg.norm(rows[:2], axis=1), 1)
    assert not rows[2:].any()
    assert embedder.dimensions == 4


def test_a_package_is_found_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model's package is found by name or path without being imported."""
    package = tmp_path / "small_words"
    static_folder(package / "model")
    (package / "__init__.py").write_text("raise RuntimeError")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert folder_of("small-words", home=tmp_path) == package / "model"
    assert configured("small_words", home=tmp_path).dimensions == 4
    assert folder_of("~/small_words/model", home=tmp_path) == package / "model"


def test_what_is_missing_is_named_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing model or package raises EmbedderFailed with a hint of the next step."""
    cases = {"/nowhere/model": "no model.safetensors", "no-such-package": "is not installed", "json": "has no model"}
    for model, words in cases.items():
        with pytest.raises(EmbedderFailed, match=words) as caught:
            configured(model, home=tmp_path)
        assert caught.value.code == "embedder_failed"
        assert caught.value.hint
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(EmbedderFailed, match="numpy") as caught:
        configured(str(static_folder(tmp_path / "model")), home=tmp_path)
    assert caught.value.hint == "pip install 'reverie[embed]'"
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "model2vec", None)
    with pytest.raises(EmbedderFailed, match="model2vec"):
        configured(str(tmp_path / "model"), home=tmp_path)


def test_a_damaged_model_is_refused(tmp_path: Path) -> None:
    """A model with a cut, missing or unsuitable file is refused."""
    whole = static_folder(tmp_path / "whole")
    content = (whole / "model.safetensors").read_bytes()
    damages: dict[str, bytes | None] = {"model.safetensors": content[:40], "config.json": b"{", "tokenizer.json": None}
    for name, data in damages.items():
        folder = tmp_path / name
        shutil.copytree(whole, folder)
        (folder / name).unlink()
        if data is not None:
            (folder / name).write_bytes(data)
        with pytest.raises(EmbedderFailed):
            open_embedder(folder)
    for tensors in ({"embeddings": [[1.0, 2.0]]}, {"layer": [[1.0]]}):
        (whole / "model.safetensors").write_bytes(weights(tensors))
        with pytest.raises(EmbedderFailed):
            open_embedder(whole)
