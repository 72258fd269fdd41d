"""A program in the place of a model: it notes each request, and answers as the test has written it down."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reverie.client import Client

PROGRAM = """
import json, os, sys, time
folder, request = sys.argv[1], json.load(sys.stdin)
with open(os.path.join(folder, "requests.jsonl"), "a") as log:
    log.write(json.dumps({**request, "marker": os.environ.get("REVERIE_MODEL_CALL"), "pid": os.getpid()}) + "\\n")
with open(os.path.join(folder, request["purpose"] + ".json")) as file:
    how = json.load(file)
if "turns" in how:
    turn = sum(message["role"] == "assistant" for message in request["messages"])
    how = {"text": json.dumps(how["turns"][min(turn, len(how["turns"]) - 1)])}
if how.get("fork"):
    if os.fork() == 0:
        time.sleep(600)
sys.stderr.write(how.get("stderr", ""))
sys.stderr.flush()
time.sleep(how.get("before", 0))
while "until" in how and not os.path.exists(how["until"]):
    time.sleep(0.01)
out = sys.stdout.buffer
for _ in range(how.get("times", 1)):
    out.write(bytes.fromhex(how["hex"]) if "hex" in how else how.get("text", "").encode("utf-8", "surrogatepass"))
    out.flush()
    time.sleep(how.get("between", 0))
sys.exit(how.get("status", 0))
"""


@dataclass(frozen=True, slots=True)
class FakeModel:
    """A model program in `folder`, with the requests that it has received."""

    folder: Path

    @classmethod
    def at(cls, folder: Path) -> FakeModel:
        """Return the model whose program is written to `folder`; it answers everything with empty lists."""
        folder.mkdir(parents=True, exist_ok=True)
        model = cls(folder)
        model.reset()
        return model

    @property
    def program(self) -> Path:
        """Return the path of the program."""
        return self.folder / "program"

    def reset(self) -> None:
        """Reset all answers to empty lists, and forget the requests received so far."""
        for path in (*self.folder.glob("*.json"), *self.folder.glob("*.jsonl")):
            path.unlink()
        self.program.write_text(f"#!{sys.executable}\n{PROGRAM}")
        self.program.chmod(0o700)
        self.extract()
        self.consolidate()

    def settings(self, **more: str) -> dict[str, str]:
        """Return the environment of a daemon that asks this model."""
        return {
            "REVERIE_DISTILLER_KIND": "command",
            "REVERIE_DISTILLER_COMMAND": json.dumps([str(self.program), str(self.folder)]),
            "REVERIE_DISTILLER_DEADLINE_SECONDS": "20",
            **more,
        }

    def behave(self, purpose: str, *, absent: Any = False, **how: Any) -> None:
        """Set how requests of this purpose are answered: by `text`, `hex`, `status`, `stderr`, `before`, `until`, ….

        An `absent` program is not there until the next reset. `until` names a file that the program waits for.
        """
        if absent:
            self.program.unlink()
        (self.folder / f"{purpose}.json").write_text(json.dumps(how))

    def extract(self, *memories: dict[str, Any], episodes: Any = (), wrong: Any = ()) -> None:
        """Make the model answer requests for an extraction with these memories."""
        answer = {"memories": list(memories), "episodes": list(episodes), "wrong": list(wrong)}
        self.behave("extract", text=json.dumps(answer))

    def consolidate(self, *operations: dict[str, Any]) -> None:
        """Make the model answer requests for a consolidation with these operations."""
        self.behave("consolidate", text=json.dumps({"operations": list(operations)}))

    def reflect(self, *turns: list[dict[str, Any]]) -> None:
        """Make the model's reflection call these tools, turn by turn, and then end."""
        self.behave("reflect", turns=[*({"calls": calls} for calls in turns), {"calls": []}])

    def has_ended(self) -> bool:
        """Return True if no process that got a request runs; one that nobody has waited for may still be there."""
        return not any(_runs(request["pid"]) for request in self.requests())

    def requests(self, purpose: str | None = None) -> list[dict[str, Any]]:
        """Return the requests so far, oldest first, of one purpose or of all."""
        path = self.folder / "requests.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        found = [json.loads(line) for line in lines]
        return [request for request in found if purpose in {None, request["purpose"]}]


def _runs(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text("ascii")
    except (FileNotFoundError, ProcessLookupError):
        return False


def call(name: str, **given: Any) -> dict[str, Any]:
    """Return a tool call in the form in which the model program answers."""
    return {"name": name, "input": given}


def memory(content: str, quote: str, entry: int = 1, **fields: Any) -> dict[str, Any]:
    """Return a memory as a model writes it, with one quote."""
    return {
        "type": "fact",
        "content": content,
        "tags": ["cache"],
        "scope": "project",
        "status": "none",
        "quotes": [{"entry": entry, "text": quote}],
        **fields,
    }


def thread_of(client: Client, messages: list[dict[str, Any]], **fields: Any) -> str:
    """Return a new thread with these messages."""
    thread = client.create_thread(**fields).id
    client.append(thread, messages)
    return thread
