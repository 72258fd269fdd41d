"""Tokens with known texts, in the store of a daemon that is to start."""

from __future__ import annotations

from pathlib import Path

from reverie.redact import Redactor
from reverie.store import SYSTEM_SPACE, Done, Kind, Store, Write, Writer
from reveried.http.auth import token_hash


def add_token(home: Path, token: str, space: str, agent: str) -> None:
    """Add a token to the store of a daemon that is not running."""
    with Store.open(home / "data" / "store", redactor=Redactor()) as store:
        key = (token_hash(token),)

        def body(writer: Writer) -> None:
            writer.put(Kind.TOKEN, key, {"space": space, "agent": agent})

        (done,) = store.commit([Write(SYSTEM_SPACE, "test", "token", body)], at="2026-11-21T09:30:00.000Z")
        assert isinstance(done, Done)
