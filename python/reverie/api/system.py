"""The daemon itself: health, status, figures, backups and jobs."""

from typing import Any

from reverie.api.endpoint import Endpoint, at
from reverie.wire import status as types
from reverie.wire.base import ListQuery, NoQuery, Page


class System:
    """Operations on the daemon."""

    # fmt: off
    health = Endpoint("GET /v1/health", NoQuery, types.Health, "Liveness, version and protocol of the daemon.")
    status = Endpoint("GET /v1/status", NoQuery, types.Status,
        "Counts, schedules, folder state, and what needs a person.")
    metrics = Endpoint("GET /metrics", NoQuery, str, "The daemon's figures in the Prometheus text format.",
        media="text/plain; version=0.0.4; charset=utf-8")
    backup = Endpoint("POST /v1/backups", types.CreateBackup, types.BackupMade, "Copies the whole store to a file.",
        long=True)
    compact = Endpoint("POST /v1/compact", NoQuery, types.Compacted,
        "Rewrites the store's file without the space that deleted records have left.", long=True)
    openapi = Endpoint("GET /v1/openapi.json", NoQuery, dict[str, Any], "Returns this description.")
    check_distiller = Endpoint("POST /v1/distiller/check", NoQuery, types.DistillerChecked,
        "Asks each model of the distiller once; answers how long it took and what it used.", long=True)
    jobs = Endpoint("GET /v1/jobs", ListQuery, Page[types.Job], "The jobs since the daemon started, oldest first.")
    job = Endpoint("GET /v1/jobs/{id}", at(NoQuery), types.Job, "A job with its progress and result.")
    cancel_job = Endpoint("DELETE /v1/jobs/{id}", at(NoQuery), types.Job,
        "Cancels a job; what it has committed stays.")
