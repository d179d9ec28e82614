"""The page's end of the serial link against the device's own end, over a line with heavy damage.

    python tests/support/page_link_fuzz.py --frames 100000 --seed 1

needs node and the page's packages. Bytes are flipped, lost, repeated, cut and joined as
`microshrub dev fuzz-link` does it; cables are pulled, devices reset, and the page's program is
restarted. Exits with 1 if a request was not applied exactly once and in order, or got a wrong
answer.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from microshrub_host.library import loader
from microshrub_tools.link_fuzz.damage import Damage
from microshrub_tools.link_fuzz.device_end import CheckingApplication

WEB = Path(__file__).parents[2] / "tools" / "web"
BUNDLER = WEB / "node_modules" / ".bin" / "esbuild"
_END = Path(__file__).with_name("page_link_end.mjs")
_PATIENCE = 120.0  # seconds
_SILENCE = 0.02  # seconds of silence after which a cut of the line ends
_MISHAP = 4000  # frames between two mishaps, about


@dataclass
class PageReport:
    """Counts of a run; `wrong` counts requests out of order, wrong answers, and missing resets."""

    applied: int = 0
    faults: int = 0
    wrong: int = 0
    sessions: int = 0
    pulled: int = 0  # cables
    resets: int = 0  # of the device


class DeviceEnd:
    """The device and the line to it; `program` is the page's end."""

    def __init__(self, program: subprocess.Popen[bytes], seed: int, every: int) -> None:
        self.application = CheckingApplication()
        self.up, self.down = Damage(seed + 1, every), Damage(seed + 2, every)
        self._program = program
        self.reset()

    def reset(self) -> None:
        """Restart the device; data sent to it before is dropped."""
        self.up.forget()
        device: Any = loader.load("python").device.link
        self._link = device.Link(self.application, self._answer)

    def pull(self) -> None:
        """Pull the cable: data in transit is lost."""
        assert self._program.stdout
        while select.select([self._program.stdout], [], [], 0)[0]:
            if not os.read(self._program.stdout.fileno(), 4096):
                break
        self._program.send_signal(signal.SIGUSR2)

    def feed(self, data: bytes) -> None:
        """Receive bytes from the page."""
        came = self.up(data)
        self._link.feed(bytearray(came), len(came))

    def end_cut(self) -> None:
        """End a cut, after a silence on the line."""
        self.up.end_cut()
        self.down.end_cut()

    def _answer(self, data: Any, size: int) -> None:
        assert self._program.stdin
        self._program.stdin.write(self.down(bytes(data[:size])))
        self._program.stdin.flush()


def fuzz(frames: int, seed: int, every: int = 400, mishap: int = _MISHAP) -> PageReport:
    """Apply `frames` requests over a line with a fault in about `every` bytes.

    About every `mishap` frames the cable is pulled, and as often the device is reset; half as
    often the page's program is restarted.
    """
    with tempfile.TemporaryDirectory() as folder:
        bundle = Path(folder) / "link.mjs"
        entry = WEB / "src" / "link" / "link.ts"
        words = [str(BUNDLER), str(entry), "--bundle", "--format=esm", f"--outfile={bundle}"]
        subprocess.run([*words, "--log-level=error"], check=True)
        program = subprocess.Popen(
            ["node", str(_END), str(bundle), str(frames), str(2 * mishap)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        try:
            return _drive(program, seed, every, mishap)
        finally:
            program.kill()
            program.communicate()


def _drive(program: subprocess.Popen[bytes], seed: int, every: int, mishap: int) -> PageReport:
    assert program.stdout
    assert program.stderr
    chance = random.Random(seed)
    device = DeviceEnd(program, seed, every)
    report = PageReport()
    silent = 0.0
    while silent < _PATIENCE:
        if not select.select([program.stdout], [], [], _SILENCE)[0]:
            silent += _SILENCE
            device.end_cut()
            continue
        silent = 0.0
        data = os.read(program.stdout.fileno(), 4096)
        if not data:
            break
        before = device.application.applied
        device.feed(data)
        odds = (device.application.applied - before) / mishap
        if chance.random() < odds:
            device.pull()
        elif chance.random() < odds:
            device.reset()
            report.resets += 1
    err = program.stderr.read() if silent < _PATIENCE else b""
    return _reported(report, device, err)


def _reported(report: PageReport, device: DeviceEnd, output: bytes) -> PageReport:
    try:
        counts = json.loads(output)
    except ValueError:
        print(output.decode(), file=sys.stderr)
        counts = {"wrong": 1, "sessions": 0, "pulled": 0, "resets": 0}
    report.applied = device.application.applied
    report.wrong = device.application.wrong + counts["wrong"]
    report.wrong += max(counts["resets"] - report.resets, 0)
    report.faults = device.up.faults + device.down.faults
    report.sessions, report.pulled = counts["sessions"], counts["pulled"]
    return report


def missing() -> str | None:
    """Return the reason why this program cannot run here, or None if it can."""
    if shutil.which("node") is None or not BUNDLER.exists():
        return "there is no node, or the page's packages are not installed: make web"
    return None


def main() -> int:
    """Run the test and print the result."""
    parser = argparse.ArgumentParser(description="Damage the line between page and device.")
    parser.add_argument("--frames", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=int, default=400, help="bytes between two faults, about")
    arguments = parser.parse_args()
    if reason := missing():
        print(reason, file=sys.stderr)
        return 2
    report = fuzz(arguments.frames, arguments.seed, arguments.every)
    print(
        f"{report.applied:,} requests applied, {report.faults:,} faults on the line; "
        f"{report.sessions} sessions, {report.pulled} pulled cables, {report.resets} resets."
    )
    failed = report.wrong or report.applied != arguments.frames
    held = "Each was applied once and in order, none wrong."
    print(f"{report.wrong} were wrong." if failed else held)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
