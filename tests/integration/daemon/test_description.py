"""The daemon answers as its OpenAPI document says: drawn requests, schemathesis, and a generated client."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.daemon import Answer, Daemon, check_serving, free_port, running_daemon
from support.soak import count
from support.stores import add_token

DEPTH_MAX = 3
_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}
_TEXT = st.text(max_size=12) | st.sampled_from(["facts/a.md", "t0", "1", "0", "- a b c", "../x", "\x00", "1" * 600])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=5,
)


@dataclass(frozen=True, slots=True)
class Case:
    """One request of an operation."""

    method: str
    path: str  # as the description has it
    target: str
    body: bytes | None
    headers: dict[str, str] = field(default_factory=dict)


def cases(described: dict[str, Any], ids: list[str], *, without: set[str]) -> st.SearchStrategy[Case]:
    """Return requests of all operations but those of paths in `without`; `ids` are values that exist."""
    operations = [
        _case(described, (method, path), operation, ids)
        for path, item in described["paths"].items()
        if path not in without
        for method, operation in item.items()
    ]
    return st.one_of(operations)


def mistakes_of(described: dict[str, Any], case: Case, answer: Answer) -> list[str]:
    """Return how an answer differs from what the description says about it."""
    documented = described["paths"][case.path][case.method]["responses"]
    response = documented.get(str(answer.status))
    if answer.status >= 500:
        return [f"{answer.status}: {answer.body!r}"]
    if response is None:
        return [f"{answer.status} is not described"]
    response = _resolved(described, response)
    content = response.get("content", {})
    media = answer.headers.get("content-type", "")
    if not content:
        return [f"a body of {media} where none is described"] if answer.body else []
    if media not in content:
        return [f"{media!r} is not one of {list(content)}"]
    missing = [f"no header {name}" for name in response.get("headers", {}) if name.lower() not in answer.headers]
    if not media.startswith("application/json"):
        return missing
    return missing + list(_mistakes(described, content[media]["schema"], answer.json(), "$"))


@st.composite
def _case(draw: st.DrawFn, described: dict[str, Any], call: tuple[str, str], operation: Any, ids: list[str]) -> Case:
    method, path = call
    target, query, headers = path, {}, {}
    for parameter in operation.get("parameters", []):
        name = parameter["name"]
        if parameter["in"] == "path":
            value = draw(st.sampled_from(ids) | _TEXT.filter(bool))
            target = target.replace(f"{{{name}}}", quote(value, safe="", errors="replace"))
            continue
        if not draw(st.booleans()) and not parameter.get("required"):
            continue
        valid = values(described, parameter["schema"])
        value = draw(valid | valid | _TEXT)
        text = json.dumps(value) if isinstance(value, bool | int) else str(value)
        if parameter["in"] == "query":
            query[name] = text.encode("utf-8", "replace")
        elif text.isascii() and text.isprintable() and text == text.strip():
            headers[name] = text
    if draw(st.integers(0, 9)) == 0:
        query["unknown"] = b"1"
    body: bytes | None = None
    if "requestBody" in operation:
        ((media, content),) = operation["requestBody"]["content"].items()
        valid = values(described, content["schema"])
        body = json.dumps(draw(valid | valid | valid | JSON)).encode()
        headers["Content-Type"] = media
        if draw(st.integers(0, 14)) == 0:
            body = draw(st.binary(max_size=20))
    return Case(method, path, f"{target}?{urlencode(query)}" if query else target, body, headers)


def values(described: dict[str, Any], schema: dict[str, Any], depth: int = 0) -> st.SearchStrategy[Any]:
    """Return values that a schema allows, as far as `DEPTH_MAX` levels."""
    schema = _resolved(described, schema)
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return st.one_of([values(described, option, depth) for option in schema[key]])
    match schema.get("type"):
        case "string":
            return _strings(schema)
        case "integer":
            least = schema.get("minimum", -(2**63))
            return st.integers(least, min(schema.get("maximum", 2**63 - 1), least + 10**6)) | st.just(least)
        case "number":
            return st.floats(allow_nan=False, allow_infinity=False)
        case "boolean":
            return st.booleans()
        case "null":
            return st.none()
        case "array":
            most = 0 if depth > DEPTH_MAX else min(schema.get("maxItems", 3), 3)
            least = schema.get("minItems", 0)
            item = values(described, schema.get("items", {}), depth + 1)
            return st.lists(item, min_size=least, max_size=max(least, most))
        case "object":
            return _objects(described, schema, depth)
        case _:
            return JSON


def _strings(schema: dict[str, Any]) -> st.SearchStrategy[str]:
    least, most = schema.get("minLength", 0), min(schema.get("maxLength", 20), 20)
    if "pattern" in schema:
        text = st.from_regex(re.compile(schema["pattern"].replace("(?!\\n)", ""), re.ASCII), fullmatch=True)
        return text.filter(lambda value: least <= len(value) <= schema.get("maxLength", 1_000))
    return st.text(min_size=least, max_size=max(least, most)) | st.just("facts/a.md")


def _objects(described: dict[str, Any], schema: dict[str, Any], depth: int) -> st.SearchStrategy[dict[str, Any]]:
    properties = {
        name: values(described, part, depth + 1)
        for name, part in schema.get("properties", {}).items()
        if depth <= DEPTH_MAX or name in schema.get("required", [])
    }
    if not properties:
        inner = schema.get("additionalProperties")
        return st.dictionaries(
            _TEXT, values(described, inner, depth + 1) if isinstance(inner, dict) else JSON, max_size=2
        )
    required = {name: part for name, part in properties.items() if name in schema.get("required", [])}
    optional = {name: part for name, part in properties.items() if name not in required}
    return st.fixed_dictionaries(required, optional=optional)


def _resolved(described: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        found: Any = described
        for name in schema["$ref"].removeprefix("#/").split("/"):
            found = found[name]
        schema = found
    return schema


def _mistakes(described: dict[str, Any], schema: dict[str, Any], value: Any, where: str) -> Iterator[str]:
    """Yield where a value breaks a schema."""
    schema = _resolved(described, schema)
    for key in ("anyOf", "oneOf"):
        if key in schema and all(list(_mistakes(described, option, value, where)) for option in schema[key]):
            yield f"{where} fits no option: {value!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where} is {value!r}, not one of {schema['enum']}"
    kind = schema.get("type")
    if kind is not None and (not isinstance(value, _TYPES[kind]) or (isinstance(value, bool) and kind != "boolean")):
        yield f"{where} is {value!r}, and no {kind}"
        return
    if isinstance(value, dict):
        properties, more = schema.get("properties", {}), schema.get("additionalProperties", True)
        yield from (f"{where} has no {name}" for name in schema.get("required", []) if name not in value)
        for name, part in value.items():
            if name in properties:
                yield from _mistakes(described, properties[name], part, f"{where}.{name}")
            elif isinstance(more, dict):
                yield from _mistakes(described, more, part, f"{where}.{name}")
            elif not more:
                yield f"{where}.{name} is not described"
    if isinstance(value, list):
        for number, part in enumerate(value):
            yield from _mistakes(described, schema.get("items", {}), part, f"{where}[{number}]")
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            yield f"{where} has {len(value)} items"
    if isinstance(value, str):
        if not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value)):
            yield f"{where} has {len(value)} letters"
        if not re.search(schema.get("pattern", ""), value):
            yield f"{where} is {value!r}, not of the form {schema['pattern']}"
    if kind in ("integer", "number") and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        yield f"{where} is {value}"


ODD: list[Any] = [
    -1,
    0,
    7,
    1.5,
    2**31,
    2**63,
    True,
    "",
    "nowhere",
    "a b",
    "a\n",
    "..",
    "\x00",
    [],
    [7],
    [""],
    {},
    {"z": 1},
]


def excluded(described: dict[str, Any], operation: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield queries and bodies with one mistake each: a field that is unknown, missing, or not as its schema says."""
    query = [parameter for parameter in operation.get("parameters", []) if parameter["in"] == "query"]
    given = {part["name"]: _least(described, part["schema"]) for part in query if part["required"]}
    wrong: list[dict[str, Any]] = [given | {"unknown": 1}, *(_without(given, name) for name in given)]
    for part in query:
        kinds = int | float | str if part["schema"].get("type") == "integer" else str
        odd = [value for value in _outside(described, part["schema"]) if isinstance(value, kinds)]
        wrong += [given | {part["name"]: value} for value in odd]
    yield from (("?" + urlencode(values), None) for values in wrong)
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if content is None:
        return
    schema = _resolved(described, content["schema"])
    whole = {name: _least(described, schema["properties"][name]) for name in schema["required"]}
    yield from (("", body) for body in ([], "x", 7, whole | {"unknown": 1}, *(_without(whole, name) for name in whole)))
    for name, part in schema["properties"].items():
        yield from (("", whole | {name: value}) for value in _outside(described, part))


def _without(values: dict[str, Any], missing: str) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name != missing}


def _outside(described: dict[str, Any], schema: dict[str, Any]) -> list[Any]:
    """Return values for which a schema has no room, such as a text that is one letter too long."""
    schema = _resolved(described, schema)
    parts = (schema, *schema.get("anyOf", ()))
    long: list[Any] = ["x" * (part.get("maxLength", 0) + 1) for part in parts]
    long += [[_least(described, part["items"])] * (part["maxItems"] + 1) for part in parts if "maxItems" in part]
    return [value for value in (*ODD, *long) if list(_mistakes(described, schema, value, ""))]


def _least(described: dict[str, Any], schema: dict[str, Any]) -> Any:
    """Return a value that a schema allows."""
    schema = _resolved(described, schema)
    if schema.get("type") == "object":
        return {name: _least(described, schema["properties"][name]) for name in schema.get("required", [])}
    if schema.get("type") == "array":
        return [_least(described, schema["items"])] * schema.get("minItems", 0)
    tried = (*schema.get("enum", ()), schema.get("minimum", 0), "1", "/a", "facts/a.md", True)
    return next(value for value in tried if not list(_mistakes(described, schema, value, "")))


FOLDER = "~/.cache/openapi-tools"
TOOLS = f"python3 -m venv {FOLDER} && {FOLDER}/bin/pip install schemathesis openapi-python-client ruff"
"""The command that installs what the two soak tests need; they are skipped without it."""

CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,"
    "response_schema_conformance"
)
STREAMS = {"/v1/events", "/mcp"}  # answers without an end; the errors of the second are those of JSON-RPC


@pytest.fixture(scope="module")
def filled(daemon: Daemon) -> list[str]:
    """Return ids of what the daemon has: threads, a memory, a document, an operation, a schedule and a job."""
    return fill(daemon)


def fill(daemon: Daemon) -> list[str]:
    """Create something of each kind; return the ids."""
    for number in range(3):
        daemon.ask("POST", "/v1/threads", {"id": f"t{number}"})
        messages = {"messages": [{"role": "user", "content": "count the boats"}, {"role": "assistant", "content": "9"}]}
        assert daemon.ask("POST", f"/v1/threads/t{number}/messages", messages).status == 200
    memory = daemon.ask("POST", "/v1/memories", {"content": "a b c", "document": "facts/a.md"}).json()["id"]
    note = daemon.ask("POST", "/v1/threads/t0/notes", {"content": "n", "category": "task"}).json()["id"]
    schedule = daemon.ask("POST", "/v1/schedules", {"cron": "0 3 * * *"}).json()["id"]
    job = daemon.ask("POST", "/v1/dreams", {"dryRun": True}).json()["job"]
    return ["t0", "t1", "t2", memory, note, schedule, job, "facts/a.md", "1", "memory_list", "memory_read"]


def test_drawn_requests_are_answered_as_described(daemon: Daemon, filled: list[str]) -> None:
    """Random valid and invalid requests get an answer that the OpenAPI document describes, and never a 5xx."""
    described = daemon.ask("GET", "/v1/openapi.json").json()

    @settings(max_examples=count(100, 20_000), deadline=None)
    @given(cases(described, filled, without=STREAMS))
    def check(case: Any) -> None:
        answer = daemon.ask(case.method.upper(), case.target, case.body, case.headers)
        assert mistakes_of(described, case, answer) == []

    check()
    check_serving(daemon)


def test_what_the_description_has_no_room_for_is_refused(daemon: Daemon, filled: list[str]) -> None:
    """Each field of a body and each parameter of a query, with what its schema excludes: 400, and nothing is stored."""
    described = daemon.ask("GET", "/v1/openapi.json").json()
    before = daemon.ask("GET", "/v1/status").json()["counts"]
    accepted = []
    for path, item in described["paths"].items():
        target = re.sub(r"{\w+}", filled[0], path.replace("{path}", "facts/a.md").replace("{name}", "memory_list"))
        for method, operation in item.items() if path not in STREAMS else ():
            for query, body in excluded(described, operation):
                answer = daemon.ask(method.upper(), target + query, body)
                if answer.status != 400:
                    accepted.append((method, target + query, body, answer.status))
    assert accepted == []
    assert daemon.ask("GET", "/v1/status").json()["counts"] == before


def tool(name: str) -> str:
    """Return the path of a tool, or skip the test."""
    beside = Path(FOLDER).expanduser() / "bin" / name
    found = shutil.which(name) or (str(beside) if beside.exists() else None)
    if found is None:
        pytest.skip(f"{name} is not installed: {TOOLS}")
    return found


@pytest.fixture
def over_tcp() -> Iterator[tuple[Daemon, str]]:
    """Yield a daemon with a listener on loopback for the token `tok`, and its URL."""
    port = free_port()
    with running_daemon(REVERIE_DAEMON_TCP=f"127.0.0.1:{port}") as daemon:
        home = daemon.home
        try:
            daemon.stop()
            add_token(home, "tok", "default", "tester")
            daemon.start()
            fill(daemon)
            yield daemon, f"http://127.0.0.1:{port}"
        finally:
            daemon.kill()


@pytest.mark.skipif(not os.environ.get("REVERIE_SOAK"), reason="a campaign of minutes: make soak")
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_schemathesis_finds_nothing(over_tcp: tuple[Daemon, str], tmp_path: Path, seed: int) -> None:
    """Schemathesis finds no undocumented answer and no status of 500 or more, with 100 examples an operation."""
    daemon, url = over_tcp
    command = [
        tool("st"),
        "--no-color",
        "run",
        f"{url}/v1/openapi.json",
        "--url",
        url,
        "-H",
        "Authorization: Bearer tok",
    ]
    command += ["--max-examples", "100", "--seed", str(seed), "--checks", CHECKS, "--request-timeout", "60"]
    command += [part for path in STREAMS for part in ("--exclude-path", path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-6_000:]
    assert "No issues found" in done.stdout or "0 failures" in done.stdout or "failures" not in done.stdout
    check_serving(daemon)


@pytest.mark.skipif(not os.environ.get("REVERIE_SOAK"), reason="generates a client: make soak")
def test_a_generated_client_calls_everything(over_tcp: tuple[Daemon, str], tmp_path: Path) -> None:
    """openapi-python-client makes a client without a warning, and every operation of it gets a parsed answer."""
    daemon, url = over_tcp
    generator = tool("openapi-python-client")
    (tmp_path / "openapi.json").write_bytes(daemon.ask("GET", "/v1/openapi.json").body)
    command = [generator, "generate", "--path", "openapi.json", "--output-path", "made", "--meta", "none"]
    env = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}  # ruff formats what is made
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Warning" not in done.stdout, done.stdout
    driver = Path(__file__).with_name("generated_client.py")
    python = Path(generator).resolve().parent / "python3"
    called = subprocess.run([python, driver, tmp_path, url], capture_output=True, text=True, check=False)
    assert called.returncode == 0, called.stdout + called.stderr
    paths = daemon.ask("GET", "/v1/openapi.json").json()["paths"]
    operations = sum(len(item) for path, item in paths.items() if path not in STREAMS)
    assert f"called {operations} operations" in called.stdout
