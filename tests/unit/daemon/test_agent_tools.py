"""What agents' tools say beside a result: an index that is not complete yet."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from reverie import tools, wire
from reveried.actions import search_tools

CALL: Any = SimpleNamespace(services=None, space="default", project="harbour", thread="")


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
        monkeypatch.setattr(search_tools, name, fake)
    complete = iter((True, False))
    texts = [asyncio.run(search_tools.search(CALL, tools.SearchInput("crane"))) for _ in range(2)]
    assert texts[1].startswith(texts[0])
    assert ["index is still being built" in text for text in texts] == [False, True]
