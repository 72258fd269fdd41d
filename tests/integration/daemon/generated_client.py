"""Calls every operation of a client that openapi-python-client has made: `generated_client.py FOLDER URL`.

Runs with the interpreter that has the generator, whose dependencies the made client needs.
"""

from __future__ import annotations

import importlib
import inspect
import io
import pkgutil
import sys
from typing import Any

TEXTS = {"path": "facts/a.md", "name": "memory_list", "from_": "0", "confirm": "t9", "timezone": "UTC"}
BODIES: dict[str, dict[str, Any]] = {
    "post_threads_id_messages": {"messages": [{"role": "user", "content": "hello"}]},
    "post_threads_id_notes": {"content": "n", "category": "task"},
    "post_memories": {"content": "x y z"},
    "patch_memories_id": {"content": "x y"},
    "post_recall": {"query": "x"},
    "post_search": {"query": "x"},
    "post_spaces": {"id": "another"},
    "post_tokens": {"space": "default"},
    "post_projects_sort": {},
    "put_documents_path": {"content": "- a\n"},
    "post_documents_path_patch": {"patches": [{"oldText": "a", "newText": "b"}]},
    "post_documents_path_append": {"entry": "- c"},
    "post_tools_name": {"input": {}},
    "post_schedules": {"cron": "0 3 * * *"},
    "post_imports": {"client": "claude-code", "session": "s"},
    "post_threads_id_rewind": {"toSeq": 1},
    "post_documents_path_insert": {"line": 0, "text": "- zero"},
    "post_documents_path_move": {"to": "facts/moved.md"},
    "post_sessions": {"client": "codex", "session": "s", "project": "pier"},
    "patch_privacy": {"paused": False},
    "put_runs_id_files_path": {"content": "text"},
    "put_runs_id_working_memory": {"entries": {"key": "value"}},
    "post_rollback": {"operation": "1"},
    "post_conflicts_id_resolve": {"keep": "file"},
    "post_backups": {"path": "/nowhere/x"},
}
STREAMS = {"get_events", "get_mcp", "post_mcp", "delete_mcp"}  # answers without an end, or with errors of JSON-RPC


def main(folder: str, url: str) -> None:
    """Call each operation once; an answer that cannot be parsed raises."""
    sys.path.insert(0, folder)
    api = importlib.import_module("made.api")
    client_type = importlib.import_module("made.client").AuthenticatedClient
    client = client_type(base_url=url, token="tok", raise_on_unexpected_status=True, timeout=60)  # noqa: S106 - a test's
    calls = 0
    for package in pkgutil.iter_modules([str(path) for path in api.__path__]):
        group = importlib.import_module(f"made.api.{package.name}")
        for module in pkgutil.iter_modules([str(path) for path in group.__path__]):
            if module.name in STREAMS:
                continue
            call = importlib.import_module(f"made.api.{package.name}.{module.name}").sync_detailed
            answer = call(client=client, **_arguments(module.name, call))
            assert answer.parsed is not None or answer.status_code == 204 or not answer.content, (module.name, answer)
            assert answer.status_code < 500, (module.name, answer)
            calls += 1
    print(f"called {calls} operations")


def _arguments(name: str, call: Any) -> dict[str, Any]:
    """Return a value for each required parameter of an operation."""
    given: dict[str, Any] = {}
    for parameter in inspect.signature(call).parameters.values():
        if parameter.name == "client":
            continue
        if parameter.name == "body":
            kind = next((part for part in _options(call, "body") if hasattr(part, "from_dict")), None)
            given["body"] = kind.from_dict(BODIES.get(name, {})) if kind is not None else _file()
        elif parameter.default is inspect.Parameter.empty:
            given[parameter.name] = 1 if int in _options(call, parameter.name) else TEXTS.get(parameter.name, "t0")
    return given


def _options(call: Any, name: str) -> list[Any]:
    """Return the types that a parameter may have."""
    module = sys.modules[call.__module__]
    hint: Any = inspect.get_annotations(call, eval_str=True, globals=vars(module))[name]
    return list(getattr(hint, "__args__", ())) or [hint]


def _file() -> Any:
    """Return a small file to upload, as the generated client's `File`."""
    return importlib.import_module("made.types").File(payload=io.BytesIO(b"{}\n"))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
