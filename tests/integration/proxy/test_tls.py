"""The proxy's connection to a provider: certificates, and a proxy of the environment between the two."""

from __future__ import annotations

import base64
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from reverie.errors import ValidationError
from reveried.proxy.provider import upstream
from support.model_server import ModelServer, raw, read_message, self_signed
from support.upstream import WAIT_S, connected, ok, proxied

BODY = b'{"messages": []}'


Signed = tuple[Path, ssl.SSLContext]


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory) -> Signed:
    """A certificate that no authority has signed, and the TLS settings of a provider that has it."""
    return self_signed(tmp_path_factory.mktemp("tls"))


@pytest.fixture(autouse=True)
def _without_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove proxy and certificate variables of the environment for a test."""
    for name in ("https_proxy", "HTTPS_PROXY", "no_proxy", "NO_PROXY", "all_proxy", "ALL_PROXY", "NODE_EXTRA_CA_CERTS"):
        monkeypatch.delenv(name, raising=False)


@contextmanager
def tunnel(answer: bytes) -> Iterator[tuple[int, list[bytes]]]:
    """Run an HTTP proxy for one connection; yield its port and the request heads that it received."""
    heads: list[bytes] = []

    def serve() -> None:
        with suppress(OSError):
            peer, _ = listener.accept()
            with peer:
                head = read_message(peer) or b""
                heads.append(head)
                peer.sendall(answer)
                if b" 200 " not in answer:
                    return
                host, _, port = head.split(b" ")[1].partition(b":")
                with socket.create_connection((host.decode(), int(port))) as other:
                    back = threading.Thread(target=pump, args=(other, peer), daemon=True)
                    back.start()
                    pump(peer, other)
                    back.join(WAIT_S)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1], heads
    thread.join(WAIT_S)


def pump(source: socket.socket, target: socket.socket) -> None:
    """Copy bytes until the source ends."""
    with suppress(OSError):
        while piece := source.recv(1 << 16):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)


def test_a_certificate_is_checked(signed: Signed, monkeypatch: pytest.MonkeyPatch) -> None:
    """A provider with an untrusted certificate gets no request; one that NODE_EXTRA_CA_CERTS trusts is asked."""
    certificate, tls = signed
    with ModelServer(raw(ok(b"{}")), tls=tls) as models:
        with proxied(models.url) as server, connected(server) as send:
            assert send("POST", "/v1/messages", BODY, "x-api-key: k").recv(1) == b""
        assert models.requests == []
        monkeypatch.setenv("NODE_EXTRA_CA_CERTS", str(certificate))
        with proxied(models.url) as server, connected(server) as send:
            for _ in range(2):
                assert read_message(send("POST", "/v1/messages", BODY)) == ok(b"{}")
        assert len(models.requests) == 2


def test_a_proxy_of_the_environment(signed: Signed, monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests go through the HTTPS_PROXY of the environment, with its password, but not to hosts in NO_PROXY."""
    certificate, tls = signed
    monkeypatch.setenv("NODE_EXTRA_CA_CERTS", str(certificate))
    with ModelServer(raw(ok(b"{}")), tls=tls) as models:
        with tunnel(b"HTTP/1.1 200 Connected\r\n\r\n") as (port, heads):
            monkeypatch.setenv("HTTPS_PROXY", f"http://ann:p%40ss@127.0.0.1:{port}")
            with proxied(models.url) as server, connected(server) as send:
                assert read_message(send("POST", "/v1/messages", BODY)) == ok(b"{}")
        target = models.url.removeprefix("https://").encode()
        words = base64.b64encode(b"ann:p@ss")
        assert heads == [
            b"CONNECT %b HTTP/1.1\r\nHost: %b\r\nProxy-Authorization: Basic %b\r\n\r\n" % (target, target, words)
        ]
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        with proxied(models.url) as server, connected(server) as send:
            assert read_message(send("POST", "/v1/messages", BODY)) == ok(b"{}")


def test_a_proxy_of_the_environment_that_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the HTTPS_PROXY of the environment refuses to connect, the client's connection ends and no request is sent."""
    with ModelServer(raw()) as models, tunnel(b"HTTP/1.1 407 Who?\r\n\r\n") as (port, heads):
        monkeypatch.setenv("HTTPS_PROXY", f"127.0.0.1:{port}")
        with proxied(models.url.replace("http:", "https:")) as server, connected(server) as send:
            assert send("POST", "/v1/messages", BODY).recv(1) == b""
        assert len(heads) == 1
        assert models.connections == 0


def test_settings_of_the_environment_that_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """A malformed HTTPS_PROXY or a missing file of NODE_EXTRA_CA_CERTS is a ValidationError that names it."""
    for wrong in ("socks5://127.0.0.1:1", "http://[bad", "http://u:pass/word@h:1", "http://h:abc"):
        monkeypatch.setenv("HTTPS_PROXY", wrong)
        with pytest.raises(ValidationError, match="HTTPS_PROXY"):
            upstream("https://api.example.org")
    monkeypatch.delenv("HTTPS_PROXY")
    monkeypatch.setenv("NODE_EXTRA_CA_CERTS", "/nonexistent")
    with pytest.raises(ValidationError, match="NODE_EXTRA_CA_CERTS"):
        upstream("https://api.example.org")
