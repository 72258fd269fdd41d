"""Tests of the wire structs: round trips through JSON, and the field names that the API documents."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
import orjson
import pytest

from reverie import wire
from reverie.models import Dropped

MODULES = [getattr(wire, name) for name in wire._MODULES]  # type: ignore[attr-defined] # only at run time
USE = wire.ContextUse(tokens=10, window=100, fraction=0.1)
THREAD = wire.Thread(
    id="thr_1",
    message_count=2,
    tokens=10,
    distillations=0,
    context=USE,
    created_at="2026-11-21T09:30:00.000Z",
    updated_at="2026-11-21T09:30:00.000Z",
)
MEMORY = wire.Memory(
    id="mem_1",
    type="mistake",
    content="Close the file before renaming it.",
    tags=["files"],
    document="facts/mistakes.md",
    created_at="2026-11-21T09:30:00.000Z",
    updated_at="2026-11-21T09:30:00.000Z",
)
CHANGES: list[wire.Change] = [
    wire.KeepChange(id="mem_1"),
    wire.UpdateChange(id="mem_2", content="x", tags=["t"]),
    wire.DeleteChange(id="mem_3"),
    wire.AddChange(type="fact", content="y", tags=[]),
    wire.SkipChange(candidate_index=0),
]


def check(kind: Any, value: Any, *names: str) -> None:
    """Assert that `value` survives a round trip, and that its JSON has exactly these names if any are given."""
    sent = orjson.dumps(value, default=wire.plain)
    assert msgspec.json.decode(sent, type=kind) == value
    if names:
        assert set(orjson.loads(sent)) == set(names)


def named(words: str) -> list[str]:
    """Return field names as the documentation lists them."""
    return words.split()


def test_what_a_context_dropped_has_the_fields_that_apply() -> None:
    """An item of `dropped` has its tier and the fields that were set, a number of 0 included, in a fixed order."""
    dropped = Dropped("tail", why="trimmed", tokens=0, what="tool_result", seq=4)

    check(Dropped, dropped, "tier", "seq", "what", "tokens", "why")
    assert msgspec.json.encode(dropped) == b'{"tier":"tail","seq":4,"what":"tool_result","tokens":0,"why":"trimmed"}'
    check(Dropped, Dropped("excerpts"), "tier")


def test_thread() -> None:
    """A thread has the documented fields."""
    check(wire.Thread, THREAD)
    sent = wire.plain(THREAD)
    assert {"messageCount", "tokens", "distillations", "context"} <= set(sent)
    assert {"tokens", "window", "fraction"} <= set(sent["context"])


def test_page() -> None:
    """A page is `{items, next}`, and `next` is null on the last page."""
    check(wire.Page[wire.Thread], wire.Page(items=[THREAD]), "items", "next")
    assert wire.plain(wire.Page(items=[]))["next"] is None


def test_context_request_has_the_names_of_the_model_api() -> None:
    """The request fragment has the field names of the model API, not camelCase, and no others."""
    fragment = wire.RequestFragment(system=[], messages=[{"role": "user", "content": "hi"}])
    check(wire.RequestFragment, fragment, "system", "messages", "context_management", "betas")


def test_context_tokens() -> None:
    """Every tier of a context has its tokens, and the tokenizer is named."""
    check(
        wire.ContextTokens,
        wire.ContextTokens(total=3),
        *named("bootstrap index digest workingState notes recall summary excerpts tail tools total tokenizer"),
    )


def test_working_state() -> None:
    """A working state has the nine documented fields."""
    check(
        wire.WorkingState,
        wire.WorkingState(current_task="x"),
        *named("currentTask taskChain completedSteps nextSteps openFiles recentDecisions blockers updatedAt sources"),
    )


def test_memory() -> None:
    """A memory has at least the eleven documented fields."""
    check(wire.Memory, MEMORY)
    names = named("id type content tags document createdAt updatedAt  accessCount lastAccessedAt trust provenance")
    assert set(names) <= set(wire.plain(MEMORY))


@pytest.mark.parametrize(
    ("change", "sent"),
    [
        (CHANGES[0], {"action": "KEEP", "id": "mem_1"}),
        (CHANGES[1], {"action": "UPDATE", "id": "mem_2", "content": "x", "tags": ["t"], "candidateIndex": None}),
        (CHANGES[2], {"action": "DELETE", "id": "mem_3"}),
        (CHANGES[3], {"action": "ADD", "type": "fact", "content": "y", "tags": [], "id": None, "candidateIndex": None}),
        (CHANGES[4], {"action": "SKIP", "candidateIndex": 0}),
    ],
)
def test_changes_carry_their_action(change: wire.Change, sent: dict[str, Any]) -> None:
    """Each change is an object with its `action`."""
    assert wire.plain(change) == sent
    check(wire.Change, change)


def test_dream() -> None:
    """The answer of a dream has archive, tokens, budget, index and changes."""
    dream = wire.DreamAnswer(archive="ab", tokens_used=1, token_budget=2, index_updated=True, changes=CHANGES)
    check(wire.DreamAnswer, dream)
    assert {"archive", "tokensUsed", "tokenBudget", "indexUpdated", "changes"} <= set(wire.plain(dream))


def test_status_describes_distillation() -> None:
    """`status.distillation` has the six documented fields."""
    status = wire.Status(
        space="default",
        root="~/Reverie/default",
        counts={"memories": 1},
        distillation=wire.DistillationSupport(
            supported=True,
            max_token_budget=1,
            scheduled=False,
            index_emitted=True,
            tokenizer_name="o200k_base",
            archive_retention="forever",
        ),
        model=wire.ModelInUse(engine="extractive"),
        spend=wire.TokenSpend(total=0),
    )
    check(wire.Status, status)
    assert set(wire.plain(status)["distillation"]) == set(
        named("supported maxTokenBudget scheduled indexEmitted tokenizerName archiveRetention")
    )


def test_replies_ignore_unknown_fields() -> None:
    """Unknown fields of an answer are skipped."""
    sent = wire.plain(THREAD) | {"mood": "sunny"}
    assert wire.parse(wire.Thread, sent) == THREAD


def test_requests_leave_out_unset_options() -> None:
    """An option that is not set is left out of the request, so that the daemon's default applies."""
    assert msgspec.json.encode(wire.CreateThread(title="x")) == b'{"title":"x"}'


def test_components_describe_every_named_type() -> None:
    """All structs have a JSON schema, and every schema that one of them refers to is defined."""
    named_values = {name: value for module in MODULES for name, value in vars(module).items() if name[0] != "_"}
    kinds = [kind for kind in named_values.values() if isinstance(kind, type) and issubclass(kind, msgspec.Struct)]
    kinds = [kind for kind in kinds if kind not in (wire.Page, wire.Request, wire.Reply, msgspec.Struct)]
    types = [*kinds, wire.Change, wire.Page[wire.Memory]]
    schemas, named = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    assert len(tuple(schemas)) == len(kinds) + 2
    assert named["Memory"]["properties"]["accessCount"]["type"] == "integer"
    text = orjson.dumps([schemas, named]).decode()
    for reference in {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]}:
        assert reference in named
    assert schemas[types.index(wire.Health)] == {"$ref": "#/components/schemas/Health"}
    assert named["AppendMessages"]["additionalProperties"] is False


def test_a_name_stands_for_one_thing() -> None:
    """`wire` finds each name of its modules, whichever was asked for first; a misspelt one is refused."""
    for module in MODULES:
        for name, value in vars(module).items():
            if not name.startswith("_") and not isinstance(value, TypeVar):
                assert getattr(wire, name) is value, (module, name)
    with pytest.raises(AttributeError, match="has no attribute 'Memry'"):
        wire.Memry  # type: ignore[attr-defined] # noqa: B018
