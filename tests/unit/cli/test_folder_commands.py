"""The commands about the folder and single memories, against a daemon that answers: what people and machines read."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest
from rich.cells import cell_len

from reveried.cli.two_column_diff import rows
from support.cli import check
from support.fake_daemon import Answer, Seen, envelope
from support.pages import page

if TYPE_CHECKING:
    from pathlib import Path

    from support.cli import Cli, Routes

AT = "2026-11-21T09:30:00.000Z"
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
MEMORY = {
    "id": "mem_0000abcd",
    "type": "fact",
    "content": "tea is green",
    "tags": [],
    "document": "facts/project.md",
    "createdAt": AT,
    "updatedAt": AT,
}


def outcome(status: dict[str, Any], **counts: int) -> dict[str, Any]:
    return {"read": 2, "adopted": 0, "written": 0, "deleted": 0, "conflicts": 0, "status": status} | counts


def body(seen: Seen) -> Any:
    return json.loads(seen.body)


@pytest.mark.usefixtures("daemon")
def test_how_the_folder_stands(cli: Cli, routes: Routes) -> None:
    """In words, and for machines; a stopped folder ends with 4 and says what to type."""
    routes["GET /v1/sync"] = STATUS | {"refused": [REFUSED]}
    check(cli, "sync status", "/r/root/default", "1; reverie sync conflicts", "facts/link.md", "hard link", "copy it")
    assert cli("sync", "status", "--json").json["state"] == "ok"

    routes["GET /v1/sync"] = STOPPED
    done = cli("sync", "status")
    assert done.code == 4
    assert "7 files are gone at once" in done.out
    assert "bring them back" in done.out


@pytest.mark.usefixtures("daemon")
def test_a_look_at_the_folder(cli: Cli, routes: Routes) -> None:
    """What it led to; what was asked goes over the wire."""
    asked = []

    def answer(seen: Seen) -> Any:
        asked.append(body(seen))
        return outcome(STATUS, adopted=2, written=1)

    routes["POST /v1/sync"] = answer
    check(cli, "sync now --deep", "2 files read", "2 taken in", "1 written")
    routes["POST /v1/sync"] = outcome(STATUS)
    check(cli, "sync now", "agree")
    assert asked == [{"deep": True}]
    routes["POST /v1/sync"] = answer
    check(cli, "sync now --accept-folder")
    assert asked[1:] == [{"acceptFolder": True}]
    routes["POST /v1/sync"] = outcome(STOPPED)
    assert cli("sync", "now", "--json").code == 4


@pytest.mark.usefixtures("daemon")
def test_a_look_waits_for_what_may_come_back(cli: Cli, routes: Routes) -> None:
    """A file that is gone is not agreed on yet; what came of it is told with the rest."""
    answers = [outcome(STATUS | {"missing": ["facts/a.md"]}, adopted=1), outcome(STATUS, deleted=1)]
    routes["POST /v1/sync"] = lambda _: answers.pop(0)
    check(cli, "sync now", "1 taken in, 1 deleted")
    assert answers == []


@pytest.mark.usefixtures("daemon")
@pytest.mark.parametrize("more", [{"pending": 3}, {"refused": [REFUSED]}, STOPPED])
def test_a_look_says_that_both_agree_only_if_they_do(cli: Cli, routes: Routes, more: dict[str, Any]) -> None:
    """Else how they stand."""
    routes["POST /v1/sync"] = outcome(STATUS | more)
    said = cli("sync", "now").out
    assert "agree" not in said
    assert "Waiting" in said or "facts/link.md" in said or "gone at once" in said


@pytest.mark.usefixtures("daemon")
def test_conflicts_are_listed_and_shown(cli: Cli, routes: Routes) -> None:
    """A table; one of them with both texts side by side, found by the end of its id."""
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
def test_wide_characters_stand_in_straight_columns(cli: Cli, routes: Routes) -> None:
    """They take two cells each, and a line of them is as long as it looks."""
    routes["GET /v1/conflicts"] = page(CONFLICT)
    routes["GET /v1/conflicts/cnf_00012345"] = CONFLICT | {
        "fileText": f"- {'日本語' * 40}\n- tea\n",
        "storeText": "- cook\n- coffee\n",
        "differences": [],
    }
    lines = cli("sync", "conflicts", "12345").out.splitlines()
    places = {cell_len(line[: line.index(" | ")]) for line in lines if " | " in line}
    assert len(places) == 1, lines
    assert max(cell_len(line.split(" |")[0]) for line in lines if "日" in line) <= max(places)
    done = cli("sync", "conflicts", "nothing")
    assert (done.code, "no open conflict ends with nothing" in done.err) == (1, True)


@pytest.mark.usefixtures("daemon")
def test_a_conflict_is_settled(cli: Cli, routes: Routes, tmp_path: Path) -> None:
    """By a side or by a text from a file; one of the two must be said."""
    asked = []

    def answer(seen: Seen) -> Any:
        asked.append(body(seen))
        return {"id": "cnf_00012345", "path": "facts/user.md", "etag": "e", "operation": "9"}

    routes["GET /v1/conflicts"] = page(CONFLICT)
    routes["POST /v1/conflicts/cnf_00012345/resolve"] = answer
    check(cli, "sync resolve 12345 --keep both", "Settled: facts/user.md", "reverie undo 9")
    text = tmp_path / "mine.md"
    text.write_text("mine\n")
    assert cli("sync", "resolve", "12345", "--content", str(text), "--json").json["operation"] == "9"
    assert asked == [{"keep": "both"}, {"content": "mine\n"}]
    assert cli("sync", "resolve", "12345").code == 2
    assert cli("sync", "resolve", "12345", "--content", str(tmp_path / "absent")).code == 2
    assert cli("sync", "resolve", "12345", "--keep", "mine").code == 2


@pytest.mark.usefixtures("daemon")
def test_something_is_remembered_and_forgotten(cli: Cli, routes: Routes) -> None:
    """In the person's name; how to take it back is said; an id may be given by its end."""
    asked = []

    def answer(seen: Seen) -> Answer:
        asked.append(body(seen))
        return Answer(MEMORY, 201)

    routes["POST /v1/memories"] = answer
    routes["GET /v1/sync"] = STATUS
    check(cli, "remember tea is green --tag drinks -d facts/project.md", "facts/project.md", "reverie forget 0000abcd")
    assert asked == [
        {"content": "tea is green", "tags": ["drinks"], "document": "facts/project.md", "author": "person"}
    ]
    assert cli("remember", "x", "--json").json["id"] == "mem_0000abcd"
    assert cli("remember", "x", "--type", "secret").code == 2

    cli("remember", "tag", "every", "build", "#ci", "#release", "--tag", "git")
    assert (asked[-1]["content"], asked[-1]["tags"]) == ("tag every build", ["ci", "release", "git"])
    cli("remember", "issue #12 is a *tag* of its own")
    assert (asked[-1]["content"], asked[-1].get("tags", [])) == ("issue #12 is a *tag* of its own", [])

    routes["GET /v1/memories"] = page(MEMORY)
    routes["DELETE /v1/memories/mem_0000abcd"] = {
        "id": "mem_0000abcd",
        "document": "facts/project.md",
        "operation": "4",
    }
    check(cli, "forget 0000abcd", "tea is green", "reverie undo 4")
    assert cli("forget", "abcd", "--json").json["operation"] == "4"
    assert cli("forget", "zzz").code == 1
    routes["GET /v1/memories"] = page(MEMORY, MEMORY | {"id": "mem_1111abcd"})
    assert "2 memories end with abcd" in cli("forget", "abcd").err


@pytest.mark.usefixtures("daemon")
@pytest.mark.parametrize(
    "status", [STOPPED | {"pending": 1}, STATUS | {"refused": [REFUSED | {"path": "facts/project.md"}]}]
)
def test_a_file_that_does_not_follow_is_told(cli: Cli, routes: Routes, status: dict[str, Any]) -> None:
    """What is remembered or forgotten while its file cannot be written is kept, and the person is told to look."""
    routes["POST /v1/memories"] = Answer(MEMORY, 201)
    routes["GET /v1/memories"] = page(MEMORY)
    routes["DELETE /v1/memories/mem_0000abcd"] = {"id": "x", "document": "facts/project.md", "operation": "4"}
    for other in (STATUS | {"refused": [REFUSED]}, STOPPED):  # another's file; deletions that wait for a word
        routes["GET /v1/sync"] = other
        assert "could not be written" not in cli("remember", "tea").out
    routes["GET /v1/sync"] = status
    check(cli, "remember tea", "Remembered in facts/project.md", "could not be written yet. Next: reverie sync status")
    check(cli, "forget 0000abcd", "Forgotten: tea", "could not be written yet. Next: reverie sync status")


@pytest.mark.usefixtures("daemon")
def test_what_changed_between_two_operations(cli: Cli, routes: Routes) -> None:
    """As a diff that people know; nothing is said as such."""
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
def test_a_change_of_line_endings_is_seen(
    cli: Cli, routes: Routes, before: str | None, after: str, says: list[str]
) -> None:
    """They are shown where the two texts do not end alike, or differ in nothing else."""
    items = [{"path": "facts/user.md", "before": before, "after": after}]
    routes["GET /v1/diff"] = {"items": items, "from": "3", "to": "7"}
    assert cli("diff", "3").out.splitlines()[3:] == says


@pytest.mark.usefixtures("daemon")
def test_a_return_to_an_operation(cli: Cli, routes: Routes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked for first, with what would go back; a no changes nothing, and --yes does not ask."""
    routes["GET /v1/operations/3"] = {"id": "3", "seq": 3, "at": AT, "who": "o", "why": "w"}
    routes["GET /v1/diff"] = {"items": [{"path": "a.md", "before": "x", "after": "y"}], "from": "3", "to": "7"}
    routes["POST /v1/rollback"] = {"operation": "8", "to": "3", "documents": ["a.md"], "records": 0}
    check(cli, "rollback 3 --yes", "Back at operation 3: 1 document changed", "reverie undo 8")
    assert cli("rollback", "3", "--json").json["operation"] == "8"
    routes["POST /v1/rollback"] = envelope("internal", "it was done without being confirmed", status=500)
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    refused = cli("rollback", "3")
    assert (refused.code, "nothing was changed" in refused.err, "--yes" in refused.err) == (1, True, True)
    routes["POST /v1/rollback"] = {"operation": "8", "to": "3", "documents": ["a.md"], "records": 0}
    monkeypatch.setattr("typer.confirm", lambda *_, **__: True)
    check(cli, "rollback 3", "1 document would go back: a.md")
    check(cli, "rollback 3 --memory mem_1", "Memory mem_1 would go back")
    routes["POST /v1/rollback"] = {"operation": None, "to": "3", "documents": [], "records": 0}
    for words, what in (("", "all"), (" --path a.md", "a.md"), (" --memory mem_1", "mem_1")):
        said = f"Nothing to take back: {what} is as it was after operation 3.\n"
        assert cli(*f"rollback 3 --yes{words}".split()).out == said


@pytest.mark.usefixtures("daemon")
def test_versions_of_one_thing(cli: Cli, routes: Routes) -> None:
    """A document by its path, a memory by its id, newest first; and the document as it was."""
    entry = {"at": AT, "who": "owner", "why": "document.write"}
    routes["GET /v1/history/facts/user.md"] = page(
        {"operation": "1", "etag": "e", "size": 3, "summary": "name", **entry}, {"operation": "4", **entry}
    )
    check(cli, "log facts/user.md", "deleted", "name", "reverie show facts/user.md --at OP")
    routes["GET /v1/memories/mem_1/history"] = page({"version": 1, "operation": "2", "memory": MEMORY, **entry})
    check(cli, "log mem_1", "tea is green", "reverie rollback OP --memory mem_1")
    assert cli("log", "mem_1", "--json").json["items"][0]["operation"] == "2"

    text = {"path": "facts/user.md", "size": 3, "etag": "e", "updatedAt": AT, "content": "- a"}
    routes["GET /v1/documents/facts/user.md"] = lambda seen: text | {"content": f"- at {seen.query.get('at', 'now')}"}
    assert cli("show", "facts/user.md", "--at", "3").out == "- at 3"
    assert cli("show", "facts/user.md", "--json").json["content"] == "- at now"


def test_equal_stretches_are_left_out() -> None:
    """Lines that belong together stand beside each other; two lines of what is equal are kept on both sides."""
    same = [f"line {number}" for number in range(9)]
    found = list(rows("\n".join(["a", *same]), "\n".join(["b", *same, "c"])))

    assert found[0] == ("|", "a", "b")
    assert found[-1] == (">", "", "c")
    assert [left for mark, left, _ in found if mark == " "] == [
        "line 0",
        "line 1",
        "… 5 lines that are the same …",
        "line 7",
        "line 8",
    ]
