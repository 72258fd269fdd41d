"""What one folder and its store last agreed on, path by path, and what of it is not kept in the store yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from reverie.sync.file_status import Stamp
    from reverie.sync.state import Baseline

__all__ = ["Agreement"]


class Agreement:
    """`known` are the records, `stamps` the files whose words the store has, as they were when it took them.

    Written by one thread at a time, and read by others meanwhile.
    `files_of` are the files that were last dealt with, as `Stamp.file` tells them, also while they are gone.
    """

    def __init__(self, known: Mapping[str, Baseline]) -> None:
        self.known: dict[str, Baseline] = dict(known)
        self.stamps: dict[str, Stamp] = {}
        self.files_of: dict[str, tuple[int, int]] = {}
        self._fresh: dict[str, Baseline] = {}
        self._gone: set[str] = set()

    def agree(self, records: Iterable[Baseline], stamps: Mapping[str, Stamp | None]) -> None:
        """Takes records over; a file without a stamp is read again at the next look."""
        for record in records:
            if self.known.get(record.path) != record:
                self._fresh[record.path] = record
                self._gone.discard(record.path)
            self.known[record.path] = record
            stamp = stamps.get(record.path)
            if stamp is not None and record.missing_since is None:
                self.stamps[record.path] = stamp
                self.files_of[record.path] = stamp.file_id
            else:
                self.stamps.pop(record.path, None)

    def forget(self, paths: Iterable[str]) -> None:
        """These are no longer anybody's."""
        for path in paths:
            self.stamps.pop(path, None)
            self.files_of.pop(path, None)
            if self.known.pop(path, None) is not None:
                self._fresh.pop(path, None)
                self._gone.add(path)

    def unrecorded(self) -> tuple[list[Baseline], set[str]]:
        """Records and paths that the store has not been told of: the caller tells it, and then says so here."""
        return list(self._fresh.values()), set(self._gone)

    def recorded(self, records: Iterable[Baseline], gone: Iterable[str]) -> None:
        """The store was told of these; what has changed since then it is told of the next time."""
        for record in records:
            if self._fresh.get(record.path) is record:
                del self._fresh[record.path]
        self._gone.difference_update(gone)

    def expected(self, paths: Iterable[str] | None) -> set[str]:
        """The paths, among these or all, at which a file should be, was to be, or was seen to be gone."""
        known = self.known.items() if paths is None else ((path, self.known.get(path)) for path in paths)
        return {
            path
            for path, each in list(known)
            if each and (each.sha256 or each.intended or each.missing_since is not None)
        }

    def having(self, digests: Collection[str]) -> set[str]:
        """The paths whose files had one of these SHA-256 when they were last dealt with."""
        return {path for path, known in list(self.known.items()) if known.sha256 in digests}

    def missing(self) -> dict[str, int]:
        """The files that are gone, and since when (ms)."""
        known = list(self.known.items())
        return {path: each.missing_since for path, each in known if each.missing_since is not None}

    @property
    def files(self) -> int:
        """How many files there are, as far as is known."""
        return sum(1 for known in list(self.known.values()) if known.sha256)
