"""Measurement of what a real Claude Code has in its next request after a compaction, with and without Reverie.

    python tests/bench/bench_injected.py SESSIONS CLIENTS JUDGE [NUMBER]

SESSIONS is a folder of transcripts (`.jsonl.gz`) with compactions, CLIENTS the folder in which the client is installed,
and JUDGE a script with `events(path)`, `in_context(text, event)`, `occurs(text, event)`, `grams(text)` and
`ntok(text)`. The client resumes each session as it was before its first compaction and compacts it; a local server in
place of the model answers with the summary that the session's own model wrote then. What is scored is all text of the
request after that: of the client alone, with the plugin, with `reverie run`, and with `reverie run` and the plugin.
"""

from __future__ import annotations

import gzip
import json
import os
import statistics
import sys
import tempfile
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from reverie.client import Client
from reveried.cli.send_sessions import import_file
from support.daemon import running_daemon
from support.model_servers import model_server
from support.shared import load_program

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

SIDES = ("client alone", "plugin", "reverie run", "reverie run + plugin")
GO_ON = "Go on."
NUMBER = 10
SUMMARY_S = 6.0  # of a model, which takes longer: meanwhile the texts for the hooks are made


def main() -> None:
    """Print the scores of each side, and the number of requests that asked the model for a summary."""
    sessions, clients, judge_file = map(Path, sys.argv[1:4])
    number = int(sys.argv[4]) if len(sys.argv) > 4 else NUMBER
    os.environ["AGENT_CLIENTS"] = str(clients)
    judge = load_program(judge_file)
    rows: dict[str, list[tuple[float, ...]]] = {side: [] for side in ("its summary alone", *SIDES)}
    for path in _with_events(sessions, judge, number):
        event = next(judge.events(str(path)))
        rows["its summary alone"].append(_scores(judge, event, event["summary"], 1))
        for side in SIDES:
            text, asked = next_request(path, event["summary"], side)
            rows[side].append(_scores(judge, event, text, asked))
            scores = "  ".join(f"{score:8.2f}" for score in rows[side][-1])
            print(f"  {path.name[:20]} {side:22s} {scores}", flush=True)
    count = len(rows["its summary alone"])
    print(f"{count} sessions           in context, %    needed, %     asked, %    tokens (median)   model calls")
    for side, scored in rows.items():
        context, needed, asked_for = (100 * statistics.mean(row[column] for row in scored) for column in range(3))
        error = 100 * statistics.stdev(row[0] for row in scored) / count**0.5 if count > 1 else 0.0
        size, calls = statistics.median(row[3] for row in scored), statistics.mean(row[4] for row in scored)
        shares = f"{context:8.1f} +-{error:3.1f}   {needed:10.1f}   {asked_for:10.1f}"
        print(f"  {side:22s} {shares}   {size:14,.0f} {calls:12.1f}")


def next_request(path: Path, summary: str, side: str) -> tuple[str, int]:
    """Return all text of the request after the first compaction, and how many requests that compaction sent."""
    from support.real_clients import claude_code, conversation, run_with_proxy  # reads AGENT_CLIENTS

    with tempfile.TemporaryDirectory() as scratch, model_server() as models, running_daemon() as daemon:
        home, project = Path(scratch), Path(scratch) / "harbour"
        project.mkdir()
        client = claude_code(home, models)
        client.env["REVERIE_HOME"] = str(daemon.home)
        if "plugin" in side:
            client.install(daemon)
        if "run" in side:
            client = run_with_proxy(client)
        session = str(uuid.uuid4())
        folder = home / ".claude" / "projects" / "".join(c if c.isalnum() else "-" for c in str(project))
        folder.mkdir(parents=True)
        lines = (json.dumps(line | {"sessionId": session}) for line in _before_compaction(path))
        transcript = folder / f"{session}.jsonl"
        transcript.write_text("".join(f"{line}\n" for line in lines))
        if "plugin" in side:  # the session has been recorded while it went on
            with Client(daemon.socket) as reverie:
                assert import_file(reverie, transcript).error is None
        own = summary.partition("\n\n")[2] or summary  # without the client's words before it
        models.summary_s = SUMMARY_S if "plugin" in side else 0.0
        models.reply = f"<summary>\n{own}\n</summary>"
        conversation(client, project, "/compact", GO_ON, resume=session)
        after = models.requests[-1]
        assert GO_ON in json.dumps(after["messages"][-3:])
        return "\n".join(_texts(after["messages"])), len(models.requests) - 1


def _before_compaction(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of a transcript before its first compaction."""
    with gzip.open(path, "rt") as lines:
        for line in lines:
            entry = json.loads(line)
            if entry.get("subtype") == "compact_boundary" or entry.get("isCompactSummary"):
                return
            yield entry


def _texts(value: Any) -> Iterator[str]:
    """Yield every text of messages: strings as contents, and text blocks."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        yield from _texts(value.get("content", value.get("text", "")))


def _scores(judge: ModuleType, event: dict[str, Any], text: str, calls: int) -> tuple[float, ...]:
    asked = len(event["asked"] & judge.grams(text)) / len(event["asked"]) if event["asked"] else 1.0
    return judge.in_context(text, event), judge.occurs(text, event), asked, judge.ntok(text), calls


def _with_events(folder: Path, judge: ModuleType, number: int) -> Iterator[Path]:
    """Yield the first `number` transcripts of a folder whose first compaction is also the judge's first event."""
    for path in sorted(folder.glob("*.jsonl.gz")):
        events = list(judge.events(str(path)))
        if not events or number == 0:
            continue
        with gzip.open(path, "rt") as lines:
            first = next(line for line in map(json.loads, lines) if line.get("isCompactSummary"))
        if judge.blocks_text(first["message"]["content"]) == events[0]["summary"]:
            number -= 1
            yield path


if __name__ == "__main__":
    main()
