"""`reverie config`: settings shown, changed, checked, and where everything lives."""

import json as jsonlib
import os
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reverie import files
from reverie.errors import ValidationError
from reveried.cli import daemon_handle
from reveried.cli.options import Json
from reveried.cli.output import as_json, clean, counted, say, table
from reveried.cli.toml_edit import with_value
from reveried.config import KEYS, forgiving, load, parse, read_file, salvage

if TYPE_CHECKING:
    from reverie.paths import Layout

__all__ = ["config_get", "config_path", "config_set", "config_validate"]

_PLACES = ("config", "root", "data", "store", "state", "socket", "log")
Name = Annotated[str, typer.Argument(metavar="KEY", help="A setting, such as context.distilAt.")]


def config_get(
    name: Annotated[str | None, typer.Argument(metavar="[KEY]", help="A setting; without one, all of them.")] = None,
    json: Json = False,
) -> None:
    """Show one setting, or all with what they mean.

    Example: reverie config get context.distilAt
    """
    found, problems = daemon_handle.good_settings()
    for problem in problems:
        sys.stderr.write(f"not used: {clean(problem.message)}\n")
    if name is not None:
        value = found.value(name)
        as_json({name: _plain(value)}) if json else say(_shown(value))
        return
    values = {key.name: _hidden(key.name, found.value(key.name)) for key in KEYS}
    if json:
        as_json({name: _plain(value) for name, value in values.items()})
        return
    rows = [(key.name, _shown(values[key.name]), found.set_by.get(key.name, "default"), key.says) for key in KEYS]
    table(["Setting", "Value", "Set by", "Meaning"], rows, wraps=(1, 3), drop=(2,))


def config_set(
    name: Name,
    value: Annotated[str, typer.Argument(metavar="VALUE", help='Its value; a list as JSON: \'["a", "b"]\'.')],
    json: Json = False,
) -> None:
    """Change one setting in the file; comments stay.

    Example: reverie config set context.distilAt 0.6
    """
    places = daemon_handle.layout()
    key = next((key for key in KEYS if key.name == name), None)
    if key is None:
        daemon_handle.good_settings()[0].value(name)  # raises, naming the nearest
        raise AssertionError(name)
    changed = with_value(read_file(places.config_file).decode("utf-8"), name, key.from_text(value))
    _refuse_new_faults(changed.encode(), places)
    places.config_file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    files.write_atomic(places.config_file, changed.encode())
    if json:
        as_json({"path": str(places.config_file), name: _plain(key.from_text(value))})
        return
    say(f"{name} is now {_shown(key.from_text(value))}. A running daemon reads it when it starts again.")
    if key.environment in os.environ:
        say(f"But {key.environment} is set in this environment, and wins.")


def config_path(
    what: Annotated[str, typer.Argument(metavar="[WHAT]", help=f"One of {', '.join(_PLACES)}.")] = "config",
    json: Json = False,
) -> None:
    """Print where something lives.

    Example: reverie config path root
    """
    places, (found, _) = daemon_handle.layout(), daemon_handle.good_settings()
    known = {
        "config": places.config_file,
        "root": daemon_handle.root(),
        "data": places.data_dir,
        "store": places.store_dir,
        "state": places.state_dir,
        "socket": found.daemon.socket,
        "log": daemon_handle.log_file(),
    }
    assert tuple(known) == _PLACES
    if what not in known:
        raise ValidationError(f"there is no place called {what!r}", hint=f"one of {', '.join(_PLACES)}")
    as_json({what: str(known[what])}) if json else say(str(known[what]))


def config_validate(
    path: Annotated[Path | None, typer.Argument(metavar="[FILE]", help="Another file than the one in use.")] = None,
    json: Json = False,
) -> None:
    """Check the settings file and the environment.

    Example: reverie config validate
    """
    places = daemon_handle.layout()
    looked = path or places.config_file
    if path is not None:
        if not path.exists():
            raise ValidationError(f"{path} does not exist", hint="give a settings file")
        found = parse(read_file(path), {}, layout=places, home=Path.home(), source=path)
    else:
        found = load(places, os.environ, home=Path.home())
    if json:
        as_json({"path": str(looked), "valid": True, "setBy": dict(found.set_by)})
        return
    there = "" if looked.exists() else " (not there: defaults are used)"
    say(f"{looked}{there} is good; {counted(len(found.set_by), 'setting')} changed from the default.")


def _refuse_new_faults(changed: bytes, places: "Layout") -> None:
    """One setting can be mended while another is still wrong, but none can be made wrong.

    Raises:
        ValidationError: the file as it would become has a fault that it does not have now, or is no TOML at all.
    """
    try:
        tomllib.loads(changed.decode())
    except tomllib.TOMLDecodeError as error:
        raise ValidationError(f"{places.config_file} is not TOML: {error}", hint="mend it in an editor") from error
    before = {problem.message for problem in forgiving(places, {}, home=Path.home())[1]}
    for problem in salvage(changed, {}, layout=places, home=Path.home())[1]:
        if problem.message not in before:
            raise problem


def _hidden(name: str, value: Any) -> Any:
    """A person's secrets are counted, never shown in a list of everything."""
    return f"({counted(len(value), 'literal')})" if name == "redact.literals" and value else value


def _shown(value: Any) -> str:
    return jsonlib.dumps(_plain(value)) if isinstance(value, tuple) else "" if value is None else str(value)


def _plain(value: Any) -> Any:
    match value:
        case Path():
            return str(value)
        case tuple():
            return list(value)
        case _:
            return value
