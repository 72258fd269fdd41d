"""Message Batches: scheduled work is sent together, found again after a restart, and counted as the server counts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from reverie import wire
from reverie.client import Client
from support.daemon import Daemon, running_daemon, scratch_home
from support.fault_batches import SentBatch
from support.fault_model_server import FaultModelServer, purpose_of
from support.provider import ANSWER, WELL, new_thread, nothing_leaked, settings, spent, warm_up
from support.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def server() -> Iterator[FaultModelServer]:
    """A provider whose batches extract the memory of the talk, and which answers single requests well."""
    with FaultModelServer() as running:
        running.batches.answer = lambda _: ANSWER
        yield running


@pytest.fixture
def daemon(server: FaultModelServer) -> Iterator[Daemon]:
    """A daemon at noon of a test clock that sends scheduled work as batches, with two threads and a schedule."""
    more = {"REVERIE_DISTILLER_BATCHES": "scheduled", "REVERIE_DISTILLER_BATCH_POLL_SECONDS": "0.05"}
    patient = {"REVERIE_DISTILLER_DEADLINE_SECONDS": "60"}
    with scratch_home() as home:
        (home / "clock").write_text("2026-05-04T12:00:00Z")
        with running_daemon(home, **settings(server, **patient, **more)) as running:
            with Client(running.socket) as client:
                warm_up(client, server)
                client.remember(wire.CreateMemory(content="The mailer of relay 1 listens on port 2501.", type="fact"))
            yield running


def prepare(daemon: Daemon, server: FaultModelServer, *, job: Any = "learn", threads: int = 2) -> None:
    """Add threads and the schedule, and let it fall due."""
    with Client(daemon.socket) as client:
        for number in range(threads):
            talk = [{"role": "user", "content": f"The thread number {number} is about the mailer."}]
            client.append(new_thread(client), talk)
        client.add_schedule("0 3 * * *", job=job)
    server.script(WELL)
    (daemon.home / "clock").write_text("2026-05-05T03:00:30Z")


def has_run(daemon: Daemon, job: str = "") -> bool:
    """Return True once the only schedule whose job contains `job` has run."""
    with Client(daemon.socket) as client:
        (schedule,) = (schedule for schedule in client.schedules().items if job in schedule.job)
        return schedule.last_run is not None


def check_ledger(client: Client, server: FaultModelServer, *, failed: int = 0) -> None:
    """Assert that calls and tokens are those that the server has seen, single and batched, with no call open."""
    batched = sum(len(batch.requests) for batch in server.batches.all)
    calls, given, got, still = spent(client)
    assert calls == len(server.requests) + batched
    assert (given, got) == tuple(map(sum, zip(server.tokens, server.batches.tokens, strict=True)))
    assert still == 0
    assert sum(entry.failed for entry in client.status().spend.models) == failed


def test_all_threads_are_one_batch(daemon: Daemon, server: FaultModelServer) -> None:
    """A scheduled run extracts from all threads in one batch; other learning does not wait for the batch."""
    prepare(daemon, server)
    wait_until(lambda: "GET msgbatch_1" in server.batches.calls)
    with Client(daemon.socket) as client:
        assert spent(client)[3] == 2
        thread = new_thread(client)
        assert client.learn(thread).counts["ADD"] == 1
        server.batches.end()
        wait_until(lambda: has_run(daemon))
        (batch,) = server.batches.all
        params = list(batch.requests.values())
        assert [param["max_tokens"] for param in params] == [12_000, 12_000]
        assert all(param["output_config"]["format"]["type"] == "json_schema" for param in params)
        assert {purpose_of(seen) for seen in server.requests} == {"extract", "consolidate"}
        assert [purpose_of(seen) for seen in server.requests].count("extract") == 1
        check_ledger(client, server)
        assert len(client.memories().items) == 2
        nothing_leaked(server, daemon)
        assert "ghp_" not in json.dumps([batch.requests for batch in server.batches.all])


def test_killed_while_a_batch_is_under_way(daemon: Daemon, server: FaultModelServer) -> None:
    """After a kill the next start reads the batch by its stored id, and sends nothing again."""
    prepare(daemon, server)
    wait_until(lambda: server.batches.calls.count("GET msgbatch_1") > 1)
    daemon.kill()
    server.batches.end()
    daemon.start()
    wait_until(lambda: has_run(daemon))
    with Client(daemon.socket) as client:
        assert len(server.batches.all) == 1
        check_ledger(client, server)
        assert len(client.memories().items) == 2


def test_killed_before_the_id_was_stored(daemon: Daemon, server: FaultModelServer) -> None:
    """A batch whose id never arrived is found among the newest ones of the account by its requests."""
    server.batches.all.append(_foreign("other-1", "other-2"))
    server.batches.end()
    server.batches.tokens = [0, 0]

    def kill(_: SentBatch) -> None:
        daemon.kill()

    server.batches.after_create = kill
    prepare(daemon, server)
    wait_until(lambda: len(server.batches.all) == 2)
    server.batches.end()
    daemon.start()
    wait_until(lambda: has_run(daemon))
    del server.batches.all[0]
    with Client(daemon.socket) as client:
        assert len(server.batches.all) == 1
        check_ledger(client, server)
        assert len(client.memories().items) == 2


def test_another_programs_batch_is_not_waited_for(daemon: Daemon, server: FaultModelServer) -> None:
    """Batches of another program, one from earlier and one still running, are not waited for in place of ours."""
    earlier, now = _foreign("a", "b"), _foreign("c", "d")
    earlier.created_at, now.id = "2026-11-22T05:00:00Z", "msgbatch_now"
    server.batches.all += [earlier, now]

    def kill(_: SentBatch) -> None:
        daemon.kill()

    server.batches.after_create = kill
    prepare(daemon, server)
    wait_until(lambda: len(server.batches.all) == 3)
    server.batches.all.append(server.batches.all.pop(0))
    earlier.results, now.results = [], []  # so that they stay under way: `end` leaves them as they are
    server.batches.end()
    earlier.results = now.results = None
    daemon.start()
    wait_until(lambda: has_run(daemon))
    assert f"GET {earlier.id}" not in server.batches.calls
    server.batches.all = [batch for batch in server.batches.all if batch not in (earlier, now)]
    with Client(daemon.socket) as client:
        assert len(server.batches.all) == 1
        check_ledger(client, server)
        assert len(client.memories().items) == 2


def test_killed_before_it_was_sent(daemon: Daemon, server: FaultModelServer) -> None:
    """A batch that the provider never got is not counted, and is sent by the next start."""

    def kill_and_lose(batch: SentBatch) -> None:
        server.batches.all.remove(batch)
        server.batches.after_create = lambda _: None
        daemon.kill()

    server.batches.after_create = kill_and_lose
    prepare(daemon, server)
    wait_until(lambda: daemon.process is None or daemon.process.poll() is not None)
    daemon.start()
    wait_until(lambda: len(server.batches.all) == 1)
    server.batches.end()
    wait_until(lambda: has_run(daemon))
    with Client(daemon.socket) as client:
        check_ledger(client, server)


def test_requests_that_expire_or_fail(daemon: Daemon, server: FaultModelServer) -> None:
    """A thread whose request has no answer gets no memory, and is read again by the next run; the others are learnt."""
    prepare(daemon, server, threads=3)
    wait_until(lambda: "GET msgbatch_1" in server.batches.calls)
    server.batches.end(errored=1, expired=1)
    wait_until(lambda: has_run(daemon))
    with Client(daemon.socket) as client:
        check_ledger(client, server, failed=2)
        assert len(client.memories().items) == 2
    (daemon.home / "clock").write_text("2026-05-06T03:00:30Z")
    wait_until(lambda: len(server.batches.all) == 2)
    assert len(server.batches.all[1].requests) == 2
    server.batches.end()


def test_results_that_cannot_be_used(daemon: Daemon, server: FaultModelServer) -> None:
    """Batch results that cannot be used count as failed and are not asked for again; the next run sends a new batch."""
    prepare(daemon, server)
    wait_until(lambda: "GET msgbatch_1" in server.batches.calls)
    server.batches.end(twice=True)
    wait_until(lambda: has_run(daemon))
    with Client(daemon.socket) as client:
        assert sum(entry.failed for entry in client.status().spend.models) == 2
        assert len(client.memories().items) == 1
    (daemon.home / "clock").write_text("2026-05-06T03:00:30Z")
    wait_until(lambda: len(server.batches.all) == 2)
    server.batches.end()


def test_a_provider_that_refuses_the_key_meanwhile(daemon: Daemon, server: FaultModelServer) -> None:
    """If the provider refuses the key the run fails, and its schedule says so; the next run reads the same batch."""
    prepare(daemon, server)
    server.batches.refuse_reads = 401
    wait_until(lambda: has_run(daemon))
    server.batches.refuse_reads = 0
    server.batches.end()
    with Client(daemon.socket) as client:
        (schedule,) = client.schedules().items
        assert schedule.failure is not None
        assert schedule.failure.code == "model_failed"
        (daemon.home / "clock").write_text("2026-05-06T03:00:30Z")
        wait_until(lambda: client.schedules().items[0].failure is None)
        assert len(server.batches.all) == 1
        assert len(client.memories().items) == 2


def test_a_dream_leaves_the_batch_of_learning_alone(daemon: Daemon, server: FaultModelServer) -> None:
    """A dream does not wait for the open batch of a learning run, and the batch is still read after a restart."""
    prepare(daemon, server)
    wait_until(lambda: "GET msgbatch_1" in server.batches.calls)
    with Client(daemon.socket) as client:
        client.add_schedule("0 4 * * *", job="dream")
    (daemon.home / "clock").write_text("2026-05-05T04:00:30Z")
    wait_until(lambda: has_run(daemon, "dream"))
    daemon.kill()
    server.batches.end()
    daemon.start()
    wait_until(lambda: has_run(daemon, "learn"))
    with Client(daemon.socket) as client:
        assert len(server.batches.all) == 1
        check_ledger(client, server)
        assert len(client.memories().items) == 2


def test_a_refused_batch(daemon: Daemon, server: FaultModelServer) -> None:
    """A batch that the provider does not take is not counted; a dream is then made by rule."""
    server.batches.refuse = 400
    with Client(daemon.socket) as client:
        client.remember(wire.CreateMemory(content="The mailer of relay 2 listens on port 2502.", type="fact"))
    prepare(daemon, server, job="dream", threads=0)
    wait_until(lambda: has_run(daemon))
    with Client(daemon.socket) as client:
        check_ledger(client, server)
        (dream,) = client.dreams().items
        assert (dream.failure, dream.trigger) == (None, "schedule")


def _foreign(*names: str) -> SentBatch:
    """Return another program's batch of the same account."""
    return SentBatch("msgbatch_foreign", {name: {"model": "claude-test-1"} for name in names})
