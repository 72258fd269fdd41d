"""The prompts of the server: go on with earlier work, hand work over, review the memories."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from reverie import tools, wire
from reverie.errors import NotFound, ValidationError
from reverie.usecases import threads
from reveried.actions import contexts
from reveried.execute import read
from reveried.mcp import resources
from reveried.mcp.client_identity import project_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reverie.store import Reader
    from reveried.http.types import Call
    from reveried.mcp.client_identity import Client

CHARS_MAX = 24_000  # of what an earlier thread says: some 6,000 tokens
COMPLETIONS = 100
PROMPTS: tuple[dict[str, Any], ...] = (
    {
        "name": "continue",
        "title": "Continue earlier work",
        "description": "Go on where a thread of this project stopped: its state, notes, summary and last messages.",
        "arguments": [{"name": "thread", "description": "The thread's id; the newest of this project if left out."}],
    },
    {
        "name": "handoff",
        "title": "Hand over",
        "description": "Write down what another agent needs to go on with this work.",
    },
    {
        "name": "review",
        "title": "Review memories",
        "description": "Look through what is remembered: correct what is wrong, merge what is said twice.",
    },
)
_CONTINUE = (
    "Go on with the work of an earlier conversation. Below is what was remembered of it. Say in two sentences where it "
    "stopped and what you do next, then do that. Check files before you rely on what is said about them."
)
_HANDOFF = (
    "Another agent will go on with this work. Write down what it needs: with {note} each decision that is not among "
    "the notes below, with its reason, what was corrected, and in one of the category task what is half done, the "
    "next steps in their order and what blocks them. At the end say in a few sentences what you wrote."
)
_REVIEW = (
    "Look through what is remembered. Read each file below with {read}, and compare it with what you know of the "
    "project. Correct what is wrong or out of date with {patch}, merge what is said twice, and leave the rest as it "
    "is. Ask before you take out anything that you cannot check. At the end say what you changed."
)


async def prompt(call: Call, client: Client, thread: str, name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the MCP prompt `name` with its text; `thread` is the client's, empty if it has none yet.

    Raises:
        NotFound: there is no such prompt, or nothing to continue.
        ValidationError: an argument is none of the prompt's, or no text.
    """
    definition = next((one for one in PROMPTS if one["name"] == name), None)
    if definition is None:
        names = ", ".join(one["name"] for one in PROMPTS)
        raise NotFound(f"there is no prompt {name[:80]!r}", hint=f"the prompts are {names}")
    taken = [argument["name"] for argument in definition.get("arguments", ())]
    for argument, value in given.items():
        if argument not in taken or not isinstance(value, str):
            raise ValidationError(
                f"{name} takes no argument {argument[:80]!r} with this value",
                hint=f"it takes {', '.join(taken) or 'nothing'}, as text",
            )
    if name == "continue":
        text = await _continue(call, client, thread, given.get("thread") or None)
    elif name == "handoff":
        text = await _handoff(call, client, thread)
    else:
        text = await _review(call, client, thread)
    message = {"role": "user", "content": {"type": "text", "text": text}}
    return {"description": definition["description"], "messages": [message]}


async def _continue(call: Call, client: Client, thread: str, asked: str | None) -> str:
    """Return an earlier thread's context as text, with the instruction to continue its work above it."""
    if asked is None:
        project = await project_of(call, client, thread)
        newest = await _newest(call, project)
        asked = next((one.id for one in newest if one.id != thread and one.message_count), None)
        if asked is None:
            raise NotFound("there is no earlier thread of this project", hint="begin the work, or name a thread")
    # The earlier thread's own index is as old as that thread, and this one reads files by it now.
    index = str((await resources.contents(call, client, resources.INDEX, thread))["text"])
    wanted = wire.ContextQuery(format="text", max_chars=CHARS_MAX)
    text = await contexts.context_text(call.services, call.space, asked, wanted, index=index)
    return f"{_CONTINUE}\n\nThread: {asked}\n\n{text}"


async def _handoff(call: Call, client: Client, thread: str) -> str:
    """Return the instruction to write a handover, followed by the current working state and notes."""
    state = (await resources.contents(call, client, resources.STATE, thread))["text"]
    notes = (await resources.contents(call, client, resources.NOTES, thread))["text"]
    words = _HANDOFF.format(note=_named("note"))
    return "\n\n".join([words, state or "There is no working state yet.", f"## Notes\n{notes or 'None yet.'}"])


async def _review(call: Call, client: Client, thread: str) -> str:
    index = (await resources.contents(call, client, resources.INDEX, thread))["text"]
    words = _REVIEW.format(read=_named("memory_read"), patch=_named("memory_patch"))
    return f"{words}\n\n{index or 'Nothing is remembered yet.'}"


def _named(tool: str) -> str:
    """Return a tool's name in backticks. Raises KeyError if there is no such tool."""
    if tools.tool_named(tool) is None:
        raise KeyError(tool)
    return f"`{tool}`"


async def thread_ids(call: Call, client: Client, thread: str, begins: str) -> list[str]:
    """Return the ids of the project's threads that have messages and begin with `begins`, those last extended first."""
    newest = await _newest(call, await project_of(call, client, thread))
    return [one.id for one in newest if one.id.startswith(begins) and one.message_count]


async def _newest(call: Call, project: str | None) -> list[wire.Thread]:
    def page(reader: Reader) -> wire.Page[wire.Thread]:
        window = call.services.config.context.window
        collect = partial(threads.newest_page, window=window, limit=COMPLETIONS, after=None)
        return collect(reader, project=project)

    return (await read(call.services, call.space, page)).items
