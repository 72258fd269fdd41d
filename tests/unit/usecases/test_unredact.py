"""Texts in which markers are filled from transcripts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reverie.texts import with_strings
from reverie.usecases.unredact import MARKER, Line, Lines

BEFORE = "the lantern has [REDACTED:password], and the beacon [REDACTED:token] today"
AFTER = "the lantern has Web3Auth, and the beacon PRRT_kw today"
PIECES = st.lists(st.text("abc :[]", max_size=6), min_size=2, max_size=5)


def test_a_line_that_repeats_a_piece_of_a_restored_one_has_its_words_again() -> None:
    """In a list, from the middle on, and only there; a marker alone, and other words, stay as they are."""
    lines = Lines([Line(BEFORE, AFTER)])
    text = "# Facts\n\n- the beacon [REDACTED:token] today\n- [REDACTED:password]\n- it has [REDACTED:token]\n"
    assert lines.restored(text) == text.replace("beacon [REDACTED:token]", "beacon PRRT_kw")
    assert with_strings({"a": [BEFORE], "b": 1}, lines.restored) == {"a": [AFTER], "b": 1}


@given(PIECES, st.data())
def test_a_whole_line_is_restored_whatever_stood_in_it(pieces: list[str], data: st.DataObject) -> None:
    """Any text with markers in place of parts of it becomes that text."""
    values = data.draw(st.lists(st.text("abcxy", min_size=1, max_size=6), min_size=len(pieces), max_size=len(pieces)))
    before, after = "word ", "word "
    for piece, value in zip(pieces, values, strict=True):
        before, after = f"{before}[REDACTED:key]{piece}", f"{after}{value}{piece}"
    restored = Lines([Line(before, after)]).restored(before)
    assert restored.rstrip() == after.rstrip()
    assert not MARKER.search(restored)
