"""Use cases in an ordinary order: what a person said, rejected or took back holds in the later ones."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from reverie.documents.items import Add, Wording
from reverie.documents.layout import memory_project
from reverie.errors import Conflict
from reverie.git import Checkout
from reverie.models import Candidate, MemoryType
from reverie.redact import Redactor
from reverie.store import (
    CandidateRecord,
    DroppedLineRecord,
    Failed,
    ForgottenRecord,
    MemoryRecord,
    PendingChange,
    PendingPurge,
    Store,
    Write,
    Writer,
)
from reverie.usecases import documents, dream, dream_plan, memories, projects, purge_targets, review, undo
from reverie.usecases.by import ENGINE, By
from reverie.usecases.consolidation import Terms
from reverie.usecases.forgotten import removed_by_agent
from support.stores import AT

LINE = "The release captain is Mira Lund"
PLAIN = Redactor(())


class Space:
    """A store of one space, in which a person and an agent act."""

    def __init__(self, store: Store) -> None:
        numbers = itertools.count(1)

        def new_id(kind: str) -> str:
            return f"{kind}_{next(numbers)}"

        self.store = store
        self.person = By("default", "owner", "person", new_id)
        self.agent = By("default", "claude", "agent", new_id)

    def commit(self, write: Write[Any]) -> Any:
        """Commit a write, and return its answer."""
        (done,) = self.store.commit([write], at=AT)
        if isinstance(done, Failed):
            raise done.error
        return done.value

    def body(self, body: Callable[[Writer], object]) -> None:
        """Commit what no use case writes."""
        self.commit(Write("default", "test", "test", body))

    def learn(self, name: str, content: str, *, path: str = "facts/project.md", tags: tuple[str, ...] = ()) -> None:
        """Write a memory that an engine learnt from the thread `t1`."""

        def body(writer: Writer) -> None:
            record = MemoryRecord(
                id=name,
                type=MemoryType.FACT,
                content=content,
                tags=tags,
                document=path,
                created_at=AT,
                updated_at=AT,
                trust="engine",
                provenance={"thread": "t1", "seqs": [1]},
            )
            memories.edit_block(
                writer, ENGINE, path, Add(name, Wording(content, tags, None, ())), records={name: record}
            )

        self.body(body)

    def memories(self) -> list[MemoryRecord]:
        """Return all memories."""
        with self.store.reader("default") as reader:
            return [record for _, record in reader.records(MemoryRecord)]

    def operation(self) -> int:
        """Return the newest operation."""
        with self.store.reader("default") as reader:
            return reader.operation()

    def dream(self) -> int | None:
        """Dream by rules; return the operation, None where nothing is new."""
        with self.store.reader("default") as reader:
            job = dream.snapshot(reader, Terms(200_000, AT), token_budget=None, max_token_budget=100_000)
        plan = dream_plan.decide(job)
        assert not isinstance(plan, list)  # without a model nothing is asked
        if plan.archive is None:
            return None
        self.commit(dream.commit.write(self.person, plan, trigger="schedule"))
        return self.operation()


@pytest.fixture
def space(tmp_path: Path) -> Iterator[Space]:
    with Store.open(tmp_path / "store", redactor=PLAIN) as store:
        yield Space(store)


def fact(content: str = LINE, **more: Any) -> Candidate:
    return Candidate(type=MemoryType.FACT, content=content, **more)


def waiting(space: Space, candidate: Candidate) -> str:
    """Let a candidate wait, and return its id."""
    record = review.quarantined(candidate, "its words are from a web page", at=AT)
    space.body(lambda writer: review.keep_waiting(writer, [record]))
    return record.id


@pytest.mark.parametrize("how", ["remember", "accept"])
def test_what_was_learnt_and_a_person_says_is_the_persons(space: Space, how: str) -> None:
    """It outlives a purge of the session that it was learnt from."""
    space.learn("m1", LINE)
    if how == "remember":
        answer = space.commit(memories.remember.write(space.person, fact()))
        assert answer.existed
    else:
        space.commit(review.accept.write(space.person, waiting(space, fact())))
    (memory,) = space.memories()
    assert (memory.trust, memory.provenance["by"]) == ("person", "owner")
    with space.store.reader("default") as reader:
        found = purge_targets.sources(reader, PendingPurge("thread", "t1"))
    assert (found.memories, found.kept) == ([], ["m1"])


def test_an_agent_that_says_it_changes_nobodys_trust(space: Space) -> None:
    """What an engine learnt stays the engine's."""
    space.learn("m1", LINE)
    assert space.commit(memories.remember.write(space.agent, fact())).existed
    assert [memory.trust for memory in space.memories()] == ["engine"]


def test_another_project_is_told_the_same_line(space: Space) -> None:
    """In one file too: what one project remembers, the other does not know."""
    for name in ("cli", "devenv", "devenv", ""):
        space.commit(memories.remember.write(space.person, fact(project=name), document="facts/notes.md"))
    assert [memory.project for memory in space.memories()] == ["cli", "devenv", ""]


@pytest.mark.parametrize("how", ["undo", "rollback", "path"])
def test_a_memory_taken_back_stays_in_its_project(space: Space, how: str) -> None:
    """The project of the folder was not known when the words were written that come back."""
    path = "facts/harbour/notes.md"
    space.commit(documents.put.write(space.person, path, "# Notes\n\n- The mooring fee is 40 euros\n"))
    before = space.operation()
    space.commit(documents.put.write(space.person, path, "# Notes\n\n- The mooring fee is 50 euros\n"))
    edit = space.operation()
    checkout = Checkout("", ("/home/a/harbour",), is_repository=True)
    space.commit(projects.register.write(space.person, checkout, paths=[path]))
    if how == "undo":
        space.commit(undo.undo.write(space.person, edit, PLAIN))
    else:
        space.commit(undo.rollback.write(space.person, before, path=path if how == "path" else None))
    (memory,) = space.memories()
    assert (memory.content, memory_project(memory)) == ("The mooring fee is 40 euros", "harbour")


def test_a_memory_rolled_back_stays_where_it_was_moved(space: Space) -> None:
    """It gets its words back, in the project that it has now."""
    space.commit(projects.register.write(space.person, Checkout("", ("/home/a/cli",), is_repository=True)))
    space.commit(documents.put.write(space.person, "facts/cli/fees.md", "# Fees\n\n- The fee is 40 euros\n"))
    before = space.operation()
    space.commit(documents.move.write(space.person, "facts/cli/fees.md", "facts/fees.md"))
    (memory,) = space.memories()
    space.commit(memories.change.write(space.person, memory.id, content="The fee is 50 euros"))
    space.commit(undo.rollback.write(space.person, before, memory=memory.id))
    (memory,) = space.memories()
    assert (memory.content, memory.document, memory_project(memory)) == ("The fee is 40 euros", "facts/fees.md", "")


def test_a_rejection_holds_beside_an_agents_removal(space: Space) -> None:
    """What an agent removed in its own session and a person rejects is forgotten by the person."""
    memory = space.commit(memories.remember.write(space.agent, fact()))
    space.commit(memories.forget.write(space.agent, memory.id))
    space.commit(review.reject.write(space.person, waiting(space, fact())))
    with space.store.reader("default") as reader:
        ((_, record),) = reader.records(ForgottenRecord)
    assert (record.by, record.threads) == ("owner", None)


def test_a_deletion_is_undone_though_a_line_was_said_again(space: Space) -> None:
    """What was said again is not forgotten any more, and the file comes back."""
    path = "facts/notes.md"
    space.commit(documents.put.write(space.person, path, f"# Notes\n\n- {LINE}\n- The pier is 90 m long\n"))
    space.commit(documents.delete.write(space.person, path))
    deletion = space.operation()
    space.commit(memories.remember.write(space.person, fact(), document="facts/other.md"))
    space.commit(undo.undo.write(space.person, deletion, PLAIN))
    assert [memory.content for memory in space.memories()].count("The pier is 90 m long") == 1
    with space.store.reader("default") as reader:
        assert list(reader.records(ForgottenRecord)) == []


def test_a_dream_is_undone_though_its_proposal_was_decided(space: Space) -> None:
    """The decision stays."""
    record = review.quarantined(fact("The mole is closed"), "its words are from a web page", at=AT)

    def both(writer: Writer) -> None:
        memories.remember(writer, space.person, fact())
        review.keep_waiting(writer, [record])

    space.body(both)
    made = space.operation()
    space.commit(review.reject.write(space.person, record.id))
    space.commit(undo.undo.write(space.person, made, PLAIN))
    assert space.memories() == []
    with space.store.reader("default") as reader:
        assert [one.state for _, one in reader.records(CandidateRecord)] == ["rejected"]


def test_a_rollback_restores_dropped_lines(space: Space) -> None:
    """A line of a brief that was dropped since is told again, as after an undo."""
    space.commit(memories.remember.write(space.person, fact()))
    before = space.operation()
    space.body(lambda writer: writer.save(DroppedLineRecord(project="cli", by="owner", at=AT), ("line",)))
    space.commit(undo.rollback.write(space.person, before))
    with space.store.reader("default") as reader:
        assert list(reader.records(DroppedLineRecord)) == []


@pytest.mark.parametrize("how", ["undo", "rollback"])
def test_a_dream_that_was_taken_back_is_not_made_again(space: Space, how: str) -> None:
    """Neither after its undo nor after a rollback."""
    for number, (content, tags) in enumerate([(LINE, ("a",)), (f"{LINE}.", ("b",)), ("Tests need docker", ())]):
        space.learn(f"mem_{number:026}", content, tags=tags)
    before = space.operation()
    made = space.dream()
    assert made is not None
    assert len(space.memories()) == 2
    way_back = (
        undo.undo.write(space.person, made, PLAIN) if how == "undo" else undo.rollback.write(space.person, before)
    )
    space.commit(way_back)
    assert len(space.memories()) == 3
    space.dream()
    assert len(space.memories()) == 3


def test_an_accepted_change_keeps_the_tags_that_a_person_gave(space: Space) -> None:
    """A change decides the words; tags given since it was proposed stay."""
    space.learn("m1", LINE)
    change = PendingChange(action="UPDATE", memory="m1", before=LINE, content=f"{LINE}, until May")
    record = CandidateRecord(
        id="c1", state="waiting", reason="person", why="a person's words", changes=[change], created_at=AT
    )
    space.body(lambda writer: writer.save(record, ("c1",)))
    space.commit(memories.change.write(space.person, "m1", tags=["ops"]))
    space.commit(review.accept.write(space.person, "c1"))
    (memory,) = space.memories()
    assert (memory.content, memory.tags) == (f"{LINE}, until May", ("ops",))


def test_a_line_of_a_projects_folder_is_remembered_once(space: Space) -> None:
    """Whichever project the caller names: it is the folder's."""
    space.commit(projects.register.write(space.person, Checkout("", ("/home/a/harbour",), is_repository=True)))
    answers = [
        space.commit(memories.remember.write(space.person, fact(project=name), document="facts/harbour/notes.md"))
        for name in ("", "cli", "harbour")
    ]
    assert [answer.existed for answer in answers] == [False, True, True]


def test_a_person_who_said_it_takes_that_back(space: Space) -> None:
    """The engine's memory is the engine's again."""
    space.learn("m1", LINE)
    space.commit(memories.remember.write(space.person, fact()))
    space.commit(undo.undo.write(space.person, space.operation(), PLAIN))
    (memory,) = space.memories()
    assert (memory.trust, memory.provenance) == ("engine", {"thread": "t1", "seqs": [1]})


def test_what_was_forgotten_again_is_not_brought_back(space: Space) -> None:
    """The undo of a deletion whose line was said again and forgotten once more is refused."""
    space.commit(documents.put.write(space.person, "facts/notes.md", f"# Notes\n\n- {LINE}\n- Tests need docker\n"))
    space.commit(documents.delete.write(space.person, "facts/notes.md"))
    deletion = space.operation()
    again = space.commit(memories.remember.write(space.person, fact()))
    space.commit(memories.forget.write(space.person, again.id))
    with pytest.raises(Conflict):
        space.commit(undo.undo.write(space.person, deletion, PLAIN))
    assert space.memories() == []


def test_an_accepted_change_takes_a_tag_away(space: Space) -> None:
    """What the change was shown with is what is accepted."""
    space.learn("m1", LINE, tags=("wrong",))
    change = PendingChange(action="UPDATE", memory="m1", before=LINE, content=LINE, tags=("right",))
    record = CandidateRecord(
        id="c1", state="waiting", reason="person", why="a person's words", changes=[change], created_at=AT
    )
    space.body(lambda writer: writer.save(record, ("c1",)))
    space.commit(review.accept.write(space.person, "c1"))
    assert [memory.tags for memory in space.memories()] == [("right",)]


def test_a_deletion_that_was_an_agents_is_undone(space: Space) -> None:
    """Whose removal it was is told later, which is no other removal."""
    space.commit(documents.put.write(space.person, "facts/slip.md", f"# Slip\n\n- {LINE}\n- Tests need docker\n"))
    space.commit(documents.put.write(space.person, "facts/slip.md", "# Slip\n\n- Tests need docker\n"))
    removal = space.operation()
    space.body(lambda writer: removed_by_agent(writer, {("facts/slip.md", removal)}, "thread:t2"))
    with space.store.reader("default") as reader:
        ((_, record),) = reader.records(ForgottenRecord)
    assert (record.by, record.threads) == ("thread:t2", ["t2"])
    space.commit(undo.undo.write(space.person, removal, PLAIN))
    assert sorted(memory.content for memory in space.memories()) == sorted([LINE, "Tests need docker"])
