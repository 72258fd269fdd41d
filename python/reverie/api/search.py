"""The search in what was said, in memories and in documents."""

from reverie.api.endpoint import Endpoint
from reverie.wire import search as types


class Search:
    """The search."""

    # fmt: off
    search = Endpoint("POST /v1/search", types.SearchRequest, types.SearchAnswer,
        "Searches what was said, memories and documents.")
