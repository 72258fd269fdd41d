"""Transport `command`: a program reads the request on its standard input and prints the answer.

So any model can be used that a command reaches, also one of a subscription without a key (docs/models.md). The program
gets a process group, which is killed at the deadline, and ends with the daemon (`launch`). It has an empty folder to
work in, so that it does not read the instructions of whatever project the daemon was started in.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import msgspec

from reverie import tokenizer
from reverie.errors import ModelFailed
from reverie.language_model.requests import ANSWER_BYTES_MAX, ModelAnswer, message_text
from reveried.log import logger
from reveried.models import launch
from reveried.models.transport import request_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from reverie.errors import FailureReason
    from reverie.language_model.requests import ModelRequest, StopReason

MARKER: Final = "REVERIE_MODEL_CALL"
"""Set in the program's environment: hooks of an agent client that it runs must not feed its session back."""

STDERR_BYTES_MAX = 1 << 16  # of the end of a program's errors: long enough that no secret in what is shown is cut
STDERR_SHOWN = 500  # characters
PIPE_S = 2.0  # for the rest of the output after the program has ended; a child of it may hold the pipe open
TEMPORARY_FAILURE = 75  # EX_TEMPFAIL of sysexits.h: the program asks to try again later
# What a program may say that a request has used: some put a system prompt and tools of their own around it, and count
# in another model's tokens. Without a bound one wrong number would use up the day.
CLAIMED_TIMES = 4
CLAIMED_MORE = 50_000
_HINT = "Run the program of distiller.command by hand; docs/models.md has recipes."

_TOOL_TURNS: Final = (
    "You call tools by your answers: each answer is a JSON object with the list `calls`, each call with the `name` of "
    "a tool and its `input`. The results come with the next message. An empty list ends the conversation. The tools:\n"
)

_FAILURES: Final[dict[int, FailureReason]] = {TEMPORARY_FAILURE: "rate_limited", launch.CANNOT_RUN: "unreachable"}

_STOP_REASONS: Final[dict[str, StopReason]] = {
    "end": "end",
    "end_turn": "end",
    "stop": "end",
    "stop_sequence": "end",
    "max_tokens": "max_tokens",
    "length": "max_tokens",
    "refusal": "refusal",
    "tool_use": "tool_use",
}


class _Output(NamedTuple):
    """The exit status of a program that has ended, and its two outputs, each up to its limit."""

    status: int
    stdout: bytes
    stderr: bytes


class CommandTransport:
    """Runs the program once for each request."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        stdin: Literal["json", "text"],
        models: Mapping[str, str],
        folder: Path,
        redact: Callable[[str], str],
    ) -> None:
        """Take the models' names for `{model}` by role; `redact` cleans the program's error output that is shown."""
        self._command = tuple(command)
        self._stdin = stdin
        self._models = dict(models)
        self._folder = folder
        self._redact = redact

    async def answer(self, request: ModelRequest, deadline_s: float) -> ModelAnswer:
        """Return what the program printed. Raises ModelFailed, with the end of its standard error."""
        model = self._models.get(request.role, "")
        arguments = [argument.replace("{model}", model) for argument in self._command]
        data = _stdin_json(request, model) if self._stdin == "json" else prompt_text(request).encode()
        output = await self._run(arguments, data, deadline_s)
        if output.status != 0:
            how = "cannot be run" if output.status == launch.CANNOT_RUN else f"ended with status {output.status}"
            raise ModelFailed(
                f"{arguments[0]} {how}{self._shown(output.stderr or output.stdout)}",
                reason=_FAILURES.get(output.status, "failed"),
                hint=_HINT,
            )
        if len(output.stdout) > ANSWER_BYTES_MAX:
            raise ModelFailed(
                f"{arguments[0]} printed more than {ANSWER_BYTES_MAX:,} bytes.", reason="unparseable", hint=_HINT
            )
        return await asyncio.to_thread(read_output, output.stdout, request, model or arguments[0])

    async def close(self) -> None:
        """Do nothing: every program has ended with its call."""

    async def _run(self, arguments: Sequence[str], data: bytes, deadline_s: float) -> _Output:
        """Return the output of the program. Raises ModelFailed where it cannot be started, or is late."""
        await asyncio.to_thread(self._folder.mkdir, mode=0o700, parents=True, exist_ok=True)
        try:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", launch.__name__, str(os.getpid()), *arguments),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd=self._folder,
                env={**os.environ, MARKER: "1"},
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else "it has a zero byte"
            raise ModelFailed(f"{arguments[0]} cannot be run: {why}.", reason="unreachable", hint=_HINT) from error
        try:
            async with asyncio.timeout(deadline_s):
                return await _communicate(process, data)
        except TimeoutError:
            raise ModelFailed(
                f"{arguments[0]} gave no answer within {deadline_s:g} seconds.",
                reason="timeout",
                hint="Raise distiller.deadlineSeconds, or choose a faster model.",
            ) from None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()

    def _shown(self, stderr: bytes) -> str:
        """Return the redacted end of the program's standard error, after a colon; a full stop if there is none."""
        text = " ".join(self._redact(stderr.decode(errors="replace")).split())
        return f": {text[-STDERR_SHOWN:]}" if text else "."


def prompt_text(request: ModelRequest) -> str:
    """Return a request as one text, for programs that take a prompt: instructions, messages, answer's schema."""
    parts = [request.system]
    if request.tools:
        parts.append(_TOOL_TURNS + msgspec.json.encode(request.tools).decode())
    parts += [
        f"[{message.role}]\n{message_text(message)}" if request.tools else message.content
        for message in request.messages
    ]
    schema = json.dumps(request.schema, ensure_ascii=False)
    parts.append(
        "Answer with the JSON object alone, without a word before or after it and without using any tool of your own. "
        f"Its JSON schema:\n{schema}"
    )
    return "\n\n".join(parts) + "\n"


def read_output(stdout: bytes, request: ModelRequest, model: str) -> ModelAnswer:
    """Return the answer that a program printed, as plain text or inside one of two JSON envelopes.

    Envelopes: `{"answer": …, "inputTokens"?, "outputTokens"?, "model"?, "stopReason"?}`, where the answer is the object
    or a text, and what `claude -p --output-format json` prints (`{"type": "result", "result": …, "usage": …}`). Tokens
    are counted here too, and the larger number counts, up to what the request can have used.

    Raises:
        ModelFailed: the output is no text that UTF-8 can hold, or the envelope says that the program failed.
    """
    try:
        text = stdout.decode()
    except UnicodeDecodeError:
        raise _unparseable("it is not UTF-8") from None
    envelope = _envelope(text)
    usage: Any = {}
    stop: Any = None
    if "answer" in envelope:
        text, usage, stop = _text(envelope["answer"]), envelope, envelope.get("stopReason")
    elif envelope.get("type") == "result":
        if envelope.get("is_error"):
            raise ModelFailed("The program reports a failure of the model.", reason="failed", hint=_HINT)
        text = _text(envelope.get("structured_output") or envelope.get("result"))
        usage, stop = envelope.get("usage"), envelope.get("stop_reason")
    usage = usage if isinstance(usage, dict) else {}
    reported = usage.get("model")
    name = reported[:200] if isinstance(reported, str) else model
    try:
        (text + name).encode()
    except UnicodeEncodeError:  # JSON can name half a surrogate pair, as "\ud800"; no text has one
        raise _unparseable("it has half a surrogate pair, which is not UTF-8") from None
    sent, received = request_tokens(request), tokenizer.count(text)
    return ModelAnswer(
        text=text,
        input_tokens=max(sent, _claimed(usage, "input", CLAIMED_TIMES * sent + CLAIMED_MORE)),
        output_tokens=max(received, _claimed(usage, "output", request.max_output_tokens)),
        model=name,
        stop_reason=_STOP_REASONS.get(stop, "unknown") if isinstance(stop, str) else "end",
    )


def _stdin_json(request: ModelRequest, model: str) -> bytes:
    """Return the request as JSON, with the model of its role and the whole request as one `prompt`."""
    return msgspec.json.encode({**msgspec.to_builtins(request), "model": model, "prompt": prompt_text(request)})


async def _communicate(process: asyncio.subprocess.Process, data: bytes) -> _Output:
    """Write the request to the program and read its output until it has ended, or has printed more than is allowed."""
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    feeding = asyncio.ensure_future(_feed(process.stdin, data))
    stdout, stderr = bytearray(), bytearray()
    reading = [
        asyncio.ensure_future(_read(process.stdout, stdout, ANSWER_BYTES_MAX + 1)),
        asyncio.ensure_future(_read_end(process.stderr, stderr, STDERR_BYTES_MAX)),
    ]
    ended = asyncio.ensure_future(process.wait())
    try:
        await asyncio.wait([ended, reading[0]], return_when=asyncio.FIRST_COMPLETED)
        if len(stdout) > ANSWER_BYTES_MAX:
            return _Output(0, bytes(stdout), b"")
        status = await ended
        await asyncio.wait(reading, timeout=PIPE_S)
        return _Output(status, bytes(stdout), bytes(stderr))
    finally:
        for task in (feeding, ended, *reading):
            task.cancel()
        await asyncio.wait([feeding, ended, *reading])


async def _feed(stdin: asyncio.StreamWriter, data: bytes) -> None:
    """Write the request; a program that does not read it all may still answer."""
    with suppress(ConnectionError):
        stdin.write(data)
        await stdin.drain()
    stdin.close()


async def _read(stream: asyncio.StreamReader, into: bytearray, limit: int) -> None:
    """Append what a pipe has until its end to `into`, at most `limit` bytes."""
    while len(into) < limit and (piece := await stream.read(min(limit - len(into), 1 << 16))):
        into += piece


async def _read_end(stream: asyncio.StreamReader, into: bytearray, limit: int) -> None:
    """Read a pipe to its end, so that the program never waits for a reader; keep its last `limit` bytes in `into`."""
    while piece := await stream.read(1 << 16):
        into += piece
        del into[:-limit]


def _envelope(text: str) -> dict[str, Any]:
    """Return the JSON object that an output is, or that its last line is; an empty one where neither is an object."""
    for candidate in (text, text.strip().rpartition("\n")[2]):
        try:
            value = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            return value
    return {}


def _text(answer: Any) -> str:
    """Return an answer as text: an object as its JSON. Raises ModelFailed for one that is nested too deeply."""
    try:
        return answer if isinstance(answer, str) else json.dumps(answer)
    except RecursionError:
        raise _unparseable("it is nested too deeply") from None


def _unparseable(why: str) -> ModelFailed:
    return ModelFailed(f"The answer cannot be used: {why}.", reason="unparseable", hint=_HINT)


def _claimed(usage: Mapping[str, Any], kind: Literal["input", "output"], most: int) -> int:
    """Return the token count that a program reports, at most `most`; 0 without one."""
    counts = (usage.get(name) for name in (f"{kind}Tokens", f"{kind}_tokens"))
    claimed = next((n for n in counts if isinstance(n, int) and not isinstance(n, bool) and n >= 0), 0)
    if claimed > most:
        logger("reveried.models").warning("a program claims more tokens than it can have used", kind=kind, counted=most)
    return min(claimed, most)
