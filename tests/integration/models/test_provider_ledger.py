"""The ledger of requests to a provider: what was sent is counted, whatever happens to the daemon afterwards."""

from __future__ import annotations

import random
import resource
import threading
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from reverie import wire
from reverie.client import Client
from reverie.errors import DiskFull, ReverieError
from support import model_server as faults
from support.daemon import Daemon, running_daemon
from support.fake_model import thread_of
from support.model_server import ModelServer, Request, answer, by_purpose
from support.provider import ANSWER, CONSOLIDATED, TALK, WELL, settings, spent, state, warm_up
from support.soak import count
from support.waiting import wait_until


@pytest.fixture(scope="module")
def running(server: ModelServer) -> Iterator[Daemon]:
    """A daemon that asks the module's provider, with one memory."""
    with running_daemon(None, **settings(server)) as daemon:
        with Client(daemon.socket) as client:
            warm_up(client, server)
            client.remember(wire.CreateMemory(content="The mailer of relay 1 listens on port 2501.", type="fact"))
        yield daemon


@pytest.fixture
def daemon(running: Daemon) -> Iterator[Daemon]:
    """That daemon, which a test may kill and start; what it has learnt is rolled back."""
    with Client(running.socket) as client:
        before = client.operations().items[0].id
    yield running
    with Client(running.socket) as client:
        client.rollback(before)


def test_a_killed_daemon_has_counted_what_it_sent(daemon: Daemon, server: ModelServer) -> None:
    """After a kill during a second request, the ledger has the first one's tokens and the second one's reservation."""
    with Client(daemon.socket) as client:
        used, thread, ended = spent(client), thread_of(client, TALK), threading.Event()

        def kill(request: Request) -> None:
            daemon.kill()
            ended.set()
            faults.hang(request)

        server.script(by_purpose(extract=answer(ANSWER), consolidate=kill))
        with pytest.raises(ReverieError):
            client.learn(thread)
    assert ended.wait(60.0)  # the process ends after its socket
    seen, tokens = list(server.requests), server.tokens
    assert [request.purpose for request in seen] == ["extract", "consolidate"]
    daemon.start()
    with Client(daemon.socket) as client:
        now = spent(client)
        assert now[0] - used[0] == len(seen)
        assert (now[1] - used[1], now[2] - used[2]) == tokens
        assert now[3] - used[3] == 1
        assert len(client.memories().items) == 1
        server.script(WELL)
        assert client.learn(thread).counts["ADD"] == 1
        assert spent(client)[0] == now[0] + len(server.requests)


@pytest.mark.parametrize("seed", range(count(2, 20)))
def test_killed_at_any_moment(daemon: Daemon, server: ModelServer, seed: int) -> None:
    """The count of the server lies between the ledger without its reservations and the ledger with them."""
    moment = random.Random(seed).uniform(0.0, 0.4)
    with Client(daemon.socket) as client:
        used, threads = spent(client), [thread_of(client, TALK) for _ in range(3)]
    server.script(WELL)

    def learn() -> None:
        with Client(daemon.socket) as client, suppress(ReverieError):
            for thread in threads:
                client.learn(thread)

    learning = threading.Thread(target=learn)
    learning.start()
    wait_until(lambda: bool(server.requests) or not learning.is_alive())
    time.sleep(moment)
    daemon.kill()
    learning.join()
    seen, tokens = len(server.requests), sum(server.tokens)
    daemon.start()
    with Client(daemon.socket) as client:
        now = spent(client)
        (entry,) = [entry for entry in client.status().spend.models if entry.role == "strong"]
        assert now[0] - used[0] - now[3] <= seen <= now[0] - used[0]
        settled = now[1] + now[2] - used[1] - used[2]
        assert settled <= tokens <= settled + entry.reserved_tokens


def test_a_full_disk_after_a_paid_answer(daemon: Daemon, server: ModelServer) -> None:
    """Nothing is half written; the answer is paid again once there is room, and both calls count: disk_full_after."""
    limits = resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE)

    def fill(request: Request) -> None:
        resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, (1 << 14, limits[1]))
        answer(ANSWER)(request)

    with Client(daemon.socket) as client:
        before, used, thread = state(client), spent(client), thread_of(client, TALK)
        server.script(by_purpose(extract=fill, consolidate=CONSOLIDATED))
        with pytest.raises(DiskFull):
            client.learn(thread)
        resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, limits)
        first, tokens = len(server.requests), server.tokens
        assert first == 1
        assert state(client) == before
        server.script(WELL)
        assert client.learn(thread).counts["ADD"] == 1
        now = spent(client)
    assert now[0] - used[0] == first + len(server.requests)
    assert (now[1] - used[1], now[2] - used[2]) == tuple(map(sum, zip(tokens, server.tokens, strict=True)))
