"""Runs: the work of an agent, the files that it wrote, its working memory, and what is learnt at its end."""

import base64

from reverie.api.endpoint import Endpoint, at
from reverie.wire import runs as types
from reverie.wire.base import NoQuery, Page


def _file(content: str | bytes) -> types.PutRunFile:
    """Return a file as the agent wrote it, whole."""
    if isinstance(content, bytes):
        return types.PutRunFile(base64.b64encode(content).decode(), "base64")
    return types.PutRunFile(content)


class Runs:
    """Operations on runs. A repeated completion returns the same result."""

    # fmt: off
    start_run = Endpoint("POST /v1/runs", types.CreateRun, types.Run, "Begins a run.", status=201)
    runs = Endpoint("GET /v1/runs", types.RunsQuery, Page[types.Run], "Lists the runs, newest first.")
    run = Endpoint("GET /v1/runs/{id}", at(NoQuery), types.Run, "Returns one run.")
    run_context = Endpoint("GET /v1/runs/{id}/context", at(NoQuery), types.RunContext,
        "Returns the text that knowledge of a run is extracted from.")
    run_file = Endpoint("GET /v1/runs/{id}/files/{path:path}", at(at(NoQuery)), types.RunFileText,
        "Returns a file of a run with its content.")
    put_run_file = Endpoint("PUT /v1/runs/{id}/files/{path:path}", at(at(_file)), types.RunFile,
        "Stores a file that the agent wrote.")
    put_working_memory = Endpoint("PUT /v1/runs/{id}/working-memory", at(types.PutWorkingMemory), types.Run,
        "Replaces the working memory of a run.")
    complete_run = Endpoint("POST /v1/runs/{id}/complete", at(NoQuery), types.RunResult,
        "Completes a run: extract, consolidate, apply.", long=True)
