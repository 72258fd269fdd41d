"""Saves from stale editor buffers: what was written to the file since is not deleted by them."""

from __future__ import annotations

import pytest

from reverie.sync.plan import Plan
from support.sync_sides import BASE, MINUTE, PATH, Sides, conflict_copies, sides_after_writes, text_after_save

ADDED = BASE + "- Tea: green, without sugar\n"
# As agents write files of facts: each write renews the summary, so a stale buffer has the old one again.
OLD = BASE.replace("# User\n", "# User\n\n> Summary: name, language, role\n")
NEW = ADDED.replace("# User\n", "# User\n\n> Summary: name, language, role, tea\n")


@pytest.mark.parametrize("later_ms", [1_000, 5 * MINUTE, 60 * MINUTE])
def test_an_old_buffer_that_is_saved_with_an_edit_deletes_nothing(later_ms: int) -> None:
    """Opened at 10:00, changed by an agent at 10:05, saved with an edit at 10:10: both changes are there."""
    sides = sides_after_writes(OLD, NEW)
    sides.now_ms += later_ms

    assert text_after_save(sides, OLD.replace("vim", "emacs")) == NEW.replace("vim", "emacs")
    assert conflict_copies(sides) == []


def test_an_old_buffer_is_saved_repeatedly() -> None:
    """A person who never reloads and saves again and again deletes nothing of the agent's."""
    sides = sides_after_writes(OLD, NEW)
    buffer, words = OLD, []
    for number in range(12):
        sides.now_ms += MINUTE
        words.append(f"- Note {number}: this is the one with the number {number * 7}\n")
        buffer += words[-1]
        text = text_after_save(sides, buffer)
        assert "- Tea: green, without sugar\n" in text
        assert all(word in text for word in words)
    assert conflict_copies(sides) == []


def test_the_author_of_a_merged_save_may_delete_its_lines() -> None:
    """The last save is a merge-base candidate, so its author may delete its lines."""
    sides = sides_after_writes(BASE, ADDED)
    one, two = "- City: Oslo, by the water\n", "- Car: none, and none wanted\n"
    assert text_after_save(sides, BASE + one + two) == ADDED + one + two
    sides.now_ms += MINUTE

    assert text_after_save(sides, BASE + two) == ADDED + two


def test_an_older_buffer_than_that_is_found_too() -> None:
    """Any of the recent texts may be the merge base."""
    lines = [f"- Tea {number}: green, with {number} lumps of sugar\n" for number in range(6)]
    texts = [OLD.replace("role", f"role, {count}") + "".join(lines[:count]) for count in range(7)]
    sides = sides_after_writes(*texts)
    sides.now_ms += 10 * MINUTE

    assert text_after_save(sides, texts[2].replace("vim", "emacs")) == texts[6].replace("vim", "emacs")


def test_an_edit_of_the_current_text_is_stored_unchanged() -> None:
    """A person who saw the agent's text may change and delete it."""
    sides = sides_after_writes(BASE, ADDED)
    sides.now_ms += 10 * MINUTE

    for text in (
        ADDED.replace("green", "black"),
        ADDED.replace("green", "black").replace("- Role: developer\n", ""),
        BASE,
    ):
        assert text_after_save(sides, text) == text
        sides.now_ms += 2_000
    assert conflict_copies(sides) == []


def test_a_single_old_text_right_after_the_new_one_is_a_stale_save() -> None:
    """An old text saved right after a new one was written deletes nothing; the same save again is deliberate."""
    sides = sides_after_writes(BASE, ADDED)
    sides.now_ms += 1_999
    assert text_after_save(sides, BASE) == ADDED
    sides.now_ms += 1_000

    assert text_after_save(sides, BASE) == BASE
    assert conflict_copies(sides) == []


def test_the_same_save_at_once_is_an_echo() -> None:
    """A save repeated within a second deletes nothing; one repeated later counts as deliberate."""
    sides = sides_after_writes(BASE, ADDED)
    assert text_after_save(sides, BASE) == ADDED
    sides.now_ms += 999
    assert text_after_save(sides, BASE) == ADDED
    sides.now_ms += 1_000

    assert text_after_save(sides, BASE) == BASE


def test_a_repeated_save_is_deliberate() -> None:
    """The same bytes saved again after a merge replace the merge result, and what is left out is named."""
    sides = sides_after_writes(OLD, NEW)
    sides.now_ms += 5 * MINUTE
    mine = OLD.replace("vim", "emacs")
    assert text_after_save(sides, mine) == NEW.replace("vim", "emacs")
    sides.now_ms += MINUTE

    assert text_after_save(sides, mine) == mine
    assert conflict_copies(sides) == []
    assert [notice.left_out for notice, _ in sides.notices] == [0, 1]


def test_a_repeated_save_deletes_nothing_written_after_the_merge() -> None:
    """A repeated save does not delete what an agent wrote after the merge."""
    sides = sides_after_writes(OLD, NEW)
    sides.now_ms += 5 * MINUTE
    mine = OLD.replace("vim", "emacs")
    merged = text_after_save(sides, mine)
    sides.now_ms += MINUTE
    sides.put(PATH, merged.replace("tea", "tea, car") + "- Car: none, and none wanted\n")
    sides.settle()
    sides.now_ms += MINUTE

    assert "- Car: none, and none wanted\n" in text_after_save(sides, mine)


def test_the_age_of_a_write_counts_at_the_save() -> None:
    """The age of a write counts at the time of the save, not of the scan."""
    sides = sides_after_writes(BASE, ADDED)
    sides.now_ms += 1_000
    sides.save(PATH, BASE)
    sides.now_ms += 60 * MINUTE

    sides.settle()

    assert sides.text(PATH) == ADDED


def test_a_person_may_delete_lines_of_their_last_save() -> None:
    """A paragraph that a person saved and then replaced does not come back."""
    sides = sides_after_writes(BASE)
    one, two = "- City: Oslo, by the water\n", "- Car: none, and none wanted\n"
    sides.now_ms += 5 * MINUTE

    assert text_after_save(sides, BASE + one) == BASE + one
    sides.now_ms += 2_000
    assert text_after_save(sides, BASE + two) == BASE + two
    sides.now_ms += 2_000
    assert text_after_save(sides, two) == two
    assert conflict_copies(sides) == []


def test_a_person_may_delete_lines_of_a_merged_save() -> None:
    """An editor that did not reload after a merge edits its own text, not an older one."""
    sides = sides_after_writes(BASE, ADDED)
    one, two = "- City: Oslo, by the water\n", "- Car: none, and none wanted\n"
    sides.now_ms += 1_000

    assert text_after_save(sides, BASE + one) == ADDED + one
    sides.now_ms += 5 * MINUTE
    assert text_after_save(sides, BASE + two) == ADDED + two


def test_a_file_created_together_with_an_agents_document_has_the_memories_of_both() -> None:
    """A text without anything of the agent's was made beside it; an edit of the agent's text is an edit."""
    sides = sides_after_writes(BASE)
    mine, bullets = "# Me\n\n- I was here first\n", BASE.partition("\n\n")[2]
    assert text_after_save(sides, mine) == mine + bullets
    assert conflict_copies(sides) == []

    sides = sides_after_writes(BASE)
    assert text_after_save(sides, BASE.replace("German", "French")) == BASE.replace("German", "French")
    assert conflict_copies(sides) == []


def test_a_conflict_copy_moved_over_the_file_replaces_it() -> None:
    """A conflict copy that a person moves over the file replaces it."""
    sides = sides_after_writes(BASE)
    sides.put(PATH, BASE.replace("German", "French"))
    sides.save(PATH, BASE.replace("German", "Italian"))
    sides.settle()
    (copy,) = (path for path in sides.files if ".sync-conflict-" in path)
    sides.save(PATH, sides.files.pop(copy).decode())

    sides.settle()

    assert sides.text(PATH) == BASE.replace("German", "French")
    assert list(sides.files) == [PATH]


def test_a_late_write_of_a_deleted_document_creates_it_again() -> None:
    """A late write into the file of a deleted document creates the document again."""
    sides = sides_after_writes(BASE, ADDED)
    sides.delete(PATH)
    sides.late_write(PATH, BASE.replace("vim", "emacs"))

    sides.settle()

    assert sides.files[PATH].decode() == sides.text(PATH) == BASE.replace("vim", "emacs")


def test_a_late_write_is_merged_with_a_newer_save() -> None:
    """A late write of an older text does not delete the line that a newer save added."""
    sides = sides_after_writes(BASE)
    sides.now_ms += 5 * MINUTE
    sides.save(PATH, BASE + "- City: Oslo\n")
    sides.late_write(PATH, BASE.replace("vim", "emacs"))
    assert sides.files[PATH] == (BASE + "- City: Oslo\n").encode()

    sides.settle()

    assert "- City: Oslo\n" in (sides.text(PATH) or "")


def test_old_texts_of_several_files_are_a_revert() -> None:
    """Earlier texts of several files at once are restored by a tool, and replace the current ones."""
    sides = sides_after_writes(BASE, ADDED)
    sides.put("b.md", BASE)
    sides.settle()
    sides.put("b.md", ADDED)
    sides.settle()
    sides.save("b.md", BASE)

    assert text_after_save(sides, BASE) == BASE
    assert sides.text("b.md") == BASE


def test_a_revert_keeps_what_the_store_got_later() -> None:
    """A revert returns to what the disk showed; later changes of the store are merged."""
    sides = sides_after_writes(BASE, ADDED)
    sides.now_ms += 10 * MINUTE
    sides.put(PATH, ADDED.replace("Ana", "Eva"))

    assert text_after_save(sides, BASE) == BASE.replace("Ana", "Eva")


def test_a_deletion_right_after_an_update_is_a_conflict() -> None:
    """A save without a line that an agent has just updated is a conflict: its editor may not have seen the update.

    The person's text is in place, and the line that the agent wrote is in the copy.
    """
    updated = BASE.replace("- Language: German\n", "- Language: Dutch\n")
    sides = sides_after_writes(BASE, updated)
    without = BASE.replace("- Language: German\n", "")

    assert text_after_save(sides, without + "- City: Oslo\n") == without + "- City: Oslo\n"
    assert conflict_copies(sides) == [updated]


def test_a_deletion_long_after_an_update_counts() -> None:
    """Two seconds after the update the deletion counts, without a conflict copy."""
    sides = sides_after_writes(BASE, BASE.replace("German", "Dutch"))
    without = BASE.replace("- Language: German\n", "")
    sides.now_ms += 2_000

    assert text_after_save(sides, without) == without
    assert conflict_copies(sides) == []


def test_an_edit_of_new_words_derives_from_them() -> None:
    """A save that has words which only the agent wrote is an edit of the agent's text, and no conflict."""
    sides = sides_after_writes(BASE, ADDED)

    assert text_after_save(sides, ADDED.replace("green", "black")) == ADDED.replace("green", "black")
    assert conflict_copies(sides) == []


def test_a_clock_set_back_makes_writes_recent() -> None:
    """After the clock was set back an agent's write counts as recent, so that a stale save deletes nothing of it."""
    sides = sides_after_writes(BASE, ADDED)
    sides.now_ms -= 60 * MINUTE

    assert text_after_save(sides, BASE) == ADDED


def test_a_save_before_a_write_was_recorded_loses_nothing() -> None:
    """After a crash between write and record a person's edit of the new text, or of the old one, loses nothing."""
    for text in (BASE, ADDED):
        sides = sides_after_writes(BASE)
        sides.now_ms += 60 * MINUTE
        sides.put(PATH, ADDED)
        commit, write, *_ = sides.steps(sides.plan())
        commit()
        write()
        sides.now_ms += 60 * MINUTE

        assert text_after_save(sides, text.replace("vim", "emacs")) == ADDED.replace("vim", "emacs")


def test_a_save_before_a_merge_was_written_derives_from_the_last_save() -> None:
    """After a crash between committing and writing a merge, a save derives from the save before."""
    sides = sides_after_writes(BASE)
    sides.put(PATH, ADDED)
    sides.save(PATH, BASE + "- City: Oslo\n")
    commit, *_ = sides.steps(sides.plan())
    commit()

    assert text_after_save(sides, BASE + "- City: Oslo\n- Car: none\n") == ADDED + "- City: Oslo\n- Car: none\n"


def test_an_unrecorded_write_is_recognised_by_its_text() -> None:
    """A file with the document's own text is no person's save, even if the record of the write is lost."""
    sides = sides_after_writes(BASE)
    record = sides.baselines[PATH]
    sides.put(PATH, ADDED)
    sides.settle()
    sides.put(PATH, ADDED.replace("Ana", "Eva"))
    sides.baselines[PATH] = record

    plan = sides.sync()

    assert plan.puts == ()
    assert sides.files[PATH] == ADDED.replace("Ana", "Eva").encode()


def test_a_late_write_is_merged_into_the_current_file() -> None:
    """A late write into a displaced file is merged into the file that is there now."""
    sides = sides_after_writes(BASE, ADDED)
    case = sides.state(PATH)
    sides.late_write(PATH, BASE.replace("vim", "emacs"))

    assert case.data == ADDED.encode()
    assert sides.files[PATH].decode() == sides.text(PATH) == ADDED.replace("vim", "emacs")
    assert sides.sync() == Plan()

    sides.late_write(PATH, ADDED.replace("vim", "emacs"))
    assert sides.files[PATH].decode() == sides.text(PATH) == ADDED.replace("vim", "emacs")
    assert sides.sync() == Plan()


def test_a_buffer_from_before_a_move_deletes_nothing() -> None:
    """An old buffer saved over a document that an agent made at its path stays, and so do that document's memories."""
    sides = sides_after_writes(BASE)
    sides.save("facts/moved.md", sides.files.pop(PATH).decode())
    sides.settle()
    sides.put(PATH, "# Anew\n\n- Tea: green\n")
    sides.settle()
    del sides.files["facts/moved.md"]

    typed = f"{BASE}- Typed: here\n"
    assert text_after_save(sides, typed) == f"{typed}\n# Anew\n\n- Tea: green\n"
    assert conflict_copies(sides) == []


def test_a_deletion_by_creating_a_document_again_counts() -> None:
    """An agent created the document again without a line, and a person edits the old file: the line stays deleted."""
    sides = sides_after_writes(BASE)
    sides.delete(PATH)
    sides.put(PATH, "# User\n\n- Name: Ana\n")

    assert text_after_save(sides, f"{BASE}- Typed: here\n") == "# User\n\n- Name: Ana\n- Typed: here\n"
    assert conflict_copies(sides) == []


def test_an_unrecorded_write_may_be_unseen() -> None:
    """A new file is saved where an agent's document was written but not recorded: neither side loses words."""
    sides = Sides()
    sides.put(PATH, ADDED)
    sides.settle()
    sides.baselines.clear()
    sides.settle()

    fresh = "# Begun\n\n- Typed: before there was a file\n"
    assert text_after_save(sides, fresh) == fresh + ADDED.partition("\n\n")[2]
    assert conflict_copies(sides) == []
