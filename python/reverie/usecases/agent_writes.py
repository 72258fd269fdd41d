"""Protection against lost updates: what agents have read of memory files, and the merge of a file they write whole.

An agent that writes a file from memory would silently undo what others wrote since it read the file. So the daemon
remembers the version that each agent has read, which is the merge base of its next write.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TypeAlias

from reverie.errors import Conflict
from reverie.lazy_regex import lazy_regex
from reverie.merge import merge3
from reverie.store import DocumentRecord, Kind, MemoryRecord, OperationRecord, Reader
from reverie.usecases.follow import Kept
from reverie.usecases.sync import WHO

PART_CHARS = 32_000  # of one result of memory_read, about 8,000 tokens
PARTS_MAX = 1_000  # files that agents have read in part
CHARS_MAX = 16_000_000  # of all texts in memory together; a memory file has a few thousand

_LINE = lazy_regex(r"[^\n]*\n|[^\n]+")
_READ = "memory_read it, then write it again whole, or change a part of it with memory_patch"

FileOfAgent: TypeAlias = tuple[str, str, str, str]
"""Space, author, thread (empty without one) and path."""


@dataclass(frozen=True, slots=True)
class ReadVersion:
    """The text of a document as an agent knows it, and its version; 0 for a text that no version has."""

    version: int
    text: str


@dataclass(frozen=True, slots=True)
class ReadPart:
    """Lines `first` to `last` of a text of `lines` lines, as an agent is shown them; `is_cut` if a line was cut."""

    first: int
    last: int
    lines: int
    text: str
    is_cut: bool = False


def part_of(text: str, *, offset: int = 1, limit: int | None = None, chars: int = PART_CHARS) -> ReadPart:
    """Return up to `limit` lines from line `offset` on, and no more than `chars` characters of them.

    Where lines follow, a last line says how to read on. A line that alone is longer than `chars` is cut. An empty text
    is one sentence, since a model's API takes no empty result.
    """
    lines = _LINE.findall(text) or [""]
    last = min(len(lines), offset - 1 + (limit or len(lines)))
    size, end = 0, offset - 1
    while end < last and (end < offset or size + len(lines[end]) <= chars):
        size += len(lines[end])
        end += 1
    shown = "".join(lines[offset - 1 : end])
    is_cut = len(shown) > chars
    if is_cut:
        shown = f"{shown[:chars]}\n[line {offset:,} is {len(shown):,} characters long: the rest of it is left out]\n"
    if not shown.strip():
        shown += "[there are no words here]"
    if end < len(lines) or (is_cut and end == len(lines)):
        shown += "" if shown.endswith("\n") else "\n"
        more = f"; read on with offset {end + 1}" if end < len(lines) else ""
        shown += f"[lines {offset} to {end} of {len(lines)}{more}]"
    return ReadPart(offset, end, len(lines), shown, is_cut)


class ReadVersions(Kept):
    """LRU cache of the version of each file that each agent knows. It is empty after a restart. Not thread-safe."""

    def __init__(self) -> None:
        self._versions: OrderedDict[FileOfAgent, ReadVersion] = OrderedDict()
        self._chars = 0
        self._parts: OrderedDict[FileOfAgent, tuple[int, int]] = OrderedDict()  # version, and lines read from the first

    def get(self, key: FileOfAgent) -> ReadVersion | None:
        """Return the version that an agent knows, or None."""
        return self._versions.get(key)

    def put(self, key: FileOfAgent, version: ReadVersion) -> None:
        """Store the version that an agent has read or written, and evict the oldest beyond CHARS_MAX."""
        before = self._versions.pop(key, None)
        self._chars += len(version.text) - (len(before.text) if before is not None else 0)
        self._versions[key] = version
        while self._chars > CHARS_MAX and len(self._versions) > 1:
            _, oldest = self._versions.popitem(last=False)
            self._chars -= len(oldest.text)

    def forget(self, space: str) -> None:
        """Forget what agents have read in a space, as after a purge: it must not come back by a merge."""
        for key in [key for key in self._versions if key[0] == space]:
            self._chars -= len(self._versions.pop(key).text)

    def put_part(self, key: FileOfAgent, version: ReadVersion, part: ReadPart) -> None:
        """Record that an agent has read a part; the version is stored once it has read all lines, from the first on."""
        version_before, through = self._parts.pop(key, (version.version, 0))
        if version_before != version.version:
            through = 0
        if part.first <= through + 1 and not part.is_cut:
            through = max(through, part.last)
        if through == part.lines:
            self.put(key, version)
            return
        self._parts[key] = (version.version, through)
        if len(self._parts) > PARTS_MAX:
            self._parts.popitem(last=False)


def has_words_of_person(reader: Reader, document: DocumentRecord) -> bool:
    """Return True if a person saved the current version, or wrote a memory in it."""
    version = reader.version(Kind.DOCUMENT, (document.path,)) or 0
    operation = reader.load(OperationRecord, (version,))
    if operation is not None and operation.who == WHO:
        return True
    memories = (reader.load(MemoryRecord, (name,)) for name in document.ids)
    return any(memory is not None and memory.trust == "person" for memory in memories)


def text_to_write(
    new_text: str, document: DocumentRecord | None, known: ReadVersion | None, *, has_words_of_person: bool
) -> str:
    """Return the text to store when an agent writes a whole file: merged with the changes since it read the file.

    `known` is the version that the agent has read. A file that it never read may be replaced, unless it has words of a
    person, who would not expect an agent to delete them unread.

    Raises:
        Conflict: the changes overlap, or the agent never read a file with a person's words.
    """
    if document is None or (known is not None and known.version == document.version):
        return new_text
    if known is None:
        if has_words_of_person:
            raise Conflict(f"{document.path} holds what a person wrote, and you have not read it", hint=_READ)
        return new_text
    merged = merge3(known.text, document.content, new_text)
    if not merged.clean:
        raise Conflict(f"{document.path} was changed since you read it, where you changed it too", hint=_READ)
    return merged.text
