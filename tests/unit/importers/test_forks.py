"""The sessions that a transcript was forked from, by its first lines."""

from __future__ import annotations

import orjson
import pytest

from reverie.importers.detect import parents

OWN, OTHER, THIRD = "own-session", "other-session", "third-session"


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ([{"sessionId": OWN}, {"sessionId": OWN}], ()),
        ([{"sessionId": OTHER}, {"sessionId": THIRD}, {"sessionId": OWN}], (OTHER, THIRD)),
        ([{"sessionId": OWN, "forkedFrom": {"sessionId": OTHER, "messageUuid": "m"}}], (OTHER,)),
        ([{"type": "session_meta", "payload": {"id": OWN, "forked_from_id": OTHER}}], (OTHER,)),
        ([{"type": "session_meta", "payload": {"id": id_}} for id_ in (OWN, OTHER)], (OTHER,)),
        ([{"type": "event_msg", "payload": {"id": OTHER}}, {"forkedFrom": "text"}, ["list"], {"sessionId": 7}], ()),
    ],
    ids=["none", "copied", "claude-code", "codex", "codex meta", "no ids"],
)
def test_the_sessions_whose_lines_come_first(lines: list[object], found: tuple[str, ...]) -> None:
    """Other ids of sessions in the first lines are found once; a line that is cut is left out."""
    head = b"".join(orjson.dumps(line) + b"\n" for line in lines)
    assert parents(head + b'{"sessionId": "cu', OWN) == found
