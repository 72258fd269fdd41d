"""Model-based test of sync: people and agents act at random, and no word is lost."""

from __future__ import annotations

import random

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from support.soak import count
from support.sync_model import Model

STEPS = 50


class SyncMachine(RuleBasedStateMachine):
    """State machine: each rule is one act of a person, agent, clock or daemon; `Model.settles` checks the laws."""

    model: Model

    @initialize(seed=st.integers(0, 2**32))
    def begin(self, seed: int) -> None:
        self.model = Model(random.Random(seed))

    @rule()
    def agent_writes(self) -> None:
        self.model.agent_writes()

    @rule()
    def agent_writes_again(self) -> None:
        self.model.agent_writes()

    @rule()
    def agent_deletes(self) -> None:
        self.model.agent_deletes()

    @rule()
    def opens(self) -> None:
        self.model.opens()

    @rule()
    def begins(self) -> None:
        self.model.begins()

    @rule()
    def types(self) -> None:
        self.model.types()

    @rule()
    def types_more(self) -> None:
        self.model.types()

    @rule()
    def saves(self) -> None:
        self.model.saves()

    @rule()
    def saves_again(self) -> None:
        self.model.saves()

    @rule()
    def deletes(self) -> None:
        self.model.deletes()

    @rule()
    def moves(self) -> None:
        self.model.moves()

    @rule()
    def looks(self) -> None:
        self.model.looks()

    @rule()
    def dies(self) -> None:
        self.model.dies()

    @rule()
    def is_raced(self) -> None:
        self.model.is_raced()

    @rule()
    def writes_through(self) -> None:
        self.model.writes_through()

    @rule()
    def time_passes(self) -> None:
        self.model.time_passes()

    @rule()
    def vanishes(self) -> None:
        self.model.vanishes()

    @rule()
    def settles(self) -> None:
        self.model.settles()

    def teardown(self) -> None:
        if hasattr(self, "model"):
            self.model.settles()


# A run that fails is told by its seed and its acts; to make it shorter takes longer than the whole campaign.
SyncMachine.TestCase.settings = settings(
    max_examples=count(150, 20_000),
    stateful_step_count=STEPS,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
    deadline=None,
    print_blob=True,
)
TestSync = SyncMachine.TestCase
