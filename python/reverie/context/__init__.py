"""The tiers of a thread, assembled into one request fragment under a token budget."""

from reverie.context.assemble import assemble, placement
from reverie.context.budget import ceilings
from reverie.context.parts import Context, Limits, Parts, Placement, RecallLine
from reverie.context.render import render
from reverie.context.tail import choose, finished, open_turn

__all__ = [
    "Context",
    "Limits",
    "Parts",
    "Placement",
    "RecallLine",
    "assemble",
    "ceilings",
    "choose",
    "finished",
    "open_turn",
    "placement",
    "render",
]
