"""`reverie install` gives Claude Code or Codex the plugin, or takes it away; `reverie demo` shows what it is for."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from reverie.errors import NotFound, ValidationError
from reveried import plugin
from reveried.cli import daemon_client
from reveried.cli.command import Answer, Argument, Json, Option
from reveried.cli.output import say
from reveried.plugin import install as plugin_install

_NEXT = {
    "claude-code": "New sessions of Claude Code have it.",
    "codex": "Codex runs hooks only once you trust them: start codex, and type /hooks.",
}


def install(
    program: Annotated[Literal["claude-code", "codex"], Argument("CLIENT", "claude-code or codex.")],
    dry_run: Annotated[bool, Option("--dry-run", help="Show what would be changed.")] = False,
    uninstall: Annotated[bool, Option("--uninstall", help="Take it away again.")] = False,
    auto_memory: Annotated[
        bool, Option("--auto-memory", help="Also have Claude Code keep its own memory in Reverie's folder.")
    ] = False,
) -> Answer:
    """Give an agent's client the plugin with hooks, tools and a skill; settings change as little as possible.

    Example: reverie install claude-code
    """
    layout = daemon_client.layout()
    target = plugin_install.place_of(program, os.environ, Path.home(), layout.data_dir)
    home = os.environ.get("REVERIE_HOME")
    contents = plugin.files(
        program,
        command=_command(),
        socket=daemon_client.socket_path(),
        env={} if home is None else {"REVERIE_HOME": home},
        python=sys.executable,
    )
    if auto_memory and program != "claude-code":
        raise ValidationError("--auto-memory: only Claude Code has such a memory", hint="leave it out")
    step = plugin_install.remove_memory_folder if uninstall else plugin_install.add_memory_folder
    keep = partial(step, target.home / "settings.json", daemon_client.root(), notes_file())
    is_asked = program == "claude-code" and (auto_memory or uninstall)
    diff = keep(dry_run=True) if is_asked else ""  # fails before anything is written
    change = _with_plugin(target, contents, uninstall=uninstall, dry_run=dry_run, setting_removed=bool(diff))
    if diff and not dry_run:
        keep(dry_run=False)
    change = replace(change, diff=change.diff + diff)
    yield change
    for folder in change.written:
        say(f"+ {folder}")
    for folder in change.removed:
        say(f"- {folder}")
    if change.diff:
        say(change.diff.rstrip("\n"))
    if not (change.written or change.removed or change.diff):
        say("It is installed already.")
    elif dry_run:
        say("Nothing was changed.")
    elif uninstall:
        say("It is gone; what was remembered stays.")
    else:
        say(_NEXT[program])


def demo(
    paths: Annotated[
        list[Path] | None, Argument("[PATH...]", "Session files; default: your newest session, else a sample.")
    ] = None,
    keep: Annotated[bool, Option("--keep", help="Leave the daemon running and the folder in place.")] = False,
    json: Json = False,
) -> None:
    """Show what Reverie does with one session, in a temporary folder.

    Example: reverie demo
    """
    from reveried.demo import run_demo

    run_demo(paths or [], keep=keep, json=json)


def _with_plugin(
    place: plugin_install.Place, contents: dict[str, bytes], *, uninstall: bool, dry_run: bool, setting_removed: bool
) -> plugin_install.Change:
    """Install or uninstall the plugin; uninstalling a missing one is an error unless a setting was removed."""
    if not uninstall:
        return plugin_install.install(place, contents, notes_file(), dry_run=dry_run)
    try:
        return plugin_install.uninstall(place, contents, notes_file(), dry_run=dry_run)
    except NotFound:
        if not setting_removed:
            raise
        return plugin_install.Change([], [], "", not dry_run)


def notes_file() -> Path:
    """Return the file that notes what the settings of clients were before the installation."""
    return daemon_client.layout().state_dir / "installed.json"


def _command() -> list[str]:
    """Return the command that starts this program: its script by absolute path, else this Python with `-m`."""
    beside = Path(sys.executable).with_name("reverie")
    return [str(beside)] if beside.is_file() else [sys.executable, "-m", "reveried.cli"]
