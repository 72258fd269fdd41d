"""How often a thread is distilled: counted as the daemon would, cleared by the documented rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reverie.context import Limits
from reverie.context.clearing import clear, cleared_cost
from reverie.context.units import split_units
from reverie.errors import ValidationError
from reverie.evals.frequency import BESIDE, frequency, one_thread
from reverie.importers.files import read_entries
from reverie.importers.messages import main_line
from support.generated_sessions import generated_files
from support.shared import real_sessions
from support.soak import count
from support.talk import Talk

if TYPE_CHECKING:
    from pathlib import Path

RESULT = "the result of the call goes on and on " * 300  # about 2,700 tokens


# About 500,000 tokens of work in which tools return long texts, and recorded sessions where they are at hand.
SETS = [list(generated_files(10, tasks=9, noise=70)), *([real_sessions()[: count(8, 39)]] if real_sessions() else [])]


def heavy(calls: int) -> Talk:
    """A thread that is almost all results of tools."""
    talk = Talk()
    for number in range(calls):
        talk.user(f"look at part {number}").call("Bash", {"command": f"cat part_{number}"}, RESULT)
        talk.reply("It is as it was.")
    return talk


def test_clearing_spares_distillations_of_tool_heavy_threads() -> None:
    """Results that are cleared make room; the figures name what was replayed."""
    found = frequency(heavy(220).done(), Limits())
    assert found.messages == 880
    assert (found.threshold, found.after) == (140_000, 35_000)
    # The first fills the window beside 16,000 tokens, every later one grows from 35,000 back to the threshold.
    assert found.without_editing == 1 + (found.tokens - 124_000) // 105_000
    assert found.with_editing == 0
    assert found.fewer == 1.0


def test_talk_alone_is_not_spared() -> None:
    """There is nothing to clear in words."""
    talk = Talk()
    for _ in range(100):
        talk.user("words " * 1_000).reply("more words " * 1_000)
    found = frequency(talk.done(), Limits())
    assert found.without_editing == found.with_editing == 2
    assert found.fewer == 0.0


def test_a_short_thread_is_never_distilled() -> None:
    """Below the threshold nothing happens, and no share of nothing is told."""
    found = frequency(heavy(3).done(), Limits())
    assert (found.without_editing, found.with_editing, found.fewer) == (0, 0, None)


def test_the_absolute_cap_holds_at_large_windows() -> None:
    """At a million tokens the cap distils before the trigger of clearing is reached."""
    found = frequency(heavy(100).done(), Limits(window=1_000_000))
    assert found.threshold == 140_000
    assert found.without_editing == found.with_editing > 0


def test_what_was_taken_back_is_not_replayed() -> None:
    """Rewound messages count for nothing, and a thread of nothing else is refused like an empty one."""
    with pytest.raises(ValidationError, match="no message"):
        frequency([], Limits())


def test_a_window_without_room_is_refused() -> None:
    """Where a context after a distillation is as large as the threshold, every reply would distil."""
    with pytest.raises(ValidationError, match=f"{BESIDE:,}"):
        frequency(heavy(1).done(), Limits(window=20_000))


def test_sessions_become_one_thread() -> None:
    """Numbered through, and every id of a call its session's own, so that equal sessions stay apart."""
    session = heavy(2).done()
    whole = one_thread([session, [], session])
    assert [message.last_seq for message in whole] == list(range(1, 17))
    units, lost = split_units(whole)
    assert lost == []
    assert len({block["id"] for piece in units for block in piece.assistant_blocks if block["type"] == "tool_use"}) == 4


@pytest.mark.parametrize("calls", [5, 60])
def test_cost_after_clearing_is_what_clearing_leaves(calls: int) -> None:
    """The weight that decides is the weight of what would be sent."""
    units, _ = split_units(heavy(calls).done())
    for beside in (0, 30_000):
        left, _ = clear(units, Limits(), beside)
        assert cleared_cost(units, Limits(), beside) == sum(piece.cost for piece in left)


@pytest.mark.parametrize("sessions", SETS, ids=["generated", "recorded"][: len(SETS)])
def test_whole_sessions_are_distilled_less_often(sessions: list[Path]) -> None:
    """Context editing saves at least 60 % of the distillations of tool-heavy work; all recorded sessions in a soak."""
    found = frequency(one_thread([main_line(read_entries(path, tokens=False)) for path in sessions]), Limits())
    assert found.without_editing >= 4
    assert found.fewer is not None
    assert found.fewer >= 0.6
