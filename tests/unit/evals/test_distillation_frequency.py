"""Frequency of distillations with and without context editing."""

from __future__ import annotations

from pathlib import Path

import pytest

from reverie.context.inputs import Limits
from reverie.context.units import split_units
from reverie.errors import ValidationError
from reverie.evals.frequency import BESIDE, frequency, one_thread
from reverie.importers.find import read_entries
from reverie.importers.join import main_line
from support.shared import real_sessions
from support.soak import count
from support.story import generated_files
from support.talk import Talk

RESULT = "the result of the call goes on and on " * 300  # about 2,700 tokens


# About 500,000 tokens of work in which tools return long texts, and recorded sessions where they are at hand.
SETS = [list(generated_files(10, tasks=9, noise=70)), *([real_sessions()[: count(8, 39)]] if real_sessions() else [])]


def heavy(calls: int) -> Talk:
    """Return a thread of so many tool calls with long results."""
    talk = Talk()
    for number in range(calls):
        talk.user(f"look at part {number}").call("Bash", {"command": f"cat part_{number}"}, RESULT)
        talk.reply("It is as it was.")
    return talk


def test_clearing_saves_distillations() -> None:
    """A thread of tool results needs no distillation if they are cleared; without editing, one per 105,000 tokens."""
    result = frequency(heavy(220).done(), Limits())
    assert result.messages == 880
    assert (result.threshold, result.after) == (140_000, 35_000)
    # The first fills the window beside 16,000 tokens, every later one grows from 35,000 back to the threshold.
    assert result.without_editing == 1 + (result.tokens - 124_000) // 105_000
    assert result.with_editing == 0
    assert result.fewer == 1.0


def test_clearing_does_not_help_talk() -> None:
    """A thread without tools needs as many distillations with editing as without."""
    talk = Talk()
    for _ in range(100):
        talk.user("words " * 1_000).reply("more words " * 1_000)
    result = frequency(talk.done(), Limits())
    assert result.without_editing == result.with_editing == 2
    assert result.fewer == 0.0


def test_a_short_thread_is_never_distilled() -> None:
    """A thread below the threshold has no distillation, and None as the share that clearing saves."""
    result = frequency(heavy(3).done(), Limits())
    assert (result.without_editing, result.with_editing, result.fewer) == (0, 0, None)


def test_the_absolute_cap_holds_at_large_windows() -> None:
    """In a window of a million tokens the absolute cap comes before the trigger of clearing."""
    result = frequency(heavy(100).done(), Limits(window=1_000_000))
    assert result.threshold == 140_000
    assert result.without_editing == result.with_editing > 0


def test_no_messages() -> None:
    """A replay without messages is refused."""
    with pytest.raises(ValidationError, match="no message"):
        frequency([], Limits())


def test_a_window_without_room_is_refused() -> None:
    """A window in which every context after a distillation reaches the threshold is refused."""
    with pytest.raises(ValidationError, match=f"{BESIDE:,}"):
        frequency(heavy(1).done(), Limits(window=20_000))


def test_sessions_become_one_thread() -> None:
    """Sequence numbers continue, and tool call ids are different in equal sessions."""
    session = heavy(2).done()
    whole = one_thread([session, [], session])
    assert [message.last_seq for message in whole] == list(range(1, 17))
    units, lost = split_units(whole)
    assert lost == []
    assert len({block["id"] for piece in units for block in piece.assistant_blocks if block["type"] == "tool_use"}) == 4


@pytest.mark.parametrize("sessions", SETS, ids=["generated", "recorded"][: len(SETS)])
def test_whole_sessions_are_distilled_less_often(sessions: list[Path]) -> None:
    """Context editing saves at least 60 % of the distillations of tool-heavy work; all recorded sessions in a soak."""
    result = frequency(one_thread([main_line(read_entries(path, tokens=False)) for path in sessions]), Limits())
    assert result.without_editing >= 4
    assert result.fewer is not None
    assert result.fewer >= 0.6
