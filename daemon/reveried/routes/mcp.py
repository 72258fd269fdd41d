"""`/mcp`: the Model Context Protocol as streamable HTTP, with sessions (to 2025-11-25) and without (2026-07-28).

`reverie mcp` passes the lines of its client on to here. A session has no state but its id, which says what the client
is; the answer to a question to the user comes with a request of its own.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from reverie.api.tools import Doors
from reverie.canonical_json import check_json
from reverie.errors import ReverieError, ValidationError
from reveried.http.route import serves
from reveried.http.types import Reply, Stream
from reveried.log import logger
from reveried.mcp import client_identity, messages, server
from reveried.mcp.messages import RpcError
from reveried.mcp.resources import Watch, changes
from reveried.mcp.server import Question

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from reveried.http.types import Call
    from reveried.mcp.client_identity import Client
    from reveried.mcp.messages import Request
    from reveried.mcp.resources import Change

SESSION, VERSION, METHOD, NAME = "mcp-session-id", "mcp-protocol-version", "mcp-method", "mcp-name"
KEY_BYTES = 9  # of the random part of the id of a session, and of a question
QUESTION_S = 600.0  # for the user's answer, after which nothing is done
_NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}  # what `Mcp-Name` repeats
_STATUS = {
    messages.PARSE_ERROR: 400,
    messages.INVALID_REQUEST: 400,
    messages.HEADER_MISMATCH: 400,
}
_LISTEN = "subscriptions/listen"


@serves(Doors.mcp)
async def post(call: Call) -> Reply | Stream:
    """Answer a message, or a batch of them."""
    try:
        value = _parsed(call.body)
        client = _known_client(call)
        if isinstance(value, list):
            return await _batch(call, client, value)
    except RpcError as error:
        return _failure(None, error, stateless=False)
    return await _message(call, client, value)


def _parsed(body: bytes) -> Any:
    """Return the JSON of a body. Raises RpcError."""
    try:
        check_json(body)
    except ValidationError as error:
        raise RpcError(messages.PARSE_ERROR, error.sentence) from None
    return messages.parsed(body)


def _known_client(call: Call) -> Client | None:
    """Return the client of the session that a request names, or None. Raises RpcError for one that is not there."""
    session = call.headers.get(SESSION)
    if session is None:
        return None
    client = client_identity.session_client(session)
    if client is None or session in call.services.made(client_identity.McpState).ended:
        raise _NoSession(messages.INVALID_REQUEST, "there is no such session; open another one with `initialize`")
    return client


class _NoSession(RpcError):
    """Raised for a request that names a session which has ended or never began."""


class _NotOpened(RpcError):
    """Raised for a request without a session that comes before `initialize`."""


async def _batch(call: Call, known: Client | None, values: list[Any]) -> Reply:
    """Answer the messages of a list, as the one revision with batches has them."""
    if not values or known is None or known.version != "2025-03-26":
        raise RpcError(
            messages.INVALID_REQUEST, "a message is one JSON object; batches are of revision 2025-03-26 alone"
        )
    answers = []
    for value in values:
        reply = await _message(call, known, value)
        if isinstance(reply, Reply) and reply.status != 202:
            answers.append(reply.json)
    return Reply(answers) if answers else Reply(status=202, body=b"")


async def _message(call: Call, known: Client | None, value: Any) -> Reply | Stream:
    """Answer one message; a notification and an answer have none."""
    number = value.get("id") if isinstance(value, dict) else None
    number = number if isinstance(number, str | int) and not isinstance(number, bool) else None
    stateless = known is None
    try:
        request = messages.request_of(value)
        if request is None:
            _answer_question(call, known, value)
            return Reply(status=202, body=b"")
        if request.is_notification:
            return Reply(status=202, body=b"")
        stateless = _is_stateless(call, known, request)
        if not stateless and known is None and request.method == "ping":  # allowed before the session begins
            return Reply(messages.success(request, {}, stateless=False))
        if not stateless and (known is None or request.method == "initialize"):
            known = _opened(call, request)
        client = client_identity.client_of(call, None if stateless else known, request)
        if client.stateless and request.method == _LISTEN:
            return _listen(call, client, request)
        result = await server.result(call, client, request)
        if isinstance(result, Question):
            if not client.stateless:
                return _ask(call, client, request, result)
            result = server.question_result(result)
        return _success(request, result, client)
    except RpcError as error:
        return _failure(number, error, stateless=stateless)
    except ReverieError as error:
        wrapped = RpcError(messages.INTERNAL_ERROR, error.sentence, error=error.code)
        return _failure(number, wrapped, stateless=stateless)


def _opened(call: Call, request: Request) -> Client:
    """Return the client of a new session, which `initialize` opens. Raises RpcError for any other request."""
    if request.method != "initialize":
        raise _NotOpened(
            messages.INVALID_PARAMS,
            "call `initialize` first and send its Mcp-Session-Id, or name the protocol version in `_meta`",
            supported=[*messages.STATELESS_VERSIONS, *messages.HANDSHAKE_VERSIONS],
        )
    opened = client_identity.session_client(client_identity.new_session(request, call.services.random(KEY_BYTES).hex()))
    assert opened is not None
    return opened


def _is_stateless(call: Call, known: Client | None, request: Request) -> bool:
    """Return True for a request without a session, after checking what its headers and its `_meta` say.

    Raises:
        RpcError: the two differ, something is missing, or the revision is not served.
    """
    header = call.headers.get(VERSION)
    named = messages.META + "protocolVersion" in request.meta
    from_bridge = client_identity.BRIDGE in call.headers
    if known is not None and not named:
        if header is not None and header not in messages.HANDSHAKE_VERSIONS and not from_bridge:
            raise RpcError(messages.INVALID_REQUEST, f"revision {header[:40]!r} has no sessions here")
        return False
    if not named and (header is None or header in messages.HANDSHAKE_VERSIONS):
        return False
    messages.check_meta(request)
    if not from_bridge:
        _check_headers(call, request)
    return messages.is_stateless(request)


def _check_headers(call: Call, request: Request) -> None:
    """Raise RpcError where a header differs from the body: a proxy may have routed or authorised by the header."""
    expected = {VERSION: request.meta[messages.META + "protocolVersion"], METHOD: request.method}
    if request.method in _NAMED_BY:
        expected[NAME] = request.params.get(_NAMED_BY[request.method])
    for name, value in expected.items():
        given = call.headers.get(name)
        if given is None or given.strip(" \t") != value:
            said = "is missing" if given is None else f"says {given[:80]!r}"
            raise RpcError(messages.HEADER_MISMATCH, f"the header {name} {said}, and the body says {str(value)[:80]!r}")


def _success(request: Request, found: dict[str, Any], client: Client) -> Reply:
    body = messages.success(request, found, stateless=client.stateless)
    headers = {"mcp-session-id": client.session} if request.method == "initialize" else {}
    return Reply(body, headers=headers)


def _failure(number: str | int | None, error: RpcError, *, stateless: bool) -> Reply:
    """Return a JSON-RPC error with its HTTP status: 200 for most errors of a session, 4xx or 5xx without one."""
    status = _STATUS.get(error.code, 200)
    if isinstance(error, _NoSession | _NotOpened):
        status = 404 if isinstance(error, _NoSession) else 400
    elif stateless:
        status = {messages.METHOD_NOT_FOUND: 404, messages.INTERNAL_ERROR: 500}.get(error.code, 400)
    return Reply(messages.failure(number, error), status=status)


# Streams


def _event(message: Any) -> bytes:
    return b"event: message\ndata: " + json.dumps(message, separators=(",", ":")).encode() + b"\n\n"


def _listen(call: Call, client: Client, request: Request) -> Stream:
    """Return the event stream of a subscription: an acknowledgement, then each change of the subscribed resources."""
    asked = request.params.get("notifications", {})
    if not isinstance(asked, dict):
        raise RpcError(messages.INVALID_PARAMS, "`notifications` says what is wanted")
    uris = asked.get("resourceSubscriptions", [])
    if (
        not isinstance(uris, list)
        or not all(isinstance(uri, str) for uri in uris)
        or len(uris) > client_identity.URIS_MAX
    ):
        raise RpcError(
            messages.INVALID_PARAMS,
            f"`resourceSubscriptions` is a list of {client_identity.URIS_MAX:,} URIs at most",
        )
    agreed: dict[str, Any] = {"resourceSubscriptions": uris} if uris else {}
    agreed |= {"resourcesListChanged": True} if asked.get("resourcesListChanged") else {}
    watch = Watch(
        frozenset(uris),
        lambda: client_identity.thread_of(call, client, request),
        lists="resourcesListChanged" in agreed,
    )
    first = ("notifications/subscriptions/acknowledged", {"notifications": agreed})
    meta = {messages.META + "subscriptionId": request.id}
    return _stream_of(call, watch, first=first, meta=meta)


@serves(Doors.mcp_stream)
async def get(call: Call) -> Reply | Stream:
    """Return the stream of a session: the changes of the resources that it subscribed to."""
    try:
        client = _known_client(call)
    except RpcError as error:
        return _failure(None, error, stateless=False)
    if client is None or "text/event-stream" not in call.headers.get("accept", ""):
        return Reply(status=405, headers={"allow": "POST"}, body=b"")
    uris = call.services.made(client_identity.McpState).uris_of(client.session)
    request = messages.Request(None, "", {}, is_notification=True)
    bridged = client_identity.client_of(call, client, request)
    watch = Watch(uris, lambda: client_identity.thread_of(call, bridged, request), lists=True)
    return _stream_of(call, watch)


def _stream_of(call: Call, watch: Watch, *, first: Change | None = None, meta: dict[str, Any] | None = None) -> Stream:
    subscription = call.services.events.subscribe(counted=False)

    def notification(change: Change) -> bytes:
        method, params = change
        return _event({"jsonrpc": "2.0", "method": method, "params": {**params, **({"_meta": meta} if meta else {})}})

    async def items() -> AsyncGenerator[bytes, None]:
        if first is not None:
            yield notification(first)
        async for batch in changes(call, watch, subscription):
            yield b"".join(map(notification, batch)) or b": still here\n\n"

    return Stream(items(), subscription.close)


def _ask(call: Call, client: Client, request: Request, question: Question) -> Stream:
    """Return the stream of a call that waits for its user: the question, and after its answer the result."""
    state = call.services.made(client_identity.McpState)
    # No number: the answer to a question of a daemon that ended would be one to another question of the next daemon.
    name = f"question-{call.services.random(KEY_BYTES).hex()}"
    future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
    state.questions[client.session, name] = future

    async def items() -> AsyncGenerator[bytes, None]:
        yield _event({"jsonrpc": "2.0", "id": name, "method": messages.ELICITATION, "params": question.params})
        try:
            answer = await asyncio.wait_for(future, QUESTION_S)
        except TimeoutError:
            answer = {}
        yes = server.agreed(answer)
        result = await server.call_tool(call, client, request) if yes else server.declined()
        yield _event(messages.success(request, result, stateless=False))

    def ended() -> None:
        state.questions.pop((client.session, name), None)
        future.cancel()

    return Stream(items(), ended)


def _answer_question(call: Call, client: Client | None, value: dict[str, Any]) -> None:
    """Pass the answer of a user on to the call that waits for it; any other is dropped."""
    name = value.get("id")
    if client is None or not isinstance(name, str):
        return
    future = call.services.made(client_identity.McpState).questions.get((client.session, name))
    if future is not None and not future.done():
        answer = value.get("result")
        future.set_result(answer if isinstance(answer, dict) else {})
        logger("reveried.mcp").debug("a question was answered")


@serves(Doors.end_mcp)
async def delete(call: Call) -> Reply:
    """End a session."""
    try:
        client = _known_client(call)
    except RpcError as error:
        return _failure(None, error, stateless=False)
    if client is None:
        return Reply(status=405, headers={"allow": "POST"}, body=b"")
    call.services.made(client_identity.McpState).end(client.session)
    return Reply(status=204)
