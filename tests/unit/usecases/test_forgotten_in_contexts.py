"""A context is sent only those forgotten statements that a line of its digest or summary says."""

from __future__ import annotations

from pathlib import Path

from reverie.context.inputs import Limits
from reverie.models import MemoryType, WorkingState
from reverie.store import DigestRecord, ForgottenRecord, Store, ThreadRecord, Writer
from reverie.usecases import contexts
from reverie.usecases.contexts import ContextJob
from support.stores import AT, SPACE, opened, write

SAID = "The harbour gate is painted green"


def snapshot(store: Store) -> ContextJob:
    """Return the snapshot of a context of the thread."""
    limits = Limits(window=200_000, preserve_messages=4, preserve_tokens=400, trigger=0.75)
    with store.reader(SPACE) as reader:
        return contexts.snapshot(
            reader,
            "thread",
            state=WorkingState(),
            recall=[],
            bootstrap=[],
            limits=limits,
            placement=None,
        )


def forget(writer: Writer, *statements: str, project: str = "") -> None:
    """Store forgotten statements."""
    for number, content in enumerate(statements):
        key = f"{project}{number}"
        writer.save(
            ForgottenRecord(
                sha256=key, memory="mem", content=content, type=MemoryType.FACT, project=project, by="me", at=AT
            ),
            (key,),
        )


def test_statements_that_no_line_says_are_not_sent(tmp_path: Path) -> None:
    """A context without a digest gets no forgotten statement; with one, only a statement that the digest says."""
    with opened(tmp_path / "store") as store:
        write(store, lambda writer: writer.save(ThreadRecord(id="thread", created_at=AT, updated_at=AT), ("thread",)))
        others = [f"Rule {number} concerns another gate" for number in range(50)]
        write(store, lambda writer: forget(writer, *others, SAID, ""))
        write(store, lambda writer: forget(writer, SAID, project="quay"))
        assert snapshot(store).forgotten == []
        digest = DigestRecord(text=f"## Decisions\n- {SAID} (2026-11-21).\n- Rule 7 stays.\n")
        write(store, lambda writer: writer.save(digest, ("thread",)))
        job = snapshot(store)
        assert job.forgotten == [SAID]
        assert contexts.decide(job).request.system is not None
        shown = str(contexts.decide(job).request.system)
        assert SAID not in shown
        assert "Rule 7 stays" in shown
