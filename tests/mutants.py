"""`make mutants`: kernels with one changed line, which their own tests have to detect.

    python tests/mutants.py [--sample 3 --seed 1] [--only members] [--jobs 2]

Each mutant is tried in a copy of the repository, with the mutant's tests, which have to pass in
the unchanged copy. Exits with 1 if fewer than nine of ten are killed; the output names the
survivors.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import TypeVar

from mutant_list import MUTANTS, Mutant

ROOT = Path(__file__).parents[1]
FIRMWARE = Path("firmware") / "microshrub"
_COPIED = ("firmware", "host", "research", "tools/microshrub_tools", "tools/microshrub_command",
    "tests", "boards", "pyproject.toml")  # fmt: skip
_LEAST = 0.9  # the share of mutants that must be killed
_PATIENCE = 1200  # seconds for a mutant, which may loop for ever, and for all tests without one
_Result = TypeVar("_Result")


class NoSuchLineError(ValueError):
    """The mutant's line is not in its file, or more than once."""


@dataclass(frozen=True)
class Outcome:
    """The result of a mutant."""

    mutant: Mutant
    killed: bool
    seconds: float


def mutated(mutant: Mutant, root: Path = ROOT) -> str:
    """Return the source of the mutant's file, with its line changed. Raises NoSuchLineError."""
    lines = (root / FIRMWARE / mutant.file).read_text(encoding="utf-8").splitlines(keepends=True)
    places = [i for i, line in enumerate(lines) if line.partition("  #")[0].strip() == mutant.line]
    if len(places) != 1:
        raise NoSuchLineError(f"{mutant.file}: {mutant.line!r} is there {len(places)} times")
    at = places[0]
    lines[at] = lines[at].replace(mutant.line, mutant.replacement)
    return "".join(lines)


def copy(folder: Path) -> Path:
    """Copy the part of the repository that the tests need to this folder."""
    for name in _COPIED:
        source, target = ROOT / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "site"))
        else:
            shutil.copy(source, target)
    return folder


def failure(tests: Iterable[str], folder: Path) -> str:
    """Return the output of tests that fail in a copy of the repository, "" if all pass.

    Raises RuntimeError if no test was run.
    """
    rooms = [str(folder / name) for name in ("firmware", "host", "research", "tools")]
    defaults = {"MICROSHRUB_DATA": str(ROOT.parent / "shared" / "data")}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    command += ["-n0", "--hypothesis-profile=large", "--hypothesis-seed=1", *tests]
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env={**defaults, **os.environ, "PYTHONPATH": os.pathsep.join(rooms)},
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"no end after {_PATIENCE} s"
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stdout + done.stderr)
    return done.stdout if done.returncode else ""


def tried(mutant: Mutant, folder: Path) -> Outcome:
    """Run the mutant's tests in a copy of the repository; the copy is restored afterwards."""
    path = folder / FIRMWARE / mutant.file
    whole = path.read_text(encoding="utf-8")
    began = time.monotonic()
    path.write_text(mutated(mutant, folder), encoding="utf-8")
    try:
        killed = bool(failure(mutant.tests, folder))
    finally:
        path.write_text(whole, encoding="utf-8")
    return Outcome(mutant, killed, time.monotonic() - began)


def attempt(mutants: list[Mutant], jobs: int) -> list[Outcome]:
    """Try all mutants, `jobs` at a time, each in a copy of its own."""
    for mutant in mutants:
        mutated(mutant)
    with tempfile.TemporaryDirectory(prefix="mutants") as top:
        copies: SimpleQueue[Path] = SimpleQueue()
        for job in range(jobs):
            copies.put(copy(Path(top) / str(job)))

        def lent(task: Callable[[Path], _Result]) -> _Result:
            folder = copies.get()
            try:
                return task(folder)
            finally:
                copies.put(folder)

        def one(mutant: Mutant) -> Outcome:
            outcome = lent(lambda folder: tried(mutant, folder))
            verdict = "killed  " if outcome.killed else "SURVIVES"
            words = f"{mutant.line}  ->  {mutant.replacement}"
            print(f"{verdict} {outcome.seconds:5.1f} s  {mutant.file}: {words}", flush=True)
            return outcome

        tests = sorted({test for mutant in mutants for test in mutant.tests})
        with ThreadPoolExecutor(jobs) as pool:
            whole = pool.submit(lent, lambda folder: failure(tests, folder))
            outcomes = list(pool.map(one, mutants))
            if whole.result():
                raise RuntimeError(f"{whole.result()}The tests fail without any mutant, too")
            return outcomes


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--sample",
        type=int,
        metavar="N",
        help="only so many, drawn at random",
    )
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="of files with this in the name"
    )
    parser.add_argument("--jobs", type=int, default=2, help="at a time")
    options = parser.parse_args(arguments)
    chosen = [mutant for mutant in MUTANTS if options.only in mutant.file]
    if options.sample is not None:
        chosen = random.Random(options.seed).sample(chosen, options.sample)
    outcomes = attempt(chosen, options.jobs)
    killed = sum(outcome.killed for outcome in outcomes)
    print(f"{killed} of {len(outcomes)} mutants killed ({100 * killed / len(outcomes):.0f} %)")
    return int(killed < _LEAST * len(outcomes))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
