"""Units and passages: what is indexed of an entry or document, and the part of a text that is shown."""

from __future__ import annotations

from typing import Any

from reverie.models import Entry, EntryKind
from reverie.search import document_units, message_unit, passage, section_of
from reverie.search.units import RESULT_CHARS, RESULT_END_CHARS, SECTION_CHARS


def entry(content: Any, kind: EntryKind = EntryKind.SPEECH, role: Any = "user") -> Entry:
    return Entry(kind, seq=7, role=role, content=content)


def test_words_calls_and_results_are_indexed() -> None:
    """Words, tool calls and both ends of results are indexed; a unit's groups name thread, agent and who said it."""
    call = {"type": "tool_use", "name": "Bash", "input": {"command": "make test", "flags": ["-k", {"deep": "parser"}]}}
    result = {"type": "tool_result", "tool_use_id": "c", "content": [{"type": "text", "text": "x" * 5000 + "end"}]}
    picture = {"type": "image", "source": {"data": "AAAA"}}
    unit = message_unit("thr_a", "mole", entry([{"type": "text", "text": "Look:"}, call, result, picture]), 5)
    assert unit is not None
    assert unit.id == "thr_a/7"
    assert (
        unit.text
        == "Look:\nBash make test -k parser\n" + "x" * RESULT_CHARS + " … " + "x" * (RESULT_END_CHARS - 3) + "end"
    )
    assert set(unit.groups) == {"is:message", "thread:thr_a", "agent:mole", "role:user"}
    assert unit.at == 5
    for content in ([result], "<task-notification>done</task-notification>"):
        of_tools = message_unit("thr_a", None, entry(content), 5)
        assert of_tools is not None
        assert set(of_tools.groups) == {"is:message", "thread:thr_a", "is:tool"}


def test_what_says_nothing_is_not_indexed() -> None:
    """Entries outside the conversation and entries without text are not indexed."""
    assert message_unit("t", None, entry("words", EntryKind.META), None) is None
    assert message_unit("t", None, entry("words", EntryKind.SIDECHAIN), None) is None
    assert message_unit("t", None, entry(None), None) is None
    assert message_unit("t", None, entry([{"type": "image"}]), None) is None
    assert message_unit("t", None, entry("  \n"), None) is None


def test_questions_and_speakers_are_groups() -> None:
    """A text that ends with `?` gets the group `asks`; a capitalised name with a colon at its start `by:NAME`."""
    unit = message_unit("t", None, entry("Ann: Where is it? "), None)
    assert unit is not None
    assert {"asks", "by:ann"} <= set(unit.groups)
    other = message_unit("t", None, entry("error: no file. Really?\nYes."), None)
    assert other is not None
    assert not {"asks", "by:error"} & set(other.groups)


def test_sections_have_their_heading_and_a_bounded_length() -> None:
    """Documents are split into sections of bounded length with their headings, and no line is lost."""
    lines = [f"line {number} of the long part" for number in range(200)]
    text = "intro\n\n# One\n\nfirst\n\n## Two\n" + "\n".join(lines) + "\n"
    units = document_units("a/b.md", text, 9)
    assert [unit.id for unit in units[:3]] == ["/a/b.md/1", "/a/b.md/2", "/a/b.md/3"]
    sections = [section_of(text, number) for number in range(1, len(units) + 1)]
    assert sections[:2] == [("", "intro"), ("One", "first")]
    assert [line for heading, body in filter(None, sections) for line in body.split("\n") if heading == "Two"] == lines
    assert all(section is not None and len(section[1]) <= SECTION_CHARS + 100 for section in sections)
    assert section_of(text, len(units) + 1) is None


def test_a_passage_is_the_part_with_the_words() -> None:
    """A passage of a long text has the sentences with most of the words, in 400 characters; a short text is whole."""
    filler = "Nothing happens here at all. " * 60
    text = filler + "We deployed the parser to Oslo. It was raining. " + filler
    found = passage(text, "did they deploy the parser to Oslo?")
    assert "We deployed the parser to Oslo." in found
    assert len(found) <= 400
    assert passage("short text", "none") == "short text"
    assert len(passage("x" * 10_000, "x")) <= 400
    assert len(passage(filler, "")) <= 400
