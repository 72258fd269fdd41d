"""A file that is moved over another one is no stale save of that, with a real daemon."""

from __future__ import annotations

from support.daemon_folder import rename_over, tree

OLD = "# Facts\n\n- Role: engineer\n- Tea: green\n"
ANEW = "# Anew\n\n- City: Oslo\n"


def test_a_stale_buffer_over_a_document_created_again_loses_no_word() -> None:
    """A stale buffer over a document that was moved away and created again loses no word."""
    with tree() as own:
        own.client.put_document("facts/a.md", OLD)
        own.agree()
        buffer = own.read("facts/a.md")
        own.path("facts/a.md").rename(own.path("facts/moved.md"))
        own.agree()
        own.client.put_document("facts/a.md", ANEW)
        own.agree()

        own.path("facts/moved.md").unlink()
        own.save("facts/a.md", f"{buffer}- Typed: here\n")
        own.agree()

        texts = "".join(path.read_text("utf-8") for path in own.path("facts").glob("*.md"))
        for line in ("- Role: engineer", "- Tea: green", "- City: Oslo", "- Typed: here"):
            assert line in texts
        assert "- Typed: here\n" in own.read("facts/a.md")
        assert own.client.conflicts().items == []


def test_a_file_moved_over_its_older_copy_keeps_its_text() -> None:
    """A file moved over its older copy keeps its text, though an agent changed the copy before the next scan."""
    with tree(REVERIE_SYNC_DEBOUNCE_MS="2000") as own:
        own.client.put_document("facts/a.md", OLD)
        own.agree()
        rename_over(own.path("facts/b.md"), own.read("facts/a.md"))
        own.agree()
        own.client.patch_document("facts/b.md", [("- Tea: green\n", "")])
        own.agree()

        own.path("facts/a.md").replace(own.path("facts/b.md"))
        own.client.append_entry("facts/b.md", "- Agent: more")
        own.agree()

        assert [path.name for path in own.path("facts").iterdir()] == ["b.md"]
        for line in ("- Role: engineer", "- Tea: green", "- Agent: more"):
            assert line in own.read("facts/b.md")
