"""Tests of episodes that agents append and append again: the resulting file of the month."""

from __future__ import annotations

from typing import Any

from reverie import wire
from support.daemon_folder import Tree

ENTRY = "## Logger fix\n- Summary: s\n- Date: 2026-09-24\n- Problem: leaks"


def append(folder: Tree, path: str, entry: str, **fields: Any) -> None:
    """Append an episode as an agent does."""
    answer = folder.client.call_tool("memory_append", {"path": path, "entry": entry, **fields})
    assert not answer.is_error, answer.content


def episodes_of(folder: Tree, path: str) -> str:
    """Return the episodes of a file, without the head of the file."""
    text = folder.read(path)
    return text[text.index("## ") :]


def test_an_episode_is_changed_and_not_added_to(folder: Tree) -> None:
    """A change of an episode's memory, by content or tags, changes only those words in the month's file."""
    path = "episodes/2026-09.md"
    append(folder, path, ENTRY)
    [memory] = [item for item in folder.client.memories(kind="episode").items if item.document == path]
    for old, new in (("leaks", "leaks to stdout"), ("stdout", "stderr"), ("- Problem: leaks to stderr", "- Lesson: x")):
        content = folder.client.memory(memory.id).content.replace(old, new)
        folder.client.change_memory(memory.id, wire.ChangeMemory(content))
        assert folder.client.memory(memory.id).content == content
        assert episodes_of(folder, path) == f"## Logger fix\n{content}\n"
    folder.client.change_memory(memory.id, wire.ChangeMemory("- Lesson: a pipe is not a log"))
    expected = "## Logger fix\n- Summary: s\n- Date: 2026-09-24\n- Lesson: a pipe is not a log\n"
    assert episodes_of(folder, path) == expected
    folder.client.change_memory(memory.id, wire.ChangeMemory(tags=["ops"]))
    assert episodes_of(folder, path) == expected.replace("fix", "fix #ops")


def test_an_episode_has_a_summary_of_ten_words(folder: Tree) -> None:
    """A missing or too long summary of an appended episode becomes ten words at most; a person's text stays."""
    path, long = "episodes/2026-10.md", "a pipe of the logger leaked whatever it was told to the standard output"
    folder.save(path, f"## Mine\n- Summary: {long}\n")
    append(folder, path, "## Logger\n- Problem: leaks\n- Solution: no pipe")
    append(folder, path, f"## Logger again\n- Summary: {long}\n- Date: 2026-10-01")
    assert episodes_of(folder, path) == (
        f"## Mine\n- Summary: {long}\n\n"
        "## Logger\n- Summary: leaks → no pipe\n- Problem: leaks\n- Solution: no pipe\n\n"
        "## Logger again\n- Summary: a pipe of the logger leaked whatever it was told…\n"
        f"- Date: 2026-10-01\n- Note: {long}\n"
    )
