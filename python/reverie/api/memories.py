"""Memories one by one, the search for them, and what waits for a person's decision."""

from reverie.api.endpoint import Endpoint, at, sent
from reverie.wire import memories as types
from reverie.wire.base import NoQuery, Page, PurgeQuery


class Memories:
    """Operations on memories. A recall counts as an access of each memory that it returns, or is a `peek`."""

    # fmt: off
    memories = Endpoint("GET /v1/memories", types.MemoryQuery, types.MemoryPage, "Lists the memories.")
    remember = Endpoint("POST /v1/memories", sent(types.CreateMemory), types.RememberedMemory, "Creates a memory.",
        status=201, also=(200,))
    memory = Endpoint("GET /v1/memories/{id}", at(NoQuery), types.Memory, "Returns one memory.")
    change_memory = Endpoint("PATCH /v1/memories/{id}", at(sent(types.ChangeMemory)), types.Memory,
        "Changes a memory.")
    forget = Endpoint("DELETE /v1/memories/{id}", at(PurgeQuery), types.MemoryDeleted,
        "Deletes a memory; with `purge` for good.")
    memory_history = Endpoint("GET /v1/memories/{id}/history", at(NoQuery), Page[types.MemoryVersion],
        "Lists the versions of a memory.")
    recall = Endpoint("POST /v1/recall", types.RecallRequest, types.RecallAnswer, "Searches the memories.")
    candidates = Endpoint("GET /v1/candidates", types.CandidateQuery, Page[types.Candidate],
        "Lists what waits for a person's decision.")
    candidate = Endpoint("GET /v1/candidates/{id}", at(NoQuery), types.Candidate, "Returns one candidate.")
    accept_candidate = Endpoint("POST /v1/candidates/{id}/accept", at(NoQuery), types.CandidateDecided,
        "Makes the changes of a candidate.")
    reject_candidate = Endpoint("POST /v1/candidates/{id}/reject", at(NoQuery), types.CandidateDecided,
        "Makes none of a candidate's changes.")
