"""Tests of the cap on a client's requests: where they are cut, what stays, and that the cut stays where it is."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import orjson
import pytest

from reverie.context.cut import Cap, CutNeeded, TooSmall
from reverie.context.tokens import message_cost
from support.prose import paragraph

PLACES = {"type": "text", "text": "<system-reminder>\nThe project's rules: be kind.\n</system-reminder>"}
CACHE = {"cache_control": {"type": "ephemeral"}}


class Talk:
    """A conversation as Claude Code sends it: all of it with each request, a breakpoint of the cache in its end."""

    def __init__(self, seed: int) -> None:
        self.pick = random.Random(seed)
        self.messages: list[dict[str, Any]] = []
        self.calls = 0

    def prompt(self) -> None:
        """Append a random message of the person, the first one with a reminder, and sometimes a system message."""
        reminders = [] if self.messages else [PLACES]
        content: Any = [*reminders, {"type": "text", "text": self._words(30)}]
        self.messages.append({"role": "user", "content": content})
        if not reminders and self.pick.random() < 0.3:
            self.messages[-1]["content"] = self._words(20)
        if reminders or self.pick.random() < 0.1:
            self.messages.append({"role": "system", "content": f"System: {self._words(10)}"})

    def reply(self) -> None:
        """Append a random reply: thinking with up to three tool calls and results, or with text and the next prompt."""
        thinking = {"type": "thinking", "thinking": self._words(20), "signature": f"s{self.pick.random()}"}
        if self.pick.random() < 0.2:
            self.messages.append(
                {"role": "assistant", "content": [thinking, {"type": "text", "text": self._words(60)}]}
            )
            self.prompt()
            return
        calls = [self._call() for _ in range(self.pick.randint(1, 3))]
        results = [
            {"type": "tool_result", "tool_use_id": call["id"], "content": self._words(self.pick.randint(5, 400))}
            for call in calls
        ]
        self.messages.append({"role": "assistant", "content": [thinking, *calls]})
        self.messages.append({"role": "user", "content": results})

    def request(self) -> dict[str, msgspec.Raw]:
        """Return the next request; the last message has the breakpoint."""
        *before, last = self.messages
        content = last["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        marked = [*before, {**last, "content": [*blocks[:-1], {**blocks[-1], **CACHE}]}]
        body = {"model": "m", "system": [{"type": "text", "text": "You are an agent."}], "messages": marked}
        return msgspec.json.decode(orjson.dumps(body), type=dict[str, msgspec.Raw])

    def _call(self) -> dict[str, Any]:
        self.calls += 1
        return {"type": "tool_use", "id": f"call{self.calls}", "name": "Bash", "input": {"command": self._words(5)}}

    def _words(self, count: int) -> str:
        return paragraph(self.pick, words=count)


def sent(cap: Cap, talk: Talk) -> tuple[list[dict[str, Any]], bool]:
    """Return the messages that a request is sent with, and True if it was cut anew."""
    request = talk.request()
    done = cap.apply(request)
    made = isinstance(done, CutNeeded)
    if isinstance(done, CutNeeded):
        done = cap.cut(done, f"What happened before, in {len(done.dropped)} messages.")
    raw = msgspec.json.decode(request["messages"], type=list[msgspec.Raw]) if done is None else done
    return [orjson.loads(bytes(message)) for message in raw], made


def blocks(messages: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    """Return the blocks of a kind."""
    return [
        block
        for message in messages
        if isinstance(message["content"], list)
        for block in message["content"]
        if block["type"] == kind
    ]


def marks_of(message: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the blocks with a breakpoint of the cache."""
    return [block for block in message["content"] if isinstance(block, dict) and "cache_control" in block]


def plain(messages: list[dict[str, Any]]) -> list[str]:
    """Return messages as text, as the provider's cache compares them."""
    out = []
    for message in messages:
        content = message["content"]
        given = [{"type": "text", "text": content}] if isinstance(content, str) else content
        out.append(
            repr([message["role"], [{k: v for k, v in block.items() if k != "cache_control"} for block in given]])
        )
    return out


@pytest.mark.parametrize("seed", range(2))
def test_two_hundred_turns_below_a_cap(seed: int) -> None:
    """No result without its call, the cap is kept, and what was sent before is a prefix except where a cut is made."""
    cap, talk = Cap(20_000), Talk(seed)
    talk.prompt()
    before: list[str] = []
    cuts = 0
    for _ in range(200):
        messages, made = sent(cap, talk)
        cuts += made
        calls = {block["id"] for block in blocks(messages, "tool_use")}
        assert {block["tool_use_id"] for block in blocks(messages, "tool_result")} <= calls
        assert made or plain(messages)[: len(before)] == before
        assert sum(map(message_cost, messages)) <= 20_000
        assert len([block for message in messages for block in marks_of(message)]) == 1
        assert messages[0]["role"] == "user"
        before = plain(messages)
        talk.reply()
    assert 3 <= cuts <= 40


def test_what_stays_is_what_the_client_sent() -> None:
    """Messages after a cut are the client's, byte for byte; before them are reminders, the text and system messages."""
    cap, talk = Cap(20_000), Talk(7)
    talk.prompt()
    while True:
        request = talk.request()
        done = cap.apply(request)
        if isinstance(done, CutNeeded):
            break
        talk.reply()
    count = len(done.dropped)
    raw = msgspec.json.decode(request["messages"], type=list[msgspec.Raw])
    capped = cap.cut(done, "THE TEXT")
    kept = raw[count:]
    assert [bytes(message) for message in capped[-len(kept) :]] == [bytes(message) for message in kept]
    opening = [orjson.loads(bytes(message)) for message in capped[: -len(kept)]]
    assert [message["role"] for message in opening] == ["user", "system"]
    assert opening[0]["content"][:2] == [PLACES, {"type": "text", "text": "THE TEXT"}]
    said = [message["content"] for message in talk.messages[:count] if message["role"] == "system"]
    assert [block["text"] for block in opening[1]["content"]] == said


def test_a_prompt_that_is_still_worked_on_stays() -> None:
    """In a long turn that is cut, the person's request is repeated after the summary text."""
    cap, talk = Cap(9_000), Talk(1)
    talk.prompt()
    talk.messages[0]["content"].append({"type": "text", "text": "Please paint every gate."})
    talk.pick.random = lambda: 0.9  # type: ignore[method-assign] # no reply ends the turn
    done = None
    while not isinstance(done, CutNeeded):
        talk.reply()
        done = cap.apply(talk.request())
    first = orjson.loads(bytes(cap.cut(done, "THE TEXT")[0]))
    assert "Please paint every gate." in first["content"][-1]["text"]


def test_another_conversation_has_no_part_of_a_cut() -> None:
    """A cut is found by the messages themselves: one that differs in a word is not the same conversation."""
    cap, talk = Cap(20_000), Talk(2)
    talk.prompt()
    made = False
    while not made:
        talk.reply()
        _, made = sent(cap, talk)
    assert isinstance(cap.apply(talk.request()), list)
    talk.messages[0] = {"role": "user", "content": "Something else."}
    assert isinstance(cap.apply(talk.request()), CutNeeded)


def test_what_cannot_be_cut_again_stays_cut() -> None:
    """An earlier cut stays where a new one is not possible, and is kept beside a new cut that is needed."""
    cap, talk = Cap(10_000), Talk(0)
    talk.messages = [{"role": "user", "content": "Please paint every gate."}]

    def step(number: int, words: int) -> None:
        call = {"type": "tool_use", "id": f"call{number}", "name": "Bash", "input": {}}
        result = {"type": "tool_result", "tool_use_id": call["id"], "content": "word " * words}
        talk.messages += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]

    for number in range(3):
        step(number, 4_000)
    _, made = sent(cap, talk)
    assert made
    del talk.messages[-2:]
    step(2, 12_000)
    again, made = sent(cap, talk)
    assert not made
    assert len(again) == 3
    step(3, 10)
    needed = cap.apply(talk.request())
    assert isinstance(needed, CutNeeded)
    assert needed.earlier is not None
    assert plain([orjson.loads(bytes(message)) for message in needed.earlier])[:3] == plain(again)


def test_what_is_not_capped() -> None:
    """A short conversation, one that the provider compacted, and one below a cap that leaves no room."""
    talk = Talk(3)
    talk.prompt()
    assert Cap(20_000).apply(talk.request()) is None
    talk.messages.insert(0, {"role": "assistant", "content": [{"type": "compaction", "content": "x"}]})
    talk.messages += [{"role": "user", "content": "word " * 30_000}]
    assert Cap(20_000).apply(talk.request()) is None
    del talk.messages[0]
    with pytest.raises(TooSmall):
        Cap(3_000).apply(talk.request())
