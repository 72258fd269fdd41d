"""Precomputed texts for hooks are not kept for a deleted thread, nor over a purge."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import cast

import pytest

from reverie.errors import Busy
from reveried import session_texts
from reveried.actions import contexts
from reveried.services import Services
from reveried.session_texts import PARTS, SessionTexts

SERVICES = cast("Services", None)  # the texts are made by the test


@pytest.mark.parametrize(
    "drop",
    [lambda texts: texts.remove("default", "thread"), lambda texts: texts.forget("default")],
    ids=["deletion", "purge"],
)
def test_texts_that_are_being_made_are_not_kept(
    drop: Callable[[SessionTexts], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Texts dropped while they are made reach their waiting callers only; the next ones are made anew and kept."""

    async def main() -> None:
        texts, go_on = SessionTexts(), asyncio.Event()

        async def context_text(*_: object, **__: object) -> str:
            await go_on.wait()
            return "words"

        monkeypatch.setattr(contexts, "context_text", context_text)
        monkeypatch.setattr(session_texts, "_stamp", lambda *_: ((), 0))
        early = texts.make(SERVICES, "default", "thread")
        elsewhere = texts.make(SERVICES, "other", "thread")
        await asyncio.sleep(0)
        drop(texts)
        later = texts.make(SERVICES, "default", "thread")
        assert later is not early
        later.cancel()
        await asyncio.wait({later})
        go_on.set()
        made = dict.fromkeys(PARTS, "words")
        assert await early == made
        assert texts.current(SERVICES, "default", "thread") is None
        await asyncio.gather(elsewhere, texts.make(SERVICES, "default", "thread"))
        assert texts.current(SERVICES, "default", "thread") == texts.current(SERVICES, "other", "thread") == made
        drop(texts)
        assert texts.current(SERVICES, "default", "thread") is None
        assert texts.current(SERVICES, "other", "thread") == made

    asyncio.run(main())


def test_texts_that_there_was_no_room_to_make_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A part is missing, and not empty, where nothing can be computed now; the next call makes all of them."""

    async def main() -> None:
        texts, failures = SessionTexts(), [Busy("full", hint="later")]

        async def context_text(*_: object, **__: object) -> str:
            if failures:
                raise failures.pop()
            return "words"

        monkeypatch.setattr(contexts, "context_text", context_text)
        monkeypatch.setattr(session_texts, "_stamp", lambda *_: ((), 0))
        assert await texts.make(SERVICES, "default", "thread") == dict.fromkeys(PARTS[1:], "words")
        assert texts.current(SERVICES, "default", "thread") is None
        assert await texts.make(SERVICES, "default", "thread") == dict.fromkeys(PARTS, "words")
        assert texts.current(SERVICES, "default", "thread") is not None

    asyncio.run(main())
