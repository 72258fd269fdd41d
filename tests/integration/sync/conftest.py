"""Fixtures: `root`, a new space folder for each test; `shared`, one daemon's folder for all tests of a module."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reverie.sync.root import Root
from support.daemon_folder import Tree, tree
from support.spaces import open_root


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Root]:
    with open_root(tmp_path / "space") as made:
        yield made


@pytest.fixture(scope="module")
def shared() -> Iterator[Tree]:
    """Yield one daemon's folder for all tests of a module, each of which uses files of its own."""
    with tree() as made:
        yield made
