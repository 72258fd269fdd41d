"""Commands in their plain form: they load little, and print what the command tree prints."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from reverie import wire
from reverie.client import Client
from reveried.cli import fast, main
from support.cli import use_daemon
from support.daemon import running_daemon
from support.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.daemon import Daemon

HEAVY = {"msgspec", "orjson", "typer", "pydantic", "rich", "asyncio", "reverie.wire", "reverie.client"}
MODULES_MAX = 125  # of all modules, 30 of which the interpreter loads by itself; the command tree has 370
MOMENT = re.compile(r"up \d+ \w+|note_\w+|[\dT:-]{10,}[\d:.]*Z?|\d+ (?:document|operation|event)s?|[\d.]+(?=,?\n)")
PLAIN = (
    "status",
    "status --json",
    "sync status",
    "sync status --json",
    "recall when do we deploy",
    "recall --json -n 3 when do we deploy --type fact",
    "recall nothing-like-this",
    "recall do ducks deploy dungarees",
    "recall do ducks deploy dungarees --json",
    "recall --project . when do we test",
    "recall when do we test --project /nowhere/at/all",
    "remember we deploy on Thursdays",
    "remember we deploy on Thursdays --json",
    "remember we test on Fridays --project .",
    "note thr-1 ask Ann first --category task",
)
NOT_PLAIN = (
    "recall",
    "recall x --limit 0",
    "recall x --type nonsense",
    "recall x --frequency 3",
    "recall x --project nonsense",
    "recall x --project ../other",
    "remember we test on Fridays --project nonsense",
    "remember ",
    "note thr-none words",
    "note thr-1 words --category nonsense",
    "status --help",
    "status now",
    "sync sideways",
)


@pytest.fixture(scope="module")
def daemon() -> Iterator[Daemon]:
    with running_daemon() as started:
        with Client(started.socket) as client:
            client.remember(wire.CreateMemory(content="we deploy on Thursdays", type="fact"))
            client.remember(wire.CreateMemory(content="we test on Fridays", type="fact", project=str(Path.cwd())))
            client.remember(wire.CreateMemory(content="grussformel: “Schöne Grüße”", type="skill"))
            client.create_thread(id="thr-1")
        yield started


@pytest.fixture(autouse=True)
def _environment(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    use_daemon(daemon, monkeypatch)
    monkeypatch.setenv("NO_COLOR", "1")


def outcome(words: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """Return exit code and output of a command line, without what differs from moment to moment."""
    capsys.readouterr()
    code = main(words.split(" "))
    output = capsys.readouterr()
    return code, MOMENT.sub("…", output.out), output.err


@pytest.mark.parametrize("words", PLAIN)
def test_a_plain_command_prints_what_the_tree_prints(
    words: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    quickly = outcome(words, capsys)
    monkeypatch.setattr(fast, "run", lambda _: None)
    assert outcome(words, capsys) == quickly
    assert quickly[0] == 0


@pytest.mark.parametrize("words", NOT_PLAIN)
def test_any_other_form_is_left_to_the_tree(
    words: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert fast.run(words.split(" ")) is None
    assert capsys.readouterr().out == ""
    code, _, error = outcome(words, capsys)
    monkeypatch.setattr(fast, "run", lambda _: None)
    assert outcome(words, capsys)[0] == code
    assert error or code == 0


@pytest.mark.parametrize(
    "words",
    [
        "status",
        "recall when do we deploy",
        "sync status",
        "remember we deploy on Thursdays",
        "recall when do we test --project .",
    ],
)
def test_a_plain_command_loads_few_modules(words: str, daemon: Daemon) -> None:
    # A daemon that tells its health later than a second, as on a busy machine, is left to the command tree.
    wait_until(lambda: is_plain(loaded(words, daemon)), "a plain command that loads few modules")


def is_plain(modules: list[str]) -> bool:
    """Return True if no heavy module is among these, and they are few."""
    return HEAVY.isdisjoint(modules) and len(modules) <= MODULES_MAX


def loaded(words: str, daemon: Daemon) -> list[str]:
    """Run a command and return the modules that it has loaded."""
    program = (
        "import sys; from reveried.cli import main; code = main(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"{program}; sys.exit(code)", *words.split(" ")],
        env={name: value for name, value in daemon.env.items() if not name.startswith("COVERAGE")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout
    return done.stderr.split()


def test_a_daemon_that_does_not_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fast command without an answer in time exits with 1 and says so, with the command to run next."""
    monkeypatch.setattr(fast, "TIMEOUT_S", 0.05)
    monkeypatch.setattr(fast, "_socket_path", lambda: str(tmp_path / "silent"))
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as silent:
        silent.bind(str(tmp_path / "silent"))
        silent.listen()
        for words, hint in (("remember we deploy", "then `reverie log` to see if it was stored"), ("recall it", "")):
            code, _, error = outcome(words, capsys)
            assert code == 1
            assert "the daemon did not answer within 0.05 s" in error
            assert f"run `reverie status`{', ' if hint else ''}{hint}\n" in error


@pytest.mark.parametrize("words", ["recall grussformel", "memories"])
def test_a_letter_that_the_terminal_lacks_is_a_question_mark(words: str, daemon: Daemon) -> None:
    """In the C locale without UTF-8 mode the output is ASCII."""
    done = subprocess.run(
        [sys.executable, "-c", "import sys; from reveried.cli import main; sys.exit(main())", *words.split(" ")],
        env=daemon.env | {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C", "PYTHONIOENCODING": ""},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"grussformel: ?Sch?ne Gr??e?" in done.stdout
