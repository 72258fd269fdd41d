"""A file that was moved away and comes back over another of its name, with a real daemon."""

from __future__ import annotations

from support.folder import tree

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
