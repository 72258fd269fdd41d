"""The place of one space's folder: opened at its first use, looked after, and taken over when a person says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie.errors import Conflict, ReverieError
from reverie.sync.displaced import recover
from reverie.sync.node import refused
from reverie.sync.root import Root
from reverie.sync.swap import Overtaken, put

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from reverie.sync.displaced import Left
    from reverie.sync.node import Refusal
    from reveried.folders.late import LateSaves

__all__ = ["Site"]


class Site:
    """Blocks; one caller at a time, but for `trouble`."""

    def __init__(self, path: Path, late: LateSaves, *, space: str, store_id: str, stamp: Callable[[], str]) -> None:
        self.path = path
        self.root: Root | None = None
        self.left: dict[str, Refusal] = {}  # saves that a crash left behind, and that cannot be read
        self._late = late
        self._space = space
        self._store_id = store_id
        self._stamp = stamp

    def open(self, documents: Iterable[str], *, fresh: bool) -> Root:
        """The folder; what a crash left in it is dealt with when it is opened.

        `documents` are all paths that are known. Raises as `Root.open`, and as `recover`.
        """
        if self.root is None:
            self.root = Root.open(self.path, space=self._space, store_id=self._store_id, fresh=fresh)
            for left in recover(self.root, documents):
                self._recover(self.root, left)
        return self.root

    def _recover(self, root: Root, left: Left) -> None:
        """A save that a crash left behind: merged where its document is known, else put where a person finds it."""
        if left.data is None:
            self.left[left.name] = refused(f".reverie/swap/{left.name}", "unreadable")
        elif left.path is not None:
            self._late.add(left.path, left.data, left)
        else:
            path = f"recovered.sync-conflict-{self._stamp()}-{left.name[-6:]}.md"
            if not isinstance(put(root, path, left.data, expected=None), Overtaken):
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

    def vacant(self, documents: Iterable[str], *, fresh: bool) -> bool:
        """Whether the folder there is not the one that was written, and may be taken over; it is made if missing.

        Raises as `Root.prepare`, and as `open` but for a folder that is another one.
        """
        try:
            self.open(documents, fresh=fresh).verify()
        except Conflict:
            Root.prepare(self.path, space=self._space, store_id=self._store_id)
            return True
        return False

    def close(self) -> None:
        """Gives back what is open."""
        if self.root is not None:
            self.root.close()
            self.root = None
