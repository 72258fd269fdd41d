"""Tests of request semantics: content types, protocol version, paths, query strings, false JSON."""

from __future__ import annotations

from typing import Any

import pytest

from support.daemon import Daemon, check_refused


def test_compressed_and_foreign_bodies(daemon: Daemon) -> None:
    """Compressed bodies, other media types and other charsets are 415."""
    for headers in (
        {"Content-Encoding": "gzip"},
        {"Content-Type": "text/html"},
        {"Content-Type": "application/json; charset=utf-16"},
    ):
        with daemon.wire() as wire:
            lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
            wire.send(f"GET /v1/health HTTP/1.1\r\n{lines}Content-Length: 2\r\n\r\n{{}}".encode())
            check_refused(wire.answer(), 415, "unsupported_media_type")


def test_protocol_mismatch(daemon: Daemon) -> None:
    """Another protocol number is 426 with a hint."""
    answer = daemon.ask("GET", "/v1/health", headers={"Reverie-Protocol": "2"})

    check_refused(answer, 426, "protocol_mismatch")
    assert daemon.ask("GET", "/v1/health", headers={"Reverie-Protocol": "1"}).status == 200


def test_unknown_path_and_method(daemon: Daemon) -> None:
    """An unknown path is 404 with a short body, a wrong method 405 with the allowed ones."""
    check_refused(daemon.ask("GET", "/v1/" + "x" * 5000), 404, "not_found")
    assert len(daemon.ask("GET", "/v1/" + "x" * 5000).body) < 400
    check_refused(daemon.ask("GET", "/v1/health/"), 404, "not_found")
    answer = daemon.ask("DELETE", "/v1/health")
    check_refused(answer, 405, "method_not_allowed")
    assert "GET" in answer.headers["allow"]


def test_query_strings(daemon: Daemon) -> None:
    """A repeated parameter and bytes that are not UTF-8 are refused."""
    check_refused(daemon.ask("GET", "/v1/jobs?limit=1&limit=2"), 400, "validation_error")
    check_refused(daemon.ask("GET", "/v1/jobs?limit=%ff"), 400, "validation_error")
    for bad in ("0", "-1", "1001", "1e2", "9" * 30, "٣"):
        answer = daemon.ask("GET", f"/v1/jobs?limit={_percent(bad)}")
        check_refused(answer, 400, "validation_error")
    assert daemon.ask("GET", "/v1/jobs?limit=5").json() == {"items": [], "next": None}


def _percent(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode())


def test_nul_in_a_path_is_refused(daemon: Daemon) -> None:
    """A document's path is validated in every encoding."""
    for path in ("a%00b.md", "..%2f..%2fetc%2fpasswd", "%2e%2e/x.md", "a%5cb.md", "con.md"):
        answer = daemon.ask("GET", f"/v1/documents/{path}")
        assert answer.status in {400, 404}, answer.body
        assert set(answer.json()) == {"error", "message", "details"}


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/v1/sessions", {"client": "claude-code", "session": "s", "project": "/srv/\0x"}),
        ("PATCH", "/v1/privacy", {"ignore": "/a\0b"}),
        ("PATCH", "/v1/privacy", {"unignore": "/a\0b"}),
        ("POST", "/v1/runs", {"project": "/srv/\0x"}),
        ("POST", "/v1/threads", {"project": "a\0b"}),
        ("GET", "/v1/index?folder=/a%00b", None),
    ],
)
def test_nul_in_a_folder_is_refused(daemon: Daemon, method: str, path: str, body: dict[str, Any] | None) -> None:
    """A folder with a zero byte, which no system has, is refused with a hint wherever a call takes one."""
    answer = daemon.ask(method, path, body)
    check_refused(answer, 400, "validation_error")
    assert "zero byte" in answer.json()["message"]
    assert answer.json()["details"]["hint"]


@pytest.mark.parametrize("content", ["é$$", "Q", "Q Q="])
def test_what_is_no_base64_is_refused(daemon: Daemon, content: str) -> None:
    """A run's file whose content is not base64 is refused, whatever letters it has."""
    run = daemon.ask("POST", "/v1/runs", {}).json()["id"]
    answer = daemon.ask("PUT", f"/v1/runs/{run}/files/b.txt", {"content": content, "encoding": "base64"})
    check_refused(answer, 400, "validation_error")


@pytest.mark.parametrize("key", ["", "k" * 256, "caf\xe9", "a\tb"])
def test_what_is_no_idempotency_key_is_refused(daemon: Daemon, key: str) -> None:
    check_refused(daemon.ask("POST", "/v1/threads", {}, {"Idempotency-Key": key}), 400, "validation_error")
