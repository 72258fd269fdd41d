"""Commands for sync, conflicts, memories, diff and rollback against a fake daemon."""

from __future__ import annotations

import io
import json
import time
from typing import Any

import pytest
from rich.cells import cell_len

from reveried.cli import recall
from reveried.cli.sync import diff_rows
from support.cli import AT, MEMORY, THREAD, Cli, Routes, check
from support.fake_daemon import Answer, Request, envelope
from support.pages import page

STATUS: dict[str, Any] = {
    "state": "ok",
    "root": "/r/root/default",
    "documents": 3,
    "pending": 0,
    "conflicts": 1,
    "lastScanAt": AT,
}
REFUSED = {"path": "facts/link.md", "reason": "hard_link", "hint": "copy it"}
STOPPED = STATUS | {
    "state": "stopped",
    "reason": "7 files are gone at once",
    "hint": "bring them back",
    "missing": ["a"],
}
CONFLICT = {
    "id": "cnf_00012345",
    "path": "facts/user.md",
    "copy": "facts/user.sync-conflict-1.md",
    "openedAt": AT,
    "reason": "both_changed",
    "regions": 1,
}

TEA = MEMORY | {"id": "mem_0000abcd", "content": "tea is green", "document": "facts/project.md"}


def outcome(status: dict[str, Any], **counts: int) -> dict[str, Any]:
    return {"read": 2, "adopted": 0, "written": 0, "deleted": 0, "conflicts": 0, "status": status} | counts


def body(request: Request) -> Any:
    return json.loads(request.body)


@pytest.mark.usefixtures("daemon")
def test_sync_status(cli: Cli, routes: Routes) -> None:
    """The status lists refused files; if sync is stopped, it has the reason and the next step, and exits with 4."""
    routes["GET /v1/sync"] = STATUS | {"refused": [REFUSED]}
    check(cli, "sync status", "/r/root/default", "1; reverie sync conflicts", "facts/link.md", "hard link", "copy it")
    assert cli("sync", "status", "--json").json["state"] == "ok"

    routes["GET /v1/sync"] = STOPPED
    done = cli("sync", "status")
    assert done.code == 4
    assert "7 files are gone at once" in done.out
    assert "bring them back" in done.out


@pytest.mark.usefixtures("daemon")
def test_sync_now(cli: Cli, routes: Routes) -> None:
    """`sync now` prints the counts of the scan, and sends its options to the daemon."""
    sent = []

    def answer(request: Request) -> Any:
        sent.append(body(request))
        return outcome(STATUS, adopted=2, written=1)

    routes["POST /v1/sync"] = answer
    check(cli, "sync now --deep", "2 files read", "2 stored", "1 written")
    routes["POST /v1/sync"] = outcome(STATUS)
    check(cli, "sync now", "agree")
    assert sent == [{"deep": True}]
    routes["POST /v1/sync"] = answer
    check(cli, "sync now --accept-folder")
    assert sent[1:] == [{"acceptFolder": True}]
    routes["POST /v1/sync"] = outcome(STOPPED)
    assert cli("sync", "now", "--json").code == 4


@pytest.mark.usefixtures("daemon")
def test_sync_now_waits_for_missing_files(cli: Cli, routes: Routes) -> None:
    """While files are missing the scan is repeated, and the counts are added up."""
    answers = [outcome(STATUS | {"missing": ["facts/a.md"]}, adopted=1), outcome(STATUS, deleted=1)]
    routes["POST /v1/sync"] = lambda _: answers.pop(0)
    check(cli, "sync now", "1 stored, 1 deleted")
    assert answers == []


@pytest.mark.usefixtures("daemon")
@pytest.mark.parametrize("more", [{"pending": 3}, {"refused": [REFUSED]}, STOPPED])
def test_sync_now_prints_the_status_unless_both_agree(cli: Cli, routes: Routes, more: dict[str, Any]) -> None:
    """With pending, missing or refused files the status is printed in place of "agree"."""
    routes["POST /v1/sync"] = outcome(STATUS | more)
    printed = cli("sync", "now").out
    assert "agree" not in printed
    assert "Pending" in printed or "facts/link.md" in printed or "gone at once" in printed


@pytest.mark.usefixtures("daemon")
def test_conflicts_are_listed_and_shown(cli: Cli, routes: Routes) -> None:
    """Conflicts are a table; one, found by the end of its id, is shown with both texts side by side."""
    routes["GET /v1/conflicts"] = page()
    check(cli, "sync conflicts", "No conflicts")
    routes["GET /v1/conflicts"] = page(CONFLICT)
    check(cli, "sync conflicts", "cnf_00012345", "facts/user.md", "reverie sync resolve")
    assert cli("sync", "conflicts", "--json").json["items"][0]["id"] == "cnf_00012345"
    routes["GET /v1/conflicts/cnf_00012345"] = CONFLICT | {
        "fileText": "# T\n- pilot\n- same\n",
        "storeText": "# T\n- cook\n- same\n- more\n",
        "differences": [{"file": "- pilot\n", "store": "- cook\n"}],
    }
    check(cli, "sync conflicts 12345", "The file", "- pilot", "| - cook", "> - more", "--keep file|store|both")
    assert cli("sync", "conflicts", "12345", "--json").json["fileText"].startswith("# T")


@pytest.mark.usefixtures("daemon")
def test_columns_with_wide_characters(cli: Cli, routes: Routes) -> None:
    """Characters of two terminal cells do not shift the right column."""
    routes["GET /v1/conflicts"] = page(CONFLICT)
    routes["GET /v1/conflicts/cnf_00012345"] = CONFLICT | {
        "fileText": f"- {'日本語' * 40}\n- tea\n",
        "storeText": "- cook\n- coffee\n",
        "differences": [],
    }
    lines = cli("sync", "conflicts", "12345").out.splitlines()
    columns = {cell_len(line[: line.index(" | ")]) for line in lines if " | " in line}
    assert len(columns) == 1, lines
    assert max(cell_len(line.split(" |")[0]) for line in lines if "日" in line) <= max(columns)
    done = cli("sync", "conflicts", "nothing")
    assert (done.code, "no open conflict ends with nothing" in done.err) == (1, True)


@pytest.mark.usefixtures("daemon")
def test_remember_and_forget(cli: Cli, routes: Routes) -> None:
    """A memory is added with a person as its author, and deleted by the end of its id; both print how to undo it."""
    sent = []

    def answer(request: Request) -> Answer:
        sent.append(body(request))
        return Answer(TEA, 201)

    routes["POST /v1/memories"] = answer
    routes["GET /v1/sync"] = STATUS
    routes["GET /v1/memories"] = page()
    check(cli, "remember tea is green --tag drinks -d facts/project.md", "facts/project.md", "reverie forget 0000abcd")
    assert sent == [{"content": "tea is green", "tags": ["drinks"], "document": "facts/project.md", "author": "person"}]
    assert cli("remember", "x", "--json").json["id"] == "mem_0000abcd"
    assert cli("remember", "x", "--type", "secret").code == 2

    cli("remember", "tag", "every", "build", "#ci", "#release", "--tag", "git")
    assert (sent[-1]["content"], sent[-1]["tags"]) == ("tag every build", ["ci", "release", "git"])
    cli("remember", "issue #12 is a *tag* of its own")
    assert (sent[-1]["content"], sent[-1].get("tags", [])) == ("issue #12 is a *tag* of its own", [])

    routes["GET /v1/memories"] = page(TEA)
    routes["DELETE /v1/memories/mem_0000abcd"] = {
        "id": "mem_0000abcd",
        "document": "facts/project.md",
        "operation": "4",
    }
    check(cli, "forget 0000abcd", "tea is green", "reverie undo 4")
    assert cli("forget", "abcd", "--json").json["operation"] == "4"
    assert cli("forget", "zzz").code == 1
    words = cli("forget", "we deploy on Thursdays")
    assert words.code == 1
    assert "“we deploy on Thursdays” is no id of a memory" in words.err
    assert "next: reverie memories lists them with their ids" in words.err
    routes["GET /v1/memories"] = page(TEA, TEA | {"id": "mem_1111abcd"})
    assert "2 memories end with abcd" in cli("forget", "abcd").err


@pytest.mark.usefixtures("daemon")
def test_a_long_purge_says_that_it_goes_on(cli: Cli, routes: Routes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nobody sees a spinner, a line says so once it takes long; JSON has none."""
    monkeypatch.setattr(recall, "_SAID_S", 0.0)
    purged = {
        "operation": "5",
        "memories": 1,
        "documents": 0,
        "archives": 0,
        "kept": [],
        "freedBytes": 0,
        "backups": [],
    }

    def answer(_: Request) -> Answer:
        time.sleep(0.2)
        return Answer({"id": "mem_0000abcd", "document": "facts/project.md", "operation": "4", "purged": purged})

    routes["GET /v1/memories"] = page(TEA)
    routes["GET /v1/sync"] = STATUS
    routes["DELETE /v1/memories/mem_0000abcd"] = answer
    assert cli("forget", "abcd", "--purge", "--yes").err == "Removing every trace …\n"
    assert cli("forget", "abcd", "--purge", "--yes", "--json").err == ""


@pytest.mark.usefixtures("daemon")
def test_a_purge_lists_what_goes_with_the_thread(cli: Cli, routes: Routes) -> None:
    """The memories of that thread alone are named before the question; those of a person or of others too stay."""
    thread = THREAD | {"messageCount": 3}
    alone = TEA | {"content": "Run make", "trust": "engine", "provenance": {"thread": "thr_1"}}
    shared = alone | {"content": "Run mise", "provenance": {"thread": "thr_1", "updates": [{"thread": "thr_2"}]}}
    own = alone | {"content": "No emoji", "trust": "person"}
    routes["GET /v1/threads"] = page(thread)
    routes["GET /v1/threads/thr_1"] = thread
    routes["GET /v1/memories"] = page(alone, shared, own)
    out = cli("forget", "thr_1", "--purge").out
    assert "1 memory was learnt from it" in out
    assert "  Run make\n" in out
    assert "Run mise" not in out
    assert "No emoji" not in out
    assert "No emoji" not in cli("forget", "thr_1", "--purge", "--keep-memories").out
    for other in ("mem_0000abcd", "facts/office.md"):
        refused = cli("forget", other, "--keep-memories")
        assert (refused.code, "purged thread" in refused.err) == (2, True)
        assert "next: leave it out" in refused.err


@pytest.mark.usefixtures("daemon")
@pytest.mark.parametrize(
    "status", [STOPPED | {"pending": 1}, STATUS | {"refused": [REFUSED | {"path": "facts/project.md"}]}]
)
def test_a_file_that_could_not_be_written_is_named(cli: Cli, routes: Routes, status: dict[str, Any]) -> None:
    """If sync is stopped or refuses the file, remember and forget say so; not for another file or waiting deletions."""
    routes["POST /v1/memories"] = Answer(TEA, 201)
    routes["GET /v1/memories"] = page(TEA)
    routes["DELETE /v1/memories/mem_0000abcd"] = {"id": "x", "document": "facts/project.md", "operation": "4"}
    for other in (STATUS | {"refused": [REFUSED]}, STOPPED):  # another file; deletions that wait for confirmation
        routes["GET /v1/sync"] = other
        assert "could not be written" not in cli("remember", "tea").out
    routes["GET /v1/sync"] = status
    check(cli, "remember tea", "Added to facts/project.md", "could not be written yet. Next: reverie sync status")
    check(cli, "forget 0000abcd", "Deleted: tea", "could not be written yet. Next: reverie sync status")


@pytest.mark.usefixtures("daemon")
def test_diff_between_two_operations(cli: Cli, routes: Routes) -> None:
    """Changes are printed as a unified diff; no changes as a sentence."""
    items = [
        {"path": "facts/user.md", "before": "- a\n- b\n", "after": "- a\n- c\n"},
        {"path": "new.md", "before": None, "after": "x\n"},
        {"path": "old.md", "before": "y\n", "after": None},
    ]
    routes["GET /v1/diff"] = {"items": items, "from": "3", "to": "7"}
    check(cli, "diff 3 7", "--- facts/user.md", "-- b", "+- c", "+++ (deleted)", "--- (not there)")
    assert cli("diff", "3", "--json").json["to"] == "7"
    routes["GET /v1/diff"] = {"items": [{"path": "empty.md", "before": None, "after": ""}], "from": "3", "to": "7"}
    check(cli, "diff 3 7", "--- (not there)", "+++ empty.md")
    routes["GET /v1/diff"] = {"items": [], "from": "3", "to": "7"}
    check(cli, "diff 3", "No document changed between operations 3 and 7")


@pytest.mark.usefixtures("daemon")
@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ("- a\r\n- b\r\n", "- a\n- b\n", ["-- a\\r\\n", "-- b\\r\\n", "+- a", "+- b"]),
        ("- a\n- b\n", "- a\n- c\r\n", [" - a", "-- b", "+- c\\r\\n"]),
        ("- a\r\n- b\r\n", "- a\r\n- c\r\n", [" - a", "-- b", "+- c"]),
        ("- a\n", "- a", ["-- a", "+- a (no newline)"]),
        ("- a\n\r- b\n", "- a\n\n- b\n", [" - a", "-\\r", "+", " - b"]),
        ("- a\n- b\r\n", "- a\r\n- b\n", ["-- a", "-- b\\r\\n", "+- a\\r\\n", "+- b"]),
        (None, "- a\r\n- b", ["+- a", "+- b"]),
    ],
)
def test_diff_shows_line_endings(cli: Cli, routes: Routes, before: str | None, after: str, says: list[str]) -> None:
    """Line endings are visible if the texts have different ones, or differ in nothing else."""
    items = [{"path": "facts/user.md", "before": before, "after": after}]
    routes["GET /v1/diff"] = {"items": items, "from": "3", "to": "7"}
    assert cli("diff", "3").out.splitlines()[3:] == says


@pytest.mark.usefixtures("daemon")
def test_rollback(cli: Cli, routes: Routes, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rollback lists what it would change and asks; "no" changes nothing, and --yes does not ask."""
    routes["GET /v1/operations/3"] = {"id": "3", "seq": 3, "at": AT, "who": "o", "why": "w"}
    routes["GET /v1/diff"] = {"items": [{"path": "a.md", "before": "x", "after": "y"}], "from": "3", "to": "7"}
    routes["POST /v1/rollback"] = {"operation": "8", "to": "3", "documents": ["a.md"], "records": 0}
    check(cli, "rollback 3 --yes", "Rolled back to operation 3: 1 document changed", "reverie undo 8")
    assert cli("rollback", "3", "--json", "--yes").json["operation"] == "8"
    routes["POST /v1/rollback"] = envelope("internal", "it was done without being confirmed", status=500)
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    refused = cli("rollback", "3")
    assert (refused.code, "nothing was changed" in refused.err, "--yes" in refused.err) == (1, True, True)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    refused = cli("rollback", "3", "--json")
    assert (refused.code, refused.json["message"]) == (1, "not confirmed; nothing was changed")
    assert "1 document would be restored: a.md" in refused.err
    many = [{"path": f"{number}.md", "before": "x", "after": "y"} for number in range(15)]
    routes["GET /v1/diff"] = {"items": many, "from": "3", "to": "7"}
    assert "15 documents would be restored: 0.md," in cli("rollback", "3", "--json").err
    assert "8.md, 9.md and 5 more" in cli("rollback", "3", "--json").err
    routes["GET /v1/diff"] = {"items": many[:1], "from": "3", "to": "7"}
    routes["POST /v1/rollback"] = {"operation": "8", "to": "3", "documents": ["a.md"], "records": 0}
    monkeypatch.setattr("click.confirm", lambda *_, **__: True)
    check(cli, "rollback 3", "1 document would be restored: 0.md")
    check(cli, "rollback 3 --memory mem_1", "Memory mem_1 would be restored")
    routes["POST /v1/rollback"] = {"operation": None, "to": "3", "documents": [], "records": 0}
    for words, what in (("", "everything"), (" --path a.md", "a.md"), (" --memory mem_1", "mem_1")):
        expected = f"Nothing to roll back: {what} is as it was after operation 3.\n"
        assert cli(*f"rollback 3 --yes{words}".split()).out == expected


@pytest.mark.usefixtures("daemon")
def test_remember_a_secret_and_a_known_line(cli: Cli, routes: Routes) -> None:
    """A redacted secret is reported; a line that is stored already is not added again."""
    routes["GET /v1/sync"] = STATUS
    routes["POST /v1/memories"] = Answer(TEA | {"content": "token [REDACTED:github-token]"}, 201)
    row = {"kind": "github-token", "rule": "github-token", "shape": "40:Aa0_", "count": 1, "more": False}
    row |= {"allowed": False, "firstAt": "2026-11-20T10:00:00.000Z", "lastAt": "2026-11-20T10:00:00.000Z"}
    other = {**row, "id": "rdn_" + "0" * 32, "places": [{"thread": "thr_1", "messages": [1]}]}
    row |= {"id": f"rdn_{24 * '0'}12345678", "places": [{"memory": TEA["id"]}]}
    routes["GET /v1/redactions"] = {"items": [other, row]}
    not_stored = "contained a secret, which was not stored: token [REDACTED:github-token]"
    check(cli, "remember token ghp_x", not_stored, "If it is none: reverie redactions allow 12345678, then")
    routes["POST /v1/memories"] = Answer(TEA | {"existed": True}, 200)
    known = f"remember {TEA['content']}"
    check(cli, known, f"It is already in {TEA['document']}; nothing was added.", "reverie forget 0000abcd")
    assert cli(*known.split(), "--json").json["id"] == TEA["id"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("remember", ""), "TEXT is empty"),
        (("remember", "x" * 100_001), "TEXT has 100,001 characters; 100,000 are allowed"),
        (("recall", " "), "QUERY is empty"),
        (("note", "thr_1", ""), "TEXT is empty"),
        (("schedule", "add", "hello"), "CRON must have five fields, not 1"),
    ],
)
def test_arguments_are_named_as_in_the_help(cli: Cli, words: tuple[str, ...], message: str) -> None:
    """A wrong argument is an error in the words of the command, before the daemon is asked."""
    refused = cli(*words)
    assert (refused.code, message in refused.err, "`" in refused.err) == (2, True, False)


def test_side_by_side_rows() -> None:
    """Changed lines are aligned; of a long equal stretch two lines at each end are kept."""
    same = [f"line {number}" for number in range(9)]
    rows = list(diff_rows("\n".join(["a", *same]), "\n".join(["b", *same, "c"])))

    assert rows[0] == ("|", "a", "b")
    assert rows[-1] == (">", "", "c")
    assert [left for mark, left, _ in rows if mark == " "] == [
        "line 0",
        "line 1",
        "… 5 equal lines …",
        "line 7",
        "line 8",
    ]
