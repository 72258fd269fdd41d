"""`python -m reveried`: serves in the foreground until a signal."""

from __future__ import annotations

import gc
import os

# Nothing that a start makes is garbage: not looking for it saves a twentieth of the time. The daemon turns it on again.
gc.disable()

from reveried.app import run  # noqa: E402 - after the line above

__all__: list[str] = []

if __name__ == "__main__":
    raise SystemExit(run(os.environ))
