"""Results are the same and in order with any number of processes; no process remains."""

from __future__ import annotations

import multiprocessing.resource_tracker
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from patience import PATIENCE
from side_by_side_support import odd

from microshrub_host.base.errors import UserError
from microshrub_host.base.side_by_side import cores, side_by_side


def nothing(*_: object) -> None:
    pass


def test_results_are_in_the_order_of_the_tasks() -> None:
    """The first task is the last to finish."""
    tasks = ["slow", "a", "b", "c"]
    reports: list[tuple[int, int, str]] = []
    results = list(side_by_side(odd, tasks, jobs=2, progress=lambda *all_: reports.append(all_)))
    alone = list(side_by_side(odd, tasks, jobs=1, progress=nothing))
    assert [name for name, _ in results] == [name for name, _ in alone] == tasks
    assert {process for _, process in alone} == {os.getpid()}
    assert len({process for _, process in results} | {os.getpid()}) == len(tasks) + 1
    done = [done / total for done, total, _ in reports]
    assert done == sorted(done)
    assert done[-1] == 1


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_user_error_reaches_the_caller(jobs: int) -> None:
    with pytest.raises(UserError, match="no such stream"):
        list(side_by_side(odd, ["a", "refuse", "b"], jobs=jobs, progress=nothing))


def test_a_crash_is_reported() -> None:
    with pytest.raises(RuntimeError, match="crashed: ended by SIGKILL"):
        list(side_by_side(odd, ["a", "kill"], jobs=2, progress=nothing))


def test_one_task_needs_no_process() -> None:
    assert list(side_by_side(odd, ["a"], jobs=8, progress=nothing)) == [("a", os.getpid())]
    assert list(side_by_side(odd, [], jobs=8, progress=nothing)) == []
    assert cores() >= 1


@pytest.mark.parametrize("delay", [0, 0.05, 0.15, 0.4])
def test_ctrl_c_ends_the_processes(delay: float) -> None:
    script = (
        "from microshrub_host.base.side_by_side import side_by_side\n"
        "from side_by_side_support import odd\n"
        "if __name__ == '__main__':\n"
        "    try:\n"
        "        for name, _ in side_by_side(odd, ['a', *['ever'] * 3], jobs=2,\n"
        "                                    progress=lambda *_: None):\n"
        "            print(name, flush=True)\n"
        "    except KeyboardInterrupt:\n"
        "        print('stopped')\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, start_new_session=True, env=os.environ | {"PYTHONPATH": ":".join(sys.path)},
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == "a\n"
        time.sleep(delay)  # the next process is about to start, imports, or works
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does, to all processes of the group
        out, err = process.communicate(timeout=PATIENCE)  # ends once all have closed the pipes
    assert (out, err) == ("stopped\n", "")


def test_ctrl_c_before_a_process_starts_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Ctrl-C comes while multiprocessing starts its own process, before Ctrl-C is held back."""

    def struck() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(multiprocessing.resource_tracker, "ensure_running", struck)
    with pytest.raises(KeyboardInterrupt):
        list(side_by_side(odd, ["a", "b"], jobs=2, progress=nothing))
    assert list(tmp_path.iterdir()) == []
