"""The choice of a transport by the settings."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from reverie.usecases.usage import Ceilings
from reveried.models.anthropic import Anthropic
from reveried.models.ask import Models
from reveried.models.command import CommandTransport
from reveried.models.meter import TRIES, Metered

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reverie.places import Layout
    from reverie.redact import Redactor
    from reveried.config import Config
    from reveried.models.transport import ModelTransport
    from reveried.worker import Submit


def chosen_models(
    config: Config,
    layout: Layout,
    redactor: Redactor,
    *,
    env: Mapping[str, str],
    submit: Submit,
    clock: Callable[[], str],
    new_id: Callable[[str], str],
) -> Models | None:
    """Return the model that the settings choose, every request of it counted; None for the extractive engine."""
    transport = _transport(config, layout, redactor, env)
    if transport is None:
        return None
    settings = config.distiller
    metered = Metered(
        transport,
        submit,
        ceilings=Ceilings(tokens=settings.daily_tokens, calls=settings.daily_calls),
        clock=clock,
        new_id=new_id,
        random=random.random,
        tries=TRIES if settings.kind == "anthropic" else 1,
        wait_s_max=settings.wait_seconds,
    )
    return Models.of(metered, settings, redactor)


def _transport(config: Config, layout: Layout, redactor: Redactor, env: Mapping[str, str]) -> ModelTransport | None:
    """Return the transport of `distiller.kind`; None for the extractive engine, which asks no model."""
    settings = config.distiller
    match settings.kind:
        case "command":
            return CommandTransport(
                settings.command,
                stdin=settings.command_input,
                models={"cheap": settings.cheap_model, "strong": settings.strong_model},
                folder=layout.data_dir / "model-calls",
                redact=redactor.text,
            )
        case "anthropic":
            return Anthropic(settings, env)
        case _:
            return None
