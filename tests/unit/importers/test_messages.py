"""Entries joined into a conversation: complete replies, results after their calls, nothing lost."""

from __future__ import annotations

from typing import Any

from reverie.importers.join import PastSummary, main_line, past_summaries
from reverie.models import NO_RESULT, ORPHAN_RESULT, Message
from support.story import Story, call, result, text
from support.talk import thread_entries


def no_result(name: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": name, "is_error": True, "content": NO_RESULT}


def check(transcript: Story, *expected: tuple[str, Any], verbatim: bool = False) -> list[Message]:
    """Assert that the main line has these roles and contents."""
    messages = main_line(thread_entries(transcript.bytes()), verbatim=verbatim)
    assert [(message.role, message.content) for message in messages] == list(expected)
    return messages


def test_parallel_calls_with_results_in_between() -> None:
    """The reply is one message, and all results are the one after it."""
    talk = Story()
    talk.assistant(call("a"), reply="m")
    talk.user([result("a")])
    talk.assistant(call("b"), call("c"), reply="m")
    talk.user([result("c")])
    talk.user([result("b")])
    talk.assistant(text("so"))
    messages = check(
        talk,
        ("assistant", [call("a"), call("b"), call("c")]),
        ("user", [result("a"), result("c"), result("b")]),
        ("assistant", [text("so")]),
    )
    assert [(message.first_seq, message.last_seq) for message in messages] == [(1, 3), (2, 5), (6, 6)]


def test_text_typed_while_a_tool_ran_follows_its_result() -> None:
    """Text that was typed while a tool ran comes behind the tool's result, in one message."""
    talk = Story()
    talk.assistant(call("a"), reply="m")
    talk.user("hurry")
    talk.user([text("please"), result("a")])
    talk.assistant(text("yes"))
    check(
        talk,
        ("assistant", [call("a")]),
        ("user", [result("a"), text("hurry"), text("please")]),
        ("assistant", [text("yes")]),
    )


def test_a_reply_interrupted_by_a_prompt_is_two_messages() -> None:
    """The parts of a reply before and after a prompt stay two messages, in this order."""
    talk = Story()
    talk.assistant(text("one"), reply="m")
    talk.user("wait")
    talk.assistant(text("two"), reply="m")
    check(talk, ("assistant", [text("one")]), ("user", "wait"), ("assistant", [text("two")]))


def test_a_late_result_goes_to_its_call() -> None:
    """A tool result that comes after another reply is moved right behind its call."""
    talk = Story()
    talk.assistant(call("a"))
    talk.assistant(text("meanwhile"))
    talk.user([result("a")])
    check(talk, ("assistant", [call("a")]), ("user", [result("a")]), ("assistant", [text("meanwhile")]))


def test_an_id_that_is_used_again_belongs_to_the_nearest_call() -> None:
    """Some models number their calls anew in each turn: a result answers the call before it."""
    talk = Story()
    for turn in range(3):
        talk.user(f"task {turn}")
        talk.assistant(call("call_0"))
        talk.user([result("call_0", f"output {turn}")])
    messages = main_line(thread_entries(talk.bytes()), verbatim=True)
    assert [message.content for message in messages[2::3]] == [
        [result("call_0", f"output {turn}")] for turn in range(3)
    ]


def test_a_call_without_a_result_gets_a_placeholder() -> None:
    """Calls without a result get placeholder results before the user's text; verbatim messages get none."""
    talk = Story()
    talk.assistant(call("a"), call("b"))
    talk.user("[Request interrupted by user]")
    talk.user("again")
    messages = check(
        talk,
        ("assistant", [call("a"), call("b")]),
        ("user", [no_result("a"), no_result("b")]),
        ("user", "[Request interrupted by user]"),
        ("user", "again"),
    )
    assert (messages[1].first_seq, messages[1].last_seq) == (1, 1)
    assert messages[1].tokens > 0
    check(
        talk,
        ("assistant", [call("a"), call("b")]),
        ("user", "[Request interrupted by user]"),
        ("user", "again"),
        verbatim=True,
    )


def test_a_call_at_the_end_or_before_another_reply_is_closed() -> None:
    """A call without a result gets a placeholder at the end of a session, and before the reply after a compaction."""
    talk = Story()
    talk.assistant(call("a"))
    talk.compact("so far")
    talk.assistant(call("b"))
    check(
        talk,
        ("assistant", [call("a")]),
        ("user", [no_result("a")]),
        ("assistant", [call("b")]),
        ("user", [no_result("b")]),
    )


def test_a_result_without_its_call_becomes_text() -> None:
    """A tool result without a call, or a second one of the same call, becomes text; images in it stay images."""
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    talk = Story()
    talk.user([result("gone", "it said this")])
    talk.assistant(call("a"))
    talk.user([result("a", "first")])
    talk.user([result("a", [text("second"), picture]), {"type": "tool_result", "tool_use_id": ["odd"]}])
    messages = check(
        talk,
        ("user", [text(f"{ORPHAN_RESULT}\nit said this")]),
        ("assistant", [call("a")]),
        ("user", [result("a", "first"), text(f"{ORPHAN_RESULT}\nsecond"), picture]),
    )
    assert messages[2].tokens > 1600
    verbatim = main_line(thread_entries(talk.bytes()), verbatim=True)
    assert verbatim[0].content == [result("gone", "it said this")]


def test_calls_that_cannot_be_answered_become_text() -> None:
    """Calls without an id cannot be matched, and the API accepts each id once."""
    nameless = {"type": "tool_use", "name": "Bash", "input": {}}
    talk = Story()
    talk.assistant(nameless)
    talk.user([{"type": "tool_result", "content": "x"}])
    talk.assistant(call("a"), call("a", again=1))
    talk.user([result("a")])
    messages = main_line(thread_entries(talk.bytes()))
    assert messages[0].content[0]["text"].endswith('{"type":"tool_use","name":"Bash","input":{}}')
    assert messages[1].content == [text(f"{ORPHAN_RESULT}\nx")]
    assert messages[2].content[0] == call("a")
    assert '"again":1' in messages[2].content[1]["text"]
    assert messages[2].tokens > 0
    assert messages[3].content == [result("a")]
    assert main_line(thread_entries(talk.bytes()), verbatim=True)[0].content == [nameless]


def test_a_repeated_line_counts_once() -> None:
    """A line with the id and content of an earlier one is dropped; with other content it is another message."""
    talk = Story()
    talk.user("hi", uuid="x")
    talk.user("hi", uuid="x", parent=None)
    talk.user("ho", uuid="x", parent=None)
    check(talk, ("user", "hi"), ("user", "ho"))


def test_lines_of_a_bare_chat_log() -> None:
    """Lines without ids and reply numbers give one message each, in their order."""
    entries = thread_entries(
        b'{"role":"user","content":"a"}\n{"role":"assistant","content":"b"}\n{"role":"assistant","content":"c"}\n'
    )
    assert [(message.role, message.content) for message in main_line(entries)] == [
        ("user", "a"), ("assistant", "b"), ("assistant", "c"),
    ]  # fmt: skip


def test_compactions_become_past_summaries() -> None:
    """Compactions become numbered summaries with the client's token counts; a boundary without a summary adds none."""
    talk = Story()
    talk.user("hi")
    talk.compact("first", tokens_before=500)
    talk.assistant(text("on"))
    talk.user([text("second"), text("part")], isCompactSummary=True)
    talk.add("system", parent=None, subtype="compact_boundary", compactMetadata={"preTokens": "many"})
    talk.user("third", isCompactSummary=True)
    talk.add("system", parent=None, subtype="compact_boundary", compactMetadata=None)
    talk.user("fourth", isCompactSummary=True)
    talk.add("system", parent=None, subtype="compact_boundary")
    summaries = past_summaries(thread_entries(talk.bytes()))
    assert summaries[0] == PastSummary(1, "first", 2, 500, "2026-02-03T08:30:17.000Z")
    assert [(past.number, past.text, past.seq, past.tokens_before) for past in summaries[1:]] == [
        (2, "second\npart", 5, None),
        (3, "third", 6, None),
        (4, "fourth", 8, None),
    ]
