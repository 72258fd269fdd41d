"""The memories of every space in use, searchable here; one lock, since a search lasts well under a millisecond."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from reverie.recall import recall_line
from reverie.usecases.memory_index import Recollection

if TYPE_CHECKING:
    from reverie.recall import Hit
    from reverie.store import Store

__all__ = ["Recall"]


class Recall:
    """One index per space, made on first use and kept in step with the store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._spaces: dict[str, Recollection] = {}
        self._lock = threading.Lock()

    def search(self, space: str, query: str, **options: Any) -> list[Hit]:
        """The best memories of `space` for `query`; options as `Recollection.search` takes them."""
        with self._lock, self._store.reader(space) as reader:
            found = self._spaces.setdefault(space, Recollection())
            found.catch_up(reader)
            return found.search(query, **options)

    def lines(self, space: str, query: str, *, limit: int) -> list[tuple[str, str, str]]:
        """The best memories as a context shows them: text, memory id, document."""
        if not query:
            return []
        return [
            (recall_line(hit.memory), hit.memory.id, hit.memory.document)
            for hit in self.search(space, query, limit=limit)
        ]
