"""Tests that every call of both clients sends the request that the API documents."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from reverie import errors, wire
from reverie.api import NOUNS
from reverie.api.endpoint import Endpoint
from reverie.client import Client
from support.fake_daemon import always, envelope, fake_daemon

Ask = Callable[..., Any]


def test_every_call_sends_what_the_contract_says(ask: Ask, path: Path) -> None:
    """Method, path, query and body of every call are those of the table."""
    table: list[tuple[str, tuple[Any, ...], dict[str, Any], str, dict[str, str], Any]] = [
        ("status", (), {}, "GET /v1/status", {}, None),
        ("spaces", (), {}, "GET /v1/spaces", {}, None),
        ("create_space", ("work",), {}, "POST /v1/spaces", {}, {"id": "work"}),
        ("tokens", (), {"after": "tok_1"}, "GET /v1/tokens", {"after": "tok_1"}, None),
        ("create_token", ("work",), {"agent": "mole"}, "POST /v1/tokens", {}, {"space": "work", "agent": "mole"}),
        ("create_token", (), {}, "POST /v1/tokens", {}, {}),
        ("revoke_token", ("tok_1",), {}, "DELETE /v1/tokens/tok_1", {}, None),
        ("backup", ("/b",), {}, "POST /v1/backups", {}, {"path": "/b"}),
        ("jobs", (), {"limit": 5}, "GET /v1/jobs", {"limit": "5"}, None),
        ("job", ("j",), {}, "GET /v1/jobs/j", {}, None),
        ("cancel_job", ("j",), {}, "DELETE /v1/jobs/j", {}, None),
        ("openapi", (), {}, "GET /v1/openapi.json", {}, None),
        ("metrics", (), {}, "GET /metrics", {}, None),
        (
            "create_thread",
            (),
            {"title": "t", "context_window": 2000},
            "POST /v1/threads",
            {},
            {"title": "t", "contextWindow": 2000},
        ),
        ("threads", (), {"limit": 5, "after": "c"}, "GET /v1/threads", {"limit": "5", "after": "c"}, None),
        ("thread", ("a",), {}, "GET /v1/threads/a", {}, None),
        (
            "change_thread",
            ("a", wire.ChangeThread(project="harbour")),
            {},
            "PATCH /v1/threads/a",
            {},
            {"project": "harbour"},
        ),
        ("search", ("oslo",), {}, "POST /v1/search", {}, {"query": "oslo"}),
        (
            "search",
            ("oslo",),
            {"where": "all", "agent": "mole", "since": "2026-01-01", "limit": 3},
            "POST /v1/search",
            {},
            {"query": "oslo", "in": "all", "agent": "mole", "since": "2026-01-01", "limit": 3},
        ),
        ("sort_projects", (), {}, "POST /v1/projects/sort", {}, None),
        ("brief", ("harbour",), {"max_tokens": 500}, "GET /v1/projects/harbour/brief", {"maxTokens": "500"}, None),
        ("brief_text", ("harbour",), {}, "GET /v1/projects/harbour/brief", {"format": "text"}, None),
        (
            "change_brief_line",
            ("harbour", "0a", "edit", "by gh"),
            {},
            "POST /v1/projects/harbour/brief/lines/0a",
            {},
            {"action": "edit", "text": "by gh"},
        ),
        ("projects", (), {"of": "harbour"}, "GET /v1/projects", {"of": "harbour"}, None),
        ("delete_thread", ("a",), {"confirm": "a"}, "DELETE /v1/threads/a", {"confirm": "a"}, None),
        (
            "append",
            ("a", [{"role": "user", "content": "hi"}]),
            {"expected_seq": 3},
            "POST /v1/threads/a/messages",
            {},
            {"messages": [{"role": "user", "content": "hi"}], "expectedSeq": 3},
        ),
        ("messages", ("a",), {"last": 3}, "GET /v1/threads/a/messages", {"last": "3"}, None),
        (
            "context",
            ("a",),
            {"query": "q r", "placement": "late", "max_tokens": 9},
            "GET /v1/threads/a/context",
            {"query": "q r", "placement": "late", "maxTokens": "9"},
            None,
        ),
        ("working_state", ("a",), {}, "GET /v1/threads/a/working-state", {}, None),
        (
            "set_working_state",
            ("a",),
            {"current_task": "x", "blockers": []},
            "PATCH /v1/threads/a/working-state",
            {},
            {"currentTask": "x", "blockers": []},
        ),
        ("replace_working_state", ("a",), {}, "PUT /v1/threads/a/working-state", {}, {}),
        ("notes", ("a",), {}, "GET /v1/threads/a/notes", {}, None),
        ("add_note", ("a", "x", "task"), {}, "POST /v1/threads/a/notes", {}, {"content": "x", "category": "task"}),
        ("delete_note", ("a", "n"), {}, "DELETE /v1/threads/a/notes/n", {}, None),
        ("digest", ("a",), {}, "GET /v1/threads/a/digest", {}, None),
        ("entries", ("a",), {"after": "3"}, "GET /v1/threads/a/entries", {"after": "3"}, None),
        ("rewind", ("a", 3), {"expected_seq": 9}, "POST /v1/threads/a/rewind", {}, {"toSeq": 3, "expectedSeq": 9}),
        (
            "context_text",
            ("a",),
            {"max_chars": 9, "tiers": ["notes", "tail"]},
            "GET /v1/threads/a/context",
            {"format": "text", "maxChars": "9", "tiers": "notes,tail"},
            None,
        ),
        ("distill", ("a",), {"token_budget": 5}, "POST /v1/threads/a/distill", {"wait": "true"}, {"tokenBudget": 5}),
        ("learn", ("a",), {}, "POST /v1/threads/a/learn", {"wait": "true"}, None),
        ("reflect", ("a",), {}, "POST /v1/threads/a/reflect", {"wait": "true"}, None),
        ("model_requests", ("a",), {}, "GET /v1/threads/a/model-requests", {}, None),
        ("start_distill", ("a",), {}, "POST /v1/threads/a/distill", {}, {}),
        ("summaries", ("a",), {}, "GET /v1/threads/a/summaries", {}, None),
        (
            "memories",
            (),
            {"kind": "fact", "tag": "x"},
            "GET /v1/memories",
            {"type": "fact", "tag": "x"},
            None,
        ),
        ("memory", ("m",), {}, "GET /v1/memories/m", {}, None),
        ("memory_history", ("m",), {}, "GET /v1/memories/m/history", {}, None),
        (
            "recall",
            ("q",),
            {"types": ["fact"], "tags": ["t"]},
            "POST /v1/recall",
            {},
            {"query": "q", "types": ["fact"], "tags": ["t"]},
        ),
        (
            "recall",
            ("q",),
            {"min_score": 0.0, "peek": True},
            "POST /v1/recall",
            {},
            {"query": "q", "minScore": 0.0, "peek": True},
        ),
        ("start_run", (), {"agent": "mole", "title": "t"}, "POST /v1/runs", {}, {"agent": "mole", "title": "t"}),
        ("runs", (), {"state": "running"}, "GET /v1/runs", {"state": "running"}, None),
        ("run", ("r",), {}, "GET /v1/runs/r", {}, None),
        ("run_context", ("r",), {}, "GET /v1/runs/r/context", {}, None),
        ("run_file", ("r", "docs/a b.md"), {}, "GET /v1/runs/r/files/docs/a%20b.md", {}, None),
        ("put_run_file", ("r", "a.md", "text"), {}, "PUT /v1/runs/r/files/a.md", {}, {"content": "text"}),
        (
            "put_run_file",
            ("r", "a.bin", b"\x00"),
            {},
            "PUT /v1/runs/r/files/a.bin",
            {},
            {"content": "AA==", "encoding": "base64"},
        ),
        ("put_working_memory", ("r", {"a": 1}), {}, "PUT /v1/runs/r/working-memory", {}, {"entries": {"a": 1}}),
        ("complete_run", ("r",), {}, "POST /v1/runs/r/complete", {}, None),
        ("candidates", (), {"state": "all"}, "GET /v1/candidates", {"state": "all"}, None),
        ("candidate", ("c",), {}, "GET /v1/candidates/c", {}, None),
        ("accept_candidate", ("c",), {}, "POST /v1/candidates/c/accept", {}, None),
        ("reject_candidate", ("c",), {}, "POST /v1/candidates/c/reject", {}, None),
        ("tools", (), {}, "GET /v1/tools", {}, None),
        (
            "call_tool",
            ("note", {"content": "x"}),
            {"thread": "a"},
            "POST /v1/tools/note",
            {},
            {"input": {"content": "x"}, "thread": "a"},
        ),
        ("documents", (), {}, "GET /v1/documents", {}, None),
        ("document", ("facts/us er.md",), {}, "GET /v1/documents/facts/us%20er.md", {}, None),
        (
            "put_document",
            ("facts/a.md", "text"),
            {"summary": "s", "etag": "e" * 64},
            "PUT /v1/documents/facts/a.md",
            {},
            {"content": "text", "summary": "s"},
        ),
        (
            "patch_document",
            ("facts/a.md", [("old", "new")]),
            {},
            "POST /v1/documents/facts/a.md/patch",
            {},
            {"patches": [{"oldText": "old", "newText": "new"}]},
        ),
        ("append_entry", ("e.md", "## x"), {}, "POST /v1/documents/e.md/append", {}, {"entry": "## x"}),
        ("delete_document", ("facts/a.md",), {}, "DELETE /v1/documents/facts/a.md", {}, None),
        ("delete_folder", ("facts/a",), {}, "DELETE /v1/documents/facts/a", {"folder": "true"}, None),
        ("move_document", ("facts/a", "facts/b"), {}, "POST /v1/documents/facts/a/move", {}, {"to": "facts/b"}),
        ("insert_lines", ("a.txt", 2, "x"), {}, "POST /v1/documents/a.txt/insert", {}, {"line": 2, "text": "x"}),
        ("index", (), {}, "GET /v1/index", {}, None),
        (
            "remember",
            (wire.CreateMemory("c", tags=["t"], author="person"),),
            {},
            "POST /v1/memories",
            {},
            {"content": "c", "tags": ["t"], "author": "person"},
        ),
        ("change_memory", ("m", wire.ChangeMemory("c")), {}, "PATCH /v1/memories/m", {}, {"content": "c"}),
        ("forget", ("m",), {}, "DELETE /v1/memories/m", {}, None),
        ("forget", ("m",), {"purge": True}, "DELETE /v1/memories/m", {"purge": "true"}, None),
        ("compact", (), {}, "POST /v1/compact", {}, None),
        ("check_distiller", (), {}, "POST /v1/distiller/check", {}, None),
        ("conflicts", (), {}, "GET /v1/conflicts", {}, None),
        ("conflict", ("c",), {}, "GET /v1/conflicts/c", {}, None),
        ("resolve", ("c", wire.Resolve(keep="file")), {}, "POST /v1/conflicts/c/resolve", {}, {"keep": "file"}),
        ("sync_status", (), {}, "GET /v1/sync", {}, None),
        ("sync_now", (), {"deep": True}, "POST /v1/sync", {}, {"deep": True}),
        ("sync_now", (), {"accept_folder": True}, "POST /v1/sync", {}, {"acceptFolder": True}),
        ("rollback", ("3",), {}, "POST /v1/rollback", {}, {"operation": "3"}),
        ("document_history", ("facts/a.md",), {}, "GET /v1/history/facts/a.md", {}, None),
        ("difference", ("3",), {"path": "a.md"}, "GET /v1/diff", {"from": "3", "path": "a.md"}, None),
        ("operations", (), {}, "GET /v1/operations", {}, None),
        ("operation", ("o",), {}, "GET /v1/operations/o", {}, None),
        ("undo", ("o",), {}, "POST /v1/operations/o/undo", {}, None),
        ("archives", (), {}, "GET /v1/archives", {}, None),
        ("archive", ("ab",), {}, "GET /v1/archives/ab", {}, None),
        ("dream", (), {"dry_run": True}, "POST /v1/dreams", {"wait": "true"}, {"dryRun": True}),
        ("start_dream", (), {"token_budget": 3}, "POST /v1/dreams", {}, {"tokenBudget": 3}),
        ("dreams", (), {}, "GET /v1/dreams", {}, None),
        ("dream_record", ("d",), {}, "GET /v1/dreams/d", {}, None),
        ("schedules", (), {}, "GET /v1/schedules", {}, None),
        (
            "add_schedule",
            ("0 3 * * *",),
            {"timezone": "Europe/Vienna"},
            "POST /v1/schedules",
            {},
            {"cron": "0 3 * * *", "timezone": "Europe/Vienna", "options": {}},
        ),
        ("remove_schedule", ("s",), {}, "DELETE /v1/schedules/s", {}, None),
        (
            "start_import",
            ("claude-code", "s"),
            {"source": "f"},
            "POST /v1/imports",
            {},
            {"client": "claude-code", "session": "s", "source": "f"},
        ),
        (
            "start_session",
            (wire.StartSession("codex", "s", "/srv/harbour", pid=7),),
            {},
            "POST /v1/sessions",
            {},
            {"client": "codex", "session": "s", "project": "/srv/harbour", "pid": 7},
        ),
        ("end_session", ("codex", "s"), {}, "POST /v1/sessions/codex/s/end", {}, None),
        ("prepare_compaction", (), {}, "POST /v1/compactions/prepare", {}, None),
        (
            "compact_conversation",
            (wire.CompactConversation("codex", [{"type": "message"}], session="s"),),
            {},
            "POST /v1/compactions",
            {},
            {"client": "codex", "messages": [{"type": "message"}], "session": "s"},
        ),
        (
            "sessions",
            (),
            {"pid": 7, "open": True},
            "GET /v1/sessions",
            {"pid": "7", "open": "true"},
            None,
        ),
        ("privacy", (), {}, "GET /v1/privacy", {}, None),
        ("change_privacy", (wire.ChangePrivacy(paused=True),), {}, "PATCH /v1/privacy", {}, {"paused": True}),
        ("redactions", (), {"project": "p"}, "GET /v1/redactions", {"project": "p"}, None),
        ("allow_redactions", (), {"rule": "label"}, "POST /v1/redactions/allow", {}, {"rule": "label"}),
        ("disallow_redactions", (), {"like": "a*"}, "POST /v1/redactions/disallow", {}, {"like": "a*"}),
        (
            "send_chunk",
            ("i", b"\x00{}\n"),
            {"offset": 4, "first_line": 2, "final": True},
            "PUT /v1/imports/i/chunks",
            {"offset": "4", "firstLine": "2", "final": "true"},
            b"\x00{}\n",
        ),
    ]
    assert {row[0] for row in table} | {"health"} == set(" ".join(NOUNS.values()).split())
    with fake_daemon(path, always(envelope("not_found", status=404))) as daemon:
        for name, args, kwargs, request, query, body in table:
            with pytest.raises(errors.NotFound):
                ask(path, name, *args, **kwargs)
            sent = daemon.requests[-1]
            assert (f"{sent.method} {sent.path}", sent.query) == (request, query)
            match body:
                case None:
                    assert sent.body == b""
                case bytes():
                    assert sent.body == body
                    assert sent.headers["content-type"] == "application/octet-stream"
                case _:
                    assert sent.json == body
                    assert sent.headers["content-type"] == "application/json"


def test_methods_are_found_by_noun() -> None:
    """The index of methods has exactly the endpoints of each noun, and a client no other method."""
    for noun, names in NOUNS.items():
        kind = getattr(import_module(f"reverie.api.{noun}"), noun.capitalize())
        assert {name for name, row in vars(kind).items() if isinstance(row, Endpoint)} == set(names.split())
    assert {"append", "recall", "send"} <= set(dir(Client()))
    assert (Client().append.__name__, Client().append.__doc__) == ("append", "Appends messages.")  # type: ignore[attr-defined] # of a function
    with pytest.raises(AttributeError, match="'Client' object has no attribute 'apend'"):
        Client().apend  # type: ignore[attr-defined] # noqa: B018


@pytest.mark.parametrize(
    ("name", "given", "says"),
    [
        ("thread", {}, "thread lacks {id}"),
        ("openapi", {"key": "k"}, "openapi takes no key"),
        ("compact", {"etag": "*"}, "compact takes no etag"),
        ("recall", {"limt": 1}, "limt"),
    ],
)
def test_wrong_arguments_are_refused(ask: Ask, path: Path, name: str, given: dict[str, Any], says: str) -> None:
    """What an operation does not take is a TypeError, and nothing is sent."""
    with pytest.raises(TypeError, match=says):
        ask(path, name, **given)


def test_rules_about_several_fields_hold_before_anything_is_sent(ask: Ask, path: Path) -> None:
    """Fields that exclude each other are refused in the words of the daemon."""
    with pytest.raises(errors.ValidationError, match="give `after` or `last`, not both"):
        ask(path, "messages", "a", after="1", last=2)
