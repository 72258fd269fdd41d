"""Tests of forgotten statements: rejected, removed by a write, written again by an agent, or corrected by a person."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from reverie import wire
from reverie.client import Client
from reverie.errors import Conflict
from reverie.redact import Redactor
from reverie.store import ForgottenRecord, Store
from reveried.cli.send_sessions import import_file
from support.daemon import Daemon, running_daemon, scratch_home
from support.projects import git, repository, session
from support.prose import SAID_AGAIN
from support.turns import learn

LEARNT = "Always use `pnpm` instead of `npm`."
CORRECTED = "Take `bun` for everything here"


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


def test_an_agents_write_of_what_a_person_forgot_waits(daemon: Daemon, owner: Client, space: str) -> None:
    """An agent's call, line or document with a forgotten statement is refused and waits; the person's own is not."""
    person = Client(daemon.socket, token=owner.create_token(space).token)
    agent = Client(daemon.socket, token=owner.create_token(space, agent="coder").token)
    with person, agent:
        new = wire.CreateMemory("Deploys of the harbour go through quay seven", type="fact", project="harbour")
        first = agent.remember(new)
        person.forget(first.id)
        line = f"- {new.content}\n"
        other = wire.CreateMemory("Quay seven is where the harbour deploys go.", type="fact", project="harbour")
        for write in (
            lambda: agent.remember(new),
            lambda: agent.remember(other),
            lambda: agent.append_entry("facts/harbour/project.md", f"- {other.content}\n"),
            lambda: agent.append_entry("facts/harbour/project.md", line),
            lambda: agent.put_document("facts/harbour/other.md", line),
        ):
            with pytest.raises(Conflict, match="waits in review"):
                write()
        assert contents(person) == set()
        waiting = {change.content for item in person.candidates().items for change in item.changes}
        assert waiting == {new.content, other.content}
        agent.remember(wire.CreateMemory("The crane of the harbour lifts nine tonnes", type="fact", project="harbour"))
        back = person.remember(msgspec.structs.replace(new, author="person"))
        assert agent.remember(new).id == back.id


@pytest.mark.parametrize("way", ["memory", "document"])
def test_an_agents_undo_of_its_change_does_not_bring_back_what_a_person_forgot(
    daemon: Daemon, owner: Client, space: str, way: str
) -> None:
    """An agent's undo of its own change or write is refused where it restores forgotten words; a person's is not."""
    person = Client(daemon.socket, token=owner.create_token(space).token)
    agent = Client(daemon.socket, token=owner.create_token(space, agent="coder").token)
    gone, other = "The vault of the harbour opens at dawn", "The vault of the harbour opens at eight"
    with person, agent:
        made = agent.remember(wire.CreateMemory(gone, type="fact"))
        if way == "memory":
            agent.change_memory(made.id, wire.ChangeMemory(content=other))
        else:
            document = agent.document(made.document)
            agent.put_document(document.path, document.content.replace(gone, other), etag=document.etag)
        change = next(item.id for item in person.operations().items if item.why in {"memory.change", "document.write"})
        back = agent.undo(change).operation
        assert contents(person) == {gone}
        assert back is not None
        agent.undo(back)
        assert contents(person) == {other}
        person.forget(person.remember(wire.CreateMemory(gone, type="fact", author="person")).id)
        with pytest.raises(Conflict, match="waits in review") as refused:
            agent.undo(change)
        assert refused.value.details["forgotten"]
        assert contents(person) == {other}
        assert [change.content for item in person.candidates().items for change in item.changes] == [gone]
        person.undo(change)
        assert contents(person) == {gone}


@pytest.mark.parametrize("way", ["tool", "document", "memory"])
def test_a_refused_change_of_a_memory_waits_as_its_change(daemon: Daemon, owner: Client, space: str, way: str) -> None:
    """Accepted, it replaces the line that it contradicts, and is forgotten no more; an undo lets it wait again."""
    person = Client(daemon.socket, token=owner.create_token(space).token)
    agent = Client(daemon.socket, token=owner.create_token(space, agent="coder").token)
    gone, old = "We deploy on Wednesdays and Fridays", "We deploy on Mondays and Fridays"
    beside = "The crane lifts nine tonnes"
    with person, agent:
        made = agent.remember(wire.CreateMemory(old, type="fact"))
        agent.remember(wire.CreateMemory(beside, type="fact"))
        person.forget(person.remember(wire.CreateMemory(gone, type="procedure", author="person")).id)
        document = agent.document(made.document)
        if way == "tool":
            patches = [{"oldText": f"- {old}", "newText": f"- {gone}"}]
            answer = agent.call_tool("memory_patch", {"path": made.document, "patches": patches})
            assert "waits in review" in answer.content
        elif way == "memory":
            with pytest.raises(Conflict, match="waits in review"):
                agent.change_memory(made.id, wire.ChangeMemory(content=gone))
        else:
            with pytest.raises(Conflict, match="waits in review"):
                agent.put_document(document.path, document.content.replace(old, gone), etag=document.etag)
        assert contents(person) == {old, beside}
        (waiting,) = person.candidates().items
        (change,) = waiting.changes
        assert (waiting.reason, change.action, change.memory) == ("forgotten", "UPDATE", made.id)
        assert (change.before, change.content) == (old, gone)
        decided = person.accept_candidate(waiting.id)
        assert contents(person) == {gone, beside}
        assert decided.memories == [made.id]
        assert gone in agent.document(made.document).content
        person.undo(decided.operation)
        assert contents(person) == {old, beside}
        assert person.candidates().items == [waiting]
        person.accept_candidate(waiting.id)
        agent.remember(wire.CreateMemory(f"{gone}.", type="procedure"))


def test_an_agent_changes_the_line_that_a_person_left_of_two(daemon: Daemon, owner: Client, space: str) -> None:
    """Of two lines alike a person forgets one: an agent may change the other, and the forgotten one waits."""
    person = Client(daemon.socket, token=owner.create_token(space).token)
    agent = Client(daemon.socket, token=owner.create_token(space, agent="coder").token)
    line = "The harbour office answers on channel twelve"
    with person, agent:
        left = agent.remember(wire.CreateMemory(line, type="fact"))
        person.forget(person.remember(wire.CreateMemory(line, document="facts/harbour.md")).id)
        agent.change_memory(left.id, wire.ChangeMemory(content=f"{line}, day and night"))
        assert contents(person) == {f"{line}, day and night"}
        with pytest.raises(Conflict, match="waits in review"):
            agent.remember(wire.CreateMemory(line, document="facts/harbour.md"))


def test_an_accepted_fact_about_the_person_is_in_their_file(daemon: Daemon, owner: Client, space: str) -> None:
    """A forgotten line of `facts/user.md` that an agent wrote there again comes back to that file."""
    agent = Client(daemon.socket, token=owner.create_token(space, agent="coder").token)
    new = wire.CreateMemory("Sails a ketch on Sundays", type="fact", document="facts/user.md")
    with Client(daemon.socket, token=owner.create_token(space).token) as person, agent:
        person.forget(person.remember(new).id)
        with pytest.raises(Conflict, match="waits in review"):
            agent.remember(new)
        [memory] = person.accept_candidate(person.candidates().items[0].id).memories
        assert person.memory(memory).document == new.document


def test_a_short_wish_waits_whatever_an_agent_calls_it(daemon: Daemon, owner: Client, space: str) -> None:
    """It is refused as a fact and as a line of a file too; what the person wants of another thing is learnt."""
    person = Client(daemon.socket, token=owner.create_token(space).token)
    agent = Client(daemon.socket, token=owner.create_token(space, agent="coder").token)
    said = "Please always reply in German."
    with person, agent:
        new = wire.CreateMemory("Always answer in German.", type="preference", author="person")
        person.forget(person.remember(new).id)
        for write in (
            lambda: agent.remember(wire.CreateMemory(said, type="preference")),
            lambda: agent.remember(wire.CreateMemory(said, type="fact")),
            lambda: agent.append_entry("facts/project.md", f"- {said}"),
            lambda: agent.put_document("facts/other.md", f"- {said}\n"),
        ):
            with pytest.raises(Conflict, match="waits in review"):
                write()
        assert contents(person) == set()
        thread = person.create_thread().id
        call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "make test"}}
        result = {"type": "tool_result", "tool_use_id": "t1", "content": "3 passed"}
        turns = [("user", "Look."), ("assistant", [call]), ("user", [result]), ("assistant", "It works.")]
        turns += [("user", "Always answer in English."), ("assistant", "Yes."), ("user", "Thanks.")]
        person.append(thread, [{"role": role, "content": content} for role, content in turns])
        assert person.learn(thread).waiting == []
        assert contents(person) == {"The user wants: “Always answer in English”"}


@pytest.mark.parametrize("purge", [False, True])
def test_what_is_no_memory_in_a_file_of_memories_waits_too(
    daemon: Daemon, owner: Client, space: str, *, purge: bool
) -> None:
    """A heading, quote, cell or paragraph by an agent with what a person forgot is refused, also after a purge."""
    person = Client(daemon.socket, token=owner.create_token(space).token)
    agent = Client(daemon.socket, token=owner.create_token(space, agent="coder").token)
    gone = "The lighthouse keeper is called Olaf Berg"
    wrapped = gone.replace(" is ", "\nis ")
    with person, agent:
        known = person.put_document("facts/seen.md", f"# Keepers\n\n> {gone}\n\n- The crane lifts nine tonnes\n")
        made = person.remember(wire.CreateMemory(gone, type="fact", author="person"))
        person.forget(made.id, purge=purge)
        for number, prose in enumerate(
            (f"## {gone}\n", f"> {gone}\n", f"| who | text |\n|---|---|\n| keeper | {gone} |\n", f"{wrapped}.\n")
        ):
            with pytest.raises(Conflict, match="waits in review"):
                agent.put_document(f"facts/k{number}.md", f"# Keepers\n\n{prose}\n- The pier is long\n")
        assert {change.content for item in person.candidates().items for change in item.changes} >= {gone}
        agent.put_document("facts/k.md", "# Keepers\n\nOlaf has a lighthouse.\n\n- The pier is long\n")
        # What was there before is the person's to remove.
        agent.append_entry("facts/seen.md", "- The quay is short")
        assert len(contents(person)) == 3
        assert gone in person.document(known.path).content


def test_a_line_that_an_agent_removes_is_forgotten(client: Client) -> None:
    """A memory whose line a document write removes is not learnt again; undo of the write lifts that."""
    text, _ = SAID_AGAIN[0]
    learn(client, text)
    (memory,) = client.memories().items
    document = client.document(memory.document)
    client.put_document(memory.document, document.content.replace(f"- {memory.content}", ""), etag=document.etag)
    assert contents(client) == set()
    assert learn(client, text).forgotten == 1
    client.undo(next(item.id for item in client.operations().items if item.why == "document.write"))
    assert learn(client, text).forgotten == 0
    assert contents(client) == {memory.content}


def test_what_a_person_corrected_stays_corrected(daemon: Daemon, client: Client, space: str) -> None:
    """Words that a save replaces are not learnt again, and nothing that was said before it speaks against the new ones.

    What is near to them is new, as the correction itself is; undo of the save ends it.
    """
    say_in(client, "harbour", LEARNT)
    (memory,) = client.memories().items
    file = daemon.home / "root" / space / memory.document
    corrected = "Use `bun`, neither `pnpm` nor `npm`"
    file.write_text(file.read_text().replace(memory.content, corrected))
    client.sync_now()
    (now,) = client.memories().items
    assert (now.id, now.content, now.trust) == (memory.id, corrected, "person")
    assert now.provenance["corrected"] > memory.created_at
    assert say_in(client, "harbour", LEARNT).forgotten == 1
    assert (contents(client), client.candidates().items) == ({corrected}, [])
    told = [(line.kind, line.text) for line in client.brief("harbour").lines if line.kind != "last"]
    assert told == [("wish", corrected)]
    agent = wire.CreateMemory("Use `npx` beside `bun`, not `pnpm`", type="preference", project="harbour")
    client.forget(client.remember(agent).id)
    client.undo(next(item.id for item in client.operations().items if item.why == "files.edited"))
    assert contents(client) == {memory.content}
    assert say_in(client, "harbour", LEARNT).forgotten == 0


@pytest.mark.parametrize("nothing", ["---", "2026-11-29", "**"])
def test_a_forgotten_memory_without_words_holds_nothing(client: Client, nothing: str) -> None:
    """A rule or a date alone says nothing that could be said again."""
    client.forget(client.remember(wire.CreateMemory(nothing, type="fact")).id)
    client.remember(wire.CreateMemory("Giraffes eat acacia leaves", type="fact"))


def test_what_was_rejected_as_a_paste_waits_when_the_person_says_it(client: Client) -> None:
    """A rejected candidate is not learnt from a later session, where its words wait; undo of the rejection ends it."""
    text, _ = SAID_AGAIN[0]
    learn(client, f"Here is the mail:\n{text}")
    (item,) = client.candidates().items
    rejected = client.reject_candidate(item.id)
    assert learn(client, f"Here is the mail:\n{text}").waiting == []
    assert len(learn(client, text).waiting) == 1
    assert contents(client) == set()
    client.undo(rejected.operation)
    learn(client, text)
    assert contents(client) == {item.changes[0].content}


def forget(client: Client, content: str) -> None:
    """Forget the one memory with these words."""
    (memory,) = [item for item in client.memories(limit=1000).items if item.content == content]
    client.forget(memory.id)


def say_in(client: Client, project: str, text: str) -> wire.MemoryChanges:
    """Learn from a thread of a project in which the person says a text."""
    thread = client.create_thread(project=project)
    client.append(thread.id, [{"role": "user", "content": text}, {"role": "assistant", "content": "Yes."}])
    return client.learn(thread.id)


def test_a_statement_that_is_forgotten_in_two_projects(client: Client) -> None:
    """It stays forgotten in both, whichever was the last; what a person writes again in one stays so in the other."""
    text = "Always use `pnpm` instead of `npm`."
    (learnt,) = say_in(client, "harbour", text).proposed
    content = learnt.content
    forget(client, content)
    say_in(client, "ferry", text)
    (other,) = client.memories().items
    assert (other.content, other.project) == (content, "ferry")
    forgotten_in_ferry = client.forget(other.id)
    for project in ("harbour", "ferry", "harbour"):
        assert say_in(client, project, text).forgotten == 1
    assert contents(client) == set()
    client.undo(forgotten_in_ferry.operation)
    assert [item.project for item in client.memories().items] == ["ferry"]
    assert say_in(client, "harbour", text).forgotten == 1
    forget(client, content)
    new = wire.CreateMemory(content, type="preference", project="ferry", author="person")
    client.forget(client.remember(new).id)
    client.remember(new)
    assert say_in(client, "harbour", text).forgotten == 1


def test_what_an_agent_removed_is_learnt_from_another_session(daemon: Daemon, owner: Client, space: str) -> None:
    """A wish whose line an agent removed is not learnt again from its own thread, and is when the person says it."""
    person = Client(daemon.socket, token=owner.create_token(space).token)
    agent = Client(daemon.socket, token=owner.create_token(space, agent="coder").token)
    text, _ = SAID_AGAIN[0]
    with person, agent:
        thread = person.create_thread().id
        said = [{"role": "user", "content": text}, {"role": "assistant", "content": "Yes."}]
        person.append(thread, said)
        person.learn(thread)
        (memory,) = person.memories().items
        agent.forget(memory.id)
        person.append(thread, said)
        assert person.learn(thread).forgotten == 1
        assert contents(person) == set()
        assert learn(person, text).forgotten == 0
        assert contents(person) == {memory.content}
        # What the person forgets stays forgotten, whatever an agent removes after it.
        forget(person, memory.content)
        assert learn(person, text).forgotten == 1


def test_a_purged_thread_leaves_its_memories_forgotten(client: Client) -> None:
    """Another session that says the same does not bring back what was learnt from a purged thread."""
    text, _ = SAID_AGAIN[0]
    thread = client.create_thread().id
    client.append(thread, [{"role": "user", "content": text}, {"role": "assistant", "content": "Yes."}])
    client.learn(thread)
    assert len(contents(client)) == 1
    client.delete_thread(thread, confirm=thread, purge=True)
    assert contents(client) == set()
    assert learn(client, text).forgotten == 1
    assert contents(client) == set()


def test_an_agent_names_another_project_or_a_field_of_an_episode(daemon: Daemon, owner: Client, space: str) -> None:
    """The same words wait in whichever project an agent names, and as a field of an episode; other words do not."""
    person = Client(daemon.socket, token=owner.create_token(space).token)
    agent = Client(daemon.socket, token=owner.create_token(space, agent="coder").token)
    with person, agent:
        gone = "The lock of the importer is held by quay seven"
        person.forget(person.remember(wire.CreateMemory(gone, type="fact", project="harbour", author="person")).id)
        episode = "## Release\n\n- Date: 2026-11-28\n- Summary: a release\n- Lesson: {}\n"
        for write in (
            lambda: agent.remember(wire.CreateMemory(gone, type="fact", project="ferry")),
            lambda: agent.remember(wire.CreateMemory(gone.replace("l", "l\u200b"), type="fact", project="harbour")),
            lambda: agent.remember(wire.CreateMemory(gone.replace("o", "\u043e"), type="fact", project="harbour")),
            lambda: agent.append_entry("episodes/harbour-2026-11.md", episode.format(gone)),
        ):
            with pytest.raises(Conflict, match="waits in review"):
                write()
        agent.append_entry("episodes/harbour-2026-11.md", episode.format("The lock was opened by hand"))
        agent.remember(wire.CreateMemory("The importer of the ferry holds a lock", type="fact", project="ferry"))
        assert len(contents(person)) == 2


def test_contexts_leave_out_what_was_forgotten_in_other_words(client: Client) -> None:
    """A digest and a working state have the person's words, the memory the engine's: both go with the memory."""
    said = "Always show the hidden work of a harbour module on import."
    thread = client.create_thread()
    filler = "Please count the ropes of the harbour and write down their lengths. " * 400  # beyond the preserved tail
    for text in (said, "Please write the tide limiter for the harbour", "Never rename a berth.", *[filler] * 4):
        written = {"file_path": "/harbour/quay.md", "content": "quay"}
        call = {"type": "tool_use", "id": f"t{len(text)}", "name": "Write", "input": written}
        result = {"type": "tool_result", "tool_use_id": call["id"], "content": "quay"}
        turn = [("user", text), ("assistant", [call]), ("user", [result]), ("assistant", "Yes.")]
        client.append(thread.id, [{"role": role, "content": content} for role, content in turn])
    client.distill(thread.id)
    client.learn(thread.id)
    [memory] = [item for item in client.memories(limit=1000).items if "hidden work" in item.content]
    assert said in client.context_text(thread.id, tiers=["digest"])
    client.forget(memory.id)
    left = client.context_text(thread.id, tiers=["digest"])
    assert "hidden work" not in left
    assert "tide limiter" in left


@pytest.mark.parametrize("project", ["harbour", "ferry"])
def test_what_is_learnt_from_an_agents_files_is_compared_as_what_it_says(client: Client, project: str) -> None:
    """A file of a run with a forgotten wish in other words, below a heading, or in another project brings nothing."""
    gone = "The lock of the importer is held by quay seven"
    for new in (
        wire.CreateMemory("Always answer in German.", type="preference", author="person"),
        wire.CreateMemory(gone, type="fact", project="harbour", author="person"),
    ):
        client.forget(client.remember(new).id)
    thread = client.create_thread(project=project)
    run = client.start_run(thread=thread.id, agent="coder")
    client.put_run_file(run.id, "a.md", "# Lessons learned\n\nPlease always reply in German.\n")
    client.put_run_file(run.id, "b.md", f"# Locks\n\n{gone}.\n")
    client.put_run_file(run.id, "c.md", "# Crane\n\nThe crane of the pier lifts nine tonnes in any wind.\n")
    client.complete_run(run.id)
    (learnt,) = contents(client)
    assert "nine tonnes" in learnt
    waiting = [change.content for item in client.candidates().items for change in item.changes]
    assert any("reply in German" in (text or "") for text in waiting)


@pytest.mark.parametrize("where", ["", "harbour", "ferry"])
def test_what_was_forgotten_is_no_tag_of_an_agents_memory(
    daemon: Daemon, owner: Client, space: str, where: str
) -> None:
    """A tag of joined words, or several tags together, wait in any project; honest tags about the same do not."""
    person = Client(daemon.socket, token=owner.create_token(space).token)
    agent = Client(daemon.socket, token=owner.create_token(space, agent="coder").token)
    project = where or None
    with person, agent:
        gone = ("The release captain is Mira Lund of Bergen", "Never use emojis in documentation.")
        for content in gone:
            made = person.remember(wire.CreateMemory(content, type="fact", project="harbour", author="person"))
            person.forget(made.id)
        for tags in (
            ["release-captain-mira-lund-of-bergen"],
            ["release_captain", "mira-lund", "bergen"],
            ["pier", "bergen", "mira-lund", "release-captain"],
        ):
            with pytest.raises(Conflict, match="waits in review"):
                agent.remember(wire.CreateMemory("The pier is long and old", type="fact", tags=tags, project=project))
        assert contents(person) == set()
        for content, tags in (
            ("The pier is long and old", ["release", "captain", "bergen"]),
            ("The crane lifts nine tonnes", ["documentation", "emojis", "crane"]),
        ):
            agent.remember(wire.CreateMemory(content, type="fact", tags=tags, project=project))
        assert len(contents(person)) == 2


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
            client.change_memory(m.id, wire.ChangeMemory(content=CORRECTED, author="person"))
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
            path = session(tmp_path / f"{name}.jsonl", str(other), [LEARNT, "Yes."])
            thread = client.thread(str(import_file(client, path, program="claude-code").thread))
            client.learn(thread.id)
            return str(thread.project)

        first = say("a")
        (m,) = client.memories().items
        if how == "forget":
            client.forget(m.id)
        else:
            client.change_memory(m.id, wire.ChangeMemory(content=CORRECTED, author="person"))
        git(other, "remote", "add", "origin", "https://example.org/ann/pier.git")
        client.create_thread(project=str(other))
        assert say("b") != first
        assert not any("pnpm" in content for content in contents(client))


@pytest.mark.parametrize("way", ["file", "call"])
def test_an_editors_undo_before_the_correction_changes_nothing(
    daemon: Daemon, client: Client, space: str, way: str
) -> None:
    say_in(client, "harbour", LEARNT)
    (m,) = client.memories().items
    bun, deno = (m.content.replace("pnpm", name) for name in ("bun", "deno"))
    old = m.content
    for new in (bun, m.content, deno):
        if way == "file":
            save(client, daemon.home / "root" / space / m.document, old, new)
        else:
            client.change_memory(m.id, wire.ChangeMemory(content=new, author="person"))
        old = new
    say_in(client, "harbour", LEARNT)
    assert contents(client) == {deno}


def test_an_agents_words_between_two_corrections_are_replaced_too(
    daemon: Daemon, owner: Client, client: Client, space: str
) -> None:
    say_in(client, "harbour", LEARNT)
    (m,) = client.memories().items
    client.change_memory(m.id, wire.ChangeMemory(content=CORRECTED, author="person"))
    yarn = "Always use `yarn` instead of `npm`."
    with Client(daemon.socket, token=owner.create_token(space, agent="coder").token) as agent:
        agent.change_memory(m.id, wire.ChangeMemory(content=yarn))
    client.change_memory(m.id, wire.ChangeMemory(content="Use `bun` everywhere", author="person"))
    say_in(client, "harbour", yarn)
    assert contents(client) == {"Use `bun` everywhere"}


@pytest.mark.parametrize("change", ["tag", "stop"])
def test_a_slight_edit_forgets_nothing(daemon: Daemon, client: Client, owner: Client, space: str, change: str) -> None:
    say_in(client, "harbour", LEARNT)
    (m,) = client.memories().items
    new = {"tags": ["js"]} if change == "tag" else {"content": m.content.removesuffix("”") + ".”"}
    client.change_memory(m.id, wire.ChangeMemory(author="person", **new))
    with Client(daemon.socket, token=owner.create_token(space, agent="coder").token) as agent:
        assert say_in(client, "harbour", LEARNT).forgotten == 0
        agent.change_memory(m.id, wire.ChangeMemory(tags=["build"]))
        agent.append_entry("facts/harbour/other.md", f"- {m.content}\n")


def test_saves_that_turn_out_an_agents_are_no_corrections(daemon: Daemon, client: Client, space: str) -> None:
    """Once the session shows that an agent edited the file, the words may be learnt again."""
    """Another tag, capital or full stop leaves the statement, which an agent may say and copy."""
    """Each of the two has words that no person wrote."""
    """The words that were learnt are replaced, whatever stood there before the last save."""
    """A session of either name does not bring it back."""
    """Neither its forgotten statement nor the history of the memory has them, and no undo brings them back."""
    say_in(client, "harbour", LEARNT)
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
    assert say_in(client, "harbour", LEARNT).forgotten == 0


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
