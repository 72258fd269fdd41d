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


def test_a_call_sends_what_the_contract_says(ask: Ask, path: Path) -> None:
    """Method, path, query and body are those of the table, which has each call that the description says too little of.

    Of the others the OpenAPI document, which is made of the same rows, says what is sent.
    """
    table: list[tuple[str, tuple[Any, ...], dict[str, Any], str, dict[str, str], Any]] = [
        ("status", (), {}, "GET /v1/status", {}, None),
        ("revoke_token", ("tok_1",), {}, "DELETE /v1/tokens/tok_1", {}, None),
        (
            "create_thread",
            (),
            {"title": "t", "context_window": 2000},
            "POST /v1/threads",
            {},
            {"title": "t", "contextWindow": 2000},
        ),
        (
            "change_thread",
            ("a", wire.ChangeThread(project="harbour")),
            {},
            "PATCH /v1/threads/a",
            {},
            {"project": "harbour"},
        ),
        (
            "search",
            ("oslo",),
            {"where": "all", "agent": "mole", "since": "2026-01-01", "limit": 3},
            "POST /v1/search",
            {},
            {"query": "oslo", "in": "all", "agent": "mole", "since": "2026-01-01", "limit": 3},
        ),
        ("brief_text", ("harbour",), {}, "GET /v1/projects/harbour/brief", {"format": "text"}, None),
        (
            "change_brief_line",
            ("harbour", "0a", "edit", "by gh"),
            {},
            "POST /v1/projects/harbour/brief/lines/0a",
            {},
            {"action": "edit", "text": "by gh"},
        ),
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
        (
            "set_working_state",
            ("a",),
            {"current_task": "x", "blockers": []},
            "PATCH /v1/threads/a/working-state",
            {},
            {"currentTask": "x", "blockers": []},
        ),
        ("replace_working_state", ("a",), {}, "PUT /v1/threads/a/working-state", {}, {}),
        (
            "context_text",
            ("a",),
            {"max_chars": 9, "tiers": ["notes", "tail"]},
            "GET /v1/threads/a/context",
            {"format": "text", "maxChars": "9", "tiers": "notes,tail"},
            None,
        ),
        ("distill", ("a",), {"token_budget": 5}, "POST /v1/threads/a/distill", {"wait": "true"}, {"tokenBudget": 5}),
        ("start_distill", ("a",), {}, "POST /v1/threads/a/distill", {}, {}),
        (
            "memories",
            (),
            {"kind": "fact", "tag": "x"},
            "GET /v1/memories",
            {"type": "fact", "tag": "x"},
            None,
        ),
        (
            "recall",
            ("q",),
            {"min_score": 0.0, "peek": True},
            "POST /v1/recall",
            {},
            {"query": "q", "minScore": 0.0, "peek": True},
        ),
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
        (
            "call_tool",
            ("note", {"content": "x"}),
            {"thread": "a"},
            "POST /v1/tools/note",
            {},
            {"input": {"content": "x"}, "thread": "a"},
        ),
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
        ("delete_folder", ("facts/a",), {}, "DELETE /v1/documents/facts/a", {"folder": "true"}, None),
        ("insert_lines", ("a.txt", 2, "x"), {}, "POST /v1/documents/a.txt/insert", {}, {"line": 2, "text": "x"}),
        ("forget", ("m",), {"purge": True}, "DELETE /v1/memories/m", {"purge": "true"}, None),
        ("difference", ("3",), {"path": "a.md"}, "GET /v1/diff", {"from": "3", "path": "a.md"}, None),
        ("dream", (), {"dry_run": True}, "POST /v1/dreams", {"wait": "true"}, {"dryRun": True}),
        ("start_dream", (), {"token_budget": 3}, "POST /v1/dreams", {}, {"tokenBudget": 3}),
        (
            "add_schedule",
            ("0 3 * * *",),
            {"timezone": "Europe/Vienna"},
            "POST /v1/schedules",
            {},
            {"cron": "0 3 * * *", "timezone": "Europe/Vienna", "options": {}},
        ),
        (
            "sessions",
            (),
            {"pid": 7, "open": True},
            "GET /v1/sessions",
            {"pid": "7", "open": "true"},
            None,
        ),
        ("entries", ("a",), {"after": "3"}, "GET /v1/threads/a/entries", {"after": "3"}, None),
        ("summaries", ("a",), {}, "GET /v1/threads/a/summaries", {}, None),
        ("operations", (), {}, "GET /v1/operations", {}, None),
        (
            "send_chunk",
            ("i", b"\x00{}\n"),
            {"offset": 4, "first_line": 2, "final": True},
            "PUT /v1/imports/i/chunks",
            {"offset": "4", "firstLine": "2", "final": "true"},
            b"\x00{}\n",
        ),
    ]
    assert {row.name for row in _rows() if not _is_described(row)} <= {row[0] for row in table}
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
        assert {row.name for row in _rows(noun)} == set(names.split())
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


def _rows(*nouns: str) -> list[Endpoint[..., Any]]:
    """Return the rows of these nouns, by default of all."""
    kinds = (getattr(import_module(f"reverie.api.{noun}"), noun.capitalize()) for noun in nouns or NOUNS)
    return [row for kind in kinds for row in vars(kind).values() if isinstance(row, Endpoint)]


def _is_described(row: Endpoint[..., Any]) -> bool:
    """Return whether the parameters of a call are those of its struct, in a row of which OpenAPI is made."""
    made_by = row.request
    other = row.variant or row.raw or (row.query is not None and row.query is not made_by)
    return not other and (isinstance(made_by, type) or made_by.__module__ == Endpoint.__module__)
