"""Read the files of a model's folder within size limits; damaged and unknown files are refused before use."""

from __future__ import annotations

import json
import os
import stat
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FILE_BYTES_MAX: Final = 100_000_000  # of a file beside the weights, and of the weights' header
WEIGHTS_BYTES_MAX: Final = 2_000_000_000  # of the file, and of the numbers as float32: a large BERT has 1.3 GB
_CHUNK_BYTES: Final = 1 << 24
_DTYPES: Final = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I8": "i1", "I32": "<i4", "I64": "<i8"}


def read_file(path: Path, limit: int = FILE_BYTES_MAX) -> bytes:
    """Return the content of a regular file, which a link may lead to.

    Raises:
        OSError: it cannot be read.
        ValueError: it is a pipe, a device or a folder, or longer than `limit` bytes.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe without a writer is not waited for
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise ValueError(f"{path.name} is not a regular file")
        if status.st_size > limit:
            raise ValueError(f"{path.name} is longer than {limit} bytes")
        parts: list[bytes] = []
        left = status.st_size
        while left and (part := os.read(handle, min(left, _CHUNK_BYTES))):
            parts.append(part)
            left -= len(part)
        return b"".join(parts)
    finally:
        os.close(handle)


def json_object(data: bytes, what: str) -> dict[str, Any]:
    """Return the object that JSON text is. Raises ValueError for any other text; `what` names it in the message."""
    try:
        value = json.loads(data)
    except RecursionError as error:
        raise ValueError(f"{what} is nested too deeply") from error
    if not isinstance(value, dict):
        raise ValueError(f"{what} is no JSON object")  # noqa: TRY004 - wrong content, and no mistake of the caller
    return value


def tensors_of(np: Any, data: bytes) -> Mapping[str, Any]:
    """Return the tensors in the content of a safetensors file by their names, as float32 arrays of finite numbers.

    Raises:
        ValueError: the file is damaged, or has numbers of an unknown type, or such that are infinite or none.
        KeyError, TypeError: its header does not describe tensors.
    """
    size = int.from_bytes(data[:8], "little")
    if size > min(len(data) - 8, FILE_BYTES_MAX):
        raise ValueError("its header is not whole")
    header = json_object(data[8 : 8 + size], "its header")
    body = memoryview(data)[8 + size :]
    tensors: dict[str, Any] = {}
    stored = numbers = 0
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        start, end = entry["data_offsets"]
        shape = entry["shape"]
        if entry["dtype"] not in _DTYPES or not 0 <= start <= end <= len(body) or not _is_shape(shape):
            raise ValueError(f"the tensor {name[:100]!r} cannot be read")
        dtype = np.dtype(_DTYPES[entry["dtype"]])
        stored += end - start
        numbers += (end - start) // dtype.itemsize
        if stored > len(body) or 4 * numbers > WEIGHTS_BYTES_MAX:  # tensors that share bytes take more than the file
            raise ValueError("its tensors are larger than the file, or too large")
        with np.errstate(over="ignore"):
            array = np.frombuffer(body[start:end], dtype).reshape(shape).astype(np.float32)
        if not np.isfinite(array).all():
            raise ValueError(f"the tensor {name[:100]!r} has numbers that are infinite or none")
        tensors[name] = array
    return tensors


def _is_shape(shape: object) -> bool:
    return isinstance(shape, list) and all(type(size) is int and size >= 0 for size in shape)
