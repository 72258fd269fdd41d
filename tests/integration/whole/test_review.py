"""Memories in review, and forgotten ones: over the API, with sessions that say them again."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from reverie import wire
from reverie.client import Client
from reverie.errors import Conflict, Forbidden, NotFound
from reveried.cli.send_sessions import import_file
from support.daemon import Daemon, running_daemon
from support.fake_model import FakeModel, memory
from support.pages import newest_operation
from support.prose import SAID_AGAIN
from support.story import session_file
from support.turns import learn
from support.waiting import wait_until


@pytest.fixture(scope="module")
def daemon() -> Iterator[Daemon]:
    with running_daemon(REVERIE_SYNC_GRACE_SECONDS="0.3") as running:
        yield running


@pytest.fixture(scope="module")
def owner(daemon: Daemon) -> Iterator[Client]:
    """A client without a token, which creates spaces and tokens."""
    with Client(daemon.socket) as opened:
        yield opened


@pytest.fixture
def space(owner: Client) -> str:
    """A space of its own for each test: what was forgotten holds for all threads of a space."""
    return owner.create_space(f"review-{len(owner.spaces().items)}").id


@pytest.fixture
def client(daemon: Daemon, owner: Client, space: str) -> Iterator[Client]:
    """A person's client of that space."""
    with Client(daemon.socket, token=owner.create_token(space).token) as opened:
        yield opened


def contents(client: Client) -> set[str]:
    return {memory.content for memory in client.memories(limit=1000).items}


def root(daemon: Daemon, space: str) -> Path:
    return daemon.home / "root" / space


def test_thirty_forgotten_memories_are_said_again(tmp_path: Path) -> None:
    """Forgotten memories said again in the same words do not come back; in other words each waits in review.

    With a model that extracts every wish, so that nothing is left out for another reason.
    """
    model = FakeModel.at(tmp_path / "model")
    with running_daemon(None, **model.settings()) as daemon, Client(daemon.socket) as client:
        for texts, said in (([text for text, _ in SAID_AGAIN], "first"), ([text for text, _ in SAID_AGAIN], "again")):
            model.extract(*(memory(text, text, 2 * at - 1, type="preference") for at, text in enumerate(texts, 1)))
            answer = learn(client, *texts)
            if said == "first":
                assert answer.counts["ADD"] == 30
                for item in client.memories(limit=1000).items:
                    client.forget(item.id)
            else:
                assert (answer.forgotten, answer.candidates, answer.waiting) == (30, 0, [])
            assert contents(client) == set()
        assert client.candidates().items == []

        others = [other for _, other in SAID_AGAIN]
        model.extract(*(memory(text, text, 2 * at - 1, type="preference") for at, text in enumerate(others, 1)))
        assert len(learn(client, *others).waiting) == 30
        assert contents(client) == set()
        waiting = client.candidates(limit=1000).items
        assert {item.changes[0].content for item in waiting} == set(others)
        assert {item.reason for item in waiting} == {"forgotten"}


def test_what_was_forgotten_comes_back_when_it_is_remembered(client: Client) -> None:
    """A forgotten memory comes back by `remember`, and can then be forgotten again."""
    text, other = SAID_AGAIN[0]
    learn(client, text)
    (memory,) = client.memories().items
    client.forget(memory.id)
    assert learn(client, text).forgotten == 1
    remembered = client.remember(wire.CreateMemory(memory.content, type="preference", author="person"))
    assert remembered.trust == "person"
    learn(client, other)
    assert all(item.reason != "forgotten" for item in client.candidates().items)
    client.forget(remembered.id)
    assert learn(client, text).forgotten == 1


def test_no_undo_takes_a_purge_back(client: Client) -> None:
    """After a purge no operation that made or deleted the memory is offered for an undo; it is not learnt again."""
    text, _ = SAID_AGAIN[0]
    neighbour = client.remember(wire.CreateMemory("Deployments are announced in the harbour channel"))
    before = newest_operation(client).id
    learn(client, text)
    (memory,) = [item for item in client.memories().items if item.id != neighbour.id]
    deleted = client.forget(memory.id).operation
    assert client.operation(deleted).undoable

    client.forget(memory.id, purge=True)

    offered = {item.id for item in client.operations().items if item.undoable}
    assert offered == {before}
    with contextlib.suppress(Conflict):
        client.undo(deleted)
    assert learn(client, text).forgotten == 1
    client.rollback(before)
    assert learn(client, text).forgotten == 1
    assert contents(client) == {neighbour.content}


def test_what_was_forgotten_comes_back_when_a_person_writes_it(daemon: Daemon, space: str, client: Client) -> None:
    """A line that a person deletes from the file is forgotten; one that they write again is a memory again."""
    text, _ = SAID_AGAIN[0]
    learn(client, text)
    (memory,) = client.memories().items
    file = root(daemon, space) / memory.document
    whole = file.read_text("utf-8")
    file.write_text("".join(line for line in whole.splitlines(keepends=True) if memory.content not in line))
    wait_until(lambda: contents(client) == set())
    assert learn(client, text).forgotten == 1
    file.write_text(whole)
    wait_until(lambda: contents(client) == {memory.content})
    (back,) = client.memories().items
    assert learn(client, text).forgotten == 0
    assert contents(client) == {back.content}


def test_undo_of_a_deletion_takes_the_forgetting_back(client: Client) -> None:
    """An undo of a deletion brings the memory back, and its words are no longer treated as forgotten."""
    text, other = SAID_AGAIN[0]
    learn(client, text)
    (memory,) = client.memories().items
    client.undo(client.forget(memory.id).operation)
    assert contents(client) == {memory.content}
    assert learn(client, text).forgotten == 0
    learn(client, other)
    assert all(item.reason != "forgotten" for item in client.candidates().items)


def test_a_rollback_takes_forgetting_and_candidates_back(client: Client) -> None:
    """A rollback to before a deletion restores the memory and removes the waiting candidate and the forgetting."""
    text, other = SAID_AGAIN[0]
    learn(client, text)
    before = client.operations(limit=1).items[0].id
    (memory,) = client.memories().items
    client.forget(memory.id)
    learn(client, other)
    assert len(client.candidates().items) == 1
    client.rollback(before)
    assert contents(client) == {memory.content}
    assert client.candidates(state="all").items == []
    assert learn(client, text).forgotten == 0


@pytest.fixture
def candidate(client: Client) -> wire.Candidate:
    """A candidate that waits for a person because its words are near to a forgotten memory."""
    text, other = SAID_AGAIN[0]
    learn(client, text)
    client.forget(client.memories().items[0].id)
    (name,) = learn(client, other).waiting
    return client.candidate(name)


def test_a_candidate_is_accepted_and_undone(
    daemon: Daemon, space: str, client: Client, candidate: wire.Candidate
) -> None:
    """An accepted candidate becomes a memory with a person's trust and its provenance; an undo lets it wait again."""
    (change,) = candidate.changes
    assert (change.action, change.type, candidate.state) == ("ADD", "preference", "waiting")
    assert change.provenance["thread"].startswith("thr_")
    decided = client.accept_candidate(candidate.id)
    (memory,) = client.memories().items
    assert decided.memories == [memory.id]
    assert (memory.content, memory.trust) == (change.content, "person")
    assert memory.provenance["thread"] == change.provenance["thread"]
    messages = {message.last_seq: message for message in client.messages(memory.provenance["thread"]).items}
    assert memory.provenance["at"] == messages[memory.provenance["seqs"][0]].at
    assert memory.content in (root(daemon, space) / memory.document).read_text("utf-8")
    assert client.candidates().items == []
    assert client.candidate(candidate.id).state == "accepted"
    with pytest.raises(Conflict):
        client.accept_candidate(candidate.id)
    client.undo(decided.operation)
    assert contents(client) == set()
    assert client.candidates().items == [candidate]
    once = client.accept_candidate(candidate.id, key="once")
    assert client.accept_candidate(candidate.id, key="once") == once
    with pytest.raises(Conflict):
        client.reject_candidate(candidate.id, key="once")


def test_a_rejected_candidate_is_not_asked_again(client: Client, candidate: wire.Candidate) -> None:
    """A rejected candidate does not wait again when a session says the same; an undo lets it wait again."""
    decided = client.reject_candidate(candidate.id)
    assert client.candidates().items == []
    assert client.candidates(state="rejected").items[0].decided_by == "owner"
    assert learn(client, SAID_AGAIN[0][1]).waiting == []
    assert contents(client) == set()
    client.undo(decided.operation)
    assert client.candidates().items == [candidate]


def test_an_agent_decides_nothing(
    daemon: Daemon, owner: Client, space: str, client: Client, candidate: wire.Candidate
) -> None:
    """An agent's token can read a candidate, but neither accept nor reject it."""
    token = owner.create_token(space, agent="coder").token
    with Client(daemon.socket, token=token) as agent:
        assert agent.candidate(candidate.id) == candidate
        for decide in (agent.accept_candidate, agent.reject_candidate):
            with pytest.raises(Forbidden):
                decide(candidate.id)
    assert client.candidates().items == [candidate]


def test_a_change_of_a_persons_memory_waits(client: Client) -> None:
    """A change of a person's memory waits; accepting it makes the change, or is refused if the memory has new words."""
    mine = client.remember(wire.CreateMemory("Always answer in German", type="preference", author="person"))
    answer = learn(client, "Always answer in German and sign your commits.")
    assert [proposal.change.id for proposal in answer.proposals] == [mine.id]
    (candidate,) = client.candidates().items
    assert (candidate.reason, answer.waiting) == ("person", [candidate.id])
    (change,) = candidate.changes
    assert (change.action, change.memory, change.before, change.stale) == ("UPDATE", mine.id, mine.content, False)
    client.change_memory(mine.id, wire.ChangeMemory(content="Answer in German or Dutch", author="person"))
    assert client.candidate(candidate.id).changes[0].stale
    with pytest.raises(Conflict):
        client.accept_candidate(candidate.id)
    client.undo(newest_operation(client).id)
    client.accept_candidate(candidate.id)
    after = client.memory(mine.id)
    assert (after.content, after.trust) == (change.content, "person")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Please always use tabs.", "From now on use spaces, not tabs."),
        ("Always push to main.", "Never push to main."),
    ],
)
def test_a_wish_and_its_opposite_wait_for_a_person(client: Client, old: str, new: str) -> None:
    """The newer wish is added, the older one stays and is in doubt; accepting the candidate deletes the older one."""
    learn(client, old)
    (older,) = client.memories().items
    (waiting,) = learn(client, new).waiting
    assert len(contents(client)) == 2
    candidate = client.candidate(waiting)
    assert (candidate.reason, candidate.changes[0].action) == ("contradiction", "DELETE")
    assert candidate.changes[0].memory == older.id
    client.accept_candidate(waiting)
    assert older.id not in {memory.id for memory in client.memories().items}
    assert len(contents(client)) == 1


def test_a_pasted_wish_waits_until_a_person_wants_it(client: Client) -> None:
    """A pasted wish is no memory until a person accepts it, and does not wait again when it is pasted again."""
    quoted = "Please look at this comment.\n> Always answer with a diagram."
    (waiting,) = learn(client, quoted).waiting
    assert contents(client) == set()
    assert client.candidate(waiting).reason == "quarantined"
    client.accept_candidate(waiting)
    assert contents(client) == {"The user wants: “Always answer with a diagram”"}
    assert learn(client, quoted, "Thank you.").waiting == []


def test_an_unknown_candidate_is_not_found(client: Client) -> None:
    with pytest.raises(NotFound):
        client.candidate("cnd_none")
    with pytest.raises(NotFound):
        client.accept_candidate("cnd_none")


def test_no_context_says_what_was_forgotten(client: Client, tmp_path: Path) -> None:
    """A digest's line with all words of a forgotten memory is left out of contexts; an undo brings it back."""
    thread = str(import_file(client, session_file(tmp_path, 3, turns=8), program="claude-code").thread)
    client.distill(thread)
    digest = client.digest(thread).text
    line = max(digest.splitlines(), key=len)
    assert line in str(client.context(thread).request.system)
    memory = client.remember(wire.CreateMemory(line.lstrip("- "), type="fact"))
    forgotten = client.forget(memory.id)
    shown = str(client.context(thread).request.system)
    assert line not in shown
    assert any(other in shown for other in digest.splitlines() if other != line and other.strip())
    client.undo(forgotten.operation)
    assert line in str(client.context(thread).request.system)


def test_purged_words_are_in_no_candidate(client: Client, candidate: wire.Candidate) -> None:
    """A purge removes candidates that repeat the memory's words, and those words are not learnt again."""
    (change,) = candidate.changes
    assert change.content is not None
    memory = client.remember(wire.CreateMemory(change.content, type="preference", author="person"))
    client.forget(memory.id, purge=True)
    assert client.candidates(state="all").items == []
    assert learn(client, SAID_AGAIN[0][1]).forgotten == 1


def test_an_agent_undoes_its_own_operations_alone(daemon: Daemon, owner: Client, space: str, client: Client) -> None:
    """An agent's token cannot undo what a person forgot or decided, nor roll back; a person can do both."""
    text, other = SAID_AGAIN[0]
    learn(client, text)
    (memory,) = client.memories().items
    forgotten = str(client.forget(memory.id).operation)
    (waiting,) = learn(client, other).waiting
    accepted = str(client.accept_candidate(waiting).operation)
    undone = str(client.undo(accepted).operation)
    rejected = str(client.reject_candidate(waiting).operation)
    token = str(owner.create_token(space, agent="mole").token)
    with Client(daemon.socket, token=token) as mole:
        for operation in (forgotten, accepted, undone, rejected):
            with pytest.raises(Forbidden) as refused:
                mole.undo(operation)
            assert f"reverie undo {operation}" in (refused.value.hint or "")
        with pytest.raises(Forbidden):
            mole.rollback("1")
        assert contents(client) == set()
        assert client.candidate(waiting).state == "rejected"
        mole.remember(wire.CreateMemory("The mole digs at the north wall"))
        own = newest_operation(mole)
        assert own.who == "mole"
        taken_back = mole.undo(own.id).operation
        assert contents(client) == set()
        mole.undo(str(taken_back))
        assert len(contents(client)) == 1
    person = str(owner.create_token(space).token)
    with Client(daemon.socket, token=person) as opened:
        opened.undo(rejected)
        opened.rollback(forgotten)
