"""Sessions of agents' clients, and the compaction of a conversation."""

from types import NoneType

from reverie.api.endpoint import Endpoint, at, sent
from reverie.wire import sessions as types
from reverie.wire.base import NoQuery, Page
from reverie.wire.contexts import CompactConversation, Compaction


class Sessions:
    """Operations on sessions."""

    # fmt: off
    sessions = Endpoint("GET /v1/sessions", types.SessionsQuery, Page[types.Session],
        "Lists the sessions of agents' clients.")
    start_session = Endpoint("POST /v1/sessions", sent(types.StartSession), types.Session,
        "A session begins or continues; its transcript is imported as it grows.")
    end_session = Endpoint("POST /v1/sessions/{client}/{session}/end", at(at(NoQuery)), types.Session,
        "A session has ended.")
    compact_conversation = Endpoint("POST /v1/compactions", sent(CompactConversation), Compaction,
        "The text that takes the place of a client's conversation.")
    prepare_compaction = Endpoint("POST /v1/compactions/prepare", NoQuery, NoneType,
        "Makes ready for a compaction that may follow within a minute, which is quicker then.", status=204)
