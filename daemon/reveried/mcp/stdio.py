"""The process behind `reverie mcp`: passes each line of standard input on to the daemon's `/mcp`, and the answer back.

All that the server does is in the daemon. Here is only what a process beside the client can know or do: the folder, the
client's process, and an answer while the daemon is down, with what to type; the next line finds the daemon that is up
again. Streams of the daemon are copied by a thread each.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple
from urllib.parse import quote

from reverie.errors import DaemonNotRunning, ReverieError, from_code
from reveried import PROTOCOL
from reveried.mcp import messages
from reveried.mcp.messages import Request, RpcError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


LINE_BYTES_MAX = 8 * 1024 * 1024  # a memory file has at most a million bytes, which JSON may write as six million
RETRY_S, RETRY_MAX_S = 0.5, 30.0  # until a stream that broke off is opened again
_KEY_BYTES = 6


def run() -> int:
    """Serve standard input and output until the input ends; return the exit code.

    Whatever else writes to standard output while this runs goes to standard error: a client would read it as messages.
    """
    sys.stdout.flush()
    own = os.dup(1)
    os.dup2(2, 1)
    try:
        with os.fdopen(own, "wb", closefd=True) as out:
            serve(sys.stdin.buffer, out)
    except BrokenPipeError:
        return 0  # the client is gone, as at the end of its input
    except KeyboardInterrupt:
        return 130
    return 0


def serve(lines: BinaryIO, out: BinaryIO) -> None:
    """Answer each line of `lines` on `out` until the input ends."""
    bridge = Bridge(out)
    while line := lines.readline(LINE_BYTES_MAX + 1):
        if len(line) > LINE_BYTES_MAX:
            while line and not line.endswith(b"\n"):
                line = lines.readline(LINE_BYTES_MAX)
            error = RpcError(messages.INVALID_REQUEST, f"a message has more than {LINE_BYTES_MAX:,} bytes")
            bridge.write(messages.failure(None, error))
        elif line.strip():
            bridge.take(line.strip())
    bridge.close()


class Bridge:
    """One client's conversation with the daemon."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._writing = threading.Lock()
        self._closed = threading.Event()
        self._about = _about()
        self._opening: bytes | None = None  # the client's `initialize`, which another daemon gets again
        self._session = ""
        self._streams: dict[str | int | None, Answer | None] = {}  # by the request's id, None for the session's own
        self._uris: set[str] = set()  # that the session is subscribed to

    def write(self, message: Any) -> None:
        """Write one JSON-RPC message as a line to the client."""
        self._write_line(messages.encoded(message))

    def _write_line(self, line: bytes) -> None:
        with self._writing:
            if not self._closed.is_set():
                self._out.write(line)
                self._out.flush()

    def close(self) -> None:
        """Write nothing more, and end the streams."""
        with self._writing:
            self._closed.set()
        for number in list(self._streams):
            self._cancel(number)

    def take(self, line: bytes) -> None:
        """Answer one line of the client, which is one message."""
        request = None
        number = None
        try:
            value = messages.parsed(line)
            given = value.get("id") if isinstance(value, dict) else None
            number = given if isinstance(given, str | int) and not isinstance(given, bool) else None
            request = _request_or_none(value)
            if request is not None and request.is_notification:
                cancelled = request.params.get("requestId")
                if request.method == "notifications/cancelled" and cancelled is not None:  # None is the session's own
                    self._cancel(cancelled)
                return
            self._pass_on(line, request, number)
        except RpcError as error:
            self.write(messages.failure(number, error))
        except ReverieError as error:
            self.write(_without_daemon(request, number, error))
        except BrokenPipeError:
            raise
        except Exception as error:  # noqa: BLE001 - a client would lose all its tools with this process
            unexpected = RpcError(messages.INTERNAL_ERROR, f"the bridge failed: {type(error).__name__}: {error}")
            self.write(messages.failure(number, unexpected))

    def _pass_on(self, line: bytes, request: Request | None, number: str | int | None) -> None:
        """Send a line to the daemon and write its answer. Raises ReverieError."""
        if request is not None and request.method == "initialize":
            self._opening = line if isinstance(request.params.get("protocolVersion"), str) else self._opening
            answer = self._send(line)
            self._session = answer.headers.get("mcp-session-id", self._session)
        else:
            if self._opening is not None and not self._session:
                self._open_again()
            answer = self._send(line)
            if answer.status == 404 and self._session:
                self._open_again()
                answer = self._send(line)
        if (error := answer.error()) is not None:
            raise error
        if answer.stream is not None:
            listens = request is not None and request.method == "subscriptions/listen"
            if listens:
                self._follow(number, answer, again=lambda: self._send(line))
            else:
                self._follow_call(request, number, answer)
        elif answer.body:
            self._write_line(answer.body + b"\n")
        if request is not None and request.method in ("resources/subscribe", "resources/unsubscribe"):
            self._subscribed(request, answer)

    def _send(self, body: bytes | None, method: str = "POST") -> Answer:
        headers = {"Accept": "application/json, text/event-stream", "Reverie-Bridge": self._about}
        if self._session:
            headers["Mcp-Session-Id"] = self._session
        return send(method, body, headers)

    def _open_again(self) -> None:
        """Open a new session of the client at a daemon that does not know its old one. Raises ReverieError."""
        self._session = ""
        answer = self._send(self._opening)
        if (error := answer.error()) is not None:
            raise error
        self._session = answer.headers.get("mcp-session-id", "")

    # Streams

    def _subscribed(self, request: Request, answer: Answer) -> None:
        """Note a subscription or its end; from the first one on, copy the session's notifications to the client."""
        uri = request.params.get("uri")
        if b'"error"' in answer.body[:200] or not isinstance(uri, str):
            return
        if request.method == "resources/unsubscribe":
            self._uris.discard(uri)
            return
        self._uris.add(uri)
        if None not in self._streams:
            self._follow(None, self._send(None, "GET"), again=self._session_stream)

    def _session_stream(self) -> Answer:
        """Return the stream of the session at a daemon that was started again. Raises ReverieError."""
        self._open_again()
        for uri in list(self._uris):
            message = {"jsonrpc": "2.0", "id": "again", "method": "resources/subscribe", "params": {"uri": uri}}
            self._send(json.dumps(message).encode())
        return self._send(None, "GET")

    def _follow(self, number: str | int | None, answer: Answer, *, again: Callable[[], Answer]) -> None:
        """Copy a stream to the client in a new thread; at its break continue with the one that `again` opens."""
        self._streams[number] = answer
        threading.Thread(target=self._copy, args=(number, answer, again), daemon=True).start()

    def _follow_call(self, request: Request | None, number: str | int | None, answer: Answer) -> None:
        """Copy the stream of a call to the client, up to the call's answer, in a new thread."""
        self._streams[number] = answer
        threading.Thread(target=self._copy_call, args=(request, number, answer), daemon=True).start()

    def _copy_call(self, request: Request | None, number: str | int | None, answer: Answer) -> None:
        """Write each event of a call's stream as a line; if it ends before the answer, write an error as the answer."""
        is_answered = False
        try:
            try:
                for data in filter(None, events_of(answer)):
                    self._write_line(data + b"\n")
                    is_answered = is_answered or "method" not in messages.parsed(data)
            except (OSError, ValueError, RpcError):
                pass  # as at the end of the stream: the daemon is gone
            is_wanted = self._streams.pop(number, None) is not None  # no longer once the client cancelled it
            if is_wanted and not is_answered:
                self.write(_failed(request, number, ended_early()))
        except OSError:
            return  # the client is gone
        finally:
            answer.close()

    def _copy(self, number: str | int | None, answer: Answer, again: Callable[[], Answer]) -> None:
        """Write each event of a stream as a line, and where it goes on after a break what may have changed in it."""
        is_first = True
        wait = RETRY_S
        while number in self._streams:
            agreed, has_missed = dict[str, Any](), not is_first
            try:
                # A daemon that refuses the stream, as while it has too many connections, is asked again.
                for data in events_of(answer) if answer.stream is not None else ():
                    if data and (is_first or b"/acknowledged" not in data[:100]):
                        self._write_line(data + b"\n")
                    elif data:
                        agreed = json.loads(data)["params"]
                    elif has_missed:  # the first comment: from here on the daemon tells each change
                        self._write_missed(agreed)
                        has_missed = False
                    wait = RETRY_S if data else wait
            except (OSError, ValueError):
                pass  # as at the end of the stream: the daemon is gone
            answer.close()
            if number not in self._streams or self._closed.wait(wait):
                break
            is_first, wait = False, min(2 * wait, RETRY_MAX_S)
            try:
                answer = again()
            except ReverieError:
                continue
            if number in self._streams:
                self._streams[number] = answer
        self._streams.pop(number, None)

    def _write_missed(self, agreed: dict[str, Any]) -> None:
        """Write that all that a stream tells of has changed: what `agreed` says, for the session's own all of it."""
        own = {"resourceSubscriptions": list(self._uris), "resourcesListChanged": True}
        wanted = agreed.pop("notifications", own)
        told = [("updated", {"uri": uri}) for uri in wanted.get("resourceSubscriptions", ())]
        for name, params in [*told, *([("list_changed", {})] if wanted.get("resourcesListChanged") else [])]:
            self.write({"jsonrpc": "2.0", "method": f"notifications/resources/{name}", "params": {**params, **agreed}})

    def _cancel(self, number: Any) -> None:
        """End the stream of a request, if it has one."""
        answer = self._streams.pop(number, None) if isinstance(number, str | int | None) else None
        if answer is not None and answer.stream is not None:
            try:
                answer.stream.shutdown(2)
            except OSError:
                return  # it ended by itself meanwhile


def _request_or_none(value: Any) -> Request | None:
    """Return a message as a request; None for a batch, an answer, or a message that the daemon has to refuse."""
    try:
        return messages.request_of(value) if isinstance(value, dict) else None
    except RpcError:
        return None


def _without_daemon(request: Request | None, number: str | int | None, error: ReverieError) -> dict[str, Any]:
    """Return the answer to a request that the daemon did not answer: the server's description, or an error with a hint.

    A client that is refused is described the server too: it would say nothing of the reason, and the tools do.
    """
    result: dict[str, Any] | None = None
    method = "" if request is None else request.method
    stateless = request is not None and messages.META + "protocolVersion" in request.meta
    if method == "initialize" and request is not None and isinstance(request.params.get("protocolVersion"), str):
        result = messages.initialized(request.params["protocolVersion"])
    elif method == "server/discover":
        result = messages.discovered()
    elif method == "ping":
        result = {}
    elif method == "tools/list" and isinstance(error, DaemonNotRunning):
        from reverie.tools import definitions  # noqa: PLC0415 - slow, and the daemon has them ready

        result = {"tools": definitions("mcp"), **(messages.FRESH if stateless else {})}
    if result is None or request is None:
        return _failed(request, number, error)
    return messages.success(request, result, stateless=stateless)


def _failed(request: Request | None, number: str | int | None, error: ReverieError) -> dict[str, Any]:
    """Return the answer for an error of the daemon: a tool's result, which the agent reads, else an RPC error."""
    if request is not None and request.method == "tools/call":
        result = {"content": [{"type": "text", "text": error.sentence}], "isError": True}
        stateless = messages.META + "protocolVersion" in request.meta
        return messages.success(request, result, stateless=stateless)
    return messages.failure(number, RpcError(messages.INTERNAL_ERROR, error.sentence, error=error.code))


def _about() -> str:
    """Return a name of this process, its parent's process id and its folder as one text, for the daemon."""
    try:
        folder = quote(os.getcwd())  # noqa: PTH109 - without a Path
    except (OSError, UnicodeEncodeError):  # deleted, or no text
        folder = ""
    return f"{os.urandom(_KEY_BYTES).hex()};{os.getppid()};{folder}"


TIMEOUT_S = 60.0  # as of the client; a stream has a comment line at least every 15 s
_TOKEN = "REVERIE_TOKEN"  # noqa: S105 - the name of a variable
_DOWN = "run `reverie up` in a terminal to start it, then call the tool again"
_ENDED = "what was to be stored may be stored; run `reverie up` in a terminal to start it again"
_NO_ANSWER = "what was to be stored may be stored; `reverie logs` in a terminal says why"


class Answer(NamedTuple):
    """The daemon's answer to one request: the whole body, or for a stream its socket and the file to read it from."""

    status: int
    headers: dict[str, str]  # names in lower case
    body: bytes = b""
    stream: socket.socket | None = None
    file: BinaryIO | None = None

    def close(self) -> None:
        """Close the stream, if it is one."""
        if self.file is not None and self.stream is not None:
            self.file.close()
            self.stream.close()

    def error(self) -> ReverieError | None:
        """Return the error that the daemon's HTTP API answered; None for a success or an answer in JSON-RPC."""
        if self.status < 400:
            return None
        try:
            value = json.loads(self.body)
        except ValueError:
            value = {}
        if isinstance(value, dict) and "jsonrpc" in value:
            return None
        envelope: dict[str, Any] = value if isinstance(value, dict) else {}
        details = envelope.get("details")
        message = str(envelope.get("message", "an answer without JSON"))
        return from_code(
            str(envelope.get("error", "bad_answer")), message, details if isinstance(details, dict) else {}
        )


def send(method: str, body: bytes | None, headers: Mapping[str, str]) -> Answer:
    """Return the daemon's answer to a request.

    A connection for each request means that one which cannot be made has sent nothing: no request is made twice.

    Raises:
        DaemonNotRunning: no daemon listens, or it ended before its answer.
    """
    request = _request(method, body, headers)
    peer = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    stays_open = False
    try:
        peer.settimeout(TIMEOUT_S)
        try:
            peer.connect(_socket_path())
        except OSError as error:
            raise DaemonNotRunning("the Reverie daemon is not running", hint=_DOWN) from error
        try:
            peer.sendall(request)
            answer = _answer(peer)
        except OSError as error:
            raise DaemonNotRunning("the Reverie daemon did not answer", hint=_NO_ANSWER) from error
        stays_open = answer.stream is not None
        return answer
    finally:
        if not stays_open:
            peer.close()


def ended_early() -> DaemonNotRunning:
    """Return the error for a daemon that ended before its answer was complete."""
    return DaemonNotRunning("the Reverie daemon ended before it answered", hint=_ENDED)


def events_of(answer: Answer) -> Iterator[bytes]:
    """Yield the data of each event of a stream, and b"" for a comment, until it ends. Raises OSError."""
    text = b""
    for piece in _chunks(answer):
        text += piece
        *events, text = text.split(b"\n\n")
        for event in events:
            yield b"".join(line[5:].strip() for line in event.split(b"\n") if line.startswith(b"data:"))


def _chunks(answer: Answer) -> Iterator[bytes]:
    """Yield the chunks of a body in the transfer coding of HTTP/1.1 (RFC 9112, 7.1)."""
    assert answer.file is not None
    while size := int(answer.file.readline() or b"0", 16):
        piece = answer.file.read(size)
        if len(piece) < size:
            return
        yield piece
        answer.file.readline()


def _answer(peer: socket.socket) -> Answer:
    """Read the head of an answer, and its body unless it is a stream. Raises OSError and DaemonNotRunning."""
    file = peer.makefile("rb")
    lines = []
    while line := file.readline().decode("latin-1").rstrip("\r\n"):
        lines.append(line)
    if not lines:
        raise ended_early()
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
    status = int(lines[0].split(" ")[1])
    if headers.get("transfer-encoding") == "chunked":
        return Answer(status, headers, stream=peer, file=file)
    length = int(headers.get("content-length", "0"))
    body = file.read(length)
    if len(body) < length:
        raise ended_early()
    return Answer(status, headers, body)


def _request(method: str, body: bytes | None, headers: Mapping[str, str]) -> bytes:
    lines = [f"{method} /mcp HTTP/1.1", "Host: reverie", f"Reverie-Protocol: {PROTOCOL}"]
    if token := _token():
        lines.append(f"Authorization: Bearer {token}")
    if body is not None:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + (body or b"")


def _token() -> str | None:
    from reveried.cli.daemon_client import access_token  # noqa: PLC0415 - not before the first answer

    return access_token() if os.environ.get(_TOKEN) else None


def _socket_path() -> str:
    """Return the daemon's socket, which the settings may name."""
    from reveried.cli.daemon_client import socket_path  # noqa: PLC0415 - not before the first answer

    return str(socket_path())
