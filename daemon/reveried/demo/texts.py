"""Texts of the sample session: code, test output and messages of a project that does not exist."""

from __future__ import annotations

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
