"""Model-based test of a real daemon with people and agents that is killed, stopped and moved through time."""

from __future__ import annotations

import pytest

from support.daemon_model import model
from support.soak import count


@pytest.mark.timeout(count(600, 7200))
@pytest.mark.parametrize("seed", range(count(1, 5)))
def test_whatever_happens_both_sides_agree_and_no_word_is_lost(seed: int) -> None:
    """No word is lost unless an editor that had read it replaced it, and an idle daemon writes nothing."""
    with model(seed) as made:
        made.steps(count(600, 10_000), batch=40, deaths=count(3, 60))
        print(f"seed {seed}: {dict(sorted(made.tally.items()))}, {made.agents.refused} calls refused")
