"""A store that was restored, and the folders that it was kept in agreement with: which of them are not here."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from reverie.redact import Redactor
from reverie.store import Store
from reverie.sync.root import MARKER_FILE
from reverie.usecases import sync
from reveried.clock import text_of
from reveried.tables import spaces_of

if TYPE_CHECKING:
    from pathlib import Path

    from reverie.paths import Layout

__all__ = ["without_folder"]


def without_folder(store: Path, layout: Layout, data_dir: Path, *, first: bool) -> list[Path]:
    """The folders below `data_dir` that a restored store knows of, and that are not there or bear no mark.

    On a machine that had no store (`first`), and not even the usual place of folders, no folder is away that may come
    back: the store is told that all files are to be written, and none of them is missing.
    Raises what `Store.open` raises.
    """
    with Store.open(store, redactor=Redactor()) as opened:
        known = [space for space in spaces_of(opened) if _is_written(opened, space)]
        missing = {space: data_dir / space for space in known if not (data_dir / space / MARKER_FILE).exists()}
        if first and data_dir == layout.root and not os.path.lexists(data_dir):
            at = text_of(datetime.now(UTC))
            opened.commit([sync.begun_anew(space, at=at) for space in missing], at=at)
            return []
    return list(missing.values())


def _is_written(store: Store, space: str) -> bool:
    """Whether the store knows of files of a space."""
    with store.reader(space) as reader:
        return any(known.sha256 for known in sync.known(reader).values())
