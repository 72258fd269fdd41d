"""Blocks keep their ids within a document, between documents, and when a document is renamed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reverie.documents.items import match_ids

WORDS = ["- the cat sleeps\n", "- dogs bark at night\n", "- rain in may\n", "- seven bridges\n", "- a red door\n"]


def test_an_edited_block_keeps_its_id_and_a_new_one_has_none() -> None:
    """An edited block keeps its id, found by text and position in its document; a new block has none."""
    before = {"facts/a.md": [("m1", "- the cat sleeps all day\n"), ("m2", "- rain in may\n")]}

    after = match_ids(before, {"facts/a.md": ["- seven bridges\n", "- the cat sleeps all night\n", "- rain in may\n"]})

    assert after == {"facts/a.md": [None, "m1", "m2"]}


def test_a_block_that_moves_to_another_file_keeps_its_id() -> None:
    """A moved block keeps its id, also in a document with blocks of its own; of two copies only one does."""
    before = {"facts/a.md": [("m1", WORDS[0]), ("m2", WORDS[1])], "facts/b.md": [("m3", WORDS[2])]}

    after = match_ids(before, {"facts/a.md": [WORDS[1]], "facts/b.md": [WORDS[2], WORDS[0], WORDS[0]]})

    assert after["facts/a.md"] == ["m2"]
    assert after["facts/b.md"] == ["m3", "m1", None]


def test_a_renamed_file_keeps_its_ids_also_where_it_was_edited() -> None:
    """An edited block of a renamed document keeps its id, since the equal blocks show which document it was."""
    before = {"facts/old.md": [("m1", WORDS[0]), ("m2", WORDS[1]), ("m3", WORDS[2])]}

    after = match_ids(before, {"facts/new.md": [WORDS[0], "- dogs bark at noon and at night\n", WORDS[2]]})

    assert after == {"facts/new.md": ["m1", "m2", "m3"]}


def test_a_copied_file_steals_no_ids() -> None:
    """A copy takes no ids of an unchanged document."""
    assert match_ids({}, {"facts/copy.md": WORDS[:2]}) == {"facts/copy.md": [None, None]}


@given(
    st.dictionaries(st.sampled_from("abcd"), st.lists(st.sampled_from(WORDS), max_size=5), max_size=4),
    st.dictionaries(st.sampled_from("abcd"), st.lists(st.sampled_from(WORDS), max_size=5), max_size=4),
)
def test_no_id_is_used_twice(old: dict[str, list[str]], new: dict[str, list[str]]) -> None:
    """After any moves, copies and deletions each id is used at most once, and was there before."""
    before = {
        path: [(f"{path}{index}", text) for index, text in enumerate(texts)] for path, texts in sorted(old.items())
    }
    used = [name for names in match_ids(before, new).values() for name in names if name is not None]

    assert len(used) == len(set(used))
    assert set(used) <= {name for blocks in before.values() for name, _ in blocks}
