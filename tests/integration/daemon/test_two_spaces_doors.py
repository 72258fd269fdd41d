"""Two spaces of two projects each, through every door at once: no answer has a word of the other space or project."""

from __future__ import annotations

import asyncio
import json
import random
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

import anthropic

from reverie.adapters.claude_agent_sdk import SessionStore
from reverie.client import AsyncClient, Client
from reverie.client.memory_tool import MemoryTool
from reveried.proxy.server import ProxyServer
from support.daemon import Daemon, TcpCaller, free_port, running_daemon
from support.mcp_bridge import STATELESS, BridgeProcess, bridge
from support.messages_api import MODEL, ScriptedApi, api_client
from support.model_server import ModelServer, body_of, read_message
from support.soak import count
from support.story import LiveSession
from support.upstream import connected, proxied
from support.waiting import wait_until

INFO = {"name": "harbourmaster", "version": "1"}
ASKED = (
    "CRITICAL: Respond with TEXT ONLY.\n\nYour task is to create a detailed summary of the conversation so far, "
    "in <analysis> and <summary>."
)
PARTS = ("state", "summary", "excerpts")
TURNS = 12  # of one thread of `client.session`, and lines of one session of an adapter, before the next one


@dataclass(frozen=True)
class Place:
    """One project of one space: its token, its folder, and the words in what is written there."""

    space: str
    token: str
    project: Path
    word: str  # of what belongs to the project
    own: str  # of what belongs to the person, whose space it is
    number: int  # of the project: sessions and processes have the same one in each space
    scratch: Path

    def said(self, chance: random.Random, word: str | None = None) -> str:
        """Return a made-up sentence with `word`, by default the one that only this project's texts have."""
        return f"{word or self.word} keeps boat {chance.randrange(40)} at pier {chance.randrange(9)}"


@dataclass(frozen=True)
class Heard:
    """The text of one answer; with `of_space` it may have words of the other projects of its space."""

    call: str
    text: str
    of_space: bool = False


class Door(Protocol):
    """The interface of a door: an entry point through which an agent reads and writes memory."""

    def call(self, chance: random.Random) -> Heard:
        """Make a random call."""

    def proof(self, chance: random.Random) -> bool:
        """Write something, and return True if the door shows it."""


@contextmanager
def all_doors(daemon: Daemon, port: int, models: ModelServer, place: Place) -> Iterator[dict[str, Door]]:
    """Yield a dict of all doors of a place by name, open until the end of the context."""
    with ExitStack() as stack:
        caller = stack.enter_context(TcpCaller(port, place.token))
        client = stack.enter_context(Client(daemon.socket, token=place.token))
        env = {**daemon.env, "REVERIE_TOKEN": place.token}
        process = stack.enter_context(bridge(env, place.project))
        process.open(name=INFO["name"])
        api = ScriptedApi()
        asked = stack.enter_context(api_client(place.scratch / f"{place.space}-{place.number}.sock", api))
        proxy = stack.enter_context(proxied(models.url, daemon=daemon.socket, token=place.token))
        loop = stack.enter_context(asyncio.Runner())
        store = AsyncClient(daemon.socket, token=place.token)
        stack.callback(lambda: loop.run(store.close()))
        yield {
            "mcp": McpDoor(place, caller),
            "bridge": BridgeDoor(place, process),
            "hooks": HookDoor(place, caller),
            "memory tool": MemoryToolDoor(place, client, caller),
            "proxy": ProxyDoor(place, proxy),
            "client.session": SessionDoor(place, client, asked, api),
            "adapter": AdapterDoor(place, loop, SessionStore(store)),
        }


def _tool(place: Place, chance: random.Random) -> tuple[str, dict[str, Any]]:
    """Return a tool of MCP with its input: the project's name is in each path, so no call asks for the other one's."""
    said, path = place.said(chance), f"facts/{place.project.name}/{chance.choice('abc')}.md"
    calls: list[tuple[str, dict[str, Any]]] = [
        ("note", {"content": said, "category": "task"}),
        ("recall", {"query": "which boat is at which pier", "minScore": 0}),
        ("search", {"query": "which boat is at which pier"}),
        ("read_thread", {"thread": f"mcp:{INFO['name']}:p{place.number}"}),
        ("remember", {"fact": said}),
        ("memory_list", {}),
        ("memory_read", {"path": path}),
        ("memory_append", {"path": path, "entry": f"- {said}"}),
        ("memory_write", {"path": path, "content": f"# Boats\n\n- {said}\n"}),
        ("memory_patch", {"path": path, "patches": [{"oldText": "Boats", "newText": "Boats"}]}),
        ("memory_delete", {"path": path}),
        ("working_state_get", {}),
        ("working_state_set", {"currentTask": said}),
    ]
    return chance.choice(calls)


def _question(place: Place, chance: random.Random) -> tuple[str, dict[str, Any]]:
    """Return a method of MCP with its parameters."""
    if chance.random() < 0.7:
        name, given = _tool(place, chance)
        return "tools/call", {"name": name, "arguments": given}
    path = f"memory://documents/facts/{place.project.name}/{chance.choice('abc')}.md"
    ref = {"type": "ref/resource", "uri": "memory://documents/{+path}"}
    questions: list[tuple[str, dict[str, Any]]] = [
        ("resources/list", {}),
        ("resources/read", {"uri": chance.choice(["memory://working-state", "memory://notes", "memory://index"])}),
        ("resources/read", {"uri": path}),
        ("prompts/get", {"name": chance.choice(["continue", "handoff", "review"])}),
        ("completion/complete", {"ref": ref, "argument": {"name": "path", "value": ""}}),
    ]
    return chance.choice(questions)


class McpDoor:
    """`/mcp` over TCP, with a session and without one; the headers say the project's folder and process."""

    def __init__(self, place: Place, caller: TcpCaller) -> None:
        self.place, self.caller = place, caller
        self.about = {"Reverie-Bridge": f"p{place.number};{4_000_000 + place.number};{quote(str(place.project))}"}
        self.session: dict[str, str] = {}

    def call(self, chance: random.Random) -> Heard:
        method, params = _question(self.place, chance)
        return Heard(f"{method} {params}", self._ask(method, params, stateless=chance.random() < 0.5))

    def proof(self, chance: random.Random) -> bool:
        self._ask("tools/call", {"name": "note", "arguments": {"content": self.place.said(chance), "category": "task"}})
        return self.place.word in self._ask("resources/read", {"uri": "memory://notes"})

    def _ask(self, method: str, params: dict[str, Any], *, stateless: bool = False) -> str:
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
        if stateless:
            message["params"] = {"_meta": STATELESS, **params}
            named = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method}
            name = params.get("name", params.get("uri"))
            headers = named | ({"Mcp-Name": name} if name else {})
        else:
            headers = self.session or self._open()
        answer = self.caller.ask("POST", "/mcp", message, headers | self.about)
        assert answer.status < 500, (method, params, answer.body)
        return answer.body.decode()

    def _open(self) -> dict[str, str]:
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": INFO}
        body = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
        opened = self.caller.ask("POST", "/mcp", body, self.about)
        self.session = {"Mcp-Session-Id": opened.headers["mcp-session-id"], "MCP-Protocol-Version": "2025-11-25"}
        return self.session


class BridgeDoor:
    """A process of `reverie mcp` in the project's folder, with the token in its environment."""

    def __init__(self, place: Place, process: BridgeProcess) -> None:
        self.place, self.process = place, process

    def call(self, chance: random.Random) -> Heard:
        method, params = _question(self.place, chance)
        return Heard(f"{method} {params}", json.dumps(self.process.ask(method, **params), ensure_ascii=False))

    def proof(self, chance: random.Random) -> bool:
        path = f"facts/{self.place.project.name}/proof.md"
        self.process.call("memory_append", {"path": path, "entry": f"- {self.place.said(chance)}"})
        return self.place.word in self.process.call("memory_read", {"path": path})[0]


class HookDoor:
    """Hooks, sessions and compactions of two Claude Code sessions in the project, whose transcripts grow."""

    def __init__(self, place: Place, caller: TcpCaller) -> None:
        self.place, self.caller = place, caller
        folder = place.scratch / f"transcripts-{place.space}"
        folder.mkdir(exist_ok=True)
        numbers = (10 * place.number, 10 * place.number + 1)
        self.sessions = [LiveSession(folder, place.project, number) for number in numbers]

    def call(self, chance: random.Random) -> Heard:
        session = chance.choice(self.sessions)
        said = self.place.said(chance)
        match chance.randrange(8):
            case 0 | 1:
                source = chance.choice(["startup", "resume", "clear", "compact"])
                return self._hook(session, "SessionStart", chance.choice(PARTS), source=source)
            case 2 | 3:
                return self._hook(session, "UserPromptSubmit", prompt="which boat is at which pier")
            case 4:
                session.say(f"Please look: {said}", f"I have looked, {said}. Next: paint the boat.")
                return self._hook(session, "Stop")
            case 5:
                return self._hook(session, chance.choice(["PreCompact", "PostCompact", "SessionEnd"]))
            case 6:
                path = f"/v1/sessions?client=claude-code&limit={chance.randrange(1, 9)}"
                return Heard(path, self.caller.ask("GET", path).body.decode(), of_space=True)
            case _:
                conversation = [{"role": "user", "content": said}, {"role": "assistant", "content": f"Yes: {said}"}]
                body = {"client": "claude-code", "messages": conversation, "session": session.id}
                return Heard("compaction", self.caller.ask("POST", "/v1/compactions", body).body.decode())

    def proof(self, chance: random.Random) -> bool:
        """End a session; return True if the next one of the project starts with it, which may be too early."""
        path = f"/v1/sessions/claude-code/{self.sessions[0].id}"
        self.sessions[0].say(f"Please look: {self.place.said(chance)}", "I have looked.")
        self._hook(self.sessions[0], "Stop")
        self.caller.ask("POST", f"{path}/end", {})
        return self.place.word in self._hook(self.sessions[1], "SessionStart", source="startup").text

    def _hook(self, session: LiveSession, event: str, part: str = "state", **fields: Any) -> Heard:
        path = f"/v1/hooks/claude-code?part={part}&pid={4_000_000 + self.place.number}"
        answer = self.caller.ask("POST", path, session.hook(event, **fields))
        assert answer.status == 200, (event, answer.body)
        return Heard(f"{event} {part} {fields}", answer.body.decode())


class MemoryToolDoor:
    """The memory tool of the Messages API, by its class and over HTTP: its files are the person's."""

    def __init__(self, place: Place, client: Client, caller: TcpCaller) -> None:
        self.tool, self.place, self.caller = MemoryTool(client), place, caller

    def call(self, chance: random.Random) -> Heard:
        path = f"/memories/facts/{chance.choice('abcde')}.md"
        said = self.place.said(chance, self.place.own)
        given: dict[str, Any] = chance.choice(
            [
                {"command": "view", "path": "/memories"},
                {"command": "view", "path": path},
                {"command": "create", "path": path, "file_text": f"# Boats\n\n- {said}\n"},
                {"command": "str_replace", "path": path, "old_str": "# Boats", "new_str": "# Boats"},
                {"command": "insert", "path": path, "insert_line": 0, "insert_text": f"- {said}\n"},
                {"command": "delete", "path": path},
                {"command": "rename", "old_path": path, "new_path": f"/memories/facts/{chance.choice('abcde')}2.md"},
            ]
        )
        return Heard(str(given), self._run(given, by_class=chance.random() < 0.5), of_space=True)

    def proof(self, chance: random.Random) -> bool:
        path = f"/memories/facts/proof-{self.place.number}.md"
        said = self.place.said(chance, self.place.own)
        self._run({"command": "create", "path": path, "file_text": f"- {said}\n"}, by_class=True)
        return self.place.own in self._run({"command": "view", "path": path}, by_class=True)

    def _run(self, given: dict[str, Any], *, by_class: bool) -> str:
        if not by_class:
            return self.caller.ask("POST", "/v1/tools/memory", {"input": given}).body.decode()
        from anthropic.lib.tools import ToolError

        try:
            return str(self.tool.call(given))
        except ToolError as error:
            return str(error)


class ProxyDoor:
    """A proxy with the token: requests for summaries of recorded and other sessions, and other requests."""

    def __init__(self, place: Place, proxy: ProxyServer) -> None:
        self.place, self.proxy = place, proxy

    def call(self, chance: random.Random) -> Heard:
        said = self.place.said(chance)
        messages = [
            {"role": "user", "content": f"Please look: {said}"},
            {"role": "assistant", "content": f"I have looked, {said}. Next: paint the boat."},
        ]
        if chance.random() < 0.7:
            messages.append({"role": "user", "content": ASKED})
        session = LiveSession(self.place.scratch, self.place.project, 10 * self.place.number + chance.randrange(2)).id
        return Heard("compaction", self._ask(messages, f"X-Claude-Code-Session-Id: {session}"))

    def proof(self, chance: random.Random) -> bool:
        said = [{"role": "user", "content": self.place.said(chance)}, {"role": "assistant", "content": "It is."}]
        return self.place.word in self._ask([*said, {"role": "user", "content": ASKED}])

    def _ask(self, messages: list[dict[str, Any]], *headers: str) -> str:
        body = {"model": MODEL, "max_tokens": 9, "messages": messages}
        with connected(self.proxy) as send:
            answer = read_message(send("POST", "/v1/messages", json.dumps(body).encode(), *headers))
        assert answer is not None
        return body_of(answer).decode()


class SessionDoor:
    """`client.session` with a model that calls `recall`: the text is what the model is sent."""

    def __init__(self, place: Place, client: Client, models: anthropic.Anthropic, api: ScriptedApi) -> None:
        self.place, self.client, self.models, self.api = place, client, models, api
        self.turns = 0

    def call(self, chance: random.Random) -> Heard:
        thread = f"agent-{self.place.number}-{self.turns // TURNS}"
        if self.turns % TURNS == 0:
            self.client.create_thread(id=thread, project=str(self.place.project), agent="harbourmaster")
        self.turns += 1
        query = {"query": "which boat is at which pier", "minScore": 0}
        use = {"type": "tool_use", "id": f"toolu_{self.turns}", "name": "recall", "input": query}
        told = {"type": "text", "text": "Noted."}
        self.api.replies = [("tool_use", [use])] if chance.random() < 0.3 else []
        self.api.replies.append(("end_turn", [told]))
        self.api.requests.clear()
        self.client.session(thread, self.models, model=MODEL).send(self.place.said(chance))
        return Heard("send", json.dumps(self.api.requests, ensure_ascii=False))

    def proof(self, chance: random.Random) -> bool:
        return self.place.word in self.call(chance).text


class AdapterDoor:
    """The session store for the Claude Agent SDK, the adapter that needs no framework."""

    def __init__(self, place: Place, loop: asyncio.Runner, store: SessionStore) -> None:
        self.place, self.loop, self.store = place, loop, store
        self.lines = 0

    def call(self, chance: random.Random) -> Heard:
        key: Any = {"project_key": self.place.project.name, "session_id": f"s{self.lines // TURNS}"}
        if chance.random() < 0.5:
            self.lines += 1
            said = {"role": "user", "content": self.place.said(chance)}
            at = "2026-11-02T10:00:00.000Z"
            line: Any = {"type": "user", "uuid": f"u{self.lines}", "timestamp": at, "message": said}
            self.loop.run(self.store.append(key, [line | {"cwd": str(self.place.project)}]))
        lines = self.loop.run(self.store.load(key))
        found = self.loop.run(self.store.list_sessions(self.place.project.name)) if chance.random() < 0.2 else []
        return Heard("load", json.dumps([lines, found], ensure_ascii=False))

    def proof(self, chance: random.Random) -> bool:
        return any(self.place.word in self.call(chance).text for _ in range(20))


CALLS = count(240, 100_000)
SPACES = {"blue": "skywatch", "red": "rosegarth"}
"""The word of each person, which is in what belongs to no project."""
WORDS = {("blue", 1): "amberwick", ("blue", 2): "tallowmere", ("red", 1): "violetmoor", ("red", 2): "copperfell"}
"""The word of each project of each space."""
FOLDERS = {1: "harbour", 2: "quarry"}
WEIGHTS = {
    "mcp": 30,
    "bridge": 12,
    "hooks": 22,
    "memory tool": 18,
    "proxy": 4,
    "client.session": 6,
    "adapter": 8,
}


def check(place: Place, heard: Heard) -> None:
    """Assert that an answer has no word of another space, nor of another project unless it is of the whole space."""
    own = {word for (space, _), word in WORDS.items() if space == place.space} if heard.of_space else {place.word}
    for word in {*WORDS.values(), *SPACES.values()} - own - {place.own}:
        assert word not in heard.text, (place.space, place.project.name, heard.call, word, heard.text[:3_000])


def test_nothing_crosses(tmp_path: Path) -> None:
    """Random calls of four agents at the same time; then each door shows what was written through it."""
    port = free_port()
    counted: Counter[str] = Counter()
    with running_daemon(REVERIE_DAEMON_TCP=f"127.0.0.1:{port}") as daemon, ModelServer() as models:
        places = []
        with Client(daemon.socket) as owner:
            for name in FOLDERS.values():
                (tmp_path / name).mkdir()
            for space, own in SPACES.items():
                owner.create_space(space)
                token = str(owner.create_token(space).token)
                for number, name in FOLDERS.items():
                    word = WORDS[space, number]
                    places.append(Place(space, token, tmp_path / name, word, own, number, daemon.home))
        begun = threading.Barrier(len(places))

        def run(place: Place) -> Counter[str]:
            chance, done = random.Random(f"{place.space} {place.number}"), Counter[str]()
            with all_doors(daemon, port, models, place) as doors:
                begun.wait()
                for turn in range(CALLS // len(places)):
                    names = list(doors)
                    name = names[turn % len(names)] if turn < 2 * len(names) else _chosen(chance)
                    check(place, doors[name].call(chance))
                    done[name] += 1
                for name, door in doors.items():
                    wait_until(partial(door.proof, chance), f"what was written, through {name}")
            return done

        with ThreadPoolExecutor(len(places)) as pool:
            for each in [pool.submit(run, place) for place in places]:
                counted += each.result()
        assert "Traceback" not in daemon.log_text()
    assert counted.total() == CALLS // len(places) * len(places)
    assert set(counted) == set(WEIGHTS)


def _chosen(chance: random.Random) -> str:
    return chance.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
