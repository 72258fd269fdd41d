"""Fixtures: an empty store in a temporary folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reverie.store import Store
from support.stores import opened
from support.waiting import no_leaked_descriptors


@pytest.fixture(autouse=True)
def no_descriptor_is_left() -> Iterator[None]:
    """Fail a test after which more descriptors are open than before it."""
    with no_leaked_descriptors():
        yield


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with opened(path) as store:
        yield store
