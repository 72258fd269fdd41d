"""`search`, `read_thread` and `remember` as an agent calls them: over the real bridge, before a real daemon."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from reverie import tokenizer, wire
from reverie.client import Client
from reveried.cli.send_sessions import import_file
from support.daemon import Daemon, running_daemon
from support.mcp_bridge import BridgeProcess, bridge
from support.story import Story, ToolCall, text

ASKED = "Why does the crane stop at noon?"
CAUSE = "The crane stops at noon because the tide sensor is read as a lock."
HIT = re.compile(
    r"^\d+\. (?P<who>[\w ]+), (?P<when>[\d :-]{16}), thread (?P<thread>\S+)(?P<here> \(this session\))?,"
    r" message (?P<seq>\d+): (?P<text>.*)$",
    re.MULTILINE,
)


class Harbour:
    """A daemon with sessions of two projects, and an agent in the folder of the first one."""

    def __init__(self, daemon: Daemon, client: Client, agent: BridgeProcess, folder: Path) -> None:
        self.daemon, self.client, self.agent, self.folder = daemon, client, agent, folder

    def session(self, number: int, folder: Path, *, said: str = CAUSE) -> Story:
        """Import a session in which the person asks, the agent calls a tool and then says something."""
        writer = Story(number, str(folder))
        writer.user(ASKED)
        writer.tools(ToolCall("Bash", {"command": "tail crane.log"}, "12:00 halt lock=tide"))
        writer.reply(text(said))
        writer.user("Thanks, now paint the fence.")
        path = self.folder.parent / f"{writer.session}.jsonl"
        path.write_bytes(writer.bytes())
        import_file(self.client, path, program="claude-code")
        return writer

    def call(self, tool: str, session: str | None = None, **arguments: object) -> str:
        """Return the text of a tool call that succeeds; `session` is the client's own id of its session."""
        text, is_error = self.agent.call(tool, arguments, None if session is None else {"threadId": session})
        assert not is_error, text
        return text


@pytest.fixture
def harbour(tmp_path: Path) -> Iterator[Harbour]:
    with _opened(tmp_path) as opened:
        yield opened


@contextmanager
def _opened(tmp_path: Path) -> Iterator[Harbour]:
    folder = tmp_path / "harbour"
    folder.mkdir()
    with running_daemon() as daemon, Client(daemon.socket) as client, bridge(daemon.env, folder) as agent:
        agent.open()
        yield Harbour(daemon, client, agent, folder)


def test_what_was_said_is_found_and_read_on(harbour: Harbour) -> None:
    """A hit names who, when, thread and message, with passage and neighbours; the thread is read around it, paged."""
    harbour.session(1, harbour.folder)
    harbour.client.remember(wire.CreateMemory("The crane's tide sensor was replaced in March."))
    found = harbour.call("search", query="crane stops at noon tide sensor")
    hits = list(HIT.finditer(found))
    cause = next(hit for hit in hits if CAUSE in hit["text"])
    assert (cause["who"], cause["when"][:10], cause["here"]) == ("agent", "2026-02-04", None)
    assert "   before, tool result: 12:00 halt lock=tide" in found
    assert "   after, person: Thanks, now paint the fence." in found
    assert "person" in {hit["who"] for hit in hits}
    assert re.search(r"memory \(fact\), \d{4}-\d\d-\d\d, facts/\S+: The crane's tide sensor was replaced", found)

    page = harbour.call("read_thread", thread=cause["thread"], around=int(cause["seq"]), limit=3)
    assert f"[{cause['seq']}] agent, {cause['when']}:\n{CAUSE}" in page
    assert "<- 12:00 halt lock=tide" in page
    read: list[int] = []
    around = 1
    for _ in range(9):
        page = harbour.call("read_thread", thread=cause["thread"], around=around, limit=2)
        read += [int(seq) for seq in re.findall(r"^\[(\d+)\]", page, re.MULTILINE)]
        later = re.search(r"later: around (\d+)", page)
        if later is None:
            break
        around = int(later[1])
    assert read == sorted(set(read))  # each message once
    assert "this is its end" in page
    assert len(read) == len(harbour.client.messages(cause["thread"], limit=100).items)


def test_an_agent_searches_its_project(harbour: Harbour, tmp_path: Path) -> None:
    """Without `project` only this project's messages and the person's memories; "all" has the other's, too."""
    harbour.session(1, harbour.folder)
    harbour.session(2, tmp_path / "orchard", said="The crane of the orchard stops at noon for lunch.")
    asked = "why does the crane stop at noon"
    assert "lunch" not in harbour.call("search", query=asked)
    assert "lunch" in harbour.call("search", query=asked, project="all")
    only = harbour.call("search", query=asked, project="orchard")
    assert "lunch" in only
    assert CAUSE not in only
    text, is_error = harbour.agent.call("search", {"query": asked, "project": "nowhere"})
    assert is_error
    assert '"all"' in text


def test_its_own_session_is_marked(harbour: Harbour) -> None:
    """Hits of the session that the agent is in say so."""
    writer = harbour.session(1, harbour.folder)
    body = {"client": "claude-code", "session": writer.session, "project": str(harbour.folder), "source": "resume"}
    assert harbour.daemon.ask("POST", "/v1/sessions", body).status in (200, 201)
    found = harbour.call("search", writer.session, query="crane stops at noon")
    assert all(hit["here"] for hit in HIT.finditer(found))
    assert HIT.search(found)


def test_where_nothing_answers_one_line_says_what_to_try(harbour: Harbour) -> None:
    """No hits, or none in the time given: one line; a time that is none is an error that says how to write it."""
    harbour.session(1, harbour.folder)
    for given in ({"query": "sourdough hydration"}, {"query": "crane noon", "since": "2031-01-01"}):
        line = harbour.call("search", **given)
        assert line.startswith("Nothing in harbour answers this. Try ")
        assert "\n" not in line
        assert ("without since" in line) == ("since" in given)
    text, is_error = harbour.agent.call("search", {"query": "crane", "since": "last week"})
    assert is_error
    assert "2026-11-21" in text


@pytest.mark.parametrize("limit", [1, 3, 10, 20])
def test_texts_are_within_their_tokens(harbour: Harbour, limit: int) -> None:
    """Hits of long messages have at most 150 tokens each on average, messages of `read_thread` some 4,000 together."""
    thread = harbour.client.create_thread(project=str(harbour.folder)).id
    for number in range(2 * limit):
        words = " ".join(f"crane{number} ölfaß 起重机 {n}" for n in range(900))
        harbour.client.append(thread, [{"role": ("user", "assistant")[number % 2], "content": f"The crane: {words}"}])
    found = harbour.call("search", query="the crane", limit=limit)
    assert len(HIT.findall(found)) == limit
    assert tokenizer.count(found) <= 150 * limit
    page = harbour.call("read_thread", thread=thread, limit=limit)
    assert 2_500 < tokenizer.count(page) <= 4_000 + 60 * limit


def test_what_was_forgotten_is_neither_shown_nor_kept_again(harbour: Harbour) -> None:
    """After `forget` no hit and no page says it, and `remember` waits in review; a purge leaves nothing."""
    habit = "The harbour master sleeps until eleven every morning."
    harbour.session(1, harbour.folder, said=habit)
    memory = harbour.client.remember(wire.CreateMemory(habit, author="person"))
    asked = "when does the harbour master sleep"
    assert habit in harbour.call("search", query=asked)
    harbour.client.forget(memory.id)
    found = harbour.call("search", query=asked)
    assert habit not in found
    thread = harbour.client.threads(limit=1).items[0].id
    assert habit not in harbour.call("read_thread", thread=thread)
    text, is_error = harbour.agent.call("remember", {"fact": habit})
    assert is_error
    assert "forgot" in text
    assert habit in str(harbour.client.candidates().items)
    harbour.client.delete_thread(thread, confirm=thread, purge=True)
    assert HIT.search(harbour.call("search", query="crane stops at noon")) is None


def test_a_fact_is_kept_as_an_agents(harbour: Harbour) -> None:
    """`remember` writes one memory of the project with an agent's trust, redacted; "all" is for every project."""
    key = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    first = harbour.call("remember", fact=f"Deploys of the crane use {key}.", type="procedure")
    assert "a procedure of harbour" in first
    again = harbour.call("remember", fact=f"Deploys of the crane use {key}.", type="procedure")
    assert again.startswith("Known already")
    everywhere = harbour.call("remember", fact="The user wants short answers.", type="preference", project="all")
    assert "for every project" in everywhere
    deploy, wish = sorted(harbour.client.memories().items, key=lambda memory: memory.content)
    assert key not in deploy.content
    assert (deploy.project, deploy.trust, wish.project, wish.trust) == ("harbour", "agent", None, "agent")


def test_memories_of_a_time_are_found_among_better_ones_and_alone_count(harbour: Harbour) -> None:
    """Memories outside of `since` and `before` take no place of the limit, and count no access."""
    for number in range(4):
        harbour.client.remember(wire.CreateMemory(f"The crane's tide sensor {number} is a tide sensor."))
    early = harbour.client.memories().items
    late = harbour.client.remember(wire.CreateMemory("Of the crane, once more: its long and rusty boom has no sensor."))
    found = harbour.call("search", query="crane tide sensor", limit=2, since=late.updated_at)
    assert "rusty boom" in found
    counts = [harbour.client.memory(memory.id).access_count for memory in (*early, late)]
    assert counts == [0, 0, 0, 0, 1]
