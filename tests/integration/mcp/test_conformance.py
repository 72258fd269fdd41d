"""The conformance suite of the Model Context Protocol against `/mcp`: every scenario that needs no fixture passes.

The suite is an npm package, and needs Node 22 or newer: where `conformance` is not on the path the test is skipped.
The other scenarios call tools, prompts and resources with fixed names, which only a server made for the suite has.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from reverie.client import Client
from support.daemon import free_port, running_daemon
from support.token_proxy import token_proxy

SUITE_S = 300
PASSING = {
    "2026-07-28": {
        "completion-complete",
        "tools-list",
        "server-sse-multiple-streams",
        "resources-list",
        "sep-2164-resource-not-found",
        "prompts-list",
        "dns-rebinding-protection",
        "caching",
        "http-header-validation",
        "input-required-result-missing-input-response",
        "input-required-result-unsupported-methods",
        "input-required-result-ignore-extra-params",
        "input-required-result-validate-input",
    },
    "2025-11-25": {
        "server-initialize",
        "ping",
        "completion-complete",
        "tools-list",
        "server-sse-multiple-streams",
        "resources-list",
        "prompts-list",
        "dns-rebinding-protection",
        "server-session-lifecycle",
    },
}
FIXTURES_OF_STATELESS = 4  # of the checks of `server-stateless`; they call tools of the suite's own server
_LINE = re.compile(r"^([✓✗]) ([\w-]+): (\d+) passed, (\d+) failed$", re.MULTILINE)


@pytest.mark.parametrize("revision", sorted(PASSING))
def test_the_suite_passes(tmp_path: Path, revision: str) -> None:
    """Every scenario of the suite that needs no fixture passes, in each of the two revisions of the protocol."""
    program = shutil.which("conformance")
    if program is None:
        pytest.skip("@modelcontextprotocol/conformance 0.2 is not on the path")
    port = free_port()
    with running_daemon(REVERIE_DAEMON_TCP=f"127.0.0.1:{port}") as daemon, Client(daemon.socket) as client:
        client.put_document("facts/gates.md", "# Gates\n\n- The north gate is green\n")
        token = client.create_token("default").token
        assert token is not None
        with token_proxy(port, token) as proxy:
            url = f"http://127.0.0.1:{proxy}/mcp"
            done = subprocess.run(
                [program, "server", "--url", url, "--requirements", revision],
                cwd=tmp_path,
                env=dict(os.environ),
                capture_output=True,
                text=True,
                timeout=SUITE_S,
                check=False,
            )
    results = {name: (mark, int(failed)) for mark, name, _, failed in _LINE.findall(done.stdout)}
    assert results, done.stdout + done.stderr
    failed = {name for name in PASSING[revision] if results.get(name, ("✗", 0))[0] != "✓"}
    assert failed == set()
    if revision == "2026-07-28":
        assert results["server-stateless"][1] == FIXTURES_OF_STATELESS
