"""Tests of path validation in a space's folder: labelled cases, and properties over all of them."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from reverie.errors import ValidationError
from reverie.paths import existing_spelling, is_reserved, safe_relative
from support.hostile_cases import PATH_CASES, all_path_cases


def rejection_reason(path: str) -> str | None:
    """Return why a path is rejected, or None if it is accepted."""
    try:
        safe_relative(path)
    except ValidationError as error:
        return str(error.details["reason"])
    return None


def test_labelled_paths() -> None:
    """Each path gets its verdict (accept, reject or either); an accepted one is returned as written."""
    wrong = []
    for path, expected in all_path_cases():
        verdict = "accept" if rejection_reason(path) is None else "reject"
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
def test_errors_have_a_reason(path: str, reason: str) -> None:
    """The reason is a code for programs, and the message has no raw control characters."""
    assert rejection_reason(path) == reason
    with pytest.raises(ValidationError) as caught:
        safe_relative(path)
    assert caught.value.message.isprintable()
    assert caught.value.hint


def test_any_suffix_may_be_allowed_but_no_reserved_name() -> None:
    """With `suffixes=None` any suffix is allowed; the index and the archives stay reserved in every spelling."""
    assert safe_relative("src/main.rs", suffixes=None) == PurePosixPath("src/main.rs")
    for ours in ("MEMORY-INDEX.json", "Memory-Index.JSON", "archives/0.json", "memory/long-term-memory.json"):
        assert is_reserved(PurePosixPath(ours))
        with pytest.raises(ValidationError):
            safe_relative(ours, suffixes=None)
    assert not is_reserved(PurePosixPath("MEMORY.md"))


@pytest.mark.parametrize(
    ("path", "existing"),
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
def test_colliding_spellings(path: str, existing: str | None) -> None:
    """A path that collides with an existing one on some system gets its spelling; any other gets None."""
    assert existing_spelling(path, ["facts/deep/er/x.md", "facts/user.md", "\u00e9tude.md"]) == existing
