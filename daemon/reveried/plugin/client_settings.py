"""The settings file of an agent's client: read and replaced whole, with a note of what it was before our change.

A note has the text before and the hash of the text after: an uninstallation puts the same bytes back, unless somebody
else has changed the file since.

Claude Code's own memory comes into Reverie's folder by one key of its `settings.json`. The text around the key stays as
it is, byte for byte; settings that are no JSON object, or have another folder there, are not changed.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
from typing import TYPE_CHECKING, Any, Final

from reverie import files
from reverie.errors import Conflict, NotFound
from reverie.lazy_regex import lazy_regex
from reverie.private_folder import make_private

if TYPE_CHECKING:
    from pathlib import Path


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
    """Return the settings noted before an installation, None if they have been changed since it."""
    entry = _notes(notes).get(name)
    return entry if entry is not None and entry["after"] == _sha256(text) else None


def note(notes: Path, name: str, before: str | None, after: str, *, first: str | None) -> None:
    """Store under a name the settings from before our change, and the hash of those after it.

    A change over an older one of ours keeps the settings before that; without one, `first` is what they were before.
    """
    entries = _notes(notes)
    older = entries.get(name)
    if older is not None and before is not None and older["after"] == _sha256(before):
        first = older["before"]
    make_private(notes.parent)
    data = json.dumps({**entries, name: {"before": first, "after": _sha256(after)}}, indent=2)
    files.write_atomic(notes, data.encode(), mode=0o600)


def forget(notes: Path, name: str) -> None:
    """Remove the note of an installation."""
    entries = _notes(notes)
    if entries.pop(name, None) is not None:
        files.write_atomic(notes, json.dumps(entries, indent=2).encode(), mode=0o600)


def _notes(notes: Path) -> dict[str, dict[str, str | None]]:
    text = text_of(notes)
    entries: dict[str, dict[str, str | None]] = {} if text is None else json.loads(text)
    return entries


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


_MEMORY_KEY: Final = "autoMemoryDirectory"
_MEMORY_NOTE: Final = "claude-code settings"  # in the notes of installations
_PAIR: Final = rf'"{_MEMORY_KEY}"\s*:\s*"(?:[^"\\]|\\.)*"'
_BEHIND_ANOTHER: Final = lazy_regex(rf",\s*{_PAIR}")
_BEFORE_ANOTHER: Final = lazy_regex(rf"{_PAIR}\s*,?\s*")
_FIRST_KEY: Final = lazy_regex(r"\s*\{[ \t]*(\r?\n[ \t]*)\"")


def add_memory_folder(settings: Path, folder: Path, notes: Path, *, dry_run: bool) -> str:
    """Name the folder in the settings; return the change as a diff, empty where it was named already.

    Raises:
        Conflict: the settings are no JSON object, or name another folder.
    """
    before = read(settings)
    values = _parsed(settings, before)
    if values.get(_MEMORY_KEY) == str(folder):
        return ""
    if _MEMORY_KEY in values:
        raise Conflict(
            f"{settings} has another {_MEMORY_KEY}: {values[_MEMORY_KEY]}",
            hint=f"take {_MEMORY_KEY} out of it, then try again",
        )
    after = _with_key(before, folder)
    _check(settings, after, {**values, _MEMORY_KEY: str(folder)})
    if not dry_run:
        note(notes, _MEMORY_NOTE, before, after, first=before)
        write(settings, after)
    return diff(settings, before, after)


def remove_memory_folder(settings: Path, folder: Path, notes: Path, *, dry_run: bool) -> str:
    """Take the folder out of the settings; return the change as a diff, empty where they do not name it.

    The settings become what they were, byte for byte, or lose this key alone where others changed them since.

    Raises:
        Conflict: the settings cannot be read, or the key cannot be taken out.
    """
    before = read(settings)
    values = _parsed(settings, before)
    if before is None or values.get(_MEMORY_KEY) != str(folder):
        return ""
    earlier = noted(notes, _MEMORY_NOTE, before)
    after = _without_key(before) if earlier is None else earlier["before"]
    if earlier is None:
        _check(settings, after or "", {name: value for name, value in values.items() if name != _MEMORY_KEY})
    if not dry_run:
        if after is None:
            target(settings).unlink()
        else:
            write(settings, after)
        forget(notes, _MEMORY_NOTE)
    return diff(settings, before, after)


def _parsed(settings: Path, text: str | None) -> dict[str, Any]:
    """Return settings as an object, an empty one where there are none. Raises Conflict for anything else."""
    try:
        values = json.loads(text.encode().decode()) if text is not None and text.strip() else {}
    except (ValueError, RecursionError) as error:  # also what is no UTF-8
        raise Conflict(f"{settings} is not JSON in UTF-8: {error}", hint="mend it, then try again") from error
    if not isinstance(values, dict):
        raise Conflict(f"{settings} is not a JSON object", hint="mend it, then try again")
    return values


def _check(settings: Path, text: str, expected: dict[str, Any]) -> None:
    """Raise Conflict unless a changed text is exactly the expected settings."""
    try:
        fits = json.loads(text) == expected
    except ValueError:
        fits = False
    if not fits:
        raise Conflict(
            f"{settings} is written in a way that leaves no room for the change", hint=f"change {_MEMORY_KEY} by hand"
        )


def _with_key(text: str | None, folder: Path) -> str:
    """Return the text of an object with the key after its others, in the same layout."""
    pair = f'"{_MEMORY_KEY}": {json.dumps(str(folder), ensure_ascii=False)}'
    if text is None or not text.strip():
        return f"{{\n  {pair}\n}}\n"
    end = text.rindex("}")
    inside = text[:end].rstrip()
    first = _FIRST_KEY.match(text)
    if inside.endswith("{"):
        return f"{inside}{pair}{text[end:]}"
    space = first[1] if first is not None else " "
    return f"{inside},{space}{pair}{text[len(inside) :]}"


def _without_key(text: str) -> str:
    """Return the text of an object without the key."""
    shorter, times = _BEHIND_ANOTHER.subn("", text, count=1)
    return shorter if times else _BEFORE_ANOTHER.sub("", text, count=1)
