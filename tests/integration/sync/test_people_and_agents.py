"""People and agents write to one folder through a real daemon: both sides agree, and no words are lost."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from reverie import wire
from reverie.client import Client
from reverie.documents.parse import ITEMS_MAX
from reverie.errors import Conflict, NotFound, TooLarge, ValidationError
from support.daemon import running_daemon
from support.daemon_folder import SAVES, Tree, tree
from support.waiting import suspended, wait_until

USER = "facts/user.md"
TEXT = "# User Facts\n\n> Summary: name, role\n\n- Name: Zhang San\n- Role: engineer #job\n- Updated: 2026-02-24\n"
ODD = (
    "\ufeff---\r\ntitle: mine\r\n---\r\n#  My   facts \r\n\r\n<!-- keep this -->\r\n> Summary:   old words  \r\n\r\n"
    "*  First   thing \r\n\r\n\r\n*  Second thing #tag\r\n   goes on here\r\n- Updated: 2026-01-01\r\n\r\nlast words"
)


@pytest.mark.parametrize("save", SAVES)
def test_a_stale_buffer_loses_nothing(shared: Tree, save: Callable[[Path, str], None]) -> None:
    """A file opened, then changed by an agent, then saved by its editor with an edit has both changes."""
    name = f"facts/{save.__name__}.md"
    shared.client.put_document(name, TEXT)
    buffer = shared.read(name)
    shared.client.append_entry(name, "- Agent: added this")
    shared.save(name, buffer.replace("- Role: engineer", "- Role: engineer and pilot"), save)
    shared.agree()

    text = shared.read(name)
    assert "- Agent: added this" in text
    assert "engineer and pilot" in text
    assert shared.stored(name) == text
    assert shared.client.conflicts().items == []


def test_tags_are_read_at_the_end_of_any_memory(shared: Tree) -> None:
    """Tags of a bullet, an episode and a whole file are parsed, and no byte of the files changes."""
    texts = {
        "facts/tags.md": "- Mock no clock. #testing #time\n",
        "episodes/2026-01.md": "## Clock\n- Summary: x\n- Lesson: mock no timer. #testing #time\n",
        "mocks.md": "---\nname: mocks\nmetadata:\n  type: feedback\n---\nDo not mock the DB. #testing #time\n",
    }
    for name, text in texts.items():
        shared.save(name, text)
    shared.agree()
    found = {memory.document: memory for memory in shared.client.memories(tag="time").items}
    assert found.keys() == texts.keys()
    assert all(memory.tags == ["testing", "time"] and "#" not in memory.content for memory in found.values())
    assert {name: shared.read(name) for name in texts} == texts


def test_a_memory_has_the_type_of_its_document(shared: Tree) -> None:
    """A memory created without a type gets that of its document; another type than the document's is refused."""
    for kind, path in (("skill", "facts/kinds.md"), ("fact", "facts/skills.md"), ("fact", "episodes/2025-01.md")):
        with pytest.raises(ValidationError, match=f"{path} holds memories of type .*, not {kind}") as refused:
            shared.client.remember(wire.CreateMemory("Of a type", kind, document=path))  # type: ignore[arg-type]
        assert refused.value.details["field"] == "type"
        assert "leave out" in refused.value.details["hint"]
        assert shared.stored(path) is None
    for path, kind in (("facts/skills.md", "skill"), ("facts/kinds.md", "fact"), ("episodes/2025-01.md", "episode")):
        assert shared.client.remember(wire.CreateMemory(f"Said in {path}", document=path)).type == kind
    made = shared.client.remember(wire.CreateMemory("Fits", "skill", document="facts/skills.md"))
    assert (made.type, made.document) == ("skill", "facts/skills.md")


def test_an_untouched_file_is_never_rewritten(shared: Tree) -> None:
    """After a scan, a deep scan and a restart a file has the same inode, time and bytes."""
    shared.save("facts/odd.md", ODD)
    shared.save("plain/notes.md", "just text\n")
    shared.agree()
    before = shared.stamps()
    assert before["facts/odd.md"][2] == ODD.encode()
    operation = shared.client.operations(limit=1).items[0].id
    shared.client.sync_now()
    shared.client.sync_now(deep=True)

    assert shared.stamps() == before
    assert shared.client.operations(limit=1).items[0].id == operation


def test_an_agent_changes_one_block_and_nothing_else(shared: Tree) -> None:
    """An agent's change of a memory changes its block, the summary and the day, and no other byte of the file."""
    name = "facts/careful.md"
    shared.save(name, ODD)
    shared.agree()
    first = next(item for item in shared.memories().values() if item.document == name and "First" in item.content)
    shared.client.change_memory(first.id, wire.ChangeMemory("Another thing"))

    old, new = ODD.split("\r\n"), shared.read(name).split("\r\n")
    assert len(old) == len(new)
    changed = [index for index, (one, other) in enumerate(zip(old, new, strict=True)) if one != other]
    assert [new[index].strip() for index in changed if "Another" in new[index]] == ["* Another thing"]
    for index in changed:
        assert new[index].startswith(("> Summary:", "- Updated:", "* Another thing")), new[index]
    assert shared.client.memory(first.id).content == "Another thing"


def test_a_secret_stays_in_the_file_and_goes_nowhere_else() -> None:
    """A secret stays in its file and is nowhere in the store; other blocks of the file are synced both ways."""
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    with tree() as own:
        own.save(USER, TEXT + f"- Token: {secret}\n")
        own.agree()
        stored = own.stored(USER)
        assert stored is not None
        assert secret not in stored
        assert "[REDACTED:" in stored

        own.client.patch_document(USER, [("engineer", "pilot")])
        assert (
            own.read(USER)
            == TEXT.replace("engineer", "pilot")
            .replace(
                "2026-02-24",
                own.stored(USER).split("Updated: ")[1][:10],  # type: ignore[union-attr]
            )
            .replace("> Summary: name, role", own.read(USER).splitlines()[2])
            + f"- Token: {secret}\n"
        )
        own.save(USER, own.read(USER).replace("Zhang San", "Li Si"))
        own.agree()
        assert "Li Si" in str(own.stored(USER))
        assert secret in own.read(USER)
        with pytest.raises(Conflict):
            own.client.delete_document(USER)
        assert own.daemon.stop() == 0
        for path in own.daemon.home.rglob("*"):
            if path.is_file() and not path.is_relative_to(own.root / "facts"):
                assert secret.encode() not in path.read_bytes(), path
        own.daemon.start()


def test_a_secret_in_the_list_comes_to_rest() -> None:
    """A secret in a line of MEMORY.md stays in that line, and the document is not listed again beside it."""
    with tree() as own:
        own.save(USER, TEXT)
        own.agree()
        wait_until(own.path("MEMORY.md").exists, "MEMORY.md")
        ours = own.read("MEMORY.md").splitlines()[-1]
        secret = ours.split(" — ")[0] + " — password: hunter2-Zx9!qq"
        own.save("MEMORY.md", own.read("MEMORY.md").replace(ours, secret))
        own.save("facts/dogs.md", "- Dog: Rex\n")
        own.agree()
        wait_until(lambda: "facts/dogs.md" in own.read("MEMORY.md"), "the new file in the list")
        assert [line for line in own.read("MEMORY.md").splitlines() if USER in line] == [secret]


def test_a_file_of_very_many_memories() -> None:
    """A file at the limit is stored and rewritten; one above it is refused, and others are synced."""
    with tree() as own:
        many = 11_000  # more than ten thousand changes in one commit
        own.save("facts/many.md", "".join(f"- Berth {number} is free\n" for number in range(many)))
        own.save("facts/endless.md", "- x\n" * (ITEMS_MAX + 1))
        own.save(USER, TEXT)
        done = own.client.sync_now()
        assert [(each.path, each.reason) for each in done.status.refused] == [("facts/endless.md", "too_many_memories")]
        assert own.client.status().counts["memories"] == many + 2
        own.save("facts/many.md", "".join(f"- Crane {number} is idle\n" for number in range(many)))
        own.client.sync_now()
        assert own.client.status().counts["memories"] == many + 2
        with pytest.raises(TooLarge, match="more than 40,000 memories"):
            own.client.put_document("facts/more.md", "- x\n" * (ITEMS_MAX + 1))
        own.client.append_entry(USER, "- Agent: added this")
        assert "- Agent: added this" in own.read(USER)


def test_mass_deletion_stops_and_asks() -> None:
    """If more than half of the files are missing, nothing is deleted before a person confirms it."""
    with tree() as own:
        for number in range(12):
            own.save(f"facts/n{number}.md", f"- Fact number {number}\n")
        own.agree()
        with suspended(own.daemon.pid):  # else the first few may be believed while the others are still there
            for number in range(10):
                own.path(f"facts/n{number}.md").unlink()
        status = own.client.sync_now().status
        assert (status.state, len(status.missing)) == ("stopped", 10)
        assert "accept-deletions" in str(status.hint)
        assert len(own.memories()) == 12

        own.save("facts/n11.md", "- Fact number eleven\n")
        own.client.sync_now()
        assert "Fact number eleven" in own.memories()  # the rest goes on
        own.agree(accept_deletions=True)
        assert len(own.memories()) == 2


@pytest.mark.parametrize("how", ["gone", "empty", "swapped"])
def test_a_root_that_is_not_the_one_it_was_stops_everything(how: str) -> None:
    """While the space's folder is missing or another one, syncing stops; once it is back, syncing continues."""
    with tree() as own:
        own.save(USER, TEXT)
        own.agree()
        away = own.daemon.home / "away"
        own.root.rename(away)
        if how != "gone":
            own.root.mkdir()
        if how == "swapped":
            (own.root / "other.md").write_text("- another's\n")
        with pytest.raises(Conflict):
            own.client.sync_now()
        assert own.client.sync_status().state == "stopped"
        own.client.remember(wire.CreateMemory("kept meanwhile"))
        assert "Name: Zhang San" in own.memories()

        if how == "swapped":
            (own.root / "other.md").unlink()
        if how != "gone":
            own.root.rmdir()
        away.rename(own.root)
        own.agree()
        assert "kept meanwhile" in own.read("facts/project.md")


def test_engines_only_propose_what_would_change_a_persons_words(shared: Tree) -> None:
    """An agent may change a person's line; undo restores the line and its author."""
    shared.save("facts/theirs.md", "- Tea: green\n")
    shared.agree()
    [mine] = [item for item in shared.memories().values() if item.document == "facts/theirs.md"]
    assert mine.trust == "person"
    changed = shared.client.change_memory(mine.id, wire.ChangeMemory("Tea: black"))
    assert changed.trust == "agent"
    operation = next(item for item in shared.client.operations().items if item.why == "memory.change")
    shared.client.undo(operation.id)
    assert shared.read("facts/theirs.md").startswith("- Tea: green")
    assert shared.client.memory(mine.id).trust == "person"


def git(root: Path, *words: str) -> None:
    """Run a git command in the folder."""
    subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *words],
        cwd=root,
        check=True,
        capture_output=True,
    )


def test_git_in_the_folder_keeps_every_identity() -> None:
    """After a branch switch and a rebase files and store agree, and ids are the same."""
    with tree() as own:
        own.save(USER, TEXT)
        own.save("facts/tools.md", "- Editor: vim\n- Shell: zsh\n")
        own.agree()
        (own.root / ".gitignore").write_text(".reverie/\nmemory/\nMEMORY-INDEX.json\nMEMORY.md\n")
        git(own.root, "init", "-q", "-b", "main")
        git(own.root, "add", "-A")
        git(own.root, "commit", "-qm", "one")
        ids = {content: memory.id for content, memory in own.memories().items()}
        git(own.root, "checkout", "-qb", "side")
        own.save(USER, own.read(USER).replace("engineer", "captain"))
        own.save("facts/tools.md", "- Editor: emacs\n")
        own.save("facts/new.md", "- New: thing\n")
        own.agree()
        git(own.root, "add", "-A")
        git(own.root, "commit", "-qm", "two")
        side = {content: memory.id for content, memory in own.memories().items()}

        git(own.root, "checkout", "-q", "main")
        own.agree()
        assert {content: memory.id for content, memory in own.memories().items()} == ids
        git(own.root, "checkout", "-q", "side")
        own.agree()
        assert {content: memory.id for content, memory in own.memories().items()} == side

        git(own.root, "checkout", "-q", "main")
        own.save("facts/other.md", "- Other: fact\n")
        own.agree()
        git(own.root, "add", "-A")
        git(own.root, "commit", "-qm", "three")
        git(own.root, "checkout", "-q", "side")
        own.agree()
        git(own.root, "rebase", "-q", "main")
        own.agree()
        after = {content: memory.id for content, memory in own.memories().items()}
        assert {content: after[content] for content in side} == side
        assert "Other: fact" in after
        assert own.client.conflicts().items == []


def test_facts_are_known_after_a_restart() -> None:
    """Seed 004, section 10: facts about user and work are known after a restart, with a person's edits."""
    with tree() as own:
        own.client.put_document(USER, "# User Facts\n\n- Name: Zhang San\n")
        own.client.append_entry(
            "episodes/2026-02.md",
            "## Logger stdout leak fix\n- Summary: pino pipeline stdout leak → custom JS transport\n- Date: 2026-02-24",
        )
        assert own.daemon.stop() == 0
        own.save(USER, own.read(USER).replace("Zhang San", "Zhang Wei"))
        own.daemon.start()
        with Client(own.daemon.socket) as client:
            client.sync_now()
            assert "Zhang Wei" in client.recall("what is my name?").hits[0].memory.content
            assert client.recall("what bug did we fix last time: the logger leak").hits[0].memory.title == (
                "Logger stdout leak fix"
            )
            text = client.index().text
        assert text.splitlines()[0] == "Available memory:"
        assert text.rstrip().endswith("Use memory_read to load relevant files before responding.")
        assert any(line.startswith("- facts/user.md (") for line in text.splitlines())


def test_a_file_moves_with_its_memories(shared: Tree) -> None:
    """Memories keep their ids when the folder of their file is renamed."""
    shared.save("facts/deep/one.md", "- Unique thing: alpha\n- Another: beta\n")
    shared.agree()
    ids = {item.id for item in shared.memories().values() if item.document == "facts/deep/one.md"}
    shared.path("facts/deep").rename(shared.path("facts/other"))
    shared.agree()
    moved = {item.id: item.document for item in shared.memories().values() if item.id in ids}
    assert moved == dict.fromkeys(ids, "facts/other/one.md")


def test_anything_returns_to_any_operation() -> None:
    """Document, memory and space can be rolled back to any operation, and each rollback undone."""
    with tree() as own:
        own.client.put_document(USER, "# User Facts\n\n- Name: Ada\n- Role: engineer\n")
        first = own.client.operations(limit=1).items[0].id
        name, role = (own.memories()[content].id for content in ("Name: Ada", "Role: engineer"))
        own.client.change_memory(name, wire.ChangeMemory("Name: Bea"))
        own.client.change_memory(role, wire.ChangeMemory("Role: pilot"))
        own.client.put_document("facts/later.md", "- Later: yes\n")
        assert len(own.client.document_history(USER).items) == 3
        assert "engineer" in own.client.document(USER, at=first).content

        back = own.client.rollback(first, memory=role)
        assert back.documents == [USER]
        assert own.client.memory(role).content == "Role: engineer"
        assert own.client.memory(name).content == "Name: Bea"
        own.client.rollback(first, path=USER)
        assert own.client.memory(name).content == "Name: Ada"
        assert own.stored("facts/later.md") is not None
        own.save(USER, own.read(USER).replace("Ada", "Cleo"))
        whole = own.client.rollback(first)
        assert own.stored("facts/later.md") is None
        assert not own.path("facts/later.md").exists()
        assert "Ada" in own.read(USER)
        own.client.undo(str(whole.operation))
        assert "Cleo" in own.read(USER)  # what was saved before the rollback was in the history
        assert "- Later: yes\n" in own.read("facts/later.md")

        own.client.forget(name)
        own.client.rollback(first, memory=name)
        assert own.client.memory(name).content == "Name: Ada"
        with pytest.raises(NotFound):
            own.client.rollback("999999")
        with pytest.raises(NotFound):
            own.client.document(USER, at="0")


def test_a_daemon_that_has_nothing_to_write_is_in_agreement() -> None:
    """Before the first memory there is no folder, and the status is ok; a person may create it."""
    with running_daemon() as daemon, Client(daemon.socket) as client:
        own = Tree(daemon, client)
        client.sync_now()
        assert client.sync_status().state == "ok"
        assert not own.root.exists()

        own.save("facts/first.md", "- Name: Ada\n")
        own.agree()
        assert own.client.document("facts/first.md").content == "- Name: Ada\n"


def test_an_engines_change_of_a_persons_line_is_a_proposal() -> None:
    """If a distillation would change a person's line, the file stays and the answer has a proposal."""
    mine = "# Preferences\n\n- Always answer in German\n"
    with tree() as own:
        own.save("facts/preferences.md", mine)
        own.agree()
        thread = own.client.create_thread(title="editors").id
        wish = "Always answer in German and sign your commits"
        said = [{"role": "user", "content": wish}, {"role": "assistant", "content": "I will."}]
        for number in range(12):
            said += [{"role": "user", "content": f"Look at file {number}"}, {"role": "assistant", "content": "Fine."}]
        assert own.daemon.ask("POST", f"/v1/threads/{thread}/messages", {"messages": said}).status == 200
        result = own.client.distill(thread).memories

        assert result is not None
        assert [each.change.content for each in result.proposals if isinstance(each.change, wire.UpdateChange)] == [
            f"The user wants: “{wish}”"
        ]
        assert own.read("facts/preferences.md") == mine
