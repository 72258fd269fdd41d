"""Deadlines of requests that are sent in part, and of answers that are not read."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from itertools import pairwise

import pytest

from reverie.client import Client
from support.daemon import HEALTH, QUICK, Daemon, check_refused, check_serving, running_daemon, status_bytes
from support.waiting import suspended, wait_until

SUSPENDED_S = 2.0  # longer than every deadline of QUICK
CRAWL_BYTES = 400
"""As many would take twenty seconds; the deadlines of QUICK are half a second."""


@pytest.fixture(scope="module")
def daemon() -> Iterator[Daemon]:
    """Yield one daemon with short deadlines for the module."""
    with running_daemon(**QUICK) as running:
        yield running


def test_short_body_has_no_effect(daemon: Daemon) -> None:
    """A client that disconnects in the middle of a body has no effect, and nothing of the body is logged."""
    with daemon.wire() as wire:
        wire.send(b'POST /v1/threads HTTP/1.1\r\nContent-Length: 100\r\n\r\n{"title": "zebra-crossing"')
        wire.socket.shutdown(socket.SHUT_WR)
        assert wire.closed()
    assert "zebra-crossing" not in daemon.log_text()
    check_serving(daemon)


def test_short_head_has_no_effect(daemon: Daemon) -> None:
    """Two bytes of a head and a disconnect have no effect."""
    with daemon.wire() as wire:
        wire.send(b"GE")
        wire.socket.shutdown(socket.SHUT_WR)
        assert wire.closed()
    check_serving(daemon)


def test_crawling_head_and_body_meet_their_deadlines(daemon: Daemon) -> None:
    """A head or body that is sent too slowly is refused with 400 once its deadline is over."""
    for opening in (b"GET /v1/health HTTP/1.1\r\n", b"POST /v1/health HTTP/1.1\r\nContent-Length: 1000\r\n\r\n"):
        with daemon.wire() as wire:
            wire.send(opening)
            for _ in range(CRAWL_BYTES):
                time.sleep(0.05)
                wire.send(b"a")
                wire.socket.setblocking(False)  # noqa: FBT003 - the standard library's signature
                try:
                    if wire.socket.recv(1, socket.MSG_PEEK):
                        break
                except BlockingIOError:
                    continue
                finally:
                    wire.socket.settimeout(10)
            else:
                pytest.fail("the crawl was suffered")
            check_refused(wire.answer(), 400, "validation_error", "deadline")
            assert wire.closed()


def test_steady_slow_body_is_served() -> None:
    """A large body in steady progress may take longer than the deadline, which counts progress only."""
    with running_daemon(REVERIE_DAEMON_BODY_SECONDS="2") as patient:
        wait_until(lambda: served_slowly(patient, deadline_s=2.0), "a body sent without a pause of the machine")


def served_slowly(daemon: Daemon, deadline_s: float) -> bool:
    """Send a body for longer than the deadline and check its answer; False if this process paused too long meanwhile.

    On a busy machine that process may stand still for longer than the deadline, which is then rightly enforced.
    """
    with daemon.wire() as wire:
        wire.send(b"GET /v1/health HTTP/1.1\r\nContent-Length: 160000\r\n\r\n")
        sent_at = [time.monotonic()]
        for _ in range(16):
            time.sleep(0.15)
            wire.send(b" " * 10_000)
            sent_at.append(time.monotonic())
        assert sent_at[-1] - sent_at[0] > deadline_s
        answer = wire.answer()
    if max(after - before for before, after in pairwise(sent_at)) > deadline_s / 2:
        return False
    assert answer is not None
    assert answer.status == 200
    return True


def test_idle_connection_is_closed(daemon: Daemon) -> None:
    """A connection without requests is closed at the idle limit; blank lines do not extend it."""
    for opening, answers in ((b"", 0), (HEALTH, 1), (b"\r\n" * 50, 0)):
        began = time.monotonic()
        with daemon.wire(timeout=60) as wire:
            wire.send(opening)
            for _ in range(answers):
                wire.answer()
            assert wire.closed()
        assert time.monotonic() - began >= float(QUICK["REVERIE_DAEMON_IDLE_SECONDS"])


def test_client_that_never_reads(daemon: Daemon) -> None:
    """A client that sends requests and reads no answer is disconnected, and costs less than 8 MiB of memory."""
    before = status_bytes(daemon.pid, "VmRSS")
    with daemon.wire() as wire:
        wire.socket.settimeout(0.2)
        while True:
            try:
                wire.socket.send(HEALTH * 100)
            except TimeoutError:
                continue
            except (BrokenPipeError, ConnectionResetError):
                break
        assert status_bytes(daemon.pid, "VmRSS") - before < 8 << 20
    check_serving(daemon)


@pytest.mark.parametrize("sent", [0, 10, len(HEALTH) - 1])
def test_a_request_that_arrived_during_a_suspension_is_answered(daemon: Daemon, sent: int) -> None:
    """A daemon suspended beyond its deadlines reads the bytes waiting in a socket before it closes the connection."""
    wait_until(lambda: answered_after_suspension(daemon, sent), "a suspension within the deadlines")


def answered_after_suspension(daemon: Daemon, sent: int) -> bool:
    """Suspend the daemon in the middle of a request and check its answer; False if it was suspended too late.

    On a busy machine this process may stand still until the deadline of a head that was sent in part is over.
    """
    with daemon.wire() as wire:
        wire.send(HEALTH)
        assert wire.answer() is not None
        began = time.monotonic()
        wire.send(HEALTH[:sent])
        time.sleep(0.05)
        with suspended(daemon.pid):
            is_late = time.monotonic() - began > float(QUICK["REVERIE_DAEMON_HEADER_SECONDS"]) / 2
            if not is_late:
                wire.send(HEALTH[sent:])
                time.sleep(SUSPENDED_S)
        if is_late:
            return False
        answer = wire.answer()
    assert answer is not None, "closed without an answer"
    assert answer.status == 200
    return True


def test_a_client_reconnects_after_a_suspension(daemon: Daemon) -> None:
    """A client whose idle connection was closed during a suspension opens a new one by itself."""
    with Client(daemon.socket) as client:
        thread = client.create_thread(agent="sleeper").id
        for _ in range(3):
            with suspended(daemon.pid):
                time.sleep(SUSPENDED_S)
            client.append(thread, [{"role": "user", "content": "good morning"}])
        assert client.thread(thread).message_count == 3
