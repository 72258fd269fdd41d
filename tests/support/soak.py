"""Sizes of randomised campaigns: small by default, full under `make soak`."""

from __future__ import annotations

import os


def count(default: int, soak: int) -> int:
    """Return `default`, or `soak` when REVERIE_SOAK is set."""
    return soak if os.environ.get("REVERIE_SOAK") else default
