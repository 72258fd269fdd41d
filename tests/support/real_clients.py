"""The real Claude Code and Codex, where they are installed, in a home folder of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from support.daemon import Daemon
    from support.model_servers import ModelServer

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
