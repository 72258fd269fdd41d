"""The table of routes and what runs one: matching, authentication, decoding, the handler, and error responses."""

from __future__ import annotations

import asyncio
import re
import time
import urllib.parse
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

from reverie import wire
from reverie.errors import (
    Forbidden,
    MethodNotAllowed,
    NotFound,
    ProtocolMismatch,
    ReverieError,
    UnsupportedMedia,
    ValidationError,
    failure_of,
)
from reverie.redact import logged
from reveried import PROTOCOL
from reveried.execute import answer_once, read
from reveried.http.auth import caller_of
from reveried.http.message import PROTOCOL_HEADER, send_error
from reveried.http.types import PATH_PARAMETER, Call, Reply, Stream
from reveried.log import logger
from reveried.ram import after_work

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from reverie.api.endpoint import Endpoint
    from reverie.store import Reader
    from reveried.http.message import Request, Response
    from reveried.services import Services

JSON_TYPES = frozenset({"", "application/json", "application/x-www-form-urlencoded"})  # curl's -d sends the last one
QUERY_FIELDS_MAX = 100
SHOWN_CHARS = 80  # of an unknown path in the error message

T = TypeVar("T")
Handler = Callable[[Call], Coroutine[Any, Any, T | Reply | Stream]]
"""Returns the answer of its endpoint; or a Reply, for headers or another status or form; or a stream."""


class Table(dict["Endpoint[..., Any]", "Handler[Any]"]):
    """Endpoints with their handlers."""

    def serves(
        self, endpoint: Endpoint[..., T], *, once: bool = False, owner: str = "", hint: str = ""
    ) -> Callable[[Handler[T]], Handler[T]]:
        """Return the decorator of an endpoint's handler, which decodes the body by `call.into(Struct)`.

        With `once` its answer is stored under the idempotency key, and a repeated call gets that. `owner` says what
        only the owner may do, who types `hint` for it.
        """

        def served(handler: Handler[T]) -> Handler[T]:
            @wraps(handler)
            async def run(call: Call) -> T | Reply | Stream:
                if owner and not call.is_owner:
                    raise Forbidden(f"a token may not {owner}", hint=hint)
                if not once:
                    return await handler(call)
                return await answer_once(
                    call.services, call.space, call.idempotency, lambda: handler(call), endpoint.answer
                )

            self[endpoint] = run if once or owner else handler
            return handler

        return served

    def reads(
        self, endpoint: Endpoint[..., T]
    ) -> Callable[[Callable[[Reader, Call], T | Reply]], Callable[[Reader, Call], T | Reply]]:
        """Return the decorator of a function of a reader of the caller's space, which runs in a thread."""

        def served(answer: Callable[[Reader, Call], T | Reply]) -> Callable[[Reader, Call], T | Reply]:
            @wraps(answer)
            async def run(call: Call) -> T | Reply:
                return await read(call.services, call.space, lambda reader: answer(reader, call))

            self[endpoint] = run
            return answer

        return served


API = Table()
"""The routes of the daemon, whose modules enter them by `serves`."""

serves, reads = API.serves, API.reads


class _Path:
    """One path of the table with its endpoints by method; GET also serves HEAD (RFC 9110, 9.3.2)."""

    def __init__(self, path: str) -> None:
        literal, *rest = PATH_PARAMETER.split(path)  # then name, `:path` or None, and literal text, in turn
        regex = re.escape(literal)
        for name, whole, text in zip(rest[0::3], rest[1::3], rest[2::3], strict=True):
            regex += f"(?P<{name}>{'.*' if whole else '[^/]+'})" + re.escape(text)
        self.regex = re.compile(regex)  # noqa: TID251 - made for a request that it is matched against
        self.routes: dict[str, tuple[Endpoint[..., Any], Handler[Any]]] = {}

    def add(self, endpoint: Endpoint[..., Any], handler: Handler[Any]) -> None:
        """Add an endpoint of this path; GET answers HEAD too. Raises ValueError: the path has one of its method."""
        if endpoint.method in self.routes:
            raise ValueError(f"two routes claim {endpoint.line}")
        self.routes[endpoint.method] = endpoint, handler
        if endpoint.method == "GET":
            self.routes["HEAD"] = endpoint, handler


def paths_of(routes: Table) -> list[_Path]:
    """Return the paths of a table in the order in which they are matched."""
    paths: dict[str, _Path] = {}
    # An exact path goes before a pattern, so that `/v1/jobs/all` is not taken for a job named `all`.
    for row in sorted(routes, key=lambda row: ("{" in row.path, ":path}" in row.path)):
        paths.setdefault(row.path, _Path(row.path)).add(row, routes[row])
    return list(paths.values())


class Application:
    """The handler of every request: answers it by the route that matches, by 404, or by 405."""

    def __init__(self, routes: Callable[[str], Table], services: Services) -> None:
        """`routes` returns the endpoints of a noun, the first segment of a path, at the first request with it."""
        self._routes = routes
        self._services = services
        self._metrics = services.metrics
        self._paths: dict[str, list[_Path]] = {}  # only the few paths of one noun are matched against a request

    async def __call__(self, request: Request, response: Response) -> None:
        """Answer one request: by the matching route's handler, or with 404 or 405."""
        allowed: set[str] = set()
        noun = noun_of(request.path)
        paths = self._paths.get(noun) or paths_of(self._routes(noun))
        if paths:
            self._paths[noun] = paths
        for path in paths:
            match = path.regex.fullmatch(request.path)
            if match is None:
                continue
            route = path.routes.get(request.method)
            if route is not None:
                endpoint, handler = route
                await self._run(endpoint, handler, match.groupdict(), request, response)
                return
            allowed |= path.routes.keys()
        if allowed:
            names = ", ".join(sorted(allowed))
            refusal = MethodNotAllowed(f"{request.method} is not served here.", hint=f"Use {names}.", allow=names)
            await send_error(refusal, response)
        else:
            shown = request.path[:SHOWN_CHARS]
            await send_error(NotFound(f"There is no {shown!r} here.", hint="See /v1/openapi.json."), response)

    async def _run(
        self,
        route: Endpoint[..., Any],
        handler: Handler[Any],
        params: Mapping[str, str],
        request: Request,
        response: Response,
    ) -> None:
        """Run the handler of a route; no exception but cancellation escapes."""
        began = time.perf_counter()
        status, size = 500, len(request.body)
        try:
            with logged():  # what is redacted in this request is recorded with where it was
                answer = await handler(self._call_of(route, params, request))
            if not isinstance(answer, Reply | Stream):
                answer = _reply(route, answer)
            status = await _send_answer(answer, response)
        except ReverieError as error:
            status = error.status
            await send_error(error, response)
        except BaseException as error:  # noqa: BLE001 - the edge: an unexpected error becomes a response and a log line
            failure = failure_of(error)
            logger("reveried.http").error(
                "a request failed unexpectedly", route=route.path, kind=type(error).__name__, exc_info=error
            )
            await send_error(failure, response)
        finally:
            self._metrics.observe(route.method, route.path, status, time.perf_counter() - began)
            after_work(size)

    def _call_of(self, route: Endpoint[..., Any], params: Mapping[str, str], request: Request) -> Call:
        """Return the request as a `Call` of an authenticated caller.

        The protocol is checked first: to an older client every later error would be less helpful.
        """
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in request.headers}
        _check_protocol(headers)
        if request.body and not route.raw:
            _check_media(headers)
        body, request.body = bytes(request.body), bytearray()  # one copy in memory while the handler runs
        caller = caller_of(
            headers,
            over_tcp=request.over_tcp,
            callers=self._services.callers,
            local_pages=route.local_pages,
        )
        return Call(
            method=request.method,
            path=request.path,
            space=caller.space,
            agent=caller.agent,
            token=caller.token,
            params=params,
            query=wire.parse_query(route.query_kind, _query(request.query)),
            headers=headers,
            body=body,
            services=self._services,
        )


def noun_of(path: str) -> str:
    """Return the first segment after the version: `threads` of `/v1/threads/x`, `mcp` of `/mcp`."""
    return path.removeprefix("/v1").lstrip("/").partition("/")[0]


def _reply(route: Endpoint[..., Any], answer: Any) -> Reply:
    """Return the answer of an endpoint with its status and media type, its version, and the path of what was made."""
    headers = {"etag": f'"{answer.etag}"'} if route.etag and hasattr(answer, "etag") else {}
    if route.status == 201 and "{" not in route.path:
        headers["location"] = f"{route.path}/{answer.id}"
    body = answer.encode() if isinstance(answer, str) else None
    return Reply(answer, status=route.status, headers=headers, body=body, media=route.media)


async def _send_answer(answer: Reply | Stream, response: Response) -> int:
    """Send what a handler returned; return its status."""
    if isinstance(answer, Stream):
        await _send_stream(answer, response)
        return 200
    body = answer.encoded()
    headers = [PROTOCOL_HEADER, *_encoded(answer.headers)]
    if answer.status != 204:
        headers += [(b"content-type", answer.media.encode()), (b"content-length", b"%d" % len(body))]
    await response.send(answer.status, headers, body)
    if answer.sent is not None:
        answer.sent()
    return answer.status


async def _send_stream(answer: Stream, response: Response) -> None:
    """Send each item as it arrives, until the items end or the peer disconnects."""
    headers = [
        PROTOCOL_HEADER,
        *_encoded(answer.headers),
        (b"content-type", answer.media.encode()),
        (b"cache-control", b"no-store"),
    ]
    tasks: list[asyncio.Future[None]] = []
    outcome: list[BaseException | None] = []
    try:
        await response.start(200, headers)
        if response.is_stream:  # the answer to HEAD ends with its head
            tasks.append(asyncio.ensure_future(_send_items(answer.items, response)))
            tasks.append(asyncio.ensure_future(response.wait_disconnected()))
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        outcome = await asyncio.gather(*tasks, return_exceptions=True)
        await answer.items.aclose()
        answer.ended()
    failure = next((one for one in outcome if one is not None and not isinstance(one, asyncio.CancelledError)), None)
    if failure is not None:
        logger("reveried.http").error("a stream failed", kind=type(failure).__name__, exc_info=failure)
    # After the head an error cannot be reported any more: the stream ends, and the client resumes it.
    await response.end()


async def _send_items(items: AsyncGenerator[bytes, None], response: Response) -> None:
    async for item in items:
        await response.write(item)


def _encoded(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]


def _check_protocol(headers: Mapping[str, str]) -> None:
    version = headers.get("reverie-protocol")
    if version is not None and version != str(PROTOCOL):
        raise ProtocolMismatch(
            f"This daemon speaks protocol {PROTOCOL}, the caller another.",
            hint="Install the same version of `reverie` and `reveried`, then: reverie down; reverie up",
            protocol=PROTOCOL,
        )


def _check_media(headers: Mapping[str, str]) -> None:
    """Refuse a body that is compressed, no JSON by its type, or in another encoding than UTF-8."""
    encoding = headers.get("content-encoding", "identity").strip().lower()
    if encoding != "identity":
        raise UnsupportedMedia("Compressed bodies are not taken.", hint="Send the body as plain JSON.")
    kind, _, parameters = headers.get("content-type", "").partition(";")
    media = kind.strip().lower()
    charset = parameters.replace(" ", "").lower().partition("charset=")[2].strip('"')
    if (media not in JSON_TYPES and not media.endswith("+json")) or charset not in {"", "utf-8", "utf8"}:
        raise UnsupportedMedia("The body must be JSON in UTF-8.", hint="Send Content-Type: application/json.")


def _query(raw: bytes) -> dict[str, str]:
    """Decode the query string; a repeated name, or bytes that are not UTF-8, are refused."""
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
        raise ValidationError("A parameter is in the query string twice.", hint="Give each parameter once.")
    return query
