"""The command tree of `reverie`, in the order of `reverie --help`, and the mapping of errors to exit codes.

A command line imports the module of its own command alone: the tables name each by module and function.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Annotated, Any

import click
from click.exceptions import Abort, ClickException, Exit

from reverie.errors import ReverieError, StorageFailed, ValidationError
from reveried.cli import daemon_client
from reveried.cli.command import Command, Option
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


_COMMANDS = {  # module and function of each
    "demo": "install.demo",
    "serve": "daemon.serve",
    "up": "daemon.up",
    "down": "daemon.down",
    "status": "status.status",
    "logs": "daemon.logs",
    "doctor": "doctor.doctor",
    "mcp": "daemon.mcp",
    "install": "install.install",
    "run": "proxy.run",
    "threads": "threads.threads",
    "thread": "threads.thread",
    "projects": "projects.projects",
    "context": "threads.context",
    "distill": "threads.distill",
    "reflect": "threads.reflect",
    "dream": "dreams.dream",
    "search": "recall.search",
    "recall": "recall.recall",
    "memories": "recall.memories",
    "remember": "recall.remember",
    "forget": "recall.forget",
    "note": "threads.note",
    "log": "log.log",
    "show": "show.show",
    "diff": "log.diff",
    "undo": "log.undo",
    "rollback": "log.rollback",
    "backup": "backup.backup",
    "restore": "backup.restore",
    "check": "backup.check",
    "compact": "backup.compact",
    "ignore": "spaces.ignore",
    "pause": "spaces.pause",
    "resume": "spaces.resume",
    "completion": "completion.completion",
    "version": "daemon.version",
}
_GROUPS: dict[str, tuple[str, dict[str, str]]] = {
    "import": (
        "Import sessions of other programs.\n\nExample: reverie import claude-code ~/.claude/projects",
        {
            "claude-code": "imports.import_claude_code",
            "claude-memory": "imports.import_claude_memory",
            "codex": "imports.import_codex",
            "chatgpt": "imports.import_chatgpt",
            "pi": "imports.import_pi",
        },
    ),
    "sync": (
        "Synchronise your folder of markdown files with the store.\n\nExample: reverie sync status",
        {"status": "sync.status", "now": "sync.now", "conflicts": "sync.conflicts", "resolve": "sync.resolve"},
    ),
    "proxy": (
        "Run a proxy that answers a client's compactions without a model.\n\nExample: reverie proxy claude",
        {"claude": "proxy.proxy_claude"},
    ),
    "review": (
        "Decide what waits for you: changes that Reverie does not make by itself.\n\nExample: reverie review",
        {"list": "review.list_candidates", "diff": "review.diff", "accept": "review.accept", "reject": "review.reject"},
    ),
    "redactions": (
        "List what redaction replaced, and allow what is no secret.\n\nExample: reverie redactions",
        {"allow": "redactions.allow", "disallow": "redactions.disallow"},
    ),
    "brief": (
        "Show what the sessions of a project taught, and change its lines.\n\nExample: reverie brief --project .",
        {"keep": "brief.keep", "drop": "brief.drop", "edit": "brief.edit"},
    ),
    "runs": (
        "List the runs of agents, or show one.\n\nExample: reverie runs",
        {"list": "runs.list_runs", "show": "runs.show"},
    ),
    "archives": (
        "Show the archives of distillations and dreams.\n\nExample: reverie archives list",
        {"list": "dreams.archives_list", "show": "dreams.archives_show", "verify": "dreams.archives_verify"},
    ),
    "schedule": (
        "Run dreams on a schedule.\n\nExample: reverie schedule list",
        {"list": "dreams.schedule_list", "add": "dreams.schedule_add", "remove": "dreams.schedule_remove"},
    ),
    "config": (
        "Show and change settings, and print the paths in use.\n\nExample: reverie config get",
        {
            "get": "config.config_get",
            "set": "config.config_set",
            "path": "config.config_path",
            "validate": "config.config_validate",
        },
    ),
    "space": (
        "Keep the memory of several people or tasks apart, each in a space of its own.\n\nExample: reverie space list",
        {"create": "spaces.space_create", "list": "spaces.space_list"},
    ),
    "token": (
        "Give programs access to one space by a token.\n\nExample: reverie token create --space work",
        {"create": "spaces.token_create", "list": "spaces.token_list", "revoke": "spaces.token_revoke"},
    ),
    "service": (
        "Run the daemon as a systemd user service.\n\nExample: reverie service install",
        {
            "install": "daemon.service_install",
            "uninstall": "daemon.service_uninstall",
            "status": "daemon.service_status",
        },
    ),
    "eval": (
        "Evaluate contexts and memories on transcripts.\n\nExample: reverie eval context session.jsonl",
        {
            "context": "evals.eval_context",
            "knowledge": "evals.eval_knowledge",
            "continuity": "evals.eval_continuity",
            "frequency": "evals.eval_frequency",
            "memories": "evals.eval_memories",
        },
    ),
}
_ALONE = {
    "archives": "list",
    "config": "get",
    "runs": "list",
    "schedule": "list",
    "space": "list",
    "sync": "status",
    "token": "list",
}
"""The commands that groups run when they are called without one."""
_ALONE_WITH_OPTIONS = {"brief": "brief.brief", "redactions": "redactions.redactions", "review": "review.review"}
"""Those with options of their own."""


def run(arguments: Sequence[str]) -> int:
    """Run one command line through the command tree and return its exit code; or complete it for a shell."""
    if instruction := os.environ.get(COMPLETE):
        from click.shell_completion import shell_complete

        return shell_complete(tree(), {}, "reverie", COMPLETE, instruction)

    def invoke() -> object:
        root = tree()
        with root.make_context("reverie", list(arguments)) as context:
            return root.invoke(context)

    return call_with_exit_code(_command_name(arguments), invoke, arguments)


def call_with_exit_code(command: str, action: Callable[[], object], arguments: Sequence[str]) -> int:
    """Call `action` and return the exit code; an error is printed as `<command>: <why>` with the next step."""
    json = "--json" in arguments
    try:
        result = action()
    except ReverieError as error:
        print_error(command, error, json=json)
        return error.exit_status
    except Exit as error:
        return error.exit_code
    except ClickException as error:
        usage = ValidationError(_said(error), hint=f"{command} --help shows its usage")
        print_error(command, usage, json=json)
        return usage.exit_status
    except (Abort, EOFError):
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


def _said(error: ClickException) -> str:
    if isinstance(error, click.NoSuchOption):
        near = sorted(error.possibilities or ())
        meant = f" (Possible options: {', '.join(near)})" if near else ""
        return f"No such option: {error.option_name}{meant}"
    return error.format_message().rstrip(".")


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


COMPLETE = "_REVERIE_COMPLETE"  # the variable with which the scripts of `reverie completion` ask
_PASSING_ON = ("run",)  # commands whose words behind the first one are another program's


class Commands(Mapping[str, click.Command]):
    """Commands by name, each imported when it is first asked for."""

    def __init__(self, build: Callable[[str], click.Command], names: Sequence[str]) -> None:
        self._build, self._names = functools.cache(build), names

    def __getitem__(self, name: str) -> click.Command:
        if name not in self._names:
            raise KeyError(name)
        return self._build(name)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class Group(click.Group):
    """A group of commands, which does something of its own where it is called without one.

    Its "no such command" error suggests the nearest command.
    """

    def __init__(self, name: str, help_text: str, commands: Commands, alone: Command | None, *, only: str = "") -> None:
        super().__init__(
            name,
            commands=commands,  # type: ignore[arg-type] # it is only read
            callback=self.run,
            params=[] if alone is None else [item for item in alone.params if only in ("", item.name)],
            help=help_text,
            invoke_without_command=True,
            subcommand_metavar="COMMAND [ARGS]...",
            context_settings={"help_option_names": ["-h", "--help"]},
        )
        self._alone = alone

    def run(self, **given: Any) -> Any:
        """Run the command that the group is by itself, or print those of it, where none is called."""
        context = click.get_current_context()
        if context.invoked_subcommand is not None:
            return None
        if self._alone is not None:
            return self._alone.run(**given)
        width = max(map(len, self.commands))
        say((self.help or "").partition("\n")[0])
        say()
        for name, command in self.commands.items():
            say(f"  {context.command_path} {name:<{width}}  {(command.help or '').partition(chr(10))[0]}")
        return None

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - as click calls it
        """Return the names in the order of the table."""
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command, or raise the error with a suggestion.

        Options that are given to the group, as in `brief --project NAME drop LINE`, are the command's own.
        """
        given = {name: value for name, value in ctx.params.items() if _is_given(ctx, name)}
        try:
            name, command, rest = super().resolve_command(ctx, args)
        except click.UsageError as error:
            if args[0] in self.commands:
                raise
            longer = [name for name in self.commands if name.startswith(f"{args[0]}-")]
            import difflib

            near = longer or difflib.get_close_matches(args[0], self.commands, n=1)
            meant = f". Did you mean {' or '.join(map(repr, near))}?" if near else ""
            raise click.UsageError(f"No such command {args[0]!r}{meant}") from error
        ctx.default_map = {name: given} if name else None
        return name, command, rest


class Root(Group):
    """The program itself: its own options hold for every command."""

    def run(self, *, version: bool = False, token: str | None = None) -> Any:  # type: ignore[override] # its options
        """Take the options, and print an overview where no command is called."""
        if token is not None:
            if not token.strip():  # `--token "$UNSET"` must not become the owner
                raise ValidationError("--token is empty", hint="reverie token create makes a token")
            os.environ[daemon_client.TOKEN_VARIABLE] = token
        if version:
            _command("version", _COMMANDS["version"]).run()
            raise Exit
        if click.get_current_context().invoked_subcommand is None:
            say(_OVERVIEW)
            say(_daemon_state())


def _root_options(
    version: Annotated[bool, Option("--version", "-V", help="Show the version and exit.")] = False,
    token: Annotated[
        str | None, Option("--token", metavar="TOKEN", help="Work in the space of this token; or set REVERIE_TOKEN.")
    ] = None,
) -> None:
    """Memory for AI agents that survives distillation.

    Exit codes: 0 done, 1 failed, 2 usage, 3 no daemon, 4 conflict, 5 refused.
    """


@functools.cache
def tree() -> Group:
    """Return the command tree."""

    def build(name: str) -> click.Command:
        return _group(name) if name in _GROUPS else _command(name, _COMMANDS[name])

    options = Command("reverie", _root_options)
    return Root("reverie", options.help or "", Commands(build, [*_COMMANDS, *_GROUPS]), options)


def _group(name: str) -> Group:
    help_text, table = _GROUPS[name]
    commands = Commands(lambda inner: _command(inner, table[inner]), [*table])
    if name in _ALONE_WITH_OPTIONS:
        return Group(name, help_text, commands, _command(name, _ALONE_WITH_OPTIONS[name]))
    alone = _command(name, table[_ALONE[name]]) if name in _ALONE else None
    return Group(name, help_text, commands, alone, only="json")


def _command(name: str, place: str) -> Command:
    module, _, function = place.partition(".")
    settings = {"allow_interspersed_args": False} if name in _PASSING_ON else {}
    return Command(name, getattr(import_module(f"reveried.cli.{module}"), function), **settings)


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
    return text if text.endswith((".", "?", "!")) else text + "."


def _is_given(context: click.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"
