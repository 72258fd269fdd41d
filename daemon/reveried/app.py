"""The composition root: opens each part, promises at once to close it, and waits for the end.

Order matters and is written here alone: settings, log, locks, check after an unclean stop, store, writer, compute,
schedules, server. Closing goes backwards, by the stack.
"""

from __future__ import annotations

import asyncio
import gc
import os
import secrets
import signal
import socket
import sys
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from reverie.errors import Damaged, ReverieError
from reverie.paths import Layout
from reverie.redact import Redactor
from reverie.store import Store, StoreLock, needs_check
from reveried import __version__, log
from reveried.actions.distill import register_dream_job
from reveried.actions.retention import keep_rules
from reveried.background_state import BackgroundState
from reveried.clock import clock_of, text_of
from reveried.compute import Compute
from reveried.config import Config, load
from reveried.events import Events
from reveried.http.admission import Admission, Limits
from reveried.http.metrics import Metrics
from reveried.http.openapi import openapi
from reveried.http.routing import Application
from reveried.jobs import Jobs
from reveried.log import logger
from reveried.platform import activated_sockets, notify
from reveried.process_lock import ProcessLock
from reveried.recall import Recall
from reveried.routes import routes
from reveried.scheduler import Scheduler
from reveried.server import Server, bind_tcp, bind_unix
from reveried.services import Services
from reveried.startup_check import check_store
from reveried.sync_service import SyncService
from reveried.system_records import StoredCallers, StoredSchedules, spaces_of, store_id
from reveried.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reveried.clock import Clock

__all__ = ["EXIT_DAMAGED", "EXIT_FAILED", "run", "serve"]

EXIT_FAILED = 1
EXIT_DAMAGED = (
    78  # EX_CONFIG: a person must act; the service manager does not start us again (RestartPreventExitStatus)
)
SWITCH_INTERVAL_S = 0.0005  # the writer thread gives way to the event loop ten times sooner than by default


def run(env: Mapping[str, str]) -> int:
    """Serves until a signal; the exit status of the process."""
    import uvloop  # noqa: PLC0415 - the command line imports this module for its exit statuses

    sys.setswitchinterval(SWITCH_INTERVAL_S)
    try:
        return uvloop.run(serve(env))
    except Damaged as error:
        _say(error)
        return EXIT_DAMAGED
    except ReverieError as error:
        _say(error)
        return error.exit_status


async def serve(env: Mapping[str, str]) -> int:
    """The whole daemon, from nothing to the end.

    Raises:
        ReverieError: it could not start; the message says what to do.
    """
    began = time.monotonic()
    home = Path(env["REVERIE_HOME"]) if env.get("REVERIE_HOME") else None
    layout = Layout.from_env(env, Path.home(), os.getuid())
    config = load(layout, env, home=Path.home())
    log.configure(config.log.level)
    stopping = _stop_signals()
    async with AsyncExitStack() as closing:
        lock = ProcessLock(layout.data_dir / "daemon.lock")
        closing.callback(lock.release)
        server = await _listen(config, env, closing)
        unclean = needs_check(layout.store_dir)
        store_lock = StoreLock.take(layout.store_dir)
        closing.callback(store_lock.release)
        if unclean:
            await check_store(layout.store_dir)
        redactor, clock = Redactor(config.redact.literals), clock_of(env, home)
        store = Store.open(layout.store_dir, redactor=redactor, lock=store_lock)
        closing.callback(store.close)
        services = await _assemble(
            layout, config, store, redactor, closing, admission=server.admission, clock=clock, began=began
        )
        closing.push_async_callback(server.drain, config.daemon.drain_seconds)
        closing.callback(services.events.end)
        server.handler = Application(routes(), services)
        closing.callback(notify, "STOPPING=1", env)
        notify("READY=1", env)
        # What the start made stays for good: the collector need not look at it again.
        gc.freeze()
        gc.enable()
        services.folders.start(spaces_of(store))
        closing.callback(asyncio.create_task(keep_rules(services)).cancel)
        logger("reveried").info(
            "ready", version=__version__, pid=os.getpid(), seconds=round(time.monotonic() - began, 3)
        )
        await stopping.wait()
        logger("reveried").info("stopping", connections=len(server.open.connections))
    logger("reveried").info("stopped")
    return 0


async def _assemble(
    layout: Layout,
    config: Config,
    store: Store,
    redactor: Redactor,
    closing: AsyncExitStack,
    *,
    admission: Admission,
    clock: Clock,
    began: float,
) -> Services:
    """The parts between the store and the server, each with its promise to close."""
    daemon = config.daemon

    def at() -> str:
        return text_of(clock.now())

    def now_ms() -> int:
        return int(clock.now().timestamp() * 1000)

    events = Events(asyncio.get_running_loop(), subscribers=daemon.subscribers)
    worker = Worker(store, clock=at, queue_length=daemon.queue_length, on_commit=events.notify)
    worker.start()
    closing.push_async_callback(asyncio.to_thread, worker.stop)
    compute = Compute(idle_s=daemon.compute_idle_seconds, timeout_s=daemon.compute_seconds)
    closing.push_async_callback(compute.close)
    jobs = Jobs(clock=at, now_ms=now_ms, random=secrets.token_bytes)
    closing.push_async_callback(jobs.close, daemon.drain_seconds)
    scheduler = Scheduler(StoredSchedules(store, worker.submit), clock=clock)
    closing.push_async_callback(scheduler.stop)
    folders = SyncService(
        store,
        worker.submit,
        redactor,
        config,
        store_id=await store_id(store, worker.submit, secrets.token_bytes),
        clock=at,
        now_ms=now_ms,
        random=secrets.token_bytes,
    )
    closing.push_async_callback(folders.close)
    background_state = BackgroundState()
    closing.push_async_callback(background_state.close)
    services = Services(
        config=config,
        layout=layout,
        store=store,
        redactor=redactor,
        callers=StoredCallers(store),
        submit=worker.submit,
        worker=worker,
        compute=compute,
        events=events,
        jobs=jobs,
        scheduler=scheduler,
        admission=admission,
        metrics=Metrics(),
        description=lambda: openapi(routes()),
        recall=Recall(store),
        folders=folders,
        background_state=background_state,
        clock=at,
        now_ms=now_ms,
        random=secrets.token_bytes,
        started=began,
    )
    register_dream_job(services)
    await scheduler.start()
    return services


async def _listen(config: Config, env: Mapping[str, str], closing: AsyncExitStack) -> Server:
    """Listens at once, so that whoever comes early is told `starting`: on inherited sockets, or on our own."""
    daemon = config.daemon
    limits = Limits(
        body_bytes=daemon.body_bytes,
        connections=daemon.connections,
        header_s=daemon.header_seconds,
        body_s=daemon.body_seconds,
        idle_s=daemon.idle_seconds,
        write_s=daemon.write_seconds,
    )
    server = Server(Admission(limits))
    closing.push_async_callback(server.drain, 0.0)
    inherited = [listener for _, listener in activated_sockets(env, os.getpid())]
    listeners = list(inherited)
    if not any(listener.family == socket.AF_UNIX for listener in inherited):
        # A lock of its own: two stores may have been given one socket.
        guard = ProcessLock(daemon.socket.with_name(daemon.socket.name + ".lock"))
        closing.callback(guard.release)
        listeners.append(bind_unix(daemon.socket))
        closing.callback(daemon.socket.unlink, missing_ok=True)
    if daemon.tcp:
        listeners.append(bind_tcp(daemon.tcp))
    for listener in listeners:
        await server.listen(listener)
    return server


def _stop_signals() -> asyncio.Event:
    """Set by SIGTERM or SIGINT. SIGHUP, which would end the process, is only noted: settings change at a restart."""
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    loop.add_signal_handler(signal.SIGHUP, lambda: logger("reveried").info("settings are read at the next start"))
    return stopping


def _say(error: ReverieError) -> None:
    """Why the daemon ends, for the person or the service manager that started it."""
    hint = f" {error.hint}" if error.hint else ""
    print(f"reveried: {error.message}{hint}", file=sys.stderr)  # noqa: T201 - the log may not be set up yet
