"""Tests of older files put back into the folder: sync stops to ask, and reverts no agent's write by itself."""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from reverie import wire
from reverie.errors import ValidationError
from support.daemon_folder import Tree, tree
from support.soak import count
from support.waiting import suspended, wait_until

NAMES = [f"facts/n{number}.md" for number in range(6)]


@pytest.fixture(scope="module")
def own() -> Iterator[Tree]:
    """Yield a daemon's folder for the tests of this module; each leaves it in sync."""
    with tree() as made:
        yield made


def facts(name: str) -> str:
    return f"# {name}\n\n- {name} begins: {name} has a first fact\n- {name} goes on: and a second one\n"


def written_since(own: Tree, names: list[str], writes: int, *, before: Path) -> dict[str, list[str]]:
    """Copy the documents to `before`, then append agents' lines to each; return the lines by document."""
    for name in names:
        own.client.put_document(name, facts(name))
    own.agree()
    if before.exists():
        shutil.rmtree(before)
    shutil.copytree(own.root / "facts", before / "facts")
    lines: dict[str, list[str]] = {name: [] for name in names}
    for number in range(writes):
        for name in names:
            lines[name].append(f"- {name} later {number}: what an agent wrote, number {number}")
            own.client.append_entry(name, lines[name][-1])
    own.agree()
    return lines


def put_back(own: Tree, before: Path, names: list[str]) -> None:
    """Copy older files over the folder, as a restore does: at once, in the eyes of the daemon."""
    with suspended(own.daemon.pid):
        for name in names:
            shutil.copyfile(before / name, own.path(name))


@contextmanager
def asked(own: Tree, names: list[str]) -> Iterator[None]:
    """Wait until sync has stopped about exactly these older files; assert that no stored text changes meanwhile."""
    stored = {name: own.stored(name) for name in names}
    wait_until(lambda: own.client.sync_status().state == "stopped", "the question")
    for _ in range(2):
        status = own.client.sync_now().status
        assert (status.state, sorted(status.older)) == ("stopped", sorted(names))
        assert "reverie sync now --put-back" in (status.hint or "")
        assert "reverie sync now --accept-older" in (status.hint or "")
    assert {name: own.stored(name) for name in names} == stored
    yield


def lost(own: Tree, lines: dict[str, list[str]]) -> list[str]:
    """Return the agents' lines that are not in store and folder."""
    return [
        line
        for name, written in lines.items()
        for line in written
        if line not in (own.stored(name) or "") or line not in own.read(name)
    ]


def test_a_document_that_is_deleted_before_it_is_put_back(own: Tree, tmp_path: Path) -> None:
    """If an agent deletes one of several older files while sync waits, `--put-back` restores the others."""
    lines = written_since(own, NAMES[:3], 2, before=tmp_path)
    put_back(own, tmp_path, NAMES[:3])
    with asked(own, NAMES[:3]):
        own.client.delete_document(NAMES[0])
    assert own.client.sync_now(put_back=True).written >= 2
    own.agree()
    assert lost(own, {name: lines[name] for name in NAMES[1:3]}) == []
    assert own.client.sync_status().state == "ok"


@pytest.mark.parametrize("writes", [1, 24])
def test_an_older_folder_asks_and_is_put_back(own: Tree, tmp_path: Path, writes: int) -> None:
    """Older texts of several files revert nothing until a person decides; `--put-back` writes the stored ones."""
    first = own.client.status().counts["events"]
    lines = written_since(own, NAMES[:3], writes, before=tmp_path)

    put_back(own, tmp_path, NAMES[:3])

    with asked(own, NAMES[:3]):
        own.client.append_entry(NAMES[0], "- Meanwhile: agents go on")
        lines[NAMES[0]].append("- Meanwhile: agents go on")
        own.client.append_entry(NAMES[4], "- Elsewhere: other files are synced")
        assert "Elsewhere" in own.read(NAMES[4])
        assert "Meanwhile" not in own.read(NAMES[0])
    assert own.client.sync_now(put_back=True).written >= 3
    own.agree()
    assert lost(own, lines) == []
    assert own.client.sync_status().state == "ok"
    kinds = [event.type for event in events_since(own, first)]
    assert kinds.count("sync.stopped") == kinds.count("sync.resumed") == 1


def events_since(own: Tree, first: int) -> list[wire.Event]:
    """Return the events after number `first`."""
    last = own.client.status().counts["events"]
    events: list[wire.Event] = []
    for event in own.client.events(after=first):
        events.append(event)
        if event.seq >= last:
            break
    return events


def test_an_older_folder_that_is_accepted_is_one_operation(own: Tree, tmp_path: Path) -> None:
    """With `--accept-older` the older texts win, and one undo brings everything back."""
    lines = written_since(own, NAMES[:4], 3, before=tmp_path)
    later = "facts/later.md"
    own.client.put_document(later, "- Later: a file that the older folder did not have\n")
    own.agree()
    put_back(own, tmp_path, NAMES[:4])
    own.path(later).unlink()
    with asked(own, NAMES[:4]):
        assert own.client.sync_status().missing in ([], [later])
    wait_until(lambda: own.client.sync_now().status.missing == [later], "the missing file to count")
    assert own.stored(later) is not None

    before = own.client.operations(limit=1).items[0].seq
    outcome = own.client.sync_now(accept_older=True)

    assert (outcome.status.state, outcome.deleted) == ("ok", 1)
    assert {name: own.stored(name) for name in NAMES[:4]} == {name: (tmp_path / name).read_text() for name in NAMES[:4]}
    assert own.stored(later) is None
    made = [item for item in own.client.operations(limit=20).items if item.seq > before and item.why == "files.edited"]
    assert len(made) == 1
    own.client.undo(str(made[0].seq))
    own.agree()
    assert lost(own, lines) == []
    assert own.stored(later) is not None
    own.client.delete_document(later)


def test_files_that_are_edited_while_the_question_waits_are_merged(own: Tree, tmp_path: Path) -> None:
    """An older file that a person edits before deciding keeps waiting, and the edit is merged with the stored text."""
    lines = written_since(own, NAMES[:3], 3, before=tmp_path)
    own.save(NAMES[2], (tmp_path / NAMES[2]).read_text().replace("a first fact", "a first fact of mine"))
    put_back(own, tmp_path, NAMES[:2])
    with asked_about(own, set(NAMES[:2])):
        own.save(NAMES[1], own.read(NAMES[1]) + "- Mine: a line of a person\n")
        assert own.client.sync_now().status.state == "stopped"
        own.path(NAMES[0]).write_text(own.stored(NAMES[0]) or "", encoding="utf-8")
        assert own.client.sync_now().status.state == "stopped"

    own.client.sync_now(put_back=True)
    own.agree()

    assert lost(own, {name: lines[name] for name in NAMES[:2]}) == []
    assert "- Mine: a line of a person\n" in own.read(NAMES[1])
    assert "a first fact of mine" in own.read(NAMES[2])


@contextmanager
def asked_about(own: Tree, names: set[str]) -> Iterator[None]:
    """Wait until the sync status names these older files, perhaps among others."""
    wait_until(lambda: names <= set(own.client.sync_now().status.older), "the question")
    yield


def test_the_right_files_answer_the_question(own: Tree, tmp_path: Path) -> None:
    """If a person puts the newer files back while sync waits for a decision, sync continues and no line is lost."""
    lines = written_since(own, NAMES[:3], 2, before=tmp_path / "old")
    shutil.copytree(own.root / "facts", tmp_path / "new/facts")
    put_back(own, tmp_path / "old", NAMES[:3])
    with asked(own, NAMES[:3]):
        put_back(own, tmp_path / "new", NAMES[:3])

    wait_until(lambda: own.client.sync_status().state == "ok", "the files to be right")
    own.agree()
    assert lost(own, lines) == []


def test_one_file_put_back_is_a_save(own: Tree, tmp_path: Path) -> None:
    """An older text of a single file is stored as an ordinary save; sync does not stop to ask."""
    written_since(own, NAMES[:2], 2, before=tmp_path)
    put_back(own, tmp_path, NAMES[:1])

    own.agree()

    assert own.client.sync_status().state == "ok"
    assert own.stored(NAMES[0]) == own.read(NAMES[0])


def test_a_checkout_of_a_persons_own_commits_asks_nothing(own: Tree) -> None:
    """If several files get older texts that only the person had saved, the texts are stored and sync does not stop."""
    names = ["facts/mine.md", "facts/also.md"]
    for text in ("one", "two"):
        for name in names:
            own.save(name, f"- {name}: {text}\n")
        own.agree()
    with suspended(own.daemon.pid):
        for name in names:
            own.save(name, f"- {name}: one\n")

    own.agree()

    assert [own.stored(name) for name in names] == [f"- {name}: one\n" for name in names]


def test_a_checkout_of_an_old_commit_asks(tmp_path: Path) -> None:
    """After `git checkout` of an old commit sync stops and keeps agents' lines; `--put-back` restores the files."""
    with tree() as own:
        lines = written_since(own, NAMES[:3], 1, before=tmp_path)
        git = ["git", "-C", str(own.root), "-c", "user.name=t", "-c", "user.email=t@example.org"]
        (own.root / ".gitignore").write_text(".reverie/\nmemory/\nMEMORY-INDEX.json\nMEMORY.md\n")
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "one"]):
            subprocess.run([*git, *words], check=True, capture_output=True)
        for name in NAMES[:3]:
            lines[name].append(f"- {name} once more: written after the commit")
            own.client.append_entry(name, lines[name][-1])
        own.agree()
        own.daemon.stop()
        subprocess.run([*git, "checkout", "-q", "--", "."], check=True, capture_output=True)
        own.daemon.start()

        wait_until(lambda: own.client.sync_status().state == "stopped", "the question")
        assert all(line in (own.stored(name) or "") for name in lines for line in lines[name])
        own.client.sync_now(put_back=True)
        own.agree()
        assert lost(own, lines) == []


def test_missing_files_are_put_back(own: Tree) -> None:
    """`--put-back` restores the files if so many are missing that sync stopped to ask."""
    names = [f"many/m{number:02}.md" for number in range(14)]
    for name in names:
        own.client.put_document(name, f"- {name}\n")
    own.agree()
    with suspended(own.daemon.pid):
        for path in (*(own.root / "many").iterdir(), *(own.root / "facts").iterdir()):
            path.unlink()
    assert own.client.sync_now().status.state == "stopped"

    own.client.sync_now(put_back=True)

    assert own.client.sync_status().state == "ok"
    assert [name for name in names if not own.path(name).exists()] == []


def test_two_answers_at_once_are_refused(own: Tree) -> None:
    """A sync that shall both accept older files and put the newer ones back is refused."""
    with pytest.raises(ValidationError, match="exclude each other"):
        own.client.sync_now(accept_older=True, put_back=True)


def test_no_write_is_reverted_by_any_part_of_an_older_folder(own: Tree, tmp_path: Path) -> None:
    """`--put-back` of a folder with older, missing and edited files loses no agent's line and no edit."""
    for number in range(count(2, 100)):
        pick = random.Random(number)
        names = [f"facts/r{number}-{at}.md" for at in range(pick.randint(3, 8))]
        lines = written_since(own, names, pick.choice([1, 3, 12]), before=tmp_path / str(number))
        older = pick.sample(names, pick.randint(2, len(names)))
        rest = [name for name in names if name not in older]
        missing = pick.sample(rest, pick.randint(0, len(rest)))
        edited = [name for name in older[2:] if pick.random() < 0.4]
        with suspended(own.daemon.pid):
            for name in older:
                own.save(
                    name, (tmp_path / str(number) / name).read_text() + ("- Mine: one\n" if name in edited else "")
                )
            for name in missing:
                own.path(name).unlink()
        wait_until(lambda: own.client.sync_now().status.state == "stopped", "the question")

        own.client.sync_now(put_back=True)
        own.agree()

        assert lost(own, lines) == [], number
        assert [name for name in edited if "- Mine: one\n" not in own.read(name)] == []
        for name in names:
            own.client.delete_document(name)
