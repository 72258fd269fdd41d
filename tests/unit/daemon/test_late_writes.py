"""Late writes wait in order until the store has their text."""

from __future__ import annotations

from typing import cast

import pytest

from reverie.sync.displaced import DisplacedFile
from reveried.sync.state import LateWrites


def test_a_late_write_during_a_pass_waits() -> None:
    """A late write that comes during a pass waits for the next one; only the merged one is discarded."""
    late = LateWrites(grace_ms=0)
    late.add("a.md", b"one", None, replaced_by=3)
    looked = late.next("a.md")
    assert looked is not None
    assert (looked.data, looked.replaced_by) == (b"one", 3)
    late.add("a.md", b"two", None)

    assert late.merged("a.md", None)
    assert late.next("a.md") is looked
    assert late.merged("a.md", looked)
    assert late.merged("a.md", looked)
    waiting = late.next("a.md")
    assert waiting is not None
    assert waiting.data == b"two"
    assert not late.merged("a.md", waiting)
    assert late.paths == set()


class Replaced:
    """A fake displaced file, whose `settle` returns or raises these results in turn."""

    def __init__(self, path: str, *answers: bytes | OSError | None) -> None:
        self.path = path
        self.answers = list(answers)
        self.settled = False

    def settle(self) -> bytes | None:
        answer = self.answers.pop(0)
        if isinstance(answer, OSError):
            raise answer
        self.settled = answer is None
        return answer

    def discard(self) -> None:
        self.settled = True


def test_displaced_files_settle_in_order() -> None:
    """Displaced files settle in the order of their times, also after clock changes."""
    late = LateWrites(grace_ms=1_000)
    first, second, third = Replaced("a.md", None), Replaced("b.md", b"late"), Replaced("c.md", None)
    late.watch(cast("DisplacedFile", first), 5_000)
    late.watch(cast("DisplacedFile", second), 4_000, replaced_by=7)
    late.watch(cast("DisplacedFile", third), 9_000)

    assert late.due == 5_000
    assert late.settle(5_500) == {"b.md"}
    assert (late.due, first.settled) == (6_000, False)
    saved = late.next("b.md")
    assert saved is not None
    assert (saved.data, saved.replaced_by) == (b"late", 7)
    assert late.settle(None) == set()
    assert first.settled
    assert third.settled
    assert late.due is None


def test_a_file_that_cannot_be_settled_is_retried() -> None:
    """After a disk error the file and those behind it are settled again."""
    late = LateWrites(grace_ms=0)
    failing, behind = Replaced("a.md", OSError("disk"), b"one"), Replaced("b.md", b"two")
    late.watch(cast("DisplacedFile", failing), 1)
    late.watch(cast("DisplacedFile", behind), 2)

    with pytest.raises(OSError, match="disk"):
        late.settle(10)
    assert late.due == 1
    assert late.settle(10) == {"a.md", "b.md"}


def test_a_file_that_is_being_settled_is_still_due() -> None:
    """A purge waits for the files that the sync loop is settling: until then they are in the folder."""
    late, seen = LateWrites(grace_ms=0), []

    class Slow(Replaced):
        def settle(self) -> bytes | None:
            seen.append(late.due)
            return super().settle()

    late.watch(cast("DisplacedFile", Slow("a.md", None)), 5_000)
    late.settle(5_000)
    assert seen == [0]
    assert late.due is None


def test_late_writes_follow_a_moved_file() -> None:
    """What was saved, is found while a file is moved, or comes later belongs to the file's new path."""
    late = LateWrites(grace_ms=0)

    class Moved(Replaced):
        def settle(self) -> bytes | None:
            late.move("a.md", "b.md")
            return super().settle()

    late.watch(cast("DisplacedFile", Moved("a.md", b"one")), 1)
    late.watch(cast("DisplacedFile", Replaced("a.md", b"two")), 2)

    assert late.settle(1) == {"b.md"}
    assert late.settle(2) == {"b.md"}
    late.move("b.md", "c.md")
    assert late.paths == {"c.md"}


def test_a_file_stays_while_its_bytes_are_in_memory_alone() -> None:
    """The displaced file of a save that waits to be merged is not removed before: a crash would lose the save."""
    late = LateWrites(grace_ms=0)
    late.add("a.md", b"one", None)
    late.watch(cast("DisplacedFile", displaced := Replaced("a.md", None)), 1)
    late.settle(1)
    assert not displaced.settled

    late.merged("a.md", late.next("a.md"))
    late.settle(1)
    assert displaced.settled
