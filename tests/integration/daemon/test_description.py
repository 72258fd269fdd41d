"""The daemon answers as its OpenAPI document says: drawn requests, schemathesis, and a generated client."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings

from support.daemon import Daemon, environment, scratch_home
from support.http_checks import add_token, check_serving
from support.openapi_cases import cases, mistakes_of
from support.soak import count
from support.tcp import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = "~/.cache/openapi-tools"
TOOLS = f"python3 -m venv {FOLDER} && {FOLDER}/bin/pip install schemathesis openapi-python-client ruff"
"""The command that installs what the two soak tests need; they are skipped without it."""

CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,"
    "response_schema_conformance"
)
STREAMS = {"/v1/events", "/mcp"}  # answers without an end; the errors of the second are those of JSON-RPC


@pytest.fixture(scope="module")
def filled(daemon: Daemon) -> list[str]:
    """Return ids of what the daemon has: threads, a memory, a document, an operation, a schedule and a job."""
    return fill(daemon)


def fill(daemon: Daemon) -> list[str]:
    """Create something of each kind; return the ids."""
    for number in range(3):
        daemon.ask("POST", "/v1/threads", {"id": f"t{number}"})
        messages = {"messages": [{"role": "user", "content": "count the boats"}, {"role": "assistant", "content": "9"}]}
        assert daemon.ask("POST", f"/v1/threads/t{number}/messages", messages).status == 200
    memory = daemon.ask("POST", "/v1/memories", {"content": "a b c", "document": "facts/a.md"}).json()["id"]
    note = daemon.ask("POST", "/v1/threads/t0/notes", {"content": "n", "category": "task"}).json()["id"]
    schedule = daemon.ask("POST", "/v1/schedules", {"cron": "0 3 * * *"}).json()["id"]
    job = daemon.ask("POST", "/v1/dreams", {"dryRun": True}).json()["job"]
    return ["t0", "t1", "t2", memory, note, schedule, job, "facts/a.md", "1", "memory_list", "memory_read"]


def test_drawn_requests_are_answered_as_described(daemon: Daemon, filled: list[str]) -> None:
    """Random valid and invalid requests get an answer that the OpenAPI document describes, and never a 5xx."""
    described = daemon.ask("GET", "/v1/openapi.json").json()

    @settings(max_examples=count(300, 20_000), deadline=None)
    @given(cases(described, filled, without=STREAMS))
    def check(case: Any) -> None:
        answer = daemon.ask(case.method.upper(), case.target, case.body, case.headers)
        assert mistakes_of(described, case, answer) == []

    check()
    check_serving(daemon)


def tool(name: str) -> str:
    """Return the path of a tool, or skip the test."""
    beside = Path(FOLDER).expanduser() / "bin" / name
    found = shutil.which(name) or (str(beside) if beside.exists() else None)
    if found is None:
        pytest.skip(f"{name} is not installed: {TOOLS}")
    return found


@pytest.fixture
def over_tcp() -> Iterator[tuple[Daemon, str]]:
    """Yield a daemon with a listener on loopback for the token `tok`, and its URL."""
    port = free_port()
    with scratch_home() as home:
        daemon = Daemon(home, environment(home, REVERIE_DAEMON_TCP=f"127.0.0.1:{port}")).start()
        try:
            daemon.stop()
            add_token(home, "tok", "default", "tester")
            daemon.start()
            fill(daemon)
            yield daemon, f"http://127.0.0.1:{port}"
        finally:
            daemon.kill()


@pytest.mark.skipif(not os.environ.get("REVERIE_SOAK"), reason="a campaign of minutes: make soak")
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_schemathesis_finds_nothing(over_tcp: tuple[Daemon, str], tmp_path: Path, seed: int) -> None:
    """Schemathesis finds no undocumented answer and no status of 500 or more, with 100 examples an operation."""
    daemon, url = over_tcp
    command = [
        tool("st"),
        "--no-color",
        "run",
        f"{url}/v1/openapi.json",
        "--url",
        url,
        "-H",
        "Authorization: Bearer tok",
    ]
    command += ["--max-examples", "100", "--seed", str(seed), "--checks", CHECKS, "--request-timeout", "60"]
    command += [part for path in STREAMS for part in ("--exclude-path", path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-6_000:]
    assert "No issues found" in done.stdout or "0 failures" in done.stdout or "failures" not in done.stdout
    check_serving(daemon)


@pytest.mark.skipif(not os.environ.get("REVERIE_SOAK"), reason="generates a client: make soak")
def test_a_generated_client_calls_everything(over_tcp: tuple[Daemon, str], tmp_path: Path) -> None:
    """openapi-python-client makes a client without a warning, and every operation of it gets a parsed answer."""
    daemon, url = over_tcp
    generator = tool("openapi-python-client")
    (tmp_path / "openapi.json").write_bytes(daemon.ask("GET", "/v1/openapi.json").body)
    command = [generator, "generate", "--path", "openapi.json", "--output-path", "made", "--meta", "none"]
    env = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}  # ruff formats what is made
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Warning" not in done.stdout, done.stdout
    driver = Path(__file__).parents[2] / "support" / "generated_client.py"
    python = Path(generator).resolve().parent / "python3"
    called = subprocess.run([python, driver, tmp_path, url], capture_output=True, text=True, check=False)
    assert called.returncode == 0, called.stdout + called.stderr
    paths = daemon.ask("GET", "/v1/openapi.json").json()["paths"]
    operations = sum(len(item) for path, item in paths.items() if path not in STREAMS)
    assert f"called {operations} operations" in called.stdout
