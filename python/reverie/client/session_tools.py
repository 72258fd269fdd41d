"""The tools of a session: their definitions for a request, the run of one, and its result for the model."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

import orjson

from reverie.errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


@runtime_checkable
class RunnableTool(Protocol):
    """A tool with the interface of the `anthropic` package's `beta_tool` functions and of `MemoryTool`."""

    @property
    def name(self) -> str:
        """Return the name by which the model calls it."""

    def to_dict(self) -> Any:
        """Return the tool's definition for a request."""

    def call(self, input: object) -> Any:  # noqa: A002 - the parameter's name in `anthropic`
        """Run the tool with its input; in an asyncio session it may return an awaitable."""


Tool: TypeAlias = "RunnableTool | Callable[..., Any] | dict[str, Any]"
"""A function, whose docstring and annotations describe it; a tool of `anthropic`; or a definition that the API runs."""


class Toolbox:
    """The tools that a program gives to a session, by name.

    Raises:
        ValidationError: two tools of one name, or an asynchronous one for a session that cannot await it.
    """

    def __init__(self, tools: Sequence[Tool], *, awaits: bool) -> None:
        self.definitions: list[dict[str, Any]] = []
        self._runnable: dict[str, RunnableTool] = {}
        names: set[str] = set()
        for tool in tools:
            runnable = None if isinstance(tool, dict) else _runnable(tool, awaits=awaits)
            definition: dict[str, Any] = dict(tool) if isinstance(tool, dict) else dict(_runnable_definition(runnable))
            name = str(definition.get("name", ""))
            if name in names:
                raise ValidationError(f"two tools are called {name!r}", hint="give each tool a name of its own")
            names.add(name)
            self.definitions.append(definition)
            if runnable is not None:
                self._runnable[name] = runnable

    def with_own(self, own: Iterable[dict[str, Any]]) -> tuple[list[dict[str, Any]], frozenset[str]]:
        """Return `own` and the given definitions, and the names used of `own`; a given tool replaces its namesake."""
        given = {definition.get("name") for definition in self.definitions}
        kept = [definition for definition in own if definition["name"] not in given]
        return [*kept, *self.definitions], frozenset(str(definition["name"]) for definition in kept)

    def find(self, name: str) -> RunnableTool | None:
        """Return the tool of a name that can be run here, or None."""
        return self._runnable.get(name)


def _runnable(tool: Any, *, awaits: bool) -> RunnableTool:
    """Return a tool that can be run, made of a function where it is one. Raises ValidationError."""
    function = getattr(tool, "func", tool)
    asynchronous = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(tool, "call", None))
    if asynchronous and not awaits:
        raise ValidationError(
            f"the tool {getattr(tool, 'name', getattr(tool, '__name__', tool))!r} is asynchronous",
            hint="use AsyncClient, or give a function without `async`",
        )
    if isinstance(tool, RunnableTool):
        return tool
    if not callable(tool):
        raise ValidationError(
            f"{tool!r} is no tool", hint="give a function, a tool of the anthropic package, or a definition as a dict"
        )
    import anthropic  # noqa: PLC0415 - importing it takes seconds; a session without functions need not

    made: RunnableTool = anthropic.beta_async_tool(tool) if asynchronous else anthropic.beta_tool(tool)
    return made


def _runnable_definition(tool: RunnableTool | None) -> dict[str, Any]:
    assert tool is not None
    definition: dict[str, Any] = tool.to_dict()
    return definition


def result_block(call_id: str, value: Any) -> dict[str, Any]:
    """Return the result of a call as the model gets it: a text or content blocks as they are, other values as JSON."""
    content = _encodable(value) if isinstance(value, str) else _blocks(value)
    return {"type": "tool_result", "tool_use_id": call_id, "content": content}


def failure(call_id: str, error: Exception | str) -> dict[str, Any]:
    """Return the result of a call that failed, with what the model needs to do better."""
    given = getattr(error, "content", None)  # of anthropic's ToolError: what its tool wants the model to read
    value = error if isinstance(error, str) else given if given is not None else _sentence(error)
    return {**result_block(call_id, value), "is_error": True}


def _sentence(error: Exception) -> str:
    """Return an error as a sentence; with its cause, since that of invalid arguments names the argument."""
    text = f"{type(error).__name__}: {error}"
    return text if error.__cause__ is None else f"{text}\n{error.__cause__}"


def _encodable(text: str) -> str:
    """Return a text with lone surrogates, which UTF-8 cannot encode, written as backslash escapes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _blocks(value: Any) -> Any:
    if isinstance(value, list | tuple) and value and all(isinstance(part, dict) and "type" in part for part in value):
        return list(value)
    return orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS).decode()
