"""Help, suggestions, exit codes, and `reverie` without a command."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from reverie.errors import Conflict, Forbidden, ReverieError, ValidationError
from reveried.cli import daemon_client, main
from reveried.cli import tree as cli_tree
from reveried.cli.tree import tree
from support.cli import Cli, Routes
from support.fake_daemon import FakeDaemon, envelope

COMMANDS = (
    "serve up down status logs doctor demo import threads thread projects context distill reflect dream search recall "
    "memories remember forget brief note log show diff undo rollback sync archives schedule backup restore check "
    "compact ignore pause resume install run proxy redactions review runs space token service config eval "
    "completion version mcp"
)


def test_the_documented_commands_are_there() -> None:
    """The command tree has exactly these commands."""
    assert set(tree().commands) == set(COMMANDS.split())


@pytest.mark.parametrize(
    ("group", "command"),
    [
        ("schedule", "list"),
        ("space", "list"),
        ("token", "list"),
        ("archives", "list"),
        ("sync", "status"),
        ("config", "get"),
    ],
)
def test_a_group_that_lists(cli: Cli, group: str, command: str) -> None:
    """Without a command the group does what its first command does, also with --json, and without a daemon."""
    for words in ((group,), (group, "--json")):
        alone, spelled = cli(*words), cli(group, command, *words[1:])
        assert (alone.code, alone.out) == (spelled.code, spelled.out)
        assert alone.err.partition(": ")[2] == spelled.err.partition(": ")[2]


def test_every_command_has_one_sentence_an_example_and_json() -> None:
    """Help is one sentence and one example; every command but `serve`, `mcp` and `run` has --json."""
    for name, command in tree().commands.items():
        for words, entry in {
            name: command,
            **{f"{name} {n}": c for n, c in getattr(command, "commands", {}).items()},
        }.items():
            sentence, _, rest = (entry.help or "").partition("\n\n")
            assert "\n" not in sentence
            assert sentence.endswith(".")
            assert re.search(rf"^Example: reverie {words.split()[0]}\b", rest), words
            if not hasattr(entry, "commands") and name not in ("serve", "mcp", "run"):
                assert any("--json" in parameter.opts for parameter in entry.params), words


@pytest.mark.parametrize(
    "words",
    [
        ("--help",),
        ("-h",),
        ("threads", "-h"),
        ("eval", "knowledge", "-h"),
        ("import", "--help"),
        ("undo", "--help"),
        ("eval", "context", "--help"),
    ],
)
def test_help_exits_with_0(cli: Cli, words: tuple[str, ...]) -> None:
    """Help is printed to standard output, and the exit code is 0."""
    done = cli(*words)
    assert (done.code, done.err) == (0, "")
    assert "Example: " in done.out or "Commands:" in done.out


def test_overview_with_wrong_settings(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Error and hint are each printed with exactly one end mark."""

    def fail() -> None:
        raise ValidationError("The file is odd.", hint="Did you mean 'even'?")

    monkeypatch.setattr(daemon_client, "client", fail)
    assert cli().out.endswith("Now: The file is odd. Next: Did you mean 'even'?\n")


def test_overview(cli: Cli) -> None:
    """`reverie` alone prints an introduction with the first commands, and that no daemon is running."""
    done = cli()
    assert done.code == 0
    assert "memory that survives" in done.out
    assert "reverie demo" in done.out
    assert "Now: the daemon is not running" in done.out


@pytest.mark.parametrize(
    ("words", "says", "next_"),
    [
        (("statsu",), "Did you mean 'status'?", "reverie --help"),
        (("memorys",), "Did you mean 'memories'?", "reverie --help"),
        (("zzz",), "No such command 'zzz'\n", "reverie --help"),
        (("config", "gte"), "Did you mean 'get'?", "reverie config --help"),
        (("import", "claude"), "Did you mean 'claude-code' or 'claude-memory'?", "reverie import --help"),
        (("diff",), "OPERATION", "reverie diff --help"),
        (("search", "x", "--in", "nothing"), "--in cannot be 'nothing'", "messages"),
        (("threads", "--colour"), "No such option", "reverie threads --help"),
        (("threads", "--limit", "many"), "must be a whole number", "reverie threads --help"),
        (("show",), "ID|PATH", "reverie show --help"),
        (("memories", "--type", "virtue"), "--type cannot be 'virtue'", "give one of skill, fact, "),
        (("recall", "x", "--type", "virtue"), "--type cannot be 'virtue'", "give one of skill, fact, "),
        (("context", "thr_1", "--placement", "beside"), "--placement cannot be 'beside'", "give one of system, late"),
        (("eval", "context"), "Missing argument 'FILE'", "reverie eval context --help"),
    ],
)
def test_a_wrong_command_line(cli: Cli, words: tuple[str, ...], says: str, next_: str) -> None:
    """A usage error suggests the nearest command or names the help, and exits with 2."""
    done = cli(*words)
    assert (done.code, done.out) == (2, "")
    assert says in done.err
    assert next_ in done.err.splitlines()[-1]
    assert done.err.splitlines()[-1].startswith("next: ")


def test_without_a_daemon(cli: Cli) -> None:
    """Commands that need the daemon exit with 3 and name `reverie up`; with --json as an error envelope."""
    for words in (("status",), ("threads",), ("recall", "x"), ("dream",), ("undo",), ("schedule", "list"), ("log",)):
        done = cli(*words)
        assert done.code == 3
        assert done.err.endswith("next: run `reverie up`\n")
        assert done.err.startswith("reverie " + words[0])
    done = cli("status", "--json")
    assert (done.code, done.err) == (3, "")
    assert done.json["error"] == "daemon_not_running"
    assert done.json["details"]["hint"] == "run `reverie up`"


@pytest.mark.parametrize(
    ("code", "status", "exit_code"),
    [
        ("not_found", 404, 1),
        ("validation_error", 400, 2),
        ("conflict", 409, 4),
        ("forbidden", 403, 5),
        ("busy", 503, 1),
    ],
)
@pytest.mark.usefixtures("daemon")
def test_errors_of_the_daemon(cli: Cli, routes: Routes, code: str, status: int, exit_code: int) -> None:
    """Each error code has its exit code; message and hint are those of the daemon."""
    routes["GET /v1/threads"] = envelope(code, "It was refused.", status=status, hint="try harder")
    done = cli("threads")
    assert (done.code, done.err) == (exit_code, "reverie threads: It was refused.\nnext: try harder\n")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (Conflict("c"), 4),
        (Forbidden("f"), 5),
        (KeyboardInterrupt(), 130),
        (OSError(28, "No space left", "f"), 1),
        (OSError("odd"), 1),
    ],
)
def test_exceptions_become_exit_codes(capsys: pytest.CaptureFixture[str], error: BaseException, code: int) -> None:
    """Any exception ends in a message and an exit code, without a traceback."""

    def fail() -> None:
        raise error

    assert cli_tree.call_with_exit_code("reverie x", fail, []) == code
    errors = capsys.readouterr().err
    assert errors == "" if isinstance(error, KeyboardInterrupt) else errors.startswith("reverie x: ")
    assert "next: " in errors or isinstance(error, ReverieError | KeyboardInterrupt)


def test_closed_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    """A closed pipe exits with 1 without a message, and standard output is redirected to /dev/null."""
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as closed:
        monkeypatch.setattr(sys, "stdout", closed)

        def fill() -> None:
            raise BrokenPipeError

        assert cli_tree.call_with_exit_code("reverie x", fill, []) == 1
        assert os.fstat(closed.fileno()).st_rdev == Path(os.devnull).stat().st_rdev


def test_reader_that_exits_early() -> None:
    """`reverie config get | true` prints no error."""
    command = f"{sys.executable} -m reveried.cli config get | true; exit ${{PIPESTATUS[0]}}"
    for _ in range(2):
        done = subprocess.run(["bash", "-c", command], check=False, capture_output=True, text=True, env=_environment())
        assert done.returncode in (0, 1)
        assert done.stderr == ""


def test_module() -> None:
    """`python -m reveried.cli` runs the command."""
    done = subprocess.run(
        [sys.executable, "-m", "reveried.cli", "version"],
        check=False,
        capture_output=True,
        text=True,
        env=_environment(),
    )
    assert done.returncode == 0
    assert done.stdout.startswith("reverie 0.1.0 ")


def test_serve(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`reverie serve` passes the environment to the daemon, and its exit code on."""
    monkeypatch.chdir(tmp_path)
    environments: list[object] = []

    def serves(env: object) -> int:
        environments.append(env)
        return 78

    monkeypatch.setattr("reveried.app.run", serves)
    assert main(["serve"]) == 78
    assert main(["serve", "--help"]) == 0
    assert environments == [os.environ]
    assert Path.cwd() == Path("/")


def _environment() -> dict[str, str]:
    return {**os.environ, "REVERIE_HOME": "/nonexistent/reverie"}


def test_protocol_header(daemon: FakeDaemon, cli: Cli) -> None:
    """A command sends its protocol version to the socket of this home."""
    cli("status")
    assert daemon.requests[0].headers["reverie-protocol"] == "1"
