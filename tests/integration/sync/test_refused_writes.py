"""Writes that cannot reach the disk, and deletions that would delete a secret, are refused."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from reverie.errors import Conflict
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
