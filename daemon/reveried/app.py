"""The composition root: creates every component of the daemon, connects them, and closes them in reverse order.

The order of the start is here alone: settings, log, locks, listening sockets, check after an unclean stop, store,
worker, compute process, schedules, sync service, server. Each component pushes its closing on an exit stack as soon as
it is open, so a start that fails half-way closes what it has opened.
"""

from __future__ import annotations

import asyncio
import errno
import gc
import os
import secrets
import signal
import socket
import sys
import time
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from reverie.api import endpoints
from reverie.errors import Damaged, ReverieError, StorageFailed, ValidationError
from reverie.ids import ID_RANDOM_BYTES, new_id
from reverie.places import Layout
from reverie.redact import Redactor
from reverie.store import Store, StoreLock, needs_check
from reverie.usecases.access_counts import AccessCounts
from reverie.usecases.fingerprints import FingerprintKeeper
from reverie.usecases.message_search import MessageSearch
from reverie.usecases.recall import Recall
from reveried import __version__, log
from reveried.actions.indexing import save_indexes, save_messages
from reveried.actions.memories import write_accesses
from reveried.actions.schedules import register_scheduled_jobs
from reveried.clock import clock_of, text_of
from reveried.compute import SMALL_JOBS, Compute
from reveried.config import Config, load
from reveried.http.limits import Admission, Limits
from reveried.http.metrics import Metrics
from reveried.http.openapi import openapi
from reveried.http.route import Application
from reveried.jobs import Jobs
from reveried.linux import activated_sockets, limit_kept_memory, notify
from reveried.log import logger
from reveried.models.choice import chosen_models
from reveried.process_lock import DAEMON_LOCK, ProcessLock
from reveried.routes import load_frequent, routes_of
from reveried.scheduler import Scheduler
from reveried.server import OwnSocket, Server, bind_tcp
from reveried.services import Services
from reveried.stop_note import StopNote
from reveried.stored import StoredCallers, StoredSchedules, begin_redactions, spaces_of, store_id
from reveried.supervise import start_supervised
from reveried.wakeups import Events
from reveried.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reverie.embedding import Embedder
    from reveried.clock import Clock
    from reveried.models.ask import Models

EXIT_FAILED = 1
EXIT_CONFIG = 78  # EX_CONFIG, a damaged store or invalid settings: RestartPreventExitStatus of the unit names it
SWITCH_INTERVAL_S = 0.0005  # a tenth of the default: the writer thread yields the interpreter to the event loop sooner
MEMORY_ARENAS = 2  # of the allocator: few threads allocate at one moment, and each arena keeps what was freed in it
MAPPED_BYTES = 1 << 20  # of one piece of memory; from here on mapping it costs little beside filling it
FINDINGS_LOGGED = 20
RUN_BYTES = 8  # of the name of this process among all that count accesses in the store
_UNUSABLE = frozenset((errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.ENOSPC, errno.EDQUOT))


def run_in_foreground() -> int:
    """Run the daemon with this process's environment until it is stopped; return the exit status of the process."""
    os.chdir("/")  # every path is absolute by now; a file system cannot be unmounted while a process has its cwd there
    return run(os.environ)


def run(env: Mapping[str, str]) -> int:
    """Run the daemon until SIGTERM or SIGINT; return the exit status of the process."""
    import uvloop  # noqa: PLC0415 - the command line imports this module for its exit statuses

    sys.setswitchinterval(SWITCH_INTERVAL_S)
    limit_kept_memory(arenas=MEMORY_ARENAS, large_bytes=MAPPED_BYTES)
    try:
        layout = Layout.from_env(env, Path.home(), os.getuid())
        config = load(layout, env, home=Path.home())
    except ValidationError as error:
        # Not the 2 of other commands: the service manager would restart the daemon again and again.
        _print_error(error)
        return EXIT_CONFIG
    try:
        return uvloop.run(serve(env, layout, config))
    except Damaged as error:
        _print_error(error)
        return EXIT_CONFIG
    except ReverieError as error:
        _print_error(error)
        return error.exit_status
    except OSError as error:
        if error.errno not in _UNUSABLE or not error.filename:
            raise
        why = f"{error.filename} cannot be used: {error.strerror}."
        _print_error(StorageFailed(why, hint="reverie doctor checks paths and permissions."))
        return EXIT_FAILED


async def serve(env: Mapping[str, str], layout: Layout, config: Config) -> int:
    """Start the daemon, serve until a stop signal, close everything; return the exit status.

    Raises:
        ReverieError: the daemon could not start; the hint says what to do.
    """
    began = time.monotonic()
    home = Path(env["REVERIE_HOME"]) if env.get("REVERIE_HOME") else None
    log.configure(config.log.level)
    for unused in config.unused:
        logger("reveried").warning("a setting is not used", why=unused.message, hint=unused.hint)
    stopping = _stop_signals()
    async with AsyncExitStack() as closing:
        lock = ProcessLock(layout.data_dir / DAEMON_LOCK)
        closing.callback(lock.release)
        stop = StopNote(layout.data_dir)
        closing.callback(stop.remove)
        server, own = await _listen(config, env, closing)
        unclean = needs_check(layout.store_dir)
        store_lock = StoreLock.take(layout.store_dir)
        closing.callback(store_lock.release)
        if unclean:
            stop.say("the check of the store")
            await _check_store(layout.store_dir)
            stop.remove()
        clock = clock_of(env, home)
        # The store redacts again what it is given, ids and paths too: a value that is remembered must not change those.
        store = Store.open(layout.store_dir, redactor=Redactor(config.redact.literals, forgets=True), lock=store_lock)
        closing.callback(store.close)
        services = await _assemble(
            layout, config, store, closing, stop, admission=server.admission, clock=clock, began=began, env=env
        )
        closing.push_async_callback(services.close, "Follower")
        closing.callback(stop.say, "what sessions wrote last")
        closing.push_async_callback(services.scheduler.stop)  # before what its runs use: models, folder, worker
        await services.scheduler.start()
        closing.push_async_callback(services.close, "SessionTexts")
        closing.push_async_callback(services.close, "SessionMemory")
        closing.push_async_callback(asyncio.to_thread, save_indexes, services)
        closing.push_async_callback(asyncio.to_thread, save_messages, services)
        closing.push_async_callback(write_accesses, services)
        seconds = config.daemon.drain_seconds
        closing.push_async_callback(server.drain, seconds, partial(services.jobs.close, seconds))
        closing.callback(stop.say, "requests in progress")
        if own is not None:
            closing.callback(start_supervised("socket", partial(own.keep, server)).cancel)
        closing.callback(services.events.end)
        server.handler = Application(routes_of, services)
        closing.callback(notify, "STOPPING=1", env)
        notify("READY=1", env)
        services.sync_service.start(spaces_of(store))  # before the first request: it knows a folder that was replaced
        closing.callback(start_supervised("start", partial(_begin_background, services, closing)).cancel)
        logger("reveried").info(
            "ready", version=__version__, pid=os.getpid(), seconds=round(time.monotonic() - began, 3)
        )
        await stopping.wait()
        logger("reveried").info("stopping", connections=len(server.open.connections))
    logger("reveried").info("stopped")
    return 0


async def _begin_background(services: Services, closing: AsyncExitStack) -> None:
    """Import what is left and begin the work of the background; repeated where an import finds no descriptor free."""
    await load_frequent()
    from reveried import background  # noqa: PLC0415 - imports most of the daemon, which answers requests by now

    # The objects of the start live as long as the process, so the collector need not scan them again.
    gc.freeze()
    gc.enable()
    await background.begin(services, closing)


async def _assemble(
    layout: Layout,
    config: Config,
    store: Store,
    closing: AsyncExitStack,
    stop: StopNote,
    *,
    admission: Admission,
    clock: Clock,
    began: float,
    env: Mapping[str, str],
) -> Services:
    """Create the components between the store and the server, and push the closing of each."""
    from reveried.sync.service import SyncService  # noqa: PLC0415 - the command line imports this module

    daemon = config.daemon
    at, now_ms = _times(clock)

    def id_of(kind: str) -> str:
        return new_id(kind, now_ms(), secrets.token_bytes(ID_RANDOM_BYTES))

    events = Events(asyncio.get_running_loop(), subscribers=daemon.subscribers)
    keeper = FingerprintKeeper(store, config.redact.literals, config.redact.allow)
    store.redactor = keeper.forgetful()
    worker = Worker(store, clock=at, queue_length=daemon.queue_length, on_commit=events.notify, beside=keeper.pending)
    worker.start()
    closing.push_async_callback(asyncio.to_thread, worker.stop)
    closing.callback(stop.say, "the last writes")
    await begin_redactions(store, worker.submit, keeper.redactor.key, at())
    compute = Compute(idle_s=daemon.compute_idle_seconds, timeout_s=daemon.compute_seconds, small_jobs=SMALL_JOBS)
    closing.push_async_callback(compute.close)
    jobs = Jobs(clock=at, now_ms=now_ms, random=secrets.token_bytes)
    closing.push_async_callback(jobs.close, daemon.drain_seconds)
    closing.callback(lambda: stop.say(jobs.described()))
    scheduler = Scheduler(StoredSchedules(store, worker.submit), clock=clock)
    recall = Recall(store, layout.data_dir / "search")
    own_id = await store_id(store, worker.submit, secrets.token_bytes)
    sync_service = SyncService(
        store,
        worker.submit,
        keeper.redactor,
        config,
        store_id=own_id,
        now_ms=now_ms,
        random=secrets.token_bytes,
    )
    services = Services(
        config=config,
        layout=layout,
        store=store,
        store_id=own_id,
        keeper=keeper,
        callers=StoredCallers(store),
        submit=worker.submit,
        worker=worker,
        compute=compute,
        events=events,
        jobs=jobs,
        scheduler=scheduler,
        sync_service=sync_service,
        admission=admission,
        metrics=Metrics(),
        description=lambda: openapi(endpoints()),
        recall=recall,
        messages=MessageSearch(store, layout.data_dir / "search", _embedder(config.memory.embedder)),
        accesses=AccessCounts(secrets.token_hex(RUN_BYTES)),
        clock=at,
        now_ms=now_ms,
        random=secrets.token_bytes,
        new_id=id_of,
        started=began,
        models=_open_models(
            config, layout, closing, redactor=keeper.redactor, worker=worker, at=at, id_of=id_of, env=env
        ),
    )
    closing.push_async_callback(sync_service.close)
    closing.callback(stop.say, "the folder of memories")
    closing.push_async_callback(services.close, "BackgroundState")
    register_scheduled_jobs(services)
    return services


def _embedder(model: str) -> Callable[[], Embedder] | None:
    """Return what opens the configured embedder, None where none is."""
    if not model:
        return None
    from reverie.embedding import configured  # noqa: PLC0415 - nothing else of the daemon needs it

    return partial(configured, model, home=Path.home())


def _times(clock: Clock) -> tuple[Callable[[], str], Callable[[], int]]:
    """Return two functions of the clock: the current time in RFC 3339, and in milliseconds since 1970."""
    return (lambda: text_of(clock.now())), (lambda: int(clock.now().timestamp() * 1000))


def _open_models(
    config: Config,
    layout: Layout,
    closing: AsyncExitStack,
    *,
    redactor: Redactor,
    worker: Worker,
    at: Callable[[], str],
    id_of: Callable[[str], str],
    env: Mapping[str, str],
) -> Models | None:
    """Return the configured model, None for the extractive engine, and push its closing."""
    models = chosen_models(config, layout, redactor, env=env, submit=worker.submit, clock=at, new_id=id_of)
    if models is not None:
        closing.push_async_callback(models.close)
    return models


async def _listen(config: Config, env: Mapping[str, str], closing: AsyncExitStack) -> tuple[Server, OwnSocket | None]:
    """Return a server that listens and answers `starting` for now; and our own socket, unless it is inherited."""
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
    listeners, own = list(inherited), None
    if not any(listener.family == socket.AF_UNIX for listener in inherited):
        own = OwnSocket(daemon.socket)
        closing.callback(own.close)
        listeners.append(own.listener)
    if daemon.tcp:
        listeners.append(bind_tcp(daemon.tcp))
    for listener in listeners:
        server.listen(listener)
    return server, own


async def _check_store(store_dir: Path) -> None:
    """Check the store after an unclean stop, in a child process, before it is opened.

    Reading a badly damaged LMDB file can crash the reader, which then is only the child. Damaged records are logged,
    and each raises an error when it is read.

    Raises:
        Damaged: the file itself is damaged; opening it could crash the daemon at every start.
        StorageFailed: the check could not run.
    """
    from reverie.store.check import FILE, run_check  # noqa: PLC0415 - needed only after an unclean stop

    report = await asyncio.to_thread(run_check, store_dir, offline=True)
    check_log = logger("reveried.check")
    if report.ok:
        check_log.info("the store is sound after an unclean stop", records=sum(report.counts.values()))
        return
    findings = [f"{problem.kind} {problem.space} {problem.key}: {problem.what}" for problem in report.problems]
    if report.status == FILE:
        raise Damaged(
            f"The store in {store_dir} is damaged and was not opened: {findings[0]}.",
            hint="reverie restore FILE brings back a backup; reverie check names all that is damaged.",
            findings=len(findings),
            crashed=report.crashed,
        )
    check_log.error(
        "the store has damaged records",
        findings=findings[:FINDINGS_LOGGED],
        more=max(0, len(findings) - FINDINGS_LOGGED),
    )


def _stop_signals() -> asyncio.Event:
    """Return an event that SIGTERM and SIGINT set; SIGHUP is only logged, since settings are read at the start."""
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    loop.add_signal_handler(signal.SIGHUP, lambda: logger("reveried").info("settings are read at the next start"))
    return stopping


def _print_error(error: ReverieError) -> None:
    """Print why the daemon ends, for the person or the service manager that started it."""
    hint = f"; {error.hint}" if error.hint else ""
    print(f"reveried: {error.message.removesuffix('.')}{hint}", file=sys.stderr)  # noqa: T201 - the log may not be set up yet
