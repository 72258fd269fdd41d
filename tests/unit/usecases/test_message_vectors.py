"""Messages found by their meaning: embedded step by step, saved, and gone when their thread is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from reverie.embedding import Embedder, open_embedder
from reverie.errors import EmbedderFailed
from reverie.usecases import message_vectors
from reverie.usecases.message_search import MessageSearch, within
from support.small_models import static_folder
from support.stores import SECRET, SPACE, append, delete, opened

pytest.importorskip("model2vec", reason="pip install 'reverie[embed]'")

FOREVER = float("inf")


class Counting:
    """An embedder that remembers the texts that it was given."""

    def __init__(self, embedder: Embedder) -> None:
        self.name, self.dimensions = embedder.name, embedder.dimensions
        self.texts: list[str] = []
        self._embedder = embedder

    def embed(self, texts: Sequence[str]) -> Any:
        self.texts += texts
        return self._embedder.embed(texts)


@pytest.fixture
def embedder(tmp_path: Path) -> Counting:
    return Counting(open_embedder(static_folder(tmp_path / "model")))


def found(search: MessageSearch, query: str, **which: Any) -> list[str]:
    """Return the ids of the best three messages for a query, after all messages are embedded."""
    assert search.catch_up(SPACE, FOREVER)
    assert search.embed(SPACE, FOREVER)
    return [hit.id for hit in search.messages(SPACE, query, 3, within(kind="message", **which))]


def opening(embedder: Embedder) -> Callable[[], Embedder]:
    return lambda: embedder


def test_a_message_is_found_in_other_words(tmp_path: Path, embedder: Counting) -> None:
    """A message is found by words of like meaning, also with filters; a hit's terms name shared words and `similar`."""
    with opened(tmp_path / "store") as store:
        append(store, "a", "the car is in the garage", "an oak", "soup again")
        append(store, "b", "vehicle and dinner", agent="cook")
        search = MessageSearch(store, tmp_path / "search", opening(embedder))
        assert MessageSearch(store).messages(SPACE, "which automobile?", 3, within(kind="message")) == []
        assert found(search, "which automobile?")[0] == "a/1"
        assert found(search, "a tree, or an oak?")[0] == "a/2"
        (hit, *_) = search.messages(SPACE, "car?", 1, within(kind="message"))
        assert {"car", "similar"} <= {term for term, _ in hit.terms}
        assert hit.score == pytest.approx(sum(score for _, score in hit.terms))
        assert found(search, "which automobile?", agent="cook") == ["b/1"]
        assert found(search, "which automobile?", threads=["b"]) == ["b/1"]
        assert found(search, "which automobile?", threads=[]) == []
        assert found(search, "which automobile?", before=1) == []


def test_each_message_is_embedded_once(tmp_path: Path, embedder: Counting, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each message is embedded once, also in steps and after a restart with the vectors saved."""
    monkeypatch.setattr(message_vectors, "STEP_ENTRIES", 3)
    with opened(tmp_path / "store") as store:
        texts = [f"car number {number}" for number in range(11)]
        append(store, "a", *texts[:5])
        search = MessageSearch(store, tmp_path / "search", opening(embedder))
        assert search.embed(SPACE, FOREVER)
        append(store, "a", *texts[5:])
        assert search.embed(SPACE, FOREVER)
        assert embedder.texts == texts
        search.save_vectors(SPACE, at_once=True)
        append(store, "b", "late soup")
        again = MessageSearch(store, tmp_path / "search", opening(embedder))
        assert again.embed(SPACE, FOREVER)
        assert embedder.texts == [*texts, "late soup"]


def test_vectors_of_another_model_or_store_are_made_again(tmp_path: Path, embedder: Counting) -> None:
    """Messages are embedded again if the saved vectors are damaged, or of another model or store."""
    with opened(tmp_path / "store") as store:
        append(store, "a", "the car")
        search = MessageSearch(store, tmp_path / "search", opening(embedder))
        assert search.embed(SPACE, FOREVER)
        search.save_vectors(SPACE, at_once=True)
        other = Counting(open_embedder(static_folder(tmp_path / "other", scale=2.0)))
        assert MessageSearch(store, tmp_path / "search", opening(other)).embed(SPACE, FOREVER)
        assert other.texts == ["the car"]
        (path,) = (tmp_path / "search").glob("*.vectors")
        path.write_bytes(path.read_bytes()[:-1])
        assert MessageSearch(store, tmp_path / "search", opening(embedder)).embed(SPACE, FOREVER)
        assert embedder.texts == ["the car"] * 2
    with opened(tmp_path / "another") as store:
        append(store, "a", "an oak")
        assert MessageSearch(store, tmp_path / "search", opening(embedder)).embed(SPACE, FOREVER)
        assert embedder.texts[-1] == "an oak"


def test_what_is_deleted_leaves_the_vectors(tmp_path: Path, embedder: Counting) -> None:
    """Vectors of a deleted thread are removed, also if it was deleted and made anew while they were only on disk."""
    with opened(tmp_path / "store") as store:
        append(store, "a", "the car", "another car")
        append(store, "b", "soup")
        search = MessageSearch(store, tmp_path / "search", opening(embedder))
        assert set(found(search, "automobile?")[:2]) == {"a/1", "a/2"}
        search.save_vectors(SPACE, at_once=True)
        delete(store, "a")
        append(store, "a", "an oak")
        for each in (search, MessageSearch(store, tmp_path / "search", opening(embedder))):
            assert found(each, "automobile?")[:1] != ["a/2"]
            assert found(each, "tree?")[0] == "a/1"
            assert len(each._similar._spaces[SPACE].vectors) == 2  # type: ignore[union-attr]


def test_a_purge_rewrites_the_file(tmp_path: Path, embedder: Counting) -> None:
    """`rewrite` removes a deleted thread from the vectors' file; without a working embedder it deletes the file."""
    with opened(tmp_path / "store") as store:
        append(store, "secret", "the car")
        append(store, "b", "soup")
        search = MessageSearch(store, tmp_path / "search", opening(embedder))
        assert search.embed(SPACE, FOREVER)
        search.save_vectors(SPACE, at_once=True)
        (path,) = (tmp_path / "search").glob("*.vectors")
        before = path.read_bytes()
        assert b"secret" in before
        delete(store, "secret")
        MessageSearch(store, tmp_path / "search", opening(embedder)).forget(SPACE)
        assert b"secret" not in path.read_bytes()
        path.write_bytes(before)
        MessageSearch(store, tmp_path / "search").forget(SPACE)
        assert not path.exists()
        path.write_bytes(before)

        def broken() -> Embedder:
            raise EmbedderFailed("it does not work")

        failing = MessageSearch(store, tmp_path / "search", broken)
        failing.forget(SPACE)
        assert not path.exists()
        with pytest.raises(EmbedderFailed):
            failing.embed(SPACE, FOREVER)
        assert [hit.id for hit in failing.messages(SPACE, "soup", 3, within(kind="message"))] == ["b/1"]


def test_no_secret_is_embedded(tmp_path: Path, embedder: Counting) -> None:
    """Messages are embedded with their secrets redacted."""
    with opened(tmp_path / "store") as store:
        append(store, "a", f"the key is {SECRET} for the car")
        search = MessageSearch(store, tmp_path / "search", opening(embedder))
        assert search.embed(SPACE, FOREVER)
        assert embedder.texts
        assert SECRET not in embedder.texts[0]
