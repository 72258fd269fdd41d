"""The list of threads: by default those that somebody reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from reverie.redact import Redactor
from reverie.usecases import imports, sessions, threads
from reverie.usecases.by import By
from reverie.usecases.imported import import_id as import_id_of
from reverie.usecases.imported import thread_id
from support.stores import AT, SPACE, opened

META: dict[str, Any] = {"type": "session_meta", "payload": {"id": "c", "cwd": "/home/ann/lamp", "source": "cli"}}
SPAWNED = {"type": "session_meta", "payload": META["payload"] | {"source": {"subagent": {"thread_spawn": {}}}}}
SAID = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Is the lamp lit?"}]}
PROMPT = {"type": "response_item", "payload": SAID}


def test_threads_without_messages_and_of_subagents_are_asked_for(tmp_path: Path) -> None:
    """Neither a session without messages nor one that another agent started is in the list, unless all are wanted.

    A new session is told of none that another agent started.
    """
    with opened(tmp_path / "store") as store:
        for session, lines in {
            "own": [META, PROMPT, SPAWNED],
            "spawned": [SPAWNED, PROMPT],
            "silent": [META],
        }.items():
            begun = imports.begin.write(By(SPACE, "import"), "codex", session, f"{session}.jsonl")
            store.commit([begun], at=AT)
            data = b"".join(orjson.dumps(line) + b"\n" for line in lines)
            with store.reader(SPACE) as reader:
                import_id = import_id_of("codex", session)
                job = imports.snapshot(
                    reader, import_id, offset=0, first_line=1, data=data, final=True, redactor=Redactor(), literals=[]
                )
            store.commit([imports.commit.write(By(SPACE, "import"), imports.decide(job), import_id, 0)], at=AT)
            named_so = threads.change.write(By(SPACE, "import"), thread_id("codex", session), {"project": "lamp"})
            store.commit([named_so], at=AT)
        with store.reader(SPACE) as reader:
            for page in (threads.page, threads.newest_page):
                named = {
                    main: {item.source for item in page(reader, window=1, limit=9, after=None, main=main).items}
                    for main in (True, False)
                }
                assert named == {True: {"own.jsonl"}, False: {"own.jsonl", "spawned.jsonl", "silent.jsonl"}}
            last = sessions.last_threads(reader, "lamp")
            assert {thread.source for thread in last} == {"own.jsonl", "silent.jsonl"}
