"""A conversation in a budget: results shrink first, then the oldest pieces go, always with a visible line."""

from __future__ import annotations

import pytest

from reverie import tokens
from reverie.context.fit import FittedConversation, fit_conversation, floor_cost
from reverie.context.truncate import shorten, trim_result, truncate_text
from reverie.context.units import split_units
from support.talk import Talk

LONG = "\n".join(f"line {number} of the output" for number in range(400))


def fitted(talk: Talk, budget: int) -> FittedConversation:
    """`talk` in `budget`, which holds, and which is not below the floor."""
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


def test_what_fits_stays_as_it_is() -> None:
    """Nothing is touched where there is room, thinking included."""
    talk = Talk().user("go").call("Bash", {}, LONG, thinking="hm").reply("done")
    assert fitted(talk, 100_000) == FittedConversation(split_units(talk.done())[0], [])


def test_results_shrink_before_anything_goes() -> None:
    """Every piece stays; results keep beginning and end around a line that says how much is gone."""
    talk = Talk().user("go")
    for _ in range(4):
        talk.call("Bash", {}, LONG)
    result = fitted(talk.reply("done"), 3_000)

    assert len(result.units) == 6
    assert lines(result) == []
    assert all("tokens trimmed …]" in text for text in results(result))
    assert all(text.startswith("line 0 ") and text.endswith("line 399 of the output") for text in results(result))
    sizes = [tokens.count(text) for text in results(result)]
    assert sizes[0] == pytest.approx(sizes[1], abs=20)
    assert sizes[3] > 1.8 * sizes[2] > 3 * sizes[1]
    assert result.cost > 2_600


def test_thinking_of_finished_turns_goes_before_words() -> None:
    """The open turn keeps its thinking byte for byte; older thinking is the first thing to go."""
    talk = Talk().user("a").call("Bash", {}, "x", thinking="old " * 500).reply("b").user("c")
    result = fitted(talk.call("Bash", {}, "y", thinking="new"), 200)
    thoughts = [
        block["thinking"] for piece in result.units for block in piece.assistant_blocks if block["type"] == "thinking"
    ]

    assert thoughts == ["new"]
    assert lines(result) == []


def test_the_oldest_go_first_with_a_line() -> None:
    """The newest pieces stay, in order, after one line for what came before them."""
    talk = Talk()
    for number in range(30):
        talk.user(f"question {number}").reply(f"answer {number} " * 20)
    result = fitted(talk, 500)

    assert lines(result)[0].startswith("[… 5")
    assert "parts of the conversation left out" in lines(result)[0]
    assert result.units[-1].assistant_blocks[0]["text"].startswith("answer 29")
    assert result.dropped[-1]["why"] == "older than what fits"
    assert result.dropped[-1]["count"] == 60 - (len(result.units) - 1)


def test_an_oversized_call_is_left_out_whole_by_name() -> None:
    """A closed call that takes half of the room by itself goes with its result; what stands before it stays."""
    talk = Talk().user("write it").reply("I will").call("Write", {"file_path": "src/a.py", "content": LONG}, "saved")
    result = fitted(talk.reply("written").user("thanks"), 600)

    assert [piece.kind for piece in result.units] == ["user", "user", "reply", "user"]
    assert len(lines(result)) == 1
    assert "Write src/a.py and the result" in lines(result)[0]
    assert result.dropped == [
        {
            "tier": "tail",
            "seq": 4,
            "what": "messages",
            "count": 1,
            "tokens": result.dropped[0]["tokens"],
            "why": "oversized",
        }
    ]


def test_an_oversized_reply_is_one_message_left_out() -> None:
    """The same for a reply, which has no name."""
    result = fitted(Talk().user("tell me").reply(LONG).user("thanks"), 300)
    assert "one message" in lines(result)[0]


def test_the_last_words_and_the_open_call_always_stay() -> None:
    """However long the turn has become, what was asked and the call in progress are there."""
    talk = Talk().user("do all of it")
    for number in range(50):
        talk.call("Bash", {"command": f"step {number}"}, LONG)
    units, _ = split_units(talk.done())
    result = fit_conversation(units, floor_cost(units))

    assert result.cost <= floor_cost(units) < 200
    assert result.units[0].user_blocks[0]["text"] == "do all of it"
    assert result.units[-1].assistant_blocks[0]["input"] == {"command": "step 49"}


def test_the_floor_is_no_more_than_everything() -> None:
    """A conversation that is small needs no room for lines about what is missing."""
    units, _ = split_units(Talk().user("hi").reply("hello").user("bye").done())
    assert floor_cost(units) == min(floor_cost(units), sum(piece.cost for piece in units))
    assert floor_cost([]) == 0
    assert fit_conversation([], 0) == FittedConversation([], [])


@pytest.mark.parametrize("limit", [0, 1, 5, 13, 14, 15, 16, 20, 40, 200, 5_000])
@pytest.mark.parametrize("text", [LONG, "word " * 900, "x" * 4_000, "日本語" * 500, "\n" * 900])
def test_shortened_texts_keep_to_their_limit(text: str, limit: int) -> None:
    """Whatever the text, its short forms are within the limit, and whole where that has room."""
    for short in (shorten(text, limit), truncate_text(text, limit)):
        assert tokens.count(short) <= limit
        assert (short == text) == (tokens.count(text) <= limit)


def test_a_long_text_says_how_much_is_gone() -> None:
    """Two thirds of the room go to the beginning, one third to the end, which begins at a line."""
    short = shorten(LONG, 100).split("\n")
    assert short[0] == "line 0 of the output"
    assert short[-1] == "line 399 of the output"
    assert any(line.startswith("[… 2") and line.endswith("tokens trimmed …]") for line in short)


def test_media_in_a_trimmed_result_is_named() -> None:
    """A trimmed result is text: what was an image says so."""
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
    block = {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "a shot"}, image]}
    assert trim_result(block, 100)["content"] == "a shot\n[image]"
    assert trim_result(block, 5_000) is block
    assert trim_result({**block, "content": LONG}, 0)["content"] == "[…]"
