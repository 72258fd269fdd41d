"""The client of the Messages API in the model process: bounded responses, no retries, and a request's parameters."""

from __future__ import annotations

import urllib.request
from contextlib import asynccontextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import anthropic
import httpx2
import msgspec

from reverie.language_model.requests import ANSWER_BYTES_MAX, ModelMessage, ModelRequest

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncIterator

BODY_BYTES_MAX = 8 * ANSWER_BYTES_MAX  # of a whole response: text with every character escaped, and thinking
ERROR_BYTES_MAX = 64 * 1024
CONNECT_S = 15.0


class AnswerError(httpx2.TransportError):
    """The response is too large, or compressed though that was not asked for."""


class _BoundedTransport(httpx2.AsyncBaseTransport):
    """A transport whose responses end with an error beyond a number of bytes, errors of the server included."""

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Return the response with its body bounded; a compressed one is refused, it may have any size."""
        response = await self._inner.handle_async_request(request)
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            await response.aclose()
            raise AnswerError("compressed")
        most = BODY_BYTES_MAX if response.is_success else ERROR_BYTES_MAX
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        return httpx2.Response(
            response.status_code,
            headers=response.headers,
            stream=_BoundedStream(response.stream, most),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()


class _BoundedStream(httpx2.AsyncByteStream):
    """The bytes of a stream; an error beyond `most` of them."""

    def __init__(self, inner: httpx2.AsyncByteStream, most: int) -> None:
        self._inner = inner
        self._left = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._inner:
            self._left -= len(piece)
            if self._left < 0:
                raise AnswerError("too large")
            yield piece

    async def aclose(self) -> None:
        """Close the connection's stream."""
        await self._inner.aclose()


@asynccontextmanager
async def client_of(base_url: str, key: str, timeout_s: float) -> AsyncIterator[anthropic.AsyncAnthropic]:
    """Yield a client that neither retries nor follows redirects, and reads bounded responses alone."""
    transport = _BoundedTransport(httpx2.AsyncHTTPTransport(verify=_ssl_context(), proxy=_proxy(base_url)))
    async with (
        httpx2.AsyncClient(transport=transport, follow_redirects=False) as http,
        anthropic.AsyncAnthropic(
            api_key=key,
            base_url=base_url,
            http_client=http,
            max_retries=0,
            timeout=httpx2.Timeout(None, connect=min(CONNECT_S, timeout_s)),
            default_headers={"Accept-Encoding": "identity"},
            open_telemetry=False,
        ) as client,
    ):
        yield client


def message_params(request: ModelRequest, model: str) -> dict[str, Any]:
    """Return a request as the parameters of the Messages API.

    Without tools the answer has the request's schema. With tools the last block is marked as cacheable too: the next
    turn begins with all that this one has.
    """
    params: dict[str, Any] = {
        "model": model,
        "max_tokens": request.max_output_tokens,
        "system": [{"type": "text", "text": request.system, "cache_control": {"type": "ephemeral"}}],
        "messages": [{"role": message.role, "content": _content(message)} for message in request.messages],
    }
    if not request.tools:
        schema: Any = anthropic.transform_schema(request.schema)
        return {**params, "output_config": {"format": {"type": "json_schema", "schema": schema}}}
    content = params["messages"][-1]["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    blocks[-1] = {**blocks[-1], "cache_control": {"type": "ephemeral"}}
    params["messages"][-1]["content"] = blocks
    return {**params, "tools": [msgspec.to_builtins(tool) for tool in request.tools]}


def _content(message: ModelMessage) -> str | list[dict[str, Any]]:
    """Return the content of a message: results of tools, text, and calls of tools, in this order."""
    if not message.calls and not message.results:
        return message.content
    results: list[dict[str, Any]] = [
        {"type": "tool_result", "tool_use_id": result.id, "content": result.content, "is_error": result.is_error}
        for result in message.results
    ]
    said: list[dict[str, Any]] = [{"type": "text", "text": message.content}] if message.content else []
    calls = [{"type": "tool_use", "id": call.id, "name": call.name, "input": call.input} for call in message.calls]
    return [*results, *said, *calls]


@cache
def _ssl_context() -> ssl.SSLContext:
    """Return the certificates that are trusted: loaded once, since that takes longer than the rest of a request."""
    return httpx2.create_ssl_context()


def _proxy(base_url: str) -> str | None:
    """Return the proxy that the environment names for this address, or None."""
    url = httpx2.URL(base_url)
    if urllib.request.proxy_bypass(url.host):
        return None
    return urllib.request.getproxies().get(url.scheme)
