"""Concurrent changes of the same records: outdated plans are made again, and no caller has to repeat a request."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from reverie.client import Client
from reverie.errors import Conflict, ReverieError
from reveried.cli.send_sessions import import_file
from support.daemon import Daemon, running_daemon
from support.pages import newest_operation
from support.soak import count
from support.story import session_file

AT_ONCE = count(10, 32)


def at_once(daemon: Daemon, calls: list[Callable[[Client], Any]]) -> list[Any]:
    """Make all calls concurrently on separate connections; return the answers, or errors in their place."""
    outcomes: list[Any] = [None] * len(calls)
    ready = threading.Barrier(len(calls))

    def run(index: int) -> None:
        with Client(daemon.socket) as client:
            ready.wait()
            try:
                outcomes[index] = calls[index](client)
            except ReverieError as error:
                outcomes[index] = error

    threads = [threading.Thread(target=run, args=(index,)) for index in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    return outcomes


def distill(thread: str, client: Client) -> Any:
    return client.distill(thread)


def learn(thread: str, client: Client) -> Any:
    return client.learn(thread)


def say(thread: str, text: str, client: Client) -> Any:
    return client.append(thread, [{"role": "user", "content": text}])


def brought(client: Client, folder: Path, number: int) -> str:
    return str(import_file(client, session_file(folder, number, turns=4), program="claude-code").thread)


def test_many_threads_are_distilled_at_once(daemon: Daemon, client: Client, tmp_path: Path) -> None:
    """Each distillation depends on the memories that the others change: all succeed, and every memory exists once."""
    threads = [brought(client, tmp_path, 200 + number) for number in range(AT_ONCE)]
    outcomes = at_once(daemon, [partial(distill, thread) for thread in threads])

    assert [outcome for outcome in outcomes if isinstance(outcome, Exception)] == []
    assert len({outcome.archive for outcome in outcomes}) == AT_ONCE
    assert all(client.thread(thread).distillations == 1 for thread in threads)
    contents = [memory.content for memory in client.memories(limit=1000).items]
    assert len(set(contents)) == len(contents)


def test_concurrent_distillations_of_one_thread(daemon: Daemon, client: Client, tmp_path: Path) -> None:
    """One call distills; the others report that there is nothing to distill."""
    thread = brought(client, tmp_path, 300)
    outcomes = at_once(daemon, [partial(distill, thread)] * 4)
    distillations = [outcome for outcome in outcomes if not isinstance(outcome, Exception)]
    refused = [outcome for outcome in outcomes if isinstance(outcome, Exception)]

    assert len(distillations) == 1
    assert all(isinstance(error, Conflict) and "preserved tail" in error.message for error in refused)
    assert client.thread(thread).distillations == 1


def test_learning_dreaming_and_undoing_at_once(tmp_path: Path) -> None:
    """Concurrent changes of memories all succeed or give a reason, and nothing is lost."""
    with running_daemon() as own, Client(own.socket) as client:
        threads = [brought(client, tmp_path, 400 + number) for number in range(8)]
        client.distill(threads[0])
        operation = newest_operation(client).id
        outcomes = at_once(
            own,
            [
                *(partial(learn, thread) for thread in threads[1:5]),
                *(partial(distill, thread) for thread in threads[5:]),
                lambda api: api.dream(),
                lambda api: api.dream(),
                lambda api: api.undo(operation),
            ],
        )
        failed = [outcome for outcome in outcomes if isinstance(outcome, Exception)]
        assert all("changed since" in str(error) for error in failed), failed
        assert len(failed) <= 1
        client.sync_now()  # MEMORY.md follows the last change a moment later, if nobody asks
        stored = {path: text for path, text in documents(client).items() if path != "MEMORY-INDEX.json"}
        root = own.folder
        assert {path: (root / path).read_text("utf-8") for path in stored} == stored


def documents(client: Client) -> dict[str, str]:
    return {item.path: client.document(item.path).content for item in client.documents().items}


def test_appends_during_a_distillation_are_in_the_tail(daemon: Daemon, client: Client, tmp_path: Path) -> None:
    """Messages appended during a distillation are after it, and count towards the window."""
    thread = brought(client, tmp_path, 500)
    before = client.thread(thread).message_count
    calls: list[Callable[[Client], Any]] = [partial(distill, thread)]
    calls += [partial(say, thread, f"meanwhile {number}") for number in range(8)]
    outcomes = at_once(daemon, calls)

    assert [outcome for outcome in outcomes if isinstance(outcome, Exception)] == []
    record = client.thread(thread)
    assert (record.message_count, record.distillations) == (before + 8, 1)
    text = str(client.context(thread).request.messages)
    assert all(f"meanwhile {number}" in text for number in range(8))
    assert record.context.tokens >= outcomes[0].tokens_after
