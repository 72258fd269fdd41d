"""Which of a person's words a thread is learnt from."""

from __future__ import annotations

from reverie.redact import Redactor
from reverie.store import ThreadRecord, seal
from reverie.usecases.consolidation import MemorySnapshot, Terms
from reverie.usecases.entries import entry_record
from reverie.usecases.learn import CommandCounts, LearnJob, extract
from support.story import Story, call, result, text
from support.talk import thread_entries

AT = "2026-03-05T09:00:00.000Z"


def test_words_behind_a_command_are_learnt() -> None:
    """What is typed behind a command of the person's own is theirs, without the command's name; its text is not."""
    story = Story()
    story.user("Please add a harbour.")
    story.assistant(call("a"))
    story.user([result("a")])
    story.user(
        "<command-message>work</command-message>\n<command-name>/work</command-name>\n"
        "<command-args>Never use npm in this repository.</command-args>"
    )
    story.user([text("# Work\n\nAlways use tabs in this repository.")], isMeta=True)
    story.assistant(text("Done."))
    entries = [(entry.seq, seal(entry_record(entry), Redactor()).data) for entry in thread_entries(story.bytes())]
    thread = ThreadRecord(id="thr_a", agent="claude-code", project="p", created_at=AT, updated_at=AT)
    job = LearnJob(thread, entries, MemorySnapshot(0, [], {}, 100_000), CommandCounts(), Terms(100_000, AT))

    learnt = extract(job)

    assert [one.content for one in learnt.candidates] == ["The user wants: “Never use npm in this repository”"]
    assert learnt.outside == [None]
