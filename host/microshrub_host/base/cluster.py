"""Work spread over processes, on this machine or a cluster, by Dask's distributed.

If a worker dies, another worker repeats its task: no task is lost, and each task has one outcome.
A new task is taken only when a worker has room.
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
_LOOK = 1.0  # seconds until the next look at the cluster, which may have more workers
_CONNECT = 10.0  # seconds for a scheduler to answer
_REPLACED = 60.0  # seconds for a worker to start in the place of one that died
_LOCAL = {
    "distributed.worker.daemon": False,  # the work may start processes
    "distributed.scheduler.allowed-failures": 2,  # deaths with a task; the next one fails it
    "distributed.comm.timeouts.connect": "30s",  # a new worker may start slowly
    "distributed.deploy.lost-worker-timeout": "30 days",  # dead workers are replaced, if slowly
    "distributed.worker.preload": [__name__],  # calls dask_setup()
    "distributed.admin.large-graph-warning-threshold": "1GB",
}
_LATE = (TimeoutError, asyncio.TimeoutError)  # two classes until Python 3.11


@dataclass(frozen=True)
class Outcome:
    """The outcome of a task: the value that the work returned, or a message if the work failed."""

    task: Any
    value: Any = None
    failure: str = ""  # "" if there is a value


def spread(
    work: Callable[[T], Any],
    tasks: Iterable[T | None],
    *,
    jobs: int = 1,
    scheduler: str | None = None,
) -> Iterator[Outcome]:
    """Run work(task) for all tasks; yield the outcomes as tasks end, in any order.

    Instead of a task, the iterable may have None: no task is ready before another one is done.

    The tasks run in `jobs` processes of one thread each, or on the cluster whose Dask scheduler
    has the given address. The work is a module's function, or a functools.partial of one: each
    worker receives the work once, with all its data, and then the tasks. A local worker may start
    processes; a worker of `dask worker` may do so with --no-nanny, or if its setting
    distributed.worker.daemon is false.

    An exception in the work is an outcome with a failure. A task that ended its workers three
    times (on a cluster: once more than the setting allowed-failures) is then tried alone, as
    another task may have been the cause, and is a failure after as many more deaths. Closing the
    iterator ends the local workers; the workers of a cluster finish their tasks.

    Raises UserError without the packages, and for a cluster that does not answer or disconnects.
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
        stack.callback(ctrl_c.ignore)  # the rest takes some seconds to end
        ctrl_c.release()
        try:
            yield from _spread(distributed, client, held.name, iter(tasks))
        except (distributed.CancelledError, distributed.comm.CommClosedError):
            raise UserError(f"{scheduler or 'the local cluster'}: the scheduler is gone") from None


def _spread(distributed: Any, client: Any, name: str, tasks: Iterator[Any]) -> Iterator[Outcome]:
    running: dict[Any, Any] = {}  # tasks by future
    suspects: list[Any] = []  # tasks whose workers died, maybe due to another task
    alone = False  # whether a suspect is running alone
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
        # all at once, before the caller continues: the values of a dead worker are lost
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
    """Run a boxed task in a worker; Dask would search the task itself for futures."""
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
    """Make a local worker ignore Ctrl-C, which is for the process that waits for the worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def check_packages(what: str) -> None:
    """Raise UserError if the packages of spread() are missing; `what` names the work."""
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
    """Connect a client to the cluster at that address, or to a local one that ends with it."""
    quiet = logging.CRITICAL
    if scheduler:
        logging.getLogger("distributed.client").setLevel(quiet)  # errors are raised here
        client, why = None, ""
        try:
            client = distributed.Client(scheduler, timeout=_CONNECT)
        except (OSError, ValueError, *_LATE) as error:
            why = str(error)
        if not client:
            gc.collect()  # ends the failed client now; while another one starts, both would hang
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
            dashboard_address="127.0.0.1:0",  # any port: the usual one may be taken
            memory_limit=0,  # no limit: a worker may swap
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
                # Dask cannot end a worker that is just replacing a dead one
                _quietly(client.wait_for_workers, jobs, _REPLACED)
    finally:
        _quietly(cluster.close)  # an error must not lose the outcomes


def _quietly(what: Callable[..., object], *arguments: object) -> None:
    """Call a function and ignore errors, as the cluster may be gone."""
    with contextlib.suppress(Exception):
        what(*arguments)
