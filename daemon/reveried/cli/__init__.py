"""The `reverie` command: what must start fast is told apart first, the rest goes to the command tree."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and give its exit code: 0 done, 1 failed, 2 usage, 3 no daemon, 4 conflict, 5 refused."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    match given:
        case ["eval", "context" | "knowledge", *rest] if not {"--help", "-h"} & set(rest):
            # A measure is run on hundreds of files: it starts without loading the command tree.
            from reveried.cli.evaluate import quick  # noqa: PLC0415 - the reason is above

            return quick(given[1:])
        case ["serve"]:
            # The daemon's first answer is awaited by somebody: nothing is loaded that it does not need.
            from reveried.cli.serve import serve  # noqa: PLC0415 - the reason is above

            return serve()
    from reveried.cli.run import run  # noqa: PLC0415 - only now is the command tree needed

    return run(given)
