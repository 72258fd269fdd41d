"""Words that the person typed while the agent worked: messages of the person, each once."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from reverie.distill.steps import Utterance, read_trace
from reverie.importers.detect import json_object_of, read_line
from reverie.importers.join import main_line, with_asides
from reverie.importers.outline import is_continued, messages_of_part, outline
from reverie.importers.rewinds import rewound_positions
from reverie.models import Entry, EntryKind
from reverie.usecases.entries import entry_record
from reverie.usecases.imports import line_identity
from support.story import Story, call, result, text
from support.talk import thread_entries


def said(transcript: Story) -> list[str]:
    """Return what the person says in a transcript, as the distiller reads it."""
    steps = read_trace(main_line(thread_entries(transcript.bytes()))).steps
    return [step.text for step in steps if isinstance(step, Utterance) and step.role == "user"]


def as_imported_earlier(entry: Entry) -> Entry:
    """Return the entry as threads have it that were imported before queued words were speech."""
    if entry.id is not None or entry.kind is not EntryKind.SPEECH:
        return entry
    extra = {**entry.extra, "content": entry.content}
    return replace(entry, kind=EntryKind.OTHER, role=None, content=None, tokens=0, extra=extra)


def test_words_sent_meanwhile_follow_the_results_that_they_stand_before() -> None:
    """They do not cut a reply in two, and a call is still answered next."""
    transcript = Story()
    transcript.user("Paint the fence.")
    transcript.assistant(text("I begin."), reply="r")
    transcript.queue("enqueue", "oh, and use no red")
    transcript.assistant(call("a"), reply="r")
    transcript.user([result("a")])
    transcript.queue("remove")
    transcript.assistant(text("It is green."))

    messages = main_line(thread_entries(transcript.bytes()))

    assert [message.role for message in messages] == ["user", "assistant", "user", "assistant"]
    assert messages[2].content == [result("a"), text("oh, and use no red")]


@pytest.mark.parametrize("prompt", ["and the door", "and the door\nin blue"])
def test_words_that_become_a_prompt_count_once(prompt: str) -> None:
    """The prompt counts, also where the client sends several queued texts as one, and news stand in the queue."""
    transcript = Story()
    transcript.user("Paint the fence.")
    transcript.queue("enqueue", "<task-notification>dry</task-notification>")
    for words in prompt.splitlines():
        transcript.queue("enqueue", words)
    transcript.assistant(text("Done."))
    transcript.queue("dequeue")
    transcript.user(prompt)

    assert said(transcript) == ["Paint the fence.", prompt]


def test_the_same_words_sent_twice_count_twice() -> None:
    """Words that the agent was given are no copy of a prompt that says the same later."""
    transcript = Story()
    transcript.user("Paint the fence.")
    transcript.queue("enqueue", "go on")
    transcript.queue("remove")
    transcript.assistant(text("Done."))
    transcript.user("go on")

    assert said(transcript) == ["Paint the fence.", "go on", "go on"]


def test_words_taken_back_are_not_said() -> None:
    """What is sent after `popAll` counts; words that the queue had no time to give to the agent count as well."""
    transcript = Story()
    transcript.user("Paint the fence.")
    transcript.queue("enqueue", "in blu")
    transcript.queue("popAll", "in blu")
    transcript.queue("enqueue", "in blue")

    assert said(transcript) == ["Paint the fence.", "in blue"]


@pytest.mark.parametrize(
    "content", ["<task-notification>done</task-notification>", '{"task_id": "7"}', "/compact", "/review 12", " ", [], 7]
)
def test_news_and_commands_are_not_typed_words(content: Any) -> None:
    """News of running tasks and commands in the queue are no speech, and their lines come back as they were."""
    transcript = Story()
    transcript.queue("enqueue", content)

    assert said(transcript) == []
    assert json_object_of(thread_entries(transcript.bytes())[0]) == transcript.lines[0]


@pytest.mark.parametrize("words", ["<div> is broken", "{x} stays", "/etc/hosts has it", "  yes\n"])
def test_a_line_with_words_comes_back_as_it_was(words: str) -> None:
    """Words that only begin like news are speech; the entry gives the line that it was read from."""
    transcript = Story()
    transcript.queue("enqueue", words)

    assert said(transcript) == [words.strip()]
    assert json_object_of(thread_entries(transcript.bytes())[0]) == transcript.lines[0]


def test_words_on_a_rewound_branch_are_rewound() -> None:
    """They go with the line before them; what is typed after the new beginning stays."""
    transcript = Story()
    root = transcript.user("Paint the fence.")
    reply = transcript.assistant(text("In which colour?"), parent=root)
    transcript.user("in red", parent=reply)
    transcript.assistant(call("a"))
    transcript.queue("enqueue", "dark red")
    transcript.user("in blue", parent=reply)
    transcript.queue("enqueue", "light blue")

    entries = thread_entries(transcript.bytes())

    assert [entries[place].content for place in sorted(rewound_positions(entries)) if entries[place].id is None] == [
        "dark red"
    ]
    assert said(transcript)[-2:] == ["in blue", "light blue"]


def test_a_thread_imported_earlier_keeps_its_words_and_takes_the_same_line_once() -> None:
    """There the words are entries of no kind; they are read aside, and an import knows the line again."""
    transcript = Story()
    transcript.user("Paint the fence.")
    transcript.queue("enqueue", "and the door")
    new = thread_entries(transcript.bytes())
    old = [as_imported_earlier(entry) for entry in new]

    assert [message.content for message in with_asides(main_line(old), old)] == ["Paint the fence.", "and the door"]
    assert [*map(line_identity, map(entry_record, old))] == [*map(line_identity, map(entry_record, new))]
    assert read_line(b'{"type":"queue-operation","operation":"enqueue","content":"and the door"}', 1)[0].id is None


def test_an_operation_changes_the_outline_before_it() -> None:
    """Pages do not show words that were taken back later, so an outline is not continued over the operation."""
    transcript = Story()
    transcript.user("Paint the fence.")
    transcript.queue("enqueue", "in blu")
    transcript.queue("popAll", "in blu")
    entries = thread_entries(transcript.bytes())

    assert not is_continued(entries, 2)
    parts = outline(entries)
    assert [message.content for part in parts for message in messages_of_part(part, entries)] == ["Paint the fence."]


TYPED = st.sampled_from(["prompt", "queued", "queued to prompt", "taken back", "reply", "tool", "news"])


@given(st.lists(TYPED, max_size=25))
def test_every_typed_text_is_in_exactly_one_utterance(kinds: list[str]) -> None:
    """However prompts, queued words and news are mixed: each sent text is said once, in no other text."""
    transcript = Story()
    sent: list[str] = []
    for number, kind in enumerate(kinds):
        words = f"plank {number} is loose"
        match kind:
            case "prompt":
                transcript.user(words)
            case "queued":
                transcript.queue("enqueue", words)
                transcript.queue("remove")
            case "queued to prompt":
                transcript.queue("enqueue", words)
                transcript.assistant(text("Well."))
                transcript.queue("dequeue")
                transcript.user(words)
            case "taken back":
                transcript.queue("enqueue", words)
                transcript.queue("popAll", words)
            case "reply":
                transcript.assistant(text("Nailed."))
            case "tool":
                transcript.assistant(call(f"c{number}"))
                transcript.user([result(f"c{number}")])
            case _:
                transcript.queue("enqueue", f"<task-notification>{words}</task-notification>")
        if kind in ("prompt", "queued", "queued to prompt"):
            sent.append(words)

    assert sorted(said(transcript)) == sorted(sent)
