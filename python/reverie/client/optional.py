"""Packages that only some programs need: imported at their first use, and named by their extra where one is missing."""

from __future__ import annotations

import importlib
from typing import Any


def load(module: str, extra: str) -> Any:
    """Return a module of another package.

    Raises:
        ModuleNotFoundError: it is not installed; the message has the command that installs it.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if not f"{module}.".startswith(f"{missing}."):
            raise  # the package is there, and something that it needs is not
        raise ModuleNotFoundError(
            f"the package of {module} is not installed: run `pip install 'reverie[{extra}]'`", name=missing
        ) from None
