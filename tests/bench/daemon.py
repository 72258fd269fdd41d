"""The daemon from outside: start, idle cost, requests, many clients, commands, `reverie mcp`, pages of messages.

Start is from launching the process to its first answer; memory is anonymous (LMDB's map is not counted).
"""

from __future__ import annotations

import asyncio
import multiprocessing
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from bench.run import (
    children,
    in_turns,
    ms_of,
    p99,
    program,
    row,
    settle,
    share_of_core,
    spread,
    table,
    tree_seconds,
)
from support.daemon import Daemon, environment, request, running_daemon, scratch_home, status_bytes
from support.mcp_bridge import bridge
from support.shared import real_sessions
from support.story import generated_files
from support.waiting import wait_until

OUTSIDE = True
HEAVY = ("anthropic", "mcp", "tiktoken", "pydantic", "apscheduler", "watchdog", "click", "rich", "numpy", "httpx")
LISTED = "import sys; import reveried.app, reveried.__main__; print(*sorted(sys.modules))"


def idle(seconds: str = "60") -> None:
    """Print start time, memory and processor use of an idle daemon, on an empty store and on a used one."""
    with scratch_home() as home:
        daemon = Daemon(home, environment(home, REVERIE_DAEMON_COMPUTE_IDLE_SECONDS="2"))
        try:
            bare = statistics.median(in_turns({"": interpreter}, 5, clock=time.perf_counter)[""])
            began = starts(daemon)
            row("start to first answer, empty store", began, "s", most=0.6, note=f"{1000 * began / bare:.1f} x python")
            daemon.start()
            row("anonymous memory, never used", settled_mb(daemon), "MB", most=60)
            use(daemon)
            daemon.stop()
            row("start to first answer, used store", starts(daemon), "s", most=0.6)
            row("after a kill (checks first), used store", starts(daemon, killed=True), "s", most=1)
            daemon.start()
            use(daemon)
            row("anonymous memory, used and idle", settled_mb(daemon), "MB", most=60)
            row(f"processor over {seconds} s of silence", share_of_core(daemon.pid, float(seconds)), "%", most=0.1)
            print(f"heavy modules loaded: {', '.join(heavy(daemon)) or 'none'}")
        finally:
            if daemon.process is not None and daemon.process.poll() is None:
                daemon.kill()


def interpreter() -> None:
    """Start an interpreter and let it end."""
    subprocess.run([sys.executable, "-c", "pass"], check=True)


def starts(daemon: Daemon, *, killed: bool = False) -> float:
    """Return the median seconds from launch to the first answer; with `killed`, after SIGKILL each time."""
    times = []
    for _ in range(7):
        times.append(ms_of(daemon.start) / 1000)
        daemon.kill() if killed else daemon.stop()
    if killed:  # leave it as an orderly stop does
        daemon.start().stop()
    return statistics.median(times[1:])


def use(daemon: Daemon) -> None:
    """Import, distill and read sessions."""
    paths = real_sessions()[:10] or generated_files(10, tasks=40, noise=30)
    subprocess.run(program("import", "claude-code", *map(str, paths)), env=daemon.env, check=True, capture_output=True)
    for thread in daemon.ask("GET", "/v1/threads?limit=100").json()["items"]:
        daemon.ask("POST", f"/v1/threads/{thread['id']}/distill", {})
        daemon.ask("GET", f"/v1/threads/{thread['id']}/context")
        daemon.ask("GET", f"/v1/threads/{thread['id']}/messages?limit=1000")
    daemon.ask("POST", "/v1/recall", {"query": "what did we decide?"})


def settled_mb(daemon: Daemon) -> float:
    """Return megabytes of anonymous memory once the compute processes have ended."""
    wait_until(lambda: not children(daemon.pid), "the end of the compute processes")
    time.sleep(1.0)
    return daemon.anonymous_rss() / 1e6


def heavy(daemon: Daemon) -> list[str]:
    """Return heavy modules that the daemon has mapped as native code, or imports at its start."""
    mapped = Path(f"/proc/{daemon.pid}/maps").read_text("utf-8", "replace")
    listed = subprocess.run([sys.executable, "-c", LISTED], capture_output=True, text=True, check=True).stdout.split()
    return [name for name in HEAVY if f"/{name}" in mapped or name in listed]


@contextmanager
def echo_server() -> Iterator[Path]:
    """Yield the socket of a process that answers each piece with the same bytes: asyncio with uvloop, a lower bound."""
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "s"
        server = multiprocessing.get_context("spawn").Process(target=serve_echo, args=(str(path),), daemon=True)
        server.start()
        wait_until(path.exists)
        yield path
        server.terminate()
        server.join()


def serve_echo(path: str) -> None:
    """Answer until ended."""
    import uvloop

    class Echo(asyncio.Protocol):
        transport: asyncio.WriteTransport

        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            self.transport = transport  # type: ignore[assignment] # a stream's transport can be written to

        def data_received(self, data: bytes) -> None:
            self.transport.write(data)

    async def serve() -> None:
        server = await asyncio.get_running_loop().create_unix_server(Echo, path, backlog=1000)
        await server.serve_forever()

    uvloop.run(serve())


async def clients(
    path: Path, count: int, calls: int, make: Callable[[int, int], bytes], *, is_http: bool = True
) -> list[float]:
    """Return the milliseconds of every call of concurrent clients, each with a connection of its own."""
    times: list[float] = []

    async def one(client: int) -> None:
        reader, writer = await asyncio.open_unix_connection(path)
        for call in range(calls):
            data = make(client, call)
            began = time.perf_counter()
            writer.write(data)
            await (answer(reader) if is_http else reader.readexactly(len(data)))
            times.append(1000 * (time.perf_counter() - began))
        writer.close()

    await asyncio.gather(*(one(client) for client in range(count)))
    return times


async def answer(reader: asyncio.StreamReader) -> None:
    """Read one HTTP answer. Raises RuntimeError for a status of 500 and above."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
    body = await reader.readexactly(int(length.split(b":")[1]))
    if head.split(b" ", 2)[1] >= b"500":
        raise RuntimeError(f"refused: {head!r} {body!r}")


def requests() -> None:
    """Print trivial requests beside a bare echo, and health beside clients that never finish their request line."""
    kinds = {"a bare echo": b"x" * 75, "health": request("GET", "/v1/health")}
    kinds |= {"an unknown path": request("GET", "/v1/nothing"), "no such thread": request("GET", "/v1/threads/th_x")}
    with running_daemon() as daemon, echo_server() as echo:
        times: dict[str, list[float]] = {name: [] for name in kinds}
        for _ in range(5):
            for name, message in kinds.items():
                is_http = name != "a bare echo"
                path = daemon.socket if is_http else echo
                times[name] += asyncio.run(clients(path, 1, 1000, lambda *_, m=message: m, is_http=is_http))
        for name, taken in times.items():
            spread(name, taken, to=statistics.median(times["a bare echo"]))
        wires = [daemon.wire() for _ in range(100)]
        for wire in wires:
            wire.send(b"G")
        slow = asyncio.run(clients(daemon.socket, 1, 2000, lambda *_: kinds["health"]))
        for wire in wires:
            wire.socket.close()
        row(
            "health beside 100 crawlers, p99, to that alone",
            p99(slow),
            "ms",
            times=p99(slow) / p99(times["health"]),
            most=2,
        )


def crowds() -> None:
    """Print the rate of 200 clients that remember, then the times of 500 that ask, beside a bare echo.

    All clients are in this process, so their own work is in every figure.
    """

    def remember(turn: int, client: int, call: int) -> bytes:
        return post("/v1/memories", {"content": f"In round {turn} client {client} noted fact {call} of the harbour"})

    def recall(client: int, call: int) -> bytes:
        return post("/v1/recall", {"query": f"what did client {client % 200} note about the harbour {call}"})

    with running_daemon() as daemon:
        rates = [ms_of(partial(asyncio.run, clients(daemon.socket, 200, 10, partial(remember, n)))) for n in range(3)]
        row("200 clients remember, each second", 2_000_000 / statistics.median(rates), "", least=500)
    with running_daemon() as daemon, echo_server() as echo:
        asyncio.run(clients(daemon.socket, 200, 1, partial(remember, 0)))
        kinds: dict[str, Callable[[int, int], bytes]] = {
            "a bare echo": lambda *_: b"x" * 120,  # about what a health request and its answer have
            "health": lambda *_: request("GET", "/v1/health"),
            "recall": recall,
        }
        times: dict[str, list[float]] = {name: [] for name in kinds}
        for _ in range(3):
            for name, make in kinds.items():
                path = echo if name == "a bare echo" else daemon.socket
                times[name] += asyncio.run(clients(path, 500, 20, make, is_http=path != echo))
        for name, taken in times.items():
            row(f"{name} for 500 clients, p99", p99(taken), "ms", times=p99(taken) / p99(times["a bare echo"]), most=3)


def post(path: str, body: Any) -> bytes:
    """Return a request with a JSON body."""
    return request("POST", path, orjson.dumps(body))


def commands() -> None:
    """Print the processor time and the loaded modules of whole processes of the commands that are typed all day."""
    bare = "an interpreter"
    typed = ["status", "recall when do we deploy", "remember we deploy on Thursdays", "note thr-1 ask Ann first"]
    typed += ["search when do we deploy", "sync status", "memories"]
    reverie = str(Path(sys.executable).with_name("reverie"))
    counted = "import sys; from reveried.cli import main; main(sys.argv[1:]); print(len(sys.modules), file=sys.stderr)"
    with running_daemon() as daemon:
        daemon.ask("POST", "/v1/threads", {"id": "thr-1"})
        ran = partial(subprocess.run, env=daemon.env, check=True, stdout=subprocess.DEVNULL)
        sides = {bare: partial(ran, [sys.executable, "-c", "pass"])}
        sides |= {words: partial(ran, [reverie, *words.split()]) for words in typed}
        least = {name: min(times) for name, times in in_turns(sides, 15, clock=children_seconds).items()}
        for name, ms in least.items():
            if name == bare:
                row("processor time, least of 15: an interpreter", ms, "ms")
                continue
            done = ran([sys.executable, "-c", counted, *name.split()], stderr=subprocess.PIPE, text=True)
            row(
                f"  reverie {name}",
                ms,
                "ms",
                most=160,
                note=f"{ms / least[bare]:.1f} x, {done.stderr.split()[-1]} modules",
            )


def children_seconds() -> float:
    """Return user and system seconds of the processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def mcp() -> None:
    """Print start to first answer and memory of `reverie mcp`, and its calls beside the same calls on the socket."""
    with running_daemon() as daemon, tempfile.TemporaryDirectory() as folder:
        first, listed, memory = [], [], []
        for _ in range(15):
            began = time.perf_counter()
            with bridge(daemon.env, Path(folder)) as agent:
                agent.open()
                first.append(1000 * (time.perf_counter() - began))
                memory.append(status_bytes(agent.process.pid, "VmRSS") / 1e6)
                agent.ask("tools/list")
                listed.append(1000 * (time.perf_counter() - began))
                agent.call("recall", {"query": "which colour has the gate"})
                memory.append(status_bytes(agent.process.pid, "VmRSS") / 1e6)
        bare = min(in_turns({"": interpreter}, 15, clock=time.perf_counter)[""])
        row("least of 15: first answer, to an interpreter's start", min(first), "ms", times=min(first) / bare)
        row("least of 15: tools listed, to an interpreter's start", min(listed), "ms", times=min(listed) / bare)
        row("resident after the first answer", memory[0], "MB", note=f"after a call {memory[1]:.1f}")
        for memories in (0, 1000):
            for number in range(memories):
                content = f"The gate {number} of the harbour is closed by the tide at {number % 24}"
                daemon.ask("POST", "/v1/memories", {"content": content})
            bridged_calls(daemon, Path(folder), memories)


def bridged_calls(daemon: Daemon, folder: Path, memories: int) -> None:
    """Print the median time of each call through the bridge, beside the same one on a connection of its own."""
    with bridge(daemon.env, folder) as agent:
        agent.open(name="bench")
        agent.call("note", {"content": "the gate is green", "category": "decision"})  # begins the thread
        thread = daemon.ask("GET", "/v1/threads?order=newest").json()["items"][0]["id"]

        def direct(tool: str, fields: dict[str, Any]) -> Any:
            return daemon.ask("POST", f"/v1/tools/{tool}", {"input": fields, "thread": thread})

        asked: dict[str, dict[str, Any]] = {"memory_list": {}, "recall": {"query": "gate"}}
        asked["note"] = {"content": "the gate is green", "category": "decision"}
        pairs = {
            name: (partial(agent.call, name, with_), partial(direct, name, with_)) for name, with_ in asked.items()
        }
        pairs["tools/list"] = partial(agent.ask, "tools/list"), partial(daemon.ask, "GET", "/v1/tools?format=mcp")
        for name, (through, alone) in pairs.items():
            times = in_turns({"through": through, "alone": alone}, 300, clock=time.perf_counter)
            spread(
                f"{name} at {memories:,} memories, to the socket",
                times["through"],
                to=statistics.median(times["alone"]),
            )


PAGE = 100
PAGES = {
    "first page": ("ms", 5.0),
    "from a random message on": ("ms", 5.0),
    "last page": ("ms", 5.0),
    "the very first one (wall)": ("ms", None),
    "last page after an append (wall)": ("ms", None),
}


def pages(longest: str = "200000") -> None:
    """Print the daemon's processor time for a page of a thread's messages by its length, then again after a restart."""
    lengths = [int(longest) // 100, int(longest) // 10, int(longest)]
    tokens = "10000000"  # so that no thread is distilled while it is filled
    with running_daemon(REVERIE_CONTEXT_ABSOLUTE_CAP=tokens) as daemon:
        for length in lengths:
            daemon.ask("POST", "/v1/threads", {"id": f"thr-{length}", "contextWindow": int(tokens)})
            for start in range(0, length, 500):
                said = [message(number) for number in range(start, min(start + 500, length))]
                daemon.ask("POST", f"/v1/threads/thr-{length}/messages", {"messages": said})
        settle(daemon)
        table("messages", lengths, [paged(daemon, length) for length in lengths], PAGES)
        daemon.stop()
        daemon.start()
        table("messages, after a restart", lengths, [paged(daemon, length) for length in lengths], PAGES)


def paged(daemon: Daemon, length: int) -> dict[str, float]:
    """Return milliseconds of pages of a thread."""
    chance = random.Random(1)

    def page(after: int = 0) -> None:
        path = f"/v1/threads/thr-{length}/messages?limit={PAGE}&after={after}"
        assert daemon.ask("GET", path).status == 200

    def processor_ms(after: Callable[[], int]) -> float:
        began = tree_seconds(daemon.pid)
        for _ in range(40):  # processor time is counted in hundredths of a second
            page(after())
        return 1000 * (tree_seconds(daemon.pid) - began) / 40

    def after_append(number: int) -> float:
        said = {"messages": [{"role": "user", "content": f"one more, {number}"}]}
        last = daemon.ask("POST", f"/v1/threads/thr-{length}/messages", said).json()["lastSeq"]
        return ms_of(partial(page, last - PAGE))

    return {
        "the very first one (wall)": ms_of(page),
        "first page": processor_ms(lambda: 0),
        "from a random message on": processor_ms(lambda: chance.randrange(length)),
        "last page": processor_ms(lambda: max(0, length - PAGE)),
        "last page after an append (wall)": statistics.median(map(after_append, range(20))),
    }


def message(number: int) -> dict[str, Any]:
    """Return a message of a turn of four: a prompt, a call, its result, and a reply."""
    text = "the tests pass now; next I will look at the exporter and its lock " * 2
    role = "user" if number % 4 in (0, 2) else "assistant"
    call = {"type": "tool_use", "id": f"call-{number}", "name": "Bash", "input": {"command": text}}
    result = {"type": "tool_result", "tool_use_id": f"call-{number - 1}", "content": text}
    return {"role": role, "content": {1: [call], 2: [result]}.get(number % 4, f"{number} {text}")}


CASES = {"idle": idle, "requests": requests, "crowds": crowds, "commands": commands, "mcp": mcp, "pages": pages}
