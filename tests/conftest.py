"""Leaves out the measurements whose data is absent: without it they assert nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.shared import has_shared

if TYPE_CHECKING:
    import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect each test marked `measures(path, ...)` for which one of the paths in `../shared` does not exist."""
    absent = [item for item in items if not all(has_shared(path) for path in _measured(item))]
    if absent:
        config.hook.pytest_deselected(items=absent)
        items[:] = [item for item in items if item not in absent]


def _measured(item: pytest.Item) -> list[str]:
    return [path for mark in item.iter_markers("measures") for path in mark.args]
