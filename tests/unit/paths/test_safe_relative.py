"""Which names may exist inside a space's folder: the labelled cases, and laws over all of them."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from reverie.errors import ValidationError
from reverie.paths import existing_spelling, is_reserved, safe_relative
from support.path_cases import PATH_CASES, all_path_cases


def reason_of(path: str) -> str | None:
    """None when the name is accepted, else why not."""
    try:
        safe_relative(path)
    except ValidationError as error:
        return str(error.details["reason"])
    return None


def test_all_labelled_names_are_judged_right() -> None:
    """Each name gets its verdict: accept, reject, or either; an accepted one is used exactly as it was written."""
    wrong = []
    for path, expected in all_path_cases():
        verdict = "accept" if reason_of(path) is None else "reject"
        if expected not in {verdict, "either"}:
            wrong.append((path, expected, verdict))
        if verdict == "accept":
            assert str(safe_relative(path)) == path
    assert len(PATH_CASES) > 148
    assert wrong == []


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("", "empty"),
        ("/x.md", "absolute"),
        ("~/x.md", "absolute"),
        ("$HOME/x.md", "absolute"),
        ("a//b.md", "not_canonical"),
        ("a/", "not_canonical"),
        ("../x.md", "hidden"),
        (".git/x.md", "hidden"),
        ("a\\b.md", "not_portable"),
        ("con.md", "not_portable"),
        ("LONGNA~1.md", "not_portable"),
        ("x.md.", "not_portable"),
        ("e\u0301.md", "not_nfc"),
        ("x\u200b.md", "control"),
        ("x\ud800.md", "control"),
        ("x\u2215y.md", "look_alike"),
        ("x\uff0ey.md", "look_alike"),
        ("%2e%2e/x.md", "encoded"),
        ("x&#46;.md", "encoded"),
        ("x.md.bak", "temporary"),
        ("x.sh", "suffix"),
        ("archives/x.md", "reserved"),
        ("a/" * 32 + "x.md", "too_deep"),
        ("a" * 256 + ".md", "too_long"),
        ("a" * 1030, "too_long"),
    ],
)
def test_a_refusal_names_its_reason(path: str, reason: str) -> None:
    """The reason is a word that a program can act on, and the message never holds raw control characters."""
    assert reason_of(path) == reason
    with pytest.raises(ValidationError) as caught:
        safe_relative(path)
    assert caught.value.message.isprintable()
    assert caught.value.hint


def test_any_suffix_may_be_let_through_but_never_our_own_names() -> None:
    """Files that an agent hands over have any ending; the index and the archives stay ours in every spelling."""
    assert safe_relative("src/main.rs", suffixes=None) == PurePosixPath("src/main.rs")
    for ours in ("MEMORY-INDEX.json", "Memory-Index.JSON", "archives/0.json", "memory/long-term-memory.json"):
        assert is_reserved(PurePosixPath(ours))
        with pytest.raises(ValidationError):
            safe_relative(ours, suffixes=None)
    assert not is_reserved(PurePosixPath("MEMORY.md"))


@pytest.mark.parametrize(
    ("path", "there"),
    [
        ("facts/User.md", "facts/user.md"),
        ("FACTS/new.md", "facts/new.md"),
        ("facts/deep/ER/new.md", "facts/deep/er/new.md"),
        ("\u00c9tude.md", "\u00e9tude.md"),
        ("facts/user.md", None),
        ("facts/users.md", None),
        ("other/user.md", None),
        ("facts/deep/new.md", None),
    ],
)
def test_another_spelling_of_what_is_there(path: str, there: str | None) -> None:
    """A name that is one with another on some system is given as that one is spelled; any other is its own."""
    assert existing_spelling(path, ["facts/deep/er/x.md", "facts/user.md", "\u00e9tude.md"]) == there
