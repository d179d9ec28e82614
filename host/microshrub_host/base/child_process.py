"""Child processes that end with this process, however it ends.

On Linux, the kernel ends the children (`setpriv --pdeathsig` of util-linux), also if this process
is killed; so a child belongs to the thread that starts it. On other systems, SIGTERM and Ctrl-C
end this process like an exception, see exits.py, and the code that started a child then ends the
child.

No child imports from the working folder: the user's data may include a file named signal.py.

A child or a board that is silent for a long time counts as gone. The environment variable
MICROSHRUB_PATIENCE is the minimum of this time, in seconds: on a busy PC, answers come later than
usual.
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
# Python 3.10 has no -P. Its -I also ignores PYTHON... in the environment; sys.path is passed on.
_NOT_FROM_HERE = "-P" if sys.version_info >= (3, 11) else "-I"


def start(command: Command, **options: Any) -> subprocess.Popen[Any]:
    """Start a command; return the Popen object. Raises OSError if there is no such program."""
    known = shutil.which(command[0])
    return subprocess.Popen([*(_leash() if known else ()), *map(str, command)], **options)


def run(command: Command, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; return its exit code, and its output as text.

    Raises OSError if there is no such program.
    """
    pipe = subprocess.PIPE
    with start(command, stdout=pipe, stderr=pipe, text=True, errors="replace", **options) as child:
        try:
            output, complaints = child.communicate()
        except BaseException:
            child.kill()
            raise
    return subprocess.CompletedProcess(command, child.returncode, output, complaints)


def python_module(name: str, *words: str) -> Command:
    """Return the command for `python -m name words` with this process's import path."""
    path = [folder for folder in sys.path if folder]
    code = (
        f"import sys; sys.path[:] = {path!r}; from runpy import run_module; "
        f"run_module({name!r}, run_name='__main__', alter_sys=True)"
    )
    return (sys.executable, _NOT_FROM_HERE, "-c", code, *words)


def guard_multiprocessing() -> None:
    """Keep multiprocessing's processes from importing from the working folder.

    These processes begin as `python -c`, where that folder comes before Python's own modules until
    this process's sys.path arrives. Python 3.10 has no setting against this; PYTHONSAFEPATH of
    later versions would affect all programs that a user's script starts.
    """
    from multiprocessing import util  # most commands start no processes

    util._args_from_interpreter_flags = _flags  # type: ignore[attr-defined]


def _flags() -> list[str]:
    known: list[str] = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    return [*known, _NOT_FROM_HERE]


def end_session(child: subprocess.Popen[Any]) -> None:
    """Kill a child that was started with start_new_session, and all processes of its session."""
    if sys.platform == "win32":
        child.kill()
        return
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)


@functools.cache
def _leash() -> tuple[str, ...]:
    """Return the words before a command that make it end with this process; () if unsupported."""
    result = shutil.which("setpriv") if sys.platform.startswith("linux") else None
    if not result:
        return ()
    leash = (result, *_WITH_US)  # the full path, as PATH may change later
    tried = subprocess.run((*leash, "true"), capture_output=True, check=False)
    return leash if tried.returncode == 0 else ()


VARIABLE = "MICROSHRUB_PATIENCE"


def patience(seconds: float) -> float:
    """Return the seconds, or the value of MICROSHRUB_PATIENCE if larger.

    Raises UserError if that value is invalid.
    """
    text = os.environ.get(VARIABLE) or "0"
    try:
        least = float(text)
    except ValueError:
        least = math.nan
    if not 0 <= least < math.inf:
        raise UserError(f"{VARIABLE} has to be a number of seconds, not {text!r}")
    return max(seconds, least)
