"""What one fixed history leaves: every record, the archives, the files of the folder; and the tools that agents have.

    python tests/integration/whole/test_golden_history.py

writes the files of `tests/golden` anew. The daemon's clock stands still during an act, and its random bytes follow from
it, so that ids, times and bytes are the same in every run. A record is one line with its digest: a difference names it.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
import sys
import time
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from typing import Any

import lmdb
import pytest

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from reverie import tools
from reverie.client import Client
from reverie.wire import CreateMemory
from reveried.worker import SHARED_S
from support.daemon import Daemon, running_daemon, scratch_home
from support.daemon_folder import bytes_below
from support.mcp_bridge import META, STATELESS
from support.pages import newest_operation
from support.story import generate

ROOT = Path(__file__).resolve().parents[3]
GOLDEN = ROOT / "tests/golden"
NAMES = ("archives.txt", "folder.txt", "records.txt", "tools.json")
SEEDED = """
import hashlib, os, secrets
from pathlib import Path

clock, draws = Path(os.environ["REVERIE_HOME"], "clock"), {}

def token_bytes(count=32):
    now = clock.read_text()
    draws[now] = draws.get(now, 0) + 1
    return hashlib.sha256(f"{now}{draws[now]}".encode()).digest()[:count]

secrets.token_bytes = token_bytes
"""
SECRET = "sk-ant-api03-" + "Zm9vYmFyYmF6cXV4" * 4
# Records that differ from run to run: stamps of files, keys of hashes, and the checksums over both.
VARIES = re.compile(r"\S+ (published|redaction|fingerprint|tally|root|header|cursor (root|fingerprints))\b")
NOT_SHOWN = (".reverie/", "archives/")  # of the folder: digests of versions between, and what has its own golden
METHODS = ("tools/list", "prompts/list", "resources/templates/list")
COMMANDS: tuple[dict[str, Any], ...] = (
    {"command": "view", "path": "/memories"},
    {"command": "create", "path": "/memories/facts/tides.md", "file_text": "# Tides\n\n- High water is at six\n"},
    {"command": "view", "path": "/memories/facts/tides.md"},
    {"command": "str_replace", "path": "/memories/facts/tides.md", "old_str": "at six", "new_str": "at seven"},
    {"command": "insert", "path": "/memories/facts/tides.md", "insert_line": 3, "insert_text": "- Low at one\n"},
    {"command": "rename", "old_path": "/memories/facts/tides.md", "new_path": "/memories/facts/water.md"},
    {"command": "delete", "path": "/memories/facts/water.md"},
    {"command": "delete", "path": "/memories/facts/water.md"},
)


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    """What the history leaves now: the text of each golden."""
    return history()


@pytest.mark.parametrize("name", NAMES)
def test_the_history_leaves_what_it_left(made: dict[str, str], name: str) -> None:
    """Archives, files, records and tools have the bytes that they had."""
    golden = (GOLDEN / name).read_text("utf-8").splitlines()
    differs = "\n".join(unified_diff(golden, made[name].splitlines(), name, "now", n=0, lineterm=""))
    assert not differs, differs


def history() -> dict[str, str]:
    """Run a daemon through all acts; return the text of each golden."""
    with scratch_home() as home:
        (home / "sitecustomize.py").write_text(SEEDED)
        tick(home, 0)
        with running_daemon(home, PYTHONPATH=str(home)) as daemon, Client(daemon.socket) as client:
            definitions = offered(daemon, client)
            time.sleep(2 * SHARED_S)  # an import right after an agent's write is cut into smaller pieces
            for minute, _ in enumerate(acts(client, home / "root" / "default"), 1):
                client.sync_now()
                tick(home, minute)
            archives = [(one.kind, one.ref, one.sha256, client.archive(one.sha256)) for one in client.archives().items]
        assert [sha256 for _, _, sha256, data in archives if hashlib.sha256(data).hexdigest() != sha256] == []
        files = bytes_below(home / "root" / "default").items()
        return {
            "archives.txt": "".join(f"{kind} {ref} {sha256}\n" for kind, ref, sha256, _ in archives),
            "folder.txt": "".join(
                f"== {path}\n{data.decode()}" for path, data in files if not path.startswith(NOT_SHOWN)
            ),
            "records.txt": "".join(f"{line}\n" for line in records(next(home.rglob("data.mdb")).parent)),
            "tools.json": json.dumps(definitions, indent=1, ensure_ascii=False) + "\n",
        }


def tick(home: Path, minute: int) -> None:
    """Set the daemon's clock."""
    (home / "clock-next").write_text(f"2026-11-21T09:{minute:02d}:00Z\n")
    (home / "clock-next").replace(home / "clock")


def acts(client: Client, folder: Path) -> Iterator[Any]:
    """Do one thing of every kind after the other."""
    session = generate(3, tasks=4)
    place = client.start_import(client="claude-code", session=session.name)
    yield client.send_chunk(place.id, session.data, offset=0, first_line=1, final=True)
    thread = client.create_thread(title="A small one", project="harbour", agent="pi").id
    noise = random.Random(0).randbytes(80_000).hex()  # more than a record has by itself
    yield client.append(
        thread, [message("user", "we deploy on Thursdays"), message("assistant", f"The key is {SECRET}.")]
    )
    yield client.append(thread, [message("user", noise), message("assistant", "Yes.")])
    yield client.set_working_state(thread, current_task="Deploy", next_steps=["Ask Ann"])
    yield client.add_note(thread, "the release waits for Ann", "task")
    yield client.remember(CreateMemory("We deploy on Thursdays", "procedure", ["release"]))
    bread = client.remember(CreateMemory("Bread is baked on Sundays", project="orchard"))
    yield bread
    yield client.put_document("facts/roles.md", "# User Facts\n\n- Role: engineer #job\n")
    yield client.patch_document("facts/roles.md", [("engineer", "cook")])
    yield client.append_entry("facts/user.md", "- Lives in Oslo")
    (folder / "facts" / "people.md").write_text("# People\n\n- Ann signs releases\n- Bo mends sails\n")
    yield client.sync_now()
    yield client.forget(bread.id)
    yield client.undo(newest_operation(client).id)
    yield client.move_document("facts/people.md", "facts/crew.md")
    run = client.start_run(agent="coder", title="The queue", project="harbour").id
    client.put_run_file(run, "notes.md", "# Notes\n\n- The queue is drained at night\n")
    yield client.put_working_memory(run, {"done": "half"})
    yield client.complete_run(run)
    yield client.distill(place.thread)
    yield client.dream()
    yield client.forget(bread.id)
    yield client.add_schedule("0 3 * * *")
    yield client.create_space("work")
    yield client.create_token("work", agent="mole")
    yield client.rewind(thread, 2)


def message(role: str, content: str) -> dict[str, Any]:
    return {"role": role, "content": content}


def offered(daemon: Daemon, client: Client) -> dict[str, Any]:
    """Return the definitions of tools for each kind of client, and what Anthropic's memory tool answers."""
    found: dict[str, Any] = {}
    for form in ("anthropic", "openai"):
        found[form] = daemon.ask("GET", f"/v1/tools?format={form}").json()
    for method in METHODS:
        call = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": STATELESS}}
        headers = {"MCP-Protocol-Version": str(STATELESS[META + "protocolVersion"]), "Mcp-Method": method}
        found[method] = daemon.ask("POST", "/mcp", call, headers).json()
    for tool in tools.TOOLS:  # those that are not listed too
        found[tool.name] = [tools.input_schema(kind) for kind in (tool.input_type, tool.output_type) if kind]
    found["memory"] = []
    for command in COMMANDS:
        found["memory"].append([command, client.call_tool("memory", command).content])
        client.sync_now()
    return found


def records(store: Path) -> Iterator[str]:
    """Yield a line for each record of a closed store, in its order: space, kind, key, and the digest of its bytes."""
    kinds = dict(
        re.findall(r"^\| (\d+) \| (\w+) \|", (ROOT / "python/reverie/store/FORMAT.md").read_text(), re.MULTILINE)
    )
    with lmdb.open(str(store), readonly=True, lock=False) as env, env.begin() as transaction:
        for key, data in transaction.cursor():
            space, _, rest = key[1:].partition(b"\0")
            line = " ".join((space.decode(), kinds[str(rest[0])], *parts(rest[1:], kinds)))
            if not VARIES.match(line):
                yield f"{line}: {hashlib.sha256(data).hexdigest()[:16]}"


def parts(key: bytes, kinds: dict[str, str]) -> Iterator[str]:
    """Yield the parts of a key, as FORMAT.md section 1 has them; the kind within the key of a version is a part."""
    while key:
        tag, key = key[0], key[1:]
        if tag == 2:
            text, _, key = key.partition(b"\0")
            yield text.decode()
        elif tag == 3:
            yield key[:32].hex()[:16]
            key = key[32:]
        elif 20 <= tag <= 28:
            yield str(int.from_bytes(key[: tag - 20], "big"))
            key = key[tag - 20 :]
        else:
            yield kinds[str(tag)]


if __name__ == "__main__":
    for name, text in history().items():
        (GOLDEN / name).write_text(text, "utf-8")
