"""A session of an agent: a thread, the client of a model, and tools; `send` is one turn of the agent.

    from reverie.client import Client

    with Client() as reverie:
        session = reverie.session(thread, anthropic.Anthropic(), model="…", tools=[read_file])
        print(session.send("Please fix the parser.").text)

Both sides are appended word for word as soon as they are said, so that whatever fails later, the thread has them.
`Loop` is the body of both faces, without I/O of its own, as `core` is of the clients.
"""

from __future__ import annotations

import inspect
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, TypeVar

from reverie.api.contexts import Contexts
from reverie.api.threads import Threads
from reverie.api.tools import Tools
from reverie.client.connection import run_to_end
from reverie.client.optional import load
from reverie.client.session_tools import Toolbox, failure, result_block
from reverie.errors import NotFound, TooLarge, ValidationError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Unpack

    from reverie import wire
    from reverie.api.endpoint import Awaiting, Blocking, Call
    from reverie.client.session_tools import RunnableTool, Tool

T = TypeVar("T")
Content = str | list[dict[str, Any]]
"""What a person says: a text, or content blocks in Anthropic form."""

REQUESTS_MAX = 25  # of one turn: an agent that calls tools for longer is asked to go on by the next `send`
MAX_TOKENS = 8192  # of one reply
RESULTS_MAX = 24 * 1024 * 1024  # bytes of the results of one reply's calls


class SessionOptions(TypedDict, total=False):
    """The options of a session, all of which may be left out.

    `tools` are functions, tools of the `anthropic` package and definitions that the API runs; `own_tools` (True) offers
    Reverie's too, such as `note` and `recall`. `system` comes before what Reverie puts into the system prompt.
    `max_tokens` are those of one reply (8192), `max_requests` the requests of one turn (25). `request` has further
    fields of every request, such as `thinking` or `betas`.
    """

    max_tokens: int
    max_requests: int
    tools: Sequence[Tool]
    own_tools: bool
    system: str | None
    request: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a session, checked."""

    model: str
    max_tokens: int
    max_requests: int
    own_tools: bool
    system: str | None
    request: Mapping[str, Any]

    def __post_init__(self) -> None:
        """Refuse a session that could send nothing, and fields that the session sets itself."""
        if self.max_requests < 1:
            raise ValidationError("max_requests must be 1 or more", hint="leave it out for 25", field="max_requests")
        for name in ("messages", "stream", "tools", "system"):
            if name in self.request:
                raise ValidationError(
                    f"a session sets {name!r} of a request itself", hint="give `tools=` and `system=` to the session"
                )


@dataclass(frozen=True, slots=True)
class Turn:
    """The result of one turn: the text of the last reply, why it ended, and how many requests were sent.

    `stop_reason` is the API's. It is `tool_use` where the turn ended at `max_requests`: the results of the tools are in
    the thread, and `send()` goes on. `message` is the last reply as the `anthropic` package returned it.
    """

    text: str
    stop_reason: str | None
    requests: int
    message: Any


class Face(Protocol):
    """The interface by which a session sends calls, asks the model and runs tools, blocking or with asyncio."""

    async def send(self, call: Call[T]) -> T:
        """Send one call to the daemon and return its answer."""

    async def ask(self, request: dict[str, Any]) -> Any:
        """Send a request to the model and return its reply, a `BetaMessage`."""

    async def run(self, tool: RunnableTool, given: dict[str, Any]) -> Any:
        """Run a tool with a model's input and return what it returns."""


class Loop:
    """A session without I/O. `unsaved` are appends that the daemon has not answered; the next step sends them first."""

    def __init__(self, face: Face, thread_id: str, settings: Settings, toolbox: Toolbox) -> None:
        self.unsaved: list[Call[wire.Appended]] = []
        self._face = face
        self._thread = thread_id
        self._settings = settings
        self._toolbox = toolbox
        self._tools: tuple[list[dict[str, Any]], frozenset[str]] | None = None

    async def append(self, messages: Sequence[dict[str, Any]]) -> wire.Appended:
        """Append messages without asking the model."""
        return await self._keep(messages)

    async def assemble(self, query: str | None) -> dict[str, Any]:
        """Return the next request as `send` would send it."""
        await self._save()
        context = await self._face.send(Contexts.context.call(self._thread, query=query))
        fragment = {name: context.request[name] for name in context.request.keys()}  # noqa: SIM118 - a struct
        settings = self._settings
        if settings.system is not None:
            fragment["system"] = [{"type": "text", "text": settings.system}, *fragment["system"]]
        betas = [*fragment["betas"], *settings.request.get("betas", ())]
        request = {"model": settings.model, "max_tokens": settings.max_tokens, **settings.request, **fragment}
        definitions, _ = await self._offered()
        return {**request, "betas": list(dict.fromkeys(betas)), **({"tools": definitions} if definitions else {})}

    async def send(self, content: Content | None, query: str | None) -> Turn:
        """Say something (None: go on) and return the agent's turn; see `Session.send`."""
        if content is not None:
            await self.append([{"role": "user", "content": content}])
        number = 0
        while True:
            number += 1
            message = await self._face.ask(await self.assemble(query))
            await self._keep_reply(message)
            goes_on = await self._answer_calls(message) or message.stop_reason == "pause_turn"
            if not goes_on or number == self._settings.max_requests:
                text = "".join(block.text for block in message.content if block.type == "text")
                return Turn(text, message.stop_reason, number, message)

    async def _offered(self) -> tuple[list[dict[str, Any]], frozenset[str]]:
        """Return the definitions of all tools, and the names of those that the daemon runs."""
        if self._tools is None:
            own = (await self._face.send(Tools.tools.call())).items if self._settings.own_tools else []
            self._tools = self._toolbox.with_own(own)
        return self._tools

    async def _keep_reply(self, message: Any) -> None:
        """Append a reply with its usage; one without content, as a refusal may be, leaves nothing to append."""
        content = [block.to_dict() for block in message.content]
        if not content:
            return
        management = getattr(message, "context_management", None)
        edits = [] if management is None else [edit.to_dict() for edit in management.applied_edits]
        usage = None if message.usage is None else message.usage.to_dict()
        await self._keep([{"role": "assistant", "content": content}], usage=usage, applied_edits=edits or None)

    async def _answer_calls(self, message: Any) -> bool:
        """Run the tools that a reply calls and append their results; return True if the model is to be asked again.

        Every call gets a result, also where the reply was cut off or the program is interrupted.
        """
        asked = [block for block in message.content if block.type == "tool_use"]
        if not asked:
            return False
        complete: bool = message.stop_reason == "tool_use"
        results: list[dict[str, Any]] = []
        try:
            for block in asked if complete else ():
                results.append(await self._result(block))  # noqa: PERF401 - those before an interruption are kept
        finally:
            why = "the program was interrupted" if complete else f"the reply ended early: {message.stop_reason}"
            results += [failure(block.id, f"not run: {why}") for block in asked[len(results) :]]
            await self._keep_results(results)
        return complete

    async def _result(self, block: Any) -> dict[str, Any]:
        """Run one tool and return its result block; an error is a result as well, since the model can act on it."""
        _, own = await self._offered()
        tool = self._toolbox.find(block.name)
        try:
            if block.name in own:
                answer = await self._face.send(
                    Tools.call_tool.call(block.name, block.input, thread=self._thread, key=_key())
                )
                return failure(block.id, answer.content) if answer.is_error else result_block(block.id, answer.content)
            if tool is None:
                return failure(block.id, f"no tool is called {block.name!r}")
            return result_block(block.id, await self._face.run(tool, block.input))
        except Exception as error:  # noqa: BLE001 - whatever a tool raises is the model's to read
            return failure(block.id, error)

    async def _keep_results(self, results: list[dict[str, Any]]) -> None:
        """Append the results of a reply's calls; what the daemon never takes is replaced by the reason."""
        message = {"role": "user", "content": results}
        try:
            size = len(Threads.append.call(self._thread, [message]).body or b"")
            # A daemon may end the connection in the middle of a body that is too large for it.
            if size <= RESULTS_MAX:
                await self._keep([message])
                return
            why = f"{size:,} bytes are more than {RESULTS_MAX:,}"
        except (ValidationError, TooLarge) as error:
            why = str(error)
        refused = [failure(result["tool_use_id"], f"the result cannot be kept: {why}") for result in results]
        await self._keep([{"role": "user", "content": refused}])

    async def _keep(self, messages: Sequence[dict[str, Any]], **fields: Any) -> wire.Appended:
        """Append messages to the thread; where the daemon does not answer, their call stays in `unsaved`.

        The same messages again are the call that waits: whoever retries after an error has said them once.
        """
        call = Threads.append.call(self._thread, messages, key=_key(), **fields)
        if self.unsaved and self.unsaved[-1].body == call.body:
            call = self.unsaved.pop()
        try:
            await self._save()
        except BaseException:
            self.unsaved.append(call)
            raise
        return await self._sent(call, len(self.unsaved))

    async def _save(self) -> None:
        """Send what is unsaved, in order."""
        while self.unsaved:
            await self._sent(self.unsaved.pop(0), 0)

    async def _sent(self, call: Call[wire.Appended], place: int) -> wire.Appended:
        """Send an append; it waits at its place in `unsaved` again, unless the daemon refuses it for good."""
        try:
            return await self._face.send(call)
        except (ValidationError, TooLarge, NotFound):
            raise
        except BaseException:
            self.unsaved.insert(place, call)
            raise


def _key() -> str:
    """Return a new idempotency key, so that a repeated append has one effect."""
    return uuid.uuid4().hex


def _loop(face: Face, thread_id: str, model: str, options: SessionOptions, *, awaits: bool) -> Loop:
    """Return the loop behind a session, made of its options. Raises ValidationError."""
    settings = Settings(
        model=model,
        max_tokens=options.get("max_tokens", MAX_TOKENS),
        max_requests=options.get("max_requests", REQUESTS_MAX),
        own_tools=options.get("own_tools", True),
        system=options.get("system"),
        request=options.get("request", {}),
    )
    return Loop(face, thread_id, settings, Toolbox(options.get("tools", ()), awaits=awaits))


class Session:
    """A session of a blocking client. One at a time for a thread: two would answer each other's calls.

    `models` is an `anthropic.Anthropic`; without one it is made, from the environment, at the first request.
    """

    def __init__(
        self, client: Blocking, thread_id: str, models: Any = None, *, model: str, **options: Unpack[SessionOptions]
    ) -> None:
        self._loop = _loop(_Blocking(client, models), thread_id, model, options, awaits=False)

    @property
    def unsaved(self) -> int:
        """Return how many messages the daemon has not taken yet, because it was away; each step sends them first."""
        return len(self._loop.unsaved)

    def append(self, messages: Sequence[dict[str, Any]]) -> wire.Appended:
        """Append messages in Anthropic form without asking the model."""
        return run_to_end(self._loop.append(messages))

    def assemble(self, query: str | None = None) -> dict[str, Any]:
        """Return the next request, as keyword arguments for `client.beta.messages.create`; nothing is sent."""
        return run_to_end(self._loop.assemble(query))

    def send(self, content: Content | None = None, *, query: str | None = None) -> Turn:
        """Append what a person says, let the agent answer and call tools until it is done, and return its turn.

        Both sides are in the thread, word for word, when this returns or raises. Without `content` the agent goes on
        with what is there: after an error, or at the limit of requests. `query` is what memories are recalled for.

        Raises:
            anthropic.APIError: the model's API refused or could not be reached; what was said until then is kept.
            ReverieError: as of every call. What was said is in the thread or in `unsaved`, which the next step keeps,
                unless it was refused: ValidationError, TooLarge, NotFound.
        """
        return run_to_end(self._loop.send(content, query))


class AsyncSession:
    """A session of an asyncio client; `models` is an `anthropic.AsyncAnthropic`. Tools may be asynchronous."""

    def __init__(
        self, client: Awaiting, thread_id: str, models: Any = None, *, model: str, **options: Unpack[SessionOptions]
    ) -> None:
        self._loop = _loop(_Awaited(client, models), thread_id, model, options, awaits=True)

    @property
    def unsaved(self) -> int:
        """Return how many messages the daemon has not taken yet, because it was away; each step sends them first."""
        return len(self._loop.unsaved)

    async def append(self, messages: Sequence[dict[str, Any]]) -> wire.Appended:
        """Append messages in Anthropic form without asking the model."""
        return await self._loop.append(messages)

    async def assemble(self, query: str | None = None) -> dict[str, Any]:
        """Return the next request, as keyword arguments for `client.beta.messages.create`; nothing is sent."""
        return await self._loop.assemble(query)

    async def send(self, content: Content | None = None, *, query: str | None = None) -> Turn:
        """Append what a person says, let the agent answer and call tools until it is done; as `Session.send`."""
        return await self._loop.send(content, query)


class _Blocking:
    """Implementation of Face that blocks."""

    def __init__(self, client: Blocking, models: Any) -> None:
        self._client = client
        self._models = models

    async def send(self, call: Call[T]) -> T:
        return self._client.send(call)

    async def ask(self, request: dict[str, Any]) -> Any:
        if self._models is None:
            self._models = load("anthropic", "anthropic").Anthropic()
        return self._models.beta.messages.create(**request)

    async def run(self, tool: RunnableTool, given: dict[str, Any]) -> Any:
        return tool.call(given)


class _Awaited:
    """Implementation of Face with asyncio."""

    def __init__(self, client: Awaiting, models: Any) -> None:
        self._client = client
        self._models = models

    async def send(self, call: Call[T]) -> T:
        return await self._client.send(call)

    async def ask(self, request: dict[str, Any]) -> Any:
        if self._models is None:
            self._models = load("anthropic", "anthropic").AsyncAnthropic()
        return await self._models.beta.messages.create(**request)

    async def run(self, tool: RunnableTool, given: dict[str, Any]) -> Any:
        returned = tool.call(given)
        return await returned if inspect.isawaitable(returned) else returned
