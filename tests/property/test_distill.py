"""Properties of the extractive distillation for any thread."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from reverie import tokenizer
from reverie.distill import state_text, summary_text
from reverie.distill.distiller import Extractive
from reverie.models import Message, Section
from support.soak import count

ENGINE = Extractive()

PHRASES = (
    "no, don't use `old_name` here",
    "let's go with option 2 because it is simpler",
    "The root cause is that `loadConfig` reads src/app/config.py twice.",
    "Next, add tests. Still to do: the docs.",
    "We always squash. I'm Ann.",
    "```\ncode\n```",
    "# Title\n- item one that says something\n1. step",
    "<system-reminder>hidden</system-reminder>",
    "[Request interrupted by user]",
    "Exit code 1\nFAILED tests/test_a.py - Error: nope",
    "[main abc1234] fix the thing",
)
text = st.one_of(st.sampled_from(PHRASES), st.text(max_size=80), st.just("word " * 400))
value = st.one_of(text, st.integers(), st.none(), st.lists(text, max_size=2))
tool = st.sampled_from(
    (
        "Bash",
        "Edit",
        "Read",
        "Write",
        "MultiEdit",
        "TodoWrite",
        "TaskCreate",
        "TaskUpdate",
        "Grep",
        "Task",
        "AskUserQuestion",
        "ExitPlanMode",
        "Other",
    )
)
keys = (
    "file_path",
    "command",
    "description",
    "new_string",
    "old_string",
    "content",
    "todos",
    "questions",
    "plan",
    "edits",
    "subject",
    "taskId",
    "status",
    "pattern",
    "path",
)
todo = st.fixed_dictionaries({"content": value, "status": value})
field = st.one_of(value, st.lists(todo, max_size=3), st.just("/w/app/a.py"), st.just("git commit -m x && pytest"))
block: st.SearchStrategy[Any] = st.one_of(
    st.builds(lambda body: {"type": "text", "text": body}, text),
    st.builds(
        lambda name, number, given_input: {"type": "tool_use", "id": f"t{number}", "name": name, "input": given_input},
        tool,
        st.integers(0, 4),
        st.dictionaries(st.sampled_from(keys), field, max_size=5),
    ),
    st.builds(
        lambda number, body, failed: {
            "type": "tool_result",
            "tool_use_id": f"t{number}",
            "content": body,
            "is_error": failed,
        },
        st.integers(0, 4),
        st.one_of(text, st.lists(st.builds(lambda body: {"type": "text", "text": body}, text), max_size=2)),
        st.booleans(),
    ),
    st.just({"type": "image", "source": {}}),
    st.just("odd"),
)
threads = st.lists(
    st.tuples(st.sampled_from(("user", "assistant")), st.one_of(text, st.lists(block, max_size=4)), st.booleans()),
    max_size=8,
).map(
    lambda rows: [
        Message(role, content, seq, seq, at=f"2026-01-{seq + 1:02}T00:00:00.000Z" if dated else None)  # type: ignore[arg-type]
        for seq, (role, content, dated) in enumerate(rows, start=1)
    ]
)


@settings(max_examples=count(50, 3_000), deadline=None)
@given(threads, st.integers(0, 9), st.integers(0, 600), st.integers(90, 900))
def test_any_thread_is_distilled_within_its_limits(
    messages: list[Message], tail: int, passage_tokens: int, summary_tokens: int
) -> None:
    """No input fails; every ceiling is obeyed; no excerpt is from the tail; the summary parses."""
    distilled = ENGINE.distill(
        messages,
        number=1,
        previous=None,
        tail_from_seq=tail,
        passage_tokens=passage_tokens,
        summary_tokens=summary_tokens,
    )
    assert tokenizer.count(state_text.render(distilled.state)) <= state_text.MAX_TOKENS
    assert tokenizer.count(summary_text.render(distilled.summary)) <= summary_tokens
    assert list(distilled.summary.sections) == list(Section)
    assert sum(passage.tokens for passage in distilled.passages) <= passage_tokens
    assert all(passage.seq < tail for passage in distilled.passages)
    assert tokenizer.count(distilled.digest) <= 500
    assert summary_text.parse(summary_text.render(distilled.summary)) == distilled.summary


@settings(max_examples=count(30, 3_000), deadline=None)
@given(threads, threads)
def test_the_same_messages_give_the_same_values(messages: list[Message], later: list[Message]) -> None:
    """Distilling the same messages twice gives equal results, also after an earlier distillation."""

    def run() -> Any:
        first = ENGINE.distill(messages, number=1, previous=None, tail_from_seq=99, passage_tokens=300)
        second = ENGINE.distill(later, number=2, previous=first, tail_from_seq=99, passage_tokens=300)
        return first, second, ENGINE.candidates(messages), ENGINE.digest(later, first.digest)

    once, again = run(), run()
    assert once == again
    for candidate in once[2]:
        assert candidate.content.strip()
        assert candidate.tags == tuple(tag.lower() for tag in candidate.tags)


@settings(max_examples=count(30, 1_000), deadline=None)
@given(
    st.dictionaries(st.sampled_from(("a.md", "b.py", "c.txt", "d.go")), text, max_size=3), st.dictionaries(text, text)
)
def test_any_files_and_working_memory_are_read(files: dict[str, str], working_memory: dict[str, str]) -> None:
    """Random documents and working memory are read without an error."""
    for candidate in ENGINE.candidates([], files, working_memory, "2026-01-01T00:00:00.000Z"):
        assert "was created" not in candidate.content
