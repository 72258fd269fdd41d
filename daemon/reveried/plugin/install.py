"""Installation of the plugin for Claude Code and Codex, with the smallest change of their files.

Claude Code loads every plugin folder below `skills` of its configuration: no setting is touched. Codex wants a
marketplace and the plugin named in `config.toml`, and its own copy of the folder. What is installed is noted in a file
of ours, with the settings before and after: an uninstallation puts the same bytes back, unless somebody else has
changed them, and then takes out our tables alone. Settings that are no TOML before or after the change are not written.

Claude Code's own memory comes into Reverie's folder by one key of its `settings.json`. The text around the key stays as
it is, byte for byte; settings that are no JSON object, or have another folder there, are not changed.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from reverie.errors import Conflict, NotFound
from reverie.files import translate_os_error, write_atomic
from reverie.lazy_regex import lazy_regex
from reverie.private_folder import make_private
from reveried import __version__, plugin
from reveried.plugin import NAME

if TYPE_CHECKING:
    from collections.abc import Mapping


CLIENTS: Final = ("claude-code", "codex")
_PROGRAMS: Final = {"claude-code": "claude", "codex": "codex"}  # as a person starts them
_PLUGIN: Final = f"{NAME}@{NAME}"
_TABLES: Final = ("marketplaces", "plugins")  # of Codex's settings, in each of which one is ours
_HEADER: Final = lazy_regex(r"^\s*\[(?!\[)(.+?)\]\s*(?:#.*)?$")
_OURS: Final = lazy_regex(
    rf"""^(?:marketplaces\.{NAME}|plugins\."{_PLUGIN}"(?:\..*)?|hooks\.state\."{_PLUGIN}[^"]*")$"""
)


@dataclass(frozen=True, slots=True)
class Place:
    """The places of one client: the folder of its plugin, and its settings file, None where none is changed."""

    client: str
    home: Path
    folder: Path
    settings: Path | None
    source: Path | None  # the folder of the marketplace, where that is another one


@dataclass(frozen=True, slots=True)
class Change:
    """The change of one installation: folders and settings, with a diff for a person."""

    written: list[str]
    removed: list[str]
    diff: str
    is_done: bool


def place_of(client: str, env: Mapping[str, str], home: Path, data_dir: Path) -> Place:
    """Return the place of a client's plugin. Raises NotFound where the client has no configuration."""
    if client == "claude-code":
        base = Path(env.get("CLAUDE_CONFIG_DIR") or home / ".claude")
        target = Place(client, base, base / "skills" / NAME, None, None)
    else:
        base = Path(env.get("CODEX_HOME") or home / ".codex")
        folder = base / "plugins" / "cache" / NAME / NAME / __version__
        target = Place(client, base, folder, base / "config.toml", data_dir / "plugins" / client)
    if not target.home.is_dir():
        raise NotFound(f"{target.home} does not exist", hint=f"start `{_PROGRAMS[client]}` once, then install again")
    return target


def install(place: Place, contents: Mapping[str, bytes], notes: Path, *, dry_run: bool) -> Change:
    """Install the plugin for a client; return what was changed, or with `dry_run` what would be.

    Raises:
        Conflict: there is another plugin of that name, or the settings cannot have our tables.
    """
    _check_ours(place.folder, contents)
    before = read_settings(place.settings)
    after = before if place.settings is None else _with_tables(before or "", place)
    if after != before:
        by_hand = f"add these lines by hand: {_tables(place)}"
        _check_settings(place, before or "", after or "", by_hand, tables=2)
    folders = [folder for folder in (place.folder, place.source) if folder is not None]
    stale = [folder for folder in folders if _is_stale(folder, contents)]
    change = Change([str(folder) for folder in stale], [], settings_diff(place.settings, before, after), not dry_run)
    if dry_run:
        return change
    for folder in stale:
        make_private(folder.parent)
        plugin.write(folder, contents)
    if after is not None and after != before:
        first = None if before is None else settings_without_plugin(before)
        note(notes, place.client, before, after, first=first)
        _write(place, after)
    return change


def uninstall(place: Place, contents: Mapping[str, bytes], notes: Path, *, dry_run: bool) -> Change:
    """Remove the plugin; restore the settings from before the installation, or remove only our tables from them.

    Only the files that `contents` names are removed, and folders that are empty then.

    Raises:
        NotFound: it is not installed.
        Conflict: there is another plugin of that name, or our tables cannot be taken out of the settings.
    """
    _check_ours(place.folder, contents)
    before = read_settings(place.settings)
    after = None if before is None else _restored(notes, place.client, before)
    folders = [folder for folder in (place.folder, place.source) if folder is not None and _is_ours(folder)]
    if not folders and after == before:
        raise NotFound(f"Reverie is not installed in {place.client}", hint=f"reverie install {place.client}")
    if after is not None and before is not None and noted(notes, place.client, before) is None:
        by_hand = f"take marketplaces.{NAME} and plugins.{_PLUGIN} out of it by hand"
        _check_settings(place, before, after, by_hand, tables=0)
    removed = [name for folder in folders for name in _removed(folder, contents)]
    change = Change([], removed, settings_diff(place.settings, before, after), not dry_run)
    if dry_run:
        return change
    for folder in folders:
        _remove(folder, contents, place.home)
    if after is not None and after != before:
        _write(place, after)
    elif place.settings is not None and after != before:
        settings_file(place.settings).unlink()
    forget(notes, place.client)
    return change


def untrusted_hooks(settings: Path) -> int:
    """Return how many of the plugin's hooks the person has not trusted in Codex, which silently skips them.

    0 where the plugin is not installed there.
    """
    text = text_of(settings) or ""
    names = [match[1] for line in text.splitlines() if (match := _HEADER.match(line))]
    if f'plugins."{_PLUGIN}"' not in names:
        return 0
    trusted = [name for name in names if name.startswith(f'hooks.state."{_PLUGIN}')]
    return max(0, len(plugin.HOOKS) - len(trusted))


def _is_ours(folder: Path) -> bool:
    return '"Reverie"' in (text_of(folder / ".claude-plugin" / "plugin.json") or "")


def _check_ours(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Raise Conflict if the folder is a link or has another plugin or skill; other files in it do no harm."""
    is_other = folder.is_symlink() or any((folder / name).exists() for name in ("SKILL.md", *contents))
    if is_other and not _is_ours(folder):
        raise Conflict(f"{folder} is another plugin of this name", hint="move it away, then install again")


def _is_stale(folder: Path, contents: Mapping[str, bytes]) -> bool:
    """Return True if one of these files is missing in the folder or has other bytes."""
    paths = {name: folder / name for name in contents}
    return any(not paths[name].is_file() or paths[name].read_bytes() != data for name, data in contents.items())


def _removed(folder: Path, contents: Mapping[str, bytes]) -> list[str]:
    """Return the paths to remove: the whole folder, or only our files if it contains others."""
    names = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()}
    return [str(folder)] if names <= contents.keys() else [str(folder / name) for name in contents if name in names]


def _remove(folder: Path, contents: Mapping[str, bytes], above: Path) -> None:
    """Remove our files from a folder, the manifest last: until then a broken uninstallation can be repeated."""
    for name in reversed(list(contents)):
        (folder / name).unlink(missing_ok=True)
        _remove_empty((folder / name).parent, above)


def _write(place: Place, text: str) -> None:
    if place.settings is not None:
        write_settings(place.settings, text)


def _check_settings(place: Place, before: str, after: str, by_hand: str, *, tables: int) -> None:
    """Raise Conflict unless both texts are TOML and `after` is `before` with exactly `tables` tables of ours."""
    try:
        old = _parsed(before)
    except ValueError as error:  # also what is no UTF-8
        raise Conflict(f"{place.settings} is not TOML in UTF-8: {error}", hint="mend it, then try again") from error
    try:
        new = _parsed(after)
    except ValueError:
        new = {}
    _take_plugin(old)
    if _take_plugin(new) != tables or old != new:
        raise Conflict(f"{place.settings} is written in a way that leaves no room for the change", hint=by_hand)


def _parsed(text: str) -> dict[str, Any]:
    return tomllib.loads(text.encode().decode().removeprefix("\ufeff"))


def _take_plugin(settings: dict[str, Any]) -> int:
    """Remove our tables from parsed settings, and tables empty then; return how many of our two were there."""
    tables = (_table(settings, "marketplaces").pop(NAME, None), _table(settings, "plugins").pop(_PLUGIN, None))
    state = _table(settings, "hooks", "state")
    for name in [name for name in state if name.startswith(_PLUGIN)]:
        del state[name]
    for above, name in ((_table(settings, "hooks"), "state"), *((settings, name) for name in ("hooks", *_TABLES))):
        if above.get(name) == {}:
            del above[name]
    return sum(table is not None for table in tables)


def _table(settings: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return a table of parsed settings, an empty one where there is none."""
    for name in names:
        below = settings.get(name)
        settings = below if isinstance(below, dict) else {}
    return settings


def _tables(place: Place) -> str:
    """Return our tables in Codex's settings."""
    return f"""\
[marketplaces.{NAME}]
source_type = "local"
source = {json.dumps(str(place.source))}

[plugins."{_PLUGIN}"]
enabled = true
"""


def _with_tables(text: str, place: Place) -> str:
    """Return Codex's settings with our tables at the end; older tables of ours are removed."""
    tables = _tables(place)
    if tables in text:
        return text
    without = settings_without_plugin(text, trust=False)
    if not without:
        return tables
    return without + ("" if without.endswith("\n\n") else "\n" if without.endswith("\n") else "\n\n") + tables


def settings_without_plugin(text: str, *, trust: bool = True) -> str:
    """Return Codex's settings without our tables, with `trust` also without the record that our hooks are trusted."""
    kept: list[str] = []
    ours = False
    for line in text.splitlines(keepends=True):
        if header := _HEADER.match(line):
            ours = _OURS.match(header[1]) is not None and (trust or not header[1].startswith("hooks."))
        elif line.lstrip().startswith("[["):
            ours = False
        if not ours:
            kept.append(line)
    if len(kept) == len(text.splitlines()):
        return text
    while kept and not kept[-1].strip() and not text.endswith("\n\n"):
        kept.pop()  # the empty line before our tables
    return "".join(kept)


def _restored(notes: Path, client: str, text: str) -> str | None:
    """Return the settings from before the installation, or without our tables where they were edited since; or None."""
    before = noted(notes, client, text)
    return settings_without_plugin(text) if before is None else before["before"]


def _remove_empty(folder: Path, above: Path) -> None:
    """Remove an empty folder, and each empty folder above it, as far as below `above`."""
    while folder != above and above in folder.parents and folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent


def settings_file(settings: Path) -> Path:
    """Return the file that settings are in, behind any links."""
    return type(settings)(os.path.realpath(settings))


def read_settings(settings: Path | None) -> str | None:
    """Return the text of a client's settings, None where there are none.

    Raises:
        Conflict: they are no regular file.
        NotFound: they are a link into a folder that does not exist.
    """
    if settings is None:
        return None
    file = settings_file(settings)
    if os.path.lexists(file) and not file.is_file():
        raise Conflict(f"{file} is not a regular file", hint="move it away, then try again")
    if not file.parent.is_dir():
        raise NotFound(f"{file.parent} does not exist", hint=f"{settings} is a link to it: mend the link")
    return text_of(file)


def write_settings(settings: Path, text: str) -> None:
    """Replace the settings; a link stays one, and the file keeps its mode."""
    file = settings_file(settings)
    mode = file.stat().st_mode & 0o777 if file.exists() else 0o600
    write_atomic(file, text.encode("utf-8", "surrogateescape"), mode=mode)


def text_of(path: Path | None) -> str | None:
    """Return the text of a regular file, None for anything else: to open a pipe would wait for its other end."""
    if path is None or not path.is_file():
        return None
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise translate_os_error("read", path, error) from error


def settings_diff(path: Path | None, before: str | None, after: str | None) -> str:
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
    write_atomic(notes, data.encode(), mode=0o600)


def forget(notes: Path, name: str) -> None:
    """Remove the note of an installation."""
    entries = _notes(notes)
    if entries.pop(name, None) is not None:
        write_atomic(notes, json.dumps(entries, indent=2).encode(), mode=0o600)


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
    before = read_settings(settings)
    values = _parsed_json(settings, before)
    if values.get(_MEMORY_KEY) == str(folder):
        return ""
    if _MEMORY_KEY in values:
        raise Conflict(
            f"{settings} has another {_MEMORY_KEY}: {values[_MEMORY_KEY]}",
            hint=f"take {_MEMORY_KEY} out of it, then try again",
        )
    after = _with_key(before, folder)
    _check_json(settings, after, {**values, _MEMORY_KEY: str(folder)})
    if not dry_run:
        note(notes, _MEMORY_NOTE, before, after, first=before)
        write_settings(settings, after)
    return settings_diff(settings, before, after)


def remove_memory_folder(settings: Path, folder: Path, notes: Path, *, dry_run: bool) -> str:
    """Take the folder out of the settings; return the change as a diff, empty where they do not name it.

    The settings become what they were, byte for byte, or lose this key alone where others changed them since.

    Raises:
        Conflict: the settings cannot be read, or the key cannot be taken out.
    """
    before = read_settings(settings)
    values = _parsed_json(settings, before)
    if before is None or values.get(_MEMORY_KEY) != str(folder):
        return ""
    earlier = noted(notes, _MEMORY_NOTE, before)
    after = _without_key(before) if earlier is None else earlier["before"]
    if earlier is None:
        _check_json(settings, after or "", {name: value for name, value in values.items() if name != _MEMORY_KEY})
    if not dry_run:
        if after is None:
            settings_file(settings).unlink()
        else:
            write_settings(settings, after)
        forget(notes, _MEMORY_NOTE)
    return settings_diff(settings, before, after)


def _parsed_json(settings: Path, text: str | None) -> dict[str, Any]:
    """Return settings as an object, an empty one where there are none. Raises Conflict for anything else."""
    try:
        values = json.loads(text.encode().decode()) if text is not None and text.strip() else {}
    except (ValueError, RecursionError) as error:  # also what is no UTF-8
        raise Conflict(f"{settings} is not JSON in UTF-8: {error}", hint="mend it, then try again") from error
    if not isinstance(values, dict):
        raise Conflict(f"{settings} is not a JSON object", hint="mend it, then try again")
    return values


def _check_json(settings: Path, text: str, expected: dict[str, Any]) -> None:
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
