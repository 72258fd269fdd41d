"""The spool: requests as files, answers taken when they appear, also after a restart."""

from __future__ import annotations

import asyncio
import json
import os
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from reverie.client import Client
from reverie.language_model.requests import new_request
from reveried.models import spool
from support.daemon import Daemon, running_daemon
from support.fake_model import memory
from support.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TALK: list[dict[str, Any]] = [
    {"role": "user", "content": "Remember that the kiln must cool for a night before it is opened."},
    {"role": "assistant", "content": "Noted."},
]
ANSWER = json.dumps(
    {"memories": [memory("The kiln cools for a night before it is opened.", "the kiln must cool for a night", 1)]}
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The path of the spool's folder."""
    return tmp_path / "spool"


@pytest.fixture
def daemon(folder: Path) -> Iterator[Daemon]:
    """A daemon whose model is asked through files in the spool's folder, with a deadline of 0.2 s."""
    settings = {
        "REVERIE_DISTILLER_KIND": "spool",
        "REVERIE_DISTILLER_SPOOL_FOLDER": str(folder),
        "REVERIE_DISTILLER_DEADLINE_SECONDS": "0.2",
    }
    with running_daemon(None, **settings) as running:
        yield running


@pytest.fixture
def client(daemon: Daemon) -> Iterator[Client]:
    """A client of the daemon whose model is asked through the spool."""
    with Client(daemon.socket) as opened:
        yield opened


def requests(folder: Path) -> list[Path]:
    """Return the request files in the spool, sorted by name."""
    return sorted((folder / "requests").glob("*.json"))


def open_requests(folder: Path, key: str) -> list[Any]:
    """Return the value of `key` in each request file, sorted by file name; a file removed meanwhile is left out."""
    found = []
    for path in requests(folder):
        with suppress(FileNotFoundError):  # the daemon removes a request when it takes its answer
            found.append(json.loads(path.read_bytes())[key])
    return found


def learn(client: Client) -> tuple[str, str | None]:
    """Learn from a new thread; return the thread's id and the fallback."""
    thread = client.create_thread().id
    client.append(thread, TALK)
    return thread, client.learn(thread).fallback


def answer(folder: Path, text: str = ANSWER, ending: str = ".json") -> None:
    """Write an answer to the only request file in the spool."""
    (request,) = requests(folder)
    (folder / "answers" / f"{request.stem}{ending}").write_text(text)


def test_an_answer_is_taken_when_it_appears(client: Client, folder: Path) -> None:
    """A request is written to a file that only its owner can read; once its answer is written, the memory is learnt."""
    thread, fallback = learn(client)

    assert "extraction failed (timeout)" in (fallback or "")
    (request,) = requests(folder)
    content = json.loads(request.read_text())
    assert request.stat().st_mode & 0o777 == 0o600
    assert (content["id"], content["purpose"]) == (request.stem, "extract")
    assert content["learntFrom"] == {"space": "default", "thread": thread}
    assert "kiln must cool" in content["prompt"]
    answer(folder)
    wait_until(lambda: client.memories().items)
    wait_until(lambda: not requests(folder))
    assert client.memories().items[0].provenance["thread"] == thread


def test_a_consolidation_is_waited_for(client: Client, folder: Path) -> None:
    """A candidate near an older memory is learnt only after the model's second answer, that of the consolidation."""
    _, _ = learn(client)
    answer(folder)
    wait_until(lambda: client.memories().items)
    wait_until(lambda: not requests(folder))
    (old,) = client.memories().items
    thread = client.create_thread().id
    words = "Remember that the kiln must cool for two nights before it is opened."
    client.append(thread, [{"role": "user", "content": words}, {"role": "assistant", "content": "Noted."}])
    client.learn(thread)
    newer = "The kiln cools for two nights before it is opened."
    answer(folder, json.dumps({"memories": [memory(newer, "the kiln must cool for two nights", 1)]}))
    wait_until(lambda: open_requests(folder, "purpose") == ["consolidate"])
    assert [item.content for item in client.memories().items] == [old.content]
    # A recall in the meantime, as each prompt is one, changes the use of the memory, and not the question.
    assert client.recall("How long does the kiln cool?").hits
    client.learn(thread)
    (asked,) = requests(folder)
    today = str(client.memory(old.id).last_accessed_at)[:10]
    assert f'"recalled": 1, "lastRecalled": "{today}"' in json.loads(asked.read_bytes())["messages"][0]["content"]

    update = {"action": "UPDATE", "id": old.id, "content": newer, "tags": ["kiln"], "candidateIndex": 0}
    answer(folder, json.dumps({"operations": [update, {"action": "SKIP", "candidateIndex": 0}]}))

    wait_until(lambda: [item.content for item in client.memories().items] == [newer])
    assert not requests(folder)


def test_consolidations_of_a_space_come_one_after_another(client: Client, daemon: Daemon, folder: Path) -> None:
    """Of six threads near one memory each is consolidated once, the next when the last is applied, after a restart too.

    The answer to one changes the memories that the others would be asked about, and they would be asked anew.
    """
    learn(client)
    answer(folder)
    wait_until(lambda: client.memories().items)
    wait_until(lambda: not requests(folder))
    (old,) = client.memories().items
    night_of: dict[str, str] = {}
    for night in ("two", "three", "four", "five", "six", "seven"):
        thread = client.create_thread().id
        night_of[thread] = night
        words = f"Remember that the kiln must cool for {night} nights before it is opened."
        client.append(thread, [{"role": "user", "content": words}, {"role": "assistant", "content": "Noted."}])
        client.learn(thread)
    for path in requests(folder):
        night = night_of[json.loads(path.read_bytes())["learntFrom"]["thread"]]
        found = memory(f"The kiln cools for {night} nights.", f"the kiln must cool for {night} nights", 1)
        (folder / "answers" / path.name).write_text(json.dumps({"memories": [found]}))

    asked: list[str] = []
    for _ in night_of:
        wait_until(lambda: open_requests(folder, "purpose") == ["consolidate"])
        (request,) = requests(folder)
        night = night_of[json.loads(request.read_bytes())["learntFrom"]["thread"]]
        asked.append(night)
        if len(asked) == 3:  # also while threads wait for their turn
            daemon.stop()
            daemon.start()
            client.close()
            client = Client(daemon.socket)
        content = f"The kiln cools for {night} nights before it is opened."
        update = {"action": "UPDATE", "id": old.id, "content": content, "tags": ["kiln"], "candidateIndex": 0}
        answer(folder, json.dumps({"operations": [update, {"action": "SKIP", "candidateIndex": 0}]}))
        wait_until(partial(has_only, client, content))
        wait_until(partial(is_gone, request))

    wait_until(lambda: not requests(folder) and not list((folder / "waiting").iterdir()))
    client.close()
    assert sorted(asked) == sorted(night_of.values())


def test_a_thread_that_waits_is_not_blocked_by_a_removed_request(client: Client, folder: Path) -> None:
    """Removing an open consolidation's file gives the turn to the next thread; a deleted thread gives up its own."""
    learn(client)
    answer(folder)
    wait_until(lambda: client.memories().items)
    wait_until(lambda: not requests(folder))
    threads = []
    for night in ("two", "three", "four"):
        thread = client.create_thread().id
        threads.append(thread)
        words = f"Remember that the kiln must cool for {night} nights before it is opened."
        client.append(thread, [{"role": "user", "content": words}, {"role": "assistant", "content": "Noted."}])
        client.learn(thread)
        found = memory(f"The kiln cools for {night} nights.", f"the kiln must cool for {night} nights", 1)
        (extraction,) = (path for path in requests(folder) if json.loads(path.read_bytes())["purpose"] == "extract")
        (folder / "answers" / extraction.name).write_text(json.dumps({"memories": [found]}))
        wait_until(lambda: open_requests(folder, "purpose") == ["consolidate"])
        wait_until(lambda: len(list((folder / "waiting").glob("*"))) == len(threads) - 1)

    client.delete_thread(threads[1], confirm=threads[1])
    (request,) = requests(folder)
    assert json.loads(request.read_bytes())["learntFrom"]["thread"] == threads[0]
    request.unlink()

    wait_until(lambda: [asked["thread"] for asked in open_requests(folder, "learntFrom")] == [threads[2]])
    wait_until(lambda: not list((folder / "waiting").glob("*")))


def is_gone(path: Path) -> bool:
    """Return True if there is no file at `path`."""
    return not path.exists()


def has_only(client: Client, content: str) -> bool:
    """Return True if `content` is the one memory there is."""
    return [item.content for item in client.memories().items] == [content]


def test_an_answer_that_is_taken_again_counts_once(folder: Path) -> None:
    """If an answer in the spool is read a second time, its tokens are not counted again."""
    request = new_request(
        purpose="extract", role="strong", system="s", messages=[], schema={}, max_output_tokens=10, prompt_version="e"
    )
    spool.write_request(folder, request)
    path = folder / "answers" / f"{request.id}.json"
    path.write_text(ANSWER)
    os.utime(path, (1, 1))
    transport = spool.SpoolTransport(folder, models={})

    first = asyncio.run(transport.answer(request, 5))
    second = asyncio.run(transport.answer(request, 5))

    assert first.output_tokens > 0
    assert (second.text, second.input_tokens, second.output_tokens) == (first.text, 0, 0)


def test_requests_that_nobody_waits_for_are_removed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Old or answered requests that nothing waits for are removed from the spool; those still needed stay."""
    names = ("answered", "open", "stale", "of a thread", "asked again")
    made = {
        name: new_request(
            purpose="consolidate",
            role="strong",
            system=name,
            messages=[],
            schema={},
            max_output_tokens=9,
            prompt_version="m",
        )
        for name in names
    }
    for name, request in made.items():
        token = spool.LEARNT_FROM.set(("default", "t") if name == "of a thread" else None)
        spool.write_request(folder, request)
        spool.LEARNT_FROM.reset(token)
    paths = {name: folder / "requests" / f"{request.id}.json" for name, request in made.items()}
    for name in ("stale", "of a thread", "asked again"):
        os.utime(paths[name], (1, 1))
    spool.write_request(folder, made["asked again"])
    answered = folder / "answers" / f"{made['answered'].id}.json"
    answered.write_text("{}")
    os.utime(answered, (1, 1))
    other = folder / "requests" / "notes.json"
    other.write_text('{"of": "a person"}')
    os.utime(other, (1, 1))

    async def learn(*_: object) -> None:
        raise AssertionError("nothing is learnt from these")

    async def work() -> None:
        task = asyncio.ensure_future(spool.learn_from_answers(folder, learn))
        while paths["answered"].exists() or paths["stale"].exists():  # noqa: ASYNC110 - a thread removes them
            await asyncio.sleep(0.01)
        task.cancel()

    monkeypatch.setattr(spool, "PICK_UP_S", 0.01)
    asyncio.run(asyncio.wait_for(work(), 60))
    assert set(requests(folder)) == {other, *(paths[name] for name in ("open", "of a thread", "asked again"))}
    assert answered.exists()


def test_an_answer_after_a_restart(client: Client, daemon: Daemon, folder: Path) -> None:
    """An answer that is written to the spool while the daemon is stopped is learnt from after its next start."""
    learn(client)
    daemon.stop()
    answer(folder, f"```json\n{ANSWER}\n```", ".md")
    daemon.start()

    with Client(daemon.socket) as again:
        wait_until(lambda: again.memories().items)


def test_a_deep_file_does_not_end_the_spool(client: Client, daemon: Daemon, folder: Path) -> None:
    """A request file that is nested too deeply is logged once and left out; other requests are learnt from."""
    learn(client)
    (folder / "requests" / "deep.json").write_text("[" * 200_000)
    (folder / "answers" / "deep.json").write_text("[" * 200_000)
    wait_until(lambda: "a request in the spool cannot be read" in daemon.log_text())
    (folder / "answers" / f"{next(file.stem for file in requests(folder) if file.stem != 'deep')}.json").write_text(
        ANSWER
    )

    wait_until(lambda: client.memories().items)
    assert daemon.log_text().count("a request in the spool cannot be read") == 1


def test_a_bad_answer_adds_nothing(client: Client, folder: Path) -> None:
    """An answer that cannot be read adds nothing and removes its request; learning again writes a new one."""
    thread, _ = learn(client)
    answer(folder, "I do not know.")
    wait_until(lambda: not requests(folder))

    assert client.memories().items == []
    (folder / "answers").joinpath(next((folder / "answers").iterdir())).unlink()
    assert "timeout" in (client.learn(thread).fallback or "")
    answer(folder)
    wait_until(lambda: client.memories().items)


def test_the_same_question_is_one_file(client: Client, folder: Path) -> None:
    """Learning again from the same messages does not add another request file."""
    thread, _ = learn(client)
    before = requests(folder)
    client.learn(thread)

    assert requests(folder) == before


@pytest.mark.parametrize("ending", [".json", ".txt"])
def test_a_purged_thread_leaves_the_spool(client: Client, folder: Path, ending: str) -> None:
    """Purging a thread removes its request and answers with its words from the spool; those of other threads stay."""
    thread, _ = learn(client)
    (asked,) = requests(folder)
    (folder / "answers" / f"{'0' * 32}{ending}").write_text("The kiln cools for a night.")
    (folder / "answers" / f"{'1' * 32}{ending}").write_text("Boats are tied up at noon.")
    other = client.create_thread().id
    client.append(other, [{"role": "user", "content": "Remember that boats are tied up at noon."}])
    client.learn(other)
    assert len(requests(folder)) == 2

    client.delete_thread(thread, confirm=thread, purge=True)

    assert [path for path in requests(folder) if path == asked] == []
    assert len(requests(folder)) == 1
    assert [path.stem for path in (folder / "answers").iterdir()] == ["1" * 32]
    assert not [path for path in folder.rglob("*") if path.is_file() and "kiln" in path.read_text()]


def test_a_reflection_goes_on_turn_by_turn(daemon: Daemon, folder: Path) -> None:
    """In a reflection over the spool each turn is its own request, continued when answered, after a restart too."""
    quotes = ["the kiln must cool for a night before it is opened"]
    entry = {"path": "facts/project.md", "entry": "- The kiln cools for a night.", "quotes": quotes}
    with Client(daemon.socket) as client:
        thread = client.create_thread().id
        client.append(thread, TALK)
        assert "reflection failed (timeout)" in (client.reflect(thread).fallback or "")
    first = requests(folder)
    answer(folder, json.dumps({"calls": [{"name": "memory_append", "input": entry}]}))
    wait_until(lambda: bool(requests(folder)) and requests(folder) != first)
    (second,) = requests(folder)
    content = json.loads(second.read_text())
    assert [message["role"] for message in content["messages"]] == ["user", "assistant", "user"]
    assert "Call call-1" in content["prompt"]
    daemon.stop()
    answer(folder, '{"calls": []}')
    daemon.start()
    with Client(daemon.socket) as client:
        wait_until(lambda: [item.content for item in client.memories().items] == ["The kiln cools for a night."])
