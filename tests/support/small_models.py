"""Small models for tests, in the files of real ones: a table of a few words."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
MEANINGS = {  # words of like meaning have like vectors
    "car": (1.0, 0.1, 0.0, 0.0),
    "automobile": (1.0, 0.0, 0.1, 0.0),
    "vehicle": (0.9, 0.2, 0.0, 0.1),
    "oak": (0.0, 1.0, 0.1, 0.0),
    "tree": (0.1, 1.0, 0.0, 0.0),
    "soup": (0.0, 0.0, 1.0, 0.2),
    "dinner": (0.0, 0.1, 1.0, 0.0),
    "##s": (0.0, 0.0, 0.0, 0.1),
    "the": (0.1, 0.1, 0.1, 0.1),
}


def static_folder(folder: Path, *, scale: float = 1.0) -> Path:
    """Write a static table of MEANINGS, times a scale; return its folder."""
    zeros = (0.0,) * 4
    table = [[scale * number for number in MEANINGS.get(token, zeros)] for token in (*SPECIAL, *MEANINGS)]
    _write(folder, (*SPECIAL, *MEANINGS), {"normalize": True}, {"embeddings": table})
    return folder


def _write(
    folder: Path, tokens: Sequence[str], config: Mapping[str, object], tensors: Mapping[str, Sequence[object]]
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    vocabulary = {token: number for number, token in enumerate(tokens)}
    described = {
        "model": {
            "type": "WordPiece",
            "vocab": vocabulary,
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
        },
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
    }
    (folder / "tokenizer.json").write_text(json.dumps(described))
    (folder / "model.safetensors").write_bytes(weights(tensors))


def weights(tensors: Mapping[str, Sequence[object]]) -> bytes:
    """Return tensors (lists of numbers, or of lists) as the content of a safetensors file, in single precision."""
    header: dict[str, object] = {}
    data = b""
    for name, tensor in tensors.items():
        rows = tensor if isinstance(tensor[0], list) else [tensor]
        numbers = [number for row in rows for number in row]  # type: ignore[attr-defined]
        shape = [len(tensor), len(rows[0])] if rows is tensor else [len(tensor)]  # type: ignore[arg-type]
        assert math.prod(shape) == len(numbers)
        more = struct.pack(f"<{len(numbers)}f", *numbers)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(more)]}
        data += more
    head = json.dumps(header).encode()
    return struct.pack("<Q", len(head)) + head + data
