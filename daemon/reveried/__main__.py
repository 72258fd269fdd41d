"""`python -m reveried`: serves in the foreground until a signal."""

from __future__ import annotations

import os

from reveried.app import run

__all__: list[str] = []

if __name__ == "__main__":
    raise SystemExit(run(os.environ))
