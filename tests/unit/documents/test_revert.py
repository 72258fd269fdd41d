"""Reverting one change of a document keeps what came after it."""

from __future__ import annotations

from hypothesis import event, given, settings
from hypothesis import strategies as st

from reverie.documents.edit import apply_changes, new_document
from reverie.documents.header import refresh_header
from reverie.documents.items import Add, Change, Delete, Update, Wording
from reverie.documents.parse import parse_document
from reverie.documents.revert import revert_change
from support.soak import count

PATH = "facts/user.md"
ONE = "# User Facts\n\n> Summary: Cat: Ulla\n\n- Name: Ada\n- Role: engineer\n- Cat: Ulla\n- Updated: 2026-11-01\n"
IDS = ("a", "b", "c")
DAYS = ("2026-11-02", "2026-11-03", "2026-11-04")


def after(text: str, ids: tuple[str, ...], *plan: Change, day: str = DAYS[0]) -> tuple[str, tuple[str, ...]]:
    made = apply_changes(PATH, text, ids, plan, day=day)
    assert made.text is not None
    return made.text, made.ids


def test_an_unchanged_document_is_restored_byte_for_byte() -> None:
    """Without later changes the old text is restored byte for byte; a created document is deleted."""
    two = after(ONE, IDS, Delete("b"))
    assert revert_change(PATH, (ONE, IDS), two, two, day=DAYS[2]) == (ONE, IDS)
    assert revert_change(PATH, None, (ONE, IDS), (ONE, IDS), day=DAYS[2]) == (None, ())


def test_later_changes_stay() -> None:
    """A revert keeps later changes; restored items get their ids and their places in the text back."""
    two = after(ONE, IDS, Delete("b"), Update("a", Wording("Name: Ada Moreau")))
    three = after(*two, Add("d", Wording("Town: Lisbon")), day=DAYS[1])
    assert revert_change(PATH, (ONE, IDS), two, three, day=DAYS[2]) == (
        ONE.replace("- Cat: Ulla\n", "- Cat: Ulla\n- Town: Lisbon\n")
        .replace("Summary: Cat: Ulla", "Summary: Town: Lisbon")
        .replace("2026-11-01", DAYS[2]),
        ("a", "b", "c", "d"),
    )


def test_adjacent_new_items_are_reverted_separately() -> None:
    """If a new item's text is beside a later one, the revert removes the first and keeps the second."""
    two = after(ONE, IDS, Add("d", Wording("Town: Lisbon")))
    three = after(*two, Add("e", Wording("Car: none")), day=DAYS[1])
    found = revert_change(PATH, (ONE, IDS), two, three, day=DAYS[2])
    assert found is not None
    text, ids = found
    assert ids == ("a", "b", "c", "e")
    assert text is not None
    assert [item.content for item in parse_document(PATH, text).items] == [
        "Name: Ada",
        "Role: engineer",
        "Cat: Ulla",
        "Car: none",
    ]


def test_reverting_a_creation_keeps_later_items() -> None:
    """Reverting a document's creation keeps an item added since; None if the person's own heading would be left."""
    made = new_document(PATH, [("a", Wording("Name: Ada"))], day=DAYS[0])
    one = (made.text or "", made.ids)
    two = after(*one, Add("b", Wording("Cat: Ulla")), day=DAYS[1])
    assert revert_change(PATH, None, one, two, day=DAYS[2]) == (
        f"# User Facts\n\n> Summary: Cat: Ulla\n\n- Cat: Ulla\n- Updated: {DAYS[2]}\n",
        ("b",),
    )
    framed = "# Of my own\n\n- Name: Ada\n"
    grown = after(framed, ("a",), Add("b", Wording("Cat: Ulla")))
    assert revert_change(PATH, None, (framed, ("a",)), grown, day=DAYS[2]) is None


def test_later_changes_of_the_same_item_conflict() -> None:
    """A revert returns None if the same item or text was changed again since."""
    two = after(ONE, IDS, Update("b", Wording("Role: pilot")))
    three = after(*two, Update("b", Wording("Role: diver")), day=DAYS[1])
    assert revert_change(PATH, (ONE, IDS), two, three, day=DAYS[2]) is None
    gone = after(*two, Delete("b"), day=DAYS[1])
    assert revert_change(PATH, (ONE, IDS), two, gone, day=DAYS[2]) is None
    titled = (ONE.replace("# User Facts", "# Me"), IDS)
    again = (ONE.replace("# User Facts", "# Myself"), IDS)
    assert revert_change(PATH, (ONE, IDS), titled, again, day=DAYS[2]) is None


def test_a_comment_between_items_is_reverted_as_text() -> None:
    """A comment between items is reverted as text, and text added behind it stays."""
    two = (ONE.replace("- Role", "<!-- a word -->\n- Role"), IDS)
    three = after(*two, Add("d", Wording("Town: Lisbon")), day=DAYS[1])
    found = revert_change(PATH, (ONE, IDS), two, three, day=DAYS[2])
    assert found is not None
    assert "<!--" not in (found[0] or "")
    assert found[1] == ("a", "b", "c", "d")


WORDS = st.sampled_from(["Name: x", "Town: Lisbon", "Likes tea", "Has a car", "Works at night #t", "a\nb"]).map(Wording)


@st.composite
def plans(draw: st.DrawFn, names: list[str], new: str) -> list[Change]:
    """Draw changes: deletions or updates of up to two of the items `names`, and up to two new items."""
    plan: list[Change] = [
        Delete(name) if draw(st.booleans()) else Update(name, draw(WORDS))
        for name in draw(st.lists(st.sampled_from(names), unique=True, max_size=2))
    ]
    return [*plan, *(Add(f"{new}{at}", words) for at, words in enumerate(draw(st.lists(WORDS, max_size=2))))]


@settings(max_examples=count(80, 10_000), deadline=None)
@given(st.data())
def test_a_revert_keeps_the_other_changes(data: st.DataObject) -> None:
    """After reverting the first of two writes to different items, the document has the items of the second write."""
    ids = tuple("abcdef")
    text = refresh_header(PATH, "# T\n\n" + "".join(f"- {name}: {name}\n" for name in ids), day=DAYS[0])
    first, second = data.draw(plans(list("abc"), "one")), data.draw(plans(list("def"), "two"))
    one = after(text, ids, *first)
    two = after(*one, *second, day=DAYS[1])
    found = revert_change(PATH, (text, ids), one, two, day=DAYS[2])
    assert found is not None
    alone = after(text, ids, *second, day=DAYS[2])
    items = [item.content for item in parse_document(PATH, found[0] or "").items]
    assert sorted(items) == sorted(item.content for item in parse_document(PATH, alone[0]).items)
    if found[1] is not None:
        event("ids are known")
        told = dict(zip(found[1], items, strict=True))
        wanted = {name: item.content for name, item in zip(alone[1], parse_document(PATH, alone[0]).items, strict=True)}
        assert set(told.values()) == set(wanted.values())
