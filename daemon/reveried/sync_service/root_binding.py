"""The place of one space's folder: opened at its first use, looked after, and taken over when a person says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie.errors import Conflict, ReverieError
from reverie.sync.exchange import Mismatch, write_file
from reverie.sync.file_status import refusal
from reverie.sync.root import Root
from reverie.sync.swap_recovery import recover

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from reverie.sync.file_status import Refusal
    from reverie.sync.swap_recovery import OrphanedSave
    from reveried.sync_service.late_writes import LateSaves

__all__ = ["Site"]


class Site:
    """Blocks; one caller at a time, but for `trouble`."""

    def __init__(
        self,
        path: Path,
        late: LateSaves,
        *,
        space: str,
        store_id: str,
        stamp: Callable[[], str],
        now_ms: Callable[[], int],
    ) -> None:
        self.path = path
        self.root: Root | None = None
        self.left: dict[str, Refusal] = {}  # saves that a crash left behind, and that cannot be read
        self._late = late
        self._space = space
        self._store_id = store_id
        self._stamp = stamp
        self._now_ms = now_ms

    def open(self, documents: Iterable[str], *, fresh: bool, operation: int) -> Root:
        """The folder; what a crash left in it is dealt with when it is opened.

        `documents` are all paths that are known at `operation`. Raises as `Root.open`, and as `recover`.
        """
        if self.root is None:
            root = Root.open(self.path, space=self._space, store_id=self._store_id, fresh=fresh)
            try:
                found = recover(root, documents)
                for left in sorted(found, key=lambda each: each.path is not None):  # what may fail comes first
                    self._recover(root, left, operation)
            except BaseException:  # it is tried again: whoever saved that waits for it
                root.close()
                raise
            self.root = root
        return self.root

    def _recover(self, root: Root, left: OrphanedSave, operation: int) -> None:
        """A save that a crash left behind: merged where its document is known, else put where a person finds it.

        What replaced its file is not known any more; it was made from one of the texts until `operation`, and what came
        since its own nobody has seen.
        """
        if left.path is not None and left.displaced is not None:
            self._late.watch(left.path, left.displaced, self._now_ms(), replaced_by=operation + 1)
        elif left.data is None:
            self.left[left.name] = refusal(f".reverie/swap/{left.name}", "unreadable")
        elif left.path is not None:
            self._late.add(left.path, left.data, left, replaced_by=operation + 1)
        else:
            path = f"recovered.sync-conflict-{self._stamp()}-{left.name[-6:]}.md"
            if not isinstance(write_file(root, path, left.data, expected=None), Mismatch):
                left.discard()

    def trouble(self) -> ReverieError | None:
        """What has become of the folder that was opened, as far as its name and that of its mark tell; None: nothing.

        From any thread.
        """
        root = self.root
        try:
            if root is not None:
                root.find()
        except ReverieError as error:
            return error
        return None

    def vacant(self, documents: Iterable[str], *, fresh: bool, operation: int) -> bool:
        """Whether the folder there is not the one that was written, and may be taken over; it is made if missing.

        Raises as `Root.prepare`, and as `open` but for a folder that is another one.
        """
        try:
            self.open(documents, fresh=fresh, operation=operation).verify()
        except Conflict:
            Root.prepare(self.path, space=self._space, store_id=self._store_id)
            return True
        return False

    def close(self) -> None:
        """Gives back what is open."""
        if self.root is not None:
            self.root.close()
            self.root = None
