"""Have altered states loaded and used: python -m microshrub_tools.state_fuzz.fuzz.

Each state is refused, or it serves: no crash, no traceback, nothing left half.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from microshrub_host.base.progress import showing
from microshrub_host.base.terminal import console
from microshrub_host.cli.options import whole_number
from microshrub_host.engines import loader
from microshrub_host.engines.micropython_binary import find_or_fetch

from .altered_states import TARGETS, attack

ENGINES = ("python", "numba", "micropython")
_ON_DEVICE = """
import sys
sys.path[:0] = [{library!r}, {here!r}]
import microshrub
from altered_states import attack
print(*attack(microshrub, {number}, {seed}, {states}))
"""


def fuzz(engine: str, number: int, seed: int, states: int) -> tuple[int, int]:
    """How many of the states of one target were refused, and how many were used."""
    if engine != "micropython":
        return attack(loader.load(engine), number, seed, states)
    script = _ON_DEVICE.format(
        library=str(loader.folder().parent),
        here=str(Path(__file__).parent),
        number=number,
        seed=seed,
        states=states,
    )
    command = [*find_or_fetch().command, "-X", "heapsize=16m", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(f"MicroPython ended with {done.returncode}: {done.stderr[-2000:]}")
    refused, used = map(int, done.stdout.split())
    return refused, used


def main() -> int:
    """Attack every target and say how many states were refused; raises what went wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--states", type=whole_number, default=10_000, metavar="N")
    parser.add_argument("--seed", type=whole_number, default=1, metavar="N")
    parser.add_argument("--engine", choices=ENGINES, default="python")
    arguments = parser.parse_args()
    each = -(-arguments.states // len(TARGETS))
    refused = used = 0
    with showing("altered states", announce=True) as update:
        for number in range(len(TARGETS)):
            found = fuzz(arguments.engine, number, arguments.seed, each)
            refused, used = refused + found[0], used + found[1]
            update(number + 1, len(TARGETS))
    console.say(
        f"{refused + used:,} altered states with a right checksum: {refused:,} refused, {used:,} "
        "used for 30 samples. No crash, no traceback, no half of a state."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
