"""An in-memory folder and store that carry out sync plans step by step, as the daemon does."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count

from reverie.markdown_blocks import align
from reverie.redact import Redactor
from reverie.sync.plan import (
    Baseline,
    PathState,
    Plan,
    Remove,
    Rules,
    SaveNotice,
    StoredDocument,
    Version,
    Write,
    sha256,
)
from reverie.sync.reconcile import RecentSaves, reconcile
from reverie.sync.redaction import RedactionView

SECRET_START = "sk-" + "ant-api03-"


def words(text: str) -> set[str]:
    """Return the words of a text."""
    return {word for word in text.replace("\ufeff", " ").split() if word.startswith(("w", SECRET_START))}


def as_saved(text: str, pick: random.Random) -> str:
    """Return a text, three times in ten with CRLF, a byte order mark or without a final newline."""
    match pick.randrange(10):
        case 0:
            return text.replace("\n", "\r\n")
        case 1:
            return "\ufeff" + text
        case 2:
            return text.rstrip("\n")
    return text


@dataclass
class Texts:
    """A generator of texts with new words."""

    pick: random.Random
    numbers: count[int] = field(default_factory=count)

    def word(self) -> str:
        """Return a new word, or now and then a secret."""
        number = next(self.numbers)
        return f"w{number}"

    def line(self) -> str:
        """Return a new line of one to six words, some of them common."""
        mark = self.pick.choice(("- ", "- ", "- ", "## ", "", "  "))
        length = self.pick.randint(1, 6)
        return mark + " ".join("tea" if self.pick.random() < 0.1 else self.word() for _ in range(length))

    def edited(self, text: str, *, secrets: bool = False) -> str:
        """Return a text after one random change of a line or word."""
        end = "\r\n" if "\r\n" in text else "\n"
        lines = text.split(end)
        at = self.pick.randrange(len(lines))
        parts = lines[at].split(" ")
        match self.pick.randrange(8):
            case 0 | 1:
                lines.insert(at, self.line())
            case 2:
                lines[-1:] = [self.line(), ""]
            case 3 if len(lines) > 1:
                del lines[at]
            case 4:
                parts[self.pick.randrange(len(parts))] = self.word()
                lines[at] = " ".join(parts)
            case 5 if len(parts) > 1:
                del parts[self.pick.randrange(len(parts))]
                lines[at] = " ".join(parts)
            case 6 if secrets:
                lines.insert(at, f"- key: {self.secret()} {self.word()}")
            case _:
                lines[at] = f"{lines[at]} {self.word()}"
        return end.join(lines)

    def secret(self) -> str:
        """Return a token that no service issued."""
        return SECRET_START + "".join(self.pick.choices("abcdefghijkABCDEFGHIJK0123456789", k=95))

    def fresh(self) -> str:
        """Return a new document."""
        lines = [self.line() for _ in range(self.pick.randint(0, 5))]
        text = "".join(f"{line}\n" for line in ("# T", "", *lines))
        return as_saved(text, self.pick)


REDACTOR = Redactor()
DAY = 86_400_000
MINUTE = 60_000
PATH = "facts/user.md"
BASE = "# User\n\n- Name: Ana\n- Language: German\n- Role: developer\n- Editor: vim\n"


@dataclass
class Sides:
    """The files that people see, the documents that agents see, and the baselines."""

    files: dict[str, bytes] = field(default_factory=dict)
    versions: dict[str, list[Version]] = field(default_factory=dict)  # newest first, also of deleted documents
    gone: set[str] = field(default_factory=set)  # documents that were deleted
    baselines: dict[str, Baseline] = field(default_factory=dict)
    operation: int = 0
    saved_at: dict[str, int] = field(default_factory=dict)
    now_ms: int = DAY
    recent: RecentSaves = field(default_factory=RecentSaves)
    names: int = 0
    blocks: dict[str, list[tuple[str, str]]] = field(default_factory=dict)  # each line of a document, and its id
    ids: int = 0
    rules: Rules = field(default_factory=Rules)
    by_agents: set[int] = field(default_factory=set)  # the operations that no save made
    notices: list[tuple[SaveNotice, int]] = field(default_factory=list)  # of saves, each with its operation

    def put(self, path: str, text: str, *, by_person: bool = False) -> int:
        """Store a text, as an agent does unless it is `by_person`; return the number of the operation."""
        self.operation += 1
        if path in self.gone:
            self.versions[path] = [replace(version, former=True) for version in self.versions.get(path, [])]
        self.versions.setdefault(path, []).insert(0, Version(self.operation, text, by_person=by_person))
        self.gone.discard(path)
        self._align(path, text)
        if not by_person:
            self.by_agents.add(self.operation)
        return self.operation

    def delete(self, path: str) -> None:
        """Delete a document as an agent does."""
        self.operation += 1
        self.gone.add(path)
        self.blocks.pop(path, None)

    def save(self, path: str, text: str) -> None:
        """Save a file as a person does."""
        self.files[path] = text.encode()
        self.saved_at[path] = self.now_ms

    def text(self, path: str) -> str | None:
        """Return the document's text, or None."""
        document = self.document(path)
        return document.text if document else None

    def document(self, path: str) -> StoredDocument | None:
        """Return the stored document, or None."""
        versions = self.versions.get(path)
        if not versions or path in self.gone:
            return None
        return StoredDocument(path, versions[0].text, versions[0].operation)

    def state(self, path: str) -> PathState:
        """Return document, baseline, file and versions of a path, as a scan gives them to `reconcile`."""
        return PathState(
            path,
            document=self.document(path),
            baseline=self.baselines.get(path),
            data=self.files.get(path),
            versions=tuple(self.versions.get(path, ())),
            saved_at=self.saved_at.get(path),
        )

    def paths(self) -> list[str]:
        """Return every path with a file, document or baseline."""
        return sorted({*self.files, *self.baselines, *(path for path in self.versions if path not in self.gone)})

    def plan(self, paths: Iterable[str] | None = None) -> Plan:
        """Return the sync plan for these paths, by default for all."""
        scanned = self.paths() if paths is None else sorted(set(paths))
        return self.plan_for(self.state(path) for path in scanned)

    def plan_for(self, states: Iterable[PathState]) -> Plan:
        """Return the plan for these path states."""
        return reconcile(
            states,
            redact=lambda raw: RedactionView.of(raw, REDACTOR),
            now_ms=self.now_ms,
            stamp="20261121-093000",
            new_id=self.new_id,
            rules=self.rules,
            files=sum(bool(baseline.sha256) for baseline in self.baselines.values()),
            recent=self.recent,
        )

    def new_id(self) -> str:
        """Return a new id for a conflict copy."""
        self.names += 1
        return f"{self.names:04}"

    def sync(self, paths: Iterable[str] | None = None) -> Plan:
        """Scan and carry out the whole plan; return the plan."""
        plan = self.plan(paths)
        for step in self.steps(plan):
            step()
        return plan

    def settle(self) -> None:
        """Sync until nothing is to be done and no quiet period runs."""
        plan = self.sync()
        for _ in range(8):
            stopped = {path for stop in plan.stops for path in stop.paths}
            missing = [known.missing_since for path, known in self.baselines.items() if path not in stopped]
            quiet_at = max((since + self.rules.delete_quiet_ms for since in missing if since is not None), default=0)
            if plan == Plan(stops=plan.stops) and quiet_at <= self.now_ms:
                return
            self.now_ms = max(self.now_ms, quiet_at)
            plan = self.sync()
        raise AssertionError(f"sync does not come to rest: {plan}")

    def agrees(self, path: str) -> bool:
        """Return True if a file, its secrets redacted, has the document's text."""
        return REDACTOR.text(self.files[path].decode()) == self.text(path)

    def late_write(self, path: str, text: str) -> None:
        """Save as a person into the file that the last write or removal displaced, and merge that save."""
        data = self.files.get(path)
        state = replace(
            self.state(path), data=text.encode(), saved_at=None, disk_sha256="" if data is None else sha256(data)
        )
        for step in self.steps(self.plan_for([state])):
            step()

    def named(self) -> set[str]:
        """Return the words that the notices of saves report as left out."""
        found: set[str] = set()
        for notice, operation in self.notices:
            if notice.left_out:
                versions = self.versions[notice.path]
                at = next(at for at, version in enumerate(versions) if version.operation == operation)
                found |= words(versions[at + 1].text) - words(versions[at].text)
        return found

    def steps(self, plan: Plan) -> list[Callable[[], bool]]:
        """Return the steps of a plan; between any two the daemon may die or a person may save.

        A step that answers False was refused, and no other may follow.
        """
        puts: dict[str, int] = {}
        done: dict[str, Baseline | None] = {}
        steps: list[Callable[[], bool]] = [partial(self._commit, plan, dict(self.baselines), puts)]
        for write in plan.writes:
            steps += [partial(self._write, write, done), partial(self._written, write, done, puts)]
        for removal in plan.removals:
            steps += [partial(self._remove, removal, done), partial(self._removed, removal, done)]
        return steps

    def _align(self, path: str, text: str) -> None:
        lines = [line for line in text.splitlines() if line]
        alignment = align(self.blocks.get(path, []), lines)
        self.ids += len(lines)
        new = (carried or f"m{self.ids - at}" for at, carried in enumerate(alignment.old_ids))
        self.blocks[path] = list(zip(new, lines, strict=True))

    def _commit(self, plan: Plan, before: dict[str, Baseline], puts: dict[str, int]) -> bool:
        """Commit a plan's changes of documents and baselines; return False if one of them has changed meanwhile."""
        bases = [
            *((put.path, put.basis) for put in plan.puts),
            *((delete.path, delete.basis) for delete in plan.deletes),
        ]
        if any(self._operation(path) != basis for path, basis in bases):
            return False
        if any(self.baselines.get(path) is not before.get(path) for path in self._paths_of(plan)):
            return False
        for move in plan.moves:
            self.blocks[move.new] = self.blocks.pop(move.old)
        for delete in plan.deletes:
            self.delete(delete.path)
        for put in plan.puts:
            assert REDACTOR.text(put.text) == put.text
            if put.before is not None:
                assert REDACTOR.text(put.before) == put.before
                self.put(put.path, put.before, by_person=True)
            puts[put.path] = self.put(put.path, put.text, by_person=True)
        self.notices += [(notice, puts[notice.path]) for notice in plan.notices]
        for baseline in plan.baselines:
            self._set_baseline(baseline, puts)
        for path in plan.removed_baselines:
            self._remove_baseline(path)
        return True

    def _paths_of(self, plan: Plan) -> set[str]:
        paths = {*plan.removed_baselines, *(put.path for put in plan.puts), *(delete.path for delete in plan.deletes)}
        return paths | {baseline.path for baseline in plan.baselines} | {write.path for write in plan.writes}

    def _operation(self, path: str) -> int | None:
        document = self.document(path)
        return document.operation if document else None

    def _set_baseline(self, baseline: Baseline, puts: dict[str, int]) -> None:
        path = baseline.path
        self.baselines[path] = baseline.with_operation(puts[path]) if path in puts else baseline
        assert self.baselines[path].operation is not None

    def _remove_baseline(self, path: str) -> None:
        self.baselines.pop(path, None)

    def _write(self, write: Write, done: dict[str, Baseline | None]) -> bool:
        if self._digest(write.path) == write.expected:
            self.files[write.path] = write.data
            self.saved_at[write.path] = self.now_ms
            done[write.path] = self.baselines.get(write.path)
        return True

    def _written(self, write: Write, done: dict[str, Baseline | None], puts: dict[str, int]) -> bool:
        if write.path in done and self.baselines.get(write.path) is done[write.path]:
            self._set_baseline(write.then, puts)
        return True

    def _remove(self, removal: Remove, done: dict[str, Baseline | None]) -> bool:
        if self._digest(removal.path) == removal.expected:
            del self.files[removal.path]
            done[removal.path] = self.baselines.get(removal.path)
        return True

    def _removed(self, removal: Remove, done: dict[str, Baseline | None]) -> bool:
        if removal.path in done:
            self._remove_baseline(removal.path)
        return True

    def _digest(self, path: str) -> str | None:
        data = self.files.get(path)
        return None if data is None else sha256(data)


def changes_nothing(plan: Plan) -> bool:
    """Return True if a plan changes no document and no file, only baselines."""
    return not (plan.puts or plan.deletes or plan.writes or plan.removals)


def agreed_sides(text: str = BASE, path: str = PATH) -> Sides:
    """Return sides that have agreed on one document for an hour."""
    sides = Sides()
    sides.put(path, text)
    sides.settle()
    assert sides.files[path] == text.encode()
    sides.now_ms += 60 * MINUTE
    return sides


def settled_text(sides: Sides, path: str = PATH) -> str:
    """Return the text of both sides after they have settled."""
    sides.settle()
    text = sides.text(path)
    assert text is not None
    assert sides.files[path].decode() == text
    return text


def conflict_copies(sides: Sides) -> list[str]:
    """Return the texts of the conflict copies in the folder."""
    return [data.decode() for path, data in sorted(sides.files.items()) if ".sync-conflict-" in path]


def sides_after_writes(*texts: str) -> Sides:
    """Return sides in sync to which agents wrote these texts, an hour apart; the last one was written just now."""
    sides = Sides()
    for text in texts:
        sides.now_ms += 60 * MINUTE
        sides.put(PATH, text)
        sides.settle()
    return sides


def text_after_save(sides: Sides, text: str, path: str = PATH) -> str:
    """Return the text of file and document after a person saved `text` and sync settled."""
    sides.save(path, text)
    return settled_text(sides, path)
