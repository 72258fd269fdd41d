"""Authentication and spaces: tokens, idempotency keys, and the loopback port."""

from __future__ import annotations

import http.client

import pytest

from support.daemon import Answer, bearer, check_refused, check_serving, free_port, running_daemon, scratch_home
from support.stores import add_token


def test_space_comes_from_the_credential() -> None:
    """A token is bound to its space: a space in a body is refused, and ids of other spaces are not found."""
    with scratch_home() as home:
        (home / "data").mkdir(mode=0o700)
        add_token(home, "tick", "blue", "mole")
        add_token(home, "tock", "red", "rat")
        with running_daemon(home) as daemon:
            created = daemon.ask("POST", "/v1/threads", {"title": "ours"}, bearer("tick"))
            assert created.status in {200, 201}, created.body
            thread = created.json()["id"]
            assert daemon.ask("GET", f"/v1/threads/{thread}", headers=bearer("tick")).status == 200

            theirs = daemon.ask("GET", f"/v1/threads/{thread}", headers=bearer("tock"))
            missing = daemon.ask("GET", f"/v1/threads/{thread[:-1]}q", headers=bearer("tock"))
            assert theirs.status == missing.status == 404
            assert theirs.json()["error"] == missing.json()["error"]
            assert daemon.ask("GET", f"/v1/threads/{thread}").status == 404
            assert daemon.ask("GET", "/v1/threads", headers=bearer("tock")).json()["items"] == []

            forged = daemon.ask("POST", "/v1/threads", {"title": "x", "space": "blue"}, bearer("tock"))
            check_refused(forged, 400, "validation_error")
            for odd in ("Bearer nobody", "Bearer ", "Basic dGljazp0b2Nr", "tick", "Bearer \xff\xfe"):
                check_refused(daemon.ask("GET", "/v1/jobs", headers={"Authorization": odd}), 401, "unauthenticated")


def test_idempotency_key_survives_a_kill() -> None:
    """A request repeated after a SIGKILL of the daemon is applied once, and gets the first answer."""
    with scratch_home() as home:
        key = {"Idempotency-Key": "6b1f"}
        with running_daemon(home) as daemon:
            first = daemon.ask("POST", "/v1/threads", {"title": "once"}, key)
            daemon.kill()
        with running_daemon(home) as daemon:
            again = daemon.ask("POST", "/v1/threads", {"title": "once"}, key)
            assert again.json() == first.json()
            assert len(daemon.ask("GET", "/v1/threads").json()["items"]) == 1
            other = daemon.ask("POST", "/v1/threads", {"title": "twice"}, key)
            check_refused(other, 409, "conflict")
            check_refused(
                daemon.ask("POST", "/v1/threads", {}, {"Idempotency-Key": "x" * 300}), 400, "validation_error"
            )


def test_tcp_refuses_browsers() -> None:
    """The loopback port is off by default; if on, every request needs a token, and browser origins are refused."""
    port = free_port()
    with scratch_home() as home:
        (home / "data").mkdir(mode=0o700)
        add_token(home, "tick", "blue", "mole")
        with running_daemon(home) as daemon, pytest.raises(ConnectionRefusedError):
            ask_tcp(port, {}, "")
        with running_daemon(home, REVERIE_DAEMON_TCP=f"127.0.0.1:{port}") as daemon:
            assert ask_tcp(port, bearer("tick")).status == 200
            check_refused(ask_tcp(port, {}), 401, "unauthenticated")
            check_refused(ask_tcp(port, bearer("tock")), 401, "unauthenticated")
            check_refused(ask_tcp(port, {**bearer("tick"), "Origin": "https://evil.example"}), 403, "forbidden")
            check_refused(ask_tcp(port, bearer("tick"), "evil.example"), 403, "forbidden")
            check_refused(ask_tcp(port, bearer("tick"), f"evil.example:{port}"), 403, "forbidden")
            assert ask_tcp(port, bearer("tick"), "localhost").status == 200
            check_serving(daemon)


def ask_tcp(port: int, headers: dict[str, str], host: str | None = None) -> Answer:
    """Send one health request over TCP."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", "/v1/health", headers={"Host": host or f"127.0.0.1:{port}", **headers})
        answer = connection.getresponse()
        return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
    finally:
        connection.close()
