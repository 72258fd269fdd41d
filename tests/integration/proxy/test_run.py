"""`reverie run` and `reverie proxy`: environment, arguments, exit code and signals; a small program is the client."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reveried.proxy.run import no_proxy_for_loopback, run_client
from support.daemon import environment, scratch_home
from support.model_server import ModelServer, raw
from support.upstream import WAIT_S, chunked, server_before

RUN = (sys.executable, "-m", "reveried.cli", "run")
ASK = """\
import os, sys, urllib.request
print(sys.argv[1:])
url = os.environ["ANTHROPIC_BASE_URL"]
with urllib.request.urlopen(url + "/v1/models") as answer:
    print(answer.read().decode(), os.environ["ANTHROPIC_API_KEY"], os.environ.get("no_proxy"))
sys.exit(7)
"""
WAIT = """\
import signal, sys
def end(number, frame):
    print("got", number, flush=True)
    sys.exit(9)
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, end)
print("ready", flush=True)
signal.pause()
"""


@pytest.fixture
def home() -> Iterator[Path]:
    """A home without a daemon."""
    with scratch_home() as folder:
        yield folder


@pytest.fixture(scope="module")
def models() -> Iterator[ModelServer]:
    """A provider."""
    with ModelServer() as running:
        yield running


def client(folder: Path, program: str) -> str:
    """Return the path of a program called `claude`."""
    path = folder / "claude"
    path.write_text(f"#!{sys.executable}\n{program}")
    path.chmod(0o700)
    return str(path)


def env(home: Path, models: ModelServer, **more: str) -> dict[str, str]:
    """Return an environment in which the client's provider is ours."""
    return {**environment(home), "ANTHROPIC_BASE_URL": models.url, "ANTHROPIC_API_KEY": "key-of-ann", **more}


def test_a_client_is_started_with_a_proxy(home: Path, tmp_path: Path, models: ModelServer) -> None:
    """All words after the client's name are the client's, its exit code is passed on, and no file has its key."""
    name = client(tmp_path, ASK)
    words = ["-p", "--max-tokens", "3", "--help", "two words"]
    proxies = {"HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": "example.org"}
    done = subprocess.run([*RUN, name, *words], env=env(home, models, **proxies), capture_output=True, text=True)  # noqa: PLW1510
    assert done.returncode == 7, done.stderr
    assert done.stdout.splitlines() == [
        repr(words),
        '{"data": [], "models": []} key-of-ann example.org,127.0.0.1,localhost',
    ]
    assert "the daemon is not running" in done.stderr
    assert "reverie up" in done.stderr
    written = [path for path in home.rglob("*") if path.is_file()]
    assert [path.name for path in written] == ["proxy.log"]
    assert written[0].stat().st_mode & 0o077 == 0
    assert "key-of-ann" not in written[0].read_text()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_go_to_the_client(home: Path, tmp_path: Path, models: ModelServer, number: int) -> None:
    """A signal to `reverie run` reaches the client, and the client's own exit code is returned."""
    with subprocess.Popen(
        [*RUN, client(tmp_path, WAIT)],
        env=env(home, models),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(number)
        assert process.stdout.read() == f"got {number}\n".encode()
        assert process.wait() == 9


def test_a_client_that_a_signal_ends(home: Path, tmp_path: Path, models: ModelServer) -> None:
    """If SIGKILL ends the client, the exit code is 137, as in a shell."""
    name = client(tmp_path, "import os\nos.kill(os.getpid(), 9)\n")
    assert subprocess.run([*RUN, name], env=env(home, models), capture_output=True, check=False).returncode == 137


def test_a_signal_after_the_client_has_ended(models: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A SIGHUP after the client has ended, as of a closing terminal, does not change the exit code passed on."""
    wait = os.waitpid

    def wait_after_a_signal(pid: int, options: int) -> tuple[int, int]:
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        signal.raise_signal(signal.SIGHUP)
        return wait(pid, options)

    monkeypatch.setattr(os, "waitpid", wait_after_a_signal)
    words = [sys.executable, "-c", "raise SystemExit(7)"]
    assert run_client(words, lambda: server_before(models.url), lambda _: os.environ) == 7


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["vim"], 2, "there is no proxy for 'vim'"),
        (["/nonexistent/claude"], 1, "is not installed"),
        (["--upstream", "nowhere", "claude"], 2, "what is given is no address of a provider"),
        (["--upstream", "http://[bad", "claude"], 2, "what is given is no address of a provider"),
        (["--max-tokens", "100", "claude"], 2, "--max-tokens is less than 8000"),
    ],
)
def test_what_cannot_be_started(home: Path, tmp_path: Path, words: list[str], code: int, says: str) -> None:
    """A client that cannot be started is an error with its exit code and reason; no program is run."""
    client(tmp_path, "raise SystemExit(99)")
    path = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run([*RUN, *words], env=environment(home, **path), capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert says in done.stderr


def test_a_proxy_alone(home: Path, models: ModelServer) -> None:
    """`reverie proxy` prints the `export` line to paste, ends on SIGTERM, and names a port that is in use."""
    words = [sys.executable, "-m", "reveried.cli", "proxy", "claude", "--upstream", models.url]
    pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": environment(home)}
    with subprocess.Popen(words, **pipes) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        name, _, url = line.strip().partition("=")
        assert name == "export ANTHROPIC_BASE_URL"
        port = url.removeprefix("http://127.0.0.1:").partition("/")[0]
        taken = subprocess.run(
            [*words, "--port", port], capture_output=True, text=True, check=False, env=environment(home)
        )
        assert (taken.returncode, f"cannot listen on 127.0.0.1:{port}" in taken.stderr) == (2, True)
        process.terminate()
        assert process.wait() == 0


def test_a_proxy_that_is_killed_in_the_middle_of_a_stream(home: Path) -> None:
    """The client has what came, and the end of its connection; it can see that the stream is not whole."""
    first = chunked(b"event: message_start\n\n")
    with ModelServer(raw(first)) as models:
        words = [sys.executable, "-m", "reveried.cli", "proxy", "claude", "--upstream", models.url]
        pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True, "env": environment(home)}
        with subprocess.Popen(words, **pipes) as process:
            assert process.stdout is not None
            host, _, path = process.stdout.readline().strip().partition("http://")[2].partition("/")
            with socket.create_connection(("127.0.0.1", int(host.partition(":")[2])), timeout=WAIT_S) as peer:
                peer.sendall(f"POST /{path}/v1/messages HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\n\r\n".encode())
                data = b""
                while len(data) < len(first):
                    data += peer.recv(1 << 16)
                process.kill()
                assert (data, peer.recv(1)) == (first, b"")
        assert models.ended.acquire(timeout=WAIT_S)


def test_a_proxy_of_the_environment_is_not_between() -> None:
    """NO_PROXY excludes the loopback address only if the environment names a proxy; else nothing is set."""
    assert no_proxy_for_loopback({}) == {}
    assert no_proxy_for_loopback({"http_proxy": "x"}) == dict.fromkeys(("no_proxy", "NO_PROXY"), "127.0.0.1,localhost")
