"""Programs for a real MicroPython behind a pty, and commands that use it."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from microshrub_host.library import library_files
from microshrub_tools.cli.main import main

Device = Callable[[str], str]  # starts a program, returns its port

# Prints a sample every millisecond: its number, a value derived from it, and a label
PLOTTER = """
import time
n = 0
print("MicroPython, and no sample")
while True:
    print("n:%d z:%d label:%d pred:0 acc:500" % (n, -3 * n, n // 50 % 2))
    n += 1
    time.sleep_ms(1)
"""

# Serves the link: 3 classes, 2 features, 300 samples in the metrics, an observation every 2 ms
SERVER = """
import gc, select, sys, time
from array import array
from microshrub import Metrics
from microshrub.device.link import Link

class Application:
    features, classes, hash = 2, 3, 77
    def __init__(self):
        self.values = array("i", [0] * 2)
        self.sample_id = self.confidence = 0
        self.metrics = Metrics(3)
        for n in range(300):
            self.metrics.update(n // 10 % 3, n % 7 % 3)
    def status(self, words):
        m = self.metrics
        words[0] = m.samples
        words[1] = 116
        words[2] = m.accuracy
        words[3] = m.accuracy_nochange
        words[4] = m.kappa
        words[5] = m.kappa_temporal
        words[6], words[7], words[8], words[9], words[10], words[11] = 40000, 25000, 2, 4, 99, 5
    def confusion(self, label, prediction):
        return self.metrics.confusion(label, prediction)

app = Application()
link = Link(app, sys.stdout.buffer.write)
poll = select.poll()
poll.register(sys.stdin.buffer, select.POLLIN)
piece = bytearray(1)
n = 0
while True:
    while poll.poll(0):
        if not sys.stdin.buffer.readinto(piece):
            sys.exit()
        link.feed(piece, 1)
    app.values[0] = n
    app.values[1] = -(1 << 29) if n % 10 == 3 else -3 * n
    app.confidence = 51
    link.observe(n % 2, n // 50 % 2 if n % 4 else -1)
    if link.is_open():
        n += 1
    time.sleep_ms(2)
"""

# The same, but it starts a new link once, as after a reset
RESET_ONCE = SERVER.replace(
    "    time.sleep_ms(2)",
    """    if n == 150:
        n = 200
        link = Link(app, sys.stdout.buffer.write)
    time.sleep_ms(2)""",
)

# A raw REPL like a board's; the unix port has none
RAW_REPL = """
import sys
def read():
    return sys.stdin.buffer.read(1)
def say(text):
    sys.stdout.buffer.write(text.encode() if isinstance(text, str) else text)
banner = "raw REPL; CTRL-B to exit\\r\\n>"
raw, names = False, {}
code = b""
while True:
    c = read()
    if not c:
        break
    if c == b"\\x01":
        raw, code = True, b""
        say(banner)
    elif c == b"\\x03":
        code = b""
    elif c == b"\\x02":
        raw = False
        say("\\r\\n>>> ")
    elif raw and c == b"\\x05":
        read(), read()
        say(b"R\\x00")
    elif raw and c == b"\\x04" and not code:
        say("OK\\r\\nMPY: soft reboot\\r\\n" + banner)
    elif raw and c == b"\\x04":
        say("OK")
        failed = ""
        try:
            exec(code, names)
        except Exception as error:
            failed = "%s: %s\\r\\n" % (type(error).__name__, error)
        code = b""
        say("\\x04" + failed + "\\x04>")
    elif raw:
        code += c
"""


@contextmanager
def running(micropython: tuple[str, ...], script: str, folder: Path) -> Iterator[str]:
    """The port at which a real MicroPython runs the script; the script can import microshrub."""
    file = folder / "device.py"
    path = f"import sys\nsys.path.insert(0, {str(library_files.folder().parent)!r})\n"
    file.write_text(path + script)
    master, slave = pty.openpty()
    tty.setraw(slave)
    command = [*micropython, "-X", "heapsize=1m", str(file)]
    process = subprocess.Popen(command, stdin=master, stdout=master, stderr=subprocess.PIPE)
    try:
        yield os.ttyname(slave)
        assert process.poll() is None, process.stderr and process.stderr.read()
    finally:
        process.kill()
        process.communicate()
        os.close(master)
        os.close(slave)


def run(*words: object) -> int:
    """Run `microshrub WORDS` in this process; return the exit code."""
    try:
        return main([str(word) for word in words])
    except SystemExit as stop:
        return int(stop.code or 0)


def spawn(*words: object, **options: object) -> subprocess.Popen[str]:
    """Start `microshrub WORDS` as a separate process."""
    command = [sys.executable, "-m", "microshrub_tools.cli.main", *map(str, words)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}
    return subprocess.Popen(command, text=True, **(pipes | options))  # type: ignore[call-overload,no-any-return]


def output_in_time(command: Callable[[float], str], wanted: str) -> str:
    """Return a command's output; run it for longer and longer until the output matches."""
    output = ""
    for seconds in (1.0, 4.0, 16.0, 64.0, 256.0):
        output = command(seconds)
        if re.search(wanted, output):
            break
    return output
