"""Spaces and access tokens over HTTP: made by the owner alone, shown once, stored as a hash, revoked at once."""

from __future__ import annotations

import hashlib
import socket
from collections.abc import Iterator

import pytest

from reverie.client import Client
from reverie.errors import Forbidden, ValidationError
from support.daemon import Answer, Daemon, TcpCaller, Wire, bearer, check_refused, free_port, request, running_daemon
from support.stores import files_with
from support.waiting import wait_until


@pytest.fixture(scope="module")
def port() -> int:
    """The port of the daemon, chosen just before its start: until then another test may be given it."""
    return free_port()


@pytest.fixture(scope="module")
def daemon(port: int) -> Iterator[Daemon]:
    """A daemon that listens on TCP too."""
    with running_daemon(REVERIE_DAEMON_TCP=f"127.0.0.1:{port}") as running:
        yield running


@pytest.fixture(scope="module")
def owner(daemon: Daemon) -> Iterator[Client]:
    with Client(daemon.socket) as client:
        yield client


def new_token(owner: Client, space: str, agent: str | None = None) -> tuple[str, str]:
    """Return the id and the secret of a new token; the space is made where it is missing."""
    if space not in {item.id for item in owner.spaces().items}:
        owner.create_space(space)
    token = owner.create_token(space, agent=agent)
    assert token.token is not None
    return token.id, token.token


@pytest.mark.parametrize("name", ["owner", "sync", "Purge"])
def test_an_agent_has_no_name_of_reveries_own(owner: Client, name: str) -> None:
    """A token for an agent with a name that Reverie itself uses is refused, and none is created."""
    with pytest.raises(ValidationError, match="no agent can be called"):
        owner.create_token("default", agent=name)
    assert name not in {token.agent for token in owner.tokens().items}


def test_a_space_is_made_and_listed_with_its_folder(daemon: Daemon, owner: Client) -> None:
    """A new space has a folder and is listed, page by page; a name in use, or unfit for a folder, is refused."""
    made = owner.create_space("listed")
    assert made.root == str(daemon.home / "root" / "listed")
    names = [item.id for item in owner.spaces().items]
    assert {"default", "listed"} <= set(names)
    assert names == sorted(names)
    page = owner.spaces(limit=1)
    assert [item.id for item in page.items] == names[:1]
    assert [item.id for item in owner.spaces(after=page.next).items] == names[1:]
    for taken in ("listed", "default"):
        check_refused(daemon.ask("POST", "/v1/spaces", {"id": taken}), 409, "conflict")
    for odd in ("", ".", "../up", "a/b", "Upper", "#system", "-a", "a b", "a\n", "ü", "x" * 65):
        check_refused(daemon.ask("POST", "/v1/spaces", {"id": odd}), 400, "validation_error")


def test_a_token_is_shown_once_and_stored_as_a_hash(daemon: Daemon, owner: Client) -> None:
    """The secret is in no list, no answer to a repeated request and no file; the files have its SHA-256."""
    owner.create_space("hashed")
    key, body = {"Idempotency-Key": "once"}, {"space": "hashed", "agent": "mole"}
    first = daemon.ask("POST", "/v1/tokens", body, key)
    again = daemon.ask("POST", "/v1/tokens", body, key)
    secret = first.json()["token"]
    assert (first.status, again.status) == (201, 201)
    assert {name: value for name, value in first.json().items() if name != "token"} == again.json()
    assert [item.id for item in owner.tokens().items].count(first.json()["id"]) == 1
    assert all(item.token is None for item in owner.tokens().items)
    assert daemon.ask("GET", "/v1/status", headers=bearer(secret)).json()["space"] == "hashed"
    assert files_with(daemon.home, secret) == []
    assert files_with(daemon.home, hashlib.sha256(secret.encode()).hexdigest()) != []
    check_refused(daemon.ask("POST", "/v1/tokens", {"space": "hashed"}, key), 409, "conflict")
    check_refused(daemon.ask("POST", "/v1/tokens", {"space": "nowhere"}), 404, "not_found")


@pytest.mark.parametrize("agent", [None, "mole"])
def test_a_token_manages_nothing(daemon: Daemon, owner: Client, agent: str | None) -> None:
    """A token's holder sees its space alone; managing spaces and tokens, backups and compaction are forbidden."""
    token_id, secret = new_token(owner, "managed", agent)
    with Client(daemon.socket, token=secret) as holder:
        assert [item.id for item in holder.spaces().items] == ["managed"]
        for call in (
            lambda: holder.create_space("more"),
            lambda: holder.create_token("managed"),
            holder.tokens,
            lambda: holder.revoke_token(token_id),
            holder.compact,
            lambda: holder.backup(str(daemon.home / "data" / "backups" / "copy")),
        ):
            with pytest.raises(Forbidden):
                call()


def test_tcp_needs_a_token_that_is_valid(owner: Client, port: int) -> None:
    """Over TCP a request without a token, or with a revoked one, is refused, also on a connection that stays open."""
    token_id, secret = new_token(owner, "remote", "mole")
    with TcpCaller(port) as nobody, TcpCaller(port, secret) as mole:
        check_refused(nobody.ask("GET", "/v1/status"), 401, "unauthenticated")
        assert mole.ask("GET", "/v1/status").json()["space"] == "remote"
        kept = mole.connection.sock
        assert mole.ask("POST", "/v1/memories", {"content": "the crane is yellow"}).status == 201
        owner.revoke_token(token_id)
        for method, path in (("GET", "/v1/status"), ("POST", "/v1/recall"), ("GET", "/v1/events")):
            check_refused(mole.ask(method, path, {} if method == "POST" else None), 401, "unauthenticated")
        assert mole.connection.sock is kept
    assert token_id not in {item.id for item in owner.tokens().items}


def test_a_revoked_token_is_unknown_on_the_socket_too(daemon: Daemon, owner: Client) -> None:
    """A revoked token is refused, another one of its space still works, and a second revocation is 404."""
    first, first_secret = new_token(owner, "local", "mole")
    _, second_secret = new_token(owner, "local", "rat")
    owner.revoke_token(first)
    check_refused(daemon.ask("GET", "/v1/threads", headers=bearer(first_secret)), 401, "unauthenticated")
    assert daemon.ask("GET", "/v1/threads", headers=bearer(second_secret)).status == 200
    check_refused(daemon.ask("DELETE", f"/v1/tokens/{first}"), 404, "not_found")


def test_an_event_stream_ends_with_its_token(owner: Client, port: int) -> None:
    """A revocation ends the token's event stream before any later event; the stream of another token continues."""
    token_id, secret = new_token(owner, "streamed", "mole")
    _, other = new_token(owner, "streamed", "rat")
    with tcp_wire(port) as gone, tcp_wire(port) as stays, TcpCaller(port, other) as rat:
        for wire, token in ((gone, secret), (stays, other)):
            wire.send(request("GET", "/v1/events", None, {**bearer(token), "Host": f"127.0.0.1:{port}"}))
            assert b"following" in read_until(wire, b"following")
        rat.ask("POST", "/v1/memories", {"content": "before the end"})
        assert b"memory.written" in read_until(gone, b"memory.written")
        owner.revoke_token(token_id)
        rat.ask("POST", "/v1/threads", {"id": "after-the-end"})
        rat.ask("POST", "/v1/memories", {"content": "after the end"})
        rest = read_until(gone, b"0\r\n\r\n")  # the last chunk
        assert b"memory.written" not in rest
        assert read_until(stays, b"memory.written")
    wait_until(lambda: "reverie_event_streams 0" in owner.metrics(), "no reader of events")


def test_a_token_binds_to_its_agent(daemon: Daemon, owner: Client) -> None:
    """Writes and threads of a token have its agent's name; a request that names another agent is refused."""
    _, secret = new_token(owner, "authored", "mole")
    made = daemon.ask("POST", "/v1/threads", {"id": "t"}, bearer(secret))
    assert made.json()["agent"] == "mole"
    assert daemon.ask("POST", "/v1/threads", {"agent": "mole"}, bearer(secret)).status == 201
    check_refused(daemon.ask("POST", "/v1/threads", {"agent": "rat"}, bearer(secret)), 403, "forbidden")
    with Client(daemon.socket, token=secret) as mole:
        mole.put_document("facts/project.md", "# Facts\n\n- Boats are blue\n")
        assert {operation.who for operation in mole.operations().items} >= {"mole"}


def tcp_wire(port: int) -> Wire:
    """Return a connection over TCP, at the level of bytes."""
    wire = Wire.__new__(Wire)
    wire.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
    return wire


def read_until(wire: Wire, mark: bytes) -> bytes:
    """Return what arrives up to and with `mark`."""
    text = b""
    while mark not in text:
        piece = wire.socket.recv(1 << 16)
        assert piece, f"closed before {mark!r}: {text!r}"
        text += piece
    return text


def test_an_agent_deletes_its_own_threads_alone(daemon: Daemon, owner: Client) -> None:
    """Nothing restores a thread, so an agent's token may not delete another's, nor one of nobody."""
    own, other = (new_token(owner, "default", agent)[1] for agent in ("mole", "vole"))
    foreign = [owner.create_thread().id, owner.create_thread(agent="vole").id]
    with Client(daemon.socket, token=own) as mole:
        for thread in foreign:
            with pytest.raises(Forbidden) as refused:
                mole.delete_thread(thread, confirm=thread)
            assert f"reverie forget {thread}" in (refused.value.hint or "")
        thread = mole.create_thread().id
        assert mole.delete_thread(thread, confirm=thread).id == thread
    with Client(daemon.socket, token=other) as vole:
        assert vole.delete_thread(foreign[1], confirm=foreign[1]).id == foreign[1]
    assert owner.delete_thread(foreign[0], confirm=foreign[0]).id == foreign[0]


def test_two_agents_keys_are_not_one(daemon: Daemon, owner: Client) -> None:
    """Agents that count their steps have the same keys: the second is refused, and not given the first one's thread."""
    own, other = (bearer(new_token(owner, "default", agent)[1]) for agent in ("mole", "vole"))
    key, body = {"Idempotency-Key": "step-1"}, {"title": "mine"}
    first = daemon.ask("POST", "/v1/threads", body, {**key, **own})
    assert daemon.ask("POST", "/v1/threads", body, {**key, **own}).json() == first.json()
    check_refused(daemon.ask("POST", "/v1/threads", body, {**key, **other}), 409, "conflict")


def test_an_agent_changes_its_own_schedules_alone(daemon: Daemon, owner: Client) -> None:
    """A person's schedule is not replaced or removed by an agent's token, nor another agent's; a person does both."""
    own, other = (bearer(new_token(owner, "planned", agent)[1]) for agent in ("mole", "vole"))
    person = bearer(new_token(owner, "planned")[1])

    def add(id_: str, caller: dict[str, str]) -> Answer:
        return daemon.ask("POST", "/v1/schedules", {"id": id_, "cron": "0 3 * * *", "job": "dream"}, caller)

    def remove(id_: str, caller: dict[str, str]) -> Answer:
        return daemon.ask("DELETE", f"/v1/schedules/{id_}", headers=caller)

    assert (add("nightly", person).status, add("moles", own).status) == (201, 201)
    for id_, caller in (("nightly", own), ("nightly", other), ("moles", other)):
        check_refused(add(id_, caller), 403, "forbidden")
        check_refused(remove(id_, caller), 403, "forbidden")
    assert (add("moles", own).status, remove("moles", own).status) == (201, 204)
    assert (add("moles", own).status, add("moles", person).status) == (201, 201)
    check_refused(remove("moles", own), 403, "forbidden")  # it is the person's since
    assert (remove("nightly", person).status, remove("moles", person).status) == (204, 204)


def test_an_agent_cancels_its_own_jobs_alone(daemon: Daemon, owner: Client) -> None:
    """A job that a person or another agent began is not cancelled by an agent's token; a person cancels any."""
    own, other = (bearer(new_token(owner, "worked", agent)[1]) for agent in ("mole", "vole"))
    person = bearer(new_token(owner, "worked")[1])

    def begun(caller: dict[str, str]) -> str:
        return str(daemon.ask("POST", "/v1/dreams", {"dryRun": True}, caller).json()["job"])

    def cancel(job: str, caller: dict[str, str]) -> Answer:
        return daemon.ask("DELETE", f"/v1/jobs/{job}", headers=caller)

    job = begun(own)
    for one in (begun(person), begun(other)):
        check_refused(cancel(one, own), 403, "forbidden")
        assert cancel(one, person).status == 200
    assert cancel(job, own).status == 200


def test_an_agent_makes_no_schedules_below_an_hour(daemon: Daemon, owner: Client) -> None:
    """Neither one that runs several times an hour nor several that do so together; a person makes any."""
    _, secret = new_token(owner, "busy", "mole")

    def add(cron: str, token: str | None = secret, **fields: str) -> Answer:
        body = {"cron": cron, "job": "dream", **fields}
        return daemon.ask("POST", "/v1/schedules", body, bearer(token) if token else {})

    for cron in ("* * * * *", "*/5 * * * *", "0,30 * * * *"):
        check_refused(add(cron), 403, "forbidden")
    first = add("7 * * * *")
    assert first.status == 201
    check_refused(add("37 * * * *"), 403, "forbidden")
    assert add("37 * * * *", id=first.json()["id"]).status == 201
    check_refused(add("30 23 * * *"), 403, "forbidden")
    assert add("37 23 * * *").status == 201
    assert add("*/5 * * * *", None).status == 201
