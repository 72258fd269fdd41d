"""Tests of the hook program, compiled and as a script: it exits with 0, prints no error, and waits only briefly."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile

import pytest

from reverie import hook_program
from reveried.plugin import files, hook_script, write
from support.daemon import Daemon, running_daemon
from support.mcp_bridge import bridge
from support.story import LiveSession
from support.waiting import wait_until

Program = list[str]
ANSWERING = b"answering"


@pytest.fixture(params=["compiled", "script"])
def program(request: pytest.FixtureRequest, tmp_path: Path) -> Program:
    """The command that starts the hook program, in a folder without the file that names the socket."""
    if request.param == "script":
        return [sys.executable, "-IS", hook_script.__file__]
    path = tmp_path / "bin" / "reverie-hook"
    path.parent.mkdir()
    path.write_bytes(hook_program.program())
    path.chmod(0o755)
    return [str(path)]


@pytest.fixture
def silent() -> Iterator[tuple[Path, list[bytes]]]:
    """A daemon's socket that accepts connections and does not answer, and the requests that it received.

    It answers while the first of them is ANSWERING.
    """
    folder = Path(os.environ.get("TMPDIR", "/tmp")) / f"rv-silent-{os.getpid()}"  # noqa: S108 - a socket's path is short
    folder.mkdir(exist_ok=True)
    path, received = folder / "reverie.sock", list[bytes]()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()
        peers = []

        def accept() -> None:
            while True:
                try:
                    peer, _ = server.accept()
                except OSError:
                    return
                peers.append(peer)
                received.append(peer.recv(100))
                if received[:1] == [ANSWERING]:
                    with suppress(OSError):  # the program may have given up
                        peer.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")
                        peer.shutdown(socket.SHUT_WR)

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield path, received
        server.shutdown(socket.SHUT_RDWR)
        thread.join()
        for peer in peers:
            peer.close()
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()


def age(path: Path, seconds: float) -> None:
    """Set a file's modification time back by some seconds."""
    times = path.stat()
    os.utime(path, (times.st_atime, times.st_mtime - seconds))


def run(program: Program, data: bytes, *words: str, **env: str) -> str:
    """Run the hook program and return its output; assert that it exits with 0 and prints no error.

    Its input is a file: from a pipe it would have no more time to read it than this process has to write it, 0.3 s.
    """
    base = {name: value for name, value in os.environ.items() if not name.startswith(("REVERIE_", "CLAUDE", "XDG_"))}
    with TemporaryFile() as given:
        given.write(data)
        given.seek(0)
        done = subprocess.run([*program, *words], stdin=given, env=base | env, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


def printed(program: Program, data: bytes, *words: str, **env: str) -> str:
    """Run the hook program until it prints something, and return that: a busy daemon may answer too late for it."""
    found: list[str] = []

    def is_answered() -> bool:
        found.append(run(program, data, *words, **env))
        return found[-1] != ""

    wait_until(is_answered, "an answer in time")
    return found[-1]


def test_the_answer_is_printed(program: Program, daemon: Daemon, tmp_path: Path) -> None:
    """The hook program prints the part asked for; the session's process is its parent, or that of CLAUDE_PID."""
    session = LiveSession(tmp_path, tmp_path, 91)
    data = json.dumps(session.hook("SessionStart", source="startup")).encode()
    home = {"REVERIE_HOME": str(daemon.home)}
    out = json.loads(printed(program, data, "claude-code", "SessionStart", "state", **home))
    assert out["hookSpecificOutput"]["additionalContext"].startswith("# Reverie")
    assert run(program, data, "claude-code", "SessionStart", "summary", **home) == ""

    def pid() -> int | None:
        items = daemon.ask("GET", "/v1/sessions").json()["items"]
        return next((int(item["pid"]) for item in items if item["session"] == session.id), None)

    wait_until(lambda: pid() == os.getpid(), "the session")
    printed(program, data, "claude-code", "SessionStart", "state", CLAUDE_PID="1", **home)
    wait_until(lambda: pid() == 1, "the session of another process")


def test_a_call_of_the_distiller_is_not_recorded(program: Program, daemon: Daemon, tmp_path: Path) -> None:
    """A client that the daemon runs to ask a model records no session and prints nothing."""
    session = LiveSession(tmp_path, tmp_path, 93)
    data = json.dumps(session.hook("SessionStart", source="startup")).encode()
    home = {"REVERIE_HOME": str(daemon.home)}
    assert run(program, data, "claude-code", "SessionStart", "state", **home, REVERIE_MODEL_CALL="1") == ""
    assert session.id not in {item["session"] for item in daemon.ask("GET", "/v1/sessions").json()["items"]}


def made_space(daemon: Daemon) -> str:
    """Create the space `work` if it does not exist, and return its name."""
    assert daemon.ask("POST", "/v1/spaces", {"id": "work"}).status in {200, 201, 409}
    return "work"


def test_a_token_chooses_the_space(program: Program, daemon: Daemon, tmp_path: Path) -> None:
    """With a space's token the hook's session is not in the default space; with a wrong token nothing is printed."""
    token = daemon.ask("POST", "/v1/tokens", {"space": made_space(daemon)}).json()["token"]
    session = LiveSession(tmp_path, tmp_path, 92)
    data = json.dumps(session.hook("SessionStart", source="startup")).encode()
    home = {"REVERIE_SOCKET": str(daemon.socket)}
    assert run(program, data, "claude-code", "SessionStart", **{**home, "REVERIE_TOKEN": "wrong"}) == ""
    assert printed(program, data, "claude-code", "SessionStart", **{**home, "REVERIE_TOKEN": token})
    assert session.id not in {item["session"] for item in daemon.ask("GET", "/v1/sessions").json()["items"]}


def test_bad_input_prints_nothing(program: Program, daemon: Daemon) -> None:
    """Truncated or huge JSON, an unknown event or client, or missing arguments make the hook program print nothing."""
    home = {"REVERIE_HOME": str(daemon.home)}
    stop = b'{"session_id": "a", "hook_event_name": "Stop"}'
    assert run(program, b'{"session_id": "a"', "claude-code", "Stop", **home) == ""
    assert run(program, b'{"a": "' + b"x" * 10_000_000, "claude-code", "Stop", **home) == ""
    assert run(program, b'{"session_id": "a", "hook_event_name": "Nap"}', "claude-code", "Nap", **home) == ""
    assert run(program, stop, "emacs", "Stop", **home) == ""
    assert run(program, stop, "../../etc", "Stop", **home) == ""
    assert run(program, stop, **home) == ""
    assert run(program, stop, "claude-code", "Stop") == ""


def test_a_daemon_that_is_down_is_no_failure(program: Program, tmp_path: Path) -> None:
    """If no daemon runs, the hook program prints nothing and writes no file about it."""
    assert run(program, b"{}", "claude-code", "Stop", REVERIE_SOCKET=str(tmp_path / "no.sock")) == ""
    assert list(tmp_path.glob("hook.*")) == []


def until_of(request: bytes) -> float:
    """Return the time in a request until which its answer is read, in seconds since 1970."""
    found = re.search(rb"[?&]until=([0-9]+)", request)
    assert found is not None, request
    return int(found[1]) / 1000


def test_a_daemon_that_hangs_gets_every_hook(program: Program, silent: tuple[Path, list[bytes]]) -> None:
    """Every hook is sent, whatever came of those before; after one without an answer a client waits less for seconds.

    The start of a session is waited for in full, and another client's hooks are not concerned.
    """
    path, received = silent

    def wait_s(event: str, client: int) -> float:
        """Run a hook of a client that gets no answer; return for how long it says that it waits, from its spawn on."""
        began, before = time.time(), len(received)
        assert run(program, b"{}", "claude-code", event, REVERIE_SOCKET=str(path), CLAUDE_PID=str(client)) == ""
        wait_until(lambda: len(received) > before, "the request")
        return until_of(received[-1]) - began

    def has_marked(client: int) -> bool:
        return path.with_name(f"hook.late.{client}").exists()

    # A program that this machine starts late says more, and never less.
    assert wait_s("Stop", 1) >= 0.3
    assert has_marked(1)
    wait_until(lambda: 0.05 <= wait_s("Stop", 1) < 0.3, "a short wait")
    assert wait_s("SessionStart", 1) >= 0.3
    assert wait_s("Stop", 2) >= 0.3
    age(path.with_name("hook.late.1"), 6)
    assert wait_s("Stop", 1) >= 0.3
    assert len(list(path.parent.glob("hook.late.*"))) == 2


def test_an_answer_ends_the_short_waits(program: Program, silent: tuple[Path, list[bytes]]) -> None:
    """A client whose hook has had an answer has no mark, so its next one waits in full."""
    path, received = silent
    env = {"REVERIE_SOCKET": str(path), "CLAUDE_PID": "1"}
    assert run(program, b"{}", "claude-code", "Stop", **env) == ""
    mark = path.with_name("hook.late.1")
    assert mark.exists()
    received[:] = [ANSWERING]

    def is_answered() -> bool:
        assert run(program, b"{}", "claude-code", "Stop", **env) == ""
        return not mark.exists()

    wait_until(is_answered, "an answer in time")


def test_an_input_without_an_end_is_given_up(program: Program, daemon: Daemon) -> None:
    """The hook program exits although its input is never closed, and does not mark that as an unanswered request."""
    env = os.environ | {"REVERIE_HOME": str(daemon.home)}
    with subprocess.Popen([*program, "claude-code", "Stop"], stdin=subprocess.PIPE, env=env) as process:
        assert process.wait(60) == 0
    assert list(daemon.socket.parent.glob("hook.*")) == []


def test_the_plugin_knows_its_socket(tmp_path: Path) -> None:
    """Without environment variables a plugin's hook and tools ask the daemon whose socket was given."""
    with running_daemon() as daemon:
        contents = files("claude-code", command=["reverie"], socket=daemon.socket, env={}, python=sys.executable)
        write(tmp_path / "plugin", contents)
        session = LiveSession(tmp_path, tmp_path, 93)
        data = json.dumps(session.hook("SessionStart", source="startup")).encode()
        program = [str(tmp_path / "plugin" / "bin" / "reverie-hook")]
        assert printed(program, data, "claude-code", "SessionStart", "state")

        server = json.loads(contents[".mcp.json"])["mcpServers"]["reverie"]
        env = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], **server["env"]}  # as clients start servers
        with bridge(env, tmp_path, stateless=True) as tools:
            text, is_error = tools.call("remember", {"fact": "The ferry leaves at seven"})
        assert not is_error, text
