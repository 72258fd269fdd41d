"""A fresh space for each test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.spaces import opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from reverie.sync.root import Root


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Root]:
    with opened(tmp_path / "space") as made:
        yield made
