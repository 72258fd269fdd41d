"""The provider's address, and connections to it: TLS with the system's authorities, or through another proxy."""

from __future__ import annotations

import asyncio
import base64
import os
import socket
import ssl
import urllib.parse
import urllib.request
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeVar

from reverie.errors import ValidationError
from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Callable

P = TypeVar("P", bound=asyncio.Protocol)

_PORTS: Final = {"http": 80, "https": 443}
_PATH: Final = lazy_regex(r"[!-~]*")
_CONNECT_HEAD_MAX: Final = 16 * 1024  # of a proxy's answer
_HAPPY_EYEBALLS_S: Final = 0.25  # before the next address is tried beside one that does not answer (RFC 8305)


@dataclass(frozen=True, slots=True)
class Upstream:
    """Where requests go: a base URL in its parts, the TLS settings (None for http), and a proxy to go through."""

    host: str
    port: int
    base_path: str
    tls: ssl.SSLContext | None = field(default=None, repr=False)
    proxy: urllib.parse.SplitResult | None = field(default=None, repr=False)  # its URL may have a password

    @property
    def authority(self) -> bytes:
        """Return the value of the header `Host`."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        is_usual = self.port == _PORTS["https" if self.tls else "http"]
        return (host if is_usual else f"{host}:{self.port}").encode("ascii")

    async def connect(self, protocol: Callable[[], P]) -> P:
        """Return the protocol of a new connection. Raises OSError, also for a certificate that is not trusted."""
        loop = asyncio.get_running_loop()
        name = self.host if self.tls else None
        if self.proxy is None:
            _, connected = await loop.create_connection(
                protocol,
                self.host,
                self.port,
                ssl=self.tls,
                server_hostname=name,
                happy_eyeballs_delay=_HAPPY_EYEBALLS_S,
            )
            return connected
        tunnel = await self._tunnel(self.proxy)
        try:
            _, connected = await loop.create_connection(protocol, sock=tunnel, ssl=self.tls, server_hostname=name)
        except BaseException:
            tunnel.close()
            raise
        return connected

    async def _tunnel(self, proxy: urllib.parse.SplitResult) -> socket.socket:
        """Return a socket that a proxy has connected to the provider (RFC 9110, 9.3.6). Raises OSError."""
        loop = asyncio.get_running_loop()
        where = await loop.getaddrinfo(proxy.hostname, proxy.port or 80, type=socket.SOCK_STREAM)
        family, kind, number, _, address = where[0]
        connection = socket.socket(family, kind, number)
        try:
            connection.setblocking(False)  # noqa: FBT003 - the standard library's signature
            await loop.sock_connect(connection, address)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await loop.sock_sendall(connection, self._connect_request(proxy))
            await _accepted(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _connect_request(self, proxy: urllib.parse.SplitResult) -> bytes:
        host = f"[{self.host}]" if ":" in self.host else self.host
        lines = [f"CONNECT {host}:{self.port} HTTP/1.1", f"Host: {host}:{self.port}"]
        if proxy.username is not None:
            words = f"{urllib.parse.unquote(proxy.username)}:{urllib.parse.unquote(proxy.password or '')}"
            lines.append(f"Proxy-Authorization: Basic {base64.b64encode(words.encode()).decode()}")
        return "\r\n".join([*lines, "", ""]).encode()


async def _accepted(connection: socket.socket) -> None:
    """Read a proxy's answer to CONNECT. Raises OSError unless its status is 200."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        # One byte at a time: what follows the head belongs to the provider.
        piece = await asyncio.get_running_loop().sock_recv(connection, 1)
        head += piece
        if not piece or len(head) > _CONNECT_HEAD_MAX:
            raise ConnectionRefusedError("the proxy ended the connection")
    if head.split(b" ", 2)[1:2] != [b"200"]:
        raise ConnectionRefusedError("the proxy refused the connection")


def upstream(url: str) -> Upstream:
    """Return the provider at a base URL, with the proxy and the authorities that the environment names.

    Raises:
        ValidationError: the URL is none of http or https, or the proxy's is none of http.
    """
    split_url = _split(url)
    if split_url is None or split_url[0].scheme not in _PORTS or split_url[0].username is not None:
        # Not repeated: it may have a password.
        raise ValidationError(
            "what is given is no address of a provider", hint='give one such as "https://api.anthropic.com"'
        )
    parts, port = split_url
    if parts.query or parts.fragment or not _PATH.fullmatch(parts.path):
        raise ValidationError(
            "the provider's address has a query, a fragment, or a path with spaces or letters that are not ASCII",
            hint='give one such as "https://api.anthropic.com"',
        )
    assert parts.hostname is not None
    if not parts.hostname.isascii():
        raise ValidationError("the provider's host is not ASCII", hint="write its name in punycode")
    is_tls = parts.scheme == "https"
    return Upstream(
        parts.hostname,
        port or _PORTS[parts.scheme],
        parts.path.rstrip("/"),
        tls=_tls() if is_tls else None,
        proxy=_proxy(parts.hostname) if is_tls else None,
    )


def _split(url: str) -> tuple[urllib.parse.SplitResult, int | None] | None:
    """Return the parts of a URL and its port, if it has one; None for a URL that has no host or a wrong port."""
    try:
        parts = urllib.parse.urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    return (parts, port) if parts.hostname and port != 0 else None


def _tls() -> ssl.SSLContext:
    """Return TLS settings that trust the system's authorities and those in NODE_EXTRA_CA_CERTS."""
    context = ssl.create_default_context()
    if extra := os.environ.get("NODE_EXTRA_CA_CERTS"):
        try:
            context.load_verify_locations(extra)
        except OSError as error:
            raise ValidationError(
                f"NODE_EXTRA_CA_CERTS: {extra} cannot be read: {error.strerror or error}", hint="correct or unset it"
            ) from error
    return context


def _proxy(host: str) -> urllib.parse.SplitResult | None:
    """Return the proxy for https of the environment, None without one or where NO_PROXY names the host."""
    url = urllib.request.getproxies().get("https")
    if not url or urllib.request.proxy_bypass(host):
        return None
    split_url = _split(url if "://" in url else f"http://{url}")
    if split_url is None or split_url[0].scheme != "http":
        raise ValidationError(
            "HTTPS_PROXY is no address of an http proxy", hint="set it as http://host:port, or unset it"
        )
    return split_url[0]
