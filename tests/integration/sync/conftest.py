"""Fixtures: a fresh space for each test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.daemon_folder import tree
from support.spaces import open_root

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from reverie.sync.root_folder import Root
    from support.daemon_folder import Tree


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Root]:
    with open_root(tmp_path / "space") as made:
        yield made


@pytest.fixture(scope="module")
def shared() -> Iterator[Tree]:
    """Yield a folder shared by tests that use files of their own."""
    with tree() as made:
        yield made
