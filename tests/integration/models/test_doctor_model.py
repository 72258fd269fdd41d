"""`reverie doctor --model`, `reverie status` and the metrics, with a real daemon and a local provider."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reverie.client import Client
from reverie.errors import Forbidden
from support.cli import Outcome, reverie
from support.daemon import Daemon, running_daemon
from support.fake_model import thread_of
from support.model_server import ModelServer, Step, answer, status
from support.provider import TALK, WELL, settings, spent, warm_up

OK = answer('{"ok": true}')


@pytest.fixture(scope="module")
def daemon(server: ModelServer) -> Iterator[Daemon]:
    """A daemon that sends its requests for models to the module's server."""
    with running_daemon(None, **settings(server)) as running:
        yield running


def run(daemon: Daemon, *words: str) -> Outcome:
    """Run `reverie` for a daemon."""
    return reverie({**daemon.env, "NO_COLOR": "1"}, *words)


def test_models_that_answer(daemon: Daemon, server: ModelServer) -> None:
    """`doctor --model` asks the cheap and the strong model once each; `doctor` alone asks none."""
    server.script(OK)
    with Client(daemon.socket) as client:
        used = spent(client, "cheap", "strong")
        assert "model" not in {finding["check"] for finding in run(daemon, "doctor", "--json").json}
        assert not server.requests
        done = run(daemon, "doctor", "--model")
        now, strong = spent(client, "cheap", "strong"), spent(client, "strong")[0]
        failed = sum(entry.failed for entry in client.status().spend.models)
    assert done.code == 0
    assert "ok    model: anthropic: claude-haiku-5-5 (cheap) in" in done.out
    assert "claude-opus-5-5 (strong) in" in done.out
    assert len(server.requests) == 2
    assert [after - before for after, before in zip(now, used, strict=True)] == [2, *server.tokens, 0]
    shown = run(daemon, "status").out
    assert "anthropic, claude-opus-5-5" in shown
    assert f"{now[0]} of 1,000 calls ({failed} failed), {now[1] + now[2]:,} of 2,000,000 tokens" in shown
    assert f'reverie_model_calls_today{{role="strong"}} {strong}\n' in daemon.ask("GET", "/metrics").body.decode()


@pytest.mark.parametrize(
    ("steps", "role", "words", "hint"),
    [
        ((status(401),), "cheap", "401", "distiller.keyFile"),
        ((status(404),), "cheap", "404", "distiller.cheapModel"),
        ((status(429, error_code="enforced_spend_limit_reached"),), "cheap", "spend limit", "Raise the limit"),
        ((answer("Yes, I can."),), "cheap", "not", "reverie"),
        ((answer('{"ok": true}', stop_reason="refusal"),), "cheap", "refused", "reverie"),
        ((OK, status(404)), "strong", "404", "distiller.strongModel"),
    ],
)
def test_models_that_do_not_answer(  # noqa: PLR0917 - fixtures
    daemon: Daemon, server: ModelServer, steps: tuple[Step, ...], role: str, words: str, hint: str
) -> None:
    """Each fault of a model has a hint that names what to change, and `doctor --model` exits with an error."""
    server.script(*steps)
    done = run(daemon, "doctor", "--model")
    assert done.code == 1
    (line,) = [line for line in done.out.splitlines() if line.startswith("BAD")]
    assert line.startswith(f"BAD   model: The {role} model:")
    assert words in line
    assert hint in done.out.partition(line)[2]


@pytest.mark.parametrize(
    ("wrong", "words", "reason"),
    [
        ({"ANTHROPIC_API_KEY": "", "REVERIE_DISTILLER_BASE_URL": ""}, "Set ANTHROPIC_API_KEY", "rejected"),
        ({"REVERIE_DISTILLER_KEY_FILE": "@"}, "chmod 600 @", "rejected"),
        ({"REVERIE_DISTILLER_BASE_URL": "http://127.0.0.1:9"}, "Check distiller.baseUrl", ""),
        ({"REVERIE_DISTILLER_DAILY_CALLS": "0"}, "raise distiller.dailyCalls", "over_ceiling"),
        ({"REVERIE_DISTILLER_DAILY_TOKENS": "100"}, "raise distiller.dailyTokens", "over_ceiling"),
    ],
    ids=["no_key", "key_of_others", "unreachable", "calls", "tokens"],
)
def test_settings_that_cannot_work(
    server: ModelServer, tmp_path: Path, wrong: dict[str, str], words: str, reason: str
) -> None:
    """Without a usable key, a server or a ceiling `doctor --model` has a hint; nothing is sent, counted or learnt."""
    key = tmp_path / "key"
    key.write_text("sk-test\n")
    key.chmod(0o640)
    server.script(WELL)
    chosen = settings(server, **{name: value.replace("@", str(key)) for name, value in wrong.items()})
    with running_daemon(None, **chosen) as daemon, Client(daemon.socket) as client:
        done = run(daemon, "doctor", "--model")
        assert done.code == 1
        assert words.replace("@", str(key)) in done.out
        assert spent(client, "cheap", "strong")[0] == 0
        if reason:  # an unreachable one is in `test_faults.py`; here it would start another process
            learnt = client.learn(thread_of(client, TALK))
            assert f"extraction failed ({reason})" in (learnt.fallback or "")
        assert client.memories().items == []
        assert spent(client)[0] == 0  # the cheap model may be asked for a working state
    assert not server.requests


def test_without_a_model() -> None:
    """`doctor --model` notes that the built-in engine asks no model, and exits with 0."""
    with running_daemon() as daemon:
        done = run(daemon, "doctor", "--model")
        assert done.code == 0
        assert "note  model: extractive asks no model" in done.out


def test_a_token_may_not_spend(daemon: Daemon, server: ModelServer) -> None:
    server.script(OK)
    with Client(daemon.socket) as client:
        token = client.create_token("default", agent="ann").token
    with Client(daemon.socket, token=token) as ann, pytest.raises(Forbidden):
        ann.check_distiller()
    refused = run(daemon, "--token", str(token), "doctor", "--model").out
    assert "next: run `reverie doctor --model` as the daemon's owner" in refused
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
