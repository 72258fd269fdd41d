"""JSON Schema of the wire types, for the OpenAPI description."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["components", "reference"]

_TEMPLATE = "#/components/schemas/{name}"


def components(kinds: Iterable[Any]) -> tuple[list[dict[str, Any]], dict[str, dict[str, Any]]]:
    """Return the schemas of `kinds`, in their order, and the named components that they refer to."""
    schemas, named = msgspec.json.schema_components(list(kinds), ref_template=_TEMPLATE)
    return list(schemas), named


def reference(kind: Any) -> dict[str, Any]:
    """Return the schema of one type as a request or response of the description refers to it."""
    return components([kind])[0][0]
