"""What can be seen of a folder's files, and which of them cannot be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie.sync.file_status import Refusal
from reverie.sync.scan import FolderNames, covering, read_file, scan, scan_path

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from reverie.sync.file_status import Stamp
    from reverie.sync.root import Root
    from reverie.sync.scan import FileContent, Limits

__all__ = ["Sight"]


class Sight:
    """The files of one folder as they were when they were last looked at.

    Blocks; one caller at a time, but for `growing` and `covering`: whoever asks these copies `refused` in one step.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.refused: dict[str, Refusal] = {}

    @property
    def growing(self) -> set[str]:
        """The files that were being written."""
        return {path for path, each in list(self.refused.items()) if each.reason == "growing"}

    def all(self, root: Root, known: Collection[str]) -> dict[str, Stamp]:
        """Every file there is; what is refused is remembered.

        `known` are the documents: of two names that are one on other systems the known one stays.
        """
        found = scan(root, known=known, limits=self._limits)
        self.refused = dict(found.refused)
        return {**found.stamps, **found.copies}

    def some(self, root: Root, paths: Iterable[str], known: Collection[str]) -> dict[str, Stamp]:
        """As `all`, of these paths."""
        stamps: dict[str, Stamp] = {}
        names = FolderNames(root)
        for path in paths:
            at = scan_path(root, path, known=known, limits=self._limits, names=names)
            self.refused.pop(path, None)
            if isinstance(at, Refusal):
                self.refused[path] = at
            elif at is not None:
                stamps[path] = at
        return stamps

    def read(self, root: Root, path: str) -> FileContent | Refusal | None:
        """A file's bytes; None where there is none. That it is refused is remembered."""
        found = read_file(root, path, limit=self._limits.file_bytes)
        if isinstance(found, Refusal):
            self.refused[path] = found
        return found

    def covering(self, path: str) -> Refusal | None:
        """As `scan.covering`, of what was refused when it was last looked at."""
        return covering(self.refused, path)
