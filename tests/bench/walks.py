"""The files and functions of the product that run for one act of a user: `walks.py [-v] [TREE]`, TREE with its `.venv`.

A real daemon does each act once, so that all is imported, and then REPEATS times, of which what ran each time counts.
"To the answer" is what ran until the caller was answered; "in all" has what followed within SETTLE_S too, in the
compute process as well, without what an idle daemon runs. Functions are those with a name. `-v` names the files in the
order of their first use.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.daemon import Daemon, running_daemon, scratch_home
from support.waiting import wait_until

REPEATS = 3  # a regular look of the daemon is not in all of them
SETTLE_S = 4.0
IDLE_S = 8.0  # longer than the daemon's regular looks are apart
PROJECT = {"project": "harbour"}
# Loaded by each Python process of the daemon. When the file `mark` changes it writes what ran since the change before.
HOOK = """
import json, os, sys, threading, time
from pathlib import Path

home = Path(os.environ["REVERIE_HOME"])
ran = {}

def called(frame, event, argument):
    if event == "call" and frame.f_code not in ran:
        ran[frame.f_code] = time.monotonic()

def follow(mark):
    while True:
        said = (home / "mark").read_text()
        if said and said != mark:
            found, mark = ran.copy(), said
            ran.clear()
            lines = [[at, code.co_filename, code.co_firstlineno, code.co_name] for code, at in found.items()]
            (home / f"{mark}.draft.{os.getpid()}").write_text(json.dumps(lines))
            (home / f"{mark}.draft.{os.getpid()}").rename(home / f"{mark}.ran.{os.getpid()}")
        time.sleep(0.005)

threading.Thread(target=follow, args=((home / "mark").read_text(),), daemon=True).start()
threading.setprofile(called)
sys.setprofile(called)
"""

Act: TypeAlias = Callable[[], object]
Function: TypeAlias = tuple[str, int, str]  # file, line and name


class Watched:
    """A daemon of `tree` whose functions are noted as they run."""

    def __init__(self, daemon: Daemon, tree: Path) -> None:
        self.daemon = daemon
        self.tree = tree
        self.marks = 0

    def ask(self, method: str, path: str, body: object = None) -> dict[str, object]:
        """Make a request that succeeds."""
        answer = self.daemon.ask(method, path, body)
        assert answer.status < 300, answer.body
        found: dict[str, object] = answer.json() if answer.body.startswith(b"{") else {}
        return found

    def ran(self) -> dict[Function, float]:
        """Return the functions that ran since the last call, and when each ran first; in that order."""
        self.marks += 1
        home, mark = self.daemon.home, f"m{self.marks}"
        (home / "next").write_text(mark)
        (home / "next").rename(home / "mark")
        wait_until((home / f"{mark}.ran.{self.daemon.pid}").exists)
        time.sleep(0.5)  # for the other processes
        lines = [line for path in home.glob(f"{mark}.ran.*") for line in json.loads(path.read_text())]
        found: dict[Function, float] = {}
        for at, file, line, name in sorted(lines):
            if file.startswith((f"{self.tree}/python/", f"{self.tree}/daemon/")) and not name.startswith("<"):
                found.setdefault((os.path.relpath(file, self.tree), line, name), at)
        return found

    def walk(self, before: Act, act: Act, idle: set[Function]) -> list[list[Function]]:
        """Return what runs each time for an act: to the answer, and in all."""
        common: Sequence[set[Function]] = ()
        found: dict[Function, float] = {}
        for repeat in range(REPEATS):
            before()
            time.sleep(SETTLE_S)
            self.ran()
            act()
            answered = time.monotonic()
            time.sleep(SETTLE_S)
            found = self.ran()
            early = {function for function, at in found.items() if at <= answered}
            walks = (early, early | (found.keys() - idle))
            common = [walk & walk_before for walk, walk_before in zip(walks, common, strict=True)] if repeat else walks
        return [[function for function in found if function in walk] for walk in common]


def acts(watched: Watched) -> dict[str, tuple[Act, Act]]:
    """Return what is done before each act, and the act."""
    thread = watched.ask("POST", "/v1/threads", {"title": "Tides", **PROJECT})["id"]
    folder = watched.daemon.folder / "facts"
    folder.mkdir(parents=True, exist_ok=True)
    count = iter(range(1_000))
    message = {"role": "user", "content": "We always deploy the harbour on Thursdays. Please fix the tide table."}

    def remember() -> object:
        text = f"Gate {next(count)} of the harbour opens at {next(count)} in the morning"
        return watched.ask("POST", "/v1/memories", {"content": text})

    def save() -> object:
        return (folder / "harbour.md").write_text(f"# Harbour\n\n- Gate {next(count)} is green\n- The tide is high\n")

    return {
        "a message in": (bool, lambda: watched.ask("POST", f"/v1/threads/{thread}/messages", {"messages": [message]})),
        "a context out": (bool, lambda: watched.ask("GET", f"/v1/threads/{thread}/context")),
        "a saved file": (bool, save),
        "a remember": (bool, remember),
        "a recall": (bool, lambda: watched.ask("POST", "/v1/recall", {"query": "When does the gate open?"})),
        "a dream": (remember, lambda: watched.ask("POST", "/v1/dreams?wait=true", {})),
    }


def main(tree: Path, *, listed: bool) -> None:
    """Print the table."""
    print(f"{tree.name:16}{'to the answer':>30}{'in all':>30}")
    with scratch_home() as home:
        (home / "sitecustomize.py").write_text(HOOK)
        (home / "mark").write_text("m0")
        with running_daemon(home, PYTHONPATH=str(home)) as daemon:
            watched = Watched(daemon, tree)
            table = acts(watched)
            for before, act in table.values():
                before()
                act()
                time.sleep(SETTLE_S)
            watched.ran()
            time.sleep(IDLE_S)
            idle = set(watched.ran())
            for name, (before, act) in table.items():
                walks = watched.walk(before, act, idle)
                print(
                    f"{name:16}",
                    *(f"{len(files(walk)):>8} files {len(walk):>4} functions" if walk else " " * 29 for walk in walks),
                    flush=True,
                )
                if listed:
                    print(*(f"  {file}" for file in files(walks[0])), "  then", sep="\n")
                    print(*(f"  {file}" for file in files(walks[1]) if file not in files(walks[0])), sep="\n")


def files(walk: list[Function]) -> list[str]:
    """Return the files of functions, in their order."""
    return list(dict.fromkeys(file for file, _, _ in walk))


if __name__ == "__main__":
    TREE = Path(next((item for item in sys.argv[1:] if item != "-v"), Path(__file__).parents[2])).resolve()
    if Path(sys.prefix) != TREE / ".venv":  # the daemon is started by the interpreter that runs this
        raise SystemExit(subprocess.call([TREE / ".venv/bin/python", __file__, *sys.argv[1:]]))
    main(TREE, listed="-v" in sys.argv)
