"""A mosquitto on loopback for one measurement, and its use of memory and processor time."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

from microshrub_host.base import child_process
from microshrub_host.base.child_process import patience
from microshrub_host.base.errors import UserError

PLACES = ("/usr/sbin", "/usr/local/sbin", "/opt/homebrew/sbin")
_START = 30.0  # seconds that mosquitto has to start, see patience()
_OTHER_FILES = 64  # files of a broker, apart from the boards' connections


class LocalBroker:
    """A mosquitto at `port` for this PC alone, which stores no file and sends without delay.

    Raises UserError if there is no mosquitto, or if it does not start.
    """

    def __init__(self, folder: Path, lines: int) -> None:
        program = _mosquitto()
        allow_files(lines + _OTHER_FILES)
        config = folder / "mosquitto.conf"
        config.touch()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        settings = [f"listener {self.port} 127.0.0.1", "allow_anonymous true"]
        if sys.platform != "win32":
            settings.append(f"user {config.owner()}")
        config.write_text(
            "\n".join([*settings, "persistence false", "set_tcp_nodelay true"]) + "\n"
        )
        nowhere = subprocess.DEVNULL
        self._process = child_process.start(
            [program, "-c", config], stdout=nowhere, stderr=nowhere
        )
        try:
            self._wait()
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self) -> LocalBroker:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()

    def memory(self) -> int | None:
        """Return the broker's RAM in bytes (VmRSS); None on systems other than Linux."""
        for line in self._process_file("status").splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
        return None

    def processor_seconds(self) -> float | None:
        """Return the broker's processor time, user's and system's;
        None on systems other than Linux.
        """
        fields = self._process_file("stat").rpartition(")")[2].split()
        if not fields or sys.platform == "win32":
            return None
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _process_file(self, what: str) -> str:
        try:
            return Path(f"/proc/{self._process.pid}/{what}").read_text()
        except OSError:
            return ""

    def _wait(self) -> None:
        end = time.monotonic() + patience(_START)
        while self._process.poll() is None and time.monotonic() < end:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.02)
        raise UserError("mosquitto does not start")


def version() -> str:
    """Return the version that mosquitto prints. Raises UserError if there is no mosquitto."""
    printed = child_process.run([_mosquitto(), "-h"]).stdout
    return printed.partition("version ")[2].split()[0] if "version " in printed else "?"


def allow_files(wanted: int) -> None:
    """Let this process and its children open this many files.
    Raises UserError if the system's hard limit is lower.
    """
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < wanted:
        raise UserError(f"a process may open {hard:,} files here, and {wanted:,} are needed")
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _mosquitto() -> str:
    path = os.pathsep.join([os.environ.get("PATH", ""), *PLACES])
    program = shutil.which("mosquitto", path=path)
    if not program:
        raise UserError(
            "mosquitto is not installed: on Debian and Ubuntu, `apt-get install mosquitto`"
        )
    return program
