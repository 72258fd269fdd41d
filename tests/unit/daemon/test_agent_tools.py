"""What agents' tools say beside a result: an index that is not complete yet, and the hint of what is not found."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from reverie import tools, wire
from reverie.errors import NotFound
from reveried.actions import tools as tool_actions

CALL: Any = SimpleNamespace(services=None, space="default", project="harbour", thread="", idempotency=None)


@pytest.mark.parametrize("found", ["", "1. agent: the crane stops at noon"])
def test_an_incomplete_index_is_told(monkeypatch: pytest.MonkeyPatch, found: str) -> None:
    """While the index is being built an answer, and also none, says that there may be more."""

    async def search_space(*_: Any) -> wire.SearchAnswer:
        return wire.SearchAnswer(hits=[], complete=next(complete))

    async def memories(*_: Any) -> list[Any]:
        return []

    async def read(*_: Any) -> str:
        return found

    for name, fake in (("search_space", search_space), ("_memories", memories), ("read", read)):
        monkeypatch.setattr(tool_actions, name, fake)
    complete = iter((True, False))
    texts = [asyncio.run(tool_actions.search(CALL, tools.SearchInput("crane"))) for _ in range(2)]
    assert texts[1].startswith(texts[0])
    assert ["index is still being built" in text for text in texts] == [False, True]


@pytest.mark.parametrize(
    ("name", "given", "hint"),
    [
        ("search", {"query": "crane"}, "reverie projects lists them"),
        ("recall", {"query": "crane"}, "reverie projects lists them"),
        ("remember", {"fact": "The crane stops."}, "reverie projects lists them"),
        ("memory_read", {"path": "facts/crane.md"}, "memory_list shows the files that are there"),
    ],
)
def test_what_is_not_found_has_its_own_hint(
    monkeypatch: pytest.MonkeyPatch, name: str, given: dict[str, str], hint: str
) -> None:
    """Only a tool of files points to the list of files; the others say what the error says."""

    async def handler(*_: Any) -> None:
        raise NotFound("it is not there", hint="reverie projects lists them")

    monkeypatch.setitem(tool_actions._HANDLERS, name, handler)
    tool = tools.tool_named(name)
    assert tool is not None
    answer = asyncio.run(tool_actions.run(tool, given, CALL))
    assert (answer.content, answer.is_error) == (f"it is not there; {hint}", True)
