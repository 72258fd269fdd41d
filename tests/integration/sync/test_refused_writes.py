"""Writes that cannot reach the disk, and deletions that would delete a secret, are refused."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from reverie.errors import Conflict
from reverie.wire import CreateMemory
from support.daemon_folder import tree

KEY = "- Password: hunter2-Zx9!qq\n"


def as_link(path: Path) -> None:
    path.symlink_to("/etc/hostname")


def as_folder(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize(("make", "reason"), [(as_link, "symlink"), (os.mkfifo, "fifo"), (as_folder, "folder")])
def test_a_write_to_an_impossible_path_is_refused(make: Callable[[Path], None], reason: str) -> None:
    """Any way of writing to a path without a possible file is refused, and nothing is stored."""
    with tree() as own:
        own.client.put_document("facts/other.md", "- Other: one\n")
        make(own.path("facts/mine.md"))

        result = own.client.call_tool("memory_write", {"path": "facts/mine.md", "content": "- Mine: one\n"})
        assert result.is_error
        assert f"({reason})" in str(result.content)
        for write in (own.client.put_document, own.client.append_entry):
            with pytest.raises(Conflict) as refused:
                write("facts/mine.md", "- Mine: one\n")
            assert refused.value.details["reason"] == reason
            assert refused.value.hint
        assert [each.path for each in own.client.documents().items if each.path == "facts/mine.md"] == []
        assert own.client.sync_status().pending == 0


@pytest.mark.parametrize("refused_path", ["facts/team/a.md", "facts/team"])
def test_a_write_succeeds_once_the_hint_was_followed(refused_path: str) -> None:
    """The path is looked at again before it is refused: no event tells of a mode, and the next scan is far."""
    with tree() as own:
        own.save("facts/team/a.md", "# Team\n\n- Anna owns the grammar\n")
        own.agree()
        path, aside = own.path(refused_path), own.root.parent / "aside"
        path.rename(aside)
        path.symlink_to(aside)
        own.client.sync_now()
        memory = CreateMemory(type="fact", content="Cleo owns the docs", document="facts/team/a.md")
        for _ in range(2):
            with pytest.raises(Conflict) as refused:
                own.client.remember(memory)
            assert refused.value.details["reason"] == "symlink"

        path.unlink()
        aside.rename(path)
        own.client.remember(memory)
        assert own.read("facts/team/a.md").splitlines()[-2:] == ["- Anna owns the grammar", "- Cleo owns the docs"]


def test_a_memory_with_a_secret_is_not_deleted_by_a_call() -> None:
    """A memory or document whose file has a secret is not deleted by a call."""
    with tree() as own:
        own.save("facts/keys.md", f"# Keys\n\n{KEY}- Colour: blue\n")
        own.agree()
        held = {each.content: each.id for each in own.client.memories(limit=100).items}
        secret = next(id_ for content, id_ in held.items() if "[REDACTED:" in content)

        for call in (lambda: own.client.delete_document("facts/keys.md"), lambda: own.client.forget(secret)):
            with pytest.raises(Conflict, match="secret") as refused:
                call()
            assert refused.value.details["reason"] == "secret"
            assert str(own.path("facts/keys.md")) in (refused.value.hint or "")
        own.client.forget(next(id_ for content, id_ in held.items() if "blue" in content))
        assert KEY in own.path("facts/keys.md").read_text()
        assert "blue" not in own.path("facts/keys.md").read_text()

        own.save("facts/fresh.md", f"# Fresh\n\n{KEY}")  # nobody has looked at it yet
        with pytest.raises(Conflict, match="secret"):
            own.client.delete_document("facts/fresh.md")

        own.path("facts/keys.md").write_text("# Keys\n\n- Password: see the safe\n")
        own.agree()
        own.client.delete_document("facts/keys.md")
        assert not own.path("facts/keys.md").exists()
