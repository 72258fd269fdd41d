"""Missing, moved, renamed and emptied files: what counts as a deletion, and after which time."""

from __future__ import annotations

import pytest

from reverie.sync.plan import Baseline, Move, Plan, Rules, Stop, sha256
from support.sync_sides import BASE, MINUTE, PATH, Sides, agreed_sides, changes_nothing, conflict_copies, settled_text


def test_a_block_that_an_agent_deleted_while_a_person_edits_it_stays() -> None:
    """The person's edit stays in the file; the store's text without the block becomes the conflict copy."""
    sides = agreed_sides()
    sides.put(PATH, BASE.replace("- Role: developer\n", ""))
    sides.save(PATH, BASE.replace("developer", "writer"))

    assert settled_text(sides) == BASE.replace("developer", "writer")
    assert conflict_copies(sides) == [BASE.replace("- Role: developer\n", "")]


def test_a_deletion_counts_after_a_quiet_period() -> None:
    """A missing file deletes its document only after the quiet period: an editor may be about to create it again."""
    sides = agreed_sides()
    del sides.files[PATH]

    sides.sync()
    assert sides.text(PATH) == BASE
    sides.now_ms += 1_999
    assert sides.sync() == Plan()
    assert sides.text(PATH) == BASE

    sides.now_ms += 1
    sides.sync()
    assert sides.text(PATH) is None
    assert sides.baselines == {}
    assert sides.sync() == Plan()


def test_a_file_that_comes_back_was_not_deleted() -> None:
    """A save by rename leaves no file for a moment, and deletes nothing."""
    sides = agreed_sides()
    del sides.files[PATH]
    sides.sync()
    sides.save(PATH, BASE + "- Tea: green\n")
    sides.now_ms += 5_000

    assert settled_text(sides) == BASE + "- Tea: green\n"
    assert len(sides.versions[PATH]) == 2

    del sides.files[PATH]
    sides.sync()
    sides.save(PATH, BASE + "- Tea: green\n")
    sides.now_ms += 5_000
    sides.sync()
    assert sides.baselines[PATH].missing_since is None


def test_a_clock_set_back_restarts_the_quiet_period() -> None:
    """After the clock was set back the quiet period of a missing file begins anew by the new time."""
    sides = agreed_sides()
    del sides.files[PATH]
    sides.sync()
    sides.now_ms -= 10 * MINUTE
    sides.sync()
    assert sides.baselines[PATH].missing_since == sides.now_ms

    sides.settle()

    assert sides.text(PATH) is None


def test_a_change_beats_a_deletion() -> None:
    """A file that was deleted while an agent changed its document is written again."""
    sides = agreed_sides()
    sides.put(PATH, BASE + "- Tea: green\n")
    del sides.files[PATH]

    assert settled_text(sides) == BASE + "- Tea: green\n"


def test_an_undone_change_does_not_prevent_a_deletion() -> None:
    """A document that was changed and changed back has the text that the person saw, so the deletion counts."""
    sides = agreed_sides()
    sides.put(PATH, BASE + "- Tea: green\n")
    sides.put(PATH, BASE)
    del sides.files[PATH]

    sides.settle()

    assert sides.text(PATH) is None


def test_the_unchanged_file_of_a_deleted_document_is_removed() -> None:
    """The unchanged file of a document that an agent deleted is removed."""
    sides = agreed_sides()
    sides.delete(PATH)

    sides.settle()

    assert sides.files == {}
    assert sides.baselines == {}


def test_a_removed_file_is_written_when_its_document_is_created_again() -> None:
    """A crash forgot a removal, and the document was created again: no person deleted the file, so it is written."""
    sides = agreed_sides()
    sides.delete(PATH)
    commit, remove, _forgotten = sides.steps(sides.plan())
    commit()
    remove()
    sides.put(PATH, BASE)

    assert settled_text(sides) == BASE


def test_an_edit_beats_a_delete() -> None:
    """A document that an agent deleted while a person edited the file is created again."""
    sides = agreed_sides()
    sides.delete(PATH)
    sides.save(PATH, BASE + "- Tea: green\n")

    assert settled_text(sides) == BASE + "- Tea: green\n"


def test_deleted_on_both_sides_is_gone() -> None:
    """If both file and document are deleted, only the baseline is removed."""
    sides = agreed_sides()
    sides.delete(PATH)
    del sides.files[PATH]

    assert changes_nothing(sides.sync())
    assert sides.baselines == {}


def test_a_moved_file_moves_its_document_at_once() -> None:
    """A moved file moves its document without a quiet period, as a move in the plan."""
    sides = agreed_sides()
    sides.files["facts/me.md"] = sides.files.pop(PATH)

    plan = sides.sync()

    assert plan.moves == (Move(PATH, "facts/me.md"),)
    assert sides.text(PATH) is None
    assert settled_text(sides, "facts/me.md") == BASE


def test_a_copied_file_is_a_new_one() -> None:
    """A copy is a new document, because the original is still there."""
    sides = agreed_sides()
    sides.files["facts/me.md"] = sides.files[PATH]

    assert sides.sync().moves == ()
    assert settled_text(sides) == settled_text(sides, "facts/me.md") == BASE


def test_a_file_that_was_edited_and_moved_is_still_the_same_document() -> None:
    """An edited rename keeps the ids, and has the text that the person saved."""
    sides = agreed_sides()
    ids = dict(sides.blocks[PATH])
    del sides.files[PATH]
    sides.save("facts/me.md", BASE.replace("vim", "emacs"))

    assert sides.sync().moves == (Move(PATH, "facts/me.md"),)
    assert settled_text(sides, "facts/me.md") == BASE.replace("vim", "emacs")
    assert sides.text(PATH) is None
    assert len(ids.items() & dict(sides.blocks["facts/me.md"]).items()) >= 4


def test_a_stale_buffer_that_was_saved_and_moved_deletes_nothing() -> None:
    """An agent's additions that the renamed stale save lacks are merged into document and file."""
    sides = agreed_sides()
    sides.put(PATH, BASE + "- Tea: green\n")
    sides.settle()
    del sides.files[PATH]
    sides.save("facts/me.md", BASE.replace("vim", "emacs"))

    sides.sync()

    assert settled_text(sides, "facts/me.md") == BASE.replace("vim", "emacs") + "- Tea: green\n"
    assert sides.text(PATH) is None


def test_a_stale_buffer_that_was_saved_and_moved_may_be_a_conflict() -> None:
    """If both changed one line, the person's stays and a conflict copy has the store's text."""
    sides = agreed_sides()
    sides.put(PATH, BASE.replace("vim", "nano"))
    sides.settle()
    del sides.files[PATH]
    sides.save("facts/me.md", BASE.replace("vim", "emacs"))

    [copy] = sides.sync().copies

    assert settled_text(sides, "facts/me.md") == BASE.replace("vim", "emacs")
    assert (copy.path, sides.files[copy.copy_path].decode()) == ("facts/me.md", BASE.replace("vim", "nano"))
    assert changes_nothing(sides.sync())


def test_a_moved_text_of_a_deleted_document_is_kept_beside_the_new_one() -> None:
    """A file with a deleted document's text takes the new document's place, and its memories."""
    sides = agreed_sides()
    sides.delete(PATH)
    sides.settle()
    sides.put(PATH, BASE + "- Tea: green\n")
    sides.settle()
    del sides.files[PATH]
    sides.save("facts/me.md", BASE)

    assert settled_text(sides, "facts/me.md") == BASE + "- Tea: green\n"
    assert sides.text(PATH) is None
    assert conflict_copies(sides) == []


def test_a_restored_text_of_a_deleted_document_is_kept_beside_the_new_one() -> None:
    """A file with the text of the deleted document is a person's, not an unrecorded write of ours."""
    sides = agreed_sides()
    del sides.files[PATH]
    sides.settle()
    assert sides.text(PATH) is None
    sides.save(PATH, BASE)
    sides.put(PATH, "# User\n\n- Somebody else\n")

    assert settled_text(sides) == BASE + "- Somebody else\n"
    assert conflict_copies(sides) == []


def test_an_old_file_in_a_new_folder_is_kept_beside_the_new_document() -> None:
    """A file with a deleted document's text is a person's, and has the new document's memories as well."""
    sides = agreed_sides()
    sides.delete(PATH)
    anew = "# User\n\n- Somebody else\n"
    sides.put(PATH, anew)
    sides.baselines[PATH] = Baseline(PATH, "", 0, intended=frozenset({sha256(anew.encode())}))

    assert settled_text(sides) == BASE + "- Somebody else\n"
    assert conflict_copies(sides) == []


def test_a_new_file_with_few_common_lines_is_no_rename() -> None:
    """A new file with few common lines is no rename, and the missing file's document is not deleted at once."""
    sides = agreed_sides()
    del sides.files[PATH]
    sides.save("facts/me.md", "# User\n\n- Dog: Rex\n- Cat: Tom\n- Fish: Wanda\n")

    assert sides.sync().moves == ()
    assert sides.text(PATH) == BASE


def test_two_files_with_one_text_are_moved_one_to_one() -> None:
    """No file is the source of two moves, and none the target of two."""
    sides = Sides()
    for path in ("a.md", "b.md"):
        sides.put(path, BASE)
    sides.settle()
    for old, new in (("a.md", "c.md"), ("b.md", "d.md")):
        sides.files[new] = sides.files.pop(old)

    assert sides.sync().moves == (Move("a.md", "c.md"), Move("b.md", "d.md"))


def test_a_chain_of_renames_swaps_the_texts() -> None:
    """After a to b, b to c, c to a in one scan every text is where its person put it, without a conflict."""
    sides = Sides()
    texts = {name: f"# {name}\n\n- of {name}: {name * 3} only\n" for name in ("a.md", "b.md", "c.md")}
    for path, text in texts.items():
        sides.put(path, text)
    sides.settle()
    sides.now_ms += 60 * MINUTE
    old = dict(sides.files)
    sides.files = {"b.md": old["a.md"], "c.md": old["b.md"], "a.md": old["c.md"]}

    sides.settle()

    assert conflict_copies(sides) == []
    assert {path: sides.text(path) for path in texts} == {
        "b.md": texts["a.md"],
        "c.md": texts["b.md"],
        "a.md": texts["c.md"],
    }


@pytest.mark.parametrize(("files", "gone", "stops"), [(20, 11, True), (20, 10, False), (6, 6, True), (5, 5, False)])
def test_more_than_half_of_the_files_gone_at_once_stops_deletions(files: int, gone: int, *, stops: bool) -> None:
    """The mass-deletion guard holds deletions back, and the rest of the plan is carried out.

    A few files may all be deleted.
    """
    sides = Sides()
    for number in range(files):
        sides.put(f"{number:02}.md", f"- {number}\n")
    sides.settle()
    lost = [f"{number:02}.md" for number in range(gone)]
    for path in lost:
        del sides.files[path]
    sides.save("new.md", "- new\n")

    plan = sides.sync()

    assert plan.stops == ((Stop("mass_deletion", tuple(lost)),) if stops else ())
    assert sides.text("new.md") == "- new\n"
    sides.settle()
    assert all((sides.text(path) is None) != stops for path in lost)


def test_accepted_deletions_are_made() -> None:
    """Deletions that the guard stopped are made once its limit, `mass_fraction`, is 1."""
    sides = Sides()
    for number in range(20):
        sides.put(f"{number:02}.md", f"- {number}\n")
    sides.settle()
    sides.files.clear()
    sides.settle()
    assert sides.text("00.md") is not None

    sides.rules = Rules(mass_fraction=1.0)
    sides.settle()

    assert sides.paths() == []


def test_a_moved_folder_is_no_mass_deletion() -> None:
    """Moved files do not count as missing."""
    sides = Sides()
    for number in range(20):
        sides.put(f"old/{number:02}.md", f"- {number}\n")
    sides.settle()
    sides.files = {path.replace("old", "new"): data for path, data in sides.files.items()}

    plan = sides.sync()

    assert plan.stops == ()
    assert len(plan.moves) == 20


def test_a_stop_is_about_all_known_files() -> None:
    """In a partial scan the mass-deletion guard compares missing files with all files that have a baseline."""
    sides = Sides()
    for number in range(40):
        sides.put(f"{number:02}.md", f"- {number}\n")
    sides.settle()
    few = [f"{number:02}.md" for number in range(10)]
    for path in few:
        del sides.files[path]

    assert sides.sync(few).stops == ()


def test_an_emptied_file_waits_for_the_quiet_period() -> None:
    """A file that is empty for a moment, while an editor writes it, makes no empty version."""
    sides = agreed_sides()
    sides.save(PATH, "")
    sides.sync()
    assert sides.text(PATH) == BASE
    sides.now_ms += 300
    sides.save(PATH, BASE + "- Tea: green\n")

    assert settled_text(sides) == BASE + "- Tea: green\n"
    assert [version.text for version in sides.versions[PATH]] == [BASE + "- Tea: green\n", BASE]


def test_a_file_that_stays_empty_empties_its_document() -> None:
    """After the quiet period the document is empty too."""
    sides = agreed_sides()
    sides.save(PATH, "")

    assert settled_text(sides) == ""


@pytest.mark.parametrize("document", [True, False])
def test_a_save_into_a_removed_file_stays(document: bool) -> None:  # noqa: FBT001
    """A save into a removed file is written to disk and stored, and does not count as a deletion."""
    sides = agreed_sides()
    if document:
        sides.put(PATH, BASE + "- Tea: green\n")
        del sides.files[PATH]
    else:
        sides.delete(PATH)
        sides.settle()
        assert PATH not in sides.files

    sides.late_write(PATH, BASE + "- City: Oslo\n")
    for _ in range(3):
        sides.settle()
        sides.now_ms += MINUTE

    assert "- City: Oslo\n" in settled_text(sides)
    assert ("- Tea: green\n" in settled_text(sides)) is document
