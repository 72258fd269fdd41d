"""The first lines of the memories of long documents, so that a repeated memory is found without reading them all."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from reverie.documents.escaping import bullet, untagged
from reverie.store import DocumentRecord, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reverie.documents import Wording
    from reverie.store import Reader

__all__ = ["parts_with_line"]

_HASHES_KEPT = 4096  # lines: those of the part that is written to are looked at after each write
_TEXTS_MAX = 512  # documents whose lines are kept: a set of some 10 KB for each

_lines_of: dict[str, frozenset[int]] = {}  # hashes of the lines of a document, by the checksum of its record


def parts_with_line(reader: Reader, paths: Sequence[str], words: Wording) -> Iterator[str]:
    """Yield those of these documents that have a line as the first one of a memory with these words; episodes all.

    A document whose record has not changed since the last call is not read again: a writer that looks for repetitions
    reads one part, the one it wrote last, however many there are.
    """
    wanted = _hash(bullet(words.content).split("\n", 1)[0])
    for path in paths:
        if path.startswith("episodes/"):
            yield path
            continue
        checksum = reader.record_checksum(Kind.DOCUMENT, (path,))
        lines = _lines_of.get(checksum or "")
        if lines is None:
            document = reader.load(DocumentRecord, (path,))
            if checksum is None or document is None:
                continue
            lines = frozenset(_hash(line) for line in document.content.splitlines())
            if len(_lines_of) >= _TEXTS_MAX:
                _lines_of.clear()
            _lines_of[checksum] = lines
        if wanted in lines:
            yield path


@lru_cache(maxsize=_HASHES_KEPT)
def _hash(line: str) -> int:
    """Return the hash of a line without its list mark and its tags."""
    return hash(untagged(line.removeprefix("- ").strip())[0].strip())
