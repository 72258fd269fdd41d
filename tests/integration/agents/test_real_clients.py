"""The real Claude Code and Codex before a local server: what their next request holds. Skipped where not installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from reverie.client import Client as Reverie
from support.daemon import Daemon, running_daemon
from support.model_server import ModelServer, Step, answer
from support.pages import stored_messages
from support.waiting import wait_until

FOLDER = Path(os.environ.get("AGENT_CLIENTS", Path.home() / ".cache" / "agent-clients"))
CLAUDE = ("@anthropic-ai/claude-code", "2.1.330", "claude-code-*/claude")
CODEX = ("@openai/codex", "0.169.0", "codex-*/vendor/*/bin/codex")
_LIMIT_S = 120.0


def needs(client: tuple[str, str, str]) -> pytest.MarkDecorator:
    """Return the mark that skips a test where a client is not installed, with the command that installs it."""
    package, version, _ = client
    why = f"not installed: npm install --force --prefix {FOLDER} {package}@{version} (or set AGENT_CLIENTS)"
    return pytest.mark.skipif(_program(client) is None, reason=why)


def _program(client: tuple[str, str, str]) -> str | None:
    """Return the native program of a client in FOLDER, of exactly the version that the tests are for."""
    package, version, pattern = client
    scope = FOLDER / "node_modules" / package.partition("/")[0]
    manifest = FOLDER / "node_modules" / package / "package.json"
    if not manifest.is_file() or json.loads(manifest.read_text())["version"] != version:
        return None
    return next((str(path) for path in sorted(scope.glob(pattern)) if os.access(path, os.X_OK)), None)


class Client:
    """One client with its home folder, before a daemon and a server of models."""

    def __init__(self, name: str, program: str, home: Path, env: dict[str, str]) -> None:
        self.name, self.program, self.home = name, program, home
        self.before: list[str] = []  # words of a command that starts the program
        hidden = ("CLAUDE", "CODEX", "ANTHROPIC", "OPENAI", "REVERIE_")
        base = {key: value for key, value in os.environ.items() if not key.startswith(hidden)}
        self.env = base | {"HOME": str(home)} | env

    def install(self, daemon: Daemon) -> None:
        """Run `reverie install` for this client."""
        subprocess.run(
            [sys.executable, "-m", "reveried.cli", "install", self.name],
            env=self.env | {"REVERIE_HOME": str(daemon.home)},
            check=True,
            capture_output=True,
        )

    def run(self, project: Path, *words: str) -> str:
        """Run the client in a project; return its standard output."""
        done = subprocess.run(
            [*self.before, self.program, *words], cwd=project, env=self.env, capture_output=True, text=True,
            check=False, timeout=_LIMIT_S, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout


def claude_code(home: Path, models: ModelServer) -> Client:
    """Return Claude Code with an empty configuration."""
    program = _program(CLAUDE)
    assert program is not None
    (home / ".claude").mkdir()
    env = {
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
        "ANTHROPIC_BASE_URL": models.url,
        "ANTHROPIC_API_KEY": "k",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }
    return Client("claude-code", program, home, env)


def run_with_proxy(client: Client) -> Client:
    """Return the given client as started by `reverie run`, with the same environment."""
    run = Client(client.name, client.program, client.home, {})
    run.env, run.before = client.env, [sys.executable, "-m", "reveried.cli", "run"]
    return run


def codex(home: Path, models: ModelServer, *settings: str) -> Client:
    """Return Codex with a configuration that names the server, and has further lines."""
    program = _program(CODEX)
    assert program is not None
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text(
        "".join(f"{line}\n" for line in settings)
        + 'model_provider = "local"\n\n[model_providers.local]\nname = "local"\n'
        f'base_url = "{models.url}/v1"\nwire_api = "responses"\nenv_key = "LOCAL_KEY"\n'
    )
    return Client("codex", program, home, {"CODEX_HOME": str(home / ".codex"), "LOCAL_KEY": "k"})


def prompt(client: Client, project: Path, text: str, *words: str, trusted: bool = True) -> dict[str, Any]:
    """Send one prompt without a terminal; return the client's JSON report, of Codex the first line."""
    if client.name == "codex":
        trust = ["--dangerously-bypass-hook-trust"] if trusted else []
        out = client.run(project, "exec", *words, "--json", "--skip-git-repo-check", *trust, text)
        first: dict[str, Any] = json.loads(out.splitlines()[0])
        return first
    report: dict[str, Any] = json.loads(client.run(project, "-p", text, *words, "--output-format", "json"))
    return report


def conversation(client: Client, project: Path, *texts: str, resume: str | None = None) -> list[dict[str, Any]]:
    """Send prompts to one process of Claude Code, each after the answer to the one before; return its reports.

    It goes on with the session `resume`.
    """
    words = [client.program, "-p", "--verbose", "--input-format", "stream-json", "--output-format", "stream-json"]
    words = [*client.before, *words, *(["--resume", resume] if resume else [])]
    reports: list[dict[str, Any]] = []
    with subprocess.Popen(
        words, cwd=project, env=client.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for text in texts:
            message = {"type": "user", "message": {"role": "user", "content": text}}
            process.stdin.write(json.dumps(message).encode() + b"\n")
            process.stdin.flush()
            for line in process.stdout:
                event: dict[str, Any] = json.loads(line)
                if event["type"] == "result":
                    reports.append(event)
                    break
        process.stdin.close()
        for _ in process.stdout:
            pass
        process.wait(_LIMIT_S)
    return reports


pytestmark = pytest.mark.timeout(280)
PART = "# Reverie, part {} of 3"
START = "Reverie's tools: `search` finds"


def said(text: str, tokens: int = 100) -> Step:
    """Return a reply of the model, which reports that it has read so many tokens."""
    return answer(text, usage={"input_tokens": tokens, "output_tokens": 5})


@pytest.fixture
def models() -> Iterator[ModelServer]:
    """A local server in place of the clients' model providers."""
    with ModelServer(said("Understood.")) as running:
        yield running


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The folder that the agents work in."""
    folder = tmp_path / "harbour"
    folder.mkdir()
    return folder


def thread_of(reverie: Reverie, session: str, messages: int) -> str:
    """Return the thread of a session, once it has so many messages."""
    wait_until(lambda: session in {item.session for item in reverie.sessions().items}, "the session")
    thread = next(item.thread for item in reverie.sessions().items if item.session == session)
    assert thread is not None
    wait_until(lambda: len(stored_messages(reverie, thread)) >= messages, "the messages")
    return thread


@needs(CLAUDE)
def test_claude_code_is_recorded_and_gets_its_memory_back(models: ModelServer, tmp_path: Path, project: Path) -> None:
    """A session is recorded; after a compaction, and in the project's next session, requests have its state."""
    with running_daemon() as daemon, Reverie(daemon.socket) as reverie:
        client = claude_code(tmp_path, models)
        client.install(daemon)
        models.script(said("I have painted the north gate green. Next: paint the south gate."))
        session = prompt(client, project, "Please paint the north gate green.")["session_id"]
        assert START in models.conversations()[0]
        assert "mcp__plugin_reverie_reverie__note" in models.conversations()[0]
        thread = thread_of(reverie, session, 2)
        reverie.add_note(thread, "the south gate stays red", "correction")

        models.script(said("<summary>They spoke about a gate.</summary>"))
        prompt(client, project, "/compact", "--resume", session)
        assert "each decision and its reason" in models.conversations()[0]
        assert str(daemon.home) not in "".join(models.conversations())
        models.script(said("Understood."))
        prompt(client, project, "What is next?", "--resume", session)
        after = models.conversations()[0]
        assert "They spoke about a gate." in after
        assert "the south gate stays red" in after
        assert "I have painted the north gate green" in after
        assert PART.format(1) in after

        wait_until(lambda: not reverie.sessions(open=True).items, "the end of the session")
        models.requests.clear()
        prompt(client, project, "Good morning.")
        assert "the south gate stays red" in models.conversations()[0]
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        models.requests.clear()
        prompt(client, elsewhere, "Good morning.")
        assert "south gate" not in models.conversations()[0]
        assert START in models.conversations()[0]


@needs(CLAUDE)
def test_a_cleared_session_of_claude_code_names_the_one_before(
    models: ModelServer, tmp_path: Path, project: Path
) -> None:
    """After `/clear` the second session names the first one, is recorded apart and gets the text of a start."""
    with running_daemon() as daemon, Reverie(daemon.socket) as reverie:
        client = claude_code(tmp_path, models)
        client.install(daemon)
        reports = conversation(client, project, "Paint the north gate.", "/clear", "Paint the fence.")
        wait_until(lambda: len(reverie.sessions().items) == 2, "two sessions")
        second, first = reverie.sessions().items
        assert (second.before, first.before) == (first.session, None)
        assert (second.session, first.session) == (reports[-1]["session_id"], reports[0]["session_id"])
        assert first.thread is not None
        assert second.thread is not None
        wait_until(lambda: stored_messages(reverie, second.thread or ""), "the second thread")
        assert "fence" not in str(stored_messages(reverie, first.thread))
        assert "north gate" not in str(stored_messages(reverie, second.thread))
        assert START in models.conversations()[-1]


@needs(CLAUDE)
def test_an_automatic_compaction_is_followed_by_the_memory(models: ModelServer, tmp_path: Path, project: Path) -> None:
    """After an automatic compaction Claude Code's next request has its summary and Reverie's excerpts."""
    with running_daemon() as daemon, Reverie(daemon.socket) as reverie:
        client = claude_code(tmp_path, models)
        client.install(daemon)
        client.env["CLAUDE_CODE_AUTO_COMPACT_WINDOW"] = "100000"
        models.script(said("<summary>The gate is done.</summary>", 990_000))
        session = prompt(client, project, "Paint the north gate in the colour of moss.")["session_id"]
        thread_of(reverie, session, 2)
        models.requests.clear()
        prompt(client, project, "And now the fence.", "--resume", session)
        last = models.conversations()[-1]
        assert "The gate is done." in last
        assert "colour of moss" in last
        assert PART.format(3) in last


@needs(CLAUDE)
def test_three_sessions_at_once_do_not_cross(models: ModelServer, tmp_path: Path) -> None:
    """Three sessions at once have a thread each, with the messages of their own project alone."""
    with running_daemon() as daemon, Reverie(daemon.socket) as reverie:
        client = claude_code(tmp_path, models)
        client.install(daemon)
        names = ("harbour", "lighthouse", "quarry")
        for name in names:
            (tmp_path / name).mkdir()
        with ThreadPoolExecutor(3) as pool:
            ask = partial(_ask, client, tmp_path)
            sessions = list(pool.map(ask, names))
        for name, session in zip(names, sessions, strict=True):
            stored = str(stored_messages(reverie, thread_of(reverie, session, 2)))
            assert [other for other in names if f"word of {other}" in stored] == [name]


def _ask(client: Client, folder: Path, name: str) -> str:
    """Send a prompt in the project of this name; return the session's id."""
    return str(prompt(client, folder / name, f"The word of {name}.")["session_id"])


@needs(CLAUDE)
def test_private_and_ignored_sessions_of_claude_code(models: ModelServer, tmp_path: Path, project: Path) -> None:
    """A session in an ignored folder is not recorded, and Reverie's hooks add nothing to its prompt."""
    with running_daemon() as daemon, Reverie(daemon.socket) as reverie:
        client = claude_code(tmp_path, models)
        client.install(daemon)
        daemon.ask("PATCH", "/v1/privacy", {"ignore": str(project)})
        prompt(client, project, "Dear diary.")
        assert PART.format(1) not in models.conversations()[0]
        assert reverie.sessions().items == []


@needs(CLAUDE)
@needs(CODEX)
def test_codex_starts_where_claude_code_stopped(models: ModelServer, tmp_path: Path, project: Path) -> None:
    """Codex's first request has what Claude Code did last; untrusted hooks add nothing, and doctor says so."""
    with running_daemon() as daemon, Reverie(daemon.socket) as reverie:
        first, second = claude_code(tmp_path, models), codex(tmp_path, models)
        first.install(daemon)
        second.install(daemon)
        models.script(said("I have painted the north gate green. Next: paint the south gate."))
        session = prompt(first, project, "Please paint the north gate green.")["session_id"]
        thread_of(reverie, session, 2)
        wait_until(lambda: not reverie.sessions(open=True).items, "the end of the session")

        models.requests.clear()
        prompt(second, project, "Go on.", trusted=False)
        assert "north gate" not in models.conversations()[0]
        env = second.env | {"REVERIE_HOME": str(daemon.home)}
        doctor = subprocess.run(
            [sys.executable, "-m", "reveried.cli", "doctor"], env=env, capture_output=True, text=True, check=False
        )
        assert "only after you have trusted them" in doctor.stdout
        models.requests.clear()
        prompt(second, project, "Go on.")
        assert "Please paint the north gate green" in models.conversations()[0]
        assert "where the last session of this project stopped" in models.conversations()[0]
        assert {item.client for item in reverie.sessions().items} == {"claude-code", "codex"}

        models.script(said("The south gate is blue now. Next: oil the hinges."))
        thread_id = prompt(second, project, "Paint the south gate blue.")["thread_id"]
        thread_of(reverie, thread_id, 2)
        wait_until(lambda: not reverie.sessions(open=True).items, "the end of the session")
        wait_until(lambda: "oil the hinges" in _first_request(first, project, models), "the handoff")


def _first_request(client: Client, project: Path, models: ModelServer) -> str:
    """Begin a session; return the first request to the model."""
    models.script(said("Understood."))
    assert prompt(client, project, "Go on.")["session_id"]
    return models.conversations()[0]


@needs(CODEX)
def test_an_automatic_compaction_of_codex_is_followed_by_the_memory(
    models: ModelServer, tmp_path: Path, project: Path
) -> None:
    """After an automatic compaction Codex's next request has its summary and Reverie's state, notes and excerpts."""
    with running_daemon() as daemon, Reverie(daemon.socket) as reverie:
        client = codex(tmp_path, models, "model_auto_compact_token_limit = 50000")
        client.install(daemon)
        models.script(said("The north gate is green now. Next: paint the south gate.", 60_000))
        session = prompt(client, project, "Please paint the north gate in the colour of moss.")["thread_id"]
        thread = thread_of(reverie, session, 2)
        reverie.add_note(thread, "the south gate stays red", "correction")

        models.script(said("They spoke about a gate.", 60_000))
        prompt(client, project, "And now the fence.", "resume", session)
        asked, after = models.conversations()
        assert "CONTEXT CHECKPOINT COMPACTION" in asked
        assert "And now the fence." not in asked
        assert "They spoke about a gate." in after
        assert "And now the fence." in after
        assert after.count(PART.format(1)) == 1  # the hooks run as `resume` and as `compact`
        assert "Next: paint the south gate" in after
        assert "the south gate stays red" in after
        assert "The north gate is green now" in after
        assert PART.format(3) in after


@needs(CLAUDE)
@needs(CODEX)
def test_without_a_daemon_the_clients_work_as_before(models: ModelServer, tmp_path: Path, project: Path) -> None:
    """Without a daemon both clients send the prompt, and Reverie's hooks add nothing."""
    with running_daemon() as daemon:
        clients = claude_code(tmp_path, models), codex(tmp_path, models)
        for client in clients:
            client.install(daemon)
        _stop(daemon)
        for client in clients:
            models.requests.clear()
            prompt(client, project, "Please paint the north gate green.")
            assert "Please paint the north gate green." in models.conversations()[0]
            assert PART.format(1) not in models.conversations()[0]


def _stop(daemon: Daemon) -> None:
    assert daemon.stop() == 0


@needs(CLAUDE)
def test_claude_code_behind_the_proxy_compacts_without_a_model(
    models: ModelServer, tmp_path: Path, project: Path
) -> None:
    """Behind the proxy a compaction asks no model, and the next request has state, notes and summary."""
    with running_daemon() as daemon, Reverie(daemon.socket) as reverie:
        client = claude_code(tmp_path, models)
        client.install(daemon)
        client.env["REVERIE_HOME"] = str(daemon.home)
        behind = run_with_proxy(client)
        models.script(said("I have painted the north gate green. Next: paint the south gate."))
        session = prompt(behind, project, "Please paint the north gate green.")["session_id"]
        thread = thread_of(reverie, session, 2)
        reverie.add_note(thread, "the south gate stays red", "correction")

        models.requests.clear()
        prompt(behind, project, "/compact keep the colours", "--resume", session)
        assert models.conversations() == [], next(daemon.home.rglob("proxy.log")).read_text()
        models.script(said("Understood."))
        prompt(behind, project, "What is next?", "--resume", session)
        (after,) = models.conversations()
        assert "being continued from a previous conversation" in after
        assert "the south gate stays red" in after
        assert "Next: paint the south gate" in after
        assert "I have painted the north gate green" in after
        assert "keep the colours" in after
        assert PART.format(1) in after
        assert PART.format(3) not in after  # the excerpts are in the summary

        client.env["CLAUDE_CODE_AUTO_COMPACT_WINDOW"] = "100000"
        models.script(said("Understood.", 990_000))
        prompt(behind, project, "Paint the fence in the colour of moss.", "--resume", session)
        models.requests.clear()
        prompt(behind, project, "And now the door.", "--resume", session)
        last = models.conversations()
        assert len(last) == 1
        assert "being continued from a previous conversation" in last[0]
        assert "colour of moss" in last[0]
