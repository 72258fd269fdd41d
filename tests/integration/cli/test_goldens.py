"""What every command prints: its help, its text and its JSON over one history of a real daemon.

    python tests/integration/cli/test_goldens.py [FILE]

writes the files anew; with FILE the whole output goes there. Ids, times, sizes and paths differ from run to run and are
masked. Of JSON the files have the shape, as the values are the daemon's; of a long text they have the beginning.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from collections.abc import Iterator

from reverie.client import Client
from reveried.cli.tree import tree
from reveried.demo.session import SESSION, sample
from support.cli import reverie
from support.daemon import environment, running_daemon, scratch_home

GOLDEN = Path(__file__).parents[2] / "golden"
ROLES = "# User Facts\n\n- Role: engineer #job\n"
FORGOTTEN = "Sails are mended in the loft on Mondays"
FILE = "---\nname: {0}\ndescription: how it is done\nmetadata:\n  type: project\n  originSessionId: 5f1c-77\n---\n{1}\n"
CHARS_MAX = 1_500  # of a text
SECRET = "sk-ant-api03-" + "Zm9vYmFyYmF6cXV4" * 4

# Commands that change nothing: each is run as it is here, and with --json.
READS = """
reverie version
reverie status
reverie threads
reverie threads --project {project}
reverie threads --project nowhere
reverie threads --limit 1 --all
reverie thread {thread} --last 2
reverie thread {thread} --around 40 --full
reverie thread {small}
reverie thread {small} --around 99
reverie thread thr_none
reverie thread thr_
reverie thread {small} --last 1 --around 1
reverie projects
reverie context {small}
reverie context {small} --placement sideways
reverie distill {small} --show-request
reverie reflect {small} --show-request
reverie reflect {small}
reverie search deploy
reverie search bread --in memories
reverie search nothing-like-this-zzz
reverie search deploy --since yesterday
reverie search deploy --in sideways
reverie search deploy --thread thr_none
reverie recall --all-projects when do we deploy
reverie recall do ducks deploy dungarees
reverie recall zzzz
reverie recall deploy --type sideways
reverie recall deploy --limit 0
reverie recall deploy --limit x
reverie recall
reverie recall --min-score 0 deploy dungarees
reverie memories --all-projects
reverie memories --type mistake --tag none
reverie memories --type sideways
reverie memories --limit 1
reverie note {small}
reverie note thr_none words
reverie note {small} words --category sideways
reverie note {thread}
reverie log
reverie log facts/roles.md
reverie log {memory}
reverie log facts/none.md
reverie show {operation}
reverie show {thread}
reverie show {memory}
reverie show {memory_end}
reverie show {dream}
reverie show {conflict}
reverie show {candidate}
reverie show {redaction}
reverie show {schedule}
reverie show sch_none
reverie show facts/roles.md
reverie show facts/roles.md --at 99999
reverie show zzzz
reverie show 99999
reverie show {archive}
reverie show {archive_begin}
reverie diff {operation}
reverie diff {operation} {operation}
reverie diff {operation} --path facts/none.md
reverie diff 99999
reverie check
reverie sync
reverie sync status
reverie sync conflicts
reverie sync resolve cnf_none --keep file
reverie review
reverie review list
reverie review list --state all
reverie review list --state accepted
reverie review list --state sideways
reverie review diff {candidate}
reverie review diff {candidate_end}
reverie review diff zzzz
reverie redactions
reverie redactions --project nowhere
reverie redactions allow
reverie redactions allow zzzz
reverie brief --project harbour
reverie brief --project orchard
reverie brief drop zzzz --project harbour
reverie runs
reverie runs list --state completed
reverie runs list --state sideways
reverie runs show {run}
reverie runs show {run_end}
reverie runs show zzzz
reverie archives
reverie archives list --limit 1
reverie archives show {archive_begin}
reverie archives show zzzz
reverie archives verify
reverie schedule
reverie schedule list
reverie schedule add daily
reverie schedule remove sch_none
reverie config get context.window
reverie config get context.windo
reverie config path
reverie config path root
reverie config path sideways
reverie config validate
reverie config validate /nowhere.toml
reverie config set context.window none
reverie space
reverie space list
reverie token
reverie token list
reverie token revoke none
reverie service
reverie service status
reverie import
reverie import claude-code /nowhere
reverie import chatgpt /nowhere
reverie import claude-memory /nowhere
reverie install sideways
reverie install claude-code --dry-run
reverie install codex --dry-run
reverie run sideways
reverie proxy claude --max-tokens 1
reverie eval
reverie eval context {session} --max-tokens 300
reverie eval knowledge {session} --max-tokens 300
reverie eval context /nowhere
reverie eval continuity {session} --budgets 4000 --cuts 1
reverie eval continuity {session} --budgets x
reverie eval frequency {session}
reverie eval memories {session}
reverie completion sideways
reverie up
reverie logs
reverie
reverie --version
reverie statsu
reverie sync sttus
reverie demo --sideways
reverie --token "" status
reverie --token x status
reverie backup
"""

# Commands that change something, in this order.
CHANGES = """
reverie remember we deploy on Fridays --type procedure
reverie remember we deploy on Fridays --type procedure
reverie remember we bake bread on Sundays '#home' --json
reverie remember x --type sideways
reverie remember x --project sideways
reverie remember '{secret}'
reverie note {small} ask Ann first --category task
reverie note {small} ask Ann twice --json
reverie undo --yes
reverie undo {operation} --json
reverie undo {operation}
reverie undo
reverie rollback {operation} --path facts/roles.md
reverie rollback {operation} --path facts/roles.md --yes
reverie rollback 99999 --yes
reverie forget {memory}
reverie forget zzzz
reverie forget facts/roles.md
reverie forget {small}
reverie forget {small} --yes --json
reverie forget {last_memory} --purge
reverie forget {last_memory} --purge --yes
reverie distill {thread} --full
reverie distill {thread} --json
reverie dream
reverie dream --dry-run --json
reverie sync now
reverie sync now --json
reverie sync resolve {conflict} --keep sideways
reverie sync resolve {conflict} --keep store
reverie review accept {candidate}
reverie review reject {candidate}
reverie redactions allow {redaction}
reverie redactions disallow {redaction} --json
reverie redactions allow --like 'PRRT_*'
reverie redactions disallow --like 'PRRT_*'
reverie brief keep {line} --project harbour
reverie brief drop {line} --project harbour --json
reverie brief edit {line} --project harbour Drafts come first.
reverie projects --sort
reverie schedule add '0 4 * * *' --timezone UTC --budget 500
reverie schedule remove {schedule}
reverie space create work
reverie space create work
reverie space create play --json
reverie token create --space work
reverie ignore {home}/secret
reverie ignore
reverie ignore --remove {home}/secret
reverie pause
reverie status
reverie resume
reverie config set context.window 300000
reverie config set context.window 300000 --json
reverie config get context.window
reverie status
reverie import claude-code {session}
reverie import claude-code {session} --json
reverie import claude-code {home}/other.jsonl
reverie import claude-memory {home}/memory
reverie install claude-code
reverie install claude-code
reverie install claude-code --uninstall --json
reverie backup {home}/copy
reverie backup {home}/copy
reverie backup {home}/copy2 --json
reverie compact
reverie compact --json
reverie restore {home}/copy
reverie down
reverie down
reverie status
reverie recall deploy
reverie remember nothing
reverie threads --json
reverie check
reverie restore {home}/none
reverie restore {home}/copy
reverie logs
"""


def test_help() -> None:
    """Every command's help is as it was."""
    assert helps() == (GOLDEN / "cli_help.txt").read_text("utf-8")


def test_commands() -> None:
    """Every command prints, on both streams and as JSON, what it printed, and ends with the same exit code."""
    assert outputs() == (GOLDEN / "cli.txt").read_text("utf-8")


def helps() -> str:
    """Return the help of every command."""
    with environ({"TERMINAL_WIDTH": "100", "COLUMNS": "100"}):
        shown = [f"$ {command} --help\n{run(f'{command} --help')[1]}" for command in ["reverie", *commands()]]
    return "\n".join(shown)


def commands() -> Iterator[str]:
    """Yield the names of all commands."""
    root = tree()
    context = root.make_context("reverie", [], resilient_parsing=True)
    for name in root.list_commands(context):
        command = root.get_command(context, name)
        yield f"reverie {name}"
        for inner in getattr(command, "list_commands", lambda _: ())(context):
            yield f"reverie {name} {inner}"


def outputs(*, whole: bool = False) -> str:
    """Return what each command of both tables prints, masked."""
    shown: list[str] = []
    with scratch_home() as home, in_home(home):
        (home / "r").mkdir(mode=0o700)
        with running_daemon(home / "r", REVERIE_SYNC_GRACE_SECONDS="0.3") as daemon:
            with Client(daemon.socket) as client:
                names = history(client, home)
            for line in READS.split("\n"):
                if line:
                    shown.append(entry(line, names, whole=whole))
                    if "--json" not in line and line != "reverie":
                        shown.append(entry(line + " --json", names, whole=whole))
            shown += [entry(line, names, whole=whole) for line in CHANGES.split("\n") if line]
    return masked("\n".join(shown), home, names)


def entry(line: str, names: dict[str, str], *, whole: bool) -> str:
    """Run a command line and return it with its exit code and output; JSON is on one line."""
    code, out, err = run(line.format(**names))
    try:
        answer = json.loads(out)
    except ValueError:
        shown = out if whole or len(out) <= CHARS_MAX else out[:CHARS_MAX] + "…\n"
    else:
        shown = json.dumps(answer if whole or code else shape(answer), ensure_ascii=False) + "\n"
    return f"$ {line}{f'  # {code}' if code else ''}\n{shown}" + "".join(f"! {said}\n" for said in err.splitlines())


def shape(value: Any) -> Any:
    """Return JSON with `...` for its values, and the first item of each list."""
    if isinstance(value, dict):
        return {name: "..." if name == "counts" else shape(inner) for name, inner in value.items()}
    return [shape(inner) for inner in value[:1]] if isinstance(value, list) else "..."


def run(line: str) -> tuple[int, str, str]:
    """Run a command line in this process; return exit code, output and errors. The answer to a question is no."""
    done = reverie(os.environ, *shlex.split(line)[1:], typed="n\n")
    return done.code, done.out, done.err.replace("Removing every trace …\n", "")  # said of a purge that takes long


def history(client: Client, home: Path) -> dict[str, str]:
    """Make a history that has one of everything; return the names that the tables use."""
    session = home / f"{SESSION}.jsonl"
    session.write_bytes(sample())
    run(f"reverie import claude-code {session}")
    spoken = home / "harbour.jsonl"
    lines = [("user", "Pull requests are always opened as drafts."), ("assistant", "They are."), ("user", "Thanks.")]
    spoken.write_text("".join(said(number, role, text) for number, (role, text) in enumerate(lines)))
    run(f"reverie import claude-code {spoken}")
    (home / "other.jsonl").write_text("not a session\n")
    (home / ".claude").mkdir()
    (home / "memory").mkdir()
    (home / "memory" / "bread.md").write_text("# Bread\n\n- Bread is baked on Sundays\n")
    small = client.create_thread(title="A small one", project="harbour", agent="pi")
    client.append(
        small.id, [{"role": "user", "content": "we deploy on Thursdays"}, {"role": "assistant", "content": "Yes."}]
    )
    run(f"reverie note {small.id} the release waits for Ann")
    run("reverie remember we deploy on Thursdays --type procedure")
    run(f"reverie remember the key is {SECRET}")
    memory = client.memories(limit=1000, all_projects=True).items[0].id
    client.put_document("facts/roles.md", ROLES)
    operation = client.operations(limit=1).items[0].id
    roles = home / "r" / "root" / "default" / "facts" / "roles.md"
    client.sync_now()
    saved = roles.read_text("utf-8")
    client.patch_document("facts/roles.md", [("Role: engineer", "Role: cook")])
    roles.write_text(saved.replace("Role: engineer", "Role: pilot"), "utf-8")
    waits = time.monotonic() + 30
    while not client.conflicts().items and time.monotonic() < waits:
        client.sync_now()
        time.sleep(0.1)
    run(f"reverie remember {FORGOTTEN}")
    forgotten = next(item for item in client.memories(limit=1000, all_projects=True).items if item.content == FORGOTTEN)
    client.forget(forgotten.id)
    sails = home / "lofts" / "memory"
    sails.mkdir(parents=True)
    (sails / "sails.md").write_text(FILE.format("sails", FORGOTTEN))
    run(f"reverie import claude-memory {sails}")
    work = client.start_run(agent="coder", title="The queue", project="harbour")
    client.put_run_file(work.id, "notes.md", "# Notes\n\n- The queue is drained at night\n")
    client.put_working_memory(work.id, {"done": "half"})
    client.complete_run(work.id)
    thread = next(item.id for item in client.threads(limit=100).items if item.message_count > 20)
    client.distill(thread)
    client.dream()
    run("reverie schedule add '0 3 * * *' --timezone UTC")
    archives = sorted(client.archives().items, key=lambda item: item.at)
    found = {
        "thread": thread,
        "small": small.id,
        "memory": memory,
        "operation": operation,
        "dream": next(item.ref or "" for item in archives if item.kind == "dream"),
        "conflict": client.conflicts().items[0].id,
        "candidate": client.candidates().items[0].id,
        "redaction": client.redactions().items[0].id,
        "schedule": client.schedules().items[0].id,
        "run": work.id,
        "archive": archives[0].sha256,
        "line": next(line.id for line in client.brief("harbour").lines if line.memory is None),
        "last_memory": client.memories(limit=1000, all_projects=True).items[-1].id,
        "project": next(item.name for item in client.projects().items if item.name != "harbour"),
    }
    ends = {f"{name}_end": found[name][-8:] for name in ("memory", "candidate", "run")}
    return {
        **found,
        **ends,
        "archive_begin": archives[0].sha256[:12],
        "session": str(session),
        "home": str(home),
        "secret": SECRET,
    }


def said(number: int, role: str, text: str) -> str:
    """Return a line of a transcript of Claude Code."""
    line: dict[str, Any] = {
        "type": role,
        "uuid": f"00000000-0000-4000-8000-00000000000{number}",
        "parentUuid": None if number == 0 else f"00000000-0000-4000-8000-00000000000{number - 1}",
        "sessionId": "8d1f6a52-0c44-4b7e-9a63-2f5f0e8b1c91",
        "timestamp": f"2026-03-01T09:00:0{number}.000Z",
        "cwd": "/home/ann/harbour",
        "message": {"role": role, "content": text if role == "user" else [{"type": "text", "text": text}]},
    }
    return json.dumps(line) + "\n"


MASKS = (
    (r"\b(thr|mem|dream|cnf|cnd|rdn|sch|run|note|tok|imp|op)_[0-9a-zA-Z]{8,}", r"\1_ID"),
    (r"\brvt_[\w-]+", "rvt_TOKEN"),
    (r"reverie (forget|redactions allow) [0-9a-z]{8}\b", r"reverie \1 END"),
    (r"sync-conflict-[0-9a-z-]+", "sync-conflict-NAME"),
    (r"\b[0-9a-f]{64}\b", "SHA256"),
    (r"\b(?=[0-9a-f]*[0-9])[0-9a-f]{12,40}\b", "HEX"),
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?", "TIME"),
    (r"\b20\d\d-\d\d-\d\d\b(?!-)", "DAY"),
    (r"\b\d+(\.\d+)? (B|KiB|MiB|GiB)\b", "SIZE"),
    (r"(process|\"pid\":) \d+", r"\1 PID"),
    (r"up \d+ \w+", "up AGE"),
    (r"(store-before-)[\d-]+[0-9a-f]*", r"\1TIME"),
    (r"(uptimeSeconds|size|freedBytes|bytes|fileBytes|score|rss|seconds)(\": )[\d.e-]+", r"\1\2N"),
    (r"(?m)^\d+(?= +TIME)|\b((?:undo|op|log) |(?:operations?|Operation|Parent) +|and |shown: )\d+", r"\1N"),
    (r"\"counts\": {[^}]*}", '"counts": {}'),
    (r"\"(id|seq|parent|before|after|operation|from|to|version|first|last)(\": \"?)\d+", r'"\1\2N'),
    (r"\b[\d,]*\d\d+(\.\d+)?\b", "N"),
    (r" {2,}", "  "),
)


def masked(text: str, home: Path, names: dict[str, str]) -> str:
    """Return the text without what differs from run to run."""
    for whole in sorted(set(re.findall(r"\b(?:mem|cnd|run|rdn|thr|cnf)_[0-9a-zA-Z]{8,}", text))):
        text = text.replace(f"…{whole[-8:]}", "…END").replace(f" {whole[-8:]}", " END")
    text = text.replace(names["archive_begin"], "HEX").replace(str(home), "HOME").replace(sys.prefix, "PREFIX")
    text = text.replace(sys.version.split()[0], "PYTHON").replace(sys.executable, "EXECUTABLE")
    for pattern, mask in MASKS:
        text = re.sub(pattern, mask, text)
    return text


@contextmanager
def in_home(home: Path) -> Iterator[None]:
    """Let this process be one of a user whose home is this folder."""
    here = Path.cwd()
    os.chdir(home)
    try:
        with environ({**environment(home / "r"), "HOME": str(home), "NO_COLOR": "1", "TZ": "UTC", "COLUMNS": "100"}):
            yield
    finally:
        os.chdir(here)


@contextmanager
def environ(values: dict[str, str]) -> Iterator[None]:
    """Set environment variables, and without others of this program."""
    with mock.patch.dict(os.environ, values):
        for name in [name for name in os.environ if name.startswith(("REVERIE_", "XDG_")) and name not in values]:
            del os.environ[name]
        time.tzset()
        yield
    time.tzset()


if __name__ == "__main__":
    if sys.argv[1:]:
        Path(sys.argv[1]).write_text(outputs(whole=True), "utf-8")
    else:
        (GOLDEN / "cli_help.txt").write_text(helps(), "utf-8")
        (GOLDEN / "cli.txt").write_text(outputs(), "utf-8")
