"""Corrections by a person of what was learnt: the words before are not learnt again, whatever happens meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reverie import wire
from reverie.client import Client
from reverie.redact import Redactor
from reverie.store import ForgottenRecord, Store
from reveried.cli.send_sessions import import_file
from support.daemon import Daemon, running_daemon, scratch_home
from support.projects import git, repository, session

W = "Always use `pnpm` instead of `npm`."
Z = "Take `bun` for everything here"


@pytest.fixture(scope="module")
def daemon() -> Iterator[Daemon]:
    with running_daemon(REVERIE_SYNC_GRACE_SECONDS="0.3") as running:
        yield running


@pytest.fixture(scope="module")
def owner(daemon: Daemon) -> Iterator[Client]:
    with Client(daemon.socket) as opened:
        yield opened


@pytest.fixture
def space(owner: Client) -> str:
    return owner.create_space(f"corrections-{len(owner.spaces().items)}").id


@pytest.fixture
def client(daemon: Daemon, owner: Client, space: str) -> Iterator[Client]:
    with Client(daemon.socket, token=owner.create_token(space).token) as opened:
        yield opened


def contents(client: Client) -> set[str]:
    return {m.content for m in client.memories(limit=1000).items}


def say_in(client: Client, project: str, text: str) -> wire.MemoryChanges:
    thread = client.create_thread(project=project)
    client.append(thread.id, [{"role": "user", "content": text}, {"role": "assistant", "content": "Yes."}])
    return client.learn(thread.id)


def save(client: Client, file: Path, old: str, new: str) -> None:
    file.write_text(file.read_text().replace(old, new))
    client.sync_now()


def test_a_purged_thread_leaves_no_words_of_a_corrected_memory() -> None:
    with scratch_home() as home:
        with running_daemon(home) as daemon, Client(daemon.socket) as client:
            t = client.create_thread(project="harbour")
            said = "Always use `zanzibarette` instead of `npm`."
            client.append(t.id, [{"role": "user", "content": said}, {"role": "assistant", "content": "Yes."}])
            client.learn(t.id)
            (m,) = client.memories().items
            client.change_memory(m.id, wire.ChangeMemory(content=Z, author="person"))
            change = next(o for o in client.operations().items if o.why == "memory.change")
            client.delete_thread(t.id, confirm=t.id, purge=True)
            history = str(client.memory_history(m.id).items)
            client.undo(change.id)
            after = contents(client)
        with Store.open(home / "data" / "store", redactor=Redactor(())) as store, store.reader("default") as reader:
            key = reader.record_history
            records = [
                past.value.content
                for name in {*reader.keys(ForgottenRecord.KIND), *reader.versioned_keys(ForgottenRecord.KIND)}
                for past in key(ForgottenRecord, name)
                if past.value
            ]
    assert [("zanzibarette" in str(one)) for one in (records, history, after)] == [False] * 3


@pytest.mark.parametrize("how", ["forget", "correct"])
def test_what_was_forgotten_stays_so_when_its_project_is_joined(tmp_path: Path, how: str) -> None:
    with running_daemon() as daemon, Client(daemon.socket) as client:
        client.create_thread(project=str(repository(tmp_path / "one" / "pier", "https://example.org/ann/pier.git")))
        other = repository(tmp_path / "two" / "quay")

        def say(name: str) -> str:
            path = session(tmp_path / f"{name}.jsonl", str(other), [W, "Yes."])
            thread = client.thread(str(import_file(client, path, program="claude-code").thread))
            client.learn(thread.id)
            return str(thread.project)

        first = say("a")
        (m,) = client.memories().items
        if how == "forget":
            client.forget(m.id)
        else:
            client.change_memory(m.id, wire.ChangeMemory(content=Z, author="person"))
        git(other, "remote", "add", "origin", "https://example.org/ann/pier.git")
        client.create_thread(project=str(other))
        assert say("b") != first
        assert not any("pnpm" in content for content in contents(client))


@pytest.mark.parametrize("way", ["file", "call"])
def test_an_editors_undo_before_the_correction_changes_nothing(
    daemon: Daemon, client: Client, space: str, way: str
) -> None:
    say_in(client, "harbour", W)
    (m,) = client.memories().items
    bun, deno = (m.content.replace("pnpm", name) for name in ("bun", "deno"))
    old = m.content
    for new in (bun, m.content, deno):
        if way == "file":
            save(client, daemon.home / "root" / space / m.document, old, new)
        else:
            client.change_memory(m.id, wire.ChangeMemory(content=new, author="person"))
        old = new
    say_in(client, "harbour", W)
    assert contents(client) == {deno}


def test_an_agents_words_between_two_corrections_are_replaced_too(
    daemon: Daemon, owner: Client, client: Client, space: str
) -> None:
    say_in(client, "harbour", W)
    (m,) = client.memories().items
    client.change_memory(m.id, wire.ChangeMemory(content=Z, author="person"))
    yarn = "Always use `yarn` instead of `npm`."
    with Client(daemon.socket, token=owner.create_token(space, agent="coder").token) as agent:
        agent.change_memory(m.id, wire.ChangeMemory(content=yarn))
    client.change_memory(m.id, wire.ChangeMemory(content="Use `bun` everywhere", author="person"))
    say_in(client, "harbour", yarn)
    assert contents(client) == {"Use `bun` everywhere"}


@pytest.mark.parametrize("change", ["tag", "stop"])
def test_a_slight_edit_forgets_nothing(daemon: Daemon, client: Client, owner: Client, space: str, change: str) -> None:
    say_in(client, "harbour", W)
    (m,) = client.memories().items
    new = {"tags": ["js"]} if change == "tag" else {"content": m.content.removesuffix("”") + ".”"}
    client.change_memory(m.id, wire.ChangeMemory(author="person", **new))
    with Client(daemon.socket, token=owner.create_token(space, agent="coder").token) as agent:
        assert say_in(client, "harbour", W).forgotten == 0  # dropped as forgotten, though it lives
        agent.change_memory(m.id, wire.ChangeMemory(tags=["build"]))
        agent.append_entry("facts/harbour/other.md", f"- {m.content}\n")  # Conflict: what a person has forgotten


def test_saves_that_turn_out_an_agents_are_no_corrections(daemon: Daemon, client: Client, space: str) -> None:
    """Once the session shows that an agent edited the file, the words may be learnt again."""
    """Another tag, capital or full stop leaves the statement, which an agent may say and copy."""
    """Each of the two has words that no person wrote."""
    """The words that were learnt are replaced, whatever stood there before the last save."""
    """A session of either name does not bring it back."""
    """Neither its forgotten statement nor the history of the memory has them, and no undo brings them back."""
    say_in(client, "harbour", W)
    (m,) = client.memories().items
    file, old, uses = daemon.home / "root" / space / m.document, m.content, []
    for name in ("bun", "deno"):
        new = m.content.replace("pnpm", name)
        save(client, daemon.home / "root" / space / m.document, old, new)
        given = {"file_path": str(file), "old_string": old, "new_string": new}
        uses.append({"type": "tool_use", "id": name, "name": "Edit", "input": given})
        old = new
    t = client.create_thread()
    client.append(t.id, [{"role": "user", "content": "Note it."}, {"role": "assistant", "content": uses}])
    assert client.memories().items[0].trust == "agent"
    assert say_in(client, "harbour", W).forgotten == 0


def test_a_long_task_is_not_hidden_by_words_of_several_sentences(client: Client) -> None:
    """No sentence of it says what was forgotten."""
    new = wire.CreateMemory("Deploy the ferry on Friday", type="fact", project="harbour", author="person")
    client.forget(client.remember(new).id)
    t = client.create_thread(project="harbour")
    task = (
        "Draw the new map of the harbour with all the quays, the cranes and the lighthouse, and colour it. Write the "
        "legend below it in German and in English, please. On Friday we met the ferry people. Then deploy the site."
    )
    client.append(t.id, [{"role": "user", "content": task}, {"role": "assistant", "content": "Yes."}])
    assert any("map of the harbour" in line.text for line in client.brief("harbour").lines)
