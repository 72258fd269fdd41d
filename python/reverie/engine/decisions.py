"""Every job of the compute process by name: bytes in, plan out, nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from reverie.engine.contexts import ContextJob, MessagesJob
from reverie.engine.deciding import contexts, distillation, dreaming, following, imports, learning
from reverie.engine.distillation import DistillJob
from reverie.engine.dreaming import DreamJob
from reverie.engine.following import StateJob
from reverie.engine.imports import ChunkJob
from reverie.engine.learning import LearnJob

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["JOBS"]

T = TypeVar("T")


def _job(kind: type[T], decide: Callable[[T], Any]) -> Callable[[bytes], bytes]:
    """`decide` from the bytes of a snapshot to the bytes of its plan."""
    decoder = msgspec.msgpack.Decoder(kind)

    def run(data: bytes) -> bytes:
        return msgspec.msgpack.encode(decide(decoder.decode(data)))

    return run


JOBS: dict[str, Callable[[bytes], bytes]] = {
    "import": _job(ChunkJob, imports.decide),
    "state": _job(StateJob, following.decide),
    "context": _job(ContextJob, contexts.decide),
    "messages": _job(MessagesJob, contexts.page),
    "distill": _job(DistillJob, distillation.decide),
    "learn": _job(LearnJob, learning.decide),
    "dream": _job(DreamJob, dreaming.decide),
}
