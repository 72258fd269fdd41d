"""The words of sync: what folder, store and their last agreement say of a path, and what is to be done about it.

A plan is carried out in this order, and may stop after any step:

1. `puts`, `deletes`, `records` and `forgotten`, in one transaction or in several: all of one path in one, a copy with
   the path that it is of, and both paths of a move. A `basis` that is not the document's operation any more refuses the
   transaction; its paths are looked at again. One plan of a folder is carried out at a time.
2. Each of `writes` and `removals` in the folder. One that finds something else than it expected is not made; the path
   is looked at again.
3. After each write its `then`, the path's new record; after a removal the record is forgotten.

The SHA-256 of a file is that of its raw bytes, in lower-case hexadecimal. Times are milliseconds of one clock.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Container

__all__ = [
    "Case",
    "Copy",
    "Delete",
    "Held",
    "Kept",
    "Known",
    "Moved",
    "Plan",
    "Put",
    "Region",
    "Remove",
    "Rules",
    "Saved",
    "Shown",
    "Stop",
    "StopReason",
    "Version",
    "Write",
]

EARLIER_MAX: Final = 4
"""Merged saves before the last one that are kept of a file: so many more editors of it may be open."""

StopReason: TypeAlias = Literal["mass_deletion"]


@dataclass(frozen=True, slots=True)
class Version:
    """A text of a document as the store kept it, redacted, and the operation that wrote it.

    `former`: the document was deleted after it, or moved away, and made anew since.
    """

    operation: int
    text: str
    former: bool = False


@dataclass(frozen=True, slots=True)
class Held:
    """The store's document as it is: its text, redacted, the operation that wrote it, and the ids of its blocks."""

    path: str
    text: str
    operation: int
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Shown:
    """When the text of an operation reached the disk; in a plan, None stands for the operation of its put."""

    operation: int | None
    at: int


@dataclass(frozen=True, slots=True)
class Saved:
    """What a person last saved: the text of `operation`, or `text`, of which a merge made what `operation` says.

    In a plan, None stands for the operation of its put. An editor goes on from here, or from what was written later.
    """

    operation: int | None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """What folder and store last agreed on for a path: a record that the store keeps between two looks.

    `sha256` is the file that was last dealt with, "" for no file. `operation` is the one whose text the disk last
    showed, 0 for none; in a plan, None stands for the operation that the plan's own put of this path becomes.
    """

    path: str
    sha256: str
    operation: int | None
    missing_since: int | None = None  # when the file was first seen gone, or empty
    intended: frozenset[str] = frozenset()  # files that were about to be written: found there, they are ours
    merged: str | None = None  # the file of the last save that was merged: saved again, it is meant
    shown: tuple[Shown, ...] = ()  # what reached the disk from the store since a person last saved, newest first
    made_at: int | None = None  # when the store's words made the file where there was none
    saved: Saved | None = None  # what a person last saved; None: nobody has
    earlier: tuple[Saved, ...] = ()  # merged saves from before that one, newest first: other editors go on from them

    def and_saved(self, saved: Saved) -> Known:
        """This record once a person saved that; the text of the save before is kept if a merge changed it."""
        before = () if self.saved is None or self.saved.text in {None, saved.text} else (self.saved,)
        return replace(self, saved=saved).and_earlier(*before)

    def and_earlier(self, *saves: Saved) -> Known:
        """This record with merged saves, newest first, from before the last one."""
        texts = {each.text for each in (self.saved, *saves) if each is not None}
        others = (each for each in self.earlier if each.text not in texts)
        return replace(self, earlier=(*saves, *others)[:EARLIER_MAX])

    def at(self, operation: int) -> Known:
        """This record of a plan once its put has become `operation`."""
        saved = self.saved
        if saved is not None and saved.operation is None:
            saved = Saved(operation, saved.text)
        shown = tuple(Shown(operation, each.at) if each.operation is None else each for each in self.shown)
        own = operation if self.operation is None else self.operation
        return Known(  # a first look at a folder makes tens of thousands: `replace` takes five times as long
            self.path,
            self.sha256,
            own,
            self.missing_since,
            self.intended,
            self.merged,
            shown,
            self.made_at,
            saved,
            self.earlier,
        )


@dataclass(frozen=True, slots=True)
class Case:
    """All that is known of one path. `seen` are the raw bytes of its file, UTF-8 with or without BOM; None: no file.

    `versions` are the document's texts, newest first, the held one included; also those from before it was deleted.
    They must include the one of `known.operation` if the store still has it. `saved_at` is when the file got there as
    it is (of its times the one of the last change of its inode), None: just now. `reverted` says that there are signs
    of a tool at work that puts back old files (a branch switch). `disk` is the SHA-256 of the file that is there now if
    `seen` is not, "" for no file: a save that came out when the file was replaced. `replaced_by` is the operation whose
    text did that. `file` is the file's inode and when its bytes last changed, `was_file` that of the one that was last
    dealt with here; None: not known.
    """

    path: str
    held: Held | None = None
    known: Known | None = None
    seen: bytes | None = None
    versions: tuple[Version, ...] = ()
    reverted: bool = False
    disk: str | None = None
    saved_at: int | None = None
    replaced_by: int | None = None
    file: tuple[int, int] | None = None
    was_file: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Rules:
    """The limits of sync."""

    delete_quiet_ms: int = 2_000  # how long a file must be gone, or empty, before that is believed
    mass_fraction: float = 0.5  # more of the known files than this, and more than `mass_min`, gone at once: ask
    mass_min: int = 5
    versions_max: int = 20  # how many older texts a save may be an edit of
    unseen_ms: int = 60_000  # how long what we wrote may stay unseen by an editor that is open
    accepted: bool = False  # a person has said that every file that is gone was deleted on purpose
    again_ms: int = 1_000  # the same save sooner than this after it was merged is an echo, later it is meant


@dataclass(frozen=True, slots=True)
class Put:
    """The document gets this text (redacted). `basis` is the operation that it replaces, None: there is no document."""

    path: str
    text: str
    basis: int | None


@dataclass(frozen=True, slots=True)
class Delete:
    """The document goes, if `basis` still is its operation."""

    path: str
    basis: int


@dataclass(frozen=True, slots=True)
class Write:
    """The file gets these raw bytes, if the file there has the SHA-256 `expected` (None: there is none)."""

    path: str
    data: bytes
    expected: str | None
    then: Known


@dataclass(frozen=True, slots=True)
class Remove:
    """The file goes, if it has the SHA-256 `expected`; its record is forgotten then."""

    path: str
    expected: str


@dataclass(frozen=True, slots=True)
class Region:
    """A place of a conflict: what stands in the person's file, and what stands in the store's text (redacted).

    `at` is the character of the document's text at which the person's begins, None: that is not known.
    """

    person: str
    store: str
    at: int | None


@dataclass(frozen=True, slots=True)
class Copy:
    """A conflict: the person's text stays at `path`, and `copy_path` gets `text`, the store's whole version.

    The copy is a document: the plan also has its put and its write. `regions` are what could not go together; empty if
    nothing could: neither text was made from the other, or the person's was taken whole.
    """

    path: str
    copy_path: str
    text: str
    regions: tuple[Region, ...] = ()


@dataclass(frozen=True, slots=True)
class Moved:
    """The file at `old` is now at `new`: a delete and a put of this plan, between which ids travel."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Kept:
    """The file keeps blocks that hold a secret, though the store wanted them changed or gone, and so does the store."""

    path: str


@dataclass(frozen=True, slots=True)
class Stop:
    """Nothing is done about `paths`, which are gone, until a person says that it is meant."""

    reason: StopReason
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done, by path. `look_at` is when to look again without being told (ms), None: not needed."""

    puts: tuple[Put, ...] = ()
    deletes: tuple[Delete, ...] = ()
    records: tuple[Known, ...] = ()
    forgotten: tuple[str, ...] = ()
    writes: tuple[Write, ...] = ()
    removals: tuple[Remove, ...] = ()
    copies: tuple[Copy, ...] = ()
    moves: tuple[Moved, ...] = ()
    kept: tuple[Kept, ...] = ()
    stops: tuple[Stop, ...] = ()
    look_at: int | None = None

    @property
    def idle(self) -> bool:
        """Whether nothing is written anywhere but records."""
        return not (self.puts or self.deletes or self.writes or self.removals)

    @property
    def paths(self) -> set[str]:
        """Where it changes what the store says, or what is known."""
        changed: tuple[Put | Delete | Known, ...] = (*self.puts, *self.deletes, *self.records)
        return {*(each.path for each in changed), *self.forgotten}

    def without(self, paths: Container[str]) -> Plan:
        """What is left of it if nothing is done about these paths."""
        return replace(
            self,
            puts=tuple(each for each in self.puts if each.path not in paths),
            deletes=tuple(each for each in self.deletes if each.path not in paths),
            records=tuple(each for each in self.records if each.path not in paths),
            forgotten=tuple(path for path in self.forgotten if path not in paths),
            writes=tuple(each for each in self.writes if each.path not in paths),
            removals=tuple(each for each in self.removals if each.path not in paths),
            copies=tuple(each for each in self.copies if each.path not in paths),
            moves=tuple(each for each in self.moves if each.new not in paths),
            kept=tuple(each for each in self.kept if each.path not in paths),
        )

    def joined(self, *others: Plan) -> Plan:
        """This plan and others, one after another."""
        plans = (self, *others)
        times = [plan.look_at for plan in plans if plan.look_at is not None]
        return Plan(
            puts=tuple(each for plan in plans for each in plan.puts),
            deletes=tuple(each for plan in plans for each in plan.deletes),
            records=tuple(each for plan in plans for each in plan.records),
            forgotten=tuple(each for plan in plans for each in plan.forgotten),
            writes=tuple(each for plan in plans for each in plan.writes),
            removals=tuple(each for plan in plans for each in plan.removals),
            copies=tuple(each for plan in plans for each in plan.copies),
            moves=tuple(each for plan in plans for each in plan.moves),
            kept=tuple(each for plan in plans for each in plan.kept),
            stops=tuple(each for plan in plans for each in plan.stops),
            look_at=min(times, default=None),
        )
