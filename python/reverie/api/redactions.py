"""What redaction took, and what a person allows."""

from reverie.api.endpoint import Endpoint
from reverie.wire import redactions as types


class Redactions:
    """Operations on redactions: one value by its id, a rule, or a pattern."""

    # fmt: off
    redactions = Endpoint("GET /v1/redactions", types.RedactionsQuery, types.RedactionsPage,
        "Lists the values that were replaced, without the values.")
    allow_redactions = Endpoint("POST /v1/redactions/allow", types.AllowRedactions, types.Allowed,
        "Allows a value, a rule or a pattern, and restores the texts that have transcripts.", long=True)
    disallow_redactions = Endpoint("POST /v1/redactions/disallow", types.AllowRedactions, types.Allowed,
        "Takes again what was allowed.", long=True)
