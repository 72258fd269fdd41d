"""Tests of the text helpers of the extractive distiller."""

from __future__ import annotations

import pytest

from reverie.distill.sentences import sentences


@pytest.mark.parametrize(
    "name",
    [
        "pkg/__init__.py",
        "`__all__`",
        "__main__",
        "a__b__c",
        "2**3",
        "src/**/a/**/b.py",
        "f(**kwargs) and g(**kwargs)",
        "__init__.py, tests/__init__.py and docs/__init__.py",
    ],
)
def test_names_and_operators_are_no_emphasis(name: str) -> None:
    """A name with double underscores, a power, a glob and keyword arguments stay as they are written."""
    assert sentences(f"Look at {name} and at __dict__ first.") == [f"Look at {name} and at __dict__ first."]


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("**Never** push, **ever again**.", "Never push, ever again."),
        ("__Very important__ news (**see below**).", "Very important news (see below)."),
        ("**Note:** the file", "Note: the file"),
    ],
)
def test_emphasis_is_removed(marked: str, plain: str) -> None:
    """Marks around words go, the words stay."""
    assert sentences(marked) == [plain]
