"""Laws of the brief's lines: the same input gives the same lines, within the budget, and nothing that is refused."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reverie.distill.brief import thread_brief
from reverie.distill.brief_lines import MemoryLine, choose, prepare
from reverie.distill.steps import ToolCall, Trace, Utterance
from reverie.models import BriefLine, ThreadBrief
from reverie.tokenizer import count

AT = "2026-03-01T09:00:00.000Z"
WORDS = ["tide", "mole", "draft", "harbour", "src/tide.py", "always", "`make chart`", "the", "港", "прилив"]
sentence = st.lists(st.sampled_from(WORDS), min_size=3, max_size=12).map(" ".join)
kinds = st.sampled_from(["wish", "mistake", "command", "finding", "decision"])
line = st.builds(
    BriefLine,
    kind=kinds,
    text=sentence,
    seq=st.integers(1, 99),
    at=st.just(AT),
    fix=st.sampled_from(["", "make chart --tide"]),
    weight=st.floats(0, 2),
    times=st.integers(1, 5),
)
brief = st.builds(
    ThreadBrief,
    lines=st.lists(line, max_size=30).map(tuple),
    names=st.dictionaries(st.sampled_from(["src/tide.py", "moleCount", "a/b.go"]), st.integers(1, 9)),
    at=st.just(AT),
)
memory = st.builds(
    MemoryLine,
    id=st.uuids().map(str),
    section=st.sampled_from(["wish", "mistake", "command", "finding"]),
    text=sentence,
    at=st.just(AT),
    by_person=st.booleans(),
)


@given(st.lists(brief, max_size=5), st.lists(memory, max_size=5), st.integers(0, 2_000), st.sampled_from(WORDS))
def test_lines_are_chosen_alike_within_the_budget_and_without_what_is_refused(
    briefs: list[ThreadBrief], memories: list[MemoryLine], max_tokens: int, refused: str
) -> None:
    threads = [prepare(f"thr_{number}", one) for number, one in enumerate(briefs)]

    def admits(text: str) -> bool:
        return refused not in text

    chosen = choose(threads, memories, max_tokens, admits=admits)

    assert chosen == choose(threads, list(memories), max_tokens, admits=admits)
    assert sum(count(f" · {one.text}") for one in chosen) <= max_tokens
    assert all(admits(one.text) for one in chosen if one.section != "names")
    assert all(name not in refused for one in chosen if one.section == "names" for name in one.text.split())


def _said(role: str, text: str, seq: int) -> Utterance:
    return Utterance(role, text, seq, AT)


def _run(command: str, result: str, seq: int, *, failed: bool) -> ToolCall:
    call = {"command": command, "description": ""}
    return ToolCall("Bash", call, seq, AT, result, failed, not failed, answered=True, result_seq=seq)


def _trace(*steps: Utterance | ToolCall) -> Trace:
    return Trace(tuple(steps), last_at=AT, calls=tuple(step for step in steps if isinstance(step, ToolCall)))


def test_lines_are_quotes_of_who_said_them() -> None:
    """Every line of a thread is in its messages word for word; what a client wrote is in none."""
    trace = _trace(
        _said("user", "Pull requests are always opened as drafts. Thanks!", 1),
        _said("user", "<task-notification>never trust the tide table</task-notification>", 2),
        _said("assistant", "The chart is empty because `src/tide.py` rounds down. Let me fix `src/tide.py` now.", 3),
        _run("make chart", "Exit code 2\nchart: error: no such harbour: mole", 4, failed=True),
        _run("make chart HARBOUR=mole", "done", 5, failed=False),
        _said("user", "ok", 6),
    )
    lines = {(one.kind, one.text): one for one in thread_brief(trace).lines}

    assert ("wish", "Pull requests are always opened as drafts.") in lines
    assert ("finding", "The chart is empty because `src/tide.py` rounds down.") in lines
    assert lines["mistake", "chart: error: no such harbour: mole"].fix == "make chart HARBOUR=mole"
    assert ("command", "make chart HARBOUR=mole") in lines
    assert not any("trust" in text or "Let me" in text for _, text in lines)


def test_what_came_back_over_sessions_stands_before_what_was_said_once() -> None:
    """A command that passed in three sessions, and words that the person used in each, are chosen first."""

    def session(number: int) -> Trace:
        return _trace(
            _said("user", f"commit, push, open a draft PR for pier {number}", 1),
            _said("user", f"look at lamp {number} and paint boat {number}0 in green", 2),
            _run("make chart", "done", 3, failed=False),
            _run(f"./lamp{number}.sh on", "done", 4, failed=False),
        )

    threads = [prepare(f"thr_{number}", thread_brief(session(number))) for number in range(3)]
    chosen = choose(threads, [], 240)

    assert next(one.text for one in chosen if one.section == "command") == "`make chart`"
    assert next(one for one in chosen if one.section == "wish").text == "commit, push, open a draft PR for pier 2"
