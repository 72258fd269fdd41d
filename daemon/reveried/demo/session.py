"""The demo's sample session, an invented bug that is found and fixed, and a writer of Claude Code transcripts."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

SESSION = "7d1f6a52-0c44-4b7e-9a63-2f5f0e8b1c90"

_START = datetime(2026, 3, 30, 8, 2, 11, tzinfo=UTC)
_STEP = timedelta(seconds=41)
_UUID_NAMESPACE = uuid.UUID("5c0c9d0e-4a38-4c0e-9f5d-3c1a6f1f7b20")


@dataclass(slots=True)
class Transcript:
    """Writer of a Claude Code transcript. Ids and times are counted: the same calls give the same bytes."""

    session: str
    folder: str
    branch: str
    lines: list[dict[str, Any]] = field(default_factory=list)
    _last: str | None = None
    _replies: int = 0
    _calls: int = 0

    def user(self, text: str) -> None:
        """Add a message of the user to the transcript."""
        self._line("user", {"role": "user", "content": text})

    def agent(self, *blocks: dict[str, Any]) -> None:
        """Add a reply of the agent: one line per block, all with the id of one message, as Claude Code writes them."""
        self._replies += 1
        for block in blocks:
            message = {
                "id": f"msg_demo{self._replies:04}",
                "type": "message",
                "role": "assistant",
                "model": "claude-demo",
                "content": [block],
                "stop_reason": "tool_use" if block["type"] == "tool_use" else "end_turn",
                "usage": {"input_tokens": 900 + 310 * self._replies, "output_tokens": 140},
            }
            self._line("assistant", message, requestId=f"req_demo{self._replies:04}")

    def text(self, text: str) -> dict[str, Any]:
        """Return a text block for a reply."""
        return {"type": "text", "text": text}

    def tool_use(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return a tool_use block for a reply; `result` adds the result of the latest."""
        self._calls += 1
        return {"type": "tool_use", "id": f"toolu_demo{self._calls:04}", "name": tool, "input": arguments}

    def result(self, text: str, *, failed: bool = False) -> None:
        """Add the result of the latest tool call."""
        block: dict[str, Any] = {"type": "tool_result", "tool_use_id": f"toolu_demo{self._calls:04}", "content": text}
        if failed:
            block["is_error"] = True
        self._line("user", {"role": "user", "content": [block]}, toolUseResult=text)

    def call(self, tool: str, result: str, *, says: str = "", failed: bool = False, **arguments: Any) -> None:
        """Add a reply of the agent with a tool call, below what it says, and the call's result."""
        self.agent(*([self.text(says)] if says else []), self.tool_use(tool, **arguments))
        self.result(result, failed=failed)

    def to_bytes(self) -> bytes:
        """Return the bytes of the transcript file."""
        return b"".join(orjson.dumps(line) + b"\n" for line in self.lines)

    def _line(self, kind: str, message: dict[str, Any], **more: Any) -> None:
        """Add a transcript line around a message, with `more` top-level fields."""
        number = len(self.lines)
        identity = str(uuid.uuid5(_UUID_NAMESPACE, f"{self.session}/{number}"))
        at = (_START + number * _STEP).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self.lines.append(
            {
                "parentUuid": self._last,
                "isSidechain": False,
                "userType": "external",
                "cwd": self.folder,
                "sessionId": self.session,
                "version": "2.1.0",
                "gitBranch": self.branch,
                "type": kind,
                "message": message,
                "uuid": identity,
                "timestamp": at,
                **more,
            }
        )
        self._last = identity


def sample() -> bytes:
    """Return the sample transcript, the same bytes every time."""
    transcript = Transcript(session=SESSION, folder=_FOLDER, branch="fix-clock-change")
    for part in (_read_code, _reproduce, _try_wrong_fix, _fix, _finish):
        part(transcript)
    return transcript.to_bytes()


def _todo(transcript: Transcript, done: int, *, doing: bool = True) -> None:
    """Add a TodoWrite call with the first `done` steps completed; `doing` marks the next as in progress."""
    steps = []
    for number, (step, form) in enumerate(STEPS):
        state = "completed" if number < done else "in_progress" if doing and number == done else "pending"
        steps.append({"content": step, "status": state, "activeForm": form})
    transcript.call("TodoWrite", "Todos have been modified successfully.", todos=steps)


def _read(transcript: Transcript, path: str, text: str) -> None:
    transcript.call("Read", text, file_path=f"{_FOLDER}/{path}")


def _edit(transcript: Transcript, path: str, old: str, new: str, *, says: str) -> None:
    file = f"{_FOLDER}/{path}"
    updated = f"The file {file} has been updated."
    transcript.call("Edit", updated, says=says, file_path=file, old_string=old, new_string=new)


def _run(transcript: Transcript, command: str, why: str, shown: str, *, says: str = "", failed: bool = False) -> None:
    transcript.call("Bash", shown, says=says, failed=failed, command=command, description=why)


def _read_code(transcript: Transcript) -> None:
    """Add the request, and the agent reading the code."""
    transcript.user(REQUEST)
    says = "I'll look at where a harbour's times are computed, then try the day you name."
    transcript.call("Grep", GREP, says=says, pattern="local|utcoffset|timezone", path="tidetable")
    _read(transcript, "tidetable/times.py", TIMES_BEFORE)
    _read(transcript, "tidetable/harbours.py", harbours())


def _reproduce(transcript: Transcript) -> None:
    """Add a failing test that shows the bug."""
    _todo(transcript, 0)
    says = "No test covers a day on which the clock changes. I'll write one that shows the bug first."
    file = f"{_FOLDER}/{_TEST}"
    created = f"File created successfully at: {file}"
    transcript.call("Write", created, says=says, file_path=file, content=TEST_CLOCK_CHANGE)
    _run(transcript, f"pytest -q {_TEST}", "Run the new test", FAILS_FIRST, failed=True)
    _todo(transcript, 1)


def _try_wrong_fix(transcript: Transcript) -> None:
    """Add a first fix that breaks another test, and the user's correction."""
    says = "The test fails as reported. I'll add an hour when summer time is in force."
    _edit(transcript, "tidetable/times.py", "    return stored", _WRONG, says=says)
    _run(transcript, "pytest -q", "Run all tests", fails_south(), failed=True)
    says = (
        "That does not work: adding an hour mends Port Ellery and breaks Cape Sorrow, where summer is in January. "
        "pytz knows the rules of each place, so I would add it and use `localize`."
    )
    interrupted = "[Request interrupted by user for tool use]"
    _run(transcript, "pip install pytz", "Install pytz", interrupted, says=says, failed=True)
    transcript.user(CORRECTION)


def _fix(transcript: Transcript) -> None:
    """Add the right fix, a preference of the user, and a lint error with its fix."""
    right = "    return stored.replace(tzinfo=UTC).astimezone(ZoneInfo(harbour.zone))"
    _edit(transcript, "tidetable/times.py", _WRONG, right, says=DECISION)
    _read(transcript, "tidetable/printing.py", PRINTING)
    says = (
        "`print_table` in tidetable/printing.py is the only place that calls `local_time`. "
        f"I'll add the hour that comes twice to {_TEST}."
    )
    _edit(transcript, _TEST, SOUTH, f"{TWICE}\n\n{SOUTH}", says=says)
    _run(transcript, "pytest -q", "Run all tests", PASSES)
    _todo(transcript, 3)
    transcript.user(PREFERENCE)
    _run(transcript, "make check", "Run linter and tests", LINT_FAILS, failed=True)
    says = "The import that the wrong turn left behind is not used any more; I'll take it out."
    used = "from datetime import UTC, datetime"
    _edit(transcript, "tidetable/times.py", f"{used}, timedelta", used, says=says)
    _run(transcript, "make check", "Run linter and tests", CHECK_PASSES)


def _finish(transcript: Transcript) -> None:
    """Add changelog, commit, a question with its answer, and the next task."""
    says, heading = "All green. Now the changelog, in short sentences.", "## Unreleased\n"
    line = "- Times are right on days when the clock changes.\n"
    _edit(transcript, "CHANGELOG.md", heading, f"{heading}\n{line}", says=says)
    subject = "times: keep UTC, convert when printing"
    why = (
        "A stored local time is ambiguous in the hour that comes twice, so tides are converted only when a table is "
        "printed."
    )
    committed = f"[fix-clock-change 4be1d07] {subject}\n 4 files changed, 61 insertions(+)"
    _run(transcript, f'git commit -am "{subject}" -m "{why}"', "Commit the fix", committed)
    _todo(transcript, 4, doing=False)
    transcript.agent(transcript.text(REPORT))
    transcript.user(QUESTION)
    _run(transcript, "ls -l cache | head -4", "Look at the cache", CACHE)
    transcript.agent(transcript.text(OPEN))
    transcript.user(NEXT_TASK)
    _todo(transcript, 4)


# Texts: code, test output and messages of a project that does not exist

_FOLDER = "/home/mira/tidetable"
_TEST = "tests/test_clock_change.py"
_WRONG = "    return stored + (timedelta(hours=1) if is_summer(stored) else timedelta())"

REQUEST = (
    "The harbour master of Port Ellery wrote: on 29 March our table printed high water an hour early. "
    "Find out why, fix it, and make sure that it cannot come back. I'm a teacher who keeps this table for the sailing "
    "club, so explain things without jargon."
)

STEPS = (
    ("Write a test that shows the wrong hour", "Writing a test that shows the wrong hour"),
    ("Find where the hour is lost", "Finding where the hour is lost"),
    ("Fix the conversion in tidetable/times.py", "Fixing the conversion"),
    ("Add a line to the changelog and commit", "Adding a line to the changelog"),
    ("Rebuild the cached tables that hold local times", "Rebuilding the cached tables"),
)

GREP = """\
tidetable/times.py:9:def local_time(stored: datetime, harbour: Harbour) -> datetime:
tidetable/times.py:10:    \"\"\"The time that people at the harbour read on their clocks.\"\"\"
tidetable/harbours.py:7:    zone: str  # a name of the time zone database
tidetable/printing.py:31:        at = local_time(tide.at, harbour)
tidetable/cache.py:18:    # tables are kept as they were printed, in local time"""

TIMES_BEFORE = """\
     1\t\"\"\"Clock times of tides.\"\"\"
     2\t
     3\tfrom datetime import UTC, datetime, timedelta
     4\tfrom zoneinfo import ZoneInfo
     5\t
     6\tfrom tidetable.harbours import Harbour
     7\t
     8\t
     9\tdef local_time(stored: datetime, harbour: Harbour) -> datetime:
    10\t    \"\"\"The time that people at the harbour read on their clocks.\"\"\"
    11\t    return stored"""

TEST_CLOCK_CHANGE = '''\
"""Days on which the clock changes: the hour that is skipped, and the hour that comes twice."""

from datetime import UTC, datetime

from tidetable.harbours import find
from tidetable.times import local_time


def test_high_water_on_the_day_when_summer_time_begins() -> None:
    """Port Ellery, 29 March 2026: 05:40 UTC is 06:40 on the quay."""
    at = local_time(datetime(2026, 3, 29, 5, 40, tzinfo=UTC), find("Port Ellery"))
    assert at.strftime("%H:%M") == "06:40"


def test_summer_is_in_january_in_the_south() -> None:
    """Cape Sorrow, 10 January 2026: eleven hours ahead of UTC."""
    at = local_time(datetime(2026, 1, 10, 0, 5, tzinfo=UTC), find("Cape Sorrow"))
    assert at.strftime("%H:%M") == "11:05"
'''

SOUTH = "def test_summer_is_in_january_in_the_south() -> None:"

TWICE = '''\
def test_the_hour_that_comes_twice() -> None:
    """Port Ellery, 25 October 2026: 00:30 and 01:30 UTC are both 01:30 on the quay."""
    for hour in (0, 1):
        at = local_time(datetime(2026, 10, 25, hour, 30, tzinfo=UTC), find("Port Ellery"))
        assert at.strftime("%H:%M") == "01:30"
'''

PRINTING = """\
    24\tdef print_table(harbour: Harbour, tides: Sequence[Tide]) -> str:
    25\t    \"\"\"The table of one month, as it hangs in the club house.\"\"\"
    26\t    rows = [f"{harbour.name}, {tides[0].at:%B %Y}", ""]
    27\t    day = None
    28\t    for tide in tides:
    29\t        if tide.kind not in SHOWN:
    30\t            continue
    31\t        at = local_time(tide.at, harbour)"""

FAILS_FIRST = """\
FF                                                                       [100%]
=================================== FAILURES ===================================
_____________ test_high_water_on_the_day_when_summer_time_begins ______________
>       assert at.strftime("%H:%M") == "06:40"
E       AssertionError: assert '05:40' == '06:40'
tests/test_clock_change.py:12: AssertionError
=========================== short test summary info ============================
FAILED tests/test_clock_change.py::test_high_water_on_the_day_when_summer_time_begins
FAILED tests/test_clock_change.py::test_summer_is_in_january_in_the_south
2 failed in 0.09s"""

CORRECTION = (
    "No, don't add pytz. Never add a dependency to this project: it runs on the club's old computer, which has no "
    "network. zoneinfo is in the standard library, and harbours already have a zone."
)

DECISION = (
    "You're right, that was my mistake: zoneinfo does it without a dependency. The root cause is that tides are kept "
    "in UTC and printed as if they were local. I decided to convert them only when a table is printed, because a "
    "stored local time is ambiguous in the hour that comes twice in autumn."
)

PASSES = """\
................                                                         [100%]
17 passed in 0.41s"""

PREFERENCE = (
    "Good. From now on always run `make check` instead of bare pytest, it runs the linter too. "
    "And I prefer short sentences in the changelog: what changed for the reader, nothing about how."
)

LINT_FAILS = """\
ruff check tidetable tests
tidetable/times.py:3:34: F401 `datetime.timedelta` imported but unused
Found 1 error.
make: *** [Makefile:9: check] Error 1"""

CHECK_PASSES = """\
ruff check tidetable tests
All checks passed!
pytest -q
................                                                         [100%]
17 passed in 0.40s"""

REPORT = (
    "Fixed. The reason was that nothing ever converted the times: 05:40 in the store was printed as 05:40 on the quay. "
    "`local_time` now does it with zoneinfo. Three new tests cover the day on which summer time begins, the hour that "
    "comes twice, and a harbour in the south."
)

QUESTION = "What about the tables that are already in the cache? Are they still wrong?"

CACHE = """\
total 212
-rw-r--r-- 1 mira mira 6120 Mar 12 07:00 cape-sorrow-2026-03.json
-rw-r--r-- 1 mira mira 6244 Mar 12 07:00 port-ellery-2026-03.json
-rw-r--r-- 1 mira mira 6244 Mar 12 07:00 port-ellery-2026-04.json"""

OPEN = (
    "Yes. Tables in `cache/` were written before the fix and hold local times, so they stay wrong until they are "
    "rebuilt. A `tidetable rebuild` command could write them again from UTC. Should it also delete those "
    "of past months?"
)

NEXT_TASK = (
    "I'll ask the harbour master about past months. Write the `tidetable rebuild` command next: start with a test, "
    "and don't push before I have seen it."
)


def harbours() -> str:
    """Return a long source file: most of a context consists of such tool results."""
    names = ("Port Ellery", "Cape Sorrow", "Little Haven", "Gull Rock", "Sandmouth", "Old Pier", "Farrow Sound")
    zones = ("Europe/Lisbon", "Australia/Hobart", "Europe/Dublin", "Atlantic/Azores", "America/Halifax")
    lines = ['"""The harbours whose tides are printed."""', "", "from dataclasses import dataclass", "", ""]
    lines += [
        "@dataclass(frozen=True)",
        "class Harbour:",
        "    name: str",
        "    zone: str  # of the time zone database",
    ]
    lines += ["    mean_level_cm: int", "    delay_minutes: int", "", "", "HARBOURS = ("]
    for number in range(420):
        name = names[number] if number < len(names) else f"{names[number % 7]} Buoy {number // 7}"
        zone, level, delay = zones[number % 5], 180 + 7 * (number % 31), 3 * (number % 17)
        lines.append(f'    Harbour("{name}", "{zone}", mean_level_cm={level}, delay_minutes={delay}),')
    return "\n".join(f"{number:6}\t{line}" for number, line in enumerate([*lines, ")"], 1))


def fails_south() -> str:
    """Return a long test log: one harbour fixed, many broken."""
    rows = [
        f"tests/test_tables.py::test_table[{name}] FAILED                                  [{3 * number:3}%]"
        for number, name in enumerate(("cape-sorrow", "old-pier", "gull-rock", "farrow-sound") * 8, 1)
    ]
    return "\n".join(
        [
            *rows,
            "E       AssertionError: assert '10:05' == '11:05'",
            "tests/test_clock_change.py:18: AssertionError",
            "FAILED tests/test_clock_change.py::test_summer_is_in_january_in_the_south",
            "33 failed, 15 passed in 1.02s",
        ]
    )
