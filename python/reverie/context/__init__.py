"""Assembly of a thread's tiers into one request fragment under a token budget."""

from reverie.context.assemble import assemble, placement
from reverie.context.assembly_inputs_and_token_ceilings import Context, Limits, Parts, Placement, RecallLine, ceilings
from reverie.context.conversation_units_open_turn_and_tail_start import is_turn_finished, open_turn_start, tail_start
from reverie.context.text import render

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
