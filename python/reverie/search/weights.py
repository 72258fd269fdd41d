"""Weights for what a question asks beside its words: the time that it names, who said it, an answer to it.

The weights are few, chosen on conversations between people and on recorded sessions of agents, with one conversation or
project left out at a time (`tests/bench/search.py`).
"""

from __future__ import annotations

import re
from datetime import MAXYEAR, MINYEAR, UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from reverie.lazy_regex import lazy_regex
from reverie.text_index import Boost, Surroundings

if TYPE_CHECKING:
    from collections.abc import Iterator

CANDIDATES: Final = 40  # the best messages, looked at with two neighbours on either side
WINDOW: Final = 1.5  # what the words around a message count beside those in it: an answer has few words of its question
STATEMENT_WINDOW: Final = 0.5  # for a statement, which has its words in one place
TOOL: Final = "is:tool"  # the group of messages that are a tool's call or result and no words
FACTORS: Final = ((TOOL, 0.7), ("role:user", 1.1))
"""What the words of a message count by who said it. Files and logs that an agent reads have every word of a project,
and mostly something else is asked for; a person says less than the agent, and what decides."""
SPEAKER: Final = 4.0  # "What did Ann buy?": what Ann said
ASKS: Final = -2.0  # a message that is a question itself seldom answers one
ANSWERS: Final = 2.0  # the message behind a question
NEAR: Final = 9.0  # said within ten days of a date that the question names: people tell what happened last week
SAME_DAY: Final = 9.0  # said on that day or the next, added to the one above
SAME_MONTH: Final = 12.0  # "in May 2023"
QUESTION_WORDS: Final = 14
_NEAR_DAYS: Final = 10
_DAY = timedelta(days=1)
_DAY_CHARS: Final = 300  # of a question about a day; a longer text is about something

_MONTHS: Final = (
    "january february march april may june july august september october november december".split()  # noqa: SIM905
)
_MONTH = "|".join(_MONTHS)
_DATES: Final = (
    lazy_regex(rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<month>{_MONTH}),? (?P<year>\d{{4}})"),
    lazy_regex(rf"(?P<month>{_MONTH}) (?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<year>\d{{4}})"),
    lazy_regex(r"(?P<year>\d{4})-(?P<number>\d\d)-(?P<day>\d\d)"),
)
_MONTH_OF_YEAR: Final = lazy_regex(rf"(?P<month>{_MONTH}),? (?:of )?(?P<year>\d{{4}})")
_ASKING: Final = frozenset(
    "what when where which who whom whose why how did do does is are was were can could".split()  # noqa: SIM905
)
_OF_A_DAY: Final = lazy_regex(  # a question about a day, whose words say nothing of what happened on it
    r"(?:\W*\b(?:what|which|was|were|is|did|do|done|does|have|has|had|been|happened|i|me|my|we|us|our|you|they|it|the|a|all"
    r"|everything|anything|on|at|in|of|for|to|about|and|that|this|day|said|say|tell|talked|talk|asked|ask|discussed"
    r"|discuss|worked|work|working|show|list|please|messages|sessions|threads|conversations)\b)*\W*"
)
_NAME = lazy_regex(r"\b[A-Z][\w'-]{1,29}")


def surroundings_for(query: str) -> Surroundings:
    """Return how much the messages around a hit, their time and their speaker count for a question."""
    boosts = [Boost("a question", ASKS, group="asks"), Boost("answers a question", ANSWERS, after="asks")]
    names = {match[0].lower().removesuffix("'s") for match in _NAME.finditer(query) if match.start()}
    boosts += [Boost(f"said by {name}", SPEAKER, group=f"by:{name}") for name in sorted(names)]
    boosts += _times(query.lower())
    window = WINDOW if _is_question(query) else STATEMENT_WINDOW
    return Surroundings(CANDIDATES, window, FACTORS, TOOL, tuple(boosts))


def _is_question(query: str) -> bool:
    """Return whether a text asks something: it ends with a question mark, or is short and begins as questions do.

    "When paths change, look for the code and for the tests that check it, or the build fails" is long, and none.
    """
    words = re.findall(r"\w+", query[:1_000])
    return query.rstrip().endswith("?") or (0 < len(words) <= QUESTION_WORDS and words[0].lower() in _ASKING)


def days_asked_about(query: str) -> list[str]:
    """Return the days of a question about nothing else, in order; "what did we do on May 3rd, 2026?": ["2026-05-03"].

    Empty for a question that has words to search for ("what broke on May 3rd, 2026?").
    """
    rest = query.lower()
    days = _all_days(rest) if len(rest) <= _DAY_CHARS else []
    if not days:
        return []
    for form in _DATES:
        rest = form.sub(" ", rest)
    return [day.date().isoformat() for day in days] if _OF_A_DAY.fullmatch(rest) else []


def _all_days(query: str) -> list[datetime]:
    return sorted({day for form in _DATES for day in _days(form, query)})


def _times(query: str) -> list[Boost]:
    """Return boosts for the dates in a question, else for its months of a year."""
    days = _all_days(query)
    boosts: list[Boost] = []
    for day in days:
        boosts.append(_said("near that date", NEAR, day - _NEAR_DAYS * _DAY, day + (_NEAR_DAYS + 1) * _DAY))
        boosts.append(_said("on that date", SAME_DAY, day - _DAY, day + 2 * _DAY))
    if not days:
        for match in _MONTH_OF_YEAR.finditer(query):
            first = _date(match["year"], match["month"], "1")
            if first is not None:
                following = (first + 31 * _DAY).replace(day=1)
                boosts.append(_said("in that month", SAME_MONTH, first, following))
    return boosts


def _days(form: re.Pattern[str], query: str) -> Iterator[datetime]:
    """Yield the dates of one form in a text."""
    for match in form.finditer(query):
        parts = match.groupdict()
        month = parts.get("month") or _MONTHS[(int(parts["number"]) - 1) % len(_MONTHS)]
        if (day := _date(parts["year"], month, parts["day"])) is not None:
            yield day


def _date(year: str, month: str, day: str) -> datetime | None:
    """Return a day of the calendar, None for one that does not exist or is at the end of all time."""
    try:
        date = datetime(int(year), _MONTHS.index(month) + 1, int(day), tzinfo=UTC)
    except ValueError:
        return None
    return date if MINYEAR < date.year < MAXYEAR else None


def _said(name: str, score: float, since: datetime, before: datetime) -> Boost:
    return Boost(name, score, times=(int(since.timestamp() * 1000), int(before.timestamp() * 1000)))
