"""The binding of a space to its root folder: opened at first use, recovered after a crash, replaced on request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie.errors import Conflict, ReverieError
from reverie.sync.displaced import recover
from reverie.sync.root import Root
from reverie.sync.scan import refusal
from reverie.sync.swap import Mismatch, write_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from reverie.sync.displaced import OrphanedSave
    from reverie.sync.root import KnownRoot
    from reverie.sync.scan import Refusal
    from reveried.sync.late_writes import LateWrites


class RootBinding:
    """The configured path of a space's folder and its open root. Blocks; one caller at a time, except for `problem`."""

    def __init__(
        self,
        path: Path,
        late: LateWrites,
        *,
        space: str,
        store_id: str,
        known: Callable[[], KnownRoot | None],
        stamp: Callable[[], str],
        now_ms: Callable[[], int],
    ) -> None:
        self.path = path
        self.root: Root | None = None
        self.unreadable: dict[str, Refusal] = {}  # saves that a crash left behind, and that cannot be read
        self._late = late
        self._space = space
        self._store_id = store_id
        self._known = known
        self._stamp = stamp
        self._now_ms = now_ms

    def open(self, documents: Iterable[str], *, fresh: bool, operation: int) -> Root:
        """Return the open root; the first call opens it and recovers the saves that a crash left in it.

        `documents` are all paths that are known at `operation`. Raises as `Root.open`, and as `recover`.
        """
        if self.root is None:
            root = Root.open(self.path, space=self._space, store_id=self._store_id, fresh=fresh, known=self._known())
            try:
                orphans = recover(root, documents)
                # Those without a document first: only their recovery writes, and so may fail.
                for orphan in sorted(orphans, key=lambda orphan: orphan.path is not None):
                    self._recover(root, orphan, operation)
            except BaseException:  # the next call tries again: the swap folder keeps the saves
                root.close()
                raise
            self.root = root
        return self.root

    def _recover(self, root: Root, orphan: OrphanedSave, operation: int) -> None:
        """Queue an orphaned save for merging if its document is known, else write it where a person finds it.

        What replaced its file is no longer known. It derives from one of the texts until `operation`; what came after
        that text, its author has not seen.
        """
        if orphan.path is not None and orphan.displaced is not None:
            self._late.watch(orphan.displaced, self._now_ms(), replaced_by=operation + 1)
        elif orphan.data is None:
            self.unreadable[orphan.name] = refusal(f".reverie/swap/{orphan.name}", "unreadable")
        elif orphan.path is not None:
            self._late.add(orphan.path, orphan.data, orphan, replaced_by=operation + 1)
        else:
            path = f"recovered.sync-conflict-{self._stamp()}-{orphan.name[-6:]}.md"
            if not isinstance(write_file(root, path, orphan.data, expected=None), Mismatch):
                orphan.discard()

    def problem(self) -> ReverieError | None:
        """Return the error of the open root, as far as its path and its space file show; None if there is none.

        From any thread.
        """
        root = self.root
        try:
            if root is not None:
                root.find()
        except ReverieError as error:
            return error
        return None

    @property
    def is_owner(self) -> bool:
        """True if this store writes the projections; the folder's other stores, on other machines, leave them alone."""
        return self.root is None or self.root.mark == self._store_id

    def to_accept(self, documents: Iterable[str], *, fresh: bool, operation: int) -> KnownRoot | None:
        """Return the folder at the path if it is another one, which may be accepted as the root; create a missing one.

        Raises as `Root.prepare`, and as `open` except for a folder that is another one.
        """
        try:
            self.open(documents, fresh=fresh, operation=operation).verify()
        except Conflict:
            return Root.prepare(self.path, space=self._space, store_id=self._store_id)
        return None

    def close(self) -> None:
        """Close the root."""
        if self.root is not None:
            self.root.close()
            self.root = None
