"""A file that is moved over another one, with a real daemon: what came is no old text of what was there."""

from __future__ import annotations

from support.folder import rename_over, tree

OLD = "# Facts\n\n- Role: engineer\n- Tea: green\n"
ANEW = "# Anew\n\n- City: Oslo\n"


def test_an_old_buffer_that_is_saved_over_a_document_made_anew_loses_no_word() -> None:
    """What the buffer has left was moved away once, not deleted by whoever made the new document."""
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
        assert own.read("facts/a.md").endswith("- Typed: here\n")
        assert len(own.client.conflicts().items) == 1


def test_a_file_that_is_moved_over_its_own_older_copy_is_taken_as_it_is() -> None:
    """An agent took a line out of the copy, and writes there before anybody has looked at the rest of the folder."""
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
