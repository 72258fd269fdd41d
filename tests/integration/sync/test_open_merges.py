"""A file in which a merge of git is open waits, and what agents write meanwhile is merged with it."""

from __future__ import annotations

from support.daemon_folder import tree

NAME = "facts/project.md"
BASE = "# Project\n\n- The gannet queue is 5\n- The heron server is slow\n"
OPEN = BASE.replace("- The gannet queue is 5\n", "<<<<<<< HEAD\n- The gannet queue is 6\n=======\n- Seven\n>>>>>>> x\n")


def test_a_file_with_conflict_markers_waits() -> None:
    """Neither markers nor sides become memories; an agent's line comes in beside what the person made of the merge."""
    with tree() as own:
        own.client.put_document(NAME, BASE)
        own.agree()
        own.save(NAME, OPEN)

        [refused] = own.client.sync_now().status.refused

        assert (refused.path, refused.reason) == (NAME, "merging")
        own.client.append_entry(NAME, "- The osprey host is new")
        assert own.read(NAME) == OPEN
        assert "<<<<" not in str(own.stored(NAME))
        own.save(NAME, BASE.replace("5", "67"))
        own.agree()
        assert own.client.sync_status().refused == []
        assert own.read(NAME) == own.stored(NAME)
        for line in ("- The gannet queue is 67\n", "- The heron server is slow\n", "- The osprey host is new\n"):
            assert line in own.read(NAME)
