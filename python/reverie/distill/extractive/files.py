"""Files by their last use: what is edited and read, kept as a thread goes on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from reverie.distill.extractive.trace import Call, Trace, folders_of, root_of

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["EDITS", "READS", "Files"]

EDITS: Final = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})
READS: Final = frozenset({"Read", "NotebookRead"})


@dataclass(slots=True)
class Files:
    """Paths as the agent wrote them, those used last at the end.

    `folders` tells how often a file in each was called for, `used` the entry of each file's last use.
    """

    folders: dict[str, int] = field(default_factory=dict)
    edited: dict[str, None] = field(default_factory=dict)
    touched: dict[str, None] = field(default_factory=dict)
    used: dict[str, int] = field(default_factory=dict)

    def follow(self, calls: Iterable[Call]) -> None:
        """Takes in the calls that came next."""
        calls = list(calls)
        for folder, times in folders_of(calls).items():
            self.folders[folder] = self.folders.get(folder, 0) + times
        for call in calls:
            if not call.path or call.failed:
                continue
            self.used[call.path] = call.seq
            if call.tool in EDITS:
                _renew(self.edited, call.path)
            if call.tool in EDITS or call.tool in READS:
                _renew(self.touched, call.path)

    def newest(self, number: int) -> tuple[Trace, tuple[str, ...], tuple[str, ...]]:
        """The `number` of files edited last and touched last, each oldest first, named within the project's folder.

        Before those edited last stand others of the touched ones that were ever edited. The trace has a call for the
        last use of each.
        """
        trace = Trace((), root_of(self.folders))
        touched = _last(self.touched, trace, number)
        edited = _last(self.edited, trace, number)
        earlier = [path for path in touched if path not in edited and not _names(path, trace).isdisjoint(self.edited)]
        paths = dict.fromkeys((*touched, *edited))
        calls = tuple(Call("Read", {"file_path": path}, self._used(path, trace), None) for path in paths)
        return Trace((), trace.root, calls=calls), (*earlier, *edited), touched

    def _used(self, path: str, trace: Trace) -> int:
        return max(self.used.get(name, 0) for name in _names(path, trace))


def _renew(paths: dict[str, None], path: str) -> None:
    paths.pop(path, None)
    paths[path] = None


def _last(paths: dict[str, None], trace: Trace, number: int) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for path in reversed(paths):
        found.setdefault(trace.relative(path))
        if len(found) == number:
            break
    return tuple(reversed(found))


def _names(path: str, trace: Trace) -> set[str]:
    """The ways in which the agent may have written a path."""
    return {path, f"{trace.root}/{path}"}
