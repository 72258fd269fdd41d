"""The OpenAPI document is the one that was published: the golden has a digest of each operation and schema.

    python tests/unit/daemon/test_openapi.py

writes it anew.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from reverie.api import endpoints
from reveried.http.openapi import openapi
from reveried.http.route import noun_of
from reveried.routes import FREQUENT, NOUNS, routes

GOLDEN = Path(__file__).parents[2] / "golden/openapi.json"


def digests() -> dict[str, str]:
    """Return the digest of each operation, of each component, and of the rest with the order of all names."""
    document = openapi(endpoints())
    parts: dict[str, Any] = {
        f"{method} {path}": operation for path, item in document["paths"].items() for method, operation in item.items()
    }
    parts |= {f"{kind} {name}": part for kind, group in document["components"].items() for name, part in group.items()}
    parts["rest"] = [{**document, "paths": None, "components": None, "info": document["info"]["title"]}, list(parts)]
    return {name: hashlib.sha256(json.dumps(part).encode()).hexdigest()[:16] for name, part in parts.items()}


def test_the_description_is_the_published_one() -> None:
    """Nothing of the description changes by accident; what is changed on purpose is written anew."""
    assert digests() == json.loads(GOLDEN.read_text())


def test_every_endpoint_is_served() -> None:
    """Each endpoint of the API has a handler, and there is no other route."""
    assert routes().keys() == set(endpoints())


def test_a_noun_has_all_its_endpoints() -> None:
    """The modules that are imported for the first request of a noun are those that serve it, and no others."""
    served = {(handler.__module__.rpartition(".")[2], noun_of(row.path)) for row, handler in routes().items()}

    assert served == {(module, noun) for module, nouns in NOUNS.items() for noun in nouns.split()}
    assert set(FREQUENT) <= {noun for _, noun in served}


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps(digests(), indent=0) + "\n")
