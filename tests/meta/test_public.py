"""Tests of the public names of the library."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

import reverie


def test_public_names_exist_and_are_sorted() -> None:
    """`reverie.__all__` has every public name in order, and the module is only a list of names."""
    assert all(hasattr(reverie, name) for name in reverie.__all__)
    assert len(reverie.__all__) == len(set(reverie.__all__))
    assert len(Path(str(reverie.__file__)).read_text().splitlines()) < 40


def test_every_module_lists_its_public_names() -> None:
    """Every module has an `__all__`, and every name in it exists."""
    wrong = []
    for info in pkgutil.walk_packages(reverie.__path__, "reverie."):
        if info.name.endswith(("__main__", "_native")):
            continue
        module = importlib.import_module(info.name)
        listed = getattr(module, "__all__", None)
        if listed is None:
            if module.__doc__ and not hasattr(module, "__path__"):
                wrong.append(f"{info.name} lists nothing")
            continue
        wrong += [f"{info.name}.{name}" for name in listed if not hasattr(module, name)]

    assert wrong == []
