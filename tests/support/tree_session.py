"""A scripted session of file exchanges: write, replace, a raced save, removal.

Run as a program with a folder, it says `did N` after each step; a test ends it, or makes its calls fail, at will.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

from reverie import syscalls
from reverie.sync.displaced import DisplacedFile
from reverie.sync.root import Root
from reverie.sync.swap import Mismatch, Removed, Written, remove_file, write_file
from support.spaces import digest, open_root

NOTE, OTHER = "facts/deep/user.md", "notes.txt"
ONE, TWO, THREE, FOUR = (f"- Version {number}\n".encode() * 50 for number in ("one", "two", "three", "four"))
SAVED = b"- Somebody's own words\n"

# What the two files hold after each step; step 0 is the beginning.
AFTER: list[tuple[bytes | None, bytes | None]] = [
    (None, None),
    (ONE, None),
    (ONE, ONE),
    (TWO, ONE),
    (SAVED, ONE),
    (SAVED + FOUR, ONE),
    (SAVED + FOUR, ONE),
    (SAVED + FOUR, None),
    (SAVED + FOUR, None),
]

Step: TypeAlias = Callable[[int], None]


class Stopped(Exception):
    """A file that could not be checked and was left as it was: a result, not an error."""


def session(root: Root, did: Step, *, person: Callable[[Path], None]) -> None:
    """Run all steps; `person` saves SAVED over the file just before our bytes are exchanged with it."""
    out: list[DisplacedFile] = []
    keep(out, write_file(root, NOTE, ONE, expected=None))
    did(1)
    keep(out, write_file(root, OTHER, ONE, expected=None))
    did(2)
    keep(out, write_file(root, NOTE, TWO, expected=digest(ONE)))
    did(3)
    with just_before_exchange(lambda: person(root.real / NOTE)):
        overtaken = write_file(root, NOTE, THREE, expected=digest(TWO))
    if not isinstance(overtaken, Mismatch) or overtaken.saves != (SAVED,) or overtaken.actual != digest(SAVED):
        raise Stopped
    assert overtaken.exposed
    assert overtaken.displaced is not None
    out.append(overtaken.displaced)
    did(4)
    keep(out, write_file(root, NOTE, SAVED + FOUR, expected=digest(SAVED)))
    did(5)
    settle(out)
    did(6)
    keep(out, remove_file(root, OTHER, expected=digest(ONE)))
    did(7)
    settle(out)
    did(8)


def keep(out: list[DisplacedFile], done: Written | Removed | Mismatch) -> None:
    if isinstance(done, Mismatch):
        raise Stopped
    if done.displaced is not None:
        out.append(done.displaced)


def settle(out: list[DisplacedFile]) -> None:
    for displaced in out:
        if displaced.settle() is not None or not displaced.settled:
            raise Stopped
    out.clear()


def saves(path: Path) -> None:
    """Save by rename, as most editors do."""
    path.with_name(".draft").write_bytes(SAVED)
    path.with_name(".draft").replace(path)


@contextmanager
def just_before_exchange(act: Callable[[], None]) -> Iterator[None]:
    """Run an act once, between our check of the file and the exchange."""
    real, waiting = syscalls.exchange, [act]

    def exchange(first: str, first_folder: int, second: str, second_folder: int) -> None:
        while waiting:
            waiting.pop()()
        real(first, first_folder, second, second_folder)

    syscalls.exchange = exchange
    try:
        yield
    finally:
        syscalls.exchange = real


if __name__ == "__main__":
    with open_root(Path(sys.argv[1])) as space:
        print("did 0", flush=True)
        session(space, lambda step: print(f"did {step}", flush=True), person=saves)
