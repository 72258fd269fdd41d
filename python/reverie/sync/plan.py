"""What sync decides from, and what it decides: the state of each path, and the changes that bring both sides together.

The SHA-256 of a file is that of its raw bytes, in lower-case hexadecimal. Times are milliseconds of one clock. The
text of a document is always the redacted one; only `PathState.data` and a `RedactionView` have the raw bytes.

A plan is carried out in this order, and may stop after any step:

1. `puts` and `deletes` with the `baselines` and `removed_baselines` of their paths, in one transaction or in several:
   all of one path in one (but for a put's `before`, an operation of its own), a conflict copy with the path that it is
   of, and both paths of a move. If a `basis` is no
   longer the document's current operation, the transaction is refused and its paths are scanned again. Baselines of
   paths without a change of the store are saved later, in bulk. One plan of a folder is carried out at a time.
2. Each of `writes` and `removals` in the folder. One that meets another file than it expects is not made; the path is
   scanned again.
3. After each write its `then`, the path's new baseline; after a removal the baseline is removed.

Why this order: the store is changed before the folder, and the baseline of step 1 names the write of step 2 as
`intended`. After a crash between the two the next scan therefore either finds the old file (and makes the write again)
or the new one, which it recognises as its own write and not as a person's save. Where that baseline waits to be saved
(step 1), the new file is recognised by its text, which is the stored one.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping

    from reverie.sync.redaction import RedactionView

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


_OF_PATHS: Final = ("puts", "deletes", "baselines", "writes", "removals", "copies", "notices")
_IN_ORDER: Final = (*_OF_PATHS, "removed_baselines", "moves", "joins", "stops", "waiting")


@dataclass(frozen=True, slots=True)
class Plan:
    """All changes of one scan.

    `waiting` are paths whose files are left alone until a later full scan. The changes of `together` are one operation.
    `joins` are from a file whose lines went to others to each of these, all in one operation.
    """

    puts: tuple[Put, ...] = ()
    deletes: tuple[Delete, ...] = ()
    baselines: tuple[Baseline, ...] = ()
    removed_baselines: tuple[str, ...] = ()
    writes: tuple[Write, ...] = ()
    removals: tuple[Remove, ...] = ()
    copies: tuple[ConflictCopy, ...] = ()
    moves: tuple[Move, ...] = ()
    joins: tuple[Move, ...] = ()
    stops: tuple[Stop, ...] = ()
    notices: tuple[SaveNotice, ...] = ()
    waiting: tuple[str, ...] = ()
    together: frozenset[str] = frozenset()

    @property
    def paths(self) -> set[str]:
        """The paths whose document or baseline the plan changes."""
        changed: tuple[Put | Delete | Baseline, ...] = (*self.puts, *self.deletes, *self.baselines)
        return {*(change.path for change in changed), *self.removed_baselines}

    def without(self, paths: Container[str]) -> Plan:
        """Return the plan without its changes of these paths."""
        left: dict[str, Any] = {
            name: tuple(change for change in getattr(self, name) if change.path not in paths) for name in _OF_PATHS
        }
        removed_baselines = tuple(path for path in self.removed_baselines if path not in paths)
        moves = tuple(move for move in self.moves if move.new not in paths)
        joins = tuple(join for join in self.joins if join.new not in paths)
        return replace(self, removed_baselines=removed_baselines, moves=moves, joins=joins, **left)

    def joined(self, *others: Plan) -> Plan:
        """Return one plan with the changes of this one and of others, in order."""
        plans = (self, *others)
        together = frozenset[str]().union(*(plan.together for plan in plans))
        changes: dict[str, Any] = {
            name: tuple(change for plan in plans for change in getattr(plan, name)) for name in _IN_ORDER
        }
        return Plan(together=together, **changes)


Answer: TypeAlias = Literal["deletions", "older", "put_back"]
"""What a person decided: missing files were deleted on purpose; older files too count as they are; the store's texts
are written over older files, and missing files again."""
EARLIER_MAX: Final = 4
"""Merged saves kept per file besides the last one: so many more editors of it may be open (a count, by judgement)."""


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a document: its redacted text and the operation that wrote it.

    `former`: the document was deleted (or moved away) after this version and created again since, so today's document
    is not derived from it. `by_person`: a person's save made it, or its merge with what agents had written.
    """

    operation: int
    text: str
    former: bool = False
    by_person: bool = False


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """The store's current document: its redacted text, the operation that wrote it, and the ids of its blocks."""

    path: str
    text: str
    operation: int
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DiskWrite:
    """The time (ms) at which an operation's text came to disk; in a plan, None means the plan's own put.

    `saved`: a person's save brought it, or its merge with what agents had written.
    """

    operation: int | None
    at: int
    saved: bool = False


@dataclass(frozen=True, slots=True)
class Save:
    """A person's save of a file: the text of `operation`, or `text` if a merge turned it into what `operation` wrote.

    In a plan, an `operation` of None stands for the plan's own put of the path. An editor's next save derives from
    this text, or from what was written to disk later.
    """

    operation: int | None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Lines that the last save of a file lacks although its writer may not have seen them, and the save's operation.

    They are left out, and `operation` can be undone; in a plan, an `operation` of None stands for the plan's own put.
    `memories` went because the file moved to where it has none, with all of its lines.
    """

    operation: int | None
    lines: int
    at: int
    memories: int = 0


@dataclass(frozen=True, slots=True)
class Baseline:
    """The last agreed state of one path between folder and store, persisted between scans.

    `sha256` is the file as sync last handled it, "" for no file. `operation` is the one whose text the disk last
    showed, 0 for none; in a plan, None stands for the operation that the plan's own put of this path becomes.
    The field names are part of the store's format.
    """

    path: str
    sha256: str
    operation: int | None
    missing_since: int | None = None  # ms: first scan that saw the file missing, or empty
    # SHA-256 of writes under way, and of those that a save raced: a file that has one of them is our own write.
    intended: frozenset[str] = frozenset()
    merged: str | None = None  # SHA-256 of the last save that was merged: the same bytes saved again are deliberate
    shown: tuple[DiskWrite, ...] = ()  # the last texts that came to disk, newest first
    made_at: int | None = None  # ms: when sync created the file, where there was none
    saved: Save | None = None  # the last save of a person; None: nobody ever saved the file
    earlier: tuple[Save, ...] = ()  # merged saves before that one, newest first: other editors may still edit them
    left_out: LeftOut | None = None  # what the last save left out, so that the status can name it

    def with_save(self, save: Save) -> Baseline:
        """Return this baseline with a newer save; the text of the one before is kept if a merge had changed it."""
        before = () if self.saved is None or self.saved.text in {None, save.text} else (self.saved,)
        return replace(self, saved=save).with_earlier_saves(*before)

    def with_earlier_saves(self, *saves: Save) -> Baseline:
        """Return this baseline with these merged saves, newest first, put before its other earlier ones."""
        texts = {save.text for save in (self.saved, *saves) if save is not None}
        others = (save for save in self.earlier if save.text not in texts)
        return replace(self, earlier=(*saves, *others)[:EARLIER_MAX])

    def with_operation(self, operation: int) -> Baseline:
        """Return this baseline of a plan with `operation` in place of each None, once the plan's put is committed."""
        saved = self.saved
        if saved is not None and saved.operation is None:
            saved = Save(operation, saved.text)
        shown = tuple(
            DiskWrite(operation, write.at, write.saved) if write.operation is None else write for write in self.shown
        )
        own = operation if self.operation is None else self.operation
        left_out = self.left_out
        if left_out is not None and left_out.operation is None:
            left_out = replace(left_out, operation=operation)
        return Baseline(  # the first scan of a folder makes tens of thousands, and `replace` takes five times as long
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
            left_out,
        )


@dataclass(frozen=True, slots=True)
class PathState:
    """All that is known of one path when a scan looks at it: file, stored document, versions and baseline.

    `data` are the raw bytes of its file, UTF-8 with or without BOM; None: no file. `versions` are the document's
    versions, newest first, the current one included; also those from before it was deleted. They must include the one
    of `baseline.operation` if the store still has it. `saved_at` is the time (ms) at which the file was saved (its
    mtime), None: just now.

    Late writes: if `disk_sha256` is set, `data` is not the file at the path but a save that came out when that file was
    replaced; `disk_sha256` is the file that is there now, "" for no file, and `replaced_by` is the operation whose text
    replaced it. `file_id` is the file's inode and modification time, `baseline_file_id` that of the file that sync last
    handled at this path; None: not known.
    """

    path: str
    document: StoredDocument | None = None
    baseline: Baseline | None = None
    data: bytes | None = None
    versions: tuple[Version, ...] = ()
    disk_sha256: str | None = None
    saved_at: int | None = None
    replaced_by: int | None = None
    file_id: tuple[int, int] | None = None
    baseline_file_id: tuple[int, int] | None = None
    older: Version | None = None


@dataclass(frozen=True, slots=True)
class Rules:
    """The limits of sync: quiet periods (ms), the mass-deletion guard, and the bounds of the merge-base search."""

    # How long a file must be missing, or empty, before that counts: editors that save by delete and create, and tools
    # that truncate and then write, are done in well under a second.
    delete_quiet_ms: int = 2_000
    # More missing files than this share of all, and more than `mass_min` of them, ask a person first. Example: 6 of 10
    # missing at once looks like a lost mount; 5 of 5 may be somebody who empties a small folder.
    mass_fraction: float = 0.5
    mass_min: int = 5
    versions_max: int = 20  # earlier versions of a large document that a save may derive from: bounds the search
    # How long (ms) a text may be on disk and unknown to an open editor, where the texts do not show what it has seen.
    # Within this time, a line that a save lacks is not taken for a deletion.
    unseen_ms: int = 2_000
    answer: Answer | None = None  # what a person has decided about files that are missing or older at once
    # The same bytes sooner than this (ms) after they were merged are the echo of one save (editors write twice, events
    # come twice); later they are a deliberate second save.
    again_ms: int = 1_000

    @property
    def deletions_accepted(self) -> bool:
        """True if a person has confirmed that every missing file was deleted on purpose."""
        return self.answer in {"deletions", "older"}


@dataclass(frozen=True, slots=True)
class ScanContext:
    """Everything that is the same for all paths of one scan.

    `redact` makes the redaction view of a raw text. `stamp` and `new_id` name conflict copies. `deliberate` are the
    paths whose file was put there on purpose whatever was there before (moved over, or restored by a tool): such a file
    is no edit of an earlier version. `pasted` and `kept` are the lines of `RecentSaves`.
    """

    redact: Callable[[str], RedactionView]
    now_ms: int
    stamp: str
    new_id: Callable[[], str]
    rules: Rules
    deliberate: frozenset[str] = frozenset()
    pasted: Mapping[str, frozenset[str]] = field(default_factory=dict)
    kept: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def moved_from(self, path: str, lines: Iterable[str]) -> set[str]:
        """Return those of a file's lines that a person has just put into another file: they had seen them there."""
        others = [pasted for other, pasted in self.pasted.items() if other != path]
        return {line for line in lines if any(line in pasted for pasted in others)}


def lines_of(text: str, *, without: tuple[str, ...] = ("#",)) -> frozenset[str]:
    """Return the different lines of a text that have a word, without generated ones and those that begin with these."""
    lines, without = (line.rstrip() for line in text.split("\n")), ("> Summary:", "- Updated:", *without)
    return frozenset(line for line in lines if not line.startswith(without) and any(map(str.isalnum, line)))


def sha256(data: bytes) -> str:
    """Return the SHA-256 of a file's raw bytes, in lower-case hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def is_own_write(baseline: Baseline | None, file_sha256: str) -> bool:
    """Return True if a file's SHA-256 is that of a text which sync read or wrote: no person has changed it since."""
    return baseline is not None and (file_sha256 == baseline.sha256 or file_sha256 in baseline.intended)
