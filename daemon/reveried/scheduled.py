"""What a schedule may run, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reveried.actions import dreams

if TYPE_CHECKING:
    from reveried.services import Services

__all__ = ["offer_jobs"]


def offer_jobs(services: Services) -> None:
    """Tells the scheduler the jobs that exist."""
    dreams.offer(services)
