"""`reverie thread`: the messages of a thread as text, on a terminal through a pager."""

import contextlib
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from typing import Annotated, Any

import orjson

from reverie import wire
from reverie.client import Client
from reverie.errors import NotFound, ValidationError
from reveried.cli.command import Answer, Option
from reveried.cli.daemon_client import all_items
from reveried.cli.output import clean, is_terminal, when
from reveried.cli.threads import ThreadId, with_thread

TOOL_CHARS_MAX = 300  # of one tool call or result: four lines of a terminal say what was done; --full prints all
_AROUND = 5  # messages before and after the one of --around, about two screens of text
_PAGE = 100  # messages of one request
_PAGERS = ("less", "more")

Around = Annotated[
    int | None, Option("--around", min=1, metavar="MESSAGE", help="The messages around this one, by its number.")
]
Last = Annotated[int | None, Option("--last", min=1, max=wire.LIMIT_MAX, help="Only the last so many messages.")]


def thread(
    client: Client,
    thread: ThreadId,
    around: Around = None,
    last: Last = None,
    full: Annotated[bool, Option("--full", help="Tool calls and results whole.")] = False,
) -> Answer:
    """Read a thread: every message, with its number, author and time.

    Example: reverie thread THREAD --last 20
    """
    if around is not None and last is not None:
        raise ValidationError("--around and --last exclude each other", hint="give one of them")
    messages = with_thread(client, thread, lambda thread_id: _messages(client, thread_id, around, last))
    yield {"items": messages}
    _print_paged(_texts(messages, marked=around, full=full))


def _messages(client: Client, thread_id: str, around: int | None, last: int | None) -> Iterable[wire.StoredMessage]:
    """Return the messages that were asked for; all of them are fetched page by page while they are read."""
    if last is not None:
        return client.messages(thread_id, last=last).items
    if around is not None:
        return _around(client, thread_id, around)
    first = client.messages(thread_id, limit=_PAGE)  # at once: an unknown thread is an error before anything is printed
    return _from(client, thread_id, first)


def _from(client: Client, thread_id: str, page: wire.Page[wire.StoredMessage]) -> Iterator[wire.StoredMessage]:
    """Yield the messages of a page and of all after it."""
    yield from page.items
    if page.next is not None:
        yield from all_items(client.messages, thread_id, limit=_PAGE, after=page.next)


def _around(client: Client, thread_id: str, number: int) -> list[wire.StoredMessage]:
    """Return message `number` with some before and after it. Raises NotFound if the thread ends before it.

    A message's number is that of its first entry, and a message may have several entries: the page before is asked for
    from further and further back until it has enough messages.
    """
    back = 4 * _AROUND
    while True:
        start = max(0, number - back)
        items = client.messages(thread_id, limit=min(wire.LIMIT_MAX, 2 * back), after=str(start)).items
        at = next((index for index, item in enumerate(items) if item.first_seq <= number <= item.last_seq), None)
        if at is not None and (at >= _AROUND or start == 0):
            return items[max(0, at - _AROUND) : at + _AROUND + 1]
        if start == 0 or back >= wire.LIMIT_MAX // 2:
            break
        back *= 4
    if at is None:
        raise NotFound(f"the thread has no message {number}", hint=f"reverie thread {thread_id} lists their numbers")
    return items[: at + _AROUND + 1]


def _texts(messages: Iterable[wire.StoredMessage], *, marked: int | None, full: bool) -> Iterator[str]:
    """Yield each message as text: a line with number, author and time, then what was said, and a blank line."""
    for message in messages:
        is_marked = marked is not None and message.first_seq <= marked <= message.last_seq
        heading = f"{'>' if is_marked else '#'}{message.first_seq}  {message.role}  {when(message.at)}"
        if message.rewound:
            heading += "  (rewound)"
        limit = None if full else TOOL_CHARS_MAX
        body = "\n".join(part for part in _parts(message.content, limit) if part.strip())
        yield clean(f"{heading}\n{body.strip()}\n\n", keep="\n\t")


def _parts(content: Any, limit: int | None) -> Iterator[str]:
    """Yield the texts of a message's content; tool data is cut to `limit` characters."""
    if isinstance(content, str):
        yield content
        return
    for block in content or ():
        match block.get("type"):
            case "text":
                yield str(block.get("text", ""))
            case "tool_use":
                yield f"-> {block.get('name')} {_cut(orjson.dumps(block.get('input')).decode(), limit)}"
            case "tool_result":
                yield "<- " + _cut("\n".join(_parts(block.get("content"), limit)), limit)
            case kind:
                yield f"({kind})"


def _cut(text: str, limit: int | None) -> str:
    """Cut a text to `limit` characters, with its whole length after it."""
    return text if limit is None or len(text) <= limit else f"{text[:limit]} … ({len(text):,} characters; --full)"


def _print_paged(texts: Iterable[str]) -> None:
    """Write the texts to standard output; on a terminal through $PAGER, less or more."""
    command = _pager() if is_terminal() else None
    if command is None:
        for text in texts:
            sys.stdout.write(text)
        return
    environment = {"LESS": "FRX", **os.environ}  # quit if it fits one screen, colours, leave the text on the screen
    with subprocess.Popen(  # noqa: S603 - the person's own pager
        command, stdin=subprocess.PIPE, env=environment, text=True, encoding="utf-8"
    ) as pager:
        assert pager.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # the reader has seen enough
            for text in texts:
                pager.stdin.write(text)
            pager.stdin.close()
        while pager.poll() is None:
            with contextlib.suppress(KeyboardInterrupt):  # Ctrl-C belongs to the pager
                pager.wait()


def _pager() -> list[str] | None:
    """Return the command of the pager, None where there is none; `PAGER=cat` and an empty one mean none."""
    chosen = os.environ.get("PAGER")
    if chosen is not None:
        words = shlex.split(chosen)
        return words if words and words != ["cat"] and shutil.which(words[0]) else None
    program = next((path for name in _PAGERS if (path := shutil.which(name))), None)
    return None if program is None else [program]
