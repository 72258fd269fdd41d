"""The command tree of `reverie`, in the order of `reverie --help`, and the mapping of errors to exit codes."""

import functools
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, cast

import typer
from typer.core import TyperGroup
from typer.exceptions import Abort, TyperException

from reverie.errors import ReverieError, StorageFailed, ValidationError
from reveried.cli import (
    backup,
    brief,
    claude_memory,
    completion,
    config,
    daemon,
    daemon_client,
    doctor,
    dreams,
    eval_memory_use,
    evals,
    forget,
    imports,
    install,
    log,
    messages,
    projects,
    proxy,
    recall,
    redactions,
    review,
    runs,
    service,
    show,
    spaces,
    sync,
    threads,
    undo,
)
from reveried.cli.nearest import nearest
from reveried.cli.options import Json
from reveried.cli.output import INTERRUPTED, broken_pipe, print_error, say

_OVERVIEW = """\
Reverie gives AI agents a memory that survives. It continues long threads when an agent's context
window is full, extracts memories from sessions, and writes them into plain markdown files that you
can read and edit.

  See a demo       reverie demo
  Start            reverie up                          stop with: reverie down
  Import sessions  reverie import claude-code ~/.claude/projects
  Look around      reverie threads    reverie memories    reverie status
  Search           reverie search "why did we pin the parser?"
  Remember         reverie recall "how do we run the tests?"
  Continue         reverie context THREAD
  Undo             reverie log    reverie undo
  All commands     reverie --help
"""


def demo(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[PATH...]", help="Session files; default: your newest session, else a sample."),
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Leave the daemon running and the folder in place.")] = False,
    json: Json = False,
) -> None:
    """Show what Reverie does with one session, in a temporary folder.

    Example: reverie demo
    """
    from reveried.demo import run_demo  # noqa: PLC0415 - only this command needs it

    run_demo(paths or [], keep=keep, json=json)


def mcp() -> int:
    """Serve the tools of agents to a client of the Model Context Protocol, over standard input and output.

    Example: reverie mcp
    """
    from reveried.mcp.stdio import run as run_bridge  # noqa: PLC0415 - only this command needs it

    return run_bridge()


Commands = dict[str, Callable[..., object]]

_FIRST: Commands = {
    "demo": demo,
    "serve": daemon.serve,
    "up": daemon.up,
    "down": daemon.down,
    "status": daemon.status,
    "logs": daemon.logs,
    "doctor": doctor.doctor,
    "mcp": mcp,
    "install": install.install,
    "run": proxy.run,
}
_WORK: Commands = {
    "threads": threads.threads,
    "thread": messages.thread,
    "projects": projects.projects,
    "context": threads.context,
    "distill": threads.distill,
    "reflect": threads.reflect,
    "dream": dreams.dream,
    "search": recall.search,
    "recall": recall.recall,
    "memories": recall.memories,
    "remember": recall.remember,
    "forget": forget.forget,
    "note": threads.note,
    "log": log.log,
    "show": show.show,
    "diff": log.diff,
    "undo": undo.undo,
    "rollback": undo.rollback,
    "backup": backup.backup,
    "restore": backup.restore,
    "check": backup.check,
    "compact": backup.compact,
    "ignore": spaces.ignore,
    "pause": spaces.pause,
    "resume": spaces.resume,
    "completion": completion.completion,
    "version": daemon.version,
}
_GROUPS: dict[str, tuple[str, Commands]] = {
    "import": (
        "Import sessions of other programs.\n\nExample: reverie import claude-code ~/.claude/projects",
        {
            "claude-code": imports.import_claude_code,
            "claude-memory": claude_memory.import_claude_memory,
            "codex": imports.import_codex,
            "chatgpt": imports.import_chatgpt,
            "pi": imports.import_pi,
        },
    ),
    "sync": (
        "Synchronise your folder of markdown files with the store.\n\nExample: reverie sync status",
        {"status": sync.status, "now": sync.now, "conflicts": sync.conflicts, "resolve": sync.resolve},
    ),
    "proxy": (
        "Run a proxy that answers a client's compactions without a model.\n\nExample: reverie proxy claude",
        {"claude": proxy.proxy_claude},
    ),
    "review": (
        "Decide what waits for you: changes that Reverie does not make by itself.\n\nExample: reverie review",
        {"list": review.list_candidates, "diff": review.diff, "accept": review.accept, "reject": review.reject},
    ),
    "redactions": (
        "List what redaction replaced, and allow what is no secret.\n\nExample: reverie redactions",
        {"allow": redactions.allow, "disallow": redactions.disallow},
    ),
    "brief": (
        "Show what the sessions of a project taught, and change its lines.\n\nExample: reverie brief --project .",
        {"keep": brief.keep, "drop": brief.drop, "edit": brief.edit},
    ),
    "runs": (
        "List the runs of agents, or show one.\n\nExample: reverie runs",
        {"list": runs.list_runs, "show": runs.show},
    ),
    "archives": (
        "Show the archives of distillations and dreams.\n\nExample: reverie archives list",
        {
            "list": dreams.archives_list,
            "show": dreams.archives_show,
            "verify": dreams.archives_verify,
        },
    ),
    "schedule": (
        "Run dreams on a schedule.\n\nExample: reverie schedule list",
        {
            "list": dreams.schedule_list,
            "add": dreams.schedule_add,
            "remove": dreams.schedule_remove,
        },
    ),
    "config": (
        "Show and change settings, and print the paths in use.\n\nExample: reverie config get",
        {
            "get": config.config_get,
            "set": config.config_set,
            "path": config.config_path,
            "validate": config.config_validate,
        },
    ),
    "space": (
        "Keep the memory of several people or tasks apart, each in a space of its own.\n\nExample: reverie space list",
        {"create": spaces.space_create, "list": spaces.space_list},
    ),
    "token": (
        "Give programs access to one space by a token.\n\nExample: reverie token create --space work",
        {
            "create": spaces.token_create,
            "list": spaces.token_list,
            "revoke": spaces.token_revoke,
        },
    ),
    "service": (
        "Run the daemon as a systemd user service.\n\nExample: reverie service install",
        {
            "install": service.service_install,
            "uninstall": service.service_uninstall,
            "status": service.service_status,
        },
    ),
    "eval": (
        "Evaluate contexts and memories on transcripts.\n\nExample: reverie eval context session.jsonl",
        {
            "context": evals.eval_context,
            "knowledge": evals.eval_knowledge,
            "continuity": evals.eval_continuity,
            "frequency": evals.eval_frequency,
            "memories": eval_memory_use.eval_memories,
        },
    ),
}


def run(arguments: Sequence[str]) -> int:
    """Run one command line through the command tree and return its exit code."""
    command = _command_name(arguments)
    return call_with_exit_code(
        command, lambda: tree()(args=list(arguments), prog_name="reverie", standalone_mode=False), arguments
    )


def call_with_exit_code(command: str, action: Callable[[], object], arguments: Sequence[str]) -> int:
    """Call `action` and return the exit code; an error is printed as `<command>: <why>` with the next step."""
    json = "--json" in arguments
    try:
        result = action()
    except ReverieError as error:
        print_error(command, error, json=json)
        return error.exit_status
    except TyperException as error:
        said, in_words_of_library, _ = error.format_message().rstrip(".").partition("Input should be a valid integer")
        said += "it must be a whole number" if in_words_of_library else ""
        usage = ValidationError(said, hint=f"{command} --help shows its usage")
        print_error(command, usage, json=json)
        return usage.exit_status
    except Abort:
        print_error(
            command, ValidationError("not confirmed; nothing was changed", hint="answer y, or give --yes"), json=json
        )
        return 1
    except BrokenPipeError:
        return broken_pipe()
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        where = f" {error.filename}" if error.filename else ""
        failed = StorageFailed(f"{error.strerror or error}{where}", hint="reverie doctor checks paths and permissions")
        print_error(command, failed, json=json)
        return failed.exit_status
    return result if isinstance(result, int) else 0


def _command_name(arguments: Sequence[str]) -> str:
    """Return the command that a command line begins with, such as `reverie archives list`."""
    commands = tree().commands
    words = ["reverie"]
    if arguments[:1] == ["--token"]:
        arguments = arguments[2:]
    for argument in arguments[:2]:
        if argument not in commands:
            break
        words.append(argument)
        commands = getattr(commands[argument], "commands", {})
    return " ".join(words)


_PASSING_ON = (proxy.run,)  # commands whose words behind the first one are another program's


def _alone(action: Callable[..., None]) -> Callable[..., None]:
    """Return the callback of a group that shows a list or a state where no command is given."""

    def call(context: typer.Context, json: Json = False) -> None:
        if context.invoked_subcommand is None:
            action(json=json)

    return call


_CALLED_ALONE: Commands = {
    "brief": brief.brief,
    "redactions": redactions.redactions,
    "review": review.review,
    "runs": runs.runs,
    "archives": _alone(functools.partial(dreams.archives_list, limit=50)),
    "config": _alone(functools.partial(config.config_get, name=None)),
    "schedule": _alone(dreams.schedule_list),
    "space": _alone(spaces.space_list),
    "sync": _alone(sync.status),
    "token": _alone(spaces.token_list),
}  # groups that do something without a command


@functools.cache
def tree() -> TyperGroup:
    """Build the command tree, once per process."""
    root = _group(
        "Memory for AI agents that survives distillation.\n\n"
        "Exit codes: 0 done, 1 failed, 2 usage, 3 no daemon, 4 conflict, 5 refused."
    )
    root.callback(invoke_without_command=True)(_root_options)
    _add(root, _FIRST)
    for name, (help_text, commands) in _GROUPS.items():
        group = _group(help_text)
        group.callback(invoke_without_command=True)(_CALLED_ALONE.get(name, _list_commands))
        _add(group, commands)
        root.add_typer(group, name=name)
    _add(root, _WORK)
    return cast("TyperGroup", typer.main.get_command(root))


def _group(help_text: str) -> typer.Typer:
    """Return an empty command group."""
    return typer.Typer(
        cls=Suggesting,
        help=help_text,
        add_completion=False,
        no_args_is_help=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        suggest_commands=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def _add(group: typer.Typer, commands: Commands) -> None:
    """Add commands to a group."""
    for name, command in commands.items():
        settings = {"allow_interspersed_args": False} if command in _PASSING_ON else None
        group.command(name, context_settings=settings)(command)


def _root_options(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", "-V", help="Show the version and exit.")] = False,
    token: Annotated[
        str | None,
        typer.Option("--token", metavar="TOKEN", help="Work in the space of this token; or set REVERIE_TOKEN."),
    ] = None,
) -> None:
    """Memory for AI agents that survives distillation."""
    if token is not None:
        if not token.strip():  # `--token "$UNSET"` must not become the owner
            raise ValidationError("--token is empty", hint="reverie token create makes a token")
        os.environ[daemon_client.TOKEN_VARIABLE] = token
    if version:
        daemon.version()
        raise typer.Exit
    if context.invoked_subcommand is None:
        say(_OVERVIEW)
        say(_daemon_state())


def _list_commands(context: typer.Context) -> None:
    """Print the commands of a group that was called without one."""
    if context.invoked_subcommand is None:
        commands = cast("TyperGroup", context.command).commands
        width = max(map(len, commands))
        say((context.command.help or "").partition("\n")[0])
        say()
        for name, command in commands.items():
            say(f"  {context.command_path} {name:<{width}}  {(command.help or '').partition(chr(10))[0]}")


def _daemon_state() -> str:
    """Return one line: whether the daemon is running, and what to type if it is not."""
    try:
        with daemon_client.client() as client:
            health = client.health()
    except ReverieError as error:
        state = _with_full_stop(f"Now: {error.message}")
        return f"{state} {_with_full_stop(f'Next: {error.hint}')}" if error.hint else state
    return f"Now: the daemon is running (version {health.version}, process {health.pid})."


def _with_full_stop(text: str) -> str:
    """Return the text with a full stop, unless it has an end mark."""
    return text if text.endswith((".", "?", "!")) else text + "."


class Suggesting(TyperGroup):
    """A command group whose "no such command" error suggests the nearest command."""

    def resolve_command(self, ctx: typer.Context, args: list[str]) -> tuple[str | None, object, list[str]]:  # type: ignore[override] # the vendored parser's types are not public
        """Return the command, or raise the error with a suggestion.

        Options that are given to the group, as in `brief --project NAME drop LINE`, are the command's own.
        """
        given = {name: value for name, value in ctx.params.items() if _is_given(ctx, name)}
        try:
            name, command, rest = super().resolve_command(ctx, args)
        except TyperException as error:
            longer = [name for name in self.commands if name.startswith(f"{args[0]}-")]
            suggestion = nearest(args[0], self.commands)
            near = longer or ([] if suggestion is None else [suggestion])
            if near:
                error.message = f"{error.message.rstrip('.')}. Did you mean {' or '.join(map(repr, near))}?"
            raise
        ctx.default_map = {name: given} if name else None
        return name, command, rest


def _is_given(context: typer.Context, name: str) -> bool:
    """Return True if the person typed the option."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"
