"""Every job of the compute process by name: bytes in, plan out, nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from reverie.usecases.contexts import ContextJob, MessagesJob
from reverie.usecases.decide import contexts, distillation, dreams, imports, incremental_state, learning
from reverie.usecases.distillation import DistillJob
from reverie.usecases.dreams import DreamJob
from reverie.usecases.imports import ChunkJob
from reverie.usecases.incremental_state import StateJob
from reverie.usecases.learning import LearnJob

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
    "state": _job(StateJob, incremental_state.decide),
    "context": _job(ContextJob, contexts.decide),
    "messages": _job(MessagesJob, contexts.page),
    "distill": _job(DistillJob, distillation.decide),
    "learn": _job(LearnJob, learning.decide),
    "dream": _job(DreamJob, dreams.decide),
}
