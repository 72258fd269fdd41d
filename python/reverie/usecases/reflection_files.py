"""The memory files as a reflection sees and changes them: a copy, which is written to nothing; pure.

Each call of a tool is done as a whole or refused with a sentence for the model. What the calls lead to is read from the
copy at the end, as changes of memories: a memory keeps its id as long as its block can be matched with the one before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from reverie.documents.edit import append_entry
from reverie.documents.header import patch_text
from reverie.documents.index import DocumentEntry, ordered
from reverie.documents.items import Item, match_ids
from reverie.documents.layout import PERSON, DocumentKind, folder_of, kind_of, memory_project, type_of_blocks
from reverie.documents.parse import items_by_id, parse_document
from reverie.documents.prose import entry_with_bullets, with_bullets
from reverie.errors import ModelFailed, ReverieError
from reverie.language_model.extraction import CONTENT_CHARS_MAX
from reverie.language_model.pages import SourceEntry
from reverie.models import Memory, MemoryType
from reverie.usecases.agent_writes import part_of
from reverie.usecases.documents import check_storable, writable_path

if TYPE_CHECKING:
    from reverie.redact import Redactor
    from reverie.usecases.consolidation import DocumentText

READ_CHARS: Final = 30_000  # of one file in one result; the rest is read on from an offset
EPISODE_CHARS_MAX: Final = 6_000
_NEW: Final = "new-"  # ids of blocks that are no memory yet
_KEPT_TYPES: Final = frozenset({MemoryType.MISTAKE, MemoryType.PREFERENCE})


class Refused(Exception):
    """A call that was not done; `why` is a sentence for the model, `kind` a few words for a person."""

    def __init__(self, why: str, kind: str) -> None:
        super().__init__(why)
        self.why = why
        self.kind = kind


@dataclass(frozen=True, slots=True)
class Block:
    """A new or reworded block: its id, path and item, and the entries whose quotes justify it."""

    id: str
    path: str
    item: Item
    sources: tuple[SourceEntry, ...]


@dataclass(slots=True)
class _File:
    """The text of a document, None where there is none any more, and the ids of its blocks."""

    text: str | None
    ids: list[str] = field(default_factory=list)

    def blocks(self, path: str) -> dict[str, Item]:
        """Return the memory blocks of this file by their ids."""
        if self.text is None:
            return {}
        return items_by_id(path, self.text, self.ids)


class Folder:
    """The files that a thread of `project` may read and change: the person's and the project's own."""

    def __init__(
        self, texts: Mapping[str, DocumentText], existing: Sequence[Memory], *, project: str, redactor: Redactor
    ) -> None:
        """Copy the documents of which no memory belongs to another project."""
        self._project = project
        self._redactor = redactor
        self._memories = {memory.id: memory for memory in existing}
        self._files = {
            path: _File(text.text, list(text.ids))
            for path, text in texts.items()
            if text.text is not None and type_of_blocks(path) is not None and self._may_see(path, text.ids)
        }
        self._hidden = {path for path, text in texts.items() if text.text is not None} - self._files.keys()
        self._before = {path: _File(file.text, list(file.ids)) for path, file in self._files.items()}
        self._sources: dict[str, tuple[SourceEntry, ...]] = {}
        self._deletion_sources: dict[str, tuple[SourceEntry, ...]] = {}
        self._updated: set[str] = set()
        self._made = 0
        self.refused: Counter[str] = Counter()

    def copy(self) -> Folder:
        """Return a copy of these files that can be changed without changing the original."""
        other = object.__new__(Folder)
        other._project, other._redactor, other._memories = self._project, self._redactor, self._memories
        other._files = {path: _File(file.text, list(file.ids)) for path, file in self._files.items()}
        other._hidden, other._before = self._hidden, self._before
        other._sources, other._deletion_sources = dict(self._sources), dict(self._deletion_sources)
        other._updated, other._made = set(self._updated), self._made
        other.refused = Counter(self.refused)
        return other

    # Read

    def texts(self) -> dict[str, str]:
        """Return the texts of all files by path."""
        return {path: file.text for path, file in self._files.items() if file.text is not None}

    def listed(self) -> list[tuple[str, str, int]]:
        """Return path, summary line and size in bytes of each file, in the order of memory lists."""
        entries = [
            DocumentEntry(path, len(text.encode()), parse_document(path, text).summary)
            for path, text in self.texts().items()
        ]
        return [(entry.path, entry.summary, entry.size) for entry in ordered(entries)]

    def read(self, path: str, *, offset: int, limit: int | None) -> str:
        """Return the text of a file, of a long one a part. Raises Refused."""
        file = self._files.get(self._path(path))
        if file is None or file.text is None:
            raise Refused(
                f"there is no memory file {path!r}; memory_list shows the files that are there", "no such file"
            )
        part = part_of(file.text, offset=offset, limit=limit, chars=READ_CHARS)
        if part.first > part.lines:
            raise Refused(f"{path} has {part.lines:,} lines; give a smaller offset", "no such line")
        return part.text

    # Change

    def write(self, path: str, content: str, sources: Sequence[SourceEntry]) -> None:
        """Replace the whole text at `path`. Raises Refused, and ModelFailed if the answer contradicts itself."""
        path = self._path(path)
        try:
            text, _ = with_bullets(path, content)
        except ReverieError as error:
            raise _no_memory(error) from None
        self._put(path, text, sources)

    def patch(self, path: str, patches: Sequence[tuple[str, str]], sources: Sequence[SourceEntry]) -> int:
        """Replace exact texts, all or none; return how many. Raises as `write`."""
        path = self._path(path)
        file = self._files.get(path)
        if file is None or file.text is None:
            raise Refused(f"there is no memory file {path!r} to patch; memory_write makes one", "no such file")
        try:
            text, count = patch_text(file.text, patches)
        except ReverieError as error:
            raise Refused(
                f"{error.message}; give each oldText exactly as the file has it, once", "no such text"
            ) from None
        self._put(path, text, sources)
        return count

    def append(self, path: str, entry: str, sources: Sequence[SourceEntry]) -> None:
        """Append markdown to a file. Raises as `write`, and Refused for text that would become no memory."""
        path = self._path(path)
        file = self._files.get(path) or _File(None)
        kind = kind_of(path, file.text or "")
        try:
            if kind is DocumentKind.FACTS:
                entry, _ = entry_with_bullets(path, file.text, entry)
            elif not file.ids:
                entry, _ = with_bullets(path, entry)
        except ReverieError as error:
            raise _no_memory(error) from None
        self._put(path, append_entry(path, file.text, entry), sources)

    # What it all leads to

    def changed(self) -> tuple[list[Block], list[Block], dict[str, tuple[SourceEntry, ...]]]:
        """Return new blocks, reworded blocks, and the ids of deleted memories with the entries that justify deletion.

        A memory that only moved to another file is none of these: it stays where it was.
        """
        before = {name: item for path, file in self._before.items() for name, item in file.blocks(path).items()}
        after = {name: (path, item) for path, file in self._files.items() for name, item in file.blocks(path).items()}
        gone = {name: item for name, item in before.items() if name not in after}
        moved = {item.content: name for name, item in gone.items()}
        new: list[Block] = []
        updated: list[Block] = []
        for name, (path, item) in after.items():
            block = Block(name, path, item, self._sources.get(name, ()))
            if name in before:
                if _words(before[name]) != _words(item):
                    updated.append(block)
            elif item.content in moved:
                gone.pop(moved.pop(item.content), None)
            else:
                new.append(block)
        return new, updated, {name: self._deletion_sources.get(name, ()) for name in gone}

    # Helpers

    def _path(self, path: str) -> str:
        """Return a path that this thread may read and write. Raises Refused."""
        try:
            path = writable_path(path)
        except ReverieError as error:
            raise Refused(f"{error.message}; give a path such as facts/user.md", "a path outside the folder") from None
        if type_of_blocks(path) is None:
            raise Refused("only files such as facts/NAME.md and episodes/YYYY-MM.md have memories", "another folder")
        mine = folder_of(path) in {None, self._project or None}
        if path in self._hidden or (path not in self._files and not mine):
            raise Refused(f"{path} belongs to another project", "a file of another project")
        return path

    def _may_see(self, path: str, names: Sequence[str]) -> bool:
        owners = {memory_project(self._memories[name]) for name in names if name in self._memories}
        if not names and folder_of(path) not in {None, self._project or None}:
            return False
        return owners <= {PERSON, self._project}

    def _put(self, path: str, text: str, sources: Sequence[SourceEntry]) -> None:
        """Store a new text of a file in the copy, after checking every change of a block. Raises as `write`."""
        self._check_text(path, text)
        old = self._files.get(path) or _File(None)
        before = old.blocks(path)
        items = parse_document(path, text).items
        pairs = [(name, item.text) for name, item in before.items()]
        matched = match_ids({path: pairs}, {path: [item.text for item in items]})[path]
        names: list[str] = []
        for name in matched:
            if name is None:
                self._made += 1
            names.append(name or f"{_NEW}{self._made}")
        after = dict(zip(names, items, strict=True))
        new = [name for name in after if name not in before]
        updated = [name for name in before if name in after and _words(before[name]) != _words(after[name])]
        gone = [name for name in before if name not in after]
        if not new and not updated and not gone:
            raise Refused("that changes no memory; only bullets in facts and sections in episodes do", "no change")
        self._check_changes(path, [after[name] for name in (*new, *updated)], updated, gone, sources)
        for name in (*new, *updated):
            self._sources[name] = tuple(sources)
        for name in gone:
            self._deletion_sources[name] = tuple(sources)
        self._updated.update(updated)
        self._files[path] = _File(text, names)

    def _check_text(self, path: str, text: str) -> None:
        try:
            check_storable(path, text)
        except ReverieError as error:
            raise Refused(error.sentence, "text that cannot be stored") from None

    def _check_changes(
        self,
        path: str,
        items: Sequence[Item],
        updated: Sequence[str],
        gone: Sequence[str],
        sources: Sequence[SourceEntry],
    ) -> None:
        """Raise Refused for a change that is not allowed, ModelFailed for one that contradicts an earlier one."""
        if any(name in self._updated and not name.startswith(_NEW) for name in gone):
            raise ModelFailed("The answer cannot be used: it updates and deletes one memory.", reason="unparseable")
        mine = [self._memories[name] for name in (*updated, *gone) if name in self._memories]
        if any(memory.type is MemoryType.EPISODE for memory in mine):
            raise Refused("episodes that are there stay as they are; append a new one", "a change of an episode")
        kind = type_of_blocks(path)
        if gone and kind in _KEPT_TYPES and not sources:
            raise Refused(
                f"a {kind.value} is removed only with quotes of the words that contradict it",
                f"a deletion of a {kind.value}",
            )
        if items and kind is MemoryType.PREFERENCE and sources and all(entry.speaker != "person" for entry in sources):
            raise Refused("a wish must quote the person's own words", "a preference that quotes no words of the person")
        limit = EPISODE_CHARS_MAX if kind is MemoryType.EPISODE else CONTENT_CHARS_MAX
        for item in items:
            if len(item.content) > limit:
                raise Refused(f"a memory has at most {limit:,} characters; say it shorter", "a memory that is too long")
            if self._redactor.suspects([item.content]) or self._redactor.suspects(item.content.split("\n")):
                raise Refused("it may hold a secret, and was not written", "a memory that may hide a secret")


def _words(item: Item) -> tuple[object, ...]:
    return item.content, item.tags, item.title, item.fields


def _no_memory(error: ReverieError) -> Refused:
    return Refused(error.sentence, "text that is no memory")
