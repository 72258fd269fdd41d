"""Threads share the working memory of the core: many threads take no more of it than one."""

from __future__ import annotations

import subprocess
import sys

WORK = """
import threading
from pathlib import Path
from reverie import _native

def resident():
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("RssAnon:")).split()[1]) * 1024

def work():
    for number in range(20):
        text = f"harbour {number} opens at six, and its ledger is of marble " * 40
        _native.count(text, "o200k_base")
        assert _native.unpack(_native.pack(text.encode()), 1 << 20) == text.encode()

work()
before = resident()
done, measured = threading.Barrier(13), threading.Barrier(13)
def one():
    work()
    done.wait()
    measured.wait()  # a thread that ended would have given its memory back
threads = [threading.Thread(target=one) for _ in range(12)]
for thread in threads:
    thread.start()
done.wait()
print(resident() - before)
measured.wait()
for thread in threads:
    thread.join()
"""


def test_threads_that_count_and_pack_share_their_memory() -> None:
    """Twelve threads that count tokens and compress take less than 8 MiB together."""
    run = subprocess.run([sys.executable, "-c", WORK], capture_output=True, text=True, check=True)
    assert int(run.stdout) < 8 << 20
