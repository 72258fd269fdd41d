"""The part of a thread that a model reads: the person's words wherever they were typed, and no words of the client."""

from __future__ import annotations

from pathlib import Path

from reverie.evals.after_transcript import knowledge_text
from reverie.importers.join import main_line
from reverie.language_model.requests import ModelRequest
from reverie.redact import Redactor
from reverie.usecases.memory_plan import source_of
from support.story import Story, call, result, text
from support.talk import thread_entries


def test_notes_of_the_client_inside_results_are_not_shown() -> None:
    """A reminder that the client put into a tool's output is not shown to the model; the rest of the output is."""
    transcript = Story()
    transcript.user("Read the log.")
    transcript.assistant(call("a"))
    transcript.user([result("a", "two ships\n<system-reminder>Never say\nthis.</system-reminder>\nthree sails")])
    messages = main_line(thread_entries(transcript.bytes()))

    shown = [entry.text for entry in source_of(messages, Redactor()) if entry.speaker == "result"]

    assert len(shown) == 1
    assert "two ships" in shown[0]
    assert "three sails" in shown[0]
    assert "Never say" not in shown[0]


def test_every_request_has_what_was_typed_aside(tmp_path: Path) -> None:
    """Both the request for memories and the one for the summary show words that were sent while the agent worked."""
    transcript = Story()
    transcript.user("Paint the fence.")
    transcript.assistant(call("a"))
    transcript.queue("enqueue", "please use no red")
    transcript.queue("remove")
    transcript.user([result("a")])
    transcript.assistant(text("It is green."))
    path = tmp_path / "session.jsonl"
    path.write_bytes(transcript.bytes())
    asked: list[ModelRequest] = []

    def ask(request: ModelRequest) -> None:
        asked.append(request)

    knowledge_text(path, 4_000, ask)

    assert [request.purpose for request in asked] == ["extract", "summary"]
    assert all("please use no red" in request.messages[0].content for request in asked)
