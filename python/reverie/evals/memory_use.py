"""Memories of earlier sessions measured by later ones: which were used, and which contradicted.

Sessions are ordered by their time. Those of the first share are learnt from one after the other, as the daemon does it;
the others say what was done afterwards. A memory is used by a later session of its project that runs a command it names
and passes, edits a file it names, or in which the person wishes the same again. It is contradicted by one in which the
person wishes the opposite, or whose command for the same purpose is another one.

Score = used - 2 x contradicted - 0.2 x written: what nobody needs costs as well.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from reverie import git
from reverie.consolidate.statements import Relation, overlap, parse_statement, relate
from reverie.distill.candidates import candidates
from reverie.distill.commands import split_command
from reverie.distill.distiller import Extractive
from reverie.distill.procedures import command_uses, merged_uses
from reverie.distill.sentences import specific_names
from reverie.errors import ReverieError
from reverie.importers.detect import folder_of
from reverie.importers.find import read_entries, read_identity
from reverie.importers.join import main_line
from reverie.lazy_regex import lazy_regex
from reverie.models import MemoryType, Message
from reverie.redact import Redactor
from reverie.usecases import screening
from reverie.usecases.consolidation import MemorySnapshot
from reverie.usecases.learn import CommandCounts, counted
from reverie.usecases.origins import without_recalled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from reverie.consolidate.statements import Statement
    from reverie.distill.facts import ThreadFacts
    from reverie.models import CommandUse
    from reverie.store import MemoryRecord

CONTRADICTED_COST: Final = 2.0
WRITTEN_COST: Final = 0.2
_WINDOW: Final = 1_000_000  # tokens, by which the capacity tier is chosen
_SAME_WISH: Final = 0.6  # overlap of two wishes that are one
_CODE: Final = lazy_regex(r"`([^`]+)`")
_FILE: Final = lazy_regex(r"/|\.\w{1,6}$")
_SPACE: Final = lazy_regex(r"\s+")
_AGAIN: Final = frozenset({Relation.SAME, Relation.COVERED, Relation.EXTENDS})


@dataclass(frozen=True, slots=True)
class Row:
    """The memories of one type and project at the split; an empty project is the person."""

    type: str
    project: str
    written: int
    used: int
    contradicted: int

    @property
    def score(self) -> float:
        """Used - 2 x contradicted - 0.2 x written."""
        return self.used - CONTRADICTED_COST * self.contradicted - WRITTEN_COST * self.written


@dataclass(frozen=True, slots=True)
class FutureUse:
    """The result: one row for each type and project, sorted, over sessions `before` and `after` the split."""

    before: int
    after: int
    rows: tuple[Row, ...]
    unread: tuple[tuple[str, str], ...] = ()

    @property
    def total(self) -> Row:
        """The sums of all rows, as one row."""
        rows = self.rows
        counts = (sum(row.written for row in rows), sum(row.used for row in rows), sum(r.contradicted for r in rows))
        return Row("all", "", *counts)


@dataclass(frozen=True, slots=True)
class Session:
    """One session: its project, when it began, and its messages."""

    name: str
    project: str
    began: str
    messages: tuple[Message, ...]


class _Deeds(NamedTuple):
    """The commands that passed in a session, the files edited, the wishes, and the command for each purpose."""

    project: str
    commands: frozenset[str]
    files: frozenset[str]
    wishes: tuple[Statement, ...]
    subjects: dict[str, str]


@dataclass(slots=True)
class _Store:
    """The memories so far, as the daemon would have them, and the commands of each project."""

    snapshot: MemorySnapshot = field(default_factory=lambda: MemorySnapshot(0, [], {}, _WINDOW))
    commands: dict[str, tuple[CommandUse, ...]] = field(default_factory=dict)

    def learn(self, session: Session, number: int) -> None:
        """Add the memories and commands that a session teaches to this store."""
        redactor = Redactor()
        messages = without_recalled(session.messages)
        facts = Extractive().facts(messages)
        uses_before = list(self.commands.get(session.project, ()))
        counts = counted(CommandCounts(others=uses_before), facts, redactor)
        plan = screening.decide(
            self.snapshot,
            candidates(facts, {}, {}, session.began, [*counts.others, *counts.own]),
            redactor=redactor,
            at=session.began,
            random=number.to_bytes(16, "big"),
            thread=screening.Origin(session.name, session.project or None),
            messages=messages,
        )
        self.commands[session.project] = merged_uses(uses_before, counts.own)
        memories = {record.id: record for record in self.snapshot.memories} | {one.id: one for one in plan.put}
        kept = [record for name, record in memories.items() if name not in set(plan.deleted)]
        documents = {**self.snapshot.documents, **plan.documents}
        left = {path: document for path, document in documents.items() if document.text is not None}
        self.snapshot = MemorySnapshot(0, kept, left, _WINDOW)


def future_use(paths: Sequence[Path], *, share: float = 0.5, on_file: Callable[[], None] = lambda: None) -> FutureUse:
    """Return the measure over the sessions at `paths`; the first `share` (0 to 1) of them, by time, is learnt from.

    Files that are no sessions are named in `unread`, with the reason.
    """
    sessions: list[Session] = []
    unread: list[tuple[str, str]] = []
    for path in paths:
        try:
            sessions.append(read_session(path))
        except ReverieError as error:
            unread.append((str(path), error.message))
        on_file()
    return measured(sessions, share=share, unread=unread)


def measured(sessions: Iterable[Session], *, share: float = 0.5, unread: Sequence[tuple[str, str]] = ()) -> FutureUse:
    """Learn from the first `share` of these sessions; return how the later ones use the memories, as `future_use`."""
    ordered = sorted(sessions, key=lambda session: (session.began, session.name))
    split = round(share * len(ordered))
    store = _Store()
    for number, session in enumerate(ordered[:split]):
        store.learn(session, number)
    later = [_deeds(session) for session in ordered[split:]]
    counts: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0, 0])
    for record in store.snapshot.memories:
        used, against = _judged(record, later)
        row = counts[record.type.value, record.project or ""]
        row[0] += 1
        row[1] += used > 0 and used >= against
        row[2] += against > used
    rows = tuple(Row(kind, project, *counts[kind, project]) for kind, project in sorted(counts))
    return FutureUse(split, len(later), rows, tuple(unread))


def read_session(path: Path) -> Session:
    """Return the session in a file. Raises what the importers raise for a file that is none."""
    name = read_identity(path).session
    entries = list(read_entries(path, tokens=False))
    messages = tuple(message for message in main_line(entries) if not message.rewound)
    folder = next(
        (here for entry in entries if (named := folder_of(entry.extra)) and (here := git.posix_folder(named))), None
    )
    project = "" if folder is None else next(git.readable_names(git.locate(folder)))
    began = next((message.at for message in messages if message.at), "")
    return Session(name, project, began, messages)


def _deeds(session: Session) -> _Deeds:
    facts = Extractive().facts(session.messages)
    learnt = candidates(facts, {}, {}, session.began or None, command_uses(facts))
    procedures = [parse_statement(one.content) for one in learnt if one.type is MemoryType.PROCEDURE]
    subjects = [statement.subject for statement in procedures if statement.subject is not None]
    return _Deeds(
        session.project,
        frozenset(_commands(facts)),
        frozenset(facts.edited),
        tuple(parse_statement(one.content) for one in learnt if one.type is MemoryType.PREFERENCE),
        {_subject(key, session.project): value for key, value in subjects},
    )


def _subject(key: str, project: str) -> str:
    """Return the subject of a procedure without the name of its project."""
    return key.replace("this project", "").replace(f"the project {project}", "").strip()


def _commands(facts: ThreadFacts) -> Iterable[str]:
    """Yield the shell lines that passed, whole and in parts."""
    for run in facts.runs:
        if not run.failed:
            yield _plain(run.command)
            yield from (_plain(part) for part in split_command(run.command))


def _judged(record: MemoryRecord, later: Sequence[_Deeds]) -> tuple[int, int]:
    """Return in how many of the later sessions of its project a memory was used, and contradicted."""
    statement = parse_statement(record.content)
    text = " ".join([record.content, *(value for _, value in record.fields)])
    commands = {_plain(command) for command in _CODE.findall(text)}
    files = [name for name in specific_names(text) if _FILE.search(name)]
    used = against = 0
    for deeds in later:
        if record.project and deeds.project != record.project:
            continue
        if not commands.isdisjoint(deeds.commands) or _edited(files, deeds.files) or _wished(record, statement, deeds):
            used += 1
        elif _excluded(record, statement, deeds):
            against += 1
    return used, against


def _edited(names: Sequence[str], files: frozenset[str]) -> bool:
    """Return True if one of the files that a memory names was edited."""
    return any(path == name or path.endswith(f"/{name}") for name in names for path in files)


def _wished(record: MemoryRecord, statement: Statement, deeds: _Deeds) -> bool:
    """Return True if the person wished the same again."""
    return record.type is MemoryType.PREFERENCE and any(
        relate(wish, statement, keyed=False) in _AGAIN
        or (wish.affirms == statement.affirms and overlap(wish, statement) >= _SAME_WISH)
        for wish in deeds.wishes
    )


def _excluded(record: MemoryRecord, statement: Statement, deeds: _Deeds) -> bool:
    """Return True if the person wished the opposite, or the command for the same purpose was another one."""
    if record.type is MemoryType.PROCEDURE and statement.subject is not None:
        return _subject(statement.subject[0], record.project or "") in deeds.subjects
    return record.type is MemoryType.PREFERENCE and any(
        relate(wish, statement, keyed=False) in {Relation.REPLACES, Relation.CONTRADICTS} for wish in deeds.wishes
    )


def _plain(command: str) -> str:
    return _SPACE.sub(" ", command).strip()
