"""Settings of every test: no limit of real time in properties, and no measurement whose data is absent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import HealthCheck, settings

from support.shared import has_shared

if TYPE_CHECKING:
    import pytest

# Hypothesis limits the real time of an example (200 ms) and of drawing one, which a busy machine exceeds at random.
settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect each test marked `measures(path, ...)` for which one of the paths in `../shared` does not exist."""
    absent = [item for item in items if not all(has_shared(path) for path in _measured(item))]
    if absent:
        config.hook.pytest_deselected(items=absent)
        items[:] = [item for item in items if item not in absent]


def _measured(item: pytest.Item) -> list[str]:
    return [path for mark in item.iter_markers("measures") for path in mark.args]
