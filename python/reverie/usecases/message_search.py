"""The message indexes of all spaces of a store: opened on first use, kept up to date step by step, saved."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from reverie import search
from reverie.errors import StorageFailed
from reverie.relevance import threshold
from reverie.store import Store, ThreadRecord
from reverie.text_index import Filter, Hit, Index
from reverie.usecases.message_index import MessageIndex, new_index
from reverie.usecases.saved_index import SavedIndex, SavedIndexes, segments_to_merge

if TYPE_CHECKING:
    from reverie.embedding import Embedder
    from reverie.usecases.message_vectors import SimilarMessages

GATE_HITS: Final = 10  # looked at for an answer: the best by score may not be the most relevant
PAUSE_S: Final = 0.002  # between two steps, in which other requests and threads get their turn
LARGEST: Final = 300_000  # messages of a segment that is not merged any more: a merge of more takes much memory


class MessageSearch(SavedIndexes[MessageIndex]):
    """The message indexes of a store: steps take turns, and a search waits for none but its own."""

    largest = LARGEST

    def __init__(
        self, store: Store, folder: Path | None = None, embedder: Callable[[], Embedder] | None = None
    ) -> None:
        """Search the messages of a store. `folder` is where indexes are saved; with None they are not.

        `embedder` opens the embedder that finds texts of like meaning too, None: words alone are searched.
        """
        super().__init__(store, folder)
        self._similar: SimilarMessages | None = None
        if embedder is not None:
            from reverie.usecases.message_vectors import SimilarMessages

            self._similar = SimilarMessages(store, embedder, self._vector_file)

    def catch_up(self, space: str, seconds: float) -> bool:
        """Bring a space's index up to date, for about `seconds` at most; return True if it is up to date.

        Where a saved index is damaged, building it again begins.
        """
        ends = time.monotonic() + seconds
        while not self._step(space):
            if time.monotonic() >= ends:
                return False
            time.sleep(PAUSE_S)
        return True

    def messages(self, space: str, query: str, limit: int, within: Filter) -> list[Hit]:
        """Return the best messages of the index, ranked with what was said around them; call `catch_up` before.

        Empty where the best of them are not about the query. More than `limit` are needed where copies are left out.
        """
        how = search.surroundings_for(query)
        hits = self._ask(space, lambda index: index.search_around(query, limit, how, within))
        near = [] if self._similar is None else self._similar.near(space, query, self._threads(space, within), within)
        if near:
            hit_ids = {hit.id for hit in hits}
            others = replace(within, ids=[id_ for id_, _ in near if id_ not in hit_ids])
            hits += self._ask(space, lambda index: index.search_around(query, len(near), how, others))
            hits = search.fused(hits, near, limit)
        return self._answering(space, hits)

    def embed(self, space: str, seconds: float) -> bool:
        """Embed messages of a space for at most so many seconds; return whether all are. True without an embedder.

        Raises:
            EmbedderFailed: the embedder cannot be used.
        """
        return self._similar is None or self._similar.catch_up(space, seconds)

    def sections(self, space: str, query: str, limit: int, within: Filter) -> list[Hit]:
        """Return the best sections of documents as the index is now, each by its own words; none as in `messages`."""
        return self._answering(space, self._ask(space, lambda index: index.search(query, limit, within)))

    def _answering(self, space: str, hits: list[Hit]) -> list[Hit]:
        """Return all hits if one of the first is relevant, else none: beside an answer, what is near it helps too."""
        least = threshold(len(self._index(space).index))
        return hits if any(hit.relevance > least for hit in hits[:GATE_HITS]) else []

    def _ask(self, space: str, ask: Callable[[Index], list[Hit]]) -> list[Hit]:
        """Return the hits of a query to a space's index; an index whose files cannot be used is built again first."""
        try:
            return ask(self._index(space).index)
        except OSError:
            with self._lock:
                self._index(space).forget()
            self.catch_up(space, float("inf"))
            return ask(self._index(space).index)

    def threads_of(self, space: str, project: str) -> list[str]:
        """Return the threads of a space that work in a project."""
        with self._lock:
            return [thread for thread, name in self._index(space).projects.items() if name == project]

    def unsaved(self, space: str) -> int:
        """Return how many changes of an index are in memory only."""
        return self._index(space).unsaved

    def has_many_segments(self, space: str) -> bool:
        """Return True if an index has so many segments that `save` would merge some, even without unsaved changes."""
        return bool(segments_to_merge(self._index(space).index.segments(), LARGEST))

    def forget(self, space: str) -> None:
        """Save the index of a space without any word of a message that was deleted: for a purge, after its commit.

        Where that is not possible (a damaged segment, a full disk) its files are deleted, and it is built again.

        Raises:
            StorageFailed: nor can they be deleted.
        """
        self._rewrite_vectors(space)
        self.catch_up(space, float("inf"))
        self._rewrite(space, self._index(space), lambda segments: [[one] for one in segments if one.removed_documents])

    def _rewrite_vectors(self, space: str) -> None:
        """Save the vectors of a space without those of deleted messages; a file that no embedder uses is deleted."""
        path = self._vector_file(space)
        if self._similar is not None and self._similar.rewrite(space):
            return
        if path is not None:
            try:
                path.unlink(missing_ok=True)
            except NotADirectoryError:
                return  # another file is in the folder's place: there are no vectors
            except OSError as error:
                why = f"{path} cannot be deleted: {error.strerror}"
                raise StorageFailed(why, hint="delete it by hand") from error

    def _threads(self, space: str, within: Filter) -> list[str] | None:
        """Return the threads that a filter of messages accepts, None: all."""
        accepted: set[str] | None = None
        for groups in within.any_of:
            names = {group.partition(":")[2] for group in groups if group.startswith("thread:")}
            agents = {group.partition(":")[2] for group in groups if group.startswith("agent:")}
            if agents:
                with self._store.reader(space) as reader:
                    names = {thread.id for _, thread in reader.records(ThreadRecord) if thread.agent in agents}
            elif groups and not any(group.startswith("thread:") for group in groups):
                continue
            accepted = names if accepted is None else accepted & names
        return None if accepted is None else sorted(accepted)

    def _vector_file(self, space: str) -> Path | None:
        return self._path(space, ".vectors")

    def save_vectors(self, space: str, *, at_once: bool = False) -> None:
        """Save the vectors of a space where enough has changed, with `at_once` where anything has.

        Raises OSError or ReverieError.
        """
        if self._similar is not None:
            self._similar.save(space, at_once=at_once)

    def _step(self, space: str) -> bool:
        with self._lock, self._store.reader(space) as reader:
            index = self._index(space)
            try:
                return index.step(reader)
            except OSError:
                index.forget()
                return False

    def _index(self, space: str) -> MessageIndex:
        return self._indexes.setdefault(space, MessageIndex(self._files(space)))

    def _files(self, space: str) -> SavedIndex | None:
        path = self._path(space, "-messages")
        return None if path is None else SavedIndex(path, search.VERSION, _opened)


def _opened(segments: list[tuple[Path, bytes]]) -> Index:
    return new_index(segments)


def within(
    *,
    kind: str,
    threads: Collection[str] | None = None,
    agent: str | None = None,
    since: int | None = None,
    before: int | None = None,
) -> Filter:
    """Return the filter of messages or sections (`kind`) of some threads, of an agent, said in a time."""
    groups = [[f"is:{kind}"]]
    if threads is not None:
        groups.append([f"thread:{thread}" for thread in threads])
    if agent is not None:
        groups.append([f"agent:{agent}"])
    return Filter(any_of=groups, since=since, before=before)
