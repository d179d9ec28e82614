"""Starts other programs, and ends them with this one, however it ends.

On Linux the kernel ends them (`setpriv --pdeathsig` of util-linux), also where this process is
killed; a child so belongs to the thread that starts it. Elsewhere SIGTERM and Ctrl-C end this
process as an exception does, see exits.py, and those who started a child end it then.

None of them imports from the working folder: beside somebody's data may lie a signal.py.

One that is silent for long is taken for gone, and so is a board. The environment variable
MICROSHRUB_PATIENCE is the least, in seconds: on a busy PC what is waited for comes later than it
usually does.
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .errors import UserError

Command = Sequence[str | Path]
_WITH_US = ("--pdeathsig", "KILL")
# Python 3.10 has no -P. Its -I also ignores PYTHON... in the environment; sys.path is handed on.
_NOT_FROM_HERE = "-P" if sys.version_info >= (3, 11) else "-I"


def start(command: Command, **options: Any) -> subprocess.Popen[Any]:
    """subprocess.Popen of it. Raises OSError if there is no such program."""
    known = shutil.which(command[0])
    return subprocess.Popen([*(_leash() if known else ()), *map(str, command)], **options)


def run(command: Command, **options: Any) -> subprocess.CompletedProcess[str]:
    """What became of it once it has ended, with what it said, as text. Raises OSError."""
    pipe = subprocess.PIPE
    with start(command, stdout=pipe, stderr=pipe, text=True, errors="replace", **options) as child:
        try:
            output, complaints = child.communicate()
        except BaseException:
            child.kill()
            raise
    return subprocess.CompletedProcess(command, child.returncode, output, complaints)


def python_module(name: str, *words: str) -> Command:
    """The command of `python -m name words`, which finds what this process finds."""
    path = [folder for folder in sys.path if folder]
    code = (
        f"import sys; sys.path[:] = {path!r}; from runpy import run_module; "
        f"run_module({name!r}, run_name='__main__', alter_sys=True)"
    )
    return (sys.executable, _NOT_FROM_HERE, "-c", code, *words)


def guard_multiprocessing() -> None:
    """Have the processes of multiprocessing import nothing from the working folder.

    They begin as `python -c`, for which that folder comes before Python's own modules until they
    are handed this process's sys.path. Python 3.10 has no setting against it; PYTHONSAFEPATH of
    later versions would reach all programs that a user's script starts.
    """
    from multiprocessing import util  # most commands start none

    util._args_from_interpreter_flags = _flags  # type: ignore[attr-defined]


def _flags() -> list[str]:
    known: list[str] = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    return [*known, _NOT_FROM_HERE]


def end_session(child: subprocess.Popen[Any]) -> None:
    """Kill a child that was started with start_new_session, and those that it has started."""
    if sys.platform == "win32":
        child.kill()
        return
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)


@functools.cache
def _leash() -> tuple[str, ...]:
    """What stands before a command that is to end with this process; nothing where that is not."""
    result = shutil.which("setpriv") if sys.platform.startswith("linux") else None
    if not result:
        return ()
    leash = (result, *_WITH_US)  # its path, as PATH may be another one later
    tried = subprocess.run((*leash, "true"), capture_output=True, check=False)
    return leash if tried.returncode == 0 else ()


VARIABLE = "MICROSHRUB_PATIENCE"


def patience(seconds: float) -> float:
    """So many seconds, or those of the variable if they are more. Raises UserError."""
    text = os.environ.get(VARIABLE) or "0"
    try:
        least = float(text)
    except ValueError:
        least = math.nan
    if not 0 <= least < math.inf:
        raise UserError(f"{VARIABLE} has to be a number of seconds, not {text!r}")
    return max(seconds, least)
