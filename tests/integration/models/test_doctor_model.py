"""`reverie doctor --model`, `reverie status` and the metrics, with a real daemon and a local provider."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reverie.client import Client
from reverie.errors import Forbidden
from reveried.cli import main
from support.cli import Outcome
from support.daemon import running_daemon
from support.fake_model import thread_of
from support.model_server import ModelServer, answer, status
from support.provider import TALK, WELL, settings, spent, warm_up

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from support.daemon import Daemon

    Run = Callable[..., Outcome]

OK = answer('{"ok": true}')


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A local server in place of a model provider, with faults."""
    with ModelServer() as running:
        yield running


@pytest.fixture
def daemon(server: ModelServer) -> Iterator[Daemon]:
    """A daemon that sends its requests for models to this server."""
    with running_daemon(None, **settings(server, REVERIE_DISTILLER_DEADLINE_SECONDS="60")) as running:
        yield running


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs `reverie` in this process for a daemon."""

    def run_for(daemon: Daemon, *words: str) -> Outcome:
        monkeypatch.setenv("REVERIE_HOME", str(daemon.home))
        monkeypatch.setenv("NO_COLOR", "1")
        capfd.readouterr()
        code = main(words)
        output = capfd.readouterr()
        return Outcome(code, output.out, output.err)

    return run_for


def test_models_that_answer(daemon: Daemon, server: ModelServer, run: Run) -> None:
    """`doctor --model` asks the cheap and the strong model once each; `doctor` alone asks none."""
    server.script(OK)
    assert "model" not in {finding["check"] for finding in run(daemon, "doctor", "--json").json}
    assert not server.requests
    done = run(daemon, "doctor", "--model")
    assert done.code == 0
    assert "ok    model: anthropic: claude-haiku-5-5 (cheap) in" in done.out
    assert "claude-opus-5-5 (strong) in" in done.out
    assert len(server.requests) == 2
    with Client(daemon.socket) as client:
        assert spent(client, "cheap", "strong") == (2, *server.tokens, 0)
    shown = run(daemon, "status").out
    assert "anthropic, claude-opus-5-5" in shown
    assert f"2 of 1,000 calls (0 failed), {sum(server.tokens)} of 2,000,000 tokens" in shown
    metrics = daemon.ask("GET", "/metrics").body.decode()
    assert 'reverie_model_calls_today{role="strong"} 1' in metrics


def test_models_that_do_not_answer(daemon: Daemon, server: ModelServer, run: Run) -> None:
    """Each fault of a model has a hint that names what to change, and `doctor --model` exits with an error."""
    for step, words, hint in (
        (status(401), "401", "distiller.keyFile"),
        (status(404), "404", "distiller.cheapModel"),
        (status(429, error_code="enforced_spend_limit_reached"), "spend limit", "Raise the limit"),
        (answer("Yes, I can."), "not", "reverie"),
        (answer('{"ok": true}', stop_reason="refusal"), "refused", "reverie"),
    ):
        server.script(step)
        done = run(daemon, "doctor", "--model")
        assert done.code == 1
        (line,) = [line for line in done.out.splitlines() if line.startswith("BAD")]
        assert line.startswith("BAD   model: The cheap model:")
        assert words in line
        assert hint in done.out.partition(line)[2]


def test_a_strong_model_that_does_not_answer(daemon: Daemon, server: ModelServer, run: Run) -> None:
    server.script(OK, status(404))
    assert "BAD   model: The strong model:" in run(daemon, "doctor", "--model").out


def test_settings_that_cannot_work(server: ModelServer, run: Run, tmp_path: Path) -> None:
    """Without a usable key, a server or a daily ceiling `doctor --model` fails with a hint and sends nothing."""
    key = tmp_path / "key"
    key.write_text("sk-test\n")
    key.chmod(0o640)
    for wrong, words in (
        ({"ANTHROPIC_API_KEY": "", "REVERIE_DISTILLER_BASE_URL": ""}, "Set ANTHROPIC_API_KEY"),
        ({"REVERIE_DISTILLER_KEY_FILE": str(key)}, f"chmod 600 {key}"),
        ({"REVERIE_DISTILLER_BASE_URL": "http://127.0.0.1:9"}, "Check distiller.baseUrl"),
        ({"REVERIE_DISTILLER_DAILY_CALLS": "0"}, "raise distiller.dailyCalls"),
    ):
        with running_daemon(
            None, **settings(server, **{"REVERIE_DISTILLER_DEADLINE_SECONDS": "60", **wrong})
        ) as daemon:
            done = run(daemon, "doctor", "--model")
            assert done.code == 1
            assert words in done.out
            with Client(daemon.socket) as client:
                assert spent(client, "cheap", "strong")[0] == 0
    assert not server.requests


def test_without_a_model(run: Run) -> None:
    """`doctor --model` notes that the built-in engine asks no model, and exits with 0."""
    with running_daemon() as daemon:
        done = run(daemon, "doctor", "--model")
        assert done.code == 0
        assert "note  model: extractive asks no model" in done.out


def test_a_token_may_not_spend(daemon: Daemon, server: ModelServer) -> None:
    with Client(daemon.socket) as client:
        token = client.create_token("default", agent="ann").token
    with Client(daemon.socket, token=token) as ann, pytest.raises(Forbidden):
        ann.check_distiller()
    assert not server.requests


def test_a_provider_that_rejects_is_left_alone(daemon: Daemon, server: ModelServer) -> None:
    """After three rejections in a row nothing is sent for a while; `reverie doctor --model` ends that."""
    with Client(daemon.socket) as client:
        warm_up(client, server)
        server.script(status(401))
        thread = thread_of(client, TALK)
        fallbacks = [client.learn(thread).fallback or "" for _ in range(5)]
        assert len(server.requests) == 3
        assert all("extraction failed (rejected)" in fallback for fallback in fallbacks)
        assert "reverie doctor --model" in fallbacks[-1]
        server.script(WELL)
        client.learn(thread)
        assert not server.requests
        warm_up(client, server)
        server.script(WELL)
        assert client.learn(thread).counts["ADD"] == 1
