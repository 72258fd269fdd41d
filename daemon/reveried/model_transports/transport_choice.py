"""The choice of a transport by the settings."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from reverie.usecases.token_usage_ledger import Ceilings
from reveried.model_transports.anthropic_transport import Anthropic
from reveried.model_transports.command_transport import CommandTransport
from reveried.model_transports.metered_retrying_transport import TRIES, Metered
from reveried.model_transports.redact_and_send_model_requests import Models
from reveried.model_transports.send_and_await_recoverable_message_batches import Batches
from reveried.model_transports.spool_transport_and_late_answers import SpoolTransport

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reverie.installation_paths import Layout
    from reverie.redact import Redactor
    from reverie.store import Store
    from reveried.commit_worker import Submit
    from reveried.config import Config
    from reveried.model_transports.transport import ModelTransport


def chosen_models(
    config: Config,
    layout: Layout,
    redactor: Redactor,
    *,
    env: Mapping[str, str],
    submit: Submit,
    clock: Callable[[], str],
    new_id: Callable[[str], str],
    store: Store,
) -> Models | None:
    """Return the model that the settings choose, every request of it counted; None for the extractive engine."""
    transport = _transport(config, layout, redactor, env)
    if transport is None:
        return None
    settings = config.distiller
    ceilings = Ceilings(tokens=settings.daily_tokens, calls=settings.daily_calls)
    metered = Metered(
        transport,
        submit,
        ceilings=ceilings,
        clock=clock,
        new_id=new_id,
        random=random.random,
        tries=TRIES if settings.kind == "anthropic" else 1,
        wait_s_max=settings.wait_seconds,
    )
    models = Models.of(metered, settings, redactor)
    if isinstance(transport, Anthropic) and settings.batches == "scheduled":
        models.batches = Batches(
            transport,
            submit,
            store,
            ceilings=ceilings,
            clock=clock,
            new_id=new_id,
            poll_s=settings.batch_poll_seconds,
        )
    return models


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
        case "spool":
            return SpoolTransport(
                settings.spool_folder, models={"cheap": settings.cheap_model, "strong": settings.strong_model}
            )
        case "anthropic":
            return Anthropic(settings, env)
        case _:
            return None
