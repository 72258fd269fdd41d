"""The saved search index of a real daemon: right answers after a stop, a kill and damage, and at once after a write."""

from __future__ import annotations

from pathlib import Path

from reverie import wire
from reverie.client import Client
from support.daemon import running_daemon


def recalled(client: Client, query: str, **options: object) -> list[str]:
    """Return the contents of the hits, best first."""
    return [hit.memory.content for hit in client.recall(query, **options).hits]  # type: ignore[call-overload]


def index_files(home: Path) -> list[Path]:
    return sorted(path for path in (home / "data" / "search").rglob("*") if path.is_file())


def test_answers_are_right_after_a_stop_and_after_a_kill() -> None:
    """After a stop or a kill a recall finds what was written, and does not find what was deleted."""
    with running_daemon() as daemon, Client(daemon.socket) as client:
        home = daemon.home
        old = client.remember(wire.CreateMemory("the parser is in old.py"))
        assert recalled(client, "parser") == ["the parser is in old.py"]
        client.remember(wire.CreateMemory("the lexer is in lex.py"))
        assert recalled(client, "lexer") == ["the lexer is in lex.py"]
        daemon.stop()
        assert {path.suffix for path in index_files(home)} == {".json", ".segment"}
        daemon.start()
        client.forget(old.id)
        assert recalled(client, "parser") == []
        client.remember(wire.CreateMemory("the parser is in new.py"))
        daemon.kill()
        daemon.start()
        assert recalled(client, "parser") == ["the parser is in new.py"]
        assert recalled(client, "lexer parser", types=["fact"]) == recalled(client, "lexer parser")
        assert [memory.content for memory in client.memories(kind="fact").items] == [
            memory.content for memory in client.memories().items
        ]


def test_damaged_files_are_built_again() -> None:
    """With any one file of the index damaged the daemon starts, and a recall has the same hits."""
    with running_daemon() as daemon, Client(daemon.socket) as client:
        home = daemon.home
        for number in range(4):
            client.remember(wire.CreateMemory(f"part {number} of the parser is in parse{number}.py"))
        right = recalled(client, "parser part")
        daemon.stop()
        files = index_files(home)
        for path in files:
            data = bytearray(path.read_bytes())
            data[len(data) // 2] ^= 0x10
            path.write_bytes(data)
            daemon.start()
            assert recalled(client, "parser part") == right
            daemon.stop()
        assert index_files(home) != []
