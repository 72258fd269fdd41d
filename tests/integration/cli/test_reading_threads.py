"""`reverie thread` and `reverie show` with a real daemon: a thread is read, from its end or around a message."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson
import pytest

from reverie import wire
from reverie.client import Client
from reverie.errors import ValidationError
from reveried.cli import main
from support.daemon import Daemon, environment, running_daemon

Run = Callable[..., tuple[int, str, str]]
MESSAGES = 60


@pytest.fixture(scope="module")
def own() -> Iterator[Daemon]:
    """Run a daemon with one thread of questions and answers, one of which calls a tool."""
    with running_daemon() as daemon:
        with Client(daemon.socket) as client:
            client.create_thread(id="thr_reading", title="The tide table", project="tides")
            for number in range(MESSAGES // 2):
                client.append("thr_reading", [question(number), answer(number)])
        yield daemon


def question(number: int) -> dict[str, object]:
    at = f"2026-03-{1 + number // 24:02}T{number % 24:02}:15:00Z"
    return {"role": "user", "content": f"question {number} about the tide", "at": at}


def answer(number: int) -> dict[str, object]:
    return {"role": "assistant", "content": [{"type": "text", "text": f"answer {number}: high water at noon"}]}


@pytest.fixture
def reverie(own: Daemon, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs `reverie` in this process and returns its exit code, output and errors."""
    for name, value in environment(own.home).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("TZ", "UTC")

    def run(*words: str) -> tuple[int, str, str]:
        capfd.readouterr()
        code = main(words)
        output = capfd.readouterr()
        return code, output.out, output.err

    return run


def numbers(text: str) -> list[int]:
    """Return the numbers of the messages in the text of a thread."""
    return [int(number) for number in re.findall(r"^[#>](\d+)  (?:user|assistant)", text, re.MULTILINE)]


def test_a_thread_is_read_whole(reverie: Run) -> None:
    """`reverie thread` prints every message in order, with its number, author, time and text."""
    code, text, error = reverie("thread", "thr_rea")
    assert (code, error) == (0, "")
    assert numbers(text) == list(range(1, MESSAGES + 1))
    assert "#3  user  2026-03-01 01:15\nquestion 1 about the tide\n\n#4  assistant" in text


def test_the_last_messages_and_those_around_one(reverie: Run) -> None:
    """`--last` prints the last messages, `--around` one message with five before and after it and a mark."""
    assert numbers(reverie("thread", "thr_reading", "--last", "4")[1]) == [57, 58, 59, 60]
    code, text, _ = reverie("thread", "thr_reading", "--around", "31")
    assert (code, numbers(text)) == (0, list(range(26, 37)))
    assert ">31  user" in text
    assert numbers(reverie("thread", "thr_reading", "--around", "2")[1]) == list(range(1, 8))
    assert numbers(reverie("thread", "thr_reading", "--around", "60")[1]) == list(range(55, 61))
    items = orjson.loads(reverie("thread", "thr_reading", "--last", "2", "--json")[1])["items"]
    assert [item["firstSeq"] for item in items] == [59, 60]


def test_wrong_numbers_are_refused(reverie: Run, own: Daemon) -> None:
    """A message number that does not exist, and two ranges at once, are errors."""
    code, _, error = reverie("thread", "thr_reading", "--around", "61")
    assert code == 1
    assert "the thread has no message 61" in error
    assert reverie("thread", "thr_reading", "--around", "3", "--last", "2")[0] == 2
    with Client(own.socket) as client, pytest.raises(ValidationError, match="not both"):
        client.messages("thr_reading", last=2, after="3")


def test_a_pager_is_used_on_a_terminal(own: Daemon, tmp_path: Path) -> None:
    """On a terminal `reverie thread` prints through $PAGER, and succeeds though the pager ends early."""
    seen = tmp_path / "seen"
    variables = {**os.environ, **environment(own.home), "PAGER": f"sh -c 'head -n 4 > {seen}'", "TERM": "dumb"}
    status = in_terminal([sys.executable, "-m", "reveried.cli", "thread", "thr_reading"], variables)
    assert status == 0
    assert seen.read_text(encoding="utf-8").startswith("#1  user  2026-03-01 ")


def in_terminal(command: list[str], variables: dict[str, str]) -> int:
    """Run a command with a pseudo-terminal as its standard streams; return its exit code."""
    child, terminal = os.forkpty()
    if child == 0:
        os.execve(command[0], command, variables)  # noqa: S606 - the command of this project
    while True:
        try:
            if not os.read(terminal, 4096):
                break
        except OSError:  # the child has closed the terminal
            break
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_show_takes_any_id(reverie: Run, own: Daemon) -> None:
    """`reverie show` prints a thread, memory, operation or document by its id; an unknown id is an error."""
    with Client(own.socket) as client:
        memory = client.remember(wire.CreateMemory(content="High water is at noon.", type="fact"))
        operation = client.operations().items[0].id
    assert re.search(r"^Title +The tide table$", reverie("show", "thr_reading")[1], re.MULTILINE)
    assert "To read it: reverie thread thr_reading" in reverie("show", "thr_reading")[1]
    shown = reverie("show", memory.id)[1]
    assert "High water is at noon." in shown
    assert memory.document in shown
    assert "High water is at noon." in reverie("show", memory.document)[1]
    assert re.search(rf"^Operation +{operation}$", reverie("show", operation)[1], re.MULTILINE)
    assert reverie("show", "mem_nowhere")[0] == 1
    assert reverie("show", memory.id[-8:])[1] == shown
    assert reverie("show", "zzzzzzzz")[0] == 1
    assert "nothing has the id 'zzzzzzzz'" in reverie("show", "zzzzzzzz")[2]


@pytest.mark.parametrize("name", ["mcp:My-Client-2.1:fb1ad579e71a", "support-bot-42", "supportbot"])
def test_threads_that_callers_named(reverie: Run, own: Daemon, name: str) -> None:
    """`show` and `forget` take a thread whatever its id is."""
    with Client(own.socket) as client:
        client.create_thread(id=name, title="The tide bot")
    assert re.search(r"^Title +The tide bot$", reverie("show", name)[1], re.MULTILINE)
    status, out, _ = reverie("forget", name, "--yes")
    assert (status, f"Deleted: thread {name} with 0 messages." in out) == (0, True)
    assert reverie("show", name)[0] == 1


def test_versions_of_a_memory(reverie: Run, own: Daemon) -> None:
    """`log` has the newest versions first, as JSON too; it and `rollback` take what lists print of a memory's id."""
    with Client(own.socket) as client:
        memory = client.remember(wire.CreateMemory(content="The ferry leaves at ten.", type="fact"))
        for hour in ("eleven", "twelve"):
            client.change_memory(memory.id, wire.ChangeMemory(f"The ferry leaves at {hour}."))
    status, out, _ = reverie("log", memory.id[-8:], "-n", "2", "--json")
    items = orjson.loads(out)["items"]
    assert status == 0
    assert [item["memory"]["content"].split()[-1] for item in items] == ["twelve.", "eleven."]
    assert reverie("log", f"mem_…{memory.id[-8:]}") == reverie("log", memory.id)
    assert reverie("rollback", items[1]["operation"], "--memory", memory.id[-8:], "--yes")[0] == 0
    assert "The ferry leaves at eleven." in reverie("show", memory.id)[1]


def test_show_takes_a_run(reverie: Run, own: Daemon) -> None:
    """`reverie show` prints a run by its id, and by what the list shows of it."""
    with Client(own.socket) as client:
        run = client.start_run(title="The pier").id
    assert re.search(r"^Title +The pier$", reverie("show", run)[1], re.MULTILINE)
    assert reverie("show", f"run_…{run[-8:]}") == reverie("show", run) == reverie("runs", "show", run)


def test_show_takes_what_lists_shorten(reverie: Run) -> None:
    """`reverie show` prints an archive by the first 12 characters of its SHA-256, as the list of archives shows it."""
    assert reverie("remember", "the lock keeper is on leave")[0] == 0
    assert reverie("dream")[0] == 0
    address = orjson.loads(reverie("archives", "list", "--json")[1])["items"][0]["sha256"]
    assert reverie("show", address[:12]) == reverie("show", address) == reverie("archives", "show", address[:12])
