"""Folders that this user alone may enter, whatever the umask is."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

MODE = 0o700


def make_private(folder: Path) -> None:
    """Make a folder and those above it that are missing, each with mode 0700; one that is there stays as it is.

    `Path.mkdir(mode=0o700, parents=True)` gives the folders above it the mode that the umask leaves, which is 0777
    under a umask of 0; and under one of 0777 its owner cannot enter the folder itself. Raises OSError.
    """
    missing = []
    while not folder.is_dir():
        missing.append(folder)
        folder = folder.parent
    for each in reversed(missing):
        try:
            each.mkdir(mode=MODE)
        except FileExistsError:
            if not each.is_dir():
                raise
            continue  # another process was faster
        each.chmod(MODE)
