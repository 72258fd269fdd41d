"""Every job of the compute process by name: bytes in, plan out, nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from reverie.engine import contexts, distillation, dreaming, imports

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
    "import": _job(imports.ChunkJob, imports.decide_chunk),
    "state": _job(contexts.StateJob, contexts.decide_state),
    "context": _job(contexts.ContextJob, contexts.decide),
    "distill": _job(distillation.DistillJob, distillation.decide),
    "dream": _job(dreaming.DreamJob, dreaming.decide),
}
