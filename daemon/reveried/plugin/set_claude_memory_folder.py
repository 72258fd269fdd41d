"""Claude Code's own memory in Reverie's folder: one key of its `settings.json`, added and taken out again.

The text around the key stays as it is, byte for byte; settings that are no JSON object, or have another folder there,
are not changed.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from reverie.errors import Conflict
from reveried.plugin import client_settings_file

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["KEY", "add", "take_out"]

KEY: Final = "autoMemoryDirectory"
_NAME: Final = "claude-code settings"  # in the notes of installations
_PAIR: Final = rf'"{KEY}"\s*:\s*"(?:[^"\\]|\\.)*"'
_BEHIND_ANOTHER: Final = re.compile(rf",\s*{_PAIR}")
_BEFORE_ANOTHER: Final = re.compile(rf"{_PAIR}\s*,?\s*")
_FIRST_KEY: Final = re.compile(r"\s*\{[ \t]*(\r?\n[ \t]*)\"")


def add(settings: Path, folder: Path, notes: Path, *, dry_run: bool) -> str:
    """Name the folder in the settings; return the change as a diff, empty where it was named already.

    Raises:
        Conflict: the settings are no JSON object, or name another folder.
    """
    before = client_settings_file.read(settings)
    found = _parsed(settings, before)
    if found.get(KEY) == str(folder):
        return ""
    if KEY in found:
        raise Conflict(f"{settings} has another {KEY}: {found[KEY]}", hint=f"take {KEY} out of it, then try again")
    after = _with_key(before, folder)
    _check(settings, after, {**found, KEY: str(folder)})
    if not dry_run:
        client_settings_file.note(notes, _NAME, before, after, first=before)
        client_settings_file.write(settings, after)
    return client_settings_file.diff(settings, before, after)


def take_out(settings: Path, folder: Path, notes: Path, *, dry_run: bool) -> str:
    """Take the folder out of the settings; return the change as a diff, empty where they do not name it.

    The settings become what they were, byte for byte, or lose this key alone where others changed them since.

    Raises:
        Conflict: the settings cannot be read, or the key cannot be taken out.
    """
    before = client_settings_file.read(settings)
    found = _parsed(settings, before)
    if before is None or found.get(KEY) != str(folder):
        return ""
    noted = client_settings_file.noted(notes, _NAME, before)
    after = _without_key(before) if noted is None else noted["before"]
    if noted is None:
        _check(settings, after or "", {name: value for name, value in found.items() if name != KEY})
    if not dry_run:
        if after is None:
            client_settings_file.target(settings).unlink()
        else:
            client_settings_file.write(settings, after)
        client_settings_file.forget(notes, _NAME)
    return client_settings_file.diff(settings, before, after)


def _parsed(settings: Path, text: str | None) -> dict[str, Any]:
    """Return settings as an object, an empty one where there are none. Raises Conflict for anything else."""
    try:
        found = json.loads(text.encode().decode()) if text is not None and text.strip() else {}
    except (ValueError, RecursionError) as error:  # also what is no UTF-8
        raise Conflict(f"{settings} is not JSON in UTF-8: {error}", hint="mend it, then try again") from error
    if not isinstance(found, dict):
        raise Conflict(f"{settings} is not a JSON object", hint="mend it, then try again")
    return found


def _check(settings: Path, text: str, expected: dict[str, Any]) -> None:
    """Raise Conflict unless a changed text is exactly the expected settings."""
    try:
        fits = json.loads(text) == expected
    except ValueError:
        fits = False
    if not fits:
        raise Conflict(
            f"{settings} is written in a way that leaves no room for the change", hint=f"change {KEY} by hand"
        )


def _with_key(text: str | None, folder: Path) -> str:
    """Return the text of an object with the key behind its others, in the same layout."""
    pair = f'"{KEY}": {json.dumps(str(folder), ensure_ascii=False)}'
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
