"""Properties of a context over hostile parts: within its budget, accepted by the API, deterministic."""

from __future__ import annotations

import functools
from typing import Any

import orjson
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st

from reverie import tokenizer
from reverie.context.assemble import assemble
from reverie.context.inputs import Limits, Parts, RecallLine
from reverie.context.text import render
from reverie.context.tokens import BLOCK, MESSAGE, compact
from reverie.errors import TokenBudgetExceeded
from reverie.models import Message, Note, Passage
from support.api_rules import violations
from support.soak import count as times
from support.vocabulary import oracle

_WORDS = st.sampled_from(
    ["a", "the parser", "fails\n", "    ", "src/app/main.py", '{"a": 1}', "日本語", "🙂", "\n\n", "## x"]
)
_TEXT = st.one_of(
    st.text(max_size=40),
    st.lists(_WORDS, max_size=12).map(" ".join),
    st.builds(lambda word, times: word * times, _WORDS, st.integers(1, 400)),
)
_IDS = st.sampled_from(["t1", "t2", "t3", "bad id", ""])
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**6), 10**25) | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
_TEXT_BLOCK = st.fixed_dictionaries({"type": st.just("text"), "text": _TEXT})
_IMAGE = st.sampled_from(
    [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
        {"type": "image", "source": None},
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "words of it"}},
    ]
)
_THINKING = st.builds(
    lambda text, signature: {"type": "thinking", "thinking": text, "signature": signature},
    _TEXT,
    st.sampled_from(["", "c2ln", "c2ln" * 40]),
)
_USE = st.builds(
    lambda made, name, given: {"type": "tool_use", "id": made, "name": name, "input": given},
    _IDS,
    st.sampled_from(["Bash", "Read", "no such name!"]),
    st.dictionaries(st.text(max_size=6), _JSON, max_size=3) | st.none(),
)
_RESULT = st.builds(
    lambda made, content: {"type": "tool_result", "tool_use_id": made, "content": content, "cache_control": {}},
    _IDS,
    _TEXT | st.lists(_TEXT_BLOCK | _IMAGE | st.none(), max_size=3) | st.none(),
)
_ODD = st.sampled_from([None, 7, "words", {}, {"type": 3}, {"type": "hologram"}, {"type": "text", "text": None}])
_CONTENT = _TEXT | st.lists(_TEXT_BLOCK | _IMAGE | _THINKING | _USE | _RESULT | _ODD, max_size=4) | st.none()


@st.composite
def _messages(draw: st.DrawFn) -> tuple[Message, ...]:
    drawn = draw(st.lists(st.tuples(st.sampled_from(["user", "assistant"]), _CONTENT, st.booleans()), max_size=14))
    return tuple(
        Message(role, content, number, number, rewound=rewound and number % 5 == 0)
        for number, (role, content, rewound) in enumerate(drawn, start=1)
    )


_PASSAGE = st.builds(
    lambda text, seq, rank, lie: Passage(text, seq, rank, tokenizer.count(text + "\n") // lie),
    _TEXT,
    st.integers(1, 30),
    st.integers(0, 9),
    st.sampled_from([1, 1, 1, 5]),
)
_PARTS = st.builds(
    Parts,
    bootstrap=st.lists(st.tuples(st.just("SOUL.md"), _TEXT), max_size=2).map(tuple),
    index=st.none() | _TEXT,
    digest=_TEXT,
    notes=st.lists(st.builds(Note, st.just("n"), _TEXT, st.just("task"), st.just("")), max_size=3).map(tuple),
    state=_TEXT.map(lambda text: text and f"## Working State (auto-maintained)\nCurrent task: {text}"),
    recall=st.lists(st.builds(RecallLine, _TEXT, st.just("m"), st.just("facts/user.md")), max_size=3).map(tuple),
    summary=st.none()
    | _TEXT.map(lambda text: f"# Conversation Summary (Distillation #1)\n\n## Task Context\n- {text}"),
    distillation=st.integers(0, 2),
    passages=st.lists(_PASSAGE, max_size=5).map(tuple),
    messages=_messages(),
    model=st.sampled_from([None, "claude-opus-5-5", "claude-opus-4-1", "local-model"]),
    placement=st.sampled_from([None, "late", "system"]),
    distilled_at_seq=st.none() | st.integers(0, 14),
)


def _signed(parts: Parts) -> list[dict[str, Any]]:
    contents = [message.content for message in parts.messages if isinstance(message.content, list)]
    return [block for content in contents for block in content if isinstance(block, dict)]


def _recount(request: dict[str, Any]) -> int:
    """Return the tokens of a request, counted from its blocks and messages alone."""
    blocks = [*request["system"], *(block for message in request["messages"] for block in message["content"])]
    return sum(BLOCK + _held(block) for block in blocks) + MESSAGE * len(request["messages"])


def _held(block: dict[str, Any]) -> int:
    match block["type"]:
        case "text":
            return tokenizer.count(block["text"])
        case "thinking":
            return tokenizer.count(block["thinking"])
        case "tool_use":
            return tokenizer.count(block["name"]) + tokenizer.count(compact(block["input"]))
        case "tool_result":
            content = block["content"]
            inner = [{"type": "text", "text": content}] if isinstance(content, str) else content
            return sum(BLOCK + _held(part) for part in inner)
        case "image":
            return 1_600
        case _:
            return tokenizer.count(block["source"]["data"])


@functools.cache
def _oracle() -> tiktoken.Encoding:
    return oracle()


def _refused(parts: Parts, budget: int, window: int = 200_000) -> int | None:
    """Return the minimum budget if `budget` is refused, else None."""
    try:
        assemble(parts, Limits(window=window, max_tokens=budget))
    except TokenBudgetExceeded as refused:
        return refused.minimum_required
    return None


@settings(max_examples=times(60, 20_000), deadline=None)
@given(_PARTS, st.integers(1, 2_500))
def test_contexts_are_within_the_budget_and_accepted(parts: Parts, budget: int) -> None:
    """For any parts: within `maxTokens` by every count, or refused with a budget that works."""
    if (least := _refused(parts, budget)) is not None:
        assert _refused(parts, least - 1) == least > budget
        budget = least
    context = assemble(parts, Limits(max_tokens=budget))
    bill = {name: cost for name, cost in context.tokens.items() if name not in {"total", "tokenizer"}}
    assert violations(context.request, _signed(parts)) == []
    assert sum(bill.values()) == context.tokens["total"] <= budget
    assert min(bill.values()) >= 0
    assert _recount(context.request) == context.tokens["total"]
    assert len(_oracle().encode_ordinary(render(context.request))) <= budget


@settings(max_examples=times(30, 5_000), deadline=None)
@given(_PARTS, st.lists(st.integers(1, 3_000), min_size=3, max_size=6), st.sampled_from([300, 1_500, 200_000]))
def test_the_least_budget_is_one_number(parts: Parts, budgets: list[int], window: int) -> None:
    """Every refusal of a thread names the same least budget, and each budget from there on is answered."""
    named = {least for budget in budgets if (least := _refused(parts, budget, window)) is not None}
    assert len(named) <= 1
    for least in named:
        assert [budget for budget in budgets if least <= budget <= window and _refused(parts, budget, window)] == []
        wide = max(window, least)
        for more in (0, 1, 7, 300):
            context = assemble(parts, Limits(window=wide + more, max_tokens=least + more))
            assert context.tokens["total"] <= least + more


@settings(max_examples=times(40, 5_000), deadline=None)
@given(_PARTS)
def test_without_a_budget_the_window_is_the_limit(parts: Parts) -> None:
    """Without `maxTokens` no message is dropped while the window has room for it."""
    context = assemble(parts, Limits())
    assert violations(context.request, _signed(parts)) == []
    assert _recount(context.request) == context.tokens["total"]
    assert not [item for item in context.dropped if item.why == "older than what fits"]


@settings(max_examples=times(20, 2_000), deadline=None)
@given(_PARTS, st.integers(600, 4_000))
def test_same_parts_same_bytes(parts: Parts, budget: int) -> None:
    """A context depends only on its parts and limits, and does not modify the messages."""
    before = repr(parts)
    try:
        first = assemble(parts, Limits(max_tokens=budget))
    except TokenBudgetExceeded:
        return
    again = assemble(parts, Limits(max_tokens=budget))
    assert compact(first.request) == compact(again.request)
    assert orjson.dumps(first.tokens) == orjson.dumps(again.tokens)
    assert repr(parts) == before
