"""Settings of every test: compiled modules, no limit of time in properties, the marks of the contract and of data."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

from support.outside import INTEGRATION, is_outside
from support.shared import has_shared
from support.soak import count

# The tests start some thousand processes, and without compiled modules each takes twice as long to start. In another
# folder (`PYTHONPYCACHEPREFIX`) those of all installed packages would have to be compiled once more.
if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
    sys.dont_write_bytecode = False

# Hypothesis limits the real time of an example (200 ms) and of drawing one, which a busy machine exceeds at random.
# By default the examples are the same ones each time, so that no run fails by chance; the soak looks further.
settings.register_profile(
    "suite", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=not count(0, 1)
)
settings.load_profile("suite")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Leave what collecting makes, a million objects that stay, to no pass of the garbage collector."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what uses the product from outside alone, and deselect measurements of what is not in `../shared`.

    An integration test whose file, with all of `support` that it imports, knows only DOORS gets the mark `contract`.
    One marked `measures(path, ...)` is deselected where one of the paths does not exist.
    """
    if config.getoption("markexpr"):  # else nothing asks for it, and reading every file takes each worker a second
        for item in items:
            if item.path.is_relative_to(INTEGRATION) and is_outside(item.path):
                item.add_marker("contract")
    absent = [item for item in items if not all(has_shared(path) for path in _measured(item))]
    if absent:
        config.hook.pytest_deselected(items=absent)
        items[:] = [item for item in items if item not in absent]


def _measured(item: pytest.Item) -> list[str]:
    return [path for mark in item.iter_markers("measures") for path in mark.args]
