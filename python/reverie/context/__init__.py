"""Assembly of a thread's tiers into one request fragment under a token budget."""

from reverie.context.assemble import assemble, placement
from reverie.context.inputs import Context, Limits, Parts, Placement, RecallLine, ceilings
from reverie.context.text import render
from reverie.context.units import is_turn_finished, open_turn_start, tail_start

__all__ = [
    "Context",
    "Limits",
    "Parts",
    "Placement",
    "RecallLine",
    "assemble",
    "ceilings",
    "is_turn_finished",
    "open_turn_start",
    "placement",
    "render",
    "tail_start",
]
