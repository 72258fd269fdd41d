"""Tests of the public names of the library."""

from __future__ import annotations

from pathlib import Path

import reverie


def test_public_names_exist_and_are_sorted() -> None:
    """`reverie.__all__` has every public name in order, and the module is only a list of names."""
    assert all(hasattr(reverie, name) for name in reverie.__all__)
    assert len(reverie.__all__) == len(set(reverie.__all__))
    assert len(Path(str(reverie.__file__)).read_text().splitlines()) < 40
