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


SIMILAR = [f"- The build of {{}} number {number} runs on the old server\n" for number in range(4)]
LINES = {path: [line.format(path) for line in SIMILAR] for path in "abc"}
BLOCKS = {path: [(f"{path}{number}", text) for number, text in enumerate(texts)] for path, texts in LINES.items()}
IDS = {path: [name for name, _ in blocks] for path, blocks in BLOCKS.items()}


def test_similar_files_that_change_places_keep_their_ids() -> None:
    """The ids go with the texts, also in a circle, beside a line that all have, and where a line was edited."""
    circle = {"a": LINES["b"], "b": LINES["c"], "c": LINES["a"]}
    assert match_ids(BLOCKS, circle) == {"a": IDS["b"], "b": IDS["c"], "c": IDS["a"]}

    common = {path: [*blocks, (f"{path}x", WORDS[0])] for path, blocks in BLOCKS.items()}
    swapped = {"a": [*LINES["b"], WORDS[0]], "b": [*LINES["a"], WORDS[0]]}
    assert match_ids({path: common[path] for path in "ab"}, swapped) == {"a": [*IDS["b"], "ax"], "b": [*IDS["a"], "bx"]}

    edited = LINES["a"][3].replace("old", "new")
    after = match_ids(BLOCKS, {**LINES, "a": LINES["b"], "b": [*LINES["a"][:3], edited]})
    assert after == {"a": IDS["b"], "b": IDS["a"], "c": IDS["c"]}


def test_an_edited_line_keeps_its_id_beside_a_copy_of_the_file() -> None:
    """The copy has the old words, but more of it is in the file still: there the line was edited, and not moved."""
    edited = [LINES["a"][0], LINES["a"][1].replace("old", "new"), *LINES["a"][2:]]

    after = match_ids({"a": BLOCKS["a"]}, {"a": edited, "b": LINES["a"]})

    assert after == {"a": IDS["a"], "b": [None] * 4}


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


def test_a_line_that_is_corrected_to_the_words_of_another_file_keeps_its_id() -> None:
    """What an edit in place made is no line of the other file, whose duplicate is deleted at the same time."""
    before = {
        "own": [("o1", "- Tests need docker on each runner\n"), ("o2", WORDS[0]), ("o3", WORDS[1])],
        "theirs": [("t1", "- Tests need docker 24 on each runner\n"), ("t2", WORDS[2])],
    }
    after = {"own": ["- Tests need docker 24 on each runner\n", WORDS[0], WORDS[1]], "theirs": [WORDS[2]]}
    assert match_ids(before, after) == {"own": ["o1", "o2", "o3"], "theirs": ["t2"]}
