"""The bytes of all files below a folder in which a daemon is at work: what is removed meanwhile is left out."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def bytes_below(folder: Path, suffix: str = "") -> dict[str, bytes]:
    """Return the bytes of each regular file below `folder` whose name ends so, by its path relative to `folder`.

    Unlike `rglob` and a read after it: a daemon writes drafts, and removes files that it replaced and folders that are
    empty, at any moment between the listing and the read. Links are not followed.
    """
    found = {}
    for parent, _, names in os.walk(folder):  # a folder that has gone is left out
        for name in names:
            path = Path(parent, name)
            if name.endswith(suffix) and not path.is_symlink():
                with suppress(FileNotFoundError, NotADirectoryError):
                    if path.is_file():
                        found[path.relative_to(folder).as_posix()] = path.read_bytes()
    return dict(sorted(found.items()))
