"""Scheduled dreams by a real daemon: schedules replaced during a run, runs that wait for each other, failed runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from msgspec.structs import replace

from reverie import wire
from reverie.client import Client
from reverie.redact import Redactor
from reverie.store import ScheduleRecord, Store, Write, Writer
from reveried.cli import main
from support.daemon import Daemon, compute_processes, running_daemon, scratch_home
from support.waiting import suspended, wait_until

FACTS = "# Facts\n\n" + "".join(f"- The service number {n} listens on port {7000 + n}\n" for n in range(60))
NIGHT = "0 3 * * *"


@pytest.fixture
def nightly() -> Iterator[Daemon]:
    """A daemon at noon of a test clock, with sixty memories."""
    with scratch_home() as home:
        (home / "clock").write_text("2026-05-04T12:00:00Z")
        with running_daemon(home) as daemon:
            with Client(daemon.socket) as client:
                client.put_document("facts/project.md", FACTS)
            yield daemon


def night(daemon: Daemon, day: int) -> None:
    """Set the clock to half a minute after three o'clock."""
    (daemon.home / "clock").write_text(f"2026-05-{day:02d}T03:00:30Z")


def add_schedule(daemon: Daemon, schedule_id: str, cron: str, budget: int) -> None:
    """Add or replace a schedule by its id."""
    body = {"id": schedule_id, "cron": cron, "timezone": "UTC", "options": {"tokenBudget": budget}}
    assert daemon.ask("POST", "/v1/schedules", body).status == 201


def schedule_of(client: Client, schedule_id: str) -> wire.Schedule:
    """Return the schedule with an id."""
    return next(item for item in client.schedules().items if item.id == schedule_id)


def lose_the_record(daemon: Daemon, *begun: str) -> None:
    """Stop the daemon, and leave its schedules as a kill does between a run's own commits and the record of the run.

    `begun` are the fire times of the runs that were begun.
    """
    assert daemon.stop() == 0

    def lose(writer: Writer) -> None:
        for key, schedule in list(writer.records(ScheduleRecord)):
            writer.save(replace(schedule, last_run=None, ran=[], failure=None, begun=list(begun) or None), key)

    with Store.open(daemon.store, redactor=Redactor()) as store:
        store.commit([Write("default", "reveried", "schedule", lose)], at="2026-05-05T03:01:00.000Z")


def test_a_schedule_replaced_during_its_run_keeps_the_new_settings(nightly: Daemon) -> None:
    """The run ends with the old budget and counts as run; cron and budget stay the new ones, after a restart too."""
    with Client(nightly.socket) as client:
        add_schedule(nightly, "nightly", NIGHT, 30_000)
        client.dream(dry_run=True)  # starts the compute process
        with ExitStack() as stack:
            for pid in compute_processes(nightly.pid):
                stack.enter_context(suspended(pid))
            witness = client.add_schedule(NIGHT, timezone="UTC", job="learn").id
            night(nightly, 5)
            # All due runs begin together. This one, which has nothing to learn, ends; the dream waits for its decision.
            wait_until(lambda: schedule_of(client, witness).last_run is not None, "the begin of both runs")
            add_schedule(nightly, "nightly", "30 4 * * *", 20_000)
            assert client.status().counts["dreams"] == 0
        wait_until(lambda: schedule_of(client, "nightly").last_run is not None)
        assert [dream.token_budget for dream in client.dreams().items] == [30_000]

    def check(client: Client) -> None:
        schedule = schedule_of(client, "nightly")
        assert (schedule.cron, schedule.options) == ("30 4 * * *", {"tokenBudget": 20_000})
        assert schedule.last_run == "2026-05-05T03:00:00.000Z"

    with Client(nightly.socket) as client:
        check(client)
    assert nightly.stop() == 0
    nightly.start()
    with Client(nightly.socket) as client:
        check(client)


def test_dreams_of_one_space_run_one_after_the_other(nightly: Daemon) -> None:
    """Three schedules that are due in the same minute: the first dreams, and the others find nothing new."""
    for name in ("a", "b", "c"):
        add_schedule(nightly, name, NIGHT, 30_000)
    with Client(nightly.socket) as client:
        night(nightly, 5)
        wait_until(lambda: all(item.last_run for item in client.schedules().items))
        assert [item.failure for item in client.schedules().items] == [None, None, None]
        assert client.status().counts["dreams"] == 1
        assert nightly.log_text().count("meanwhile") == 0


def test_a_failed_run_is_shown_everywhere(
    nightly: Daemon, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Schedules, dreams, status and commands show a failed run's code and hint, until a later run succeeds."""
    add_schedule(nightly, "nightly", NIGHT, 50)
    with Client(nightly.socket) as client:
        night(nightly, 5)
        wait_until(lambda: client.schedules().items[0].last_run is not None)
        [schedule] = client.schedules().items
        assert schedule.failure is not None
        assert schedule.failure.code == "token_budget_exceeded"
        assert schedule.failure.hint is not None
        assert schedule.failure.hint.startswith("give a budget of ")
        [failed] = client.dreams().items
        assert (failed.trigger, failed.archive, failed.failure) == ("schedule", None, schedule.failure)
        assert client.dream_record(failed.id) == failed
        status = client.status()
        assert status.schedules == [schedule]
        assert status.last_dream is None

        monkeypatch.setenv("REVERIE_HOME", str(nightly.home))
        monkeypatch.delenv("REVERIE_SOCKET", raising=False)
        for command in (["schedule", "list"], ["status"]):
            assert main(command) == 0
            output = capfd.readouterr().out
            assert "token_budget_exceeded" in output
            assert schedule.failure.hint in output

        # What the failed run should have read is still new.
        answer = client.dream()
        assert answer.sources == 60
        last = client.status().last_dream
        assert last is not None
        assert last.id == answer.id

        night(nightly, 6)
        wait_until(lambda: client.schedules().items[0].failure is None)
        assert client.status().schedules[0].last_run == "2026-05-06T03:00:00.000Z"


@pytest.mark.parametrize("budget", [30_000, 50])
def test_undo_skips_the_records_of_a_night(
    nightly: Daemon, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], budget: int
) -> None:
    """The morning after, `undo --yes` undoes the last change: a dream that changed nothing, or failed, is no change."""
    add_schedule(nightly, "nightly", NIGHT, budget)
    with Client(nightly.socket) as client:
        client.put_document("facts/user.md", "# Facts\n\n- The relay drops the first connection\n")
        night(nightly, 5)
        wait_until(lambda: client.schedules().items[0].last_run is not None)
    monkeypatch.setenv("REVERIE_HOME", str(nightly.home))
    monkeypatch.delenv("REVERIE_SOCKET", raising=False)
    assert main(["undo", "--yes"]) == 0
    assert "Undone: document.write " in capfd.readouterr().out


def test_a_failure_outlasts_a_restart(nightly: Daemon) -> None:
    """The failure of a scheduled run is still shown with its schedule after a restart of the daemon."""
    add_schedule(nightly, "nightly", NIGHT, 50)
    with Client(nightly.socket) as client:
        night(nightly, 5)
        wait_until(lambda: client.schedules().items[0].failure is not None)
    assert nightly.stop() == 0
    nightly.start()
    with Client(nightly.socket) as client:
        failure = client.schedules().items[0].failure
        assert failure is not None
        assert failure.code == "token_budget_exceeded"
        assert len(client.dreams().items) == 1


def test_dreams_are_listed_with_their_proposals(nightly: Daemon) -> None:
    """A dream has the same `proposals` in the list of `GET /v1/dreams` as when it is read by its id."""
    with Client(nightly.socket) as client:
        answer = client.dream()
    [listed] = nightly.ask("GET", "/v1/dreams").json()["items"]
    assert listed["proposals"] == nightly.ask("GET", f"/v1/dreams/{answer.id}").json()["proposals"] == []
    assert listed["waiting"] == 0


@pytest.mark.parametrize("times", [1, 2])
def test_a_dream_is_not_made_twice_for_one_night(nightly: Daemon, times: int) -> None:
    """A daemon killed after a dream's commit, before the schedule's record, leaves what is new to the next night.

    The same where the run had been begun once before, and a kill had ended that one.
    """
    with Client(nightly.socket) as client:
        add_schedule(nightly, "nightly", NIGHT, 30_000)
        night(nightly, 5)
        wait_until(lambda: schedule_of(client, "nightly").last_run is not None)
        [made] = client.dreams().items
        client.put_document("facts/user.md", "# Facts\n\n- The relay drops the first connection\n")
    lose_the_record(nightly, *["2026-05-05T03:00:00.000Z"] * times)
    nightly.start()
    with Client(nightly.socket) as client:
        wait_until(lambda: schedule_of(client, "nightly").last_run is not None)
        assert schedule_of(client, "nightly").failure is None
        assert client.dreams().items == [made]
        night(nightly, 6)
        wait_until(lambda: len(client.dreams().items) == 2)


@pytest.mark.parametrize("folder", ["edited", "missing"])
def test_a_missed_dream_sees_what_was_saved_meanwhile(nightly: Daemon, folder: str) -> None:
    """A dream that is made up for at the start reads what a person saved before it; a missing folder stops it not."""
    add_schedule(nightly, "nightly", NIGHT, 30_000)
    assert nightly.stop() == 0
    root = nightly.folder
    if folder == "missing":
        root.rename(root.with_name("elsewhere"))
    else:
        (root / "facts" / "project.md").write_text(FACTS + "- The relay drops the first connection\n")
    night(nightly, 5)
    nightly.start()
    with Client(nightly.socket) as client:
        wait_until(lambda: schedule_of(client, "nightly").last_run is not None)
        [made] = client.dreams().items
        assert made.archive is not None
        assert len(json.loads(client.archive(made.archive))["sources"]) == (60 if folder == "missing" else 61)
