"""Sessions as Claude Code writes them: line by line, generated with all that happens in one, growing, or compacted."""

from __future__ import annotations

import atexit
import functools
import gzip
import random
import shutil
import tempfile
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from support.daemon import Daemon

_NAMESPACE = uuid.UUID("9b7c1f5e-0c55-4e0e-8a0b-6f2f1c8f0a77")
_START = datetime(2026, 2, 3, 8, 30, tzinfo=UTC)
_STEP = timedelta(seconds=17)
_TIMELESS = ("file-history-snapshot", "summary")  # line kinds outside of the tree of messages


def text(words: str) -> dict[str, Any]:
    """Return a text block."""
    return {"type": "text", "text": words}


def thinking(words: str) -> dict[str, Any]:
    """Return a thinking block with a made-up signature."""
    return {"type": "thinking", "thinking": words, "signature": f"c2ln{len(words):06}"}


def call(name: str, **tool_input: Any) -> dict[str, Any]:
    """Return a shell call whose id is its name, for readable tests."""
    return {"type": "tool_use", "id": name, "name": "Bash", "input": tool_input}


def result(name: str, content: Any = "done") -> dict[str, Any]:
    """Return the result of a call."""
    return {"type": "tool_result", "tool_use_id": name, "content": content}


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call with its result; a `result` of None means that the call was never answered."""

    name: str
    arguments: dict[str, Any]
    result: str | list[dict[str, Any]] | None
    failed: bool = False


@dataclass(slots=True)
class Story:
    """The lines of one Claude Code session so far; ids and times are counted, so equal calls give equal bytes.

    Without a folder the lines have few fields, and short ids (`u1`). A line's parent is the one before it unless
    `parent` names another (`None`: a root).
    """

    number: int = 0
    folder: str = ""
    session: str = ""
    begin: datetime = _START
    lines: list[dict[str, Any]] = field(default_factory=list)
    parent: str | None = None  # uuid of the line that the next one hangs on
    compactions: int = 0
    unanswered: int = 0
    _replies: int = 0
    _calls: int = 0
    _slots: int = 0  # lines of the tree so far, for their ids and times
    _name: str = ""  # in the ids of lines

    def __post_init__(self) -> None:
        self._name = self.session or str(self.number)
        if not self.session:
            self.session = str(uuid.uuid5(_NAMESPACE, f"session {self.number}")) if self.folder else "s1"

    @property
    def last_reply(self) -> str:
        """Return the id of the newest assistant message."""
        return f"msg_{self.number:03}{self._replies:06}"

    def bytes(self) -> bytes:
        """Return the lines as the bytes of a session file."""
        return b"".join(orjson.dumps(line) + b"\n" for line in self.lines)

    def add(self, kind: str, *, parent: str | None = "", uuid: str | None = None, **fields: Any) -> str:
        """Append one line of the message tree and return its uuid; `fields` may override the envelope."""
        identity = uuid or self._identity()
        line = {
            "parentUuid": self.parent if parent == "" else parent,
            "isSidechain": False,
            **({"userType": "external", "cwd": self.folder} if self.folder else {}),
            "sessionId": self.session,
            **({"version": "2.1.4", "gitBranch": "main"} if self.folder else {}),
            "type": kind,
            "uuid": identity,
            "timestamp": self._now(),
        }
        self._slots += 1
        self.lines.append(line | fields)
        if not fields.get("isSidechain"):
            self.parent = identity
        return identity

    def add_outside_tree(self, kind: str, **fields: Any) -> None:
        """Append a line that has no uuid and no parent: a snapshot, a queue operation, a title of another session."""
        line = {"type": kind, **fields}
        self.lines.append(line if kind in _TIMELESS else {**line, "sessionId": self.session, "timestamp": self._now()})

    def queue(self, operation: str, content: Any = None) -> None:
        """Append an operation of the queue, into which the client puts words that are typed meanwhile."""
        self.add_outside_tree(
            "queue-operation", operation=operation, **({} if content is None else {"content": content})
        )

    def user(self, content: Any, **fields: Any) -> str:
        """Append a message of the user."""
        return self.add("user", message={"role": "user", "content": content}, **fields)

    def assistant(self, *blocks: dict[str, Any], reply: str | None = None, **fields: Any) -> str:
        """Append a reply of the agent in one line, which may be one of several of `reply`."""
        usage = {"input_tokens": 7, "output_tokens": len(self.lines)}
        message = {"id": reply or f"msg{len(self.lines) + 1}", "type": "message", "role": "assistant"}
        return self.add("assistant", message=message | {"content": list(blocks), "usage": usage}, **fields)

    def reply(self, *blocks: dict[str, Any], **fields: Any) -> None:
        """Append a reply of the agent without tool calls, a line for each block."""
        self._replies += 1
        for block in blocks:
            self._assistant(block, "end_turn", **fields)

    def tools(self, *calls: ToolCall, before: tuple[dict[str, Any], ...] = (), interleaved: bool = False) -> None:
        """Append a reply with the blocks `before` and the tool calls, and the result of each call.

        `interleaved` writes each result right behind its call, as the client does when a tool is quick; otherwise all
        results follow the whole reply.
        """
        self._replies += 1
        for block in before:
            self._assistant(block, "tool_use")
        results: list[tuple[str, str, ToolCall]] = []
        for call in calls:
            self._calls += 1
            identity = f"toolu_{self.number:03}{self._calls:06}"
            use = {"type": "tool_use", "id": identity, "name": call.name, "input": call.arguments}
            line = self._assistant(use, "tool_use")
            if interleaved:
                self._result(identity, line, call)
            else:
                results.append((identity, line, call))
        for identity, line, call in results:
            self._result(identity, line, call)

    def compact(self, summary: str, tokens_before: int = 1_000) -> None:
        """Append a compaction as the client records it: the boundary line, then the client's summary."""
        self.compactions += 1
        self.add(
            "system",
            parent=None,
            subtype="compact_boundary",
            logicalParentUuid=self.parent,
            content="Conversation compacted",
            isMeta=False,
            level="info",
            compactMetadata={"trigger": "auto", "preTokens": tokens_before},
        )
        self.user(summary, isCompactSummary=True, isVisibleInTranscriptOnly=True)

    def progress(self, **data: Any) -> None:
        """Append a progress notice of a running tool."""
        identity = f"toolu_{self.number:03}{self._calls:06}"
        self.add("progress", data=data, toolUseID=identity, parentToolUseID=identity)

    def _assistant(self, block: dict[str, Any], stop: str, **fields: Any) -> str:
        message = {
            "model": "claude-generated",
            "id": self.last_reply,
            "type": "message",
            "role": "assistant",
            "content": [block],
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": {"input_tokens": 6, "cache_read_input_tokens": 700 * self._replies, "output_tokens": 90},
        }
        return self.add("assistant", message=message, requestId=f"req_{self.number:03}{self._replies:06}", **fields)

    def _result(self, identity: str, line: str, call: ToolCall) -> None:
        if call.result is None:
            self.unanswered += 1
            return
        block: dict[str, Any] = {"tool_use_id": identity, "type": "tool_result", "content": call.result}
        if call.failed:
            block["is_error"] = True
        shown = call.result if isinstance(call.result, str) else {"parts": len(call.result)}
        self.user([block], toolUseResult=shown, sourceToolAssistantUUID=line)

    def _identity(self) -> str:
        if self.folder:
            return str(uuid.uuid5(_NAMESPACE, f"{self._name}/{self._slots}"))
        return f"u{len(self.lines) + 1}"

    def _now(self) -> str:
        at = self.begin + timedelta(days=self.number % 250) + self._slots * _STEP
        return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


COUNT = 10  # sessions in the standard set: enough for every kind of line in several arrangements

_PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


class Project(NamedTuple):
    """The names and files that the sessions of one repository share."""

    folder: str
    source: str  # path of a component's source, with {0} for its name
    test: str  # path of its test
    command: str  # runs one test file
    line: str  # one line of source code, with {0} the component and {1} a number
    error: str  # how the tests say that a value is wrong


class GeneratedSession(NamedTuple):
    """A session's bytes, and the events that the generator put into it."""

    name: str
    data: bytes
    compactions: int
    unanswered: int  # tool calls without a result
    rewound: tuple[str, ...]  # prompts that the person took back


PROJECTS = (
    Project(
        "/home/ann/tidewatch", "tidewatch/{0}.py", "tests/test_{0}.py", "pytest -q {0}",
        "    {0}_level_{1} = read_gauge({1}, station='{0}')", "AssertionError: assert {0} == {1}",
    ),
    Project(
        "/home/ann/lampwright", "src/{0}/index.ts", "src/{0}/index.test.ts", "npx vitest run {0}",
        "  export const {0}Lumen{1} = dim({1}, '{0}')", "Expected: {1}, Received: {0}",
    ),
    Project(
        "/home/ann/quarryd", "crates/{0}/src/lib.rs", "crates/{0}/tests/{0}.rs", "cargo test -p quarry --test {0}",
        "    let {0}_slab_{1} = cut(&block, {1})?; // {0}", "assertion `left == right` failed: left: {0}, right: {1}",
    ),
    Project(
        "/home/ann/orchard-api", "internal/{0}/{0}.go", "internal/{0}/{0}_test.go", "go test ./{0}",
        "	{0}Crate{1} := Weigh(ctx, {1}) // {0}", "got {0}, want {1}",
    ),
)  # fmt: skip
HARBOUR = PROJECTS[0]._replace(folder="/home/ann/harbour")
WHY = "The wrong value was kept because nobody had asked for another one."  # an episode says more than a subject
PARTS = ("ledger", "router", "exporter", "mailer", "sampler", "planner", "gateway", "archive", "cursor", "throttle")
FAULTS = (
    "loses the last record when the file has no newline at its end",
    "counts a retry twice after a time-out",
    "returns yesterday's value until the process is restarted",
    "writes an empty row for every station without a reading",
    "keeps its lock when the first write fails",
)
CAUSES = (
    "the buffer is flushed after the handle was closed",
    "the counter is raised in both the caller and the callee",
    "the cache key leaves out the day",
    "a missing value becomes an empty text in the join",
    "the guard is dropped only in the branch that succeeds",
)
DECISIONS = (
    "Let's keep the public signature of {0} and change only what is behind it.",
    "We should always write the regression test before the fix, also for {0}.",
    "Please don't add a new dependency for {0}, the standard library is enough.",
    "I prefer small commits: one for {0}, another for its test.",
    "Never log the whole payload of {0}, only its length.",
    "Use the port {1} for {0} instead of the default one.",
)
WISHES = (
    "We always write a regression test for {0} first. I prefer small commits. Never change the signature of `{0}_open`."
)
CORRECTIONS = (
    "no, don't rename `{0}_open`, other tools call it by that name",
    "no, that is the wrong file: the {0} that is deployed lives in the other folder",
    "please stop, the test was right and the {0} is wrong",
    "not quite: the limit of {0} is {1}, not {2}",
)
FOREIGN = (
    "请在修复 {0} 之前先写测试。提交信息保持简短。",
    "{0} の変更は小さく分けてください。テストも忘れずに。",
    "Für {0} bitte keine neuen Abhängigkeiten — die Größe zählt.",
)
NOTES = ("checks the input", "walks every station", "holds no state", "is called once a minute", "rounds half to even")


def generate(number: int, *, tasks: int = 6, noise: int = 25) -> GeneratedSession:
    """Return session `number` of `tasks` tasks; `noise` is the mean number of lines that a tool returns."""
    return _Session(number, noise).run(tasks)


def generated_session(number: int, turns: int = 4, noise: int = 20) -> bytes:
    """Return a session of `turns` tasks, request to commit, without compactions and other events between them.

    The same `number` gives the same bytes; `noise` is about the number of words of a tool result.
    """
    return _plain(number, turns, noise).bytes()


def session_file(folder: Path, number: int, turns: int = 4, noise: int = 20, why: str = "") -> Path:
    """Write a generated session under the client's file name; `why` is the body of each commit's message."""
    writer = _plain(number, turns, noise, why)
    path = folder / f"{writer.session}.jsonl"
    path.write_bytes(writer.bytes())
    return path


def _plain(number: int, turns: int, noise: int, why: str = "") -> Story:
    made = _Session(number, -(-noise // 10), HARBOUR)
    for task in range(turns):
        made.task(task, why=why, is_plain=True)
    return made.writer


@functools.cache
def generated_files(count: int = COUNT, *, tasks: int = 6, noise: int = 25) -> tuple[Path, ...]:
    """Write `count` sessions as gzip files named `<session>.jsonl.gz` into a folder that is removed at exit."""
    folder = Path(tempfile.mkdtemp(prefix="reverie-sessions-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    files = []
    for number in range(count):
        session = generate(number, tasks=tasks, noise=noise)
        path = folder / f"{session.name}.jsonl.gz"
        path.write_bytes(gzip.compress(session.data, 1, mtime=0))
        files.append(path)
    return tuple(sorted(files))


class _Session:
    """A session under construction: a sequence of tasks with events between them."""

    def __init__(self, number: int, noise: int, project: Project | None = None) -> None:
        self.random = random.Random(number)
        self.project = project or PROJECTS[number % len(PROJECTS)]
        self.noise = noise
        self.writer = Story(number, self.project.folder)
        self.names: list[str] = []
        self.rewound: list[str] = []

    def run(self, tasks: int) -> GeneratedSession:
        self._opening()
        for task in range(tasks):
            self.task(task)
            if task + 2 in (tasks, tasks - 3):  # the last task comes after the last compaction
                self._compaction()
        self._closing()
        writer = self.writer
        return GeneratedSession(
            writer.session, writer.bytes(), writer.compactions, writer.unanswered, tuple(self.rewound)
        )

    def _opening(self) -> None:
        writer = self.writer
        writer.add_outside_tree(
            "summary", summary="An earlier session", leafUuid="00000000-0000-4000-8000-000000000000"
        )
        writer.user("<command-name>/clear</command-name>\n<command-args></command-args>")
        writer.user("Caveat: the messages below were generated by local commands.", isMeta=True)
        if writer.number % 3 == 0:
            self._rewind()

    def _rewind(self) -> None:
        """Write a prompt with its reply, then another prompt with the same parent, which rewinds the first one."""
        point = self.writer.parent
        prompt = f"Please rewrite everything as one {self.random.choice(PARTS)}_monolith."
        self.writer.user(prompt)
        self.writer.reply(text("I will put all of it into one module."))
        self.rewound.append(prompt)
        self.writer.parent = point

    def task(self, task: int, *, why: str = "", is_plain: bool = False) -> None:
        """Write one task, request to commit, with one other event in it unless `is_plain`."""
        name = f"{self.random.choice(PARTS)}_{self.writer.number}_{task}"
        port = 3000 + 37 * task + self.writer.number
        self.names.append(name)
        fault = self.random.randrange(len(FAULTS))
        self._request(name, FAULTS[fault], port, is_plain=is_plain)
        self._explore(name)
        self._todos(name, "in_progress", "pending")
        self._test_run(name, port, passed=False)
        self._fix(name, CAUSES[fault])
        if task % 2 == 0:
            self._correction(name, port)
        extras = self._extras()
        if not is_plain:
            extras[(task + self.writer.number) % len(extras)](name)
        self._test_run(name, port, passed=True)
        self._todos(name, "completed", "completed")
        self._commit(name, FAULTS[fault], why)

    def _request(self, name: str, fault: str, port: int, *, is_plain: bool) -> None:
        decision = (WISHES if is_plain else self.random.choice(DECISIONS)).format(name, port)
        words = f"The {name} {fault}. Please find out why and fix it. {decision}"
        if self.random.random() < 0.4:
            words += "\n\n" + self.random.choice(FOREIGN).format(name)
        if len(self.names) > 1:
            words += f" The {self.names[-2]} uses it, so run `{self._command(self.names[-2])}` too."
        snapshot: dict[str, Any] = {"messageId": f"m{len(self.names)}", "trackedFileBackups": {}}
        self.writer.add_outside_tree(
            "file-history-snapshot", messageId=f"m{len(self.names)}", snapshot=snapshot, isSnapshotUpdate=False
        )
        self.writer.user(words, thinkingMetadata={"level": "high"}, todos=[])

    def _explore(self, name: str) -> None:
        path = self._path(name)
        rows = "\n".join(f"{path}:{12 + 3 * row}:{self._code(name, row)}" for row in range(1, 4))
        self.writer.tools(
            ToolCall("Grep", {"pattern": f"{name}_open", "output_mode": "content"}, rows),
            ToolCall("Read", {"file_path": path}, self._listing(name)),
            before=(
                thinking(f"I should look at {name} before I change anything; the tests may show the cause."),
                text(f"I'll read `{path}` and look for the callers of `{name}_open`."),
            ),
            interleaved=self.random.random() < 0.5,
        )

    def _test_run(self, name: str, port: int, *, passed: bool) -> None:
        if passed:
            result: Any = f"{self.random.randrange(3, 90)} passed in 0.{self.random.randrange(10, 99)}s"
        else:
            error = self.project.error.format(port, port + 1)
            said = f"FAILED {self._path(name, test=True)}::{name}_keeps_all\n{error}\n{self._output(name)}"
            result = [text(said)] if self.random.random() < 0.5 else said
        arguments = {"command": self._command(name), "description": f"Run the tests of {name}"}
        self.writer.tools(ToolCall("Bash", arguments, result, failed=not passed))
        self.writer.progress(type="bash_progress", output=name, elapsedTimeSeconds=2)

    def _fix(self, name: str, cause: str) -> None:
        path = self._path(name)
        arguments = {
            "file_path": path,
            "old_string": f"{name}_close()",
            "new_string": f"{name}_flush(); {name}_close()",
        }
        self.writer.tools(
            ToolCall("Edit", arguments, f"The file {path} has been updated.\n{self._listing(name)}"),
            before=(text(f"The root cause in `{name}`: {cause}. I decided to flush in `{name}_flush` first."),),
        )

    def _correction(self, name: str, port: int) -> None:
        if self.random.random() < 0.3:
            self.writer.user([text("[Request interrupted by user]")])
        words = self.random.choice(CORRECTIONS).format(name, port, port + 400)
        self.writer.queue("enqueue", words)
        self.writer.user(words)
        self.writer.reply(text(f"You're right, I will leave `{name}_open` as it is and change its caller only."))

    def _extras(self) -> tuple[Callable[[str], None], ...]:
        return (self._subagent, self._screenshot, self._lost_call, self._web, self._sidechain, self._meta)

    def _subagent(self, name: str) -> None:
        report = [text(f"The callers of {name}_open are {name}_main and {name}_retry."), text("agentId: 7")]
        self.writer.progress(type="agent_progress", prompt=f"List the callers of {name}_open")
        arguments = {
            "description": "Find callers",
            "prompt": f"List the callers of {name}_open",
            "subagent_type": "Explore",
        }
        self.writer.tools(ToolCall("Task", arguments, report))

    def _screenshot(self, name: str) -> None:
        image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": _PNG}}
        self.writer.user([text(f"This is what the page of {name} shows:"), image])
        path = f"{self.project.folder}/shots/{name}.png"
        self.writer.tools(ToolCall("Read", {"file_path": path}, [image]))

    def _lost_call(self, name: str) -> None:
        self.writer.tools(ToolCall("Bash", {"command": f"sleep 900; {self._command(name)}"}, None))
        self.writer.user(f"it hangs, run only the fast tests of {name}")

    def _web(self, name: str) -> None:
        arguments = {"url": f"https://docs.example.org/{name}", "prompt": "What does flush promise?"}
        self.writer.tools(ToolCall("WebFetch", arguments, "Flush writes all that was buffered — 完全に。"))

    def _sidechain(self, name: str) -> None:
        prompt = {"role": "user", "content": f"Count the stations that {name} reads"}
        self.writer.add("user", isSidechain=True, message=prompt)
        reply = {"id": f"side_{name}", "type": "message", "role": "assistant", "content": [text("There are 14.")]}
        self.writer.add("assistant", isSidechain=True, message=reply)

    def _meta(self, name: str) -> None:
        self.writer.user("<local-command-stdout>Model set to the small one</local-command-stdout>")
        self.writer.add("system", subtype="local_command", content="/model", level="info", isMeta=False)
        self.writer.user(f"go on with {name}")

    def _commit(self, name: str, fault: str, why: str) -> None:
        digest = f"{self.random.randrange(16**7):07x}"
        message = "\n\n".join([f"{name}: {fault}", *([why] if why else [])])
        arguments = {"command": f'git commit -am "{message}"', "description": "Commit the fix"}
        self.writer.tools(ToolCall("Bash", arguments, f"[main {digest}] {name}: {fault}\n 2 files changed"))
        self.writer.reply(text(f"`{name}` is fixed in `{self._path(name)}` and committed as {digest}."))
        self.writer.add("system", subtype="turn_duration", durationMs=61_000, isMeta=False)

    def _compaction(self) -> None:
        """Write a compaction in the middle; later tasks use earlier names."""
        self.writer.compact(self._summary(), 90_000 + 1_000 * self.writer.number)
        for name in self.names[-4:]:
            self.writer.tools(
                ToolCall("Grep", {"pattern": f"{name}_flush"}, f"{self._path(name)}:12:{name}_flush()"),
                ToolCall("Bash", {"command": self._command(name)}, "all passed"),
                before=(text(f"I'll check `{name}_flush` in `{self._path(name)}` again."),),
            )

    def _summary(self) -> str:
        """Return a narrative summary as a model writes one: mostly about the process, with some of the names."""
        rows = [
            "The conversation was compacted; this is what happened in it so far.",
            f"1. Request. The person maintains the project in {self.project.folder} and asked for several repairs.",
            "2. Work. Each repair followed the same steps: reading, reproducing, changing, testing and committing.",
        ]
        for name in self.names:
            rows += [
                f"The part {name} was examined first by a search and then by reading its source from top to bottom.",
                "A failing test was observed, its output was studied, and the responsible lines were identified.",
                f"After that the change was made in {self._path(name)}, and the tests were run once more with success.",
                "There was feedback in between, which was taken into account before the work went on as planned.",
            ]
        rows += [
            f"3. State. Everything that was asked for up to {self.names[-1]} is finished and committed.",
            "4. Next. Wait for the next request; no step is open, and no question was left without an answer.",
        ]
        return "\n".join(rows)

    def _closing(self) -> None:
        self.writer.add_outside_tree("pr-link", prNumber=7, prUrl="https://example.org/7", prRepository="ann/x")
        self.writer.user("<command-name>/exit</command-name>")

    def _todos(self, name: str, first: str, second: str) -> None:
        steps = [
            {"content": f"Find out why {name} fails", "status": first, "activeForm": "Finding out"},
            {"content": f"Write a regression test for {name}", "status": second, "activeForm": "Writing a test"},
        ]
        self.writer.tools(ToolCall("TodoWrite", {"todos": steps}, "Todos have been modified successfully."))

    def _path(self, name: str, *, test: bool = False) -> str:
        path = (self.project.test if test else self.project.source).format(name)
        return f"{self.project.folder}/{path}"

    def _command(self, name: str) -> str:
        return self.project.command.format(self.project.test.format(name))

    def _code(self, name: str, row: int) -> str:
        return self.project.line.format(name, row)

    def _listing(self, name: str) -> str:
        rows = self.random.randrange(self.noise, 2 * self.noise)
        return "\n".join(
            f"{row:6}\t{self._code(name, row)}  # {self.random.choice(NOTES)} ({self.random.randrange(10**6)})"
            for row in range(1, rows)
        )

    def _output(self, name: str) -> str:
        rows = self.random.randrange(self.noise)
        return "\n".join(f"step {row}: {name} {self.random.choice(NOTES)}" for row in range(rows))


def now() -> str:
    """Return the present time as clients write it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class LiveSession(Story):
    """A session in `project`, whose file (`path`, or one in `folder`) gets lines with the present time."""

    def __init__(
        self, folder: Path, project: Path, number: int, *, pid: int | None = None, path: Path | None = None
    ) -> None:
        super().__init__(number, str(project))
        self.project, self.pid = project, pid
        self.path = path or folder / f"{self.session}.jsonl"
        self._written = 0

    @property
    def id(self) -> str:
        """Return the session's id."""
        return self.path.stem

    def say(self, prompt: str, *replies: str, **fields: Any) -> None:
        """Append a prompt and the agent's replies to the file."""
        self.user(prompt, **({"timestamp": now()} | fields))
        for reply in replies:
            self.reply(text(reply), **({"timestamp": now()} | fields))
        self.flush()

    def flush(self) -> None:
        """Write the lines that are not in the file yet."""
        with self.path.open("ab") as file:
            file.write(b"".join(self.bytes().splitlines(keepends=True)[self._written :]))
        self._written = len(self.lines)

    def start(self, daemon: Daemon, source: str = "startup") -> Any:
        """Announce the session to a daemon; return the answer."""
        body = {
            "client": "claude-code",
            "session": self.id,
            "project": str(self.project),
            "transcript": str(self.path),
            "source": source,
        }
        answer = daemon.ask("POST", "/v1/sessions", body | ({} if self.pid is None else {"pid": self.pid}))
        assert answer.status == 200, answer.body
        return answer.json()

    def hook(self, event: str, **fields: Any) -> dict[str, Any]:
        """Return the input of a hook."""
        return {
            "session_id": self.id,
            "transcript_path": str(self.path),
            "cwd": str(self.project),
            "hook_event_name": event,
            **fields,
        }


_PARTS = ("parser", "router", "exporter", "ledger", "mailer")


def compacted_session(*, compacted: bool = True, tasks: int = 5) -> bytes:
    """Return a transcript: `tasks` tasks, a compaction (unless not `compacted`), then work on the files of all tasks.

    Every name that is used after the compaction occurs before it beside the words "keeps its retry counter in".
    """
    transcript = Story()
    for number in range(tasks):
        _task(transcript, number)
    if compacted:
        transcript.compact("The person works on the queue; `reset_parser_0` was mended.")
    for number in range(tasks):
        name = f"{_PARTS[number % len(_PARTS)]}_{number}"
        transcript.assistant(text(f"Going on with src/{name}.py now."), reply=f"after{number}")
        transcript.assistant(
            call(f"after_{number}", command=f"grep -n reset_{name} src/{name}.py"), reply=f"after{number}"
        )
        transcript.user([result(f"after_{number}", f"12: def reset_{name}(self):")])
    return transcript.bytes()


def _task(transcript: Story, number: int) -> None:
    """Add one task: request, reading a file, running its test, and the agent's summary."""
    name = f"{_PARTS[number % len(_PARTS)]}_{number}"
    transcript.user(f"Please make the {name} count its retries again, it keeps its retry counter in src/{name}.py")
    transcript.assistant(
        text(f"The {name} keeps its retry counter in src/{name}.py; I will look at reset_{name} first.")
    )
    transcript.assistant(call(f"read_{number}", file_path=f"/home/ann/queue/src/{name}.py"))
    transcript.user(
        [result(f"read_{number}", f"def reset_{name}(self):  # keeps its retry counter in order\n    pass\n" * 9)]
    )
    transcript.assistant(call(f"test_{number}", command=f"pytest -q tests/test_{name}.py"))
    transcript.user([result(f"test_{number}", "3 passed")])
    transcript.assistant(text(f"Done: reset_{name} keeps its retry counter in one place."))
