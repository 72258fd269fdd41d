"""Standing wishes, thanks and corrections are neither the current task nor what a thread worked on."""

from __future__ import annotations

import pytest

from reverie.distill.cues import is_acknowledgement
from reverie.distill.extractive import Extractive
from reverie.distill.extractive.classify_sentences_by_working_state_cues import is_new_task, is_only_for_good
from reverie.distill.extractive.messages_that_open_a_task import opens_task
from support.thread import Thread

ENGINE = Extractive()
TASK = "Please write a tide limiter for the booking API"


@pytest.mark.parametrize(
    "remark",
    [
        "Never push to main directly. Open a PR with a draft status and assign it to me",
        "I hate hidden work on import.",
        "From now on, write a migration for each schema change",
        "That was wrong, you should repair the tests and not delete them",
        "Das war falsch, du sollst die Tests nicht löschen, sondern reparieren.",
        "Nein, das ist falsch: nimm stattdessen den anderen Parser",
        "Eso está mal, tienes que reparar las pruebas",
        "Non, il faut réparer les tests au lieu de les supprimer",
    ],
)
def test_a_wish_or_correction_is_no_task(remark: str) -> None:
    """The task that was asked for before stays the current one, and the digest names it alone."""
    thread = Thread().user(TASK).agent("Written.").user(remark).agent("All right.")
    task = ENGINE.working_state(thread.messages).current_task
    assert task.startswith(TASK)
    topics = [line for line in ENGINE.digest(thread.messages).split("\n") if line.startswith("- Worked on:")]
    assert len(topics) == 1
    assert TASK in topics[0]


@pytest.mark.parametrize(
    "closing",
    [
        "thanks, that's it for today",
        "Thank you very much. See you tomorrow!",
        "Great, we're done for now. Good night",
        "danke, das war's für heute",
        "Vielen Dank, bis morgen",
        "merci beaucoup, c'est tout pour aujourd'hui",
        "gracias, eso es todo por hoy",
    ],
)
def test_a_closing_is_no_remark(closing: str) -> None:
    """A thanks at the end of a session is no part of the current task, nor of what is next."""
    assert is_acknowledgement(closing)
    thread = Thread().user(TASK).agent("Written.").user(closing)
    state = ENGINE.working_state(thread.messages)
    assert state.current_task == TASK
    assert not any(closing[:12] in step for step in state.next_steps)


def test_a_thread_of_wishes_has_no_task() -> None:
    """Without any request the task before stays, and none is made of a wish."""
    thread = Thread().user("Always write tests first.").agent("Yes.").user("danke, das war's")
    assert ENGINE.working_state(thread.messages).current_task == ""


@pytest.mark.parametrize(
    "text",
    [
        "Never mind the docs for now; write the parser for tide tables",
        "Thanks! Now that it works, please port the limiter to the search API",
        "Always use UTC. Convert the printing module to that in this change",
        "I hate this parser, rewrite it as a table of states",
        "We always use tabs; reformat src/quay with them",
        "Kannst du den Parser für Gezeiten schreiben?",
        "Schreibe bitte einen Parser für die Gezeiten",
        "This is what the harbour sends us, please parse the attached table",
    ],
)
def test_a_request_beside_it_is_a_task(text: str) -> None:
    """A message that asks for work opens a task, with or without a wish or a thanks beside it."""
    assert not is_only_for_good(text)
    assert not is_acknowledgement(text)
    assert opens_task(text)
    assert is_new_task(text)
