"""After a distillation: the same bytes in two daemons; contexts that fit the budget and that a model's API takes."""

from __future__ import annotations

import hashlib
import itertools
import re
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from reverie.client import Client
from reveried.cli.imports import import_file
from support.api_rules import problems
from support.daemon import Daemon, running_daemon, scratch_home
from support.session import session_file
from support.shared import all_sessions
from support.soak import count
from support.vocabulary import oracle

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

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
    """Two daemons that have nothing in common but their code."""
    first, second = SURROUNDINGS
    with scratch_home() as here, scratch_home() as there:
        for home in (here, there):
            tick(home, 0)
        with running_daemon(here, **first) as one, running_daemon(there, **second) as other:
            yield one, other


def tick(home: Path, minute: int) -> None:
    """Sets a daemon's clock: documents say on which day they changed, and ids sort by time."""
    (home / "clock").write_text(f"2026-11-21T{9 + minute // 60:02d}:{minute % 60:02d}:00Z\n")


def told(daemon: Daemon, path: Path) -> dict[str, Any]:
    """Everything about a session that should not depend on where it was made: archives, contexts, state, documents."""
    with Client(daemon.socket) as client:
        thread = str(import_file(client, path).thread)
        made = client.distill(thread)
        found: dict[str, Any] = {
            "archive": made.archive,
            "bytes": client.archive(made.archive),
            "state": daemon.ask("GET", f"/v1/threads/{thread}/working-state").body,
            "digest": orjson.loads(daemon.ask("GET", f"/v1/threads/{thread}/digest").body)["text"],
            "sizes": (made.tokens_before, made.tokens_after, made.tokens_used, made.tail),
        }
        for budget in ("", *(f"&maxTokens={budget}" for budget in BUDGETS)):
            for placement in ("late", "system"):
                asked = f"/v1/threads/{thread}/context?placement={placement}{budget}"
                found[asked] = daemon.ask("GET", asked, timeout=60).body
    return found


def without_ids(value: Any) -> Any:
    """A context tells which memories found no room; their ids are each store's own, and are no part of the request."""
    return MEMORY_ID.sub(b"mem", value) if isinstance(value, bytes) else value


def recounted(request: dict[str, Any]) -> int:
    """The tokens of a request by tiktoken and the rule of the surface, nothing of the program's own counting."""
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
    """Within the budget by another's count, its bill right, and nothing in it that a model's API refuses."""
    assert "error" not in answer, answer
    request, bill = answer["request"], answer["tokens"]
    assert problems(request) == []
    assert recounted(request) <= bill["total"]
    assert bill["total"] <= (budget or 35_000)
    tiers = {name: tokens for name, tokens in bill.items() if name not in ("total", "tokenizer")}
    assert sum(tiers.values()) == bill["total"]


def check_pair(pair: tuple[Daemon, Daemon], path: Path) -> None:
    """One session through both daemons at once, later than the one before."""
    minute = next(MINUTES)
    for daemon in pair:
        tick(daemon.home, minute)
    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(told, pair, (path, path))
    for name, value in one.items():
        assert without_ids(other[name]) == without_ids(value), f"{name} differs"
    assert hashlib.sha256(one["bytes"]).hexdigest() == one["archive"]
    for name, value in one.items():
        if not name.startswith("/"):
            continue
        check_context(orjson.loads(value), int(name.partition("maxTokens=")[2] or 0) or None)


def check_least(daemon: Daemon, path: str, least: int) -> None:
    """An open turn that is too large for the budget says what would do, and that does."""
    answer = daemon.ask("GET", f"{path.partition('&maxTokens')[0]}&maxTokens={least}", timeout=60)
    assert answer.status == 200, answer.body
    check_context(answer.json(), least)


def test_a_made_up_session(pair: tuple[Daemon, Daemon], tmp_path: Path) -> None:
    """Archive, contexts, working state and digest are the same bytes, and every context fits."""
    for number in range(3):
        check_pair(pair, session_file(tmp_path, number, turns=12, noise=120))


def test_the_documents_are_the_same(pair: tuple[Daemon, Daemon], tmp_path: Path) -> None:
    """What was learnt stands in the same documents, whatever the ids; a dream of it has the same address."""
    check_pair(pair, session_file(tmp_path, 50, turns=6))
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


@pytest.mark.parametrize("path", all_sessions(2, step=count(9, 1), count=count(4, 39)), ids=lambda path: path.name[:13])
def test_a_whole_session(pair: tuple[Daemon, Daemon], path: Path) -> None:
    """The same for sessions with every kind of line, and for recorded ones."""
    check_pair(pair, path)


def test_the_budget_is_never_passed(pair: tuple[Daemon, Daemon], tmp_path: Path) -> None:
    """Any budget, also small and odd ones: a context within it, or the least that would do."""
    daemon = pair[0]
    with Client(daemon.socket) as client:
        thread = str(import_file(client, session_file(tmp_path, 60, turns=4, noise=40)).thread)
        path = f"/v1/threads/{thread}/context?placement=late"
        check_context(daemon.ask("GET", f"{path}&maxTokens=6000").json(), 6_000)
        client.distill(thread)
    for budget in (1, 50, 120, 200, 333, 500, 999, 1_500, 2_500, 5_001, 64_000, 1_000_000):
        answer = daemon.ask("GET", f"{path}&maxTokens={budget}").json()
        if "error" in answer:
            assert answer["details"]["budget"] == budget < answer["details"]["minimumRequired"] < 1_000
            check_least(daemon, path, answer["details"]["minimumRequired"])
        else:
            check_context(answer, budget)
