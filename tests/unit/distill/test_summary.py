"""Tests of the structured summary: rendering, parsing, packing to a ceiling, and its content from a thread."""

from __future__ import annotations

from dataclasses import replace

from reverie import tokenizer
from reverie.distill import summary_text
from reverie.distill.distiller import Extractive
from reverie.models import Distillation, Section, Summary
from support.talk import Talk, logger_fix

ENGINE = Extractive()
HEADINGS = [
    "## Task Context",
    "## Completed Work",
    "## Key Decisions & Rationale",
    "## Current State",
    "## Open Threads",
    "## Corrections & Failed Approaches",
    "## Tone & Register",
]


def distilled(thread: Talk, number: int = 1, previous: Distillation | None = None) -> Distillation:
    """Return the distillation of all messages of a thread, without a preserved tail."""
    return ENGINE.distill(
        thread.messages, number=number, previous=previous, tail_from_seq=len(thread.messages) + 1, passage_tokens=2_000
    )


def test_text_has_the_seven_sections_in_order() -> None:
    """A rendered summary has its number, and seven sections in order, `None.` in empty ones."""
    shown = summary_text.render(Summary(7, {Section.TASK_CONTEXT: ("a task", "its goal")}))
    assert shown.startswith("# Conversation Summary (Distillation #7)\n\n## Task Context\n- a task\n- its goal\n\n")
    assert [line for line in shown.split("\n") if line.startswith("## ")] == HEADINGS
    assert shown.count("- None.") == 6


def test_rendered_text_parses_to_the_same_summary() -> None:
    """A rendered summary parses to an equal one; any other text parses to None."""
    original = distilled(logger_fix(), 3).summary
    assert summary_text.parse(summary_text.render(original)) == original
    assert summary_text.parse("# Something else\n\n## Task Context\n- x") is None


def test_lines_with_new_words_are_packed_first() -> None:
    """After the first line of each section, lines with new words are packed before lines that repeat others."""
    sentence = "the reader closes every archive before the writer opens the next one, which keeps handles few"
    fresh = "uploads resume after a restart because their offsets are stored beside checksums of each part"
    again = tuple(f"{sentence} ({number})" for number in range(8))
    packed = summary_text.pack(1, {Section.DECISIONS: again, Section.CORRECTIONS: ("No.", "Maybe so.", fresh)}, 120)
    assert packed.sections[Section.DECISIONS] == again[:1]
    assert fresh in packed.sections[Section.CORRECTIONS]


def test_a_models_summary_is_offered_lines_and_completed_with_kept_ones() -> None:
    """A model is offered what the rules say beyond the end state, the structure and earlier lines; kept lines fit."""
    own = Summary(2, {Section.TASK_CONTEXT: ("Ann wants uploads that resume.",), Section.DECISIONS: ("Offsets.",)})
    new = "Checksums of each part are stored beside the offsets, so a restart continues where it stopped"
    again = "uploads that resume, wants Ann"
    rules = Summary(
        2,
        {
            Section.TASK_CONTEXT: (f"{summary_text.NOW}resume uploads", again),
            Section.CURRENT_STATE: (
                f"{summary_text.SAID}Done.",
                new,
                "The proxy drops headers",
                "Committed 1a2b3c4: resume uploads",
            ),
            Section.OPEN_THREADS: (f"{summary_text.NEXT}write the tests",),
        },
    )
    before = Summary(1, {Section.CURRENT_STATE: ("The proxy drops headers",)})

    lines = summary_text.offered(rules, before)
    assert [line for _, line in lines] == [again, new]
    assert summary_text.structure(rules) == [(Section.CURRENT_STATE, "Committed 1a2b3c4: resume uploads")]
    full = summary_text.complete(own, lines, 1_000)
    assert full.sections[Section.TASK_CONTEXT] == (*own.sections[Section.TASK_CONTEXT], again)
    assert full.sections[Section.CURRENT_STATE] == (new,)
    assert full.sections[Section.OPEN_THREADS] == ()

    room = tokenizer.count(summary_text.render(full)) - 1
    assert new in summary_text.complete(own, lines, room).sections[Section.CURRENT_STATE]
    for ceiling in range(70, room + 2, 7):
        assert tokenizer.count(summary_text.render(summary_text.complete(own, lines, ceiling))) <= ceiling


def test_summary_of_a_task() -> None:
    """A task's summary has the request, the work done, the cause found, the correction and the open question."""
    sections = distilled(logger_fix()).summary.sections
    assert any("The logger writes to stdout" in line for line in sections[Section.TASK_CONTEXT])
    assert "Committed 1a2b3c4: fix(logger): replace the pipeline by lineTransport" in sections[Section.COMPLETED_WORK]
    assert any("worker thread writes to stdout by itself" in line for line in sections[Section.COMPLETED_WORK])
    assert len(sections[Section.CURRENT_STATE]) <= 7
    assert any(line.startswith("Last tests: passed") for line in sections[Section.CURRENT_STATE])
    assert any("Shall I open a pull request?" in line for line in sections[Section.OPEN_THREADS])
    assert any("User: no, don't touch the public makeLogger" in line for line in sections[Section.CORRECTIONS])


def test_a_yes_is_listed_with_the_accepted_proposal() -> None:
    """A person's `yes` is listed as a decision together with the proposal that it accepts."""
    thread = (
        Talk()
        .user("How should `loadConfig` treat unknown keys in the settings file?")
        .agent("I suggest that `loadConfig` refuses unknown keys and names the nearest one. Shall I?")
        .user("yes, do it")
    )
    decisions = distilled(thread).summary.sections[Section.DECISIONS]
    assert any("refuses unknown keys" in line and "yes, do it" in line for line in decisions)


def test_a_yes_without_a_proposal_decides_nothing() -> None:
    """An `ok` after a statement that proposes nothing is not listed as a decision."""
    thread = Talk().user("Sort the imports of `zip.py`").agent("The imports of `zip.py` are sorted by length now.")
    decisions = distilled(thread.user("ok, now the next file")).summary.sections[Section.DECISIONS]
    assert not any(line.startswith("User:") for line in decisions)


def test_answers_to_questions_are_decisions() -> None:
    """The answer to an AskUserQuestion call is listed as a decision, with its question."""
    question = "Which database should the cache use?"
    thread = (
        Talk()
        .user("Add a cache to the resolver please, it is slow")
        .call(
            "AskUserQuestion",
            {"questions": [{"question": question, "options": []}]},
            f'User has answered your questions: "{question}"="LMDB". You can now continue.',
        )
    )
    assert f"User: {question} → LMDB" in distilled(thread).summary.sections[Section.DECISIONS]


def test_open_threads_survive_five_distillations() -> None:
    """Open items stay through five distillations, and are removed once they are completed."""
    current = distilled(Talk().user("Build the importer for us").todos(Support_gzip="pending", Count_lines="pending"))
    for number in range(2, 6):
        current = distilled(Talk().user(f"Unrelated remark number {number} about the weather"), number, current)
    assert "To do: Support gzip" in current.summary.sections[Section.OPEN_THREADS]
    closed = distilled(Talk().user("Now finish it all").todos(Support_gzip="completed"), 6, current)
    assert "To do: Support gzip" not in closed.summary.sections[Section.OPEN_THREADS]
    assert "To do: Count lines" in closed.summary.sections[Section.OPEN_THREADS]


def test_corrections_and_the_beginning_are_carried_over() -> None:
    """The thread's first request and its corrections stay in later summaries."""
    first = distilled(logger_fix())
    second = distilled(Talk().user("Write the release notes for version two").user("Add the dates as well"), 2, first)
    sections = second.summary.sections
    assert any("don't touch the public makeLogger" in line for line in sections[Section.CORRECTIONS])
    assert any(line.startswith("The thread began with: The logger") for line in sections[Section.TASK_CONTEXT])


def test_a_distillation_obeys_a_smaller_ceiling() -> None:
    """A summary has no more tokens than `summary_tokens`, also if that is less than usual."""
    result = ENGINE.distill(
        logger_fix().messages, number=1, previous=None, tail_from_seq=99, passage_tokens=0, summary_tokens=250
    )
    assert tokenizer.count(summary_text.render(result.summary)) <= 250
    assert result.passages == ()
    assert replace(result, passages=()) == result
