"""Work in several processes: every task has one outcome, even if workers crash."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from multiprocessing.context import SpawnProcess
from pathlib import Path

import pytest
from patience import PATIENCE, wait_until
from workers_support import kill_together, linger, misbehave, square

from microshrub_host.base.cluster import Outcome, spread
from microshrub_host.base.errors import UserError

distributed = pytest.importorskip("distributed", reason="needs the extra tune")


def test_failures_have_readable_messages() -> None:
    tasks = ["plain", "raise", "refuse", "kill", "start a process"]
    work = functools.partial(misbehave, {"word": "as it was"})
    outcomes = {outcome.task: outcome for outcome in spread(work, tasks, jobs=2)}
    assert outcomes == {
        "plain": Outcome("plain", "as it was"),
        "raise": Outcome("raise", failure="ZeroDivisionError: it came to this"),
        "refuse": Outcome("refuse", failure="that is no model"),
        "kill": Outcome("kill", failure="ended its worker 3 times"),
        "start a process": Outcome("start a process", "from a process of its own"),
    }


def test_a_task_whose_worker_another_task_kills_is_not_blamed(tmp_path: Path) -> None:
    work = functools.partial(kill_together, tmp_path)
    failures = {each.task: each.failure for each in spread(work, ["killer", "other"], jobs=2)}
    assert failures == {"killer": "ended its worker 3 times", "other": ""}


def test_the_last_task_may_end_its_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next worker starts, as slowly as on a busy PC, while the cluster closes."""
    start = SpawnProcess.start

    def start_slowly(process: SpawnProcess) -> None:
        time.sleep(1.5)
        start(process)

    monkeypatch.setattr(SpawnProcess, "start", start_slowly)
    outcomes = list(spread(functools.partial(misbehave, {}), ["kill"], jobs=2))
    assert outcomes == [Outcome("kill", failure="ended its worker 3 times")]


def test_workers_that_cannot_be_closed_cleanly_lose_no_outcome(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    close = distributed.LocalCluster.close

    def close_badly(cluster: distributed.LocalCluster) -> None:
        close(cluster)
        raise AssertionError("can only join a started process")

    monkeypatch.setattr(distributed.LocalCluster, "close", close_badly)
    assert list(spread(square, [3])) == [Outcome(3, 9)]


def test_a_killed_worker_loses_no_task_and_tasks_are_taken_one_by_one(tmp_path: Path) -> None:
    taken: list[int] = []

    def tasks() -> Iterator[int]:
        for task in range(12):
            taken.append(task)
            yield task

    outcomes: list[Outcome] = []
    killed = 0
    for outcome in spread(functools.partial(linger, tmp_path), tasks(), jobs=2):
        outcomes.append(outcome)
        assert len(taken) <= len(outcomes) + 2, "no more than there are workers for"
        if len(outcomes) == 4:  # both workers have their next tasks, or are about to get them
            time.sleep(0.1)
            killed = int(max(tmp_path.iterdir(), key=os.path.getmtime).name.split("-")[1])
            os.kill(killed, signal.SIGKILL)
    assert sorted(outcome.task for outcome in outcomes) == list(range(12))
    assert [outcome.failure for outcome in outcomes] == [""] * 12
    assert all(outcome.value[0] == outcome.task for outcome in outcomes)
    assert killed != os.getpid()
    assert len(list(tmp_path.iterdir())) > 12, "a task was begun again, by another process"


def test_without_tasks_there_are_no_outcomes() -> None:
    assert list(spread(square, [])) == []


def test_closing_the_iterator_early_ends_the_workers(tmp_path: Path) -> None:
    running = spread(functools.partial(linger, tmp_path), range(100), jobs=1)
    process = next(running).value[1]
    running.close()  # type: ignore[attr-defined]
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


@pytest.mark.parametrize(
    ("delay", "thread"),
    [(0.1, False), (0.4, True), (0.7, False), (1.0, True), (1.3, False), (None, True)],
)
def test_ctrl_c_ends_the_workers_without_output(delay: float | None, thread: bool) -> None:
    """Ctrl-C comes while the workers start, after `delay` seconds, or after their first value.

    With another thread, as numpy has, the signal may go to that thread.
    """
    script = (
        "import signal, threading, time\n"
        "from microshrub_host.base.cluster import spread\n"
        "if __name__ == '__main__':\n"
        f"    if {thread}:\n"
        "        threading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n"
        "    print('start', flush=True)\n"
        "    try:\n"
        "        for outcome in spread(time.sleep, [0] + [600] * 9, jobs=2):\n"
        "            print('one', flush=True)\n"
        "    except KeyboardInterrupt:\n"
        "        print('stopped')\n"
    )
    command = [sys.executable, "-W", "ignore", "-c", script]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "start\n"
        if delay is None:
            assert process.stdout.readline() == "one\n"
        else:
            time.sleep(delay)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does, to the workers, too
        out, err = process.communicate(timeout=PATIENCE)
    assert (out.removeprefix("one\n"), err) == ("stopped\n", "")


def marked(mark: str) -> list[str]:
    """Return the processes with this mark in their environment, without zombies."""
    results = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            dead = (process / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
            if mark.encode() in (process / "environ").read_bytes() and not dead:
                results.append(process.name)
    return results


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")
@pytest.mark.parametrize("moment", ["start", "apart"])
def test_a_killed_program_leaves_no_process(moment: str, tmp_path: Path) -> None:
    """The program is killed while the workers start,
    or when they have started processes of their own.
    """
    script = (
        "from functools import partial\n"
        "from pathlib import Path\n"
        "from microshrub_host.base.cluster import spread\n"
        "from workers_support import kill_together, wait_apart\n"
        "if __name__ == '__main__':\n"
        f"    Path({str(tmp_path)!r}, 'start').touch()\n"
        f"    list(spread(partial(wait_apart, Path({str(tmp_path)!r})), range(4), jobs=2))\n"
    )
    mark = f"MICROSHRUB_TEST={tmp_path}"
    paths = [str(Path(__file__).parents[2] / "support"), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {
        "MICROSHRUB_TEST": str(tmp_path), "PYTHONPATH": os.pathsep.join(filter(None, paths)),
    }  # fmt: skip
    process = subprocess.Popen([sys.executable, "-W", "ignore", "-c", script], env=environment)
    wait_until((tmp_path / moment).exists)
    process.kill()
    process.wait()
    wait_until(lambda: not marked(mark))


@pytest.mark.parametrize("address", ["nowhere", "tcp://127.0.0.1:9"])
def test_an_address_without_a_scheduler_is_refused(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("microshrub_host.base.cluster._CONNECT", 0.5)
    with pytest.raises(UserError, match=f"{address}: no Dask scheduler"):
        list(spread(square, [1], scheduler=address))
