"""Sessions of both clients: turns with the real `anthropic` client, a real daemon, and tools."""

from __future__ import annotations

import asyncio
import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import anthropic
import pytest

from reverie.api.endpoint import Call
from reverie.client import AsyncClient, Client
from reverie.client import session as session_module
from reverie.client.memory_tool import AsyncMemoryTool, MemoryTool
from reverie.client.session import Turn
from reverie.errors import DaemonNotRunning, NotFound, TooLarge, ValidationError
from support.daemon import Daemon
from support.messages_api import MODEL, ScriptedApi, api_client, async_connected, connected, serving
from support.soak import count

T = TypeVar("T")
README = Path(__file__).resolve().parents[2] / "README.md"
TEXT = {"type": "text", "text": "Done."}


def call(name: str, number: int = 1, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": given}


def weather(city: str) -> str:
    """Return the weather of a city.

    Args:
        city: The city's name.
    """
    return f"rain in {city}"


def broken(city: str) -> str:
    """Raise OSError, as a tool that fails."""
    raise OSError(f"no station in {city}")


@dataclass
class Sessions:
    """A daemon and a scripted model; `ask` is one turn with the blocking or the asyncio client."""

    daemon: Daemon
    api: ScriptedApi
    socket: Path
    ask: Callable[..., Turn]

    def thread(self) -> str:
        with Client(self.daemon.socket) as client:
            return client.create_thread(agent="tester").id

    def said(self, thread: str) -> list[tuple[str, Any]]:
        """Return role and content of every stored message."""
        with Client(self.daemon.socket) as client:
            return [(message.role, message.content) for message in client.messages(thread).items]


@pytest.fixture(params=["blocking", "asyncio"])
def sessions(request: pytest.FixtureRequest, daemon: Daemon, tmp_path: Path) -> Iterator[Sessions]:
    """Yield a daemon, a scripted API and a function for one turn, once for the blocking client, once for asyncio."""
    api, socket = ScriptedApi(), tmp_path / "api"

    def blocking(thread: str, content: Any, **options: Any) -> Turn:
        with connected(socket) as models, Client(daemon.socket) as client:
            return client.session(thread, models, model=MODEL, **options).send(content)

    def awaited(thread: str, content: Any, **options: Any) -> Turn:
        async def run() -> Turn:
            async with async_connected(socket) as models, AsyncClient(daemon.socket) as client:
                return await client.session(thread, models, model=MODEL, **options).send(content)

        return asyncio.run(run())

    with serving(socket, api):
        yield Sessions(daemon, api, socket, blocking if request.param == "blocking" else awaited)


def test_a_turn_without_tools(sessions: Sessions) -> None:
    """Both sides are appended, and the request is the context with the caller's system prompt and fields."""
    thread = sessions.thread()
    sessions.api.replies = [("end_turn", [TEXT])]
    options = {"thinking": {"type": "adaptive"}, "betas": ["another-beta"]}

    turn = sessions.ask(thread, "Please fix the parser.", system="You are careful.", max_tokens=99, request=options)

    assert (turn.text, turn.stop_reason, turn.requests) == ("Done.", "end_turn", 1)
    assert sessions.said(thread) == [("user", "Please fix the parser."), ("assistant", [TEXT])]
    sent = sessions.api.requests[-1]
    assert sent["system"][0] == {"type": "text", "text": "You are careful."}
    assert (sent["max_tokens"], sent["thinking"]) == (99, {"type": "adaptive"})
    assert {"note", "search", "memory_write"} <= {tool["name"] for tool in sent["tools"]}


def test_the_loop_runs_functions_and_own_tools(sessions: Sessions) -> None:
    """A turn runs functions and Reverie's tools; results, errors and unknown tools are in the next request."""
    thread = sessions.thread()
    thought = {"type": "thinking", "thinking": "hm", "signature": "abc"}
    calls = [
        call("weather", 1, city="Oslo"),
        call("broken", 2, city="Rome"),
        call("absent", 3),
        call("note", 4, content="Oslo is wet", category="task"),
        call("weather", 5, town="Oslo"),
    ]
    sessions.api.replies = [("tool_use", [thought, *calls]), ("end_turn", [TEXT])]

    turn = sessions.ask(thread, "How is Oslo?", tools=[weather, broken])

    assert (turn.text, turn.requests) == ("Done.", 2)
    _, said, (_, results), _ = sessions.said(thread)
    assert said == ("assistant", [thought, *calls])
    assert [result["tool_use_id"] for result in results] == [f"toolu_{number}" for number in range(1, 6)]
    assert [result.get("is_error", False) for result in results] == [False, True, True, False, True]
    assert results[0]["content"] == "rain in Oslo"
    assert results[1]["content"] == "OSError: no station in Rome"
    assert "absent" in results[2]["content"]
    assert "town" in results[4]["content"]
    with Client(sessions.daemon.socket) as client:
        assert "Oslo is wet" in [note.content for note in client.notes(thread).items]
    assert sessions.api.requests[-1]["messages"][1]["content"][0] == thought


def test_a_turn_ends_at_its_limit_and_goes_on(sessions: Sessions) -> None:
    """A turn ends at `max_requests` with the last results stored; `send` without content continues it."""
    thread = sessions.thread()
    sessions.api.replies = [("tool_use", [call("weather", number, city="Oslo")]) for number in range(1, 4)]

    turn = sessions.ask(thread, "How is Oslo?", tools=[weather], max_requests=3)
    assert (turn.stop_reason, turn.requests) == ("tool_use", 3)
    assert sessions.said(thread)[-1][1][0]["content"] == "rain in Oslo"

    sessions.api.replies = [("end_turn", [TEXT])]
    assert sessions.ask(thread, None, tools=[weather]).text == "Done."
    assert [role for role, _ in sessions.said(thread)] == ["user", *["assistant", "user"] * 3, "assistant"]


@pytest.mark.parametrize(("reason", "requests"), [("max_tokens", 1), ("refusal", 1), ("pause_turn", 2)])
def test_other_stop_reasons(sessions: Sessions, reason: str, requests: int) -> None:
    """A reply cut off or refused ends the turn and is stored; a paused one is continued by another request."""
    thread = sessions.thread()
    part = {"type": "text", "text": "First"}
    sessions.api.replies = [(reason, [part]), ("end_turn", [TEXT])]

    turn = sessions.ask(thread, "Go.")

    assert turn.requests == requests
    assert turn.stop_reason == ("end_turn" if requests == 2 else reason)
    assert ("assistant", [part]) in sessions.said(thread)[:2] or requests == 2


def test_a_call_that_was_cut_off_is_not_run(sessions: Sessions) -> None:
    """A call in a reply cut off at `max_tokens` is not run: it gets an error result, and the turn ends."""
    thread = sessions.thread()
    ran: list[str] = []

    def delete(path: str) -> str:
        """Delete a file."""
        ran.append(path)
        return "deleted"

    sessions.api.replies = [("max_tokens", [call("delete", path="/")])]

    turn = sessions.ask(thread, "Clean up.", tools=[delete])

    assert (turn.stop_reason, ran) == ("max_tokens", [])
    result = sessions.said(thread)[-1][1][0]
    assert result["is_error"]
    assert "max_tokens" in result["content"]


def test_an_empty_reply_is_no_message(sessions: Sessions) -> None:
    """A refusal without content ends the turn, and no assistant message is stored."""
    thread = sessions.thread()
    sessions.api.replies = [("refusal", [])]

    assert sessions.ask(thread, "Go.").text == ""
    assert sessions.said(thread) == [("user", "Go.")]


def test_an_error_of_the_api_keeps_what_was_said(sessions: Sessions) -> None:
    """An API error is raised as `anthropic.APIStatusError`; stored messages stay, and the next `send` continues."""
    thread = sessions.thread()
    sessions.api.replies = [("tool_use", [call("weather", city="Oslo")]), 529]

    with pytest.raises(anthropic.APIStatusError) as caught:
        sessions.ask(thread, "How is Oslo?", tools=[weather])

    assert caught.value.status_code == 529
    assert [role for role, _ in sessions.said(thread)] == ["user", "assistant", "user"]
    sessions.api.replies = [("end_turn", [TEXT])]
    assert sessions.ask(thread, None).text == "Done."
    assert [role for role, _ in sessions.said(thread)] == ["user", "assistant", "user", "assistant"]


def test_an_interrupted_tool_leaves_no_open_call(sessions: Sessions) -> None:
    """An interruption in a tool is raised; that call and those after it get error results, earlier ones their own."""
    thread = sessions.thread()

    def interrupted() -> str:
        """Wait for long."""
        raise KeyboardInterrupt

    calls = [call("weather", 1, city="Oslo"), call("interrupted", 2), call("weather", 3, city="Rome")]
    sessions.api.replies = [("tool_use", calls)]

    with pytest.raises(KeyboardInterrupt):
        sessions.ask(thread, "Go.", tools=[weather, interrupted])

    results = sessions.said(thread)[-1][1]
    assert [result.get("is_error", False) for result in results] == [False, True, True]
    assert "interrupted" in results[2]["content"]


def test_a_thread_stays_valid_over_many_turns(daemon: Daemon, tmp_path: Path) -> None:
    """Every request of a thread with tools is one that the API accepts, through distillations."""
    turns = count(16, 120)
    report = "pump 7 opened its valve, pressure 4.1 bar, nothing unusual\n" * 25
    asked = [("tool_use", [call("weather", number, city=report)]) for number in range(turns)]
    api = ScriptedApi(replies=[reply for one in asked for reply in (one, ("end_turn", [TEXT]))])
    with api_client(tmp_path / "s", api) as models, Client(daemon.socket) as client:
        thread = client.create_thread(context_window=8_000, model=MODEL).id
        session = client.session(thread, models, model=MODEL, tools=[weather], own_tools=False)

        for number in range(turns):
            assert session.send(f"Look at pump {number}.").text == "Done."

        assert client.thread(thread).distillations > 0
        assert client.thread(thread).message_count == 4 * turns


def test_tools_of_the_package_and_of_the_api() -> None:
    """A session takes MemoryTool, `beta_tool` functions and server tools; anything else is refused with a reason."""
    web = {"type": "web_search_20250305", "name": "web_search"}

    async def later(city: str) -> str:
        """Return the weather, later."""
        return city

    client = Client(Path("/nowhere"))
    tools: list[Any] = [MemoryTool(client), anthropic.beta_tool(weather), web]
    session = client.session("t", model=MODEL, tools=tools, own_tools=False)
    names = [tool["name"] for tool in session._loop._toolbox.definitions]
    assert names == ["memory", "weather", "web_search"]
    refused: list[tuple[list[Any], str]] = [([weather, weather], "two"), ([later], "asynchronous"), ([3], "no tool")]
    for wrong, why in refused:
        with pytest.raises(ValidationError, match=why):
            client.session("t", model=MODEL, tools=wrong)
    with pytest.raises(ValidationError, match="asynchronous"):
        client.session("t", model=MODEL, tools=[AsyncMemoryTool(AsyncClient(Path("/nowhere")))])
    with pytest.raises(ValidationError, match="max_requests"):
        client.session("t", model=MODEL, max_requests=0)
    with pytest.raises(ValidationError, match="messages"):
        client.session("t", model=MODEL, request={"messages": []})


def test_asynchronous_tools(daemon: Daemon, tmp_path: Path) -> None:
    """An asyncio session runs async and plain functions; a cancelled one leaves no call without a result."""
    api = ScriptedApi(replies=[("tool_use", [call("later", 1, city="Oslo"), call("weather", 2, city="Rome")])])
    api.replies += [("end_turn", [TEXT]), ("tool_use", [call("forever", 3)])]
    begun = asyncio.Event()

    async def later(city: str) -> str:
        """Return the weather, later."""
        await asyncio.sleep(0)
        return f"sun in {city}"

    async def forever() -> str:
        """Never return."""
        begun.set()
        await asyncio.Event().wait()
        return ""

    async def run() -> list[Any]:
        async with async_connected(tmp_path / "s") as models, AsyncClient(daemon.socket) as client:
            thread = (await client.create_thread()).id
            session = client.session(thread, models, model=MODEL, tools=[later, weather, forever])
            assert (await session.send("How is Oslo?")).text == "Done."
            task = asyncio.create_task(session.send("Wait."))
            await begun.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return [message.content for message in (await client.messages(thread)).items]

    with serving(tmp_path / "s", api):
        said = asyncio.run(run())
    assert [result["content"] for result in said[2]] == ["sun in Oslo", "rain in Rome"]
    assert said[-1][0]["is_error"]


class LeavingApi(ScriptedApi):
    """A model server that moves the daemon's socket away before it answers."""

    client: Client

    def answer(self, body: dict[str, Any], betas: list[str]) -> tuple[int, dict[str, Any]]:
        self.client.close()
        self.client.socket_path.rename(self.client.socket_path.with_name("away"))
        return super().answer(body, betas)


def test_a_reply_is_kept_while_the_daemon_is_away(daemon: Daemon, tmp_path: Path) -> None:
    """A reply that the daemon could not take is appended by the next step, once and in its place."""
    api = LeavingApi(replies=[("end_turn", [TEXT])])
    with api_client(tmp_path / "s", api) as models, Client(daemon.socket) as api.client:
        thread = api.client.create_thread().id
        session = api.client.session(thread, models, model=MODEL, own_tools=False)

        with pytest.raises(DaemonNotRunning):
            session.send("Are you there?")
        assert session.unsaved == 1
        daemon.socket.with_name("away").rename(daemon.socket)
        session.append([{"role": "user", "content": "Good."}])

        assert session.unsaved == 0
        assert [one.content for one in api.client.messages(thread).items] == ["Are you there?", [TEXT], "Good."]


class LosingClient(Client):
    """A client that loses the daemon's answer to the next call, which the daemon has carried out."""

    loses = False

    def send(self, call: Call[T]) -> T:
        answer = super().send(call)
        if self.loses:
            self.loses = False
            raise DaemonNotRunning("the daemon closed the connection before it answered")
        return answer


@pytest.mark.parametrize("again", ["the same", "nothing", "another"])
def test_what_a_person_said_is_stored_once(daemon: Daemon, tmp_path: Path, again: str) -> None:
    """A message whose answer was lost waits in `unsaved`; sent again, gone on from or followed by another it is one."""
    api = ScriptedApi(replies=[("end_turn", [TEXT])])
    with api_client(tmp_path / "s", api) as models, LosingClient(daemon.socket) as client:
        thread = client.create_thread().id
        session = client.session(thread, models, model=MODEL, own_tools=False)
        client.loses = True
        with pytest.raises(DaemonNotRunning):
            session.send("Deploy it.")
        assert session.unsaved == 1

        session.send({"the same": "Deploy it.", "nothing": None, "another": "Now."}[again])

        said = [message.content for message in client.messages(thread).items]
        assert said == ["Deploy it.", *(["Now."] if again == "another" else []), [TEXT]]


def test_what_is_refused_does_not_wait(daemon: Daemon) -> None:
    """A message that the daemon refuses for good is raised once, and the next step does not send it again."""
    with Client(daemon.socket) as client:
        session = client.session(client.create_thread().id, model=MODEL, own_tools=False)
        for content, why in (("a" * 33 * 1024 * 1024, TooLarge), ([{"type": "text"}], ValidationError)):
            with pytest.raises(why):
                session.send(content)
            assert session.unsaved == 0
        session.append([{"role": "user", "content": "Good."}])
        with pytest.raises(NotFound):
            client.session("none", model=MODEL).append([{"role": "user", "content": "Good."}])


def test_appends_at_once_get_their_own_answers(daemon: Daemon) -> None:
    """Each of several appends of one session that run at the same time is stored once and answered by its own."""

    async def main() -> None:
        async with AsyncClient(daemon.socket) as client:
            thread = (await client.create_thread()).id
            session = client.session(thread, model=MODEL, own_tools=False)
            words = [f"word {number}" for number in range(6)]
            answers = await asyncio.gather(*(session.append([{"role": "user", "content": word}]) for word in words))
            stored = [message.content for message in (await client.messages(thread)).items]
            assert sorted(map(str, stored)) == words
            assert sorted(answer.last_seq for answer in answers) == list(range(1, 7))

    asyncio.run(main())


def file_names(kind: str) -> Any:
    """Return file names that cannot be stored: no Unicode, as text or blocks, or too large; or a fine one.

    Args:
        kind: What is wrong with them.
    """
    blocks = [{"type": "text", "text": "\udcff.md"}]
    return {"text": "\udcff.md", "blocks": blocks, "large": "a" * 3_000, "fine": "b.md"}[kind]


@pytest.mark.parametrize(
    ("kind", "result"),
    [
        ("text", r"\\udcff\.md"),
        ("blocks", "the result cannot be kept: .*surrogates"),
        ("large", "the result cannot be kept: .*bytes are more than"),
    ],
)
def test_a_result_that_cannot_be_kept(
    sessions: Sessions, kind: str, result: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tool result that cannot be stored is replaced by a text that says why; the turn continues and ends."""
    monkeypatch.setattr(session_module, "RESULTS_MAX", 2_000)
    thread = sessions.thread()
    calls = [call("file_names", 1, kind=kind), call("file_names", 2, kind="fine")]
    sessions.api.replies = [("tool_use", calls), ("end_turn", [TEXT])]

    turn = sessions.ask(thread, "Which files?", tools=[file_names], own_tools=False)

    assert (turn.text, turn.requests) == ("Done.", 2)
    (_, results) = sessions.said(thread)[2]
    assert [one["tool_use_id"] for one in results] == ["toolu_1", "toolu_2"]
    assert re.match(result, results[0]["content"])


def test_a_text_that_is_not_unicode_is_refused(sessions: Sessions) -> None:
    """A message with half a surrogate pair is refused with ValidationError."""
    with pytest.raises(ValidationError, match="surrogates"):
        sessions.ask(sessions.thread(), "\ud800")


def test_the_example_of_the_readme(daemon: Daemon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The README's example of a session runs as it is printed."""
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    example = next(block for block in blocks if "reverie.session(" in block)
    api = ScriptedApi(replies=[("tool_use", [call("read_file", path=str(README))]), ("end_turn", [TEXT])])
    monkeypatch.setenv("REVERIE_HOME", str(daemon.home))
    with api_client(tmp_path / "s", api) as models:
        monkeypatch.setattr(anthropic, "Anthropic", lambda: models)
        exec(compile(textwrap.dedent(example), str(README), "exec"), {})  # noqa: S102 - it is the repository's own

    assert [len(request["messages"]) for request in api.requests] == [1, 3]
    assert api.requests[1]["messages"][2]["content"][0]["content"] == README.read_text()
