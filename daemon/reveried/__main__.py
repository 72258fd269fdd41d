"""`python -m reveried`: run the daemon in the foreground until a signal; takes no arguments."""

from __future__ import annotations

import gc
import os
import sys

from reverie.errors import ReverieError
from reveried.linux import require_linux

try:
    require_linux()
except ReverieError as error:
    # Before the next import: its modules use constants and calls that other systems do not have.
    sys.exit(f"reveried: {error.sentence}.")

# Nothing that the start creates is garbage: without collections it takes a twentieth less. `app.serve` enables them.
gc.disable()

from reveried.app import run  # noqa: E402 - after the line above

__all__: list[str] = []

if __name__ == "__main__":
    raise SystemExit(run(os.environ))
