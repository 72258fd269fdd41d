"""A command that waits for a stopped daemon says so, with what to type, and continues when the daemon does."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from reverie.client import Client
from reveried.cli import main, waiting
from support.cli import use_daemon
from support.daemon import Daemon, running_daemon
from support.waiting import suspended, wait_until


@pytest.fixture(scope="module")
def daemon() -> Iterator[Daemon]:
    """A daemon with a thread."""
    with running_daemon() as started:
        with Client(started.socket) as client:
            client.create_thread(id="thr-1")
        yield started


@pytest.fixture(autouse=True)
def _environment(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    use_daemon(daemon, monkeypatch)
    monkeypatch.setattr(waiting, "AFTER_S", 0.1)
    monkeypatch.setattr(waiting, "CHECK_S", 60.0)  # a busy machine lets a daemon answer much later


@pytest.mark.parametrize("words", [["recall", "gate"], ["threads"], ["threads", "--json"]])
def test_a_daemon_that_does_not_answer_is_named(
    words: list[str], daemon: Daemon, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A waiting command says once, on stderr, that the daemon does not answer, with the next step; then it works."""
    codes: list[int] = []
    printed = ["", ""]

    def told() -> bool:
        for index, text in enumerate(capsys.readouterr()):
            printed[index] += text
        return "next:" in printed[1]

    with suspended(daemon.pid), monkeypatch.context() as impatient:
        impatient.setattr(waiting, "CHECK_S", 0.1)
        thread = threading.Thread(target=lambda: codes.append(main(words)))
        thread.start()
        wait_until(told, "the word on the daemon")
    thread.join()
    told()
    assert codes == [0]
    assert printed[1] == (
        f"waiting for the daemon (process {daemon.pid}), which does not answer: it was stopped, or it hangs\n"
        f"next: {waiting.wake_hint(str(daemon.pid))}\n"
    )
    assert main(words) == 0
    assert capsys.readouterr() == (printed[0], "")


def test_a_busy_daemon_is_not_named(daemon: Daemon, capsys: pytest.CaptureFixture[str]) -> None:
    """No notice is printed for a daemon that answers, or for a socket that does not exist."""
    waiting.warn_if_silent(str(daemon.socket))
    waiting.warn_if_silent("/nonexistent/reverie.sock")
    assert capsys.readouterr().err == ""
