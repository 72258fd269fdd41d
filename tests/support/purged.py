"""Search for a word in every byte under a folder, and in every record of its store as it reads when unpacked."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING

import lmdb

from reverie.store.codec import TOMBSTONE, decode_record
from reverie.store.keys import record_name, space_prefix, split_key
from reverie.store.transactions import ReadTransaction
from support.file_texts import bytes_below

if TYPE_CHECKING:
    from pathlib import Path


def files_with(folder: Path, word: str) -> list[str]:
    """Return the files under a folder, and the records of the store in it, that have a word; none where it is gone.

    As it is, in any case, as JSON escapes it, and in names.
    """
    forms = {word.lower().encode(), json.dumps(word.lower())[1:-1].encode(), word.lower().encode("utf-16-le")}
    found = []
    for path, data in bytes_below(folder).items():
        if any(form in data.lower() for form in forms) or word.casefold() in path.rpartition("/")[2].casefold():
            found.append(path)
    return found + _records_with(folder / "data" / "store", word.lower().encode())


def _records_with(store: Path, word: bytes) -> list[str]:
    """Return the names of the records that have a word; they may be packed, or edits of the version after them."""
    found = []
    with (
        contextlib.closing(lmdb.open(str(store), readonly=True, create=False, lib_version=0)) as env,
        env.begin() as txn,
    ):
        for raw, data in txn.cursor():
            record = decode_record(raw, data)
            if record.form != TOMBSTONE:
                space = space_prefix(split_key(raw)[0])
                if word in ReadTransaction(txn, space).body(raw, record).lower():
                    found.append(record_name(raw))
    return found
