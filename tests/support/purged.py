"""Search for a word in every byte under a folder, and in every record of its store as it reads when unpacked."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

import lmdb

from reverie.store.codec import TOMBSTONE, decode_record
from reverie.store.keys import record_name, space_prefix, split_key
from reverie.store.transactions import ReadTransaction
from support.daemon_folder import bytes_below


def files_with(folder: Path, word: str) -> list[str]:
    """Return the files under a folder, and the records of the store in it, that have a word; none where it is gone.

    As it is, in any case, as JSON escapes it, and in names.
    """
    forms = {word.lower().encode(), json.dumps(word.lower())[1:-1].encode(), word.lower().encode("utf-16-le")}
    return [
        name
        for name, text in texts_below(folder)
        if any(form in text.lower() for form in forms) or word.casefold() in name.rpartition("/")[2].casefold()
    ]


def texts_below(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the bytes of every file under a folder by its relative path, and of every record of its store by name.

    Records may be packed in the file, or edits of the version after them.
    """
    yield from bytes_below(folder).items()
    with (
        contextlib.closing(
            lmdb.open(str(folder / "data" / "store"), readonly=True, create=False, lib_version=0)
        ) as env,
        env.begin() as txn,
    ):
        for raw, data in txn.cursor():
            record = decode_record(raw, data)
            if record.form != TOMBSTONE:
                yield record_name(raw), ReadTransaction(txn, space_prefix(split_key(raw)[0])).body(raw, record)
