"""What all tests share: the oracles can be imported, and a real MicroPython where there is one.

The last line but one of a run tells how many tests were skipped, and why.
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
# and that of `make ci` many, the same each time: a change is judged by what it does, not by luck.
# The large one, of `make attack` and `make mutants`, draws its many anew, by --hypothesis-seed.
settings.register_profile("small", deadline=None, max_examples=20, derandomize=True, database=None)
settings.register_profile("large", deadline=None, max_examples=100, derandomize=False)
settings.register_profile("ci", settings.get_profile("large"), derandomize=True, database=None)
settings.load_profile("ci" if os.environ.get("CI") else "small")
# Each worker imports all test files, and what they make stays. To look through it for garbage
# after every 700 new objects takes a fifth of that time.
gc.set_threshold(50_000)
# With this variable, which many containers set, each process that the tests start would compile
# its sources anew: `simulate` takes three times as long.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# A script that runs in the background ignores Ctrl-C, and so would all that the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)


def _marked(config: pytest.Config) -> str:
    """What -m says; without a word and without a path, the tests are those that are fast."""
    import tiers

    named = config.args_source is pytest.Config.ArgsSource.ARGS
    expression: str = config.option.markexpr
    return expression or ("" if named else tiers.FAST)


def pytest_configure(config: pytest.Config) -> None:
    """Boards and programs are waited for, also by commands that tests start."""
    from patience import PATIENCE

    os.environ[VARIABLE] = str(PATIENCE)
    config.option.markexpr = _marked(config)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A file is not even imported if -m names a tier, and it is of another one."""
    import tiers

    wanted = config.option.markexpr
    if wanted not in (tiers.FAST, *tiers.FOLDERS) or not collection_path.name.startswith("test_"):
        return None
    return tiers.tier_of(collection_path) != wanted or None


@pytest.hookimpl(tryfirst=True)
def pytest_itemcollected(item: pytest.Item) -> None:
    """Each test has one tier as its marker, from its file or as it takes long."""
    import tiers

    if not item.get_closest_marker(tiers.LONG):
        item.add_marker(tiers.tier_of(item.path))


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """What `pytest -n auto` starts: a worker for each core, and one more as boards are waited for.

    In the other tiers boards, lines and processes are waited for half of the time: three more.
    """
    import tiers

    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    return cores + (1 if _marked(config) == tiers.FAST else 3)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Each of xdist's workers begins with its share of the files that take long.

    xdist gives each of them a part of the list, one after the other, and takes from the ends of
    these what another one does when it is done. So what is last is short.
    """
    workers: int = getattr(config, "workerinput", {}).get("workercount", 1)
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    long = [tests for tests in files.values() if any(t.get_closest_marker("long") for t in tests)]
    begun = {test for tests in long for test in tests}
    others = [tests for tests in files.values() if tests[0] not in begun]
    # neighbours go to different workers: those that wait for boards run beside those that compute
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
    """xdist interrupts a worker that takes long to clean up after the last test: let it be."""
    if hasattr(session.config, "workerinput"):
        signal.signal(signal.SIGINT, signal.SIG_IGN)


@pytest.fixture(scope="module", autouse=True)
def _old_objects_stay() -> None:
    """What is there by now, mostly of packages, is left alone when garbage is collected.

    Each look at it takes a fifth of a second.
    """
    gc.freeze()


@pytest.fixture(autouse=True)
def _drawn_alike(request: pytest.FixtureRequest) -> None:
    """What a test draws from Python's common numbers, the links' sessions, is the same each time.

    --hypothesis-seed draws others.
    """
    random.seed(f"{request.node.nodeid} {request.config.getoption('hypothesis_seed')}")


# Tests of commands that are started as they are installed without extras
_BARE = ("docs/test_commands_run.py", "host/base/", "host/cli/", "host/streams/", "tools/")


@pytest.fixture(autouse=True)
def _bare_installation(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What these tests start does not find scikit-learn; what they import does."""
    here = Path(__file__).parent
    if request.path.relative_to(here).as_posix().startswith(_BARE):
        monkeypatch.setenv(
            "PYTHONPATH", str(here / "support" / "bare_installation"), prepend=os.pathsep
        )


@pytest.hookimpl(wrapper=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Iterator[None]:
    """One line at the end: what was skipped, and why."""
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
    """The command that starts a real 32-bit MicroPython; skips the test if none can be had."""
    from microshrub_host.base.micropython_binary import NoMicroPython, find_or_fetch

    try:
        return find_or_fetch().command
    except NoMicroPython as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    """A Chromium without a tab; skips the test where there is none."""
    import chromium_support

    with chromium_support.chromium(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture(scope="session")
def native_tools_for() -> Callable[[str], object]:
    """Gives what makes native modules for a processor; skips the test where there is none."""
    from microshrub_host.base import native_tools

    def find(arch: str) -> native_tools.NativeTools:
        try:
            return native_tools.find_or_fetch(arch)
        except native_tools.NoNativeTools as reason:
            pytest.skip(str(reason))

    return find


@pytest.fixture
def run_micropython(micropython_command: tuple[str, ...], tmp_path: Path) -> Callable[[str], str]:
    """Runs a script on a real MicroPython that can import microshrub; gives what it printed."""

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
    """Commands without --port find none that runs elsewhere on this machine."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


@pytest.fixture
def impatient(monkeypatch):
    """For a test in which nothing comes: what is waited for is given up as early as usual."""
    monkeypatch.delenv(VARIABLE)


@pytest.fixture
def put(tmp_path):
    """Writes a text, or bytes, to a file and gives its path."""

    def put(text, name="t.csv"):
        path = tmp_path / name
        data = text if isinstance(text, bytes) else text.encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return str(path)

    return put


@pytest.fixture
def device(micropython_command, tmp_path):
    """Starts a program on a real MicroPython behind a pty and gives its port."""
    from script_support import running

    with contextlib.ExitStack() as stack:
        yield lambda script: stack.enter_context(running(micropython_command, script, tmp_path))
