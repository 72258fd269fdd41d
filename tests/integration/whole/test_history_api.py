"""Operations, undo, archives, dreams, schedules, backups and jobs over the API."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from reverie import wire
from reverie.client import Client
from reverie.errors import Conflict, NotFound, ReverieError, ValidationError
from reverie.store.backup import restore
from reverie.store.check import run_check
from reveried.cli.send_sessions import import_file
from support.daemon import Daemon, bearer, check_refused, running_daemon, scratch_home
from support.pages import all_items, newest_operation, stored_messages
from support.stores import add_token
from support.story import session_file


def learnt(client: Client, folder: Path, number: int) -> str:
    """Import and distill a session; return its thread."""
    thread = str(import_file(client, session_file(folder, number, turns=5), program="claude-code").thread)
    client.distill(thread)
    return thread


def state(daemon: Daemon, client: Client) -> dict[str, Any]:
    """Return all that a distillation changes, except archives and the index files that list them."""
    root = daemon.folder
    texts = {
        item.path: client.document(item.path).content
        for item in client.documents().items
        if item.path != "MEMORY-INDEX.json"
    }
    return {
        "memories": client.memories(limit=1000).items,
        "documents": texts,
        "files": {path: (root / path).read_text("utf-8") for path in texts},
        "facts": sorted(path.name for path in (root / "facts").iterdir()),
    }


def thread_state(client: Client, thread: str) -> dict[str, Any]:
    """Return the records of a thread that a distillation changes."""
    record = client.thread(thread)
    return {
        "distillations": record.distillations,
        "tokens": record.context.tokens,
        "summaries": client.summaries(thread).items,
        "digest": client.digest(thread).text,
        "context": client.context(thread, query="nothing of this kind").request.messages,
        "messages": stored_messages(client, thread),
    }


def last(client: Client, action: str) -> str:
    """Return the newest operation of a kind."""
    return next(operation.id for operation in client.operations(limit=1000).items if operation.why == action)


def test_undo_of_a_distillation(daemon: Daemon, client: Client, tmp_path: Path) -> None:
    """An undo restores memories, documents, digest, summaries and thread; the distillation can be made again."""
    learnt(client, tmp_path, 1)
    before = state(daemon, client)
    thread = str(import_file(client, session_file(tmp_path, 2, turns=5), program="claude-code").thread)
    fresh = thread_state(client, thread)
    distillation = client.distill(thread)
    after = state(daemon, client)
    assert after["memories"] != before["memories"]
    operation = last(client, "thread.distill")
    undone = client.undo(operation)

    assert undone.undone == operation
    assert state(daemon, client) == before
    taken_back = thread_state(client, thread)
    assert taken_back["tokens"] <= fresh["tokens"]
    assert {**taken_back, "tokens": 0} == {**fresh, "tokens": 0}
    shown = client.operation(str(undone.operation))
    assert (shown.why, shown.undoes, shown.undoable) == (f"undo {operation}", operation, True)
    assert not client.operation(operation).undoable

    again = client.distill(thread)
    assert (again.archive, again.number) == (distillation.archive, 1)
    redone = state(daemon, client)
    assert [memory.content for memory in redone["memories"]] == [memory.content for memory in after["memories"]]
    assert redone["documents"].keys() == after["documents"].keys()


def test_token_counts_follow_undo_and_redo(client: Client, tmp_path: Path) -> None:
    """The context's token count follows undo and redo of a distillation, and messages in between are added."""
    thread = str(import_file(client, session_file(tmp_path, 12, turns=5), program="claude-code").thread)
    full_tokens = client.thread(thread).tokens  # by our count: the model's own account of it is not kept
    client.distill(thread)
    small = client.thread(thread).context.tokens
    undone = client.undo(last(client, "thread.distill")).operation
    assert client.thread(thread).context.tokens == full_tokens != small
    redone = client.undo(str(undone)).operation
    assert client.thread(thread).context.tokens == small
    added = client.append(thread, [{"role": "user", "content": "and now some more of it"}]).context.tokens - small
    client.undo(str(redone))
    assert client.thread(thread).context.tokens == full_tokens + added


def test_a_schedule_cannot_be_undone(client: Client) -> None:
    """The operation of a schedule is not offered for undo, and an undo by its id is a conflict."""
    client.create_thread(id="settled")
    client.add_note("settled", "kept", "task")
    schedule = client.add_schedule("0 3 * * *")
    operation = newest_operation(client)
    assert [change.kind for change in operation.changes] == ["schedule"]
    assert not operation.undoable
    with pytest.raises(Conflict, match=r"\(schedule\) cannot be undone$"):
        client.undo(operation.id)
    client.remove_schedule(schedule.id)
    offered = next(operation for operation in client.operations(limit=10).items if operation.undoable)
    assert [change.kind for change in offered.changes] == ["note"]


def test_undo_skips_projections(client: Client) -> None:
    """After a new memory, undo offers that operation, not the one that wrote the index."""
    client.sync_now()
    client.remember(wire.CreateMemory("The gate opens at dawn."))
    client.sync_now()
    operations = client.operations(limit=10).items
    listed, *_ = [operation for operation in operations if operation.why == "memory.list"]
    assert int(listed.id) > int(last(client, "memory.add"))
    assert next(operation.why for operation in operations if operation.undoable) == "memory.add"
    with pytest.raises(Conflict, match=r"brought the list in MEMORY\.md up to date") as caught:
        client.undo(listed.id)
    assert "undo the operation before it" in (caught.value.hint or "")
    client.undo(last(client, "memory.add"))
    assert "The gate opens at dawn." not in {memory.content for memory in client.memories(limit=1000).items}


def test_a_deleted_thread_stays_deleted(client: Client, tmp_path: Path) -> None:
    """Deletions in a thread before its own deletion cannot be undone into a thread of the same id."""
    thread = learnt(client, tmp_path, 13)
    distilled = last(client, "thread.distill")
    note = client.add_note(thread, "an old note", "task")
    client.delete_note(thread, note.id)
    removed = newest_operation(client).id
    undone = client.undo(distilled).operation
    client.delete_thread(thread, confirm=thread)
    for anew in (False, True):
        if anew:
            client.create_thread(id=thread)
        for operation in (undone, distilled, removed):
            with pytest.raises(Conflict, match="changed since" if anew else "is deleted"):
                client.undo(str(operation))
    assert client.notes(thread).items == []
    assert client.summaries(thread).items == []


def test_undo_of_changed_records_is_a_conflict(client: Client, tmp_path: Path) -> None:
    """An operation whose records changed since is a conflict that names them; nothing changes."""
    thread = learnt(client, tmp_path, 3)
    first = last(client, "thread.distill")
    client.append(thread, [{"role": "user", "content": f"then part_{number}?"} for number in range(14)])
    client.distill(thread)
    before = newest_operation(client).id
    with pytest.raises(Conflict, match="changed since") as caught:
        client.undo(first)
    assert caught.value.details["keys"]
    assert newest_operation(client).id == before


def test_messages_cannot_be_undone(client: Client) -> None:
    """Appends and deletions of threads are marked as not undoable, and refused."""
    client.create_thread(id="said")
    client.append("said", [{"role": "user", "content": "x"}])
    appended = newest_operation(client)
    client.delete_thread("said", confirm="said")
    deleted = newest_operation(client)
    for operation in (appended, deleted):
        assert not operation.undoable
        with pytest.raises((Conflict, ValidationError)):
            client.undo(operation.id)


def test_every_undoable_operation_can_be_undone(client: Client) -> None:
    """Newest first, every operation marked undoable is undone, or the refusal names the changed records.

    Those that were undone before are not marked.
    """
    client.remember(wire.CreateMemory("The bell rings at noon."))
    operations = client.operations(limit=1000).items
    undone = {operation.undoes for operation in operations}
    outcomes = [(item, outcome(client, item.id)) for item in operations if item.undoable or item.id not in undone]
    for operation, refusal in outcomes:
        assert operation.undoable == (refusal is None or "changed since" in refusal or "is deleted" in refusal), (
            operation,
            refusal,
        )
    assert any(refusal is None for _, refusal in outcomes)


def outcome(client: Client, operation: str) -> str | None:
    """Try to undo an operation: return the error's message, or None if it was undone."""
    try:
        client.undo(operation)
    except ReverieError as error:
        return error.message
    return None


def test_an_undo_with_a_key_is_made_once(client: Client) -> None:
    """A repeated undo with its key has the same answer and makes one operation."""
    client.create_thread(id="undone")
    client.add_note("undone", "to be taken back", "task")
    operation = newest_operation(client).id
    first = client.undo(operation, key="undo once")
    assert client.undo(operation, key="undo once") == first
    assert newest_operation(client).id == first.operation
    assert client.notes("undone").items == []


def test_operations_are_listed_to_the_end(client: Client) -> None:
    """Newest first, without gaps, each with actor, reason and parent."""
    client.create_thread()
    operations = client.operations(limit=1000).items
    assert [operation.seq for operation in operations] == list(range(len(operations), 0, -1))
    assert all_items(client.operations, 7) == operations
    assert {operation.who for operation in operations} >= {"owner"}
    assert all(client.operation(operation.id) == operation for operation in operations[:20])


def test_an_unknown_operation_is_not_found(daemon: Daemon) -> None:
    """An unknown operation number is a 404, and a value that is no valid number a 400; to read and to undo it."""
    for method, path in (("GET", ""), ("POST", "/undo")):
        check_refused(daemon.ask(method, f"/v1/operations/999999{path}"), 404, "not_found")
        for odd in ("x", "-1", "1.0", "9" * 19, "%C2%B2"):
            check_refused(daemon.ask(method, f"/v1/operations/{odd}{path}"), 400, "validation_error")


def test_archives_are_addressed_by_their_bytes(client: Client, daemon: Daemon, tmp_path: Path) -> None:
    """Each listed archive has its SHA-256 as address; archives stay when their operation is undone."""
    learnt(client, tmp_path, 4)
    archives = client.archives(limit=1000).items
    assert archives
    for archive in archives:
        body = client.archive(archive.sha256)
        assert hashlib.sha256(body).hexdigest() == archive.sha256
        assert archive.size == len(body)
    assert client.archives(limit=1).items == archives[:1]
    client.undo(last(client, "thread.distill"))
    assert client.archives(limit=1000).items == archives
    for odd in ("0" * 64, "x", "A" * 64, f"{archives[0].sha256}0"):
        check_refused(daemon.ask("GET", f"/v1/archives/{odd}"), 404, "not_found")


def test_dreams_are_listed_and_shown(client: Client, tmp_path: Path) -> None:
    """A dream with changes is stored with its cost; a dry run and a dream without changes are not."""
    learnt(client, tmp_path, 5)
    dry = client.dream(dry_run=True)
    assert (dry.dry_run, dry.id, client.dreams().items) == (True, None, [])
    first = client.dream(key="one dream")
    assert client.dream(key="one dream") == first
    nothing = client.dream()
    assert (nothing.archive, nothing.tokens_used) == (None, 0)
    assert client.dream(key="of nothing") == client.dream(key="of nothing")

    [stored] = client.dreams().items
    assert (stored.id, stored.archive, stored.tokens_used) == (first.id, dry.archive, dry.tokens_used)
    assert client.dream_record(stored.id) == stored
    assert client.status().last_dream == stored
    with pytest.raises(NotFound, match="no dream"):
        client.dream_record("dream_absent")


def test_schedules_are_added_listed_and_deleted(client: Client, daemon: Daemon) -> None:
    """A schedule is added (once with a key), listed and deleted; invalid schedules are refused."""
    added = client.add_schedule("30 2 * * *", timezone="Europe/Berlin", token_budget=5_000, key="nightly")
    assert client.add_schedule("30 2 * * *", timezone="Europe/Berlin", token_budget=5_000, key="nightly") == added
    assert [schedule.id for schedule in client.schedules().items] == [added.id]
    assert (added.cron, added.timezone, added.job) == ("30 2 * * *", "Europe/Berlin", "dream")
    assert client.status().distillation.scheduled
    client.remove_schedule(added.id)
    assert client.schedules().items == []
    with pytest.raises(NotFound):
        client.remove_schedule(added.id)
    for body in (
        {"cron": "never"},
        {"cron": "61 * * * *"},
        {"cron": "* * * * *", "timezone": "../../etc/passwd"},
    ):
        check_refused(daemon.ask("POST", "/v1/schedules", body), 400, "validation_error")


def test_a_backup_is_a_whole_store(client: Client, daemon: Daemon) -> None:
    """Made while the daemon runs, it passes the check, and a daemon on the restored store gives the same answers."""
    client.create_thread(id="backed-up")
    client.append("backed-up", [{"role": "user", "content": "keep me"}])
    target = daemon.home / "data" / "backups" / "copy.mdb"
    backup = daemon.ask("POST", "/v1/backups", {"path": str(target)}, {"Idempotency-Key": "backup"})
    again = daemon.ask("POST", "/v1/backups", {"path": str(target)}, {"Idempotency-Key": "backup"})

    assert backup.status == 200, backup.body
    assert backup.body == again.body
    assert backup.json()["size"] == target.stat().st_size
    assert run_check(target).ok
    with scratch_home() as home:
        (home / "data").mkdir(mode=0o700)
        restore(target, home / "data" / "store")
        with running_daemon(home) as other, Client(other.socket) as restored:
            assert stored_messages(restored, "backed-up") == [("user", "keep me")]
            assert restored.memories(limit=1000).items == client.memories(limit=1000).items


def test_a_backup_that_cannot_be_made_is_refused(daemon: Daemon) -> None:
    """A missing parent folder, an existing target and a relative path are refused."""
    folder = daemon.home / "data" / "backups"
    folder.mkdir(exist_ok=True)
    existing = folder / "there"
    existing.write_text("mine", "utf-8")
    check_refused(daemon.ask("POST", "/v1/backups", {"path": str(folder / "no" / "x")}), 404, "not_found")
    assert daemon.ask("POST", "/v1/backups", {"path": str(existing)}).status in {400, 409}
    assert existing.read_text("utf-8") == "mine"


def test_a_token_may_not_copy_the_store(tmp_path: Path) -> None:
    """A backup has every space, so only the owner may make one; a token reads its own space only."""
    with scratch_home() as home:
        (home / "data").mkdir(mode=0o700)
        add_token(home, "tick", "blue", "mole")
        with running_daemon(home) as own:
            answer = own.ask("POST", "/v1/backups", {"path": str(tmp_path / "x")}, bearer("tick"))
            check_refused(answer, 403, "forbidden")
            assert not (tmp_path / "x").exists()
            [space] = own.ask("GET", "/v1/spaces", headers=bearer("tick")).json()["items"]
            assert (space["id"], space["root"]) == ("blue", str(home / "root" / "blue"))
            own.ask("POST", "/v1/threads", {"id": "t"}, bearer("tick"))
            [operation] = own.ask("GET", "/v1/operations", headers=bearer("tick")).json()["items"]
            assert operation["who"] == "mole"
            assert own.ask("GET", "/v1/threads", headers=bearer("tick")).json()["items"][0]["agent"] == "mole"


def test_a_write_to_the_list_of_memories_is_undone() -> None:
    """The undo of a write to MEMORY.md is not in the way of Reverie's own lines, which were added to it since."""
    with running_daemon() as own, Client(own.socket) as client:
        client.remember(wire.CreateMemory(content="quokkas sleep by day", type="fact"))
        client.remember(wire.CreateMemory(content="the kestrel is green", type="preference"))

        def listed() -> str:
            client.sync_now()
            return client.document("MEMORY.md").content

        def undo_last(path: str) -> None:
            last = next(one for one in client.operations(limit=9).items if one.why == "document.write")
            assert [change.key for change in last.changes] == [[path]]
            client.undo(last.id)

        before = listed()
        client.put_document("MEMORY.md", "# T\n\n> quote heron\n- [ ] quokka 677\nzebra heron\n\n")
        assert "facts/preferences.md" in listed()
        undo_last("MEMORY.md")
        assert listed() == before

        client.put_document("MEMORY.md", "# Tides\n\n> a heron\n")
        written = client.operations(limit=1).items[0]
        (own.folder / "MEMORY.md").write_text(listed() + "\n## Mine\n\n- my own line\n")
        assert "my own line" in listed()
        client.undo(written.id)
        after = listed()
        assert ("heron" in after, "my own line" in after, "facts/project.md" in after) == (False, True, True)


def test_jobs_are_listed_and_cancelled(client: Client, daemon: Daemon) -> None:
    """Jobs of this daemon in pages; a finished job stays finished; an unknown one is not found."""
    jobs = [client.start_dream().job for _ in range(3)]
    page = daemon.ask("GET", "/v1/jobs?limit=2").json()
    assert len(page["items"]) == 2
    rest = daemon.ask("GET", f"/v1/jobs?after={page['next']}").json()
    listed = [job["id"] for job in [*page["items"], *rest["items"]]]
    assert set(jobs) <= set(listed)
    assert len(set(listed)) == len(listed)
    ended = daemon.ask("DELETE", f"/v1/jobs/{jobs[0]}").json()
    assert ended["state"] in {"done", "cancelled"}
    assert daemon.ask("GET", f"/v1/jobs/{jobs[0]}").json() == ended
    check_refused(daemon.ask("GET", "/v1/jobs/job_absent"), 404, "not_found")
    check_refused(daemon.ask("DELETE", "/v1/jobs/job_absent"), 404, "not_found")


def test_status_counts_match_the_lists(client: Client) -> None:
    """Counts equal the lengths of the lists; tokens spent are those of distillations and dreams."""
    client.sync_now()  # MEMORY.md follows the last change a moment later, by an operation of its own
    status = client.status()
    assert status.counts["threads"] == len(client.threads(limit=1000).items)
    assert status.counts["memories"] == len(client.memories(limit=1000).items)
    newest = client.operations(limit=1).items[0]
    assert status.counts["operations"] == newest.seq
    assert status.counts["archives"] == len(client.archives(limit=1000).items)
    assert status.operation == newest.id
    assert status.spend.total >= status.spend.today  # the day may have changed since the first distillation
    assert status.spend.total > 0
    assert status.model.engine == "extractive"
    with running_daemon() as own, Client(own.socket) as empty:
        fresh = empty.status()
        assert (set(fresh.counts.values()), fresh.operation, fresh.last_dream) == ({0}, None, None)
