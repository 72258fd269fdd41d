"""Pages read by a thread's outline equal the main line of all its entries, however the thread has grown."""

from __future__ import annotations

import random
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from reverie import wire
from reverie.importers import outline
from reverie.importers.join import main_line
from reverie.importers.rewinds import is_mark, rewind_mark, undo_mark
from reverie.models import Entry, EntryKind
from reverie.redact import Redactor
from reverie.store import Kind, Store, ThreadRecord, seal
from reverie.usecases import message_pages, threads, unredact
from reverie.usecases.entries import entry_record
from support.soak import count
from support.stores import AT, SPACE, delete, opened, write
from support.story import Story, call, result, text
from support.talk import thread_entries

THREADS = count(16, 3_000)
REDACTOR = Redactor()


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make parts of two messages, so that a short thread has many borders."""
    monkeypatch.setattr(outline, "PART_MESSAGES", 2)
    monkeypatch.setattr(message_pages, "PENDING_MAX", 6)
    monkeypatch.setattr(message_pages, "STEP_PARTS", 3)


class GrowingThread:
    """A thread in a store, appended to by a client of the API and by imports, and its entries beside it."""

    def __init__(self, store: Store, name: str, *, created_at: str = AT) -> None:
        self.store, self.name = store, name
        self.entries: list[Entry] = []
        self.calls = 0
        self.transcript = Story()
        thread = ThreadRecord(id=name, created_at=created_at, updated_at=AT)
        write(store, lambda w: w.save(thread, (name,)))

    def append(self, entries: list[Entry]) -> None:
        """Append as the use cases do: the entries, and the thread's last number."""
        added = [replace(entry, seq=len(self.entries) + place) for place, entry in enumerate(entries, 1)]
        self.entries += added

        def body(writer: Any) -> None:
            _, last = writer.append_many(
                Kind.ENTRY, (self.name,), [seal(entry_record(entry), REDACTOR) for entry in added]
            )
            writer.save(threads.after_append(threads.get(writer, self.name), added, last, AT), (self.name,))

        write(self.store, body)

    def extend(self) -> None:
        """Bring the outline up to date, as the daemon does."""
        with self.store.reader(SPACE) as reader:
            plan = message_pages.plan_outline(message_pages.snapshot_outline(reader, self.name))
            if plan.parts is None:
                plan = message_pages.plan_outline(message_pages.snapshot_outline(reader, self.name, whole=True))
        for step in message_pages.commit_steps(plan, SPACE):
            write(self.store, step.body)

    def page(self, after: int, limit: int, *, last: int | None = None) -> wire.Page[wire.StoredMessage]:
        snapshot = partial(message_pages.snapshot_page, thread_id=self.name, after=after, limit=limit, last=last)
        with self.store.reader(SPACE) as reader:
            job = snapshot(reader)
        if job is None:
            self.extend()
            with self.store.reader(SPACE) as reader:
                job = snapshot(reader, outlined=True)
        assert job is not None
        return message_pages.page(job)

    def pages(self, limit: int) -> list[tuple[Any, ...]]:
        """Return the messages of all pages, one after the other."""
        shown: list[tuple[Any, ...]] = []
        after = 0
        while True:
            page = self.page(after, limit)
            assert len(page.items) <= limit
            shown += [fields(message) for message in page.items]
            if page.next is None:
                return shown
            assert len(page.items) == limit
            after = int(page.next)

    def check(self, chance: random.Random) -> None:
        """Compare pages of a random size, and one from a random entry on, with the main line of all entries."""
        expected = [fields(message) for message in main_line(self.entries, verbatim=True)]
        assert self.pages(chance.choice((1, 2, 3, 7, 100))) == expected
        after, limit = chance.randrange(len(self.entries) + 3), chance.choice((1, 3, 8))
        page = self.page(after, limit)
        begin = begin_of(expected, after)
        assert [fields(message) for message in page.items] == expected[begin : begin + limit]
        assert (page.next is None) == (begin + limit >= len(expected))
        asked = chance.choice((1, 3, 8))
        last = self.page(0, limit, last=asked)
        assert [fields(message) for message in last.items] == expected[-asked:][:limit]
        assert (last.next is None) == (min(asked, len(expected)) <= limit)

    def speak(self, chance: random.Random) -> None:
        """Append some messages by the API: answered, late, missing and repeated calls among them."""
        entries = []
        for _ in range(chance.randrange(1, 5)):
            kind = chance.random()
            if kind < 0.35:
                entries.append(said("user", f"words {chance.randrange(9)}"))
            elif kind < 0.65:
                self.calls += chance.random() < 0.8
                entries.append(said("assistant", [text("so"), call(f"c{self.calls}")]))
            elif kind < 0.9:
                late = chance.randrange(6) if chance.random() < 0.15 else 0
                entries.append(said("user", [result(f"c{max(0, self.calls - late)}")]))
            else:
                entries.append(said("assistant", "done"))
        self.append(entries)

    def go_back(self, chance: random.Random) -> None:
        """Append a mark that the thread goes back to an earlier entry, or that an earlier mark is undone."""
        marks = [entry.seq for entry in self.entries if is_mark(entry)]
        if marks and chance.random() < 0.4:
            self.append([undo_mark(chance.choice(marks))])
        elif self.entries:
            self.append([rewind_mark(chance.randrange(len(self.entries)))])

    def import_lines(self, chance: random.Random) -> None:
        """Append lines of a transcript: branches, rewinds, compactions, replies in parts and repeated lines."""
        lines, before = self.transcript, len(self.transcript.lines)
        known = [line["uuid"] for line in lines.lines if "uuid" in line]
        for _ in range(chance.randrange(1, 6)):
            parent = chance.choice(known) if known and chance.random() < 0.2 else ""
            kind = chance.random()
            if kind < 0.3:
                lines.user(f"prompt {len(lines.lines)}", parent=parent)
            elif kind < 0.6:
                self.calls += 1
                lines.assistant(call(f"t{self.calls}"), reply=f"m{chance.randrange(4)}", parent=parent)
            elif kind < 0.85:
                lines.user([result(f"t{max(1, self.calls - (chance.random() < 0.2))}")], parent=parent)
            elif kind < 0.92 and lines.lines:
                lines.compact("what was before")
            elif known:
                lines.lines.append(dict(chance.choice(lines.lines)))
        self.append([replace(entry, seq=0) for entry in thread_entries(lines.bytes())[before:]])


def said(role: Any, content: Any) -> Entry:
    return Entry(kind=EntryKind.SPEECH, role=role, content=content, at=AT, tokens=1)


def fields(message: Any) -> tuple[Any, ...]:
    return (message.role, message.content, message.first_seq, message.last_seq, message.tokens, message.rewound)


def begin_of(messages: list[tuple[Any, ...]], after: int) -> int:
    """Return the index behind the message that begins at entry `after`, else of the first message after it."""
    for place, message in enumerate(messages):
        if message[2] == after:
            return place + 1
    return next((place for place, message in enumerate(messages) if message[2] > after), len(messages))


def test_pages_equal_the_main_line(tmp_path: Path) -> None:
    """Pages of a thread equal its main line at every stage of growth, by API, transcripts or both in turn."""
    with opened(tmp_path / "store") as store:
        for number in range(THREADS):
            chance = random.Random(number)
            thread = GrowingThread(store, f"thr_{number}")
            steps = [
                [thread.speak],
                [thread.import_lines],
                [thread.speak, thread.import_lines],
                [thread.speak, thread.speak, thread.go_back],
            ][number % 4]
            for _ in range(chance.randrange(1, 14)):
                chance.choice(steps)(chance)
                if chance.random() < 0.3:
                    thread.extend()
                if chance.random() < 0.4:
                    thread.check(chance)
            thread.check(chance)


def test_a_page_of_a_long_thread_reads_few_entries(tmp_path: Path) -> None:
    """A page of a long thread reads at most 20 entries for 10 messages, anywhere in the thread."""
    with opened(tmp_path / "store") as store:
        thread = GrowingThread(store, "thr_1")
        for _ in range(10):
            thread.append([said(*turn) for turn in (("user", "go"), ("assistant", "yes")) * 100])
        thread.extend()
        for after in (0, 900, 1_995):
            with store.reader(SPACE) as reader:
                job = message_pages.snapshot_page(reader, "thr_1", after=after, limit=10)
            assert job is not None
            assert sum(len(entries) for _, entries in job.parts) <= 20


def test_a_thread_created_again_has_its_own_pages(tmp_path: Path) -> None:
    """A thread created under a deleted thread's id shows none of the old messages."""
    with opened(tmp_path / "store") as store:
        first = GrowingThread(store, "thr_1")
        first.append([said("user", f"old {number}") for number in range(20)])
        first.extend()
        write(store, lambda w: w.purge(Kind.ENTRY, ("thr_1",), 100))
        second = GrowingThread(store, "thr_1", created_at="2026-11-22T09:30:00.000Z")
        assert first.pages(5) == []
        # A step of the first thread's outline that was still waiting writes nothing.
        for step in message_pages.commit_steps(
            message_pages.OutlinePlan("thr_1", AT, 0, [outline.OutlinePart(1, 20, 20)]), SPACE
        ):
            write(store, step.body)
        second.append([said("user", f"new {number}") for number in range(9)])
        assert [message[1] for message in second.pages(4)] == [f"new {number}" for number in range(9)]


def test_an_outline_that_was_removed_is_not_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever an outline is removed while it is extended or made anew, no step after that is written."""
    monkeypatch.setattr(message_pages, "STEP_PARTS", 2)
    with opened(tmp_path / "store") as store:
        thread = GrowingThread(store, "thr_1")
        for is_whole in (True, False):
            for before in range(10):
                unredact_all(store)
                if not is_whole:
                    thread.extend()
                thread.append([said(*turn) for turn in (("user", "go"), ("assistant", "yes")) * 20])
                with store.reader(SPACE) as reader:
                    plan = message_pages.plan_outline(message_pages.snapshot_outline(reader, "thr_1"))
                for number, step in enumerate(message_pages.commit_steps(plan, SPACE)):
                    if number == before:
                        unredact_all(store)
                    # What was not begun needs no outline before it, and may be begun.
                    assert write(store, step.body).value == (number < before or (is_whole and before == 0))
                expected = [fields(message) for message in main_line(thread.entries, verbatim=True)]
                assert thread.pages(7) == expected


def test_an_outline_without_its_first_parts_is_made_anew(tmp_path: Path) -> None:
    """Pages of a thread whose outline an earlier release has continued after its first parts were removed."""
    with opened(tmp_path / "store") as store:
        thread = GrowingThread(store, "thr_1")
        thread.append([said(*turn) for turn in (("user", "go"), ("assistant", "yes")) * 20])
        thread.extend()
        write(store, lambda w: [w.delete(Kind.OUTLINE, ("thr_1", number)) for number in (1, 2)])
        thread.append([said("user", "more")])
        thread.check(random.Random(1))


def unredact_all(store: Store) -> None:
    """Remove what is made of the thread's entries, as a change of what redaction leaves does."""
    write(store, lambda w: unredact.forget_made_of_entries(w, "thr_1"))


def test_deleting_a_thread_deletes_its_outline(tmp_path: Path) -> None:
    with opened(tmp_path / "store") as store:
        thread = GrowingThread(store, "thr_1")
        thread.append([said("user", f"old {number}") for number in range(20)])
        thread.extend()
        delete(store, "thr_1")
        with store.reader(SPACE) as reader:
            assert list(reader.keys(Kind.OUTLINE, ("thr_1",))) == []
