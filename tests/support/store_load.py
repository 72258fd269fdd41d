"""A program that writes to a store until it is killed; what it imports is little, as tests start it often.

Run with `PATH [COMMITS]`, it commits and says what was acknowledged, a line at once for each outcome: `open`,
`ack COMMIT`, `done`, or an error's code and COMMIT. Every commit holds eight writes of eight agents.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

from reverie.errors import ReverieError
from reverie.redact import Redactor
from reverie.store import Failed, Kind, Store, Write, Writer

AT = "2026-11-21T09:30:00.000Z"
AGENTS = 8
LONG = "long " * 16_000


def _body(agent: int, commit: int) -> Callable[[Writer], None]:
    def body(w: Writer) -> None:
        w.append(Kind.ENTRY, (f"thread_{agent}",), {"commit": commit, "text": "said " * (commit * 37 % 300)})
        w.put(Kind.STATE, (f"thread_{agent}",), {"commit": commit})
        w.put(Kind.MEMORY, (f"memory_{agent}_{commit % 5}",), {"commit": commit})
        if commit % 7 == agent:
            w.put(Kind.DOCUMENT, (f"{agent}.md",), {"commit": commit, "text": LONG})
        w.event("memory.written", {"commit": commit})

    return body


def writes(commit: int) -> list[Write[None]]:
    """Return the writes of one commit."""
    return [Write("load", f"agent_{agent}", "load", _body(agent, commit)) for agent in range(AGENTS)]


def _say(*words: object) -> None:
    os.write(1, (" ".join(str(word) for word in words) + "\n").encode())


def load(path: Path, commits: int) -> None:
    """Commit from where the store is, and repeat commits that failed, a bounded number of times."""
    with Store.open(path, redactor=Redactor(), map_size=1 << 20) as store:
        with store.reader("load") as reader:
            commit = reader.last_seq(Kind.ENTRY, ("thread_0",))
        _say("open")
        failures = 0
        while commit < commits and failures < 5:
            commit += 1
            try:
                outcomes = store.commit(writes(commit), at=AT)
            except ReverieError as error:
                _say(error.code, commit)
                failures += 1
                commit -= 1
                continue
            for outcome in outcomes:
                if isinstance(outcome, Failed):
                    raise outcome.error
            _say("ack", commit)
    _say("done")


if __name__ == "__main__":
    load(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000)
