"""The settings file of an agent's client: read and replaced whole, with a note of what it was before our change.

A note has the text before and the hash of the text after: an uninstallation puts the same bytes back, unless somebody
else has changed the file since.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
from typing import TYPE_CHECKING

from reverie import files
from reverie.errors import Conflict, NotFound

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["diff", "forget", "note", "noted", "read", "target", "text_of", "write"]


def target(settings: Path) -> Path:
    """Return the file that settings are in, behind any links."""
    return type(settings)(os.path.realpath(settings))


def read(settings: Path | None) -> str | None:
    """Return the text of a client's settings, None where there are none.

    Raises:
        Conflict: they are no regular file.
        NotFound: they are a link into a folder that does not exist.
    """
    if settings is None:
        return None
    file = target(settings)
    if os.path.lexists(file) and not file.is_file():
        raise Conflict(f"{file} is not a regular file", hint="move it away, then try again")
    if not file.parent.is_dir():
        raise NotFound(f"{file.parent} does not exist", hint=f"{settings} is a link to it: mend the link")
    return text_of(file)


def write(settings: Path, text: str) -> None:
    """Replace the settings; a link stays one, and the file keeps its mode."""
    file = target(settings)
    mode = file.stat().st_mode & 0o777 if file.exists() else 0o600
    files.write_atomic(file, text.encode("utf-8", "surrogateescape"), mode=mode)


def text_of(path: Path | None) -> str | None:
    """Return the text of a regular file, None for anything else: to open a pipe would wait for its other end."""
    if path is None or not path.is_file():
        return None
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise files.translate_os_error("read", path, error) from error


def diff(path: Path | None, before: str | None, after: str | None) -> str:
    """Return the change of a file as a unified diff; empty where there is none."""
    if path is None or before == after:
        return ""
    lines = difflib.unified_diff(
        (before or "").splitlines(keepends=True), (after or "").splitlines(keepends=True), str(path), str(path)
    )
    return "".join(line if line.endswith("\n") else line + "\n" for line in lines)


def noted(notes: Path, name: str, text: str) -> dict[str, str | None] | None:
    """Return what was noted under a name at the installation, None where the settings were changed since."""
    found = _notes(notes).get(name)
    return found if found is not None and found["after"] == _sha256(text) else None


def note(notes: Path, name: str, before: str | None, after: str, *, first: str | None) -> None:
    """Store under a name the settings from before our change, and the hash of those after it.

    A change over an older one of ours keeps the settings before that; without one, `first` is what they were before.
    """
    found = _notes(notes)
    older = found.get(name)
    if older is not None and before is not None and older["after"] == _sha256(before):
        first = older["before"]
    notes.parent.mkdir(parents=True, exist_ok=True)
    data = json.dumps({**found, name: {"before": first, "after": _sha256(after)}}, indent=2)
    files.write_atomic(notes, data.encode(), mode=0o600)


def forget(notes: Path, name: str) -> None:
    """Remove what was noted under a name."""
    found = _notes(notes)
    if found.pop(name, None) is not None:
        files.write_atomic(notes, json.dumps(found, indent=2).encode(), mode=0o600)


def _notes(notes: Path) -> dict[str, dict[str, str | None]]:
    text = text_of(notes)
    found: dict[str, dict[str, str | None]] = {} if text is None else json.loads(text)
    return found


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
