"""What a person said in results of tools, in refusing a call or answering questions: whole, and only theirs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie import search
from reverie.distill.steps import Utterance, read_trace
from reverie.importers.join import main_line
from reverie.replies import answers, refusal, with_replies
from support.story import Story, text
from support.talk import thread_entries

REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file). "
)
SAID = REFUSED + "To tell you how to proceed, the user said:\n"
NOTE = "\n\nNote: The user's next message may contain a correction or preference. Pay close attention."
CLARIFY = (
    "The user wants to clarify these questions.\n    This means they may have questions for you.\n\n"
    '    Questions asked:\n- "Which glaze?"\n  Answer: matt\n- "How many pots?"\n  (No answer provided)'
)
OPTIONS = [{"label": "Matt", "description": "No shine, hides marks"}, {"label": "Clear", "description": "Shows clay"}]


def asked(*questions: str) -> dict[str, Any]:
    """Return the input of a call that asks these questions, each with two options."""
    return {"questions": [{"question": one, "header": "Glaze", "options": OPTIONS} for one in questions]}


def answered(given_answers: dict[str, str], notes: str = "") -> str:
    """Return the result of a call whose questions were answered, as the client writes it."""
    pairs = (f'"{question}"="{answer}"' for question, answer in given_answers.items())
    tail = f" user notes: {notes}" if notes else ""
    return f"User has answered your questions: {', '.join(pairs)}{tail}. You can now continue with the user's answers."


def refused(transcript: Story, name: str, words: str, tool: str = "Bash", **tool_input: Any) -> None:
    """Add a call that the person refused."""
    transcript.assistant({"type": "tool_use", "id": name, "name": tool, "input": tool_input})
    block = {"type": "tool_result", "tool_use_id": name, "content": SAID + words, "is_error": True}
    transcript.user([block], toolUseResult=f"Error: {SAID}{words}")


def asking(transcript: Story, name: str, given_answers: dict[str, str], notes: str = "") -> None:
    """Add a call of the question tool with its answers."""
    questions = asked(*given_answers)
    transcript.assistant({"type": "tool_use", "id": name, "name": "AskUserQuestion", "input": questions})
    block = {"type": "tool_result", "tool_use_id": name, "content": answered(given_answers, notes)}
    transcript.user([block], toolUseResult={**questions, "answers": given_answers})


def said(transcript: Story) -> list[Utterance]:
    """Return what the person says in a transcript, as the distiller reads it."""
    steps = read_trace(main_line(thread_entries(transcript.bytes()))).steps
    return [step for step in steps if isinstance(step, Utterance) and step.role == "user"]


@pytest.mark.parametrize("behind", ["", NOTE, "\n\n[Request interrupted by user for tool use]"])
def test_words_in_refusing_a_call_are_the_persons(behind: str) -> None:
    """They may have paragraphs of their own; what the client writes before and behind them is not theirs."""
    words = "fire it twice\n\nNote: the kiln is slow\n\n[x] done"
    transcript = Story()
    refused(transcript, "a", words + behind)

    assert [(one.text, one.via) for one in said(transcript)] == [(words, "refusal")]


@pytest.mark.parametrize("result", [REFUSED + "STOP what you are doing.", "he said the user said: no", ""])
def test_a_result_without_words_says_nothing(result: str) -> None:
    """A refusal without a word, and an error that only quotes, are nobody's speech."""
    assert refusal(result) == []
    content = [{"type": "tool_result", "tool_use_id": "a", "content": SAID + "no"}]
    assert with_replies(content, {}) is content  # not marked as an error: the output of a command that printed it


def test_what_was_answered_before_the_person_asked_back_counts() -> None:
    """The client's words about it are left out, and so are the questions without an answer."""
    transcript = Story()
    refused(transcript, "a", CLARIFY, "AskUserQuestion", **asked("Which glaze?", "How many pots?"))

    assert [(one.text, one.via) for one in said(transcript)] == [("Which glaze? → matt", "answer")]


def test_an_answer_has_its_question_and_the_description_of_its_option() -> None:
    """Free text is given whole, with its quotation marks and lines; a note counts where it says something else."""
    given_answers = {"Which glaze?": "Matt", 'Call it "Ash"?': 'no, "Ash", "Oak"\nor "Elm" please'}
    transcript = Story()
    asking(transcript, "a", given_answers, "and keep it short")

    assert [(one.text, one.via) for one in said(transcript)] == [
        ("Which glaze? → Matt: No shine, hides marks", "answer"),
        ('Call it "Ash"? → no, "Ash", "Oak"\nor "Elm" please\nand keep it short', "answer"),
    ]
    same = answered({"Which glaze?": "wood ash"}, "wood ash")
    assert [(one.words, one.is_own) for one in answers(asked("Which glaze?"), same)] == [("wood ash", True)]


@pytest.mark.parametrize("given_input", [None, {}, {"questions": 7}, {"questions": [7, {"question": 7}]}])
def test_a_call_of_another_shape_has_no_answers(given_input: Any) -> None:
    """What asks no question is no question tool."""
    assert list(answers(given_input, answered({"Which glaze?": "Matt"}))) == []


WORDS = st.text(st.sampled_from('ab ,"=.\n:→-'), min_size=1, max_size=30).map(lambda words: f"x{words}x")


@given(st.lists(st.tuples(st.sampled_from(["prompt", "refusal", "answer", "two answers"]), WORDS), max_size=12))
def test_every_typed_text_is_in_exactly_one_utterance_and_in_one_unit_of_the_person(
    typed: list[tuple[str, str]],
) -> None:
    """Distiller and search read the same words, whatever signs are in them."""
    transcript = Story()
    sent = 0
    for number, (kind, words) in enumerate(typed):
        own = f"{number}: {words}"
        sent += 1
        match kind:
            case "prompt":
                transcript.user(own)
            case "refusal":
                refused(transcript, f"c{number}", own)
            case "answer":
                asking(transcript, f"c{number}", {f"Question {number}?": own})
            case _:
                sent += 1
                asking(transcript, f"c{number}", {f"Question {number}?": own, f"And {number}?": f"{number}b: {words}"})
        transcript.assistant(text("Yes."))

    heard = [one.text for one in said(transcript)]
    units = [
        unit for entry in thread_entries(transcript.bytes()) if (unit := search.message_unit("t", None, entry, None))
    ]
    found = [unit.text for unit in units if "role:user" in unit.groups]

    assert len(heard) == sent
    for number, (_, words) in enumerate(typed):
        own = f"{number}: {words}"
        assert sum(one.partition(" → ")[2] == own or one == own for one in heard) == 1
        assert sum(own in one for one in found) >= 1
    assert not any("doesn't want" in one or "You can now" in one for one in [*heard, *found])
