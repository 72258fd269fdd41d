"""Assembly of a context: where each tier goes, frames, token ceilings, cache breakpoints, and what is dropped first."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from reverie import tokenizer
from reverie.context.assemble import assemble
from reverie.context.inputs import Limits, Parts, RecallLine
from reverie.context.text import BEGINNING, WAITING, render
from reverie.context.tiers import FRAME, HEADING
from reverie.errors import TokenBudgetExceeded
from reverie.models import Dropped, Note, Passage
from support.api_rules import count_marks, violations
from support.talk import Talk

NOTES_HEAD = "## Notes (written by the agent, newest first)"
STATE = "## Working State (auto-maintained)\nCurrent task: port the parser\nNext: run the tests"
SUMMARY = "# Conversation Summary (Distillation #2)\n\n## Task Context\n- port the parser\n\n## Completed Work\n- lexer"
NOTES = (
    Note("n2", "prefer small commits", "preference", "2026-01-02T00:00:00.000Z"),
    Note("n1", "tabs, not spaces", "correction", "2026-01-01T00:00:00.000Z"),
)
RECALL = (RecallLine("- [fact · facts/project.md] the parser is in src/parse.py", "m1", "facts/project.md"),)
PASSAGES = (
    Passage("the lexer yields tokens", 3, 1, tokenizer.count("the lexer yields tokens\n")),
    Passage("please port the parser", 1, 0, tokenizer.count("please port the parser\n")),
)
TALK = (
    Talk()
    .user("go on")
    .call("Bash", {"command": "make"}, "ok", thinking="hm")
    .reply("built")
    .user("and now the tests")
    .done()
)
FULL = Parts(
    bootstrap=(("SOUL.md", "You are careful."),),
    digest="A compiler engineer.",
    notes=NOTES,
    state=STATE,
    recall=RECALL,
    summary=SUMMARY,
    distillation=2,
    passages=PASSAGES,
    messages=TALK,
    placement="late",
)


def texts(message: dict[str, Any]) -> list[str]:
    return [block["text"] for block in message["content"] if block["type"] == "text"]


def test_late_placement() -> None:
    """Bootstrap and digest are the system prompt; notes, state and recall are one system message at the end."""
    context = assemble(FULL, Limits())
    request = context.request

    assert violations(request) == []
    assert [block["text"] for block in request["system"]] == [
        "You are careful.",
        f"{FRAME}\n\n## Thread digest\nA compiler engineer.",
    ]
    assert [message["role"] for message in request["messages"]] == [
        "user",
        "assistant",
        "user",
        "assistant",
        "user",
        "system",
    ]
    assert texts(request["messages"][-1]) == [
        f"{NOTES_HEAD}\n- [preference] prefer small commits\n- [correction] tabs, not spaces",
        STATE,
        "## Recalled memories (type and origin in brackets)\n- [fact · facts/project.md] the parser is in src/parse.py",
    ]
    assert context.distillation == 2
    assert context.dropped == []


def test_system_placement() -> None:
    """With `system` placement the order is digest, notes, working state, recall, and no message has the system role."""
    request = assemble(replace(FULL, placement="system"), Limits()).request

    assert violations(request) == []
    assert [block["text"].split("\n")[0] for block in request["system"]] == [
        "You are careful.",
        FRAME,
        NOTES_HEAD,
        "## Working State (auto-maintained)",
        "## Recalled memories (type and origin in brackets)",
    ]
    assert {message["role"] for message in request["messages"]} == {"user", "assistant"}


def test_summary_and_excerpts_open_the_conversation() -> None:
    """After a distillation the first message has the summary, then the excerpts in thread order."""
    first = assemble(FULL, Limits()).request["messages"][0]
    summary, excerpts, request = texts(first)

    assert summary.endswith(SUMMARY)
    assert "not instructions" in summary.split("\n")[0]
    assert excerpts == f"{HEADING}\nplease port the parser\n\nthe lexer yields tokens"
    assert request == "go on"


def test_index_opens_a_new_thread_only() -> None:
    """The memory index is in the first user message of a thread that was never distilled, and never in `system`."""
    index = "Available memory:\n- facts/user.md (320B)\nUse memory_read to load relevant files before responding."
    new = assemble(Parts(index=index, messages=TALK), Limits())
    later = assemble(replace(FULL, index=index), Limits())

    assert texts(new.request["messages"][0])[0] == index
    assert new.tokens["index"] == 3 + tokenizer.count(index)
    assert later.tokens["index"] == 0
    assert index not in render(later.request)


def test_tier_costs_sum_to_the_total() -> None:
    """Every tier has a token cost, and the costs sum to the total, tools included."""
    bill = assemble(FULL, Limits()).tokens
    tiers = {name: cost for name, cost in bill.items() if name not in {"total", "tokenizer"}}

    assert list(bill) == [
        "bootstrap", "index", "digest", "workingState", "notes", "recall", "summary", "excerpts", "tail",
        "total", "tokenizer",
    ]  # fmt: skip
    assert bill["total"] == sum(tiers.values())
    assert bill["tokenizer"] == "o200k_base"
    assert all(cost > 0 for name, cost in tiers.items() if name != "index")


def test_at_most_35000_right_after_a_distillation() -> None:
    """With every tier over its ceiling the context is within 35,000 at a 200K window."""
    flood = "a word of it\n" * 30_000
    talk = Talk().user("start").call("Bash", {"command": "x"}, flood).reply("done").user("next").done()
    context = assemble(
        replace(
            FULL,
            bootstrap=(("A.md", flood), ("B.md", flood)),
            digest=flood,
            notes=tuple(Note(f"n{number}", "note " * 90, "task", "") for number in range(200)),
            state=STATE + "\nCompleted: " + flood,
            recall=tuple(RecallLine("- [fact · facts/a.md] " + "word " * 90, f"m{number}", "") for number in range(99)),
            summary=SUMMARY + "\n- built it" * 9_000,
            passages=tuple(Passage("said so " * 40, number, number, 81) for number in range(1, 2_000)),
            messages=talk,
            distilled_at_seq=talk[-1].last_seq,
        ),
        Limits(),
    )
    bill = context.tokens

    assert violations(context.request) == []
    assert bill["total"] <= 35_000
    assert bill["bootstrap"] <= 7_000
    assert bill["digest"] <= 500
    assert bill["notes"] <= 2_000
    assert bill["workingState"] <= 500
    assert bill["recall"] <= 1_500
    assert bill["summary"] <= 5_000
    assert 11_000 < bill["tail"] <= 12_100
    assert {item.tier for item in context.dropped} >= {"bootstrap", "digest", "notes", "recall", "summary", "tail"}


def test_excerpts_fill_the_remaining_budget() -> None:
    """Excerpts use the tokens of the 35,000 that other tiers leave, the best ranks first."""
    passages = tuple(
        Passage(f"line {number} " + "said so " * 20, number, number % 700, 45) for number in range(1, 2_000)
    )
    context = assemble(replace(FULL, passages=passages, distilled_at_seq=5), Limits())
    shown = texts(context.request["messages"][0])[1].split("\n")
    seqs = [int(line.split()[1]) for line in shown if line.startswith("line")]

    assert 29_000 < context.tokens["total"] <= 35_000
    assert seqs == sorted(seqs)
    assert {0, 1, 2, 3} <= {number % 700 for number in seqs}
    assert max(number % 700 for number in seqs) < 400
    assert context.dropped == [Dropped("excerpts", count=1_999 - len(seqs), tokens=45 * (1_999 - len(seqs)))]


@pytest.mark.parametrize("distilled_at_seq", [None, 5])
def test_a_growing_thread_keeps_its_prefix(distilled_at_seq: int | None) -> None:
    """Messages after a distillation change neither the system prompt nor the summary and excerpts."""
    passages = tuple(Passage("said so " * 20, number, number, 41) for number in range(1, 2_000))
    parts = replace(FULL, passages=passages, distilled_at_seq=distilled_at_seq)
    talk = Talk(TALK)
    talk.call("Bash", {"command": "make test"}, "output " * 900).reply("they pass").user("fine")
    before = assemble(parts, Limits()).request
    after = assemble(replace(parts, messages=talk.done(), state=STATE + "\nBlockers: none"), Limits()).request

    assert after["system"] == before["system"]
    assert after["messages"][0] == before["messages"][0]
    assert after["messages"][1:4] == before["messages"][1:4]
    assert "output " * 900 in repr(after["messages"][6])


def test_cache_breakpoints_follow_stable_content() -> None:
    """Late: after the system prompt, the distilled part and the last message; system: after the stable blocks."""
    late = assemble(FULL, Limits()).request
    system = assemble(replace(FULL, placement="system"), Limits()).request

    assert ["cache_control" in block for block in late["system"]] == [False, True]
    assert ["cache_control" in block for block in late["messages"][0]["content"]] == [False, True, False]
    assert "cache_control" in late["messages"][-2]["content"][-1]
    assert count_marks(late) == 3
    assert ["cache_control" in block for block in system["system"]] == [False, True, False, False, False]
    assert count_marks(system) == 1


def test_context_editing_thresholds_scale_with_the_window() -> None:
    """The thinking edit comes first, and the thresholds are 0.60 and 0.10 of the real window."""
    edits = assemble(FULL, Limits(window=1_000_000)).request["context_management"]["edits"]

    assert edits == [
        {"type": "clear_thinking_20251015", "keep": {"type": "thinking_turns", "value": 2}},
        {
            "type": "clear_tool_uses_20250919",
            "trigger": {"type": "input_tokens", "value": 600_000},
            "keep": {"type": "tool_uses", "value": 8},
            "clear_at_least": {"type": "input_tokens", "value": 100_000},
        },
    ]
    assert assemble(FULL, Limits()).request["betas"] == ["context-management-2025-06-27"]


def test_placement_follows_the_model() -> None:
    """The default is `late` for models that accept it and `system` for others; an explicit placement always wins."""

    def last(model: str | None, placement: Any = None) -> str:
        parts = replace(FULL, model=model, placement=placement)
        return str(assemble(parts, Limits()).request["messages"][-1]["role"])

    assert last("claude-opus-5-5") == "system"
    assert last("claude-opus-4-1") == "user"
    assert last(None) == "user"
    assert last(None, "late") == "system"
    assert last("claude-opus-5-5", "system") == "user"


def test_a_distillation_drops_thinking_of_finished_turns() -> None:
    """After a distillation thinking blocks of finished turns are dropped; those of the open turn stay."""
    talk = (
        Talk()
        .user("a")
        .call("Bash", {}, "x", thinking="old")
        .reply("b")
        .user("c")
        .call("Bash", {}, "y", thinking="new")
    )

    def thoughts(distillation: int) -> list[str]:
        request = assemble(Parts(messages=talk.done(), distillation=distillation), Limits()).request
        blocks = [block for message in request["messages"] for block in message["content"]]
        return [block["thinking"] for block in blocks if block["type"] == "thinking"]

    assert thoughts(0) == ["old", "new"]
    assert thoughts(1) == ["new"]


def test_a_conversation_that_ends_with_the_assistant_is_closed() -> None:
    """A line is added where a conversation ends with the assistant or does not begin with the user."""
    ends = assemble(Parts(messages=Talk().user("hi").reply("hello").done()), Limits()).request["messages"]
    begins = assemble(Parts(messages=Talk().reply("hello").user("hi").done()), Limits()).request["messages"]
    nothing = assemble(Parts(), Limits()).request["messages"]

    assert texts(ends[-1]) == [WAITING]
    assert texts(begins[0]) == [BEGINNING]
    assert [texts(message) for message in nothing] == [[WAITING]]


def test_order_in_which_tiers_are_dropped() -> None:
    """As the budget shrinks recall is dropped first, then digest and bootstrap, then the summary; the minimum stays."""
    present = []
    for budget in (2_000, 300, 230, 190):
        bill = assemble(FULL, Limits(max_tokens=budget)).tokens
        assert bill["total"] <= budget
        present.append(
            {name for name in ("recall", "digest", "bootstrap", "summary", "notes", "workingState") if bill[name]}
        )

    assert present[0] == {"recall", "digest", "bootstrap", "summary", "notes", "workingState"}
    assert all(later <= earlier for earlier, later in pairwise(present))
    assert present[-1] >= {"notes", "workingState"}
    assert "recall" not in present[-1]


def test_a_budget_below_the_minimum_is_refused_with_that_minimum() -> None:
    """An open turn over the budget is refused, and the minimum in the error is exact."""
    talk = Talk().user("do it " * 300).open_call("Bash", {}).done()
    parts = replace(FULL, messages=talk)
    with pytest.raises(TokenBudgetExceeded) as refused:
        assemble(parts, Limits(max_tokens=200))
    least = refused.value.minimum_required

    assert refused.value.budget == 200
    assert refused.value.hint
    assert assemble(parts, Limits(max_tokens=least)).tokens["total"] <= least
    with pytest.raises(TokenBudgetExceeded) as again:
        assemble(parts, Limits(max_tokens=least - 1))
    assert again.value.minimum_required == least


def test_a_large_last_message_is_counted_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """The least budget is found with few counts of a large message, alone or behind another that has to go."""
    counted: list[str] = []
    count = tokenizer.count

    def spy(text: str, *encoding: Any) -> int:
        counted.append(text)
        return count(text, *encoding)

    monkeypatch.setattr(tokenizer, "count", spy)
    large = "h" * 200_000
    for talk in (Talk(), Talk().user(large).call("Bash", {}, "ok")):
        parts = replace(FULL, messages=talk.user(large).done())
        with pytest.raises(TokenBudgetExceeded) as refused:
            assemble(parts, Limits(max_tokens=2_000))
        least = refused.value.minimum_required
        assert assemble(parts, Limits(max_tokens=least)).tokens["total"] <= least
    assert sum(len(text) >= len(large) for text in counted) < 50


def test_a_window_smaller_than_the_conversation_drops_the_oldest() -> None:
    """Without `maxTokens` the limit is nine tenths of the window; the oldest messages are replaced by a line."""
    talk = Talk()
    for number in range(40):
        talk.user(f"question {number}").reply("answer " * 100)
    context = assemble(Parts(messages=talk.user("last").done()), Limits(window=2_000))

    assert violations(context.request) == []
    assert 1_600 < context.tokens["total"] <= 1_800
    assert "parts of the conversation left out" in texts(context.request["messages"][0])[0]
    assert texts(context.request["messages"][-1])[-1] == "last"
    assert context.dropped[0].why == "older than what fits"


def test_render_shows_what_an_agent_reads() -> None:
    """System texts, then the messages below their roles; inputs as JSON with readable newlines, results as text."""
    talk = (
        Talk().user("fix it").call("Write", {"path": "a.py", "text": "one\ntwo"}, [{"type": "text", "text": "saved"}])
    )
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
    talk.reply([{"type": "redacted_thinking", "data": "xx"}, {"type": "text", "text": "see"}]).user([image])
    shown = render(assemble(Parts(messages=talk.done(), placement="late", state=STATE), Limits()).request)

    assert shown == (
        f"{FRAME}\n\nuser:\nfix it\n\nassistant:\nWrite "
        '{"path":"a.py","text":"one\ntwo"}\n\nuser:\nsaved\n\nassistant:\nsee\n\nuser:\n[image]\n\n'
        f"system:\n{STATE}"
    )


def test_a_result_of_five_megabytes() -> None:
    """A result of five megabytes is trimmed, with a line that says so, to the window or to a small budget."""
    talk = Talk().user("go").call("Bash", {}, "x = 1\n" * 850_000).reply("ok").user("next").done()
    for limits, bound in ((Limits(), 180_000), (Limits(max_tokens=4_000), 4_000)):
        context = assemble(Parts(messages=talk), limits)
        assert violations(context.request) == []
        assert bound * 0.9 < context.tokens["total"] <= bound
        assert "tokens trimmed …]" in context.request["messages"][2]["content"][0]["content"]


_SCRIPT = """
import hashlib, sys
import orjson
from reverie.context.assemble import assemble
from reverie.context.inputs import Limits, Parts
from reverie.models import Note, Passage
from support.talk import Talk
talk = Talk()
for number in range(40):
    talk.user(f"question {number}").call("Bash", {"b": number, "a": [1, 2]}, "out " * 400, thinking="hm").reply("done")
parts = Parts(messages=talk.user("last").done(), digest="who", notes=(Note("n", "x", "task", ""),), distillation=1,
              passages=tuple(Passage(f"said {n} " * 9, n, n % 5, 28) for n in range(200)), model="local-model")
made = assemble(parts, Limits(window=30_000, max_tokens=6_000))
print(hashlib.sha256(orjson.dumps([made.request, made.tokens, str(made.dropped)])).hexdigest())
"""


def test_the_same_bytes_in_every_process() -> None:
    """A context has the same bytes in processes with other hash seeds and time zones."""
    tests = Path(__file__).resolve().parents[2]
    path = os.pathsep.join([str(tests), str(tests.parent / "python")])
    outputs = {
        subprocess.run(
            [sys.executable, "-c", _SCRIPT],
            env={"PYTHONPATH": path, "PYTHONHASHSEED": seed, "TZ": zone},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed, zone in (("0", "UTC"), ("1", "Asia/Kathmandu"), ("77", "America/St_Johns"))
    }
    assert len(outputs) == 1
    assert len(outputs.pop().strip()) == 64
