"""The transport to the Messages API: the real package in its process, a real socket, every fault of a provider."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from reverie import wire
from reverie.language_model.requests import ModelAnswer
from reverie.usecases.usage import model_spend
from support import model_server as faults
from support.asking_model import AT, KEY, SCHEMA, Asking, question
from support.daemon import free_port
from support.model_server import ModelServer, answer, self_signed
from support.waiting import wait_until


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asking]:
    with ModelServer() as server:
        made = Asking(tmp_path_factory.mktemp("asking"), server)
        try:
            yield made
        finally:
            made.close()


def test_a_request_is_sent_as_the_api_wants_it(asking: Asking) -> None:
    """A request has schema, cacheable prompt, the role's model and the key as a bearer; its answer is returned."""
    asking.server.script(answer('{"ok": true}', model="claude-other-9"))
    reply = asking.ask()
    (seen,) = asking.server.requests
    assert (seen.method, seen.path) == ("POST", "/v1/messages")
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    assert seen.headers["accept-encoding"] == "identity"
    assert seen.body == {
        "model": "claude-haiku-5-5",
        "max_tokens": 1000,
        "system": [{"type": "text", "text": "Answer in JSON.", "cache_control": {"type": "ephemeral"}}],
        "messages": [{"role": "user", "content": "Is it so?"}],
        "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}},
    }
    asking.ask(question(role="strong"))
    assert asking.server.requests[1].body["model"] == "claude-opus-5-5"
    assert reply == ModelAnswer('{"ok": true}', *seen.tokens, "claude-other-9")


def _raw(data: bytes) -> faults.Step:
    return faults.raw(faults.response(200, data))


def _spent_before(asking: Asking) -> wire.ModelSpend:
    """Return today's entry, after an ordinary answer, so that there is one."""
    asking.server.script(answer("{}"))
    asking.ask()
    return asking.spent()


@pytest.mark.parametrize("step", [faults.huge, faults.gzip_bomb])
def test_an_endless_body_is_cut(asking: Asking, step: Callable[..., None]) -> None:
    """An endless response fails as unparseable after less than 64 MiB, and the process stays below 400 MB."""
    asking.server.script(step)
    assert asking.failure().reason == "unparseable"
    seen = asking.server.requests[0]
    wait_until(lambda: seen.sent_bytes > 0)
    assert seen.sent_bytes < 64 << 20
    assert all(_peak_mb(pid) < 400 for pid in asking.transport.pids())


def _peak_mb(pid: int) -> float:
    """Return the most memory that a process has used."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024


@pytest.mark.parametrize(
    "step",
    [
        _raw(b"<html>"),
        _raw(b""),
        _raw(b"[]"),
        _raw(b"\xff\xfe"),
        _raw(b'{"type":"message"}'),
        _raw(b"[" * 100_000),
        answer("", content=None),
        answer("", content=7),
        answer("", content=["x"]),
        answer("", content=[{"type": "text", "text": 5}]),
        answer("x" * (1 << 20) + "x"),
    ],
)
def test_what_is_no_message_is_refused(asking: Asking, step: Callable[..., None]) -> None:
    asking.server.script(step)
    assert asking.failure().reason == "unparseable"
    assert len(asking.server.requests) == 1


@pytest.mark.parametrize(
    "usage", [None, {}, {"input_tokens": 0, "output_tokens": 0}, {"input_tokens": -1}, 10**18, "x"]
)
def test_our_own_count_replaces_a_wrong_usage(asking: Asking, usage: Any) -> None:
    """Where an answer's `usage` is missing or impossible its tokens are counted by us."""
    asking.server.script(answer("some words", usage=usage))
    reply = asking.ask()
    assert (reply.input_tokens, reply.output_tokens) == (8, 2)


def test_cached_tokens_are_input(asking: Asking) -> None:
    usage = {"input_tokens": 10, "output_tokens": 20, "cache_read_input_tokens": 300, "cache_creation_input_tokens": 4}
    before = _spent_before(asking)
    asking.server.script(answer("{}", usage=usage))
    reply = asking.ask()
    assert (reply.input_tokens, reply.cached_tokens, reply.output_tokens) == (314, 300, 20)
    assert asking.spent().cached_tokens - before.cached_tokens == 300


def test_blocks_that_are_no_text_are_left_out(asking: Asking) -> None:
    blocks = [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "text", "text": "a"},
        {"type": "tool_use", "id": "t", "name": "Bash", "input": {}},
        {"type": "text", "text": "b"},
    ]
    asking.server.script(answer("", content=blocks))
    assert asking.ask().text == "ab"


def test_a_connection_that_is_not_made_costs_nothing(asking: Asking, tmp_path: Path) -> None:
    """A name that does not resolve, a port without a listener, a certificate that is not trusted: none is counted."""
    before = _spent_before(asking)
    with ModelServer(tls=self_signed(tmp_path)[1]) as server:
        for url, reason, words in (
            ("https://no-such-name.invalid", "unreachable", "cannot be reached"),
            (f"http://127.0.0.1:{free_port()}", "unreachable", "cannot be reached"),
            (server.url, "rejected", "certificate"),
        ):
            failure = asking.failure(transport=asking.sharing_processes(url), tries=2)
            assert failure.reason == reason
            assert words in failure.message
        assert not server.requests
    assert asking.spent() == before


def test_ceilings_hold(asking: Asking) -> None:
    """A request that does not fit is not sent; neither is any once the calls of the day are used up."""
    before = _spent_before(asking)
    asking.server.script(answer("{}"))
    used = before.input_tokens + before.output_tokens + before.reserved_tokens
    calls = sum(entry.calls for entry in model_spend(asking.store, AT))
    assert asking.failure(tokens=used).reason == "over_ceiling"
    assert asking.failure(calls=calls).reason == "over_ceiling"
    assert not asking.server.requests
    asking.ask(calls=calls + 1)
    assert asking.failure(calls=calls + 1).reason == "over_ceiling"
    assert len(asking.server.requests) == 1


def test_a_killed_process_is_replaced(asking: Asking) -> None:
    """A request whose process is killed is tried again in a new process, and both tries count as calls."""
    before = _spent_before(asking)
    killed = asking.transport.pids()

    def kill(request: faults.Request) -> None:
        for pid in killed:
            os.kill(pid, signal.SIGKILL)
        faults.hang(request)

    asking.server.script(kill, answer("{}"))
    assert asking.ask().text == "{}"
    assert set(asking.transport.pids()) - set(killed)
    after = asking.spent()
    assert (after.calls - before.calls, after.open - before.open) == (2, 1)


def test_a_stopped_process_is_replaced(asking: Asking) -> None:
    """A request fails at its deadline though its process is stopped; the next one is answered by a new process."""
    _spent_before(asking)
    stopped = asking.transport.pids()

    def stop(request: faults.Request) -> None:
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        faults.hang(request)

    asking.server.script(stop, answer("{}"))
    assert asking.failure(deadline_s=1.0).reason in ("timeout", "failed")
    assert asking.ask().text == "{}"
    assert set(asking.transport.pids()) - set(stopped)


def test_cancelling_closes_the_connection(asking: Asking) -> None:
    """Cancelling a request closes its connection; the call stays counted as open."""
    before = _spent_before(asking)
    left: list[bool] = []

    def watch(request: faults.Request) -> None:
        faults.hang(request)
        left.append(not request.stopping.is_set())

    asking.server.script(watch)

    async def cancel() -> None:
        task = asyncio.create_task(asking.metered(asking.transport).answer(question(), 60))
        await asyncio.to_thread(wait_until, lambda: len(asking.server.requests) == 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asking.run(cancel())
    wait_until(lambda: left == [True])
    assert asking.spent().open - before.open == 1


def test_the_key_is_in_no_process_list(asking: Asking) -> None:
    """The key is neither in the arguments nor in the environment of the process that sends requests."""
    _spent_before(asking)
    for pid in asking.transport.pids():
        for name in ("cmdline", "environ"):
            assert KEY.encode() not in Path(f"/proc/{pid}/{name}").read_bytes()


def test_the_key_file_must_be_private(asking: Asking, tmp_path: Path) -> None:
    """A key file of mode 0600 is used; one that others may read is an error, and so is having no key at all."""
    file = tmp_path / "key"
    file.write_text("sk-from-a-file\n")
    file.chmod(0o644)
    transport = asking.sharing_processes(key_file=file)
    asking.server.script(answer("{}"))
    failure = asking.failure(transport=transport)
    assert (failure.reason, failure.hint) == ("rejected", f"chmod 600 {file}")
    assert not asking.server.requests
    file.chmod(0o600)
    asking.ask(transport=transport)
    assert asking.server.requests[0].headers["authorization"] == "Bearer sk-from-a-file"
    assert "no key" in asking.failure(transport=asking.new_transport("", env={})).message


@pytest.mark.parametrize("url", ["http://example.org", "http://8.8.8.8", "http://192.0.2.9.example"])
def test_text_is_not_sent_in_the_clear(asking: Asking, url: str) -> None:
    failure = asking.failure(transport=asking.new_transport(url))
    assert failure.reason == "rejected"
    assert "https" in failure.message
