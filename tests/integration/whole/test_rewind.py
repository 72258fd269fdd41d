"""Threads that go back to an earlier entry, their raw entries, and pages of the last messages."""

from __future__ import annotations

import json
import random
from functools import partial
from typing import Any

import pytest

from reverie.client import Client
from reverie.errors import Conflict, NotFound, ValidationError
from support.daemon import running_daemon
from support.pages import all_items


@pytest.fixture
def thread(client: Client) -> str:
    """Return a thread of five turns: entries 1 to 10."""
    name = client.create_thread().id
    for number in range(5):
        client.append(name, turn(number))
    return name


def turn(number: int) -> list[dict[str, Any]]:
    """Return one complete turn about `number`."""
    return [
        {"role": "user", "content": f"question {number} about src/part_{number}.py"},
        {"role": "assistant", "content": f"answer {number}"},
    ]


def in_context(client: Client, thread: str) -> str:
    """Return the messages of a thread's context as JSON."""
    return json.dumps(client.context(thread).request.messages)


def test_later_messages_leave_the_main_line(client: Client, thread: str) -> None:
    """Messages after a rewind's target are listed as rewound, and leave context and working state."""
    client.working_state(thread)
    tokens = client.thread(thread).context.tokens
    rewound = client.rewind(thread, 4)
    assert (rewound.to_seq, rewound.messages, rewound.last_seq) == (4, 6, 11)
    assert rewound.context.tokens < tokens
    messages = client.messages(thread).items
    assert [message.rewound for message in messages] == [False] * 4 + [True] * 6
    assert "answer 1" in in_context(client, thread)
    assert "answer 2" not in in_context(client, thread)
    assert "part_4" not in client.working_state(thread).current_task


def test_the_thread_goes_on_from_there(client: Client, thread: str) -> None:
    """After a rewind, new messages follow the entry that it went back to, in the context, the pages and the state."""
    client.messages(thread)
    client.rewind(thread, 2)
    client.append(thread, turn(7), expected_seq=11)
    text = in_context(client, thread)
    assert [number for number in range(8) if f"answer {number}" in text] == [0, 7]
    assert [message.rewound for message in client.messages(thread).items] == [False] * 2 + [True] * 8 + [False] * 2
    assert "part_7" in client.working_state(thread).current_task


def test_undo_brings_the_later_messages_back(client: Client, thread: str) -> None:
    """An undo of a rewind brings its messages back; a second one changes nothing; the undo can be undone."""
    before = client.thread(thread).context.tokens
    rewound = client.rewind(thread, 6)
    undone = client.undo(rewound.operation)
    assert undone.operation is not None
    assert not any(message.rewound for message in client.messages(thread).items)
    assert client.thread(thread).context.tokens == before
    assert "answer 4" in in_context(client, thread)
    assert client.undo(rewound.operation).operation is None
    client.undo(undone.operation)
    assert "answer 4" not in in_context(client, thread)


def test_what_an_agent_set_before_a_rewind_goes_with_its_messages(client: Client, thread: str) -> None:
    """The fields that an agent set at a rewound entry are in no later state, and an undo brings them back."""
    client.set_working_state(thread, recent_decisions=["keep it in part_4"], next_steps=["write part_4"])
    rewound = client.rewind(thread, 6)
    for number in range(7, 10):
        state = client.working_state(thread)
        assert (state.recent_decisions, state.next_steps) == ([], [])
        client.append(thread, turn(number))
    client.undo(rewound.operation)
    state = client.working_state(thread)
    assert (state.recent_decisions, state.next_steps) == (["keep it in part_4"], ["write part_4"])


def test_a_rewind_within_a_rewind(client: Client, thread: str) -> None:
    """Undoing the first of two rewinds does not bring back the messages that the second one took away."""
    first = client.rewind(thread, 8)
    client.append(thread, turn(8))
    client.rewind(thread, 2)
    client.undo(first.operation)
    text = in_context(client, thread)
    assert [number for number in range(9) if f"answer {number}" in text] == [0]


def test_a_rewind_that_cannot_be_is_refused(client: Client, thread: str) -> None:
    """A rewind past the end, with an outdated `expected_seq`, into distilled entries or of no thread is refused."""
    for error, to, expected in ((ValidationError, 10, None), (ValidationError, 99, None), (Conflict, 2, 9)):
        with pytest.raises(error):
            client.rewind(thread, to, expected_seq=expected)
    with pytest.raises(NotFound):
        client.rewind("nobody", 0)
    assert client.thread(thread).message_count == 10
    for number in range(5, 40):
        client.append(thread, turn(number))
    client.distill(thread)
    with pytest.raises(Conflict, match="distilled through"):
        client.rewind(thread, 1)
    key = client.rewind(thread, 78, key="again")
    assert client.rewind(thread, 78, key="again") == key


def test_the_state_followed_step_by_step_is_the_one_read_at_once() -> None:
    """After random appends, rewinds and undos the working state is that of a daemon that reads the whole thread."""
    chance = random.Random(3)
    with running_daemon() as daemon:
        operations: list[str] = []
        with Client(daemon.socket) as client:
            name = client.create_thread().id
            followed = client.working_state(name)
            for number in range(30):
                kind = chance.random()
                last = client.append(name, turn(number)).last_seq
                if kind < 0.4:
                    operations.append(client.rewind(name, chance.randrange(last)).operation)
                elif kind < 0.6 and operations:
                    client.undo(chance.choice(operations))
                followed = client.working_state(name)
            shown = in_context(client, name)
        daemon.stop()
        daemon.start()
        with Client(daemon.socket) as client:
            assert client.working_state(name) == followed
            assert in_context(client, name) == shown


def test_the_last_messages_come_in_pages(client: Client, thread: str) -> None:
    """`last` with `limit` returns the first of the last messages, and `next` leads to the rest."""
    assert [message.first_seq for message in client.messages(thread, last=3).items] == [8, 9, 10]
    page = client.messages(thread, last=5, limit=2)
    assert [message.first_seq for message in page.items] == [6, 7]
    assert page.next is not None
    rest = client.messages(thread, after=page.next, limit=2)
    assert [message.first_seq for message in rest.items] == [8, 9]
    assert client.messages(thread, last=100, limit=100).next is None


def test_entries_are_the_lines_that_were_imported(client: Client) -> None:
    """Each line deep-equal to the file's, a broken one with its text and the reason; and messages as appended."""
    lines: list[Any] = [
        {"type": "summary", "summary": "Gates", "leafUuid": "x"},
        {
            "type": "user",
            "uuid": "u1",
            "parentUuid": None,
            "timestamp": "2026-11-21T09:30:00.000Z",
            "cwd": "/srv/gates",
            "sessionId": "s-1",
            "message": {"role": "user", "content": "paint the gate"},
        },
        "{ broken",
        {
            "type": "assistant",
            "uuid": "u2",
            "parentUuid": "u1",
            "timestamp": "2026-11-21T09:30:01.500Z",
            "message": {
                "id": "msg_1",
                "role": "assistant",
                "model": "m-1",
                "content": [{"type": "text", "text": "done"}],
                "usage": {"input_tokens": 7, "output_tokens": 2},
                "deep": {"a": [1, {"b": None}]},
            },
        },
        {"type": "progress", "data": {"type": "hook", "n": 0.5}},
    ]
    data = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines).encode()
    place = client.start_import("claude-code", "entries-1")
    client.send_chunk(place.id, data, offset=0, first_line=1, final=True)
    stored = all_items(partial(client.entries, place.thread), limit=2)
    assert [entry.seq for entry in stored] == [1, 2, 3, 4, 5]
    assert [entry.line for entry in stored] == [1, 2, 3, 4, 5]
    assert [entry.value for entry in stored if entry.kind != "bad"] == [
        line for line in lines if not isinstance(line, str)
    ]
    assert (stored[2].kind, stored[2].raw) == ("bad", "{ broken")
    assert stored[2].problem is not None
    assert stored[2].problem.startswith("not JSON")
    client.append(place.thread, turn(1))
    appended = client.entries(place.thread, after="5").items
    assert [entry.value["content"] for entry in appended if entry.value] == [said["content"] for said in turn(1)]
    with pytest.raises(NotFound):
        client.entries("nobody")
