"""A stopped sync: no unintended deletion, and a save that is not text does not stop the sync of other files."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest

from reverie.errors import Conflict
from reveried.sync.loop import RECORD_S, SETTLED_S
from support.daemon import bearer, check_refused
from support.daemon_folder import tree
from support.waiting import suspended, wait_until

NAMES = [f"facts/n{number:02}.md" for number in range(12)]
QUIET_S = 0.2  # QUICK


def test_an_agents_reads_confirm_no_deletion() -> None:
    """An agent's reads of missing files do not confirm their deletion."""
    with tree() as own:
        for name in NAMES:
            own.client.put_document(name, f"- Note: {name}\n")
        own.agree()
        with suspended(own.daemon.pid):  # else the first few may be believed while the others are still there
            for name in NAMES[:10]:
                own.path(name).unlink()
        assert own.client.sync_now().status.state == "stopped"

        for _ in range(3):
            for name in NAMES[:2]:
                assert own.daemon.ask("POST", "/v1/tools/memory_read", {"input": {"path": name}}).status == 200
                own.client.append_entry(NAMES[11], f"- Read: {name}")
            time.sleep(2 * QUIET_S)

        assert {each.path for each in own.client.documents(limit=100).items} >= set(NAMES)
        assert own.client.sync_status().state == "stopped"
        assert own.client.sync_now(accept_deletions=True).deleted == 10
        own.agree()
        assert {each.path for each in own.client.documents(limit=100).items} & set(NAMES) == set(NAMES[10:])


@pytest.mark.parametrize("answer", ["acceptDeletions", "acceptOlder", "putBack", "acceptFolder"])
def test_an_agents_token_decides_nothing(answer: str) -> None:
    """An agent's token scans, and is refused every decision about missing files and the folder; a person's decides."""
    with tree() as own:
        agent, person = (bearer(str(own.client.create_token("default", agent=name).token)) for name in ("mole", None))
        for name in NAMES:
            own.client.put_document(name, f"- Note: {name}\n")
        own.agree()
        with suspended(own.daemon.pid):
            for name in NAMES[:10]:
                own.path(name).unlink()

        check_refused(own.daemon.ask("POST", "/v1/sync", {answer: True}, agent), 403, "forbidden")
        scanned = own.daemon.ask("POST", "/v1/sync", {"deep": True}, agent)
        assert (scanned.status, scanned.json()["status"]["state"]) == (200, "stopped")
        assert {each.path for each in own.client.documents(limit=100).items} >= set(NAMES)
        assert own.daemon.ask("POST", "/v1/sync", {answer: True}, person).status == 200


def test_accepted_deletions_hold_for_one_scan() -> None:
    """Accepted deletions hold for one scan; where half of the files are missing later, sync stops again."""
    with tree() as own:
        for name in NAMES:
            own.client.put_document(name, f"- Note: {name}\n")
        own.agree()
        away = own.root.with_name("away")
        own.root.rename(away)
        with pytest.raises(Conflict):
            own.client.sync_now(accept_deletions=True)
        for name in NAMES[:10]:
            (away / name).unlink()
        away.rename(own.root)

        assert own.client.sync_now().status.state == "stopped"
        time.sleep(2 * QUIET_S)
        assert own.client.sync_now().status.state == "stopped"
        assert {each.path for each in own.client.documents(limit=100).items} >= set(NAMES)


def test_a_late_write_that_is_no_text_goes_to_a_conflict_copy() -> None:
    """A late write in Latin-1 goes to a conflict copy with a reason, and all else is synced, also after restarts."""
    with tree() as own:
        own.client.put_document("facts/user.md", "- Name: Ada\n")
        own.agree()
        with own.path("facts/user.md").open("rb") as opened:
            own.client.put_document("facts/user.md", "- Name: Ada\n- Tea: green\n")
            Path(f"/proc/self/fd/{opened.fileno()}").write_bytes("- Name: Zoë\n".encode("latin-1"))
        wait_until(lambda: own.client.sync_now().status.refused, "the late write")

        [refused] = own.client.sync_status().refused
        assert (refused.reason, "sync-conflict" in refused.path) == ("not_utf8", True)
        assert own.path(refused.path).read_bytes() == "- Name: Zoë\n".encode("latin-1")
        own.client.append_entry("facts/user.md", "- City: Oslo")
        assert own.read("facts/user.md").endswith("- Tea: green\n- City: Oslo\n")
        assert all(b"Zo\xeb" not in each.read_bytes() for each in (own.root / ".reverie/swap").iterdir())
        own.daemon.stop()
        own.daemon.start()
        own.client.append_entry("facts/user.md", "- Dog: Rex")
        assert "- Dog: Rex\n" in own.read("facts/user.md")


def test_the_older_of_two_colliding_names_is_read_after_a_restart() -> None:
    """Of two colliding names the older one is read, also after a restart."""
    with tree() as own:
        own.client.put_document("facts/user.md", "- Name: Ada\n")
        own.agree()
        shutil.copyfile(own.path("facts/user.md"), own.path("facts/User.md"))
        for _ in range(2):
            status = own.client.sync_now().status
            assert [(each.path, each.reason) for each in status.refused] == [("facts/User.md", "collision")]
            own.daemon.stop()
            own.daemon.start()
        own.client.append_entry("facts/user.md", "- Tea: green")
        assert "- Tea: green\n" in own.read("facts/user.md")


def test_an_unreadable_projection_is_reported() -> None:
    """An unreadable node in place of a projection is reported, and the projection is back once it is gone."""
    with tree() as own:
        own.client.put_document("facts/user.md", "- Name: Ada\n")
        own.agree()
        index = own.path("MEMORY-INDEX.json")
        index.write_bytes(b"\xff\xfe")
        own.client.append_entry("facts/user.md", "- Tea: green")
        own.client.sync_now()

        refused = {each.path: each.reason for each in own.client.sync_status().refused}
        assert refused == {"MEMORY-INDEX.json": "not_utf8"}
        assert index.read_bytes() == b"\xff\xfe"
        index.unlink()
        own.client.sync_now()
        assert b"facts/user.md" in index.read_bytes()
        assert own.client.sync_status().refused == []


def test_an_edited_projection_is_reported_while_its_copy_exists() -> None:
    """An edited projection is in the status until its copy is renamed or deleted, also after a restart."""
    with tree() as own:
        own.client.put_document("facts/user.md", "- Name: Ada\n")
        own.agree()
        for number in range(2):
            own.path("MEMORY-INDEX.json").write_text(f"{number}", encoding="utf-8")
            own.client.append_entry("facts/user.md", f"- Number: {number}")
            own.client.sync_now()
        asides = sorted(own.root.glob("MEMORY-INDEX.sync-conflict-*.json"))
        assert {each.read_text(encoding="utf-8") for each in asides} == {"0", "1"}
        assert [each.reason for each in own.client.sync_status().refused] == 2 * ["projection"]
        asides[0].rename(own.root / "mine.json")
        [refusal] = own.client.sync_status().refused
        assert asides[1].name in refusal.hint

        own.daemon.stop()
        own.daemon.start()
        own.client.sync_now()
        assert own.client.sync_status().refused == [refusal]
        asides[1].unlink()
        assert own.client.sync_status().refused == []


@pytest.mark.parametrize("who", ["agent", "person"])
def test_a_folder_that_was_away_is_synced_again(who: str) -> None:
    """A folder that is moved away and back is synced by itself, whichever component noticed first that it was gone.

    Neither the periodic scan, of every hour, nor the upkeep behind earlier writes helps.
    """
    with tree(REVERIE_SYNC_RESCAN_SECONDS="3600") as own:
        own.client.put_document("facts/user.md", "- Name: Ada\n")
        own.agree()
        index = own.path("MEMORY-INDEX.json")
        wait_until(lambda: time.time() - index.stat().st_mtime > 2 * (SETTLED_S + RECORD_S), "the end of the upkeep")
        away = own.root.with_name("away")
        own.root.rename(away)
        if who == "agent":
            own.client.append_entry("facts/user.md", "- Tea: green")
        else:
            with pytest.raises(Conflict):
                own.client.sync_now()
        assert own.client.sync_status().state == "stopped"
        away.rename(own.root)

        wait_until(lambda: own.client.sync_status().state == "ok", "the folder's sync")
        wait_until(lambda: own.client.sync_status().pending == 0, "what waited")
        own.save("facts/user.md", own.read("facts/user.md").replace("Ada", "Eva"))
        wait_until(lambda: "- Name: Eva\n" in str(own.stored("facts/user.md")), "the next save")
