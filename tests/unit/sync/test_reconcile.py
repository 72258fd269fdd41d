"""The decision table of sync: what happens to edits of people and agents."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reverie.sync.plan import Plan, sha256
from support.sync_sides import BASE, PATH, Sides, agreed_sides, changes_nothing, conflict_copies, settled_text


def test_a_document_is_written_to_the_folder() -> None:
    """A new document is written as a file, and a second scan does nothing."""
    sides = Sides()
    sides.put(PATH, BASE)

    sides.sync()

    assert sides.files == {PATH: BASE.encode()}
    assert sides.sync() == Plan()


def test_a_new_file_becomes_a_document() -> None:
    """A new file is stored as it is, and not changed."""
    sides = Sides()
    sides.save(PATH, BASE)

    plan = sides.sync()

    assert plan.writes == ()
    assert sides.text(PATH) == BASE
    assert sides.sync() == Plan()


def test_an_empty_new_file_is_a_document_too() -> None:
    """An empty new file is stored as an empty document."""
    sides = Sides()
    sides.save(PATH, "")
    sides.sync()
    assert sides.text(PATH) == ""

    sides.save(PATH, BASE)

    assert settled_text(sides) == BASE


def test_a_save_becomes_the_text() -> None:
    """A person's edit of an otherwise unchanged document is taken whole."""
    sides = agreed_sides()
    sides.save(PATH, BASE.replace("German", "French"))

    plan = sides.sync()

    assert plan.writes == ()
    assert settled_text(sides) == BASE.replace("German", "French")


def test_an_agents_text_is_written() -> None:
    """An unchanged file gets the changed document's text."""
    sides = agreed_sides()
    sides.put(PATH, BASE + "- Tea: green\n")

    assert settled_text(sides) == BASE + "- Tea: green\n"


def test_an_untouched_file_is_not_written() -> None:
    """Without a change neither files nor baselines are written."""
    sides = agreed_sides()

    assert sides.sync() == Plan()


def test_the_same_edit_on_both_sides_is_none() -> None:
    """The same edit on both sides changes the baseline alone."""
    sides = agreed_sides()
    sides.put(PATH, BASE + "- Tea: green\n")
    sides.save(PATH, BASE + "- Tea: green\n")

    plan = sides.sync()

    assert changes_nothing(plan)
    assert sides.sync() == Plan()


def test_edits_of_both_sides_are_merged() -> None:
    """Edits of different places by an agent and a person are merged."""
    sides = agreed_sides()
    sides.put(PATH, BASE.replace("German", "French"))
    sides.save(PATH, BASE.replace("vim", "emacs"))

    assert settled_text(sides) == BASE.replace("German", "French").replace("vim", "emacs")
    assert conflict_copies(sides) == []


def test_two_additions_at_one_place_are_both_kept() -> None:
    """If agent and person insert lines at the same place, both lines are kept, the agent's first."""
    sides = agreed_sides()
    sides.put(PATH, BASE + "- Tea: green\n")
    sides.save(PATH, BASE + "- City: Oslo\n")

    assert settled_text(sides) == BASE + "- Tea: green\n- City: Oslo\n"
    assert conflict_copies(sides) == []


def test_a_conflict_leaves_the_persons_text_in_place() -> None:
    """The store's whole text goes to a conflict copy, all else is merged, and the plan has the conflict regions."""
    sides = agreed_sides()
    sides.put(PATH, BASE.replace("German", "French") + "- Tea: green\n")
    sides.save(PATH, BASE.replace("German", "Italian"))

    plan = sides.sync()

    assert settled_text(sides) == BASE.replace("German", "Italian") + "- Tea: green\n"
    assert conflict_copies(sides) == [BASE.replace("German", "French") + "- Tea: green\n"]
    (copy,) = plan.copies
    assert copy.copy_path == "facts/user.sync-conflict-20261121-093000-0001.md"
    assert sides.text(copy.copy_path) == copy.text
    assert [(region.person, region.store) for region in copy.regions] == [
        ("- Language: Italian\n", "- Language: French\n")
    ]


def test_without_a_baseline_the_memories_of_both_texts_stay() -> None:
    """Without a baseline equal texts agree; of different ones all memories are kept, of prose the person's text."""
    sides = agreed_sides()
    sides.put(PATH, BASE + "- Tea: green\n")
    sides.save(PATH, BASE.replace("vim", "emacs"))
    for path in ("same.md", "prose.md"):
        sides.put(path, BASE)
        sides.save(path, BASE)
    sides.save("prose.md", "# Mine\n")
    sides.baselines.clear()

    sides.sync()

    assert settled_text(sides) == BASE.replace("vim", "emacs") + "- Editor: vim\n- Tea: green\n"
    assert settled_text(sides, "same.md") == BASE
    assert settled_text(sides, "prose.md") == "# Mine\n"
    assert conflict_copies(sides) == [BASE]


def test_an_earlier_version_without_a_baseline_is_our_own_write() -> None:
    """Without a baseline, a file with an older version's text gets the newest version, without a conflict."""
    sides = agreed_sides()
    sides.put(PATH, BASE + "- Tea: green\n")
    sides.baselines.clear()

    assert settled_text(sides) == BASE + "- Tea: green\n"
    assert conflict_copies(sides) == []


def test_a_version_that_the_store_no_longer_has_is_unknown() -> None:
    """A save whose ancestor was pruned is not merged with a text that it does not derive from."""
    sides = agreed_sides()
    sides.put(PATH, BASE + "- Tea: green\n")
    del sides.versions[PATH][1:]
    sides.save(PATH, BASE.replace("vim", "emacs"))

    sides.settle()

    assert settled_text(sides) == BASE.replace("vim", "emacs")
    assert conflict_copies(sides) == [BASE + "- Tea: green\n"]


def test_an_empty_file_where_an_agent_wrote_has_nothing_to_lose() -> None:
    """A new empty file at the path of a new document gets the document's text."""
    sides = Sides()
    sides.put(PATH, BASE)
    sides.save(PATH, "")

    assert settled_text(sides) == BASE
    assert conflict_copies(sides) == []


@pytest.mark.parametrize(
    "text", ["\ufeff" + BASE, BASE.replace("\n", "\r\n"), BASE.rstrip("\n"), BASE.replace("- N", "-   N")]
)
def test_bytes_stay_as_people_wrote_them(text: str) -> None:
    """A byte order mark, CRLF, a missing last newline and odd spacing survive an agent's edit of one line."""
    sides = agreed_sides(text)
    sides.put(PATH, text.replace("German", "French"))

    sides.settle()

    assert sides.files[PATH] == text.replace("German", "French").encode()

    sides.put(PATH, text.replace("German", "French").replace("Ana", "Eva"))
    sides.save(PATH, text.replace("German", "French").replace("vim", "emacs"))
    assert settled_text(sides) == text.replace("German", "French").replace("vim", "emacs").replace("Ana", "Eva")


def test_a_persons_new_line_endings_are_stored() -> None:
    """Changed line endings are stored, and stay while agents write."""
    crlf = BASE.replace("\n", "\r\n")
    sides = agreed_sides()
    sides.save(PATH, crlf)
    assert settled_text(sides) == crlf

    sides.save(PATH, crlf + "- Tea: green\r\n")
    sides.put(PATH, crlf.replace("vim", "emacs"))
    assert settled_text(sides) == crlf.replace("vim", "emacs") + "- Tea: green\r\n"


def test_the_name_of_a_conflict_copy_is_cut() -> None:
    """The name of a conflict copy is at most 255 bytes, and not cut inside a character."""
    path = "é" * 120 + ".md"
    sides = agreed_sides(path=path)
    sides.put(path, BASE.replace("German", "French"))
    sides.save(path, BASE.replace("German", "Italian"))

    (copy,) = sides.sync().copies

    assert len(copy.copy_path.encode()) <= 255
    assert copy.copy_path.startswith("é" * 100)


def test_states_may_come_in_any_order() -> None:
    """The plan does not depend on the order of the path states."""
    sides = Sides()
    for name in "abcd":
        sides.put(f"{name}.md", f"- {name}\n")
        sides.save(f"{name}{name}.md", f"- {name}\n")

    assert sides.plan() == sides.plan(reversed(sides.paths()))


def test_a_late_write_has_not_seen_later_versions() -> None:
    """A late write has not seen what was stored after its file was replaced, though a newer save exists."""
    sides = agreed_sides()
    late = f"{BASE}- Typed: late\n"
    for name in ("one", "two"):
        sides.put(PATH, f"{sides.text(PATH)}- Agent: {name}\n")
        sides.settle()
    replaced_by = sides.versions[PATH][1].operation
    now = f"{sides.text(PATH)}- Typed: now\n"
    sides.save(PATH, now)
    sides.settle()

    case = replace(
        sides.state(PATH), data=late.encode(), saved_at=None, disk_sha256=sha256(now.encode()), replaced_by=replaced_by
    )
    for step in sides.steps(sides.plan_for([case])):
        step()
    text = settled_text(sides)
    for word in ("Agent: one", "Agent: two", "Typed: late", "Typed: now", "Editor: vim"):
        assert word in text


def test_a_late_write_is_not_the_last_save() -> None:
    """After a late write is merged, the next save derives from the last ordinary save and loses no line."""
    sides = agreed_sides()
    sides.put(PATH, f"{BASE}- Agent: one\n")
    sides.settle()
    replaced_by = sides.versions[PATH][0].operation
    sides.put(PATH, f"{sides.text(PATH)}- Agent: two\n")
    now = f"{BASE}- Agent: one\n- Typed: now\n"
    sides.save(PATH, now)
    sides.settle()
    assert "Agent: two" in str(sides.text(PATH))

    late = f"{BASE}- Typed: late\n"
    disk = sha256(sides.files[PATH])
    case = replace(sides.state(PATH), data=late.encode(), saved_at=None, disk_sha256=disk, replaced_by=replaced_by)
    for step in sides.steps(sides.plan_for([case])):
        step()
    sides.save(PATH, f"{now}- Typed: next\n")
    text = settled_text(sides)
    for word in ("Agent: one", "Agent: two", "Typed: late", "Typed: now", "Typed: next"):
        assert word in text
