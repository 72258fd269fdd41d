"""Another folder in place of a space's own is accepted on request, and nothing is lost."""

from __future__ import annotations

import json
import os
import shutil
import subprocess

import pytest

from reverie.errors import Conflict
from support.daemon_folder import Tree, tree
from support.waiting import suspended, wait_until

NAMES = [f"facts/n{number:02}.md" for number in range(12)]
IGNORED = ".reverie/\narchives/\nmemory/\nMEMORY-INDEX.json\n"
MARK = ".reverie/space.json"


def noted(name: str) -> str:
    """Return the first text of a document."""
    return f"- Note: {name} is about cranes\n"


def filled(own: Tree) -> None:
    """Create twelve documents that folder and store agree on."""
    for name in NAMES:
        own.client.put_document(name, noted(name))
    own.agree()


def refused(own: Tree) -> Conflict:
    """Return the error of a sync of the stopped folder."""
    with pytest.raises(Conflict) as stopped:
        own.client.sync_now()
    assert "reverie sync now --accept-folder" in str(stopped.value.hint)
    assert "--accept-folder" in str(own.client.sync_status().hint)
    return stopped.value


def test_a_folder_cleaned_by_git_can_be_accepted() -> None:
    """`git clean` removes the ignored marker file; one command accepts the folder, also after a restart."""
    with tree() as own:
        filled(own)

        def git(*args: str) -> None:
            who = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
            subprocess.run(["git", *who, *args], cwd=own.root, check=True, capture_output=True)

        git("init")
        own.path(".gitignore").write_text(IGNORED)
        git("add", "-A")
        git("commit", "-m", "x")
        git("clean", "-fdx")
        assert refused(own).details["reason"] == "root_unmarked"
        own.daemon.stop()
        own.daemon.start()
        assert refused(own).details["reason"] == "root_unmarked"
        before = own.stamps()
        with pytest.raises(Conflict):
            own.client.sync_now(accept_deletions=True)

        for _ in range(20):
            os.makedirs(own.root / "a/b/c/d/e/f")  # noqa: PTH103 - as git and people do it, one right after another
            shutil.rmtree(own.root / "a")

        done = own.client.sync_now(accept_folder=True)

        assert all(json.loads(line)["event"] for line in own.daemon.log_text().splitlines())
        assert (done.status.state, done.adopted, done.deleted, done.conflicts) == ("ok", 0, 0, 0)
        assert own.stamps() == before
        assert own.path(MARK).exists()
        assert own.path("MEMORY-INDEX.json").exists()
        own.agree()
        assert {each.path for each in own.client.documents(limit=100).items} >= set(NAMES)


@pytest.mark.parametrize(("how", "restarted"), [("gone", False), ("empty", True)])
def test_missing_files_are_written(how: str, *, restarted: bool) -> None:
    """After `--accept-folder` missing files are written instead of deleted, and changes in the folder are noticed."""
    with tree(REVERIE_SYNC_RESCAN_SECONDS="600") as own:
        filled(own)
        with suspended(own.daemon.pid):  # else it may look at a folder that is half gone, which is another case
            shutil.rmtree(own.root)
            if how == "empty":
                own.root.mkdir()
        if restarted:
            own.daemon.stop()
            own.daemon.start()
        assert refused(own).details["reason"] == ("root_missing" if how == "gone" else "root_empty")
        own.client.put_document(NAMES[0], "- Note: new since\n")

        done = own.client.sync_now(accept_folder=True)

        # How many of the files this call wrote is no matter: the daemon's own look may come first and write them.
        assert (done.status.state, done.deleted) == ("ok", 0)
        assert own.read(NAMES[0]).endswith("- Note: new since\n")
        assert all(noted(name) in own.read(name) for name in NAMES[1:])
        own.save(NAMES[1], "- Note: saved there\n")
        wait_until(lambda: "- Note: saved there\n" in str(own.stored(NAMES[1])), "a save that nobody asked to look for")
        own.daemon.stop()
        own.daemon.start()
        own.agree()
        own.path(NAMES[2]).unlink()
        own.agree()
        assert own.stored(NAMES[2]) is None  # a file that was there and is gone is deleted, as ever


def test_files_that_differ_lose_nothing_of_either_side() -> None:
    """After `--accept-folder` edits of both sides are merged, an old copy reverts nothing, new files are stored."""
    with tree() as own:
        filled(own)
        old = own.read(NAMES[1])
        for name in NAMES[:3]:
            own.client.append_entry(name, "- Ann: likes tea")
        own.agree()
        own.path(MARK).unlink()
        refused(own)
        own.client.append_entry(NAMES[0], "- Agent: wrote meanwhile")
        own.save(NAMES[0], own.read(NAMES[0]) + "- Person: wrote meanwhile\n")
        own.save(NAMES[1], old)
        own.save(NAMES[2], "- Something else altogether\n")
        own.save(NAMES[3], "")
        own.client.delete_document(NAMES[4])
        own.save("facts/new.md", "- New: here\n")

        done = own.client.sync_now(accept_folder=True)

        assert (done.status.state, done.deleted) == ("ok", 0)
        own.agree()
        for line in ("- Agent: wrote meanwhile", "- Person: wrote meanwhile", "- Ann: likes tea"):
            assert line in own.read(NAMES[0])
        assert "- Ann: likes tea" in own.read(NAMES[1])
        assert own.read(NAMES[4]).endswith(noted(NAMES[4]))
        assert own.stored("facts/new.md") is not None
        words = "".join(own.client.document(each.path).content for each in own.client.documents(limit=100).items)
        assert "- Something else altogether" in words
        assert all(noted(name) in words for name in NAMES)
        assert "- Ann: likes tea" in own.read(NAMES[2])
        assert noted(NAMES[3]) in own.read(NAMES[3])
        assert own.client.conflicts().items == []


def test_a_folder_of_another_is_refused_until_its_mark_is_removed() -> None:
    """Another space's folder is not accepted until its mark is removed by the `rm` command in the hint."""
    with tree() as own:
        filled(own)
        mark = own.path(MARK)
        mark.write_text(json.dumps({**json.loads(mark.read_text()), "space": "another"}))
        own.path(NAMES[0]).unlink()

        with pytest.raises(Conflict) as stopped:
            own.client.sync_now(accept_folder=True)

        assert stopped.value.details["reason"] == "root_of_another_space"
        said = str(stopped.value.hint)
        assert f"`rm {mark}`" in said
        assert "reverie sync now --accept-folder" in said
        assert not own.path(NAMES[0]).exists()
        mark.unlink()
        assert own.client.sync_now(accept_folder=True).status.state == "ok"
        assert noted(NAMES[0]) in own.read(NAMES[0])


def test_accepting_the_own_folder_changes_nothing() -> None:
    """Accepting a space's own folder keeps its deletions; with a file at the folder's path it is a Conflict."""
    with tree() as own:
        filled(own)
        own.path(NAMES[0]).unlink()
        own.client.sync_now(accept_folder=True)
        own.agree()
        assert own.stored(NAMES[0]) is None
        away = own.root.with_name("away")
        own.root.rename(away)
        own.root.write_text("no folder")
        with pytest.raises(Conflict, match="is not a folder"):
            own.client.sync_now(accept_folder=True)
        own.root.unlink()
        away.rename(own.root)
        assert own.client.sync_now().status.state == "ok"


@pytest.mark.parametrize("how", ["gone", "another"])
def test_the_status_shows_a_missing_folder_without_a_scan(how: str) -> None:
    """The status shows a missing folder without a scan, and no error once it is back."""
    with tree(REVERIE_SYNC_RESCAN_SECONDS="600") as own:
        filled(own)
        assert own.client.sync_status().state == "ok"
        away = own.root.with_name("away")
        own.root.rename(away)
        if how == "another":
            own.root.mkdir()
            own.path("x.md").write_text("- Somebody\n")

        found = own.client.sync_status()

        assert (found.state, "--accept-folder" in str(found.hint)) == ("stopped", True)
        shutil.rmtree(own.root, ignore_errors=True)
        away.rename(own.root)
        assert own.client.sync_now().status.state == "ok"
