"""The start and end of a command: exit codes, errors in one line, Ctrl-C."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import shlex
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .errors import UserError

_CTRL_C = 2
_PATIENCE = 0.5  # seconds after Ctrl-C, to close files and end processes

# Other modules are imported inside exit_code(), so that Ctrl-C meanwhile is reported in one line.


def exit_code(run: Callable[[], int]) -> int:
    """Return the result of run(), or the exit code of an error, which is reported in one line.

    The exit codes are 0; 1 for `no`; 2 for an error; 130 after Ctrl-C; 141 if the output has no
    reader; 143 after SIGTERM. Letters that the output's encoding lacks become `?`.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    with _Interrupt() as interrupt:
        try:
            return run()
        except BaseException as error:
            came = interrupt.end()  # from here on, nothing interrupts the message
            return _ended(_Stopped(came) if came else error)


def run_command(parser: argparse.ArgumentParser, argv: Sequence[str] | None) -> int:
    """Run the command: the parser's default `run` takes the arguments and returns the exit code.

    The arguments' `command_line` is the typed command, to paste into a shell.
    """
    try:
        arguments = parser.parse_args(argv)
    except SystemExit:  # after -h
        sys.stdout.flush()
        raise
    from . import cache, terminal

    words = sys.argv[1:] if argv is None else argv
    arguments.command_line = shlex.join([parser.prog, *words])
    needs_cache = getattr(arguments, "temporary_cache", True)
    with cache.usable(terminal.messages.say) if needs_cache else contextlib.nullcontext():
        code: int = arguments.run(arguments)
    sys.stdout.flush()
    return code


def _ended(error: BaseException) -> int:
    """Print one line about an exception; return the exit code. Raise an unexpected one again."""
    if isinstance(error, KeyboardInterrupt):
        return _say("stopped", 128 + (error.signal if isinstance(error, _Stopped) else _CTRL_C))
    if isinstance(error, UserError):
        return _say(str(error), 2)
    if isinstance(error, BrokenPipeError):
        _drop_output()
        return 141  # a shell's exit code for SIGPIPE
    if isinstance(error, OSError):
        _drop_output()
        doing = f"use {error.filename}" if error.filename else "read or write"
        return _say(f"cannot {doing}: {error.strerror or error}", 2)
    if isinstance(error, ModuleNotFoundError) and (message := missing(error.name or "")):
        return _say(message, 2)
    if isinstance(error, MemoryError):
        return _say("this needs more memory than the machine has", 2)
    raise error


def _say(text: str, code: int) -> int:
    from .text import shown

    with contextlib.suppress(OSError):
        print(f"microshrub: {shown(text)}", file=sys.stderr, flush=True)
    return code


def _drop_output() -> None:
    """Drop the output that is still buffered; Python would complain about it at exit."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Ignore Ctrl-C in the block, while a stopped command prints and writes its results."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, heard)


def _strike_main() -> None:
    """Interrupt the main thread as Ctrl-C does, from another thread."""
    if sys.platform == "win32":
        import _thread

        _thread.interrupt_main()
    else:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


class _Stopped(KeyboardInterrupt):
    """The command was stopped by `signal`."""

    def __init__(self, signal: int) -> None:
        super().__init__()
        self.signal = signal


class _Interrupt:
    """A handler that remembers Ctrl-C or SIGTERM, as the interrupted code may lose the exception.

    The code may also raise another error instead. Some packages are interrupted in callbacks from
    C, where Python can only report an exception and continue, and some catch everything while they
    are imported. So the handler repeats the interrupt until main() ends.
    """

    def __init__(self) -> None:
        self.came = 0  # the signal
        self._again: threading.Timer | None = None

    def __enter__(self) -> _Interrupt:
        self._main = threading.current_thread() is threading.main_thread()
        self._main &= signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if self._main:
            signal.signal(signal.SIGINT, self._strike)
            self._end = signal.signal(signal.SIGTERM, self._strike)
            self._report, sys.unraisablehook = sys.unraisablehook, self._lost
        return self

    def __exit__(self, *_: object) -> None:
        if self._again:
            self._again.cancel()
        if self._main:
            sys.unraisablehook = self._report
            signal.signal(signal.SIGINT, signal.default_int_handler)
            signal.signal(signal.SIGTERM, self._end)

    def end(self) -> int:
        """Ignore Ctrl-C from now on; return the signal that came, or 0."""
        if self._main:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        if self._again:
            self._again.cancel()
        return self.came

    def _strike(self, number: int, _: object) -> None:
        self.came = self.came or number
        if self._again:
            self._again.cancel()
        self._again = threading.Timer(_PATIENCE, _strike_main)
        self._again.daemon = True
        self._again.start()
        raise KeyboardInterrupt

    def _lost(self, what: Any) -> None:
        if not (self.came and isinstance(what.exc_value, KeyboardInterrupt)):
            self._report(what)


# Optional packages, and the extra that installs each
_EXTRAS = {
    "matplotlib": "plot",
    "river": "river",
    "scipy": "river",
    "pyarrow": "speed",
    "llvmlite": "speed",
    "openpyxl": "files",
    "distributed": "tune",
    "optuna": "tune",
    "onnx": "export",
    "sklearn": "bench",
    "torch": "bench",
    "capymoa": "moa",
}


def missing(module: str) -> str | None:
    """Return the message about a missing module; None for a module that belongs to no extra."""
    package = module.partition(".")[0]
    extra = _EXTRAS.get(package)
    return extra and f"this needs the package {package}: pip install 'microshrub[{extra}]'"
