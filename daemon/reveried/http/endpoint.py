"""One route as an ASGI application: knows the caller, calls the handler, and turns every failure into the envelope."""

from __future__ import annotations

import asyncio
import time
import urllib.parse
from typing import TYPE_CHECKING

from reverie.errors import ProtocolMismatch, ReverieError, UnsupportedMedia, ValidationError, unexpected
from reveried import PROTOCOL
from reveried.http.auth import caller_of
from reveried.http.call import Call, Reply, Stream
from reveried.http.envelope import body_of, headers_of
from reveried.log import logger

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from starlette.types import Receive, Scope, Send

    from reveried.http.table import Route
    from reveried.services import Services

__all__ = ["Endpoint", "send_error"]

JSON_TYPES = frozenset({"", "application/json", "application/x-www-form-urlencoded"})
QUERY_FIELDS_MAX = 100
PROTOCOL_HEADER = (b"reverie-protocol", str(PROTOCOL).encode())


class Endpoint:
    """The ASGI application of one route."""

    def __init__(self, route: Route, services: Services) -> None:
        self._route = route
        self._services = services
        self._metrics = services.metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request; nothing but cancellation leaves it as an exception."""
        began = time.perf_counter()
        status = 500
        try:
            answer = await self._route.handler(await self._call_of(scope, receive))
            status = await _send_answer(answer, receive, send)
        except ReverieError as error:
            status = error.status
            await send_error(error, send)
        except Exception as error:  # noqa: BLE001 - the edge: an unexpected error becomes an answer and a log line
            logger("reveried.http").error(
                "a request failed unexpectedly", route=self._route.path, kind=type(error).__name__, exc_info=error
            )
            await send_error(unexpected(error), send)
        finally:
            self._metrics.observe(self._route.method, self._route.path, status, time.perf_counter() - began)

    async def _call_of(self, scope: Scope, receive: Receive) -> Call:
        """The request as a `Call`; whoever sent it is known afterwards."""
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        _check_protocol(headers)
        body = await _whole_body(receive)
        if body and not self._route.raw:
            _check_media(headers)
        caller = caller_of(headers, scope["server"], self._services.callers)
        return Call(
            method=scope["method"],
            path=scope["path"],
            space=caller.space,
            agent=caller.agent,
            params=scope.get("path_params", {}),
            query=_query(scope["query_string"]),
            headers=headers,
            body=body,
            services=self._services,
        )


async def send_error(error: ReverieError, send: Send) -> None:
    """The envelope as a whole answer."""
    body = body_of(error)
    headers = [*headers_of(error), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _send_answer(answer: Reply | Stream, receive: Receive, send: Send) -> int:
    if isinstance(answer, Stream):
        await _send_stream(answer, receive, send)
        return 200
    body = answer.encoded()
    headers = [PROTOCOL_HEADER, *_encoded(answer.headers)]
    if answer.status != 204:
        headers += [(b"content-type", answer.media.encode()), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
    return answer.status


async def _send_stream(answer: Stream, receive: Receive, send: Send) -> None:
    """Sends each item as it comes, until the items or the peer end."""
    headers = [
        PROTOCOL_HEADER,
        *_encoded(answer.headers),
        (b"content-type", answer.media.encode()),
        (b"cache-control", b"no-store"),
    ]
    sending = leaving = None
    try:
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        sending = asyncio.ensure_future(_send_items(answer.items, send))
        leaving = asyncio.ensure_future(_gone(receive))
        await asyncio.wait((sending, leaving), return_when=asyncio.FIRST_COMPLETED)
    finally:
        tasks = [task for task in (sending, leaving) if task is not None]
        for task in tasks:
            task.cancel()
        outcome = await asyncio.gather(*tasks, return_exceptions=True)
        await answer.items.aclose()
        answer.ended()
    failure = next((one for one in outcome if isinstance(one, Exception)), None)
    if failure is not None:
        logger("reveried.http").error("a stream failed", kind=type(failure).__name__, exc_info=failure)
    # After the head is sent a failure cannot be said: the stream ends, and the client resumes.
    await send({"type": "http.response.body", "body": b""})


async def _send_items(items: AsyncGenerator[bytes, None], send: Send) -> None:
    async for item in items:
        await send({"type": "http.response.body", "body": item, "more_body": True})


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _whole_body(receive: Receive) -> bytes:
    """The body; the connection hands over only whole requests, so this is one step."""
    pieces = []
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            break
        pieces.append(message.get("body", b""))
        more = message.get("more_body", False)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _encoded(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]


def _check_protocol(headers: Mapping[str, str]) -> None:
    theirs = headers.get("reverie-protocol")
    if theirs is not None and theirs != str(PROTOCOL):
        raise ProtocolMismatch(
            f"This daemon speaks protocol {PROTOCOL}, the caller another.",
            hint="Install the same version of `reverie` and `reveried`, then: reverie down; reverie up",
            protocol=PROTOCOL,
        )


def _check_media(headers: Mapping[str, str]) -> None:
    encoding = headers.get("content-encoding", "identity").strip().lower()
    if encoding != "identity":
        raise UnsupportedMedia("Compressed bodies are not taken.", hint="Send the body as plain JSON.")
    kind, _, parameters = headers.get("content-type", "").partition(";")
    media = kind.strip().lower()
    charset = parameters.replace(" ", "").lower().partition("charset=")[2].strip('"')
    if (media not in JSON_TYPES and not media.endswith("+json")) or charset not in {"", "utf-8", "utf8"}:
        raise UnsupportedMedia("The body must be JSON in UTF-8.", hint="Send Content-Type: application/json.")


def _query(raw: bytes) -> dict[str, str]:
    """The query string; a name that comes twice, or bytes that are not UTF-8, are refused."""
    if not raw:
        return {}
    try:
        pairs = urllib.parse.parse_qsl(
            raw.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=QUERY_FIELDS_MAX
        )
    except ValueError as error:
        raise ValidationError("The query string cannot be read.", hint="Percent-encode UTF-8.") from error
    query = dict(pairs)
    if len(query) != len(pairs):
        raise ValidationError("A name stands twice in the query string.", hint="Give each name once.")
    return query
