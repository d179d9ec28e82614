"""Fixtures and settings of all tests: imports of the oracles, and a real MicroPython.

The last line but one of a run has the number of skipped tests, with reasons.
"""

from __future__ import annotations

import contextlib
import gc
import gzip
import os
import random
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from microshrub_host.base.child_process import VARIABLE

if TYPE_CHECKING:
    from chromium_support import Chromium

for _folder in (".", "oracles", "support"):
    sys.path.insert(0, str(Path(__file__).parent / _folder))
_ON_PC = Path(__file__).parents[1] / "tools" / "microshrub_tools" / "board" / "on_pc"
sys.path.append(str(_ON_PC))  # the model of a sensor
# The first example compiles kernels, so none has a deadline. The small profile has few examples
# and `make ci`'s many, the same each time: the result depends on the change, not on chance. The
# large one, of `make attack` and `make mutants`, draws many new ones, by --hypothesis-seed.
settings.register_profile("small", deadline=None, max_examples=20, derandomize=True, database=None)
settings.register_profile("large", deadline=None, max_examples=100, derandomize=False)
settings.register_profile("ci", settings.get_profile("large"), derandomize=True, database=None)
settings.load_profile("ci" if os.environ.get("CI") else "small")
# Each worker imports all test files, whose objects stay. Collecting garbage after every 700 new
# objects would take a fifth of that time.
gc.set_threshold(50_000)
# With this variable, which many containers set, each process that the tests start would compile
# its sources again: `simulate` takes three times as long.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# A script that runs in the background ignores Ctrl-C, and so would all processes of the tests.
signal.signal(signal.SIGINT, signal.default_int_handler)


def _marked(config: pytest.Config) -> str:
    """Return the expression of -m; without -m and without a path, the fast tests run."""
    import tiers

    named = config.args_source is pytest.Config.ArgsSource.ARGS
    expression: str = config.option.markexpr
    return expression or ("" if named else tiers.FAST)


def pytest_configure(config: pytest.Config) -> None:
    """Make all waits for boards and programs patient, also in commands that tests start."""
    from patience import PATIENCE

    os.environ[VARIABLE] = str(PATIENCE)
    config.option.markexpr = _marked(config)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Skip the import of a file if -m names a tier to which the file does not belong."""
    import tiers

    wanted = config.option.markexpr
    if wanted not in (tiers.FAST, *tiers.FOLDERS) or not collection_path.name.startswith("test_"):
        return None
    return tiers.tier_of(collection_path) != wanted or None


@pytest.hookimpl(tryfirst=True)
def pytest_itemcollected(item: pytest.Item) -> None:
    """Give each test one tier as its marker, by its file, unless the test is marked as long."""
    import tiers

    if not item.get_closest_marker(tiers.LONG):
        item.add_marker(tiers.tier_of(item.path))


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Return the number of workers for `pytest -n auto`: one per core, and one more for waits.

    In the other tiers, tests spend half of their time waiting: three more.
    """
    import tiers

    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    return cores + (1 if _marked(config) == tiers.FAST else 3)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Give each of xdist's workers first a share of the files that take long.

    xdist gives each worker a contiguous part of the list, and moves tests from the ends of these
    parts to workers that are done. So the last tests should be short.
    """
    workers: int = getattr(config, "workerinput", {}).get("workercount", 1)
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    long = [tests for tests in files.values() if any(t.get_closest_marker("long") for t in tests)]
    begun = {test for tests in long for test in tests}
    others = [tests for tests in files.values() if tests[0] not in begun]
    # neighbours are on different workers: tests that wait for boards run along with computing ones
    rest = [test for worker in range(workers) for each in others[worker::workers] for test in each]
    ordered: list[pytest.Item] = []
    for worker in range(workers):
        first = [test for tests in long[worker::workers] for test in tests]
        end = (worker + 1) * len(items) // workers
        share = max(end - len(ordered) - len(first), 0) if worker < workers - 1 else len(rest)
        ordered += first + rest[:share]
        del rest[:share]
    items[:] = ordered


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Ignore xdist's interrupt of a worker that takes long to clean up after the last test."""
    if hasattr(session.config, "workerinput"):
        signal.signal(signal.SIGINT, signal.SIG_IGN)


@pytest.fixture(scope="module", autouse=True)
def _old_objects_stay() -> None:
    """Exclude existing objects, mostly of packages, from garbage collection.

    Each collection of them takes a fifth of a second.
    """
    gc.freeze()


@pytest.fixture(autouse=True)
def _drawn_alike(request: pytest.FixtureRequest) -> None:
    """Seed Python's shared random generator with the test's name, also for the links' sessions.

    --hypothesis-seed changes the seed.
    """
    random.seed(f"{request.node.nodeid} {request.config.getoption('hypothesis_seed')}")


# Tests of commands that run as installed without extras
_BARE = ("docs/test_commands_run.py", "host/base/", "host/cli/", "host/streams/", "tools/")


@pytest.fixture(autouse=True)
def _bare_installation(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide scikit-learn from processes that these tests start;
    the tests themselves can import it.
    """
    here = Path(__file__).parent
    if request.path.relative_to(here).as_posix().startswith(_BARE):
        monkeypatch.setenv(
            "PYTHONPATH", str(here / "support" / "bare_installation"), prepend=os.pathsep
        )


@pytest.hookimpl(wrapper=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Iterator[None]:
    """Print one line at the end: the skipped tests, with reasons."""
    yield
    skipped = terminalreporter.stats.get("skipped", [])
    ran = sum(len(terminalreporter.stats.get(outcome, [])) for outcome in ("passed", "failed"))
    reasons = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in skipped)
    text = "; ".join(f"{count} x {reason}" for reason, count in reasons.most_common())
    terminalreporter.write_line(
        f"ran {ran} tests, skipped {len(skipped)}{': ' * bool(text)}{text}"
    )


@pytest.fixture(scope="session")
def micropython_command() -> tuple[str, ...]:
    """The command that starts a real 32-bit MicroPython; tests are skipped without one."""
    from microshrub_host.base.micropython_binary import NoMicroPython, find_or_fetch

    try:
        return find_or_fetch().command
    except NoMicroPython as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    """A Chromium without a tab; tests are skipped without one."""
    import chromium_support

    with chromium_support.chromium(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture(scope="session")
def native_tools_for() -> Callable[[str], object]:
    """A function that returns a processor's tools for native modules; without tools,
    it skips the test.
    """
    from microshrub_host.base import native_tools

    def find(arch: str) -> native_tools.NativeTools:
        try:
            return native_tools.find_or_fetch(arch)
        except native_tools.NoNativeTools as reason:
            pytest.skip(str(reason))

    return find


@pytest.fixture
def run_micropython(micropython_command: tuple[str, ...], tmp_path: Path) -> Callable[[str], str]:
    """A function that runs a script on a real MicroPython with microshrub,
    and returns its output.
    """

    from patience import PATIENCE

    from microshrub_host.library import library_files

    def run(script: str) -> str:
        file = tmp_path / "script.py"
        path = f"import sys\nsys.path.insert(0, {str(library_files.folder().parent)!r})\n"
        file.write_text(path + script, encoding="utf-8")
        command = [*micropython_command, "-X", "heapsize=16m", str(file)]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        assert done.returncode == 0, done.stdout[-500:] + done.stderr
        return done.stdout

    return run


@pytest.fixture
def no_virtual_board(monkeypatch, tmp_path):
    """Let commands without --port find no virtual board that runs elsewhere on this machine."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


@pytest.fixture
def impatient(monkeypatch):
    """For a test without an answer: timeouts are as short as for users."""
    monkeypatch.delenv(VARIABLE)


@pytest.fixture
def put(tmp_path):
    """A function that writes a text, or bytes, to a file and returns its path."""

    def put(text, name="t.csv"):
        path = tmp_path / name
        data = text if isinstance(text, bytes) else text.encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return str(path)

    return put


@pytest.fixture
def device(micropython_command, tmp_path):
    """A function that starts a program on a real MicroPython behind a pty and returns its port."""
    from script_support import running

    with contextlib.ExitStack() as stack:
        yield lambda script: stack.enter_context(running(micropython_command, script, tmp_path))
