"""`reverie doctor`: looks at everything that the daemon needs and says what to do."""

import typer

from reveried.cli.findings import examine
from reveried.cli.options import Json
from reveried.cli.output import as_json, say

__all__ = ["doctor"]

_MARKS = {"good": "ok  ", "note": "note", "bad": "BAD "}


def doctor(json: Json = False) -> None:
    """Check settings, folders, socket, store and counts; changes nothing.

    Example: reverie doctor
    """
    found = []
    for finding in examine():
        found.append(finding)
        if not json:
            say(f"{_MARKS[finding.verdict]}  {finding.check}: {finding.says}")
            if finding.hint and finding.verdict != "good":
                say(f"      next: {finding.hint}")
    if json:
        as_json([{"check": f.check, "verdict": f.verdict, "says": f.says, "hint": f.hint} for f in found])
    if any(finding.verdict == "bad" for finding in found):
        raise typer.Exit(1)
