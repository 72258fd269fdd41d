"""`reverie config`: show, change and check settings, and print the paths in use."""

from __future__ import annotations

import json as jsonlib
import os
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, get_args

from reverie import files
from reverie.errors import ValidationError
from reverie.private_folder import make_private
from reveried.cli import daemon_client
from reveried.cli.command import Answer, Argument
from reveried.cli.output import clean, counted, print_table, say
from reveried.config import KEYS, load, load_valid, parse, parse_valid, read_file
from reveried.config_lines import with_value

if TYPE_CHECKING:
    from reverie.places import Layout

PathName: TypeAlias = Literal["config", "root", "data", "store", "state", "socket", "log"]
Name = Annotated[str, Argument("KEY", "A setting, such as context.distilAt.")]


def config_get(name: Annotated[str | None, Argument("[KEY]", "A setting; default: all of them.")] = None) -> Answer:
    """Show one setting, or all with their meaning.

    Example: reverie config get context.distilAt
    """
    config, problems = daemon_client.valid_settings()
    _warn(*problems, *config.unused)
    if name is not None:
        value = config.value(name)
        yield {name: value}
        say(_display(value))
        return
    values = {key.name: _without_secrets(key.name, config.value(key.name)) for key in KEYS}
    yield values
    rows = [
        (key.name, _display(values[key.name]), config.set_by.get(key.name, "default"), key.description) for key in KEYS
    ]
    print_table("Setting, Value*, Set by, Meaning*", rows, drop=(2,))


def config_set(
    name: Name, value: Annotated[str, Argument("VALUE", 'The value; a list as JSON: \'["a", "b"]\'.')]
) -> Answer:
    """Change one setting in the settings file; comments are preserved.

    Example: reverie config set context.distilAt 0.6
    """
    layout = daemon_client.layout()
    key = next((key for key in KEYS if key.name == name), None)
    if key is None:
        daemon_client.valid_settings()[0].value(name)  # raises ValidationError with the nearest name
        raise AssertionError(name)
    new_value = key.from_text(value)
    changed = with_value(read_file(layout.config_file).decode("utf-8"), name, new_value)
    _refuse_new_errors(changed.encode(), layout)
    make_private(layout.config_file.parent)
    files.write_atomic(layout.config_file, changed.encode())
    yield {"path": str(layout.config_file), name: new_value}
    say(f"{name} is now {_display(new_value) or 'empty'}. A running daemon reads it at its next start.")
    if key.environment in os.environ:
        say(f"But {key.environment} is set in this environment and overrides the file.")


def config_path(
    what: Annotated[PathName, Argument("[WHAT]", f"One of {', '.join(get_args(PathName))}.")] = "config",
) -> Answer:
    """Print a path that Reverie uses.

    Example: reverie config path root
    """
    layout, (config, _) = daemon_client.layout(), daemon_client.valid_settings()
    paths: dict[PathName, Path] = {
        "config": layout.config_file,
        "root": daemon_client.root(),
        "data": layout.data_dir,
        "store": layout.store_dir,
        "state": layout.state_dir,
        "socket": config.daemon.socket,
        "log": daemon_client.log_file(),
    }
    yield {what: str(paths[what])}
    say(str(paths[what]))


def config_validate(
    path: Annotated[Path | None, Argument("[FILE]", "A settings file; default: the one in use.")] = None,
) -> Answer:
    """Check the settings file and the environment.

    Example: reverie config validate
    """
    layout = daemon_client.layout()
    checked = path or layout.config_file
    if path is not None:
        if not path.exists():
            raise ValidationError(f"{path} does not exist", hint="give a settings file")
        config = parse(read_file(path), {}, layout=layout, home=Path.home(), source=path)
    else:
        config = load(layout, os.environ, home=Path.home())
    _warn(*config.unused)
    yield {"path": str(checked), "valid": True, "setBy": dict(config.set_by)}
    missing = "" if checked.exists() else " (not there: defaults are used)"
    unused = f", {counted(len(config.unused), 'key')} not used" if config.unused else ""
    say(f"{checked}{missing} is valid; {counted(len(config.set_by), 'setting')} changed from the default{unused}.")


def _warn(*problems: ValidationError) -> None:
    for problem in problems:
        sys.stderr.write(f"not used: {clean(problem.message)} {problem.hint}\n")


def _refuse_new_errors(changed: bytes, layout: Layout) -> None:
    """Raise if the changed file has an error that the present one does not have.

    So one setting can be repaired while another is still wrong, but none can be made wrong.

    Raises:
        ValidationError: the first new error; or the file is not TOML at all.
    """
    try:
        tomllib.loads(changed.decode())
    except tomllib.TOMLDecodeError as error:
        raise ValidationError(
            f"{layout.config_file} is not TOML: {error}", hint=f"edit {layout.config_file}"
        ) from error
    before = {problem.message for problem in load_valid(layout, {}, home=Path.home())[1]}
    for problem in parse_valid(changed, {}, layout=layout, home=Path.home())[1]:
        if problem.message not in before:
            raise problem


def _without_secrets(name: str, value: Any) -> Any:
    """Return a setting's value; for `redact.literals`, the user's own secrets, only how many there are."""
    return f"({counted(len(value), 'literal')})" if name == "redact.literals" and value else value


def _display(value: Any) -> str:
    """Format a setting for people: lists as JSON, None as nothing."""
    return jsonlib.dumps(value, default=str) if isinstance(value, tuple) else "" if value is None else str(value)
