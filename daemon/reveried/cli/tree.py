"""The tree of commands: what is called what, in the order in which `reverie --help` lists it."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Annotated, cast

import typer

from reveried.cli import (
    config_commands,
    daemon_commands,
    difference_commands,
    doctor_command,
    dream_commands,
    eval_commands,
    history_commands,
    import_commands,
    memory_commands,
    service_commands,
    store_commands,
    sync_commands,
    thread_commands,
)
from reveried.cli.demo_command import demo
from reveried.cli.note_command import note
from reveried.cli.overview import overview
from reveried.cli.suggest import Suggesting

if TYPE_CHECKING:
    from collections.abc import Callable

    from typer.core import TyperGroup

__all__ = ["tree"]

Commands = dict[str, "Callable[..., None]"]

_FIRST: Commands = {
    "demo": demo,
    "serve": daemon_commands.serve,
    "up": daemon_commands.up,
    "down": daemon_commands.down,
    "status": daemon_commands.status,
    "logs": daemon_commands.logs,
    "doctor": doctor_command.doctor,
}
_WORK: Commands = {
    "threads": thread_commands.threads,
    "context": thread_commands.context,
    "distill": thread_commands.distill,
    "dream": dream_commands.dream,
    "recall": memory_commands.recall,
    "memories": memory_commands.memories,
    "remember": memory_commands.remember,
    "forget": memory_commands.forget,
    "note": note,
    "log": history_commands.log,
    "show": history_commands.show,
    "diff": difference_commands.diff,
    "undo": history_commands.undo,
    "rollback": difference_commands.rollback,
    "backup": store_commands.backup,
    "restore": store_commands.restore,
    "check": store_commands.check,
    "version": daemon_commands.version,
}
_GROUPS: dict[str, tuple[str, Commands]] = {
    "import": (
        "Bring sessions of other programs in.\n\nExample: reverie import claude-code ~/.claude/projects",
        {"claude-code": import_commands.import_claude_code},
    ),
    "sync": (
        "Your folder of markdown and the store.\n\nExample: reverie sync status",
        {
            "status": sync_commands.status,
            "now": sync_commands.now,
            "conflicts": sync_commands.conflicts,
            "resolve": sync_commands.resolve,
        },
    ),
    "archives": (
        "What distillations and dreams left.\n\nExample: reverie archives list",
        {
            "list": history_commands.archives_list,
            "show": history_commands.archives_show,
            "verify": history_commands.archives_verify,
        },
    ),
    "schedule": (
        "When dreams run by themselves.\n\nExample: reverie schedule list",
        {
            "list": dream_commands.schedule_list,
            "add": dream_commands.schedule_add,
            "remove": dream_commands.schedule_remove,
        },
    ),
    "config": (
        "Settings, and where everything lives.\n\nExample: reverie config get",
        {
            "get": config_commands.config_get,
            "set": config_commands.config_set,
            "path": config_commands.config_path,
            "validate": config_commands.config_validate,
        },
    ),
    "service": (
        "The daemon as a systemd user service.\n\nExample: reverie service install",
        {
            "install": service_commands.service_install,
            "uninstall": service_commands.service_uninstall,
            "status": service_commands.service_status,
        },
    ),
    "eval": (
        "What an agent would get after a session, and what survives.\n\nExample: reverie eval context session.jsonl",
        {
            "context": eval_commands.eval_context,
            "knowledge": eval_commands.eval_knowledge,
            "continuity": eval_commands.eval_continuity,
            "frequency": eval_commands.eval_frequency,
        },
    ),
}


@functools.cache
def tree() -> TyperGroup:
    """The whole tree, built once."""
    root = _group(
        "Memory for AI agents that survives distillation.\n\n"
        "Exit codes: 0 done, 1 failed, 2 usage, 3 no daemon, 4 conflict, 5 refused."
    )
    root.callback(invoke_without_command=True)(_start)
    _add(root, _FIRST)
    for name, (says, commands) in _GROUPS.items():
        group = _group(says)
        _add(group, commands)
        root.add_typer(group, name=name)
    _add(root, _WORK)
    return cast("TyperGroup", typer.main.get_command(root))


def _group(says: str) -> typer.Typer:
    return typer.Typer(
        cls=Suggesting,
        help=says,
        add_completion=False,
        no_args_is_help=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        suggest_commands=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def _add(group: typer.Typer, commands: Commands) -> None:
    for name, command in commands.items():
        group.command(name)(command)


def _start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", "-V", help="Show the version and end.")] = False,
) -> None:
    """Memory for AI agents that survives distillation."""
    if version:
        daemon_commands.version()
        raise typer.Exit
    if context.invoked_subcommand is None:
        overview()
