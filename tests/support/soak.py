"""Counts of a campaign: small in the default run, full under `make soak`."""

from __future__ import annotations

import os


def count(default: int, soak: int) -> int:
    """`default`, or `soak` when REVERIE_SOAK is set."""
    return soak if os.environ.get("REVERIE_SOAK") else default
