"""The decision table of sync: what becomes of words that people and agents write."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reverie.sync.plan import Plan
from reverie.sync.state import sha256
from support.sides import BASE, PATH, Sides, agreed, changes_nothing, copies, same


def test_a_document_is_written_to_the_folder() -> None:
    """What an agent wrote is there for people, and a second look does nothing."""
    sides = Sides()
    sides.put(PATH, BASE)

    sides.sync()

    assert sides.files == {PATH: BASE.encode()}
    assert sides.sync() == Plan()


def test_a_new_file_becomes_a_document() -> None:
    """A file that a person adds is put into the store as it stands; the file is not touched."""
    sides = Sides()
    sides.save(PATH, BASE)

    plan = sides.sync()

    assert plan.writes == ()
    assert sides.text(PATH) == BASE
    assert sides.sync() == Plan()


def test_an_empty_new_file_is_a_document_too() -> None:
    """An editor made it, and words will come."""
    sides = Sides()
    sides.save(PATH, "")
    sides.sync()
    assert sides.text(PATH) == ""

    sides.save(PATH, BASE)

    assert same(sides) == BASE


def test_a_save_becomes_the_text() -> None:
    """A person's edit of what nobody else has changed is taken whole."""
    sides = agreed()
    sides.save(PATH, BASE.replace("German", "French"))

    plan = sides.sync()

    assert plan.writes == ()
    assert same(sides) == BASE.replace("German", "French")


def test_an_agents_text_is_written() -> None:
    """An untouched file gets what the store has come to say."""
    sides = agreed()
    sides.put(PATH, BASE + "- Tea: green\n")

    assert same(sides) == BASE + "- Tea: green\n"


def test_an_untouched_file_is_not_written() -> None:
    """Neither bytes nor records change when nothing did."""
    sides = agreed()

    assert sides.sync() == Plan()


def test_the_same_edit_on_both_sides_is_none() -> None:
    """Equal words are agreed on, and nothing is written."""
    sides = agreed()
    sides.put(PATH, BASE + "- Tea: green\n")
    sides.save(PATH, BASE + "- Tea: green\n")

    plan = sides.sync()

    assert changes_nothing(plan)
    assert sides.sync() == Plan()


def test_edits_of_both_sides_are_merged() -> None:
    """An agent's edit and a person's, apart from each other, are both there."""
    sides = agreed()
    sides.put(PATH, BASE.replace("German", "French"))
    sides.save(PATH, BASE.replace("vim", "emacs"))

    assert same(sides) == BASE.replace("German", "French").replace("vim", "emacs")
    assert copies(sides) == []


def test_two_additions_at_one_place_are_both_kept() -> None:
    """The store's first."""
    sides = agreed()
    sides.put(PATH, BASE + "- Tea: green\n")
    sides.save(PATH, BASE + "- City: Oslo\n")

    assert same(sides) == BASE + "- Tea: green\n- City: Oslo\n"
    assert copies(sides) == []


def test_a_conflict_leaves_the_persons_text_in_place() -> None:
    """The store's whole version goes beside it, everything else is merged, and the plan says what differed."""
    sides = agreed()
    sides.put(PATH, BASE.replace("German", "French") + "- Tea: green\n")
    sides.save(PATH, BASE.replace("German", "Italian"))

    plan = sides.sync()

    assert same(sides) == BASE.replace("German", "Italian") + "- Tea: green\n"
    assert copies(sides) == [BASE.replace("German", "French") + "- Tea: green\n"]
    (copy,) = plan.copies
    assert copy.copy_path == "facts/user.sync-conflict-20261121-093000-0001.md"
    assert sides.text(copy.copy_path) == copy.text
    assert [(region.person, region.store) for region in copy.regions] == [
        ("- Language: Italian\n", "- Language: French\n")
    ]


def test_an_unknown_ancestor_makes_both_texts_new() -> None:
    """Where it was forgotten what they were made from: equal ones agree, of others the person's stays, with a copy."""
    sides = agreed()
    sides.put(PATH, BASE + "- Tea: green\n")
    sides.save(PATH, BASE.replace("vim", "emacs"))
    sides.put("same.md", BASE)
    sides.save("same.md", BASE)
    sides.records.clear()

    sides.sync()

    assert same(sides) == BASE.replace("vim", "emacs")
    assert same(sides, "same.md") == BASE
    assert copies(sides) == [BASE + "- Tea: green\n"]


def test_an_earlier_text_of_the_store_is_its_own_whatever_was_forgotten() -> None:
    """A crash forgot that the file was written, and the store went on: nobody has typed anything, so nothing is new."""
    sides = agreed()
    sides.put(PATH, BASE + "- Tea: green\n")
    sides.records.clear()

    assert same(sides) == BASE + "- Tea: green\n"
    assert copies(sides) == []


def test_a_version_that_the_store_no_longer_has_is_unknown() -> None:
    """A save is not merged with a text that it was not made from."""
    sides = agreed()
    sides.put(PATH, BASE + "- Tea: green\n")
    del sides.versions[PATH][1:]
    sides.save(PATH, BASE.replace("vim", "emacs"))

    sides.settle()

    assert same(sides) == BASE.replace("vim", "emacs")
    assert copies(sides) == [BASE + "- Tea: green\n"]


def test_an_empty_file_where_an_agent_wrote_has_nothing_to_lose() -> None:
    """An editor opened the new file at the same moment."""
    sides = Sides()
    sides.put(PATH, BASE)
    sides.save(PATH, "")

    assert same(sides) == BASE
    assert copies(sides) == []


@pytest.mark.parametrize(
    "text", ["\ufeff" + BASE, BASE.replace("\n", "\r\n"), BASE.rstrip("\n"), BASE.replace("- N", "-   N")]
)
def test_bytes_stay_as_people_wrote_them(text: str) -> None:
    """A byte order mark, CRLF, no last newline, odd spacing: an agent's edit of one line changes that line alone."""
    sides = agreed(text)
    sides.put(PATH, text.replace("German", "French"))

    sides.settle()

    assert sides.files[PATH] == text.replace("German", "French").encode()

    sides.put(PATH, text.replace("German", "French").replace("Ana", "Eva"))
    sides.save(PATH, text.replace("German", "French").replace("vim", "emacs"))
    assert same(sides) == text.replace("German", "French").replace("vim", "emacs").replace("Ana", "Eva")


def test_a_persons_new_line_endings_are_taken() -> None:
    """They differ from the store's in nothing else, and are kept while agents write."""
    crlf = BASE.replace("\n", "\r\n")
    sides = agreed()
    sides.save(PATH, crlf)
    assert same(sides) == crlf

    sides.save(PATH, crlf + "- Tea: green\r\n")
    sides.put(PATH, crlf.replace("vim", "emacs"))
    assert same(sides) == crlf.replace("vim", "emacs") + "- Tea: green\r\n"


def test_a_long_name_leaves_room_for_the_copys() -> None:
    """No name is longer than a file system takes, nor cut inside a character."""
    path = "é" * 120 + ".md"
    sides = agreed(path=path)
    sides.put(path, BASE.replace("German", "French"))
    sides.save(path, BASE.replace("German", "Italian"))

    (copy,) = sides.sync().copies

    assert len(copy.copy_path.encode()) <= 255
    assert copy.copy_path.startswith("é" * 100)


def test_cases_may_come_in_any_order() -> None:
    """The plan is the same."""
    sides = Sides()
    for name in "abcd":
        sides.put(f"{name}.md", f"- {name}\n")
        sides.save(f"{name}{name}.md", f"- {name}\n")

    assert sides.plan() == sides.plan(reversed(sides.paths()))


def test_a_save_into_a_replaced_file_is_no_newer_than_that_file() -> None:
    """What came into the document after the file was replaced was not seen; somebody has saved the new file since."""
    sides = agreed()
    late = f"{BASE}- Typed: late\n"
    for name in ("one", "two"):
        sides.put(PATH, f"{sides.text(PATH)}- Agent: {name}\n")
        sides.settle()
    replaced_by = sides.versions[PATH][1].operation
    now = f"{sides.text(PATH)}- Typed: now\n"
    sides.save(PATH, now)
    sides.settle()

    case = replace(
        sides.case(PATH), data=late.encode(), saved_at=None, disk_sha256=sha256(now.encode()), replaced_by=replaced_by
    )
    for step in sides.steps(sides.plan_of([case])):
        step()
    text = same(sides)
    for word in ("Agent: one", "Agent: two", "Typed: late", "Typed: now", "Editor: vim"):
        assert word in text


def test_a_late_save_is_not_what_an_editor_goes_on_from() -> None:
    """A newer save is known by then: the next one was made from that, and drops nothing that came later."""
    sides = agreed()
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
    case = replace(sides.case(PATH), data=late.encode(), saved_at=None, disk_sha256=disk, replaced_by=replaced_by)
    for step in sides.steps(sides.plan_of([case])):
        step()
    sides.save(PATH, f"{now}- Typed: next\n")
    text = same(sides)
    for word in ("Agent: one", "Agent: two", "Typed: late", "Typed: now", "Typed: next"):
        assert word in text
