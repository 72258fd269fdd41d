"""Benchmark of the commands that are typed all day: processor time and modules of a whole process.

    python tests/bench/bench_cli_start.py

Processor time is user and system of the process with all it loads, the least of 15. `an interpreter` is `python -c
pass`, run in turn with the commands, since everything is slower on a busy machine.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from reverie.client import Client
from support.daemon import running_daemon

REPEATS = 15
GOAL_MS = 160.0
BARE = "an interpreter"
COMMANDS = (
    "status",
    "recall when do we deploy",
    "remember we deploy on Thursdays",
    "note thr-1 ask Ann first",
    "search when do we deploy",
    "sync status",
    "memories",
)
COUNTED = "import sys; from reveried.cli import main; main(sys.argv[1:]); print(len(sys.modules), file=sys.stderr)"


def main() -> None:
    """Print the processor time and the loaded modules of each command, as a table."""
    with running_daemon() as daemon:
        with Client(daemon.socket) as client:
            client.create_thread(id="thr-1")
        least_ms: dict[str, float] = {}
        for _ in range(REPEATS):
            for name, command in commands().items():
                spent = processor_ms(command, daemon.env)
                least_ms[name] = min(spent, least_ms.get(name, spent))
        print(f"milliseconds of processor time, least of {REPEATS}; goal {GOAL_MS:g}")
        for name, spent in least_ms.items():
            modules = "" if name == BARE else f"{loaded(name, daemon.env):>5} modules"
            print(f"  {name:34s} {spent:7.1f}  {spent / least_ms[BARE]:5.1f} x {BARE} {modules}")


def commands() -> dict[str, list[str]]:
    """Return the command lines by name."""
    program = str(Path(sys.executable).with_name("reverie"))
    return {BARE: [sys.executable, "-c", "pass"]} | {words: [program, *words.split()] for words in COMMANDS}


def processor_ms(command: list[str], env: dict[str, str]) -> float:
    """Return user and system milliseconds of one process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def loaded(words: str, env: dict[str, str]) -> int:
    """Return how many modules a command has loaded at its end."""
    command = [sys.executable, "-c", COUNTED, *words.split()]
    done = subprocess.run(command, env=env, check=True, capture_output=True, text=True)
    return int(done.stderr.split()[-1])


if __name__ == "__main__":
    main()
