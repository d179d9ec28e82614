"""Work spread over processes, of this machine or of a cluster, by Dask's distributed.

What a worker that died was at is done again by another one: no task is lost, and none gives two
outcomes. A new task is taken only when a worker has room for it.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import secrets
import signal
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from .errors import UserError
from .worker_process import CtrlC

T = TypeVar("T")
_LOOK = 1.0  # seconds until the cluster is looked at again: it may have got more workers
_CONNECT = 10.0  # seconds for a scheduler to answer
_REPLACED = 60.0  # seconds for a worker to start in the place of one that died
_LOCAL = {
    "distributed.worker.daemon": False,  # the work may start processes
    "distributed.scheduler.allowed-failures": 2,  # deaths with a task; the next one fails it
    "distributed.comm.timeouts.connect": "30s",  # also of a new worker on a busy machine
    "distributed.deploy.lost-worker-timeout": "30 days",  # a dead one is replaced, if slowly
    "distributed.worker.preload": [__name__],  # calls dask_setup()
    "distributed.admin.large-graph-warning-threshold": "1GB",
}
_LATE = (TimeoutError, asyncio.TimeoutError)  # two classes until Python 3.11


@dataclass(frozen=True)
class Outcome:
    """What became of a task: the value that the work gave, or in words why it gave none."""

    task: Any
    value: Any = None
    failure: str = ""  # "" if it gave one


def spread(
    work: Callable[[T], Any],
    tasks: Iterable[T | None],
    *,
    jobs: int = 1,
    scheduler: str | None = None,
) -> Iterator[Outcome]:
    """Run work(task) for all tasks; gives the outcomes as they are done, in any order.

    Instead of a task, None says that there is none before another one is done.

    They run in `jobs` processes of one thread each, or on the cluster whose Dask scheduler is at
    that address. The work is a function of a module, or a functools.partial of one: it goes to
    each worker once, whatever it holds, a task each time. A local worker may start processes; one
    of `dask worker` may with --no-nanny, or with its setting distributed.worker.daemon false.

    An exception in the work is an outcome with a failure, and so is a task that ended its workers
    three times (on a cluster: as often as its setting allowed-failures says), and then as often
    with no other task beside it, which might have been the one to blame. Closing the iterator
    ends the local workers; those of a cluster finish what they are at.

    Raises UserError without the packages, and for a cluster that does not answer or goes away.
    """
    with contextlib.ExitStack() as stack:
        ctrl_c = stack.enter_context(CtrlC())
        if not scheduler:
            ctrl_c.hold()
        dask, distributed = _packages()
        stack.enter_context(dask.config.set(_LOCAL))
        client = stack.enter_context(_client(distributed, jobs, scheduler))
        held = distributed.WorkerPlugin()
        held.name, held.work = f"microshrub-{secrets.token_hex(8)}", work
        client.register_plugin(held, name=held.name)
        if scheduler:
            stack.callback(_quietly, client.unregister_worker_plugin, held.name)
        stack.callback(ctrl_c.ignore)  # while the rest ends: some seconds
        ctrl_c.release()
        try:
            yield from _spread(distributed, client, held.name, iter(tasks))
        except (distributed.CancelledError, distributed.comm.CommClosedError):
            raise UserError(f"{scheduler or 'the local cluster'}: the scheduler is gone") from None


def _spread(distributed: Any, client: Any, name: str, tasks: Iterator[Any]) -> Iterator[Outcome]:
    running: dict[Any, Any] = {}  # tasks by future
    suspects: list[Any] = []  # each was on a worker that died, as was maybe the one to blame
    alone = False  # whether a suspect is tried by itself
    more = True

    def start(task: Any) -> None:
        running[client.submit(_run, name, Outcome(task), pure=False)] = task

    while more or running or suspects:
        while more and not alone and len(running) < max(1, sum(client.nthreads().values())):
            try:
                task = next(tasks)
            except StopIteration:
                more = False
                break
            if task is None:
                break
            start(task)
        if not running:
            if not suspects:
                return
            alone = True
            start(suspects.pop(0))
        try:
            done = distributed.wait(list(running), _LOOK, "FIRST_COMPLETED").done
        except _LATE:
            continue
        # all at once, before the caller is at work: a worker that dies takes its values with it
        outcomes = []
        for future in done:
            task = running.pop(future)
            if alone or not isinstance(future.exception(), distributed.scheduler.KilledWorker):
                outcomes.append(_outcome(distributed, task, future))
            else:
                suspects.append(task)
        alone = alone and bool(running)
        yield from outcomes


def _run(name: str, boxed: Outcome) -> Any:
    """In a worker: boxed holds the task, into which Dask would look for futures."""
    from distributed import get_worker

    return get_worker().plugins[name].work(boxed.task)


def _outcome(distributed: Any, task: Any, future: Any) -> Outcome:
    error = future.exception()
    if error is None:
        return Outcome(task, future.result())
    if isinstance(error, distributed.scheduler.KilledWorker):
        return Outcome(task, failure=f"ended its worker {error.allowed_failures + 1} times")
    if isinstance(error, UserError):
        return Outcome(task, failure=str(error))
    return Outcome(task, failure=f"{type(error).__name__}: {error}")


def dask_setup(_: Any) -> None:
    """In a local worker, at its start: Ctrl-C is for the process that waits for it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def check_packages(what: str) -> None:
    """Raise UserError, for whatever needs them, if the packages of spread() are not there."""
    _packages(what)


def _packages(what: str = "work in several processes") -> tuple[Any, Any]:
    try:
        with CtrlC() as ctrl_c:
            ctrl_c.hold()
            import dask
            import distributed
    except ImportError:
        raise UserError(
            f"{what} needs optional packages: pip install 'microshrub[tune]'"
        ) from None
    return dask, distributed


@contextlib.contextmanager
def _client(distributed: Any, jobs: int, scheduler: str | None) -> Iterator[Any]:
    """A client of the cluster at that address, or of a local one that ends with it."""
    quiet = logging.CRITICAL
    if scheduler:
        logging.getLogger("distributed.client").setLevel(quiet)  # what it says is raised here
        client, why = None, ""
        try:
            client = distributed.Client(scheduler, timeout=_CONNECT)
        except (OSError, ValueError, *_LATE) as error:
            why = str(error)
        if not client:
            gc.collect()  # what is left of it ends now; while another one begins, both would hang
            raise UserError(f"{scheduler}: no Dask scheduler answers there: {why}")
        with client:
            if not client.nthreads():
                raise UserError(f"{scheduler}: the Dask cluster has no workers")
            yield client
        return
    try:
        cluster = distributed.LocalCluster(
            n_workers=jobs,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",  # any port: others may have the usual one
            memory_limit=0,  # no limit: a worker that swaps is not ended
            silence_logs=quiet,
        )
    except RuntimeError as error:
        raise UserError(
            f"no process could be started here ({error}). Each one imports the program anew: in a "
            'script, call this below `if __name__ == "__main__":`'
        ) from error
    try:
        with distributed.Client(cluster) as client:
            try:
                yield client
            finally:
                # Dask cannot end a worker that is about to replace one that died
                _quietly(client.wait_for_workers, jobs, _REPLACED)
    finally:
        _quietly(cluster.close)  # the outcomes are there: they are not lost over this


def _quietly(what: Callable[..., object], *arguments: object) -> None:
    """Call it; that the cluster is gone is no matter any more."""
    with contextlib.suppress(Exception):
        what(*arguments)
