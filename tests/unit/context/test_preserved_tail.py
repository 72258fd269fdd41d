"""Where the preserved tail begins: ten messages, 12,000 tokens, whole turns if that costs little, pairs intact."""

from __future__ import annotations

from reverie.context.units import is_turn_finished, open_turn_start, tail_start
from reverie.models import Message
from support.talk import Talk


def check(talk: Talk, begins: int, max_messages: int = 10, max_tokens: int = 12_000) -> None:
    """Assert that the tail of `talk` begins at message `begins`."""
    assert tail_start(talk.done(), max_messages, max_tokens) == begins


def test_a_short_thread_is_its_own_tail() -> None:
    """A short thread is its own tail, an empty one has none."""
    check(Talk().user("hi").reply("hello"), 0)
    check(Talk(), 0)


def test_ten_messages() -> None:
    """The tail has at most the requested number of messages and begins with a user's message."""
    talk = Talk()
    for number in range(20):
        talk.user(f"q{number}").reply(f"a{number}")
    check(talk, 30)
    check(talk, 36, max_messages=5)
    check(talk, 38, max_messages=2)


def test_twelve_thousand_tokens() -> None:
    """The token limit counts what messages add to a request, by `Message.tokens` where it is set."""
    talk = Talk()
    for number in range(5):
        talk.user(f"q{number}").reply("word " * 3_000)
    check(talk, 4)
    weighed = Talk(tuple(Message("user" if n % 2 == 0 else "assistant", "x", n, n, tokens=3_000) for n in range(10)))
    check(weighed, 8)


def test_a_call_is_never_cut_from_its_result() -> None:
    """A tail that would begin with results begins at the next reply instead."""
    talk = Talk().user("go")
    for _ in range(8):
        talk.call("Bash", {}, "ok")
    check(talk, 7)
    check(talk, 9, max_messages=9)


def test_whole_turns_are_preferred() -> None:
    """The tail begins with a turn, unless that would lose more than half of the messages that fit."""
    near = Talk().user("a").reply("b")
    for _ in range(3):
        near.call("Bash", {}, "ok")
    near.user("c").call("Bash", {}, "ok").call("Bash", {}, "ok").reply("d")
    check(near, 8)

    far = Talk().user("a")
    for _ in range(6):
        far.call("Bash", {}, "ok")
    far.reply("b").user("c").reply("d")
    check(far, 7)


def test_an_oversized_last_message_is_the_tail() -> None:
    """An oversized last message, or last call with its result, is the tail; the assembly trims it."""
    check(Talk().user("a").reply("word " * 20_000), 1)
    check(Talk().user("a").call("Bash", {}, "word " * 20_000), 1)
    check(Talk().user([{"type": "tool_result", "tool_use_id": "t", "content": "x"}]), 1)


def test_a_turn_is_finished_by_a_reply_without_calls() -> None:
    """A distillation takes place after a reply that calls no tool."""
    assert is_turn_finished(Talk().user("a").reply("b").done())
    assert not is_turn_finished(Talk().user("a").done())
    assert not is_turn_finished(Talk().user("a").open_call("Bash", {}).done())
    assert not is_turn_finished(Talk().user("a").call("Bash", {}, "ok").done())
    assert not is_turn_finished(())
    taken_back = Message("user", "c", 3, 3, rewound=True)
    assert is_turn_finished((*Talk().user("a").reply("b").done(), taken_back))


def test_an_open_turn_begins_after_the_last_reply_without_calls() -> None:
    """Unanswered messages, calls and results belong to it; where every turn is finished there is none."""
    over = Talk().user("a").call("Bash", {}, "ok").reply("b").done()
    assert open_turn_start(over) == len(over)
    assert open_turn_start(Talk(over).user("c").user("d").done()) == len(over)
    assert open_turn_start(Talk(over).user("c").call("Bash", {}, "ok").open_call("Bash", {}).done()) == len(over)
    assert open_turn_start(Talk().user("a").call("Bash", {}, "ok").done()) == 0
    assert open_turn_start(()) == 0
    taken_back = Message("assistant", "c", 9, 9, rewound=True)
    assert open_turn_start((*Talk(over).user("c").done(), taken_back)) == len(over)
