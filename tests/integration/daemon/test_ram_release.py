"""Large requests leave the daemon as small as it was: freed memory and pages of the store's map are given back."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from reverie.client import Client
from reverie.text_caches import text_cache
from reveried import ram
from reveried.linux import release_pages
from support.daemon import running_daemon
from support.soak import count
from support.waiting import wait_until

MB = 1 << 20
MESSAGES = 6
SIZE = 8 * MB
KEPT_MAX = 40 * MB  # after 48 MB of messages, all of them in the map, and each in memory several times


def resident(pid: int) -> int:
    """Return the bytes of a process in memory, the store's map among them."""
    found = re.search(r"^VmRSS:\s+(\d+) kB$", Path(f"/proc/{pid}/status").read_text("ascii"), re.MULTILINE)
    assert found is not None
    return int(found[1]) * 1024


@pytest.mark.skipif(not count(0, 1), reason="compute jobs over so much text take minutes on a busy machine")
def test_large_messages_leave_no_memory_behind() -> None:
    """After many large messages the daemon's resident memory returns to about what it was before them."""
    with running_daemon(REVERIE_DAEMON_COMPUTE_IDLE_SECONDS="1") as daemon, Client(daemon.socket) as client:
        thread = client.create_thread().id
        client.append(thread, [{"role": "user", "content": "hello"}])
        client.context(thread)
        before = resident(daemon.pid)
        for number in range(MESSAGES):
            output = f"line {number} of a log\n" * (SIZE // 18)
            call = {"type": "tool_use", "id": f"call-{number}", "name": "Bash", "input": {"command": "make"}}
            result = {"type": "tool_result", "tool_use_id": f"call-{number}", "content": output}
            client.append(thread, [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}])
        assert resident(daemon.pid) - before > KEPT_MAX
        wait_until(lambda: resident(daemon.pid) - before < KEPT_MAX, "a daemon as small as before")


def test_the_map_is_read_again_after_it_was_released() -> None:
    """Releasing takes nothing away: what is read afterwards is what was stored."""
    with running_daemon() as daemon, Client(daemon.socket) as client:
        thread = client.create_thread().id
        client.append(thread, [{"role": "user", "content": "x" * (ram.LARGE_BYTES + 1)}])
        for _ in range(3):
            assert len(client.messages(thread).items[0].content) == ram.LARGE_BYTES + 1
    release_pages("data.mdb")  # without such a map


def test_what_is_kept_of_texts_is_dropped_after_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Text caches are emptied after large work, so that a cached value is computed again when it is next needed."""
    monkeypatch.setattr(ram, "QUIET_S", 0.0)
    made: list[str] = []
    make = text_cache(bytes_max=1_000_000, entry_bytes=100, char_bytes=1)(made.append)

    async def work() -> None:
        make("harbour")
        make("harbour")
        assert made == ["harbour"]
        ram.after_work(ram.LARGE_BYTES)
        while len(made) < 2:
            await asyncio.sleep(0.01)
            make("harbour")

    asyncio.run(asyncio.wait_for(work(), 30))
