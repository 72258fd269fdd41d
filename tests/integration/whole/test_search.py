"""Search in a real daemon: messages are found at once, after a restart or kill, and not after a deletion."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reverie import wire
from reverie.client import Client
from reverie.errors import NotFound
from support.daemon import Daemon, check_refused, running_daemon
from support.story import Story, text

TRIP = (
    ("user", "Where did you spend the summer?", "2023-07-02T10:00:00Z"),
    ("assistant", "Ann: In Oslo, with my sister.", "2023-07-02T10:01:00Z"),
    ("user", "Did it rain?", "2023-07-02T10:02:00Z"),
    ("assistant", "Ann: Only on the ferry.", "2023-07-02T10:03:00Z"),
)


def said(client: Client, thread: str, *lines: tuple[str, str, str], **fields: Any) -> None:
    """Create a thread with messages, each given as role, text and time."""
    client.create_thread(id=thread, **fields)
    client.append(thread, [{"role": role, "content": text, "at": at} for role, text, at in lines])


def found(client: Client, query: str, **options: Any) -> list[tuple[str, int]]:
    """Return thread and number of the found messages, best first."""
    answer = client.search(query, **options)
    assert answer.complete
    return [(hit.thread.id, hit.message.seq) for hit in answer.hits if hit.thread and hit.message]


def message_files(home: Path) -> list[Path]:
    return sorted(path for path in (home / "data" / "search").glob("*-messages/*") if path.is_file())


def test_a_message_is_found_at_once_with_all_that_a_reader_needs(client: Client) -> None:
    """A new message is found at once, with thread, number, time, role, agent, passage, neighbours and reasons."""
    said(client, "trip", *TRIP, title="Summer", agent="mole", project="holidays")
    hit = client.search("Who went to Oslo with a sister?").hits[0]
    assert (hit.kind, hit.passage) == ("message", "Ann: In Oslo, with my sister.")
    assert hit.thread == wire.SearchThread(id="trip", title="Summer", project="holidays")
    assert hit.message == wire.SearchedMessage(seq=2, role="assistant")
    assert (hit.at, hit.agent) == ("2023-07-02T10:01:00.000Z", "mole")
    assert [(beside.seq, beside.text) for beside in hit.neighbours] == [(1, TRIP[0][1]), (3, TRIP[2][1])]
    assert "oslo" in hit.why
    assert "answers a question" in hit.why


def test_an_answer_is_found_by_the_words_of_its_question(client: Client) -> None:
    """A question finds first the message after an equal question: the answer."""
    said(client, "harbour", *((role, text.replace("summer", "monsoon"), at) for role, text, at in TRIP))
    assert found(client, "Where did Ann spend the monsoon?")[0] == ("harbour", 2)


def test_filters_keep_everything_else_out(client: Client) -> None:
    """Filters by agent, thread, time and project leave only matching messages; an unknown project is an error."""
    said(client, "north", ("user", "the walrus is in the north", "2024-01-10T00:00:00Z"), agent="ann", project="arctic")
    said(client, "south", ("user", "the walrus is in the south", "2024-02-10T00:00:00Z"), agent="ben", project="pole")
    both = {("north", 1), ("south", 1)}
    assert set(found(client, "walrus")) == both
    assert found(client, "walrus", agent="ben") == [("south", 1)]
    assert found(client, "walrus", thread="north") == [("north", 1)]
    assert found(client, "walrus", since="2024-02-01") == [("south", 1)]
    assert found(client, "walrus", before="2024-02-10T00:00:00Z") == [("north", 1)]
    assert found(client, "walrus", since="2024-01-10T01:00:00+01:00", before="2024-03-01") == found(client, "walrus")
    assert found(client, "walrus", project="arctic") == [("north", 1)]
    client.change_thread("south", wire.ChangeThread(project="arctic"))
    assert set(found(client, "walrus", project="arctic")) == both
    assert found(client, "walrus", project="pole") == []
    with pytest.raises(NotFound, match="no project"):
        client.search("walrus", project="nowhere")


def test_a_date_in_the_question_finds_what_was_said_then(client: Client) -> None:
    """Of two equal messages the one of the date that the question names is first."""
    said(client, "then", ("user", "we painted the boat", "2023-05-09T08:00:00Z"))
    said(client, "later", ("user", "we painted the boat", "2023-11-09T08:00:00Z"))
    assert found(client, "What did they do with the boat on 9 November, 2023?")[0] == ("later", 1)
    assert found(client, "What did they do with the boat in May 2023?")[0] == ("then", 1)


def test_a_question_about_a_day_lists_it(client: Client) -> None:
    """A question about a day lists the person's first message in each thread of that day, latest thread first."""
    said(
        client,
        "day1",
        ("user", "rake the leaves", "2022-05-02T08:00:00Z"),
        ("user", "feed hens", "2022-05-03T08:00:00Z"),
    )
    said(
        client,
        "day2",
        ("assistant", "The gate is shut.", "2022-05-03T09:00:00Z"),
        ("user", "oil the hinges", "2022-05-03T09:01:00Z"),
        ("user", "and the lock", "2022-05-03T09:02:00Z"),
        agent="mole",
    )
    said(client, "day3", ("assistant", "Nobody is here.", "2022-05-03T07:00:00Z"))
    question = "What did we talk about on May 3rd, 2022?"
    assert found(client, question)[:3] == [("day2", 2), ("day1", 2), ("day3", 1)]
    assert found(client, question, agent="mole") == [("day2", 2)]
    assert found(client, question, thread="day1") == [("day1", 2)]
    assert client.search(question).hits[0].why == "said on that day"
    assert found(client, "What did we talk about on May 4th, 2022?") == []
    assert found(client, question, limit=1) == [("day2", 2)]


def test_languages_without_spaces_are_found(client: Client) -> None:
    """A word inside a Japanese or Chinese sentence is found."""
    said(
        client,
        "cjk",
        ("user", "昨日は京都で友達に会いました", "2024-01-01T00:00:00Z"),
        ("assistant", "数据库在北京", "2024-01-01T00:01:00Z"),
    )
    assert found(client, "京都")[0] == ("cjk", 1)
    assert found(client, "北京的数据库")[0] == ("cjk", 2)


def test_copies_are_one_hit_with_a_number_that_exists(client: Client) -> None:
    """Of a session that was resumed again and again each message is a hit once, with a number that the thread has."""
    transcript = Story()
    for number in range(6):
        transcript.user(f"please mend gecko hinge number {number}")
        transcript.assistant(text(f"mended {number}"))
    lines = transcript.bytes()
    for session, times in (("once", 1), ("often", 30)):
        place = client.start_import("claude-code", session, source="s.jsonl")
        client.send_chunk(place.id, lines * times, offset=0, first_line=1, final=True)
    hits = client.search("gecko hinge number 4", limit=6).hits
    assert len({hit.passage for hit in hits}) == len(hits) == 6
    for hit in hits:
        assert hit.thread
        assert hit.message
        shown = client.messages(hit.thread.id, limit=100).items
        assert [hit.passage in str(message.content) for message in shown if message.first_seq == hit.message.seq] == [
            True
        ]


def test_tool_calls_and_results_are_found(client: Client) -> None:
    """A command and the beginning of its output are searched too."""
    call = {"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "make frobnicate"}}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "the zeppelin target is missing"}
    client.create_thread(id="tools")
    client.append("tools", [{"role": "user", "content": "build it"}, {"role": "assistant", "content": [call]}])
    client.append("tools", [{"role": "user", "content": [result]}])
    assert found(client, "frobnicate")[0] == ("tools", 2)
    assert found(client, "zeppelin target")[0] == ("tools", 3)


def test_memories_and_documents_are_searched_too(client: Client) -> None:
    """`in` chooses messages, memories or documents; with `all` a memory is not repeated as a document's section."""
    said(client, "talk", ("user", "the quokka is shy", "2024-01-01T00:00:00Z"))
    memory = client.remember(wire.CreateMemory("quokkas live on Rottnest"))
    client.put_document(
        "guides/animals.md", "# Animals\n\nA guide.\n\n## Quokka\n\nFeed no quokka.\n\n## Emu\n\nRun.\n"
    )
    (remembered,) = client.search("quokka", where="memories").hits
    assert (remembered.kind, remembered.memory, remembered.document) == ("memory", memory.id, memory.document)
    guide = next(hit for hit in client.search("quokka", where="documents").hits if hit.document == "guides/animals.md")
    assert (guide.kind, guide.heading, guide.passage) == ("document", "Quokka", "Feed no quokka.")
    everywhere = client.search("quokka", where="all").hits
    assert sorted(hit.kind for hit in everywhere) == ["document", "memory", "message"]
    assert client.memory(memory.id).access_count == 0
    client.put_document("guides/animals.md", "# Animals\n\n## Emu\n\nRun.\n")
    assert [hit.document for hit in client.search("quokka", where="documents").hits] == [memory.document]


@pytest.mark.parametrize(
    "body",
    [
        {"query": "a", "since": "yesterday"},
        {"query": "a", "before": "2024-02-30"},
        {"query": "a", "since": "2024-02-01", "before": "2024-01-01"},
    ],
)
def test_what_is_no_day_is_refused(daemon: Daemon, body: dict[str, Any]) -> None:
    """A day that there is not, a word for one, and a time that ends before it begins."""
    check_refused(daemon.ask("POST", "/v1/search", body), 400, "validation_error")


def test_a_deleted_thread_is_found_no_more_and_a_purge_leaves_no_word() -> None:
    """A deleted thread is not found any more, and after a purge no file of the saved index has its words."""
    with running_daemon() as daemon, Client(daemon.socket) as client:
        home = daemon.home
        for thread in ("gone", "purged", "kept"):
            said(client, thread, ("user", f"the xylophone of {thread}{thread}", "2024-01-01T00:00:00Z"))
        assert len(found(client, "xylophone")) == 3
        daemon.stop()
        daemon.start()
        client.delete_thread("gone", confirm="gone")
        assert {thread for thread, _ in found(client, "xylophone")} == {"purged", "kept"}
        client.delete_thread("purged", confirm="purged", purge=True)
        assert found(client, "xylophone") == [("kept", 1)]
        assert message_files(home) != []
        for path in message_files(home):
            assert b"purgedpurged" not in path.read_bytes()
            assert b"gonegone" not in path.read_bytes()
        said(client, "gone", ("user", "another xylophone", "2024-01-02T00:00:00Z"))
        assert set(found(client, "xylophone")) == {("kept", 1), ("gone", 1)}


def test_a_restart_uses_the_saved_index_and_a_kill_loses_nothing() -> None:
    """A restart does not rewrite the saved index, and messages written before a kill are found after it."""
    with running_daemon() as daemon, Client(daemon.socket) as client:
        home = daemon.home
        said(client, "first", *TRIP)
        assert found(client, "sister in Oslo")[0] == ("first", 2)
        daemon.stop()
        saved = {path: path.stat().st_mtime_ns for path in message_files(home)}
        assert {path.suffix for path in saved} == {".json", ".segment"}
        daemon.start()
        assert found(client, "sister in Oslo")[0] == ("first", 2)
        said(client, "second", ("user", "the ferry to Oslo was late", "2024-01-01T00:00:00Z"))
        daemon.kill()
        assert {path: path.stat().st_mtime_ns for path in message_files(home)} == saved
        daemon.start()
        assert ("second", 1) in found(client, "ferry to Oslo late")
        assert found(client, "sister in Oslo")[0] == ("first", 2)
        daemon.stop()
        for path in message_files(home):
            data = bytearray(path.read_bytes())
            data[len(data) // 2] ^= 0x10
            path.write_bytes(data)
        daemon.start()
        assert ("second", 1) in found(client, "ferry to Oslo late")
