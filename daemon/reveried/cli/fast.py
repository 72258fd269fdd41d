"""Plain forms of the commands that are typed all day, without loading the command tree, the client or the wire.

`reverie status` then takes a third of the processor time. Only what succeeds is done here: another form of a command,
a socket in the settings, no daemon, an error of the daemon, all of these are left to the command tree, which runs the
command again from its beginning. So a request that changes something is sent once, after everything that can fail
without it, and its failure is reported and not repeated.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from typing import TYPE_CHECKING
from urllib.parse import quote

from reverie.errors import Busy, DaemonNotRunning, ReverieError
from reverie.places import Layout
from reveried import PROTOCOL
from reveried.cli import answers
from reveried.cli.output import INTERRUPTED, broken_pipe, print_error
from reveried.cli.unresponsive import wait_or_warn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

TIMEOUT_S = 60.0  # as of the client
HEALTH_S = 1.0  # a daemon that takes longer is left to the command tree, which says what is wrong with it
_TEXT_CHARS_MAX = 10_000  # a longer text is left to the command tree, which knows every limit
_TYPES = ("skill", "fact", "procedure", "observation", "mistake", "preference", "episode")
_CATEGORIES = ("task", "decision", "preference", "correction", "context")


class _NotPlainError(Exception):
    """Raised where the quick form cannot run a command line; the full command tree runs it then."""


class Answer:
    """A JSON object of the daemon with attributes named as in `reverie.wire`: `lastDream` is `last_dream`."""

    def __init__(self, value: dict[str, Any]) -> None:
        self.value = value

    def __getattr__(self, name: str) -> Any:
        first, *rest = name.split("_")
        return _answer(self.value.get(first + "".join(map(str.capitalize, rest))))

    def items(self) -> Any:
        """Return names and values, for an object that is a map."""
        return self.value.items()


def call(words: Sequence[str]) -> int | None:
    """Run a plain command line with the exit codes of the command tree; None where that must run it."""
    try:
        return run(words)
    except ReverieError as error:
        print_error(f"reverie {words[0]}", error, json="--json" in words)
        return error.exit_status
    except BrokenPipeError:
        return broken_pipe()
    except KeyboardInterrupt:
        return INTERRUPTED


def run(words: Sequence[str]) -> int | None:
    """Run a plain command line and return its exit code; None where the command tree must run it."""
    command = _COMMANDS.get(words[0]) if words else None
    if command is None and len(words) > 1:
        command, words = _COMMANDS.get(f"{words[0]} {words[1]}"), words[1:]
    if command is None:
        return None
    try:
        return command(_Line(words[1:]))
    except _NotPlainError:
        return None


class _Line:
    """The words of a command line after the command's name, from which flags and options are taken."""

    def __init__(self, words: Sequence[str]) -> None:
        self._rest = list(words)

    def flag(self, name: str) -> bool:
        """Remove a flag from the words; return True if it was there."""
        if name not in self._rest:
            return False
        self._rest.remove(name)
        return True

    def option(self, *names: str) -> str | None:
        """Remove an option and its value from the words; return the value, None if it is not there."""
        for index, word in enumerate(self._rest[:-1]):
            if word in names:
                value = self._rest[index + 1]
                del self._rest[index : index + 2]
                return value
        return None

    def text(self) -> list[str]:
        """Return the remaining words. Raises _NotPlainError if one of them looks like an option."""
        if any(word.startswith("-") for word in self._rest):
            raise _NotPlainError
        return self._rest


def _status(line: _Line) -> int:
    as_json = _only_json(line)
    health, status = _ask("GET", "/v1/health", timeout_s=HEALTH_S), _get("/v1/status")
    if as_json:
        _print_json({"health": health, "status": status})
    else:
        answers.print_status(_answer(health), _answer(status))
    return 0


def _sync_status(line: _Line) -> int:
    as_json = _only_json(line)
    status = _get("/v1/sync")
    _print_json(status) if as_json else answers.print_sync_status(_answer(status))
    return 4 if status["state"] in answers.UNSYNCED else 0


def _recall(line: _Line) -> int:
    as_json, limit = line.flag("--json"), line.option("--limit", "-n")
    kind, tag = line.option("--type", "-t"), line.option("--tag")
    everywhere, project = line.flag("--all-projects"), _project(line)
    if limit is not None and not (limit.isascii() and limit.isdigit() and 1 <= int(limit) <= 100):
        raise _NotPlainError
    body: dict[str, Any] = {
        "query": _joined(line.text()),
        "limit": int(limit or answers.RECALL_LIMIT),
    }
    body |= {"types": [_one_of(kind, _TYPES)]} if kind is not None else {}
    body |= {"tags": [tag]} if tag is not None else {}
    here = answers.folder_here()
    body |= {"allProjects": True} if everywhere else {} if here is None else {"folder": here}
    body |= {} if project is None else {"project": project}
    answer = _ask("POST", "/v1/recall", body)
    if as_json:
        _print_json(answer)
        return 0
    is_nearest = not answer["hits"] and answer.get("weaker", 0) > 0
    if is_nearest:
        body |= {"limit": min(body["limit"], answers.NEAREST_HITS), "minScore": 0}
        answer = _ask("POST", "/v1/recall", body)
    answers.print_recall(_answer(answer), is_nearest=is_nearest)
    return 0


def _remember(line: _Line) -> int:
    as_json, kind, project = line.flag("--json"), line.option("--type", "-t"), _project(line)
    text = _joined(line.text())
    if "#" in text:
        raise _NotPlainError
    body = {"content": text, "author": "person"} | ({} if kind is None else {"type": _one_of(kind, _TYPES)})
    body |= {} if project is None else {"project": project}
    memory = _ask("POST", "/v1/memories", body, changes="remember")
    is_new = not memory.get("existed", False)
    if as_json:
        _print_json(memory)
        return 0
    sync = _get("/v1/sync") if is_new else None
    added = _answer(memory)
    page = _get("/v1/redactions")["items"] if answers.had_secret(added, text) else None
    taken = None if page is None else [_answer(item) for item in page]
    answers.print_remembered(added, is_new=is_new, sync=_answer(sync), taken=taken)
    return 0


def _note(line: _Line) -> int:
    as_json, category = line.flag("--json"), line.option("--category", "-c")
    thread, *text = line.text() or [""]
    body = {"content": _joined(text), "category": _one_of(category or "context", _CATEGORIES)}
    note = _ask("POST", f"/v1/threads/{quote(thread, safe='')}/notes", body, changes="note")
    _print_json(note) if as_json else answers.print_noted()
    return 0


_COMMANDS: dict[str, Callable[[_Line], int]] = {
    "status": _status,
    "sync status": _sync_status,
    "recall": _recall,
    "remember": _remember,
    "note": _note,
}


def _only_json(line: _Line) -> bool:
    """Return True if `--json` is among the words. Raises _NotPlainError if any other word is."""
    as_json = line.flag("--json")
    if line.text():
        raise _NotPlainError
    return as_json


def _project(line: _Line) -> str | None:
    """Take `--project` and return the absolute path of its folder; raises _NotPlainError for the name of a project."""
    text = line.option("--project")
    if text is None:
        return None
    if ("/" not in text and text != ".") or ".." in text:
        raise _NotPlainError
    return os.path.abspath(os.path.expanduser(text))  # noqa: PTH100, PTH111 - pathlib is not loaded here


def _joined(words: list[str]) -> str:
    text = " ".join(words)
    if not text.strip() or len(text) > _TEXT_CHARS_MAX or not text.isprintable():
        raise _NotPlainError
    return text


def _one_of(text: str, choices: tuple[str, ...]) -> str:
    if text not in choices:
        raise _NotPlainError
    return text


def _print_json(value: object) -> None:
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def _answer(value: object) -> Any:
    """Return JSON with its objects as `Answer`: an object, or those in a list; any other value as it is."""
    if isinstance(value, list):
        return [_answer(item) for item in value]
    return Answer(value) if isinstance(value, dict) else value


def _get(target: str) -> Any:
    return _ask("GET", target)


def _ask(
    method: str,
    target: str,
    body: dict[str, Any] | None = None,
    *,
    changes: str | None = None,
    timeout_s: float | None = None,
) -> Any:
    """Send a request on a connection of its own; return its answer's JSON.

    Raises:
        _NotPlainError: there is no daemon, or no answer that is a success.
        Busy: no answer came in time.
        DaemonNotRunning: a request that `changes` something was sent, and the connection ended before its answer.
    """
    sent = False
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
            peer.settimeout(timeout_s or TIMEOUT_S)
            peer.connect(_socket_path())
            sent = True
            peer.sendall(_request(method, target, body))
            if timeout_s is None:
                wait_or_warn(peer)
            head, _, answer = _read_all(peer).partition(b"\r\n\r\n")
    except TimeoutError as error:
        if timeout_s is not None:
            raise _NotPlainError from error  # the command tree names a process that hangs
        raise Busy(
            f"the daemon did not answer within {TIMEOUT_S:g} s",
            hint="run `reverie status`" + (", then `reverie log` to see if it was stored" if changes else ""),
        ) from error
    except OSError as error:
        if sent and changes is not None:
            raise DaemonNotRunning(
                "the daemon closed the connection before it answered",
                hint="run `reverie logs` to see why, then `reverie log` to see if it was stored",
            ) from error
        raise _NotPlainError from error
    lines = head.decode("latin-1").lower().split("\r\n")
    if lines[0].split(" ")[1:2] not in (["200"], ["201"]) or f"reverie-protocol: {PROTOCOL}" not in lines:
        raise _NotPlainError
    if f"content-length: {len(answer)}" not in lines:
        raise _NotPlainError
    return json.loads(answer)


def _request(method: str, target: str, body: dict[str, Any] | None) -> bytes:
    lines = [f"{method} {target} HTTP/1.1", "Host: reverie", f"Reverie-Protocol: {PROTOCOL}", "Connection: close"]
    data = b"" if body is None else json.dumps(body).encode()
    if token := os.environ.get("REVERIE_TOKEN"):
        if not (token.isascii() and token.isprintable() and " " not in token):
            raise _NotPlainError
        lines.append(f"Authorization: Bearer {token}")
    if body is not None:
        lines += ["Content-Type: application/json", f"Content-Length: {len(data)}"]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + data


def _read_all(peer: socket.socket) -> bytes:
    pieces = []
    while piece := peer.recv(1 << 16):
        pieces.append(piece)
    return b"".join(pieces)


def _socket_path() -> str:
    """Return the daemon's socket. Raises _NotPlainError where the settings may name another."""
    try:
        layout = Layout.current()
    except ReverieError as error:
        raise _NotPlainError from error
    if os.path.exists(layout.config_file):  # noqa: PTH110 - without a Path of its own
        raise _NotPlainError
    return str(layout.socket)
