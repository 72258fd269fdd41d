"""Determinism: two daemons give equal bytes after a distillation, and contexts fit the budget and the model's API."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import orjson
import pytest

from reverie.client import Client
from reveried.cli.send_sessions import import_file
from support.api_rules import violations
from support.daemon import Daemon, running_daemon, scratch_home
from support.shared import all_sessions
from support.soak import count
from support.story import WHY, session_file
from support.vocabulary import oracle

BUDGETS = (4_000, 8_000, 16_000, 32_000)
MESSAGE, BLOCK, MEDIA = 4, 3, 1_600  # the overheads that the surface states, and an image
MEMORY_ID = re.compile(rb"mem_[0-9a-z]{20,}")
MINUTES = itertools.count(1)
SURROUNDINGS = (
    {"PYTHONHASHSEED": "1", "TZ": "UTC", "LC_ALL": "C", "LANG": "C"},
    {"PYTHONHASHSEED": "4242", "TZ": "Pacific/Kiritimati", "LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"},
)


@pytest.fixture(scope="module")
def pair() -> Iterator[tuple[Daemon, Daemon]]:
    """Two daemons with separate homes."""
    first, second = SURROUNDINGS
    with scratch_home() as first_home, scratch_home() as second_home:
        for home in (first_home, second_home):
            tick(home, 0)
        with running_daemon(first_home, **first) as one, running_daemon(second_home, **second) as other:
            yield one, other


def tick(home: Path, minute: int) -> None:
    """Set a daemon's clock, as documents contain dates and ids sort by time."""
    (home / "clock").write_text(f"2026-11-21T{9 + minute // 60:02d}:{minute % 60:02d}:00Z\n")


def session_output(daemon: Daemon, path: Path) -> dict[str, Any]:
    """Return all of a session's output that must not depend on the daemon: archives, contexts, state, documents."""
    with Client(daemon.socket) as client:
        thread = str(import_file(client, path, program="claude-code").thread)
        result = client.distill(thread)
        output: dict[str, Any] = {
            "archive": result.archive,
            "bytes": client.archive(result.archive),
            "state": daemon.ask("GET", f"/v1/threads/{thread}/working-state").body,
            "digest": orjson.loads(daemon.ask("GET", f"/v1/threads/{thread}/digest").body)["text"],
            "sizes": (
                result.tokens_before,
                result.tokens_after,
                result.tokens_used,
                result.tail,
            ),
        }
        for budget in ("", *(f"&maxTokens={budget}" for budget in BUDGETS)):
            for placement in ("late", "system"):
                request_path = f"/v1/threads/{thread}/context?placement={placement}{budget}"
                output[request_path] = daemon.ask("GET", request_path, timeout=60).body
    return output


def without_ids(value: Any) -> Any:
    """Return a context without the ids of dropped memories, which differ between stores."""
    return MEMORY_ID.sub(b"mem", value) if isinstance(value, bytes) else value


def recounted(request: dict[str, Any]) -> int:
    """Return the tokens of a request by tiktoken and the specified rule, without our own counting."""
    blocks = sum(of_block(block) for block in request["system"])
    return blocks + sum(MESSAGE + of_content(message["content"]) for message in request["messages"])


def of_content(content: Any) -> int:
    if isinstance(content, str):
        return BLOCK + of_text(content)
    return sum(of_block(block) for block in content)


def of_block(block: dict[str, Any]) -> int:
    match block["type"]:
        case "text":
            return BLOCK + of_text(block["text"])
        case "thinking":
            return BLOCK + of_text(block["thinking"])
        case "tool_use":
            return BLOCK + of_text(block["name"]) + of_text(orjson.dumps(block["input"]).decode())
        case "tool_result":
            return BLOCK + of_content(block.get("content", ""))
        case "image":
            return BLOCK + MEDIA
        case "redacted_thinking":
            return BLOCK
    return BLOCK + of_text(orjson.dumps(block).decode())


def of_text(text: str) -> int:
    return len(oracle().encode_ordinary(text))


def check_context(answer: dict[str, Any], budget: int | None) -> None:
    """Assert that a context is within the budget by another count, has a right total, and is accepted by the API."""
    assert "error" not in answer, answer
    request, bill = answer["request"], answer["tokens"]
    assert violations(request) == []
    assert recounted(request) <= bill["total"]
    assert bill["total"] <= (budget or 35_000)
    tiers = {name: tokens for name, tokens in bill.items() if name not in ("total", "tokenizer")}
    assert sum(tiers.values()) == bill["total"]


def check_pair(pair: tuple[Daemon, Daemon], path: Path) -> None:
    """Import one session into both daemons, at a later time than the one before, and compare their output."""
    minute = next(MINUTES)
    for daemon in pair:
        tick(daemon.home, minute)
    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(session_output, pair, (path, path))
    for name, value in one.items():
        assert without_ids(other[name]) == without_ids(value), f"{name} differs"
    assert hashlib.sha256(one["bytes"]).hexdigest() == one["archive"]
    for name, value in one.items():
        if not name.startswith("/"):
            continue
        check_context(orjson.loads(value), int(name.partition("maxTokens=")[2] or 0) or None)


def check_minimum(daemon: Daemon, path: str, least: int) -> None:
    """Assert that an open turn over the budget is refused with the minimum budget, and that this one works."""
    answer = daemon.ask("GET", f"{path.partition('&maxTokens')[0]}&maxTokens={least}", timeout=60)
    assert answer.status == 200, answer.body
    check_context(answer.json(), least)


def test_a_generated_session(pair: tuple[Daemon, Daemon], tmp_path: Path) -> None:
    """Two daemons give equal archives, contexts, state and documents for generated sessions, and every context fits."""
    for number in range(count(2, 3)):
        check_pair(pair, session_file(tmp_path, number, turns=12, noise=120))


def test_the_documents_are_the_same(pair: tuple[Daemon, Daemon], tmp_path: Path) -> None:
    """Memories are in equal documents, whatever their ids; their dream has the same address."""
    check_pair(pair, session_file(tmp_path, 50, turns=6, why=WHY))
    texts = []
    for daemon in pair:
        with Client(daemon.socket) as client:
            paths = [item.path for item in client.documents().items if item.path.endswith(".md")]
            texts.append({path: client.document(path).content for path in paths})
    assert texts[0] == texts[1]
    assert len(texts[0]) > 2
    dreams = []
    for daemon in pair:
        with Client(daemon.socket) as client:
            dreams.append(client.dream(token_budget=50_000).archive)
    assert dreams[0] == dreams[1]


@pytest.mark.parametrize("path", all_sessions(2, step=count(9, 1), count=count(3, 39)), ids=lambda path: path.name[:13])
def test_a_whole_session(pair: tuple[Daemon, Daemon], path: Path) -> None:
    """Two daemons give equal output for sessions with every kind of line and recorded ones, and every context fits."""
    check_pair(pair, path)


def test_the_budget_is_never_exceeded(pair: tuple[Daemon, Daemon], tmp_path: Path) -> None:
    """Any budget, also small and odd ones, gives a context within it, or an error with the minimum."""
    daemon = pair[0]
    with Client(daemon.socket) as client:
        thread = str(import_file(client, session_file(tmp_path, 60, turns=4, noise=40), program="claude-code").thread)
        path = f"/v1/threads/{thread}/context?placement=late"
        check_context(daemon.ask("GET", f"{path}&maxTokens=6000").json(), 6_000)
        client.distill(thread)
    for budget in (1, 50, 120, 200, 333, 500, 999, 1_500, 2_500, 5_001, 64_000, 1_000_000):
        answer = daemon.ask("GET", f"{path}&maxTokens={budget}").json()
        if "error" in answer:
            assert answer["details"]["budget"] == budget < answer["details"]["minimumRequired"] < 1_000
            check_minimum(daemon, path, answer["details"]["minimumRequired"])
        else:
            check_context(answer, budget)
