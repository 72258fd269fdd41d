"""Recall: a search index over memories, the line that shows a found memory, and the query that a context makes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, Protocol, TypeVar

from reverie import tokenizer
from reverie.documents.escape import tag
from reverie.documents.layout import memory_project
from reverie.doubts import doubt_note
from reverie.relevance import names_code, threshold
from reverie.text_index import Filter, Index, IndexEntry

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from reverie.models import MemoryType, WorkingState

_MESSAGE_CHARS_MAX: Final = 2_000
"""Characters of the person's message in a query; more, such as a pasted log, would outweigh the words of the task."""


_GATE_HITS: Final = 10
"""Hits that are looked at for an answer, however few are wanted: the best by BM25 may not share most topic words."""

RECALL_TOKENS: Final = 1_500
"""Tokens of all hits of a recall together, unless the caller gives a budget."""

VERSION: Final = 5
"""Raise it when a memory gives other terms, tags or groups than before, here or in the core: saved indexes are then
built again."""


class _Recalled(Protocol):
    """The fields of a memory that recall uses; `reverie.models.Memory` explains them."""

    @property
    def id(self) -> str: ...
    @property
    def type(self) -> MemoryType: ...
    @property
    def content(self) -> str: ...
    @property
    def tags(self) -> tuple[str, ...]: ...
    @property
    def document(self) -> str: ...
    @property
    def title(self) -> str | None: ...
    @property
    def fields(self) -> tuple[tuple[str, str], ...]: ...
    @property
    def project(self) -> str | None: ...
    @property
    def provenance(self) -> Mapping[str, Any]: ...


M = TypeVar("M", bound=_Recalled)


class Counted(NamedTuple, Generic[M]):
    """A memory, and the tokens of its recalled line with the newline."""

    memory: M
    tokens: int


class Hit(NamedTuple, Generic[M]):
    """A memory that was found: `why` lists the words that matched and what each added to `score`, the greatest first.

    `tokens` is the cost of its recalled line. `relevance` is 0 to 1: `reverie.relevance`.
    """

    memory: M
    score: float
    why: tuple[tuple[str, float], ...]
    tokens: int
    relevance: float = 1.0


@dataclass(frozen=True, slots=True)
class Found(Generic[M]):
    """The result of a recall: the hits shown, and how many `weaker` hits are not shown.

    `min_score` is the relevance that decided it: of each hit where the caller gave one, else of the best hit.
    """

    hits: list[Hit[M]]
    weaker: int
    min_score: float


class SearchIndex:
    """A full-text index over memories by id; changes are visible to the next search. It keeps no memory itself."""

    def __init__(self, index: Index | None = None) -> None:
        """Create an index of memories over a saved full-text index, or over an empty one."""
        self.index = index or Index()

    def __len__(self) -> int:
        return len(self.index)

    def add(self, memory: _Recalled) -> None:
        """Add a memory, or replace the one with the same id."""
        self.index.add(*_index_record(memory))

    def add_many(self, memories: Iterable[_Recalled]) -> None:
        """Add memories in one step, which is faster than one by one."""
        self.index.add_many(map(_index_record, memories))

    def remove(self, memory_id: str) -> None:
        """Remove a memory; one that is not in the index is no error."""
        self.index.remove(memory_id)

    def search(
        self,
        query: str,
        load: Callable[[str], Counted[M] | None],
        *,
        limit: int = 10,
        token_budget: int = RECALL_TOKENS,
        types: Collection[MemoryType] | None = None,
        tags: Collection[str] | None = None,
        projects: Collection[str] | None = None,
    ) -> list[Hit[M]]:
        """Return the best memories for `query`, best first, ties by id: at most `limit` hits and `token_budget` tokens.

        `load` returns a memory by its id, as `counted` does. With `types`, memories of one of these types only; with
        `tags`, those that have all of the tags; with `projects`, those of one of them, "" being the person. A memory
        whose line is larger than the tokens left is skipped, and smaller ones after it may still fit.
        """
        if limit < 1 or not query.strip():
            return []
        hits: list[Hit[M]] = []
        room = token_budget
        for match in self.index.search(query, limit, Filter(any_of=_groups(types, tags, projects))):
            entry = load(match.id)
            if entry is not None and entry.tokens <= room:
                relevance = 1.0 if names_code(query, memory_text(entry.memory)) else match.relevance
                hits.append(Hit(entry.memory, match.score, match.terms, entry.tokens, relevance))
                room -= entry.tokens
        return hits

    def nearest(
        self, query: str, limit: int, *, types: Collection[MemoryType] | None = None, projects: Collection[str]
    ) -> list[str]:
        """Return ids of the `limit` best memories for `query`, of one of the types and projects, best first."""
        return [match.id for match in self.index.search(query, limit, Filter(any_of=_groups(types, None, projects)))]

    def recall(
        self,
        query: str,
        load: Callable[[str], Counted[M] | None],
        *,
        limit: int,
        min_score: float | None = None,
        **options: Any,
    ) -> Found[M]:
        """Return the best memories for `query` if it is related to them; `options` are those of `search`.

        With `min_score` the hits of at least that relevance, all of them for 0. Without, either all or none: where the
        best of the first hits is relevant, its neighbours help too.
        """
        if min_score is not None:
            hits = self.search(query, load, limit=limit, **options)
            shown = [hit for hit in hits if hit.relevance >= min_score]
            return Found(shown, len(hits) - len(shown), min_score)
        hits = self.search(query, load, limit=max(limit, _GATE_HITS), **options)
        least = threshold(len(self))
        is_related = any(hit.relevance > least for hit in hits)
        return Found(hits[:limit], 0, least) if is_related else Found([], min(len(hits), limit), least)

    def ids(
        self,
        types: Collection[MemoryType] | None,
        tags: Collection[str] | None,
        projects: Collection[str] | None = None,
        *,
        after: str,
        limit: int,
    ) -> list[str]:
        """Return in order the ids after `after` of memories of one of the types and projects, with all the tags."""
        return self.index.ids(_groups(types, tags, projects), after, limit)


def _index_record(memory: _Recalled) -> IndexEntry:
    """Return a memory as the index takes it: its text and tags, and type, project and tags as groups to filter by."""
    groups = [_type_group(memory.type), _project_group(memory_project(memory)), *map(_tag_group, memory.tags)]
    return IndexEntry(memory.id, memory_text(memory), memory.tags, groups)


def _groups(
    types: Collection[MemoryType] | None, tags: Collection[str] | None, projects: Collection[str] | None
) -> list[list[str]]:
    """Return a filter for the index: a memory must be in at least one group of each of these lists.

    A tag is taken as it is, and as a new memory would have it: `#Bar` is "bar".
    """
    any_of = [] if types is None else [[_type_group(kind) for kind in types]]
    any_of += [] if projects is None else [[_project_group(project) for project in projects]]
    return [*any_of, *([_tag_group(word), _tag_group(tag(word))] for word in tags or ())]


def _type_group(kind: MemoryType) -> str:
    return f"type:{kind}"


def _project_group(project: str) -> str:
    return f"project:{project}"


def _tag_group(name: str) -> str:
    return f"tag:{name}"


def counted(memory: M) -> Counted[M]:
    """Return a memory with the tokens of its recalled line."""
    return Counted(memory, tokenizer.count(recall_line(memory)) + 1)


def recall_line(memory: _Recalled) -> str:
    """Return a memory as one markdown item: `- [fact · facts/project.md] text`, further lines indented below it.

    Behind the document stands since when it is in doubt.
    """
    body = "\n  ".join(part.strip() for part in memory_text(memory).split("\n") if part.strip())
    source = " · ".join(filter(None, (memory.type.value, memory.document, doubt_note(memory.provenance))))
    return f"- [{source}] {body}"


def memory_text(memory: _Recalled) -> str:
    """Return the text of a memory: its title, its content, and for an episode its fields, each of them once.

    The content of an episode mostly is its fields as lines, `- Summary: …` among them, which repeats the title.
    """
    fields = [text for key, value in memory.fields if (text := f"{key}: {value}") not in memory.content]
    title = memory.title or ""
    has_title = title in {value for _, value in memory.fields} or title in memory.content
    return "\n".join(part for part in ("" if has_title else title, memory.content, *fields) if part.strip())


def query_for(state: WorkingState, last_user_text: str) -> str:
    """Return the current task, the next step and the last user message as one query; empty where none is known.

    Used for a context, where no agent has asked. Of a long message both ends count: people put the question first or
    last and the log between.
    """
    message = last_user_text.strip()
    if len(message) > _MESSAGE_CHARS_MAX:
        half = _MESSAGE_CHARS_MAX // 2
        message = f"{message[:half]}\n{message[-half:]}"
    return "\n".join(part for part in (state.current_task, *state.next_steps[:1], message) if part.strip())
