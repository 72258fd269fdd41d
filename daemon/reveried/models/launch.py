"""Become a model's program that ends with the daemon: `python -m reveried.models.launch DAEMON PROGRAM ARGUMENT…`.

In a process of its own, as the program cannot ask the kernel for it, and code between fork and exec is unsafe in a
daemon with threads.
"""

from __future__ import annotations

import os
import signal
import sys

from reveried.linux import die_with_parent

CANNOT_RUN = 126  # exit status, as a shell has it


def main(arguments: list[str]) -> int:
    """Execute the program in this process; return CANNOT_RUN, with the reason printed, where there is none."""
    daemon, *command = arguments
    die_with_parent(signal.SIGKILL, int(daemon))
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # by Python; a program would inherit it
        signal.signal(ignored, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)  # noqa: S606 - a shell is what the command itself says
    except OSError as error:
        print(error.strerror, file=sys.stderr)  # noqa: T201 - the daemon reads it
    return CANNOT_RUN


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
