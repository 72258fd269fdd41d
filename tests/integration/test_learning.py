"""Learning from imported threads, and imports of other copies of a session, which never duplicate entries."""

from __future__ import annotations

from pathlib import Path

import pytest

from reverie.client import Client
from reverie.errors import NotFound
from reveried.cli.send_sessions import import_file
from support.daemon import Daemon
from support.pages import stored_messages
from support.story import WHY, generated_session, session_file


def test_a_thread_teaches_once(client: Client, daemon: Daemon, tmp_path: Path) -> None:
    """Learning writes memories with the project's name and their files; learning again changes nothing."""
    thread = str(import_file(client, session_file(tmp_path, 21, turns=6, why=WHY), program="claude-code").thread)

    learnt = client.learn(thread)
    operations = client.status().counts["operations"]
    again = client.learn(thread)

    assert learnt.counts["ADD"] > 0
    assert (again.counts, again.operation) == ({}, None)
    assert client.status().counts["operations"] == operations
    mine = [memory for memory in client.memories().items if memory.provenance.get("thread") == thread]
    assert mine
    assert {memory.provenance.get("project") for memory in mine if memory.type != "preference"} == {"harbour"}
    assert all("this project" not in memory.content for memory in mine)
    assert (daemon.folder / mine[0].document).is_file()
    assert client.thread(thread).distillations == 0


def test_learning_from_nothing(client: Client) -> None:
    """An unknown thread is an error; an empty one gives no memories."""
    with pytest.raises(NotFound):
        client.learn("thr_none")
    assert client.learn(client.create_thread().id).operation is None


def test_a_distillation_learns_only_what_is_new(client: Client, tmp_path: Path) -> None:
    """A distillation does not learn again from messages that an import learnt from."""
    thread = str(import_file(client, session_file(tmp_path, 22, turns=6), program="claude-code").thread)
    client.learn(thread)

    distillation = client.distill(thread)

    assert distillation.memories is not None
    assert distillation.memories.candidates == 0


def test_copies_of_a_session_never_double_it(client: Client, tmp_path: Path) -> None:
    """Importing a shorter copy and the whole file of an imported session in turn adds no line."""
    file = session_file(tmp_path, 23, turns=5)
    shorter = tmp_path / "copy" / file.name
    shorter.parent.mkdir()
    lines = generated_session(23, turns=5).splitlines(keepends=True)
    shorter.write_bytes(b"".join(lines[: len(lines) // 3]))
    thread = str(import_file(client, file, program="claude-code").thread)
    messages = stored_messages(client, thread)

    added = [import_file(client, path, program="claude-code").added for path in (shorter, file, shorter, file, file)]

    assert added == [0, 0, 0, 0, 0]
    assert stored_messages(client, thread) == messages


def test_a_truncated_and_restored_file(client: Client, tmp_path: Path) -> None:
    """A session whose file was truncated and later written completely has every line once."""
    path = session_file(tmp_path, 24, turns=5)
    data = path.read_bytes()
    thread = str(import_file(client, path, program="claude-code").thread)
    messages = stored_messages(client, thread)
    path.write_bytes(data[: len(data) // 2])
    import_file(client, path, program="claude-code")
    path.write_bytes(data)

    assert import_file(client, path, program="claude-code").added == 0
    assert stored_messages(client, thread) == messages


def test_the_fragment_has_exactly_the_api_parameters(client: Client) -> None:
    """`**context().request` has exactly four parameters: `system`, `messages`, `context_management` and `betas`."""
    thread = client.create_thread().id
    client.append(thread, [{"role": "user", "content": "Where were we?"}])
    request = client.context(thread).request

    assert list({**request}) == ["system", "messages", "context_management", "betas"]
    with pytest.raises(KeyError):
        request["model"]


def thread_that_ran(client: Client, command: str, project: str) -> str:
    """Return a new thread of a project in which a command passed once, learnt from."""
    thread = client.create_thread(project=project).id
    use = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": command, "description": "Run the tests"}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": "ok"}
    client.append(
        thread,
        [
            {"role": "user", "content": "Do the tests pass?"},
            {"role": "assistant", "content": [use]},
            {"role": "user", "content": [result]},
        ],
    )
    client.learn(thread)
    return thread


def test_a_projects_command_is_counted_over_its_threads(client: Client) -> None:
    """A command of two threads of a project becomes a procedure; one of twice as many threads replaces it."""

    def procedures() -> list[str]:
        return [memory.content for memory in client.memories(kind="procedure").items]

    thread_that_ran(client, "make test", "pier")
    thread_that_ran(client, "make test", "mole")
    assert procedures() == []
    second = thread_that_ran(client, "make test", "pier")
    assert procedures() == ["To run the tests of the project pier: `make test`."]
    for _ in range(4):
        assert procedures() == ["To run the tests of the project pier: `make test`."]
        thread_that_ran(client, "mise run test", "pier")
    assert procedures() == ["To run the tests of the project pier: `mise run test`."]
    client.delete_thread(second, confirm=second)
    assert client.learn(thread_that_ran(client, "make test", "pier")).operation is None


def test_provenance_names_the_message_with_the_words(client: Client) -> None:
    """The provenance of a learnt command is the entry of its call, and not that of its output."""
    thread_that_ran(client, "make test", "pier")
    thread_that_ran(client, "make test", "pier")
    [procedure] = client.memories(kind="procedure").items
    assert procedure.provenance["seqs"] == [2]
