"""The API as a whole: its OpenAPI description, metrics and events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

from reverie.client import Client
from reveried.routes import routes
from support.daemon import Daemon, check_refused

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


def test_the_description_names_every_call(daemon: Daemon) -> None:
    """The OpenAPI 3.1 document has exactly the served calls."""
    described = daemon.ask("GET", "/v1/openapi.json").json()
    assert described["openapi"].startswith("3.1")
    documented = {
        (method.upper(), path)
        for path, calls in described["paths"].items()
        for method in calls
        if method.upper() in METHODS
    }
    assert documented == {(row.method, row.path.replace(":path}", "}")) for row in routes()}


def test_every_call_refuses_other_methods(daemon: Daemon) -> None:
    """A known path with another method is 405 with the allowed methods."""
    by_path: dict[str, set[str]] = {}
    for row in routes():
        by_path.setdefault(row.path, set()).add(row.method)
    for path, methods in by_path.items():
        concrete = path.replace("{path:path}", "facts/x.md").replace("{", "").replace("}", "")
        for method in set(METHODS) - methods:
            if any(method in by_path[other] and _serves(other, concrete) for other in by_path):
                continue  # another call is meant: PUT of a document whose path ends in `patch`
            answer = daemon.ask(method, concrete)
            if answer.status == 404:  # another path's pattern could not serve it either
                continue
            check_refused(answer, 405, "method_not_allowed")
            assert methods <= set(answer.headers["allow"].split(", ")) | {"HEAD"}


def _serves(pattern: str, path: str) -> bool:
    """Return True if a call of this pattern matches all paths below it, this path included."""
    head, wildcard, _ = pattern.partition("{path:path}")
    return bool(wildcard) and pattern.endswith(wildcard) and path.startswith(head)


def test_every_call_refuses_unknown_parameters(daemon: Daemon) -> None:
    """A misspelt query parameter is 400, names the nearest one and all that the call takes."""
    for row in routes():
        concrete = row.path.replace("{path:path}", "facts/x.md").replace("{", "").replace("}", "")
        answer = daemon.ask(row.method, f"{concrete}?surprise=1", headers={"Reverie-Protocol": "1"})
        check_refused(answer, 400, "validation_error", "unknown")
        assert answer.json()["details"]["field"] == "surprise"
    answer = daemon.ask("GET", "/v1/threads?limt=3")
    assert "did you mean `limit`? this call takes limit, after" in answer.json()["details"]["hint"]
    assert "late, system" in daemon.ask("GET", "/v1/threads/x/context?placement=top").json()["details"]["hint"]


def test_the_description_is_precise(daemon: Daemon) -> None:
    """Types, bounds and defaults of parameters, 202 with a job, tags, items of arrays, errors and headers."""
    described = daemon.ask("GET", "/v1/openapi.json").json()
    calls = {(method, path): call for path, item in described["paths"].items() for method, call in item.items()}
    tags = {tag["name"] for tag in described["tags"]}
    for (method, path), call in calls.items():
        assert set(call["tags"]) <= tags, path
        for parameter in call.get("parameters", []):
            assert parameter["schema"].get("type") in {"string", "integer", "boolean"}, (path, parameter)
        names = {parameter["name"] for parameter in call.get("parameters", []) if parameter["in"] == "header"}
        assert ("Idempotency-Key" in names) == (method == "post"), path
        errors = {status: answer for status, answer in call["responses"].items() if status >= "400"}
        assert {"400", "401", "404", "409", "500", "503"} <= errors.keys()
        for status, answer in errors.items():
            assert answer == {"$ref": f"#/components/responses/Error{status}"}
        for status in call["responses"].keys() - errors.keys() - {"204"}:
            assert call["responses"][status]["content"], (method, path)
    for status, answer in described["components"]["responses"].items():
        assert answer["content"] == {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}, status
    for method, path in (("post", "/threads/{id}/distill"), ("post", "/threads/{id}/learn"), ("post", "/dreams")):
        started = calls[method, "/v1" + path]["responses"]["202"]
        assert started["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/JobAccepted"}
        assert "Location" in started["headers"]
    put = calls["put", "/v1/documents/{path}"]
    assert {"If-Match", "If-None-Match"} <= {parameter["name"] for parameter in put["parameters"]}
    assert "ETag" in put["responses"]["200"]["headers"]
    limit = next(one for one in calls["get", "/v1/threads"]["parameters"] if one["name"] == "limit")
    assert limit["schema"] == {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100}
    assert described["components"]["responses"]["Error503"]["headers"]["Retry-After"]["schema"]["type"] == "integer"
    assert list(arrays_without_items(described)) == []


def arrays_without_items(schema: Any) -> Iterator[Any]:
    """Yield every array of the description whose items are not described."""
    parts = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    if isinstance(schema, dict) and schema.get("type") == "array" and not {"items", "prefixItems"} & schema.keys():
        yield schema
    for part in parts:
        yield from arrays_without_items(part)


def test_preconditions_are_read_or_refused(daemon: Daemon) -> None:
    """`If-None-Match` other than `*`, which would be ignored, is 400; `*` writes only where nothing is."""
    path, body = "/v1/documents/facts/first.md", {"content": "- one\n"}
    check_refused(daemon.ask("PUT", path, body, {"If-None-Match": '"abc"'}), 400, "validation_error")
    assert daemon.ask("PUT", path, body, {"If-None-Match": "*"}).status == 200
    check_refused(daemon.ask("PUT", path, body, {"If-None-Match": "*"}), 409, "conflict")


def test_threads_are_listed_newest_first(client: Client) -> None:
    """`order=newest` pages through the threads by their last append; by default they are listed by id."""
    names = ["order-c", "order-a", "order-b"]
    for name in names:
        client.create_thread(id=name)
    client.append("order-c", [{"role": "user", "content": "the newest"}])
    first = client.threads(limit=1, order="newest")
    assert [thread.id for thread in first.items] == ["order-c"]
    seen, after = [], None
    while True:
        page = client.threads(limit=2, order="newest", after=after)
        seen += [thread.id for thread in page.items]
        after = page.next
        if after is None:
            break
    assert next(name for name in seen if name in names) == "order-c"
    assert sorted(seen) == [thread.id for thread in client.threads(limit=1000).items]
    times = [client.thread(name).updated_at for name in seen]
    assert times == sorted(times, reverse=True)


def test_metrics_count_requests(daemon: Daemon, client: Client) -> None:
    """The metrics are Prometheus text with requests by route, and without ids or titles of threads."""
    client.create_thread(id="very-secret-name", title="hush")
    text = daemon.ask("GET", "/metrics").body.decode()
    assert "reverie_commits_total" in text
    assert 'route="/v1/threads"' in text
    assert "very-secret-name" not in text
    assert "hush" not in text
    assert all(line.startswith("#") or len(line.rsplit(" ", 1)) == 2 for line in text.splitlines() if line)


def test_events_have_types_and_no_content(daemon: Daemon, client: Client) -> None:
    """Events after a given number have their type and no message text."""
    before = client.status().counts["events"]
    client.create_thread(id="told")
    client.append("told", [{"role": "user", "content": "nobody else's business"}])
    with daemon.wire() as wire:
        wire.send(f"GET /v1/events?after={before} HTTP/1.1\r\nHost: reverie\r\n\r\n".encode())
        heard = b""
        while b'"lastSeq":1}' not in heard:
            heard += wire.socket.recv(1 << 16)
    assert b"business" not in heard
    frames = [frame for frame in heard.decode().split("\n\n") if "event: thread.appended" in frame]
    data = next(line for line in frames[0].splitlines() if line.startswith("data: "))
    assert orjson.loads(data.removeprefix("data: ")) == {"threadId": "told", "lastSeq": 1}
