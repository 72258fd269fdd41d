"""The tracer that injects faults into calls of the system, where there is one."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

__all__ = ["tracer"]


def tracer() -> str:
    """The path of strace; skips the test where it is missing or may not trace."""
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("needs strace to inject faults: `apt-get install strace`")
    probe = subprocess.run([strace, "-o", os.devnull, "true"], capture_output=True, check=False)
    if probe.returncode != 0:
        pytest.skip("strace may not trace here (ptrace is not permitted)")
    return strace
