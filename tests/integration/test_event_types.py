"""Every type of event: its cause and data, and that no other event is sent."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from reverie import wire
from reveried.cli.send_sessions import import_file
from support.daemon_folder import Tree
from support.story import session_file

ROOT = Path(__file__).parents[2]
TEXT = "# User Facts\n\n- Name: Ada\n- Role: engineer #job\n"
LIST = "MEMORY.md"  # follows every change of documents a moment later, with an event of its own


class Watch:
    """Reads the events sent since it was created."""

    def __init__(self, folder: Tree) -> None:
        self.client = folder.client
        self.first = self.client.status().counts["events"]

    def new_events(self) -> list[tuple[str, dict[str, Any]]]:
        """Return type and data of each event since the last call, without those of MEMORY.md."""
        last = self.client.status().counts["events"]
        events: list[wire.Event] = []
        if last > self.first:
            for event in self.client.events(after=self.first):
                events.append(event)
                if event.seq >= last:
                    break
        assert [event.seq for event in events] == list(range(self.first + 1, last + 1))
        self.first = last
        return [(event.type, event.data) for event in events if event.data.get("path") != LIST]

    def of(self, type_: str) -> list[dict[str, Any]]:
        """Return the data of each event of one type since the last call."""
        return [data for kind, data in self.new_events() if kind == type_]


def test_messages_announce_the_thread_and_its_last_message(folder: Tree, tmp_path: Path) -> None:
    """`thread.appended` for each append and each import that added something."""
    watch = Watch(folder)
    thread = folder.client.create_thread().id
    assert watch.new_events() == []

    folder.client.append(thread, [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}])
    assert watch.new_events() == [("thread.appended", {"threadId": thread, "lastSeq": 2})]

    path = session_file(tmp_path, 301, turns=1)
    imported = str(import_file(folder.client, path, program="claude-code").thread)
    announced = watch.of("thread.appended")
    assert {data["threadId"] for data in announced} == {imported}
    assert announced[-1]["lastSeq"] == len(path.read_bytes().splitlines())
    import_file(folder.client, path, program="claude-code")
    assert watch.new_events() == []


def test_a_document_announces_its_path_and_version(folder: Tree) -> None:
    """`workspace.updated` for a new, a changed and a deleted document; none for an unchanged text."""
    watch = Watch(folder)
    path, other = "facts/versions.md", TEXT.replace("Ada", "Mary")
    for text, expected in ((TEXT, [1]), (other, [2]), (other, [])):
        folder.client.put_document(path, text)
        assert watch.of("workspace.updated") == [{"path": path, "version": version} for version in expected]
    folder.client.delete_document(path)
    assert watch.of("workspace.updated") == [{"path": path, "version": 3}]


def test_a_memory_announces_its_id_and_tags(folder: Tree) -> None:
    """`memory.written` once for each new or changed memory, without its text; none for unchanged ones."""
    watch = Watch(folder)
    folder.client.put_document("facts/memories.md", TEXT)
    memories = folder.memories()
    name, role = memories["Name: Ada"].id, memories["Role: engineer"].id
    assert watch.of("memory.written") == [
        {"memoryRef": "space:default", "memoryId": name, "tags": []},
        {"memoryRef": "space:default", "memoryId": role, "tags": ["job"]},
    ]

    folder.client.patch_document("facts/memories.md", [("engineer #job", "cook #job #new")])
    announced = watch.new_events()
    assert [data for kind, data in announced if kind == "memory.written"] == [
        {"memoryRef": "space:default", "memoryId": role, "tags": ["job", "new"]}
    ]
    assert "cook" not in str(announced)


def test_learning_announces_its_counts(folder: Tree, tmp_path: Path) -> None:
    """`agent.memory.consolidated` has the numbers of candidates and memories; none if nothing was learnt."""
    thread = str(import_file(folder.client, session_file(tmp_path, 302, turns=4), program="claude-code").thread)
    watch = Watch(folder)

    learnt = folder.client.learn(thread)

    announced = watch.new_events()
    [consolidated] = [data for kind, data in announced if kind == "agent.memory.consolidated"]
    assert consolidated["memoryRef"] == "space:default"
    assert consolidated["inputCount"] == learnt.candidates > 0
    assert 0 < consolidated["outputCount"] <= len([kind for kind, _ in announced if kind == "memory.written"])
    folder.client.learn(thread)
    assert watch.new_events() == []


def test_a_distillation_announces_its_archive_and_its_number(folder: Tree, tmp_path: Path) -> None:
    """`memory.compacted` of the thread, `thread.distilled`, and the index that names the new archive."""
    thread = str(import_file(folder.client, session_file(tmp_path, 303, turns=4), program="claude-code").thread)
    watch = Watch(folder)

    distillation = folder.client.distill(thread)

    announced = watch.new_events()
    assert [data for kind, data in announced if kind == "thread.distilled"] == [
        {"threadId": thread, "number": distillation.number}
    ]
    [compacted] = [data for kind, data in announced if kind == "memory.compacted"]
    assert (compacted["memoryRef"], compacted["outputId"]) == (f"thread:{thread}", distillation.archive)
    assert compacted["byteSize"] == len(folder.client.archive(distillation.archive))
    assert compacted["sourceCount"] > 0
    assert "distillation" not in compacted
    index = [data for kind, data in announced if data.get("path") == "MEMORY-INDEX.json"]
    assert len(index) == 1
    assert index[0]["version"] >= 1


@pytest.mark.parametrize("share", [0.5, 40])
def test_a_budgeted_distillation_says_its_budget_and_keeps_to_the_maximum(
    folder: Tree, tmp_path: Path, share: float
) -> None:
    """Its event has what was used of the budget, which is at most the maximum that the status advertises."""
    thread = str(
        import_file(folder.client, session_file(tmp_path, int(304 + share), turns=4), program="claude-code").thread
    )
    most = folder.client.status().distillation.max_token_budget
    watch = Watch(folder)

    distillation = folder.client.distill(thread, token_budget=int(share * most))

    [compacted] = watch.of("memory.compacted")
    used = {"tokenBudget": min(most, int(share * most)), "tokensUsed": distillation.tokens_used, "indexUpdated": True}
    assert compacted["distillation"] == used
    assert 0 < used["tokensUsed"] <= used["tokenBudget"]


def test_a_dream_announces_its_archive_and_the_index(folder: Tree) -> None:
    """`memory.compacted` of the space with its sources, and the next version of the index."""
    folder.client.put_document("facts/dreamt.md", "# Dreamt\n\n- The pump opens at noon\n- The gate is green\n")
    watch = Watch(folder)

    dream = folder.client.dream(token_budget=20_000)

    announced = watch.new_events()
    [compacted] = [data for kind, data in announced if kind == "memory.compacted"]
    assert (compacted["memoryRef"], compacted["outputId"]) == ("space:default", dream.archive)
    assert compacted["sourceCount"] == len(compacted["sourceIds"]) > 0
    assert [data.keys() for _, data in announced if data.get("path") == "MEMORY-INDEX.json"] == [{"path", "version"}]


def test_a_purge_announces_what_was_purged_without_its_words(folder: Tree) -> None:
    """`memory.purged` once for a purged memory and once for a purged document, with the kind alone."""
    path = "facts/purged.md"
    folder.client.put_document(path, "# Purged\n\n- The harbour lamp is amber\n- The harbour gate is blue\n")
    memory = folder.memories()["The harbour lamp is amber"].id
    watch = Watch(folder)

    folder.client.forget(memory, purge=True)

    announced = watch.new_events()
    assert [data for kind, data in announced if kind == "memory.purged"] == [
        {"memoryRef": "space:default", "kind": "memory"}
    ]
    assert "amber" not in str(announced)
    folder.client.delete_document(path, purge=True)
    assert watch.of("memory.purged") == [{"memoryRef": "space:default", "kind": "document"}]


def test_a_conflict_announces_that_it_opens_and_closes(folder: Tree) -> None:
    """`conflict.opened` for two edits of one line, and after undo of a resolution; `conflict.closed` when it ends."""
    name = "facts/conflict.md"
    folder.client.put_document(name, TEXT)
    folder.agree()
    buffer = folder.read(name)
    watch = Watch(folder)
    folder.client.patch_document(name, [("Role: engineer", "Role: cook")])
    folder.save(name, buffer.replace("Role: engineer", "Role: pilot"))
    folder.agree()
    [conflict] = [item for item in folder.client.conflicts().items if item.path == name]
    data = {"conflictId": conflict.id, "path": name}

    assert of_conflicts(watch) == [("conflict.opened", data)]
    resolution = folder.client.resolve(conflict.id, wire.Resolve(keep="store"))
    assert of_conflicts(watch) == [("conflict.closed", data)]
    folder.client.undo(str(resolution.operation))
    assert of_conflicts(watch) == [("conflict.opened", data)]
    folder.agree()
    folder.path(str(conflict.copy)).unlink()
    folder.agree()
    assert of_conflicts(watch) == [("conflict.closed", data)]


def of_conflicts(watch: Watch) -> list[tuple[str, dict[str, Any]]]:
    return [(kind, data) for kind, data in watch.new_events() if kind.startswith("conflict.")]


def test_a_test_names_every_type_of_event() -> None:
    """Each type that the product sends is a string of its own in some test."""
    emitted = {name for folder in ("python", "daemon") for path in modules(folder) for name in event_types(path)}
    assert len(emitted) > 10
    unnamed = set(emitted)
    for path in modules("tests"):
        text = path.read_text()
        if any(name in text for name in unnamed):  # only then is it worth parsing
            unnamed -= {node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)}
    assert unnamed == set()


def modules(folder: str) -> list[Path]:
    """Return every Python module below a folder of the repository."""
    return sorted((ROOT / folder).rglob("*.py"))


def event_types(path: Path) -> set[str]:
    """Return the types of the events that a module sends; fail where one is not a literal (or a choice of two)."""
    types: set[str] = set()
    text = path.read_text()
    for call in ast.walk(ast.parse(text)) if ".event" in text else ():
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "event":
            first = call.args[0]
            for choice in (first.body, first.orelse) if isinstance(first, ast.IfExp) else (first,):
                assert isinstance(choice, ast.Constant), f"{path}:{call.lineno}"
                types.add(str(choice.value))
    return types
