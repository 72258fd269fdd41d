"""The output of sync: the changes of store and folder that bring both to one state.

A plan is carried out in this order, and may stop after any step:

1. `puts`, `deletes`, `baselines` and `removed_baselines`, in one transaction or in several: all of one path in one, a
   conflict copy with the path that it is of, and both paths of a move. If a `basis` is no longer the document's current
   operation, the transaction is refused and its paths are scanned again. One plan of a folder is carried out at a time.
2. Each of `writes` and `removals` in the folder. One that meets another file than it expects is not made; the path is
   scanned again.
3. After each write its `then`, the path's new baseline; after a removal the baseline is removed.

Why this order: the store is changed before the folder, and the baseline of step 1 names the write of step 2 as
`intended`. After a crash between the two the next scan therefore either finds the old file (and makes the write again)
or the new one, which it recognises as its own write and not as a person's save.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Container

    from reverie.sync.inputs import Baseline

StopReason: TypeAlias = Literal["mass_deletion", "older_files"]


@dataclass(frozen=True, slots=True)
class Put:
    """A change of the store: `text`, redacted, as the document; `basis` is the operation replaced, None: a new one.

    `before` is a text to store first, by an operation of its own, so that an undo of this one restores exactly it.
    """

    path: str
    text: str
    basis: int | None
    before: str | None = None


@dataclass(frozen=True, slots=True)
class Delete:
    """A change of the store: delete the document if `basis` still is its current operation."""

    path: str
    basis: int


@dataclass(frozen=True, slots=True)
class Write:
    """A change of the folder: these raw bytes, if the file there has the SHA-256 `expected` (None: no file).

    `then` is the path's baseline once the write is made.
    """

    path: str
    data: bytes
    expected: str | None
    then: Baseline


@dataclass(frozen=True, slots=True)
class Remove:
    """A change of the folder: remove the file if it has the SHA-256 `expected`, and its baseline."""

    path: str
    expected: str


@dataclass(frozen=True, slots=True)
class ConflictRegion:
    """One place of a conflict: the text in the person's file, and the text in the stored document (redacted).

    `at` is the offset, in characters of the document's text, of the person's text; None: not known.
    """

    person: str
    store: str
    at: int | None


@dataclass(frozen=True, slots=True)
class ConflictCopy:
    """A conflict: the person's text stays at `path`, and `copy_path` gets `text`, the store's whole version.

    The copy is a document of its own: the plan also has its put and its write. `regions` are the places that could not
    be merged; empty if nothing could be: the two texts have no common ancestor, or the person's was taken whole.
    """

    path: str
    copy_path: str
    text: str
    regions: tuple[ConflictRegion, ...] = ()


@dataclass(frozen=True, slots=True)
class Move:
    """A file that was at `old` and is now at `new`: a delete and a put of this plan that share the block ids."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class SaveNotice:
    """The numbers of lines that a save lacks although its writer may not have seen them, announced with its put.

    `kept`: the save shows that its writer had not seen them. `left_out`: this is unknown. `memories` are those that a
    move took from the file.
    """

    path: str
    kept: int = 0
    left_out: int = 0
    memories: int = 0


@dataclass(frozen=True, slots=True)
class Stop:
    """A part of a plan: leave `paths` (missing files, or earlier texts) alone until a person decides about them."""

    reason: StopReason
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """All changes of one scan. `rescan_at` is the time (ms) of the next scan that needs no event, None: not needed.

    `waiting` are paths whose files are left alone until a later full scan. The changes of `together` are one operation.
    """

    puts: tuple[Put, ...] = ()
    deletes: tuple[Delete, ...] = ()
    baselines: tuple[Baseline, ...] = ()
    removed_baselines: tuple[str, ...] = ()
    writes: tuple[Write, ...] = ()
    removals: tuple[Remove, ...] = ()
    copies: tuple[ConflictCopy, ...] = ()
    moves: tuple[Move, ...] = ()
    stops: tuple[Stop, ...] = ()
    notices: tuple[SaveNotice, ...] = ()
    rescan_at: int | None = None
    waiting: tuple[str, ...] = ()
    together: frozenset[str] = frozenset()

    @property
    def paths(self) -> set[str]:
        """The paths whose document or baseline the plan changes."""
        changed: tuple[Put | Delete | Baseline, ...] = (*self.puts, *self.deletes, *self.baselines)
        return {*(change.path for change in changed), *self.removed_baselines}

    def without(self, paths: Container[str]) -> Plan:
        """Return the plan without its changes of these paths."""
        return replace(
            self,
            puts=tuple(put for put in self.puts if put.path not in paths),
            deletes=tuple(delete for delete in self.deletes if delete.path not in paths),
            baselines=tuple(baseline for baseline in self.baselines if baseline.path not in paths),
            removed_baselines=tuple(path for path in self.removed_baselines if path not in paths),
            writes=tuple(write for write in self.writes if write.path not in paths),
            removals=tuple(removal for removal in self.removals if removal.path not in paths),
            copies=tuple(copy for copy in self.copies if copy.path not in paths),
            moves=tuple(move for move in self.moves if move.new not in paths),
            notices=tuple(notice for notice in self.notices if notice.path not in paths),
        )

    def joined(self, *others: Plan) -> Plan:
        """Return one plan with the changes of this one and of others, in order."""
        plans = (self, *others)
        times = [plan.rescan_at for plan in plans if plan.rescan_at is not None]
        return Plan(
            puts=tuple(put for plan in plans for put in plan.puts),
            deletes=tuple(delete for plan in plans for delete in plan.deletes),
            baselines=tuple(baseline for plan in plans for baseline in plan.baselines),
            removed_baselines=tuple(path for plan in plans for path in plan.removed_baselines),
            writes=tuple(write for plan in plans for write in plan.writes),
            removals=tuple(removal for plan in plans for removal in plan.removals),
            copies=tuple(copy for plan in plans for copy in plan.copies),
            moves=tuple(move for plan in plans for move in plan.moves),
            stops=tuple(stop for plan in plans for stop in plan.stops),
            notices=tuple(notice for plan in plans for notice in plan.notices),
            rescan_at=min(times, default=None),
            waiting=tuple(path for plan in plans for path in plan.waiting),
            together=frozenset[str]().union(*(plan.together for plan in plans)),
        )
