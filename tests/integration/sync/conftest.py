"""Fixtures: `root`, a new space folder for each test; `shared`, one daemon's folder for all tests of a module."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.daemon_folder import tree
from support.spaces import open_root

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from reverie.sync.root import Root
    from support.daemon_folder import Tree


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Root]:
    with open_root(tmp_path / "space") as made:
        yield made


@pytest.fixture(scope="module")
def shared() -> Iterator[Tree]:
    """Yield one daemon's folder for all tests of a module, each of which uses files of its own."""
    with tree() as made:
        yield made
