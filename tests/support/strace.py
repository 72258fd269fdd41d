"""Access to strace, which injects faults into system calls."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest


def tracer() -> str:
    """Return the path of strace; skip the test if it is missing or not permitted to trace."""
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("needs strace to inject faults: `apt-get install strace`")
    probe = subprocess.run([strace, "-o", os.devnull, "true"], capture_output=True, check=False)
    if probe.returncode != 0:
        pytest.skip("strace may not trace here (ptrace is not permitted)")
    return strace
