"""The messages of all spaces by their meaning: the vectors of each, embedded step by step behind the requests."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from reverie import search
from reverie.errors import EmbedderFailed, ReverieError
from reverie.usecases.space_message_vectors import MessageVectors

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

    from reverie.embedding import Embedder
    from reverie.full_text_index import Filter
    from reverie.store import Store

__all__ = ["SimilarMessages"]

PAUSE_S: Final = 0.005  # between two steps


class SimilarMessages:
    """The vectors of a store. Thread-safe: steps, savings and purges take turns, a search waits for none of them."""

    def __init__(self, store: Store, embedder: Callable[[], Embedder], path_of: Callable[[str], Path | None]) -> None:
        """Use an embedder, opened when it is needed first; `path_of` returns the file of a space, None: none is."""
        self._store = store
        self._open = embedder
        self._path_of = path_of
        self._embedder: Embedder | None = None
        self._spaces: dict[str, MessageVectors] = {}
        self._working = threading.Lock()

    def catch_up(self, space: str, seconds: float) -> bool:
        """Embed messages for at most so many seconds; return whether all are. Raises EmbedderFailed."""
        ends = time.monotonic() + seconds
        while True:
            with self._working:
                vectors = self._vectors(space)
                with self._store.reader(space) as reader:
                    if vectors.step(reader):
                        return True
            if time.monotonic() >= ends:
                return False
            time.sleep(PAUSE_S)

    def near(self, space: str, query: str, threads: Collection[str] | None, within: Filter) -> list[tuple[str, float]]:
        """Return ids and cosines of the nearest messages that have a vector; none where no step was made yet."""
        vectors = self._spaces.get(space)
        if vectors is None:
            return []
        with suppress(EmbedderFailed):  # the steps behind the requests tell it; words are searched all the same
            return vectors.near(query, search.NEAR, threads, within)
        return []

    def save(self, space: str, *, at_once: bool) -> None:
        """Save the vectors of a space where enough has changed, or with `at_once` where anything has."""
        vectors = self._spaces.get(space)
        if vectors is not None:
            with self._working, self._store.reader(space) as reader:
                vectors.save(reader, at_once=at_once)

    def rewrite(self, space: str) -> bool:
        """Save the vectors without those of deleted messages; return False where that is not possible."""
        try:
            with self._working, self._store.reader(space) as reader:
                vectors = self._vectors(space)
                vectors.follow(reader)
                vectors.unsaved += 1  # the file may have what memory has not any more
                vectors.save(reader, at_once=True)
        except (OSError, ReverieError):
            self._spaces.pop(space, None)
            return False
        return True

    def _vectors(self, space: str) -> MessageVectors:
        if self._embedder is None:
            self._embedder = self._open()
        if space not in self._spaces:
            self._spaces[space] = MessageVectors(self._embedder, self._path_of(space))
        return self._spaces[space]
