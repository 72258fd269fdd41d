"""Secrets that a person types stay in the file and reach nothing else; the rest of the file is synced."""

from __future__ import annotations

import random
import string

from reverie.sync.plan import Plan
from support.sync_sides import PATH, Sides, changes_nothing

SECRET = "sk-" + "ant-api03-" + "".join(random.Random(7).choices(string.ascii_letters + string.digits, k=95))
MARK = "[REDACTED:anthropic-key]"
RAW = f"# User\n\n- Name: Ana\n- Key: {SECRET} until May\n- Editor: vim\n"
TEXT = RAW.replace(SECRET, MARK)


def saved() -> Sides:
    """Return a folder and store in which a person saved a file with a secret an hour ago."""
    sides = Sides()
    sides.save(PATH, RAW)
    sides.settle()
    sides.now_ms += 3_600_000
    return sides


def everything(sides: Sides, plan: Plan) -> str:
    """Return the representation of all state but the file."""
    return repr((sides.versions, sides.baselines, plan.puts, plan.copies, plan.baselines))


def test_the_store_has_a_marker() -> None:
    """The store has a marker in place of the secret, and the file is not changed."""
    sides = saved()

    assert sides.text(PATH) == TEXT
    assert sides.files[PATH] == RAW.encode()
    assert sides.sync() == Plan()
    assert SECRET not in everything(sides, sides.plan())


def test_other_blocks_are_synced() -> None:
    """Edits of other lines, and of other words in the secret's line, are synced both ways."""
    sides = saved()
    sides.put(PATH, TEXT.replace("vim", "emacs").replace("until May", "until June"))
    sides.settle()
    assert sides.files[PATH].decode() == RAW.replace("vim", "emacs").replace("until May", "until June")

    sides.put(PATH, TEXT.replace("vim", "emacs"))
    sides.save(PATH, RAW.replace("vim", "emacs").replace("until May", "until June").replace("Ana", "Eva"))
    sides.settle()
    assert sides.files[PATH].decode() == RAW.replace("vim", "emacs").replace("Ana", "Eva")
    assert sides.text(PATH) == TEXT.replace("vim", "emacs").replace("Ana", "Eva")
    assert SECRET not in everything(sides, sides.plan())


def test_another_secret_of_the_same_kind_changes_nothing_in_the_store() -> None:
    """A new secret of the same kind changes the baseline alone."""
    sides = saved()
    sides.save(PATH, RAW.replace(SECRET, SECRET[:-5] + "AbCdE"))

    plan = sides.sync()

    assert changes_nothing(plan)
    assert sides.text(PATH) == TEXT
    assert sides.sync() == Plan()


def test_a_block_that_an_agent_deletes_stays_if_it_holds_a_secret() -> None:
    """A deleted line with a secret stays in file and document; the other edits are made."""
    sides = saved()
    sides.put(PATH, TEXT.replace(f"- Key: {MARK} until May\n", "").replace("vim", "emacs"))

    plan = sides.sync()

    assert sides.files[PATH].decode() == RAW.replace("vim", "emacs")
    assert sides.text(PATH) == TEXT.replace("vim", "emacs")
    assert sides.sync() == Plan()
    assert SECRET not in everything(sides, plan)


def test_a_text_that_the_store_has_is_replaced_whole() -> None:
    """A text that the store has too is replaced whole by the store's newer one, though it looks like a secret."""
    sides = Sides()
    early, late = f"# Facts\n\n> Summary: {SECRET} pricing\n", f"# Facts\n\n> Summary: pricing, {MARK}, plan\n"
    sides.put(PATH, early)
    sides.settle()
    assert sides.files[PATH].decode() == early

    sides.put(PATH, late)
    sides.settle()

    assert sides.files[PATH].decode() == late
    assert sides.text(PATH) == late


def test_a_document_that_an_agent_deletes_stays_if_its_file_holds_a_secret() -> None:
    """A document whose file has a secret is created again, because there is no other copy of the secret."""
    sides = saved()
    sides.delete(PATH)

    sides.sync()

    assert sides.files[PATH] == RAW.encode()
    assert sides.text(PATH) == TEXT
    assert sides.sync() == Plan()


def test_an_edit_that_would_reveal_a_secret_is_not_made() -> None:
    """If an edit would reveal a secret, the person's file stays whole and the agent's text becomes a conflict copy."""
    sides = Sides()
    sides.save(PATH, "- password: hunter2-Zx9!qq\n- Name: Ana\n")
    sides.settle()
    text = sides.text(PATH)
    assert text is not None
    assert "hunter2" not in text
    renamed = text.replace("password: ", "animal: ").replace("Ana", "Eva")
    sides.put(PATH, renamed)

    plan = sides.sync()

    assert sides.files[PATH].decode() == "- password: hunter2-Zx9!qq\n- Name: Ana\n"
    assert sides.text(PATH) == text
    assert [copy.text for copy in plan.copies] == [renamed]
    assert sides.sync() == Plan()
    assert "hunter2" not in everything(sides, plan)


def test_a_conflict_about_a_line_with_a_secret_shows_none() -> None:
    """Neither the conflict copy nor the regions have the secret."""
    sides = saved()
    sides.put(PATH, TEXT.replace("until May", "for Bob alone"))
    sides.save(PATH, RAW.replace("until May", "for Eva and Tom"))

    plan = sides.sync()

    assert sides.files[PATH].decode() == RAW.replace("until May", "for Eva and Tom")
    (copy,) = plan.copies
    assert copy.regions
    assert SECRET not in everything(sides, plan)
    assert SECRET not in sides.files[copy.copy_path].decode()


def test_a_region_behind_a_kept_secret_has_its_offset_in_the_document() -> None:
    """The offset of a conflict region counts a line that stayed for its secret."""
    sides, raw = Sides(), RAW + "- Dog: Rex\n- Cat: Tom\n- City: Oslo\n"
    sides.save(PATH, raw)
    sides.settle()
    sides.now_ms += 3_600_000
    sides.put(PATH, raw.replace(f"- Key: {SECRET} until May\n", "").replace("Rex", "Max"))
    sides.save(PATH, raw.replace("- Dog: Rex\n", ""))

    plan = sides.sync()

    (copy,) = plan.copies
    (region,) = copy.regions
    assert (region.person, region.store) == ("", "- Dog: Max\n")
    assert MARK in str(sides.text(PATH))
    assert str(sides.text(PATH))[region.at :] == "- Cat: Tom\n- City: Oslo\n"


def test_a_conflict_of_whole_texts_has_no_regions() -> None:
    """If the person's text is taken whole, the conflict has no regions."""
    sides, raw = Sides(), "- password: hunter2-Zx9!qq\n- Name: Ana\n- Dog: Rex\n- Cat: Tom\n"
    sides.save(PATH, raw)
    sides.settle()
    sides.now_ms += 3_600_000
    sides.put(PATH, str(sides.text(PATH)).replace("password: ", "animal: ").replace("Rex", "Max"))
    sides.save(PATH, raw.replace("- Dog: Rex\n", ""))

    plan = sides.sync()

    assert sides.files[PATH].decode() == raw.replace("- Dog: Rex\n", "")
    (copy,) = plan.copies
    assert "animal: " in copy.text
    assert copy.regions == ()


def test_a_moved_file_keeps_its_secret() -> None:
    """A moved file with a secret is matched by its bytes."""
    sides = saved()
    sides.files["facts/me.md"] = sides.files.pop(PATH)

    assert len(sides.sync().moves) == 1
    assert sides.files == {"facts/me.md": RAW.encode()}
    assert sides.text("facts/me.md") == TEXT
