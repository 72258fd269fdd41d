"""Fitting a conversation into a budget: results are shortened first, then the oldest messages replaced by a line."""

from __future__ import annotations

import pytest

from reverie import tokenizer
from reverie.context.fit import FittedConversation, fit_conversation, floor_cost
from reverie.context.tokens import shorten, trim_result, truncate_text
from reverie.context.units import split_units
from reverie.models import Dropped
from support.talk import Talk

LONG = "\n".join(f"line {number} of the output" for number in range(400))


def fitted(talk: Talk, budget: int) -> FittedConversation:
    """Return `talk` fitted into `budget`; assert that it fits and that the budget is not below the minimum."""
    units, _ = split_units(talk.done())
    assert floor_cost(units) <= budget
    result = fit_conversation(units, budget)
    assert result.cost <= budget
    return result


def lines(result: FittedConversation) -> list[str]:
    return [
        block["text"]
        for piece in result.units
        for block in piece.user_blocks
        if block["type"] == "text" and block["text"].startswith("[…")
    ]


def results(result: FittedConversation) -> list[str]:
    return [block["content"] for piece in result.units for block in piece.user_blocks if block["type"] == "tool_result"]


def test_a_conversation_that_fits_is_unchanged() -> None:
    """Nothing is changed where the budget suffices, thinking included."""
    talk = Talk().user("go").call("Bash", {}, LONG, thinking="hm").reply("done")
    assert fitted(talk, 100_000) == FittedConversation(split_units(talk.done())[0], [])


def test_results_are_shortened_before_messages_are_dropped() -> None:
    """Every message stays; results keep beginning and end around a line with the number of omitted tokens."""
    talk = Talk().user("go")
    for _ in range(4):
        talk.call("Bash", {}, LONG)
    result = fitted(talk.reply("done"), 3_000)

    assert len(result.units) == 6
    assert lines(result) == []
    assert all("tokens trimmed …]" in text for text in results(result))
    assert all(text.startswith("line 0 ") and text.endswith("line 399 of the output") for text in results(result))
    sizes = [tokenizer.count(text) for text in results(result)]
    assert sizes[0] == pytest.approx(sizes[1], abs=20)
    assert sizes[3] > 1.8 * sizes[2] > 3 * sizes[1]
    assert result.cost > 2_600


def test_thinking_of_finished_turns_is_dropped_before_text() -> None:
    """The open turn keeps its thinking byte for byte; older thinking is dropped first."""
    talk = Talk().user("a").call("Bash", {}, "x", thinking="old " * 500).reply("b").user("c")
    result = fitted(talk.call("Bash", {}, "y", thinking="new"), 200)
    thoughts = [
        block["thinking"] for piece in result.units for block in piece.assistant_blocks if block["type"] == "thinking"
    ]

    assert thoughts == ["new"]
    assert lines(result) == []


def test_the_oldest_messages_are_replaced_by_a_line() -> None:
    """The newest messages stay, in order, after one line for those before them."""
    talk = Talk()
    for number in range(30):
        talk.user(f"question {number}").reply(f"answer {number} " * 20)
    result = fitted(talk, 500)

    assert lines(result)[0].startswith("[… 5")
    assert "parts of the conversation left out" in lines(result)[0]
    assert result.units[-1].assistant_blocks[0]["text"].startswith("answer 29")
    assert result.dropped[-1].why == "older than what fits"
    assert result.dropped[-1].count == 60 - (len(result.units) - 1)


def test_an_oversized_call_is_left_out_whole_by_name() -> None:
    """A finished call over half of the budget is dropped with its result; messages before it stay."""
    talk = Talk().user("write it").reply("I will").call("Write", {"file_path": "src/a.py", "content": LONG}, "saved")
    result = fitted(talk.reply("written").user("thanks"), 600)

    assert [piece.kind for piece in result.units] == ["user", "user", "reply", "user"]
    assert len(lines(result)) == 1
    assert "Write src/a.py and the result" in lines(result)[0]
    assert result.dropped == [
        Dropped("tail", seq=4, what="messages", count=1, tokens=result.dropped[0].tokens, why="oversized")
    ]


def test_an_oversized_reply_is_one_message_left_out() -> None:
    """An oversized reply is dropped and counted as one message, as it has no name."""
    result = fitted(Talk().user("tell me").reply(LONG).user("thanks"), 300)
    assert "one message" in lines(result)[0]


def test_the_last_request_and_the_open_call_always_stay() -> None:
    """However long the turn is, its request and the call in progress stay."""
    talk = Talk().user("do all of it")
    for number in range(50):
        talk.call("Bash", {"command": f"step {number}"}, LONG)
    units, _ = split_units(talk.done())
    result = fit_conversation(units, floor_cost(units))

    assert result.cost <= floor_cost(units) < 200
    assert result.units[0].user_blocks[0]["text"] == "do all of it"
    assert result.units[-1].assistant_blocks[0]["input"] == {"command": "step 49"}


def test_the_minimum_is_at_most_the_whole_conversation() -> None:
    """The minimum of a small conversation has no tokens for lines about omissions."""
    units, _ = split_units(Talk().user("hi").reply("hello").user("bye").done())
    assert floor_cost(units) == min(floor_cost(units), sum(piece.cost for piece in units))
    assert floor_cost([]) == 0
    assert fit_conversation([], 0) == FittedConversation([], [])


@pytest.mark.parametrize("limit", [0, 1, 5, 13, 14, 15, 16, 20, 40, 200, 5_000])
@pytest.mark.parametrize("text", [LONG, "word " * 900, "x" * 4_000, "日本語" * 500, "\n" * 900])
def test_shortened_texts_fit_their_limit(text: str, limit: int) -> None:
    """A shortened text is within the limit, and unchanged if it fits."""
    for short in (shorten(text, limit), truncate_text(text, limit)):
        assert tokenizer.count(short) <= limit
        assert (short == text) == (tokenizer.count(text) <= limit)


def test_a_shortened_text_states_the_omitted_amount() -> None:
    """A shortened text has its first and last lines, with a line between that states how many tokens are omitted."""
    short = shorten(LONG, 100).split("\n")
    assert short[0] == "line 0 of the output"
    assert short[-1] == "line 399 of the output"
    assert any(line.startswith("[… 2") and line.endswith("tokens trimmed …]") for line in short)


def test_media_in_a_trimmed_result_is_named() -> None:
    """A trimmed result is text, in which each image is replaced by a line."""
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
    block = {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "a shot"}, image]}
    assert trim_result(block, 100)["content"] == "a shot\n[image]"
    assert trim_result(block, 5_000) is block
    assert trim_result({**block, "content": LONG}, 0)["content"] == "[…]"
