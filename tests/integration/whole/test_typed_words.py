"""What a person types outside of prompts is theirs everywhere: search, the thread's pages, the agents' tools, state."""

from __future__ import annotations

from pathlib import Path

import pytest

from reverie.client import Client
from reveried.cli.send_sessions import import_file
from support.story import Story, call, result, text

REFUSED = "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, "
QUESTIONS = [
    {
        "question": "Which glaze do the bowls get?",
        "options": [{"label": "Celadon", "description": "Pale green, fired in reduction"}, {"label": "Tenmoku"}],
    },
    {"question": "Who fires them?", "options": [{"label": "You"}, {"label": "Somebody else"}]},
]
ANSWERS = {"Which glaze do the bowls get?": "Celadon", "Who fires them?": 'ask "Wilma" at the raku oven'}


@pytest.fixture
def session() -> Story:
    """Return a session in which the person types words in each of the ways that are no prompt."""
    transcript = Story()
    transcript.user("Throw six bowls.")
    transcript.assistant(call("wedge", command="wedge --clay stoneware"))
    transcript.queue("enqueue", "the porcelain is in the cellar")
    transcript.queue("remove")
    transcript.user([result("wedge")])
    transcript.assistant(call("fire", command="kiln --cone 10"))
    said = REFUSED + "the user said:\nbisque them before glazing"
    transcript.user([{**result("fire", said), "is_error": True}], toolUseResult=f"Error: {said}")
    asked = {"questions": QUESTIONS}
    transcript.assistant({"type": "tool_use", "id": "ask", "name": "AskUserQuestion", "input": asked})
    pairs = ", ".join(f'"{question}"="{answer}"' for question, answer in ANSWERS.items())
    told = f"User has answered your questions: {pairs}. You can now continue with the user's answers in mind."
    transcript.user([result("ask", told)], toolUseResult={**asked, "answers": ANSWERS})
    transcript.queue("enqueue", "sgraffito on all of them")
    transcript.queue("popAll", "sgraffito on all of them")
    transcript.assistant(text("Six bowls are thrown."))
    return transcript


@pytest.mark.parametrize(
    "asked",
    [
        ("where is the porcelain?", 3, "the porcelain is in the cellar"),
        ("bisque before glazing", 7, "bisque them before glazing"),
        ("celadon glaze on the bowls", 9, "Celadon: Pale green, fired in reduction"),
        ("raku oven Wilma", 9, 'ask "Wilma" at the raku oven'),
    ],
)
def test_words_outside_of_prompts_are_found_as_the_persons(
    client: Client, tmp_path: Path, session: Story, asked: tuple[str, int, str]
) -> None:
    """A hit has them as a message of the person, without the client's words; `read_thread` says who said them."""
    query, seq, words = asked
    path = tmp_path / "session.jsonl"
    path.write_bytes(session.bytes())
    thread = str(import_file(client, path, program="claude-code").thread)

    hit = client.search(query).hits[0]

    assert hit.message is not None
    assert (hit.message.seq, hit.message.role, hit.message.tool_result) == (seq, "user", False)
    assert words in hit.passage
    assert "doesn't want" not in hit.passage
    assert "You can now" not in hit.passage
    assert hit.neighbours
    told = str(client.call_tool("read_thread", {"thread": thread, "around": seq, "limit": 1}).content)
    assert f"[{seq}] person" in told
    assert words in told
    assert ("in refusing a call" in told) is (seq == 7)


def test_words_taken_back_are_not_found(client: Client, tmp_path: Path, session: Story) -> None:
    """Neither search nor pages, nor a tool that reads the thread, show what was taken back into the input line."""
    path = tmp_path / "session.jsonl"
    path.write_bytes(session.bytes())
    thread = str(import_file(client, path, program="claude-code").thread)

    shown = [
        text for hit in client.search("sgraffito").hits for text in (hit.passage, *(n.text for n in hit.neighbours))
    ]
    assert not any("sgraffito" in text for text in shown)
    assert "sgraffito" not in str(client.call_tool("read_thread", {"thread": thread}).content)
    pages = [str(message.content) for message in client.messages(thread).items]
    assert not any("sgraffito" in page for page in pages)
    assert sum("the porcelain is in the cellar" in page for page in pages) == 1


def test_a_session_sent_again_is_no_new_line(client: Client, tmp_path: Path, session: Story) -> None:
    """Lines of the queue have no id; each is known again by what it says, and a follower continues behind it."""
    path = tmp_path / "session.jsonl"
    whole = session.bytes()
    path.write_bytes(b"".join(whole.splitlines(keepends=True)[:3]))
    thread = str(import_file(client, path, program="claude-code").thread)
    path.write_bytes(whole)
    import_file(client, path, program="claude-code")
    again = tmp_path / "copy" / "session.jsonl"
    again.parent.mkdir()
    again.write_bytes(whole)
    import_file(client, again, program="claude-code")

    pages = client.messages(thread).items
    assert pages[-1].last_seq <= len(session.lines)
    assert sum("the porcelain is in the cellar" in str(message.content) for message in pages) == 1
