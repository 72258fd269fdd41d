"""Two spaces over TCP, each with a token: calls of every kind at once, and no answer has a word of the other space."""

from __future__ import annotations

import random
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import pytest

from reverie.client import Client
from reveried.routes import routes
from support.daemon import Answer, Daemon, TcpCaller, free_port, running_daemon
from support.daemon_folder import bytes_below
from support.soak import count

CALLS = count(1_000, 10_000)
CALLERS = 2  # of each space at the same time
NAMES = {"blue": "amberwick", "red": "violetmoor"}
"""A word for each space, which is in all that its callers write."""

UNIQUE = {"memories", "jobs", "imports", "dreams", "archives", "schedules"}  # nouns whose ids one space alone has
WHOLE_STORE = {("POST", "/v1/backups"), ("POST", "/v1/compact"), ("POST", "/v1/spaces")}
OF_TOKENS = {("GET", "/v1/tokens"), ("POST", "/v1/tokens"), ("DELETE", "/v1/tokens/{id}")}
ENDLESS = {("GET", "/v1/events")}  # tests/integration/daemon/test_tokens.py
RAW = {("PUT", "/v1/imports/{id}/chunks")}

KINDS = sorted({(row.method, row.path) for row in routes()} - ENDLESS - RAW)
_ID = re.compile(r'"(?:id|archive|job|sha256)": ?"([^"]+)"')


@dataclass
class Side:
    """One space: its word, its token, and the ids that its answers have named."""

    space: str
    word: str
    token: str
    ids: dict[str, list[str]] = field(default_factory=dict)
    calls: int = 0
    done: set[tuple[str, str]] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)


@pytest.fixture(scope="module")
def sides() -> Iterator[tuple[Daemon, int, list[Side]]]:
    """A daemon on TCP with the two spaces."""
    port = free_port()
    with running_daemon(REVERIE_DAEMON_TCP=f"127.0.0.1:{port}") as daemon:
        with Client(daemon.socket) as owner:
            made = []
            for space, word in NAMES.items():
                owner.create_space(space)
                made.append(Side(space, word, str(owner.create_token(space).token)))
        yield daemon, port, made


def bodies(side: Side, chance: random.Random) -> dict[tuple[str, str], Any]:
    """Return a body for each call that has one; every text has the side's word."""
    said = f"{side.word} keeps boat {chance.randrange(40)} at pier {chance.randrange(9)}"
    messages = [{"role": "user", "content": said}, {"role": "assistant", "content": f"{said}, noted"}]
    tools: dict[str, Any] = {"input": {"query": f"{side.word} boat"}, "thread": "shared"}
    return {
        ("POST", "/v1/threads"): {"title": said},
        ("POST", "/v1/threads/{id}/messages"): {"messages": messages},
        ("POST", "/v1/threads/{id}/notes"): {"content": said, "category": "task"},
        ("PUT", "/v1/threads/{id}/working-state"): {"currentTask": said},
        ("PATCH", "/v1/threads/{id}/working-state"): {"nextSteps": [said]},
        ("POST", "/v1/threads/{id}/distill"): {},
        ("POST", "/v1/memories"): {"content": said, "document": f"facts/{chance.choice('abc')}.md"},
        ("PATCH", "/v1/memories/{id}"): {"content": f"{said} now"},
        ("POST", "/v1/recall"): {"query": "which boat is at which pier", "minScore": 0},
        ("POST", "/v1/search"): {"query": "which boat is at which pier", "in": "all"},
        ("PUT", "/v1/documents/{path:path}"): {"content": f"# Boats\n\n- {said}\n"},
        ("POST", "/v1/documents/{path:path}/append"): {"entry": f"- {said}"},
        ("POST", "/v1/documents/{path:path}/patch"): {"patches": [{"oldText": "Boats", "newText": "Boats"}]},
        ("POST", "/v1/tools/{name}"): tools,
        ("POST", "/v1/dreams"): {"dryRun": True},
        ("POST", "/v1/schedules"): {"cron": f"{chance.randrange(60)} 3 * * *"},
        ("POST", "/v1/imports"): {"client": "claude-code", "session": f"{side.word}-{chance.randrange(5)}"},
        ("POST", "/v1/rollback"): {"operation": str(10**15)},
        ("POST", "/v1/conflicts/{id}/resolve"): {"keep": "file"},
        ("POST", "/v1/backups"): {"path": f"/srv/{side.word}"},
        ("POST", "/v1/spaces"): {"id": side.word},
        ("POST", "/v1/tokens"): {"space": "default"},
        ("POST", "/v1/sync"): {},
    }


def one_call(side: Side, other: Side, caller: TcpCaller, kind: tuple[str, str], chance: random.Random) -> None:
    """Send one call, at times for an id of the other space, and check that the answer has nothing of it."""
    method, pattern = kind
    is_foreign = chance.random() < 0.25
    noun = pattern.split("/")[2] if pattern.startswith("/v1/") else ""
    source = (other if is_foreign else side).ids.get(noun) or ["shared"]
    path = pattern.replace("{path:path}", f"facts/{chance.choice('abc')}.md").replace("{name}", "recall")
    path = path.replace("{id}", quote(chance.choice(source), safe="")).replace("{sha256}", chance.choice(source))
    path = path.replace("{note}", "n")
    if noun == "threads" and method == "DELETE" and pattern.endswith("{id}"):
        path += f"?confirm={path.rsplit('/', 1)[1]}"
    if pattern == "/v1/diff":
        path += "?from=0"
    body = bodies(side, chance).get(kind)
    answer = caller.ask(method, path, {} if method == "POST" and body is None else body)
    _check(other, kind, path, answer)
    if is_foreign and noun in UNIQUE and "{" in pattern and source != ["shared"]:
        assert answer.status in {400, 404}, (kind, path, answer.status, answer.body)
    with side.lock:
        side.calls += 1
        if answer.status < 300:
            side.done.add(kind)
            own = side.ids.setdefault(noun, [])
            own += [found for found in _ID.findall(answer.body.decode("utf-8", "replace"))[:3] if len(own) < 500]


def _check(other: Side, kind: tuple[str, str], path: str, answer: Answer) -> None:
    """Assert that an answer has no word of the other space, no server error, and no call of the whole store."""
    if kind == ("GET", "/metrics"):
        return  # figures of the process, without texts
    assert answer.status < 500 or answer.status == 503, (kind, path, answer.body)
    for word in (other.word, other.space.join('""'), f"root/{other.space}"):
        sent = word in path  # an error repeats the path that it was asked for
        assert sent or word.encode() not in answer.body, (kind, path, answer.body[:2_000])
    if kind in WHOLE_STORE | OF_TOKENS:
        assert answer.status == 403, (kind, answer.body)


def test_nothing_crosses(sides: tuple[Daemon, int, list[Side]]) -> None:
    """Concurrent random calls of two spaces never answer with the other's words; then all lists are checked too."""
    daemon, port, (blue, red) = sides
    for side in (blue, red):
        with TcpCaller(port, side.token) as caller:
            assert caller.ask("POST", "/v1/threads", {"id": "shared", "title": side.word}).status == 201

    def run(side: Side, other: Side, number: int) -> None:
        chance = random.Random(f"{side.space} {number}")
        with TcpCaller(port, side.token) as caller:
            for turn in range(CALLS // (2 * CALLERS)):
                kind = KINDS[turn % len(KINDS)] if turn < 2 * len(KINDS) else chance.choice(KINDS)
                one_call(side, other, caller, kind, chance)

    with ThreadPoolExecutor(2 * CALLERS) as pool:
        pairs = [(blue, red), (red, blue)]
        runs = [pool.submit(run, side, other, number) for side, other in pairs for number in range(CALLERS)]
        for each in runs:
            each.result()
    assert blue.calls + red.calls >= CALLS - 2 * CALLERS
    for side, other in pairs:
        assert len(side.done) > len(KINDS) / 2, sorted(side.done)
        _remember_one(port, side)
        _check_everything(daemon, port, side, other)


def _remember_one(port: int, side: Side) -> None:
    """Remember a line and wait for its file: the calls before may have deleted whatever the space had."""
    with TcpCaller(port, side.token) as caller:
        said = {"content": f"{side.word} lies at the last pier", "document": "facts/last.md", "author": "person"}
        answer = caller.ask("POST", "/v1/memories", said)
        assert answer.status in {200, 201}, answer.body
        assert caller.ask("POST", "/v1/sync", {}).status == 200


def _check_everything(daemon: Daemon, port: int, side: Side, other: Side) -> None:
    """Assert that what a space lists, its folder and each of its ids are its own, and unknown to the other space."""
    lists = [path for method, path in KINDS if method == "GET" and "{" not in path and path.startswith("/v1/")]
    with TcpCaller(port, side.token) as caller, TcpCaller(port, other.token) as stranger:
        for path in set(lists) - {"/v1/tokens", "/v1/diff", "/v1/openapi.json"}:
            answer = caller.ask("GET", path)
            assert answer.status == 200, (path, answer.body)
            assert other.word.encode() not in answer.body
        memories = caller.ask("GET", "/v1/memories?limit=1000").json()["items"]
        assert memories
        assert all(side.word in memory["content"] for memory in memories)
        for memory in memories[:50]:
            assert stranger.ask("GET", f"/v1/memories/{memory['id']}").status == 404
    texts = bytes_below(daemon.home / "root" / side.space, ".md")
    assert texts
    assert not [path for path, data in texts.items() if other.word.encode() in data]
