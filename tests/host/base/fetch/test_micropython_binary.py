"""Finding, checking and fetching a real 32-bit MicroPython."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from patience import PATIENCE

from microshrub_host.base import debian_packages as debian
from microshrub_host.base import micropython_binary as binary
from microshrub_host.base.cache import cache_folder, work_folder

HOST = str(Path(binary.__file__).parents[2])

needs_apt = pytest.mark.skipif(
    shutil.which("apt-get") is None
    or shutil.which("dpkg-deb") is None
    or not debian.KEYRING.is_file()
    or platform.machine().lower() not in debian.X86,
    reason="fetching needs apt-get, dpkg-deb and Debian's keys on x86",
)


@pytest.fixture(scope="module")
def real() -> binary.MicroPython:
    """This machine's MicroPython, fetched into the user's cache unless there is one."""
    try:
        return binary.find_or_fetch()
    except binary.NoMicroPython as error:
        pytest.skip(f"no 32-bit MicroPython here: {error}")


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The empty folder on PATH, with no MicroPython in MICROPYTHON, on PATH or in the cache."""
    monkeypatch.delenv("MICROPYTHON", raising=False)
    monkeypatch.setenv("MICROSHRUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "bin").mkdir()
    return tmp_path / "bin"


def script(path: Path, text: str) -> str:
    """Write a program as a shell script; only with the shell's own commands,
    as PATH may be empty.
    """
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def answer(name: str = "micropython", maxsize: int = 2**31 - 1, viper: int = 32) -> str:
    """Return a shell command that answers the probe."""
    fields = ("microshrub", name, "1.25.0", maxsize, 4, viper, 1798, "a stand-in")
    return "printf '%s\\n' '" + "\t".join(map(str, fields)) + "'"


def refusal() -> str:
    with pytest.raises(binary.NoMicroPython) as caught:
        binary.find()
    return str(caught.value)


# --- A real one ----------------------------------------------------------------------------------


def run(mp: binary.MicroPython, code: str) -> str:
    done = subprocess.run([*mp.command, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_the_real_one_computes(real: binary.MicroPython) -> None:
    assert run(real, "print(6*7)") == "42"


def test_the_real_one_has_the_version_it_reports(real: binary.MicroPython) -> None:
    code = "import sys; i = sys.implementation; print('%d.%d.%d' % i.version[:3], i._mpy)"
    assert run(real, code) == f"{real.version} {real.mpy}"
    assert run(real, "import sys; print(sys.implementation._machine)") == real.machine


def test_the_real_one_has_the_boards_small_ints(real: binary.MicroPython) -> None:
    code = (
        "import gc\ndef f(x):\n  a = gc.mem_alloc()\n  y = x + 1\n  return gc.mem_alloc() - a\n"
        "print(f(2**30 - 2), f(2**30 - 1) > 0)"
    )
    assert run(real, code) == "0 True"


def test_its_description_is_readable(real: binary.MicroPython) -> None:
    text = binary.describe(real)
    assert f"MicroPython {real.version}, 32 bits" in text
    assert shlex.join(real.command) in text
    assert real.origin in text


def test_it_is_found_by_the_environment_with_arguments(
    real: binary.MicroPython, nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MICROPYTHON", shlex.join(real.command))
    micropython = binary.find()
    assert micropython.command == real.command
    assert "MICROPYTHON" in micropython.origin


def test_it_is_found_on_path(
    real: binary.MicroPython, nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = script(nowhere / "micropython", f'exec {shlex.join(real.command)} "$@"')
    micropython = binary.find()
    assert (micropython.command, micropython.origin) == ((program,), "PATH")
    assert run(micropython, "print(6*7)") == "42"
    assert binary.fetch(pytest.fail) == micropython  # MicroPython exists, so there is no download
    monkeypatch.setenv("MICROPYTHON", "micropython")
    assert binary.find().command == (program,)


def test_a_64_bit_one_on_path_is_passed_over(
    real: binary.MicroPython, nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "cache" not in real.origin:
        pytest.skip("the MicroPython of this machine is not in the cache")
    root = Path(real.command[-1]).parents[2]
    monkeypatch.setenv("MICROSHRUB_CACHE", str(root.parent))
    script(nowhere / "micropython", answer(maxsize=2**63 - 1, viper=64))
    assert binary.find().command == real.command


# --- Unfit ones ----------------------------------------------------------------------------------


def test_an_error_lists_all_places_without_a_micropython(nowhere: Path) -> None:
    text = refusal()
    assert "MICROPYTHON is not set." in text
    assert "On PATH there is no" in text
    assert str(cache_folder(binary.CACHE)) in text
    assert text.endswith(binary.WAYS)


@pytest.mark.parametrize(
    ("shell", "complaint"),
    [
        (answer(maxsize=2**63 - 1, viper=64), "is a 64-bit build"),
        (answer(viper=0), "has no working 32-bit viper"),
        (answer(viper=64), "has no working 32-bit viper"),
        (answer(name="circuitpython"), "is not MicroPython but circuitpython"),
        ("echo lorem; echo ipsum", "did not answer as a MicroPython does (it printed 'ipsum')."),
        ("printf 'microshrub\\tmicropython\\n'", "did not answer as a MicroPython does"),
        ("printf '\\377\\376\\000'", "did not answer as a MicroPython does"),
        (":", "did not answer as a MicroPython does."),
        ('echo "$@"', "did not answer as a MicroPython does."),
        ('echo "no $2" >&2; exit 2', "did not answer as a MicroPython does."),
        ("echo well >&2; echo broken >&2; exit 3", "does not run as a MicroPython (broken)"),
        ("exit 3", "does not run as a MicroPython (it ended with 3)"),
        ("kill -9 $$", "does not run as a MicroPython (it ended with -9)"),
    ],
)
def test_an_unfit_one_in_the_environment_is_refused(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch, shell: str, complaint: str
) -> None:
    program = script(nowhere / "stand-in", shell)
    monkeypatch.setenv("MICROPYTHON", program)
    text = refusal()
    assert f"MICROPYTHON is set to {program}, which {complaint}" in text
    assert text.endswith(binary.WAYS)


def test_an_unfit_one_on_path_is_named(nowhere: Path) -> None:
    program = script(nowhere / "micropython", answer(maxsize=2**63 - 1, viper=64))
    assert f"On PATH, {program} is a 64-bit build" in refusal()


def test_a_fit_answer_is_accepted(nowhere: Path) -> None:
    program = script(nowhere / "micropython", answer())
    expected = binary.MicroPython((program,), "1.25.0", "a stand-in", 1798, "PATH")
    assert binary.find() == expected


def test_cpython_is_refused(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MICROPYTHON", sys.executable)
    assert "is not MicroPython but cpython" in refusal()


def test_a_program_that_does_not_answer_is_refused(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MICROPYTHON", "/bin/ls")
    assert "/bin/ls, which did not answer" in refusal()


@pytest.mark.usefixtures("impatient")
def test_a_program_that_hangs_is_given_up(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binary, "PROBE_SECONDS", 0.2)
    monkeypatch.setenv("MICROPYTHON", script(nowhere / "stand-in", "while :; do :; done"))
    assert "no answer in 0 seconds" in refusal()


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        ("/no/such/micropython", "(No such file or directory)"),
        ("/no/such/micropython -X heapsize=1m", "(No such file or directory)"),
        ("/", "(Permission denied)"),
        ("micropython 'unbalanced", "cannot be read as a command"),
    ],
)
def test_an_environment_variable_that_points_at_nothing_is_reported(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch, value: str, complaint: str
) -> None:
    monkeypatch.setenv("MICROPYTHON", value)
    text = refusal()
    assert f"MICROPYTHON is set to {value}, which" in text
    assert complaint in text
    with pytest.raises(binary.NoMicroPython, match="MICROPYTHON is set to"):
        binary.fetch(pytest.fail)  # a wrong MICROPYTHON is an error: nothing else is fetched


def test_an_empty_environment_variable_counts_as_unset(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MICROPYTHON", "  ")
    assert "MICROPYTHON is not set" in refusal()


# --- Fetching ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fetched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder that a real fetch has filled."""
    base = tmp_path_factory.mktemp("fetched")
    lines: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("MICROPYTHON", raising=False)
        patch.setenv("MICROSHRUB_CACHE", str(base))
        patch.setattr(binary, "_on_path", lambda notes: None)
        mp = binary.fetch(lines.append)
        assert str(base) in mp.origin
        assert binary.fetch(pytest.fail) == mp  # the second fetch finds the cache
    begun = [line.split()[0] for line in lines if " cannot be had: " not in line]
    assert begun[-3:] == ["reading", "downloading", "unpacking"]
    return base / binary.CACHE


@needs_apt
def test_fetch_fills_a_fresh_cache(
    fetched: Path, nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MICROSHRUB_CACHE", str(fetched.parent))
    assert run(binary.find(), "print(6*7)") == "42"
    assert os.listdir(fetched.parent) == [binary.CACHE]
    assert os.listdir(fetched) == ["usr"]


@needs_apt
def test_a_broken_cache_is_replaced(
    fetched: Path, nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = cache_folder(binary.CACHE)
    (folder / "usr").mkdir()
    (folder / "usr" / "half").touch()
    assert f"cache folder {folder} does not run" in refusal()
    fresh = folder / "work" / "usr"
    shutil.copytree(fetched / "usr", fresh, symlinks=True)
    binary._put_in_place(fresh, folder / "usr")
    assert run(binary.find(), "print(6*7)") == "42"


@needs_apt
def test_the_faster_of_two_fetches_wins(fetched: Path, nowhere: Path, tmp_path: Path) -> None:
    folder = cache_folder(binary.CACHE)
    shutil.copytree(fetched / "usr", folder / "usr", symlinks=True)
    late = tmp_path / "usr"
    (late / "bin").mkdir(parents=True)
    binary._put_in_place(late, folder / "usr")
    assert late.is_dir()
    assert run(binary.find(), "print(6*7)") == "42"


def apt_get(folder: Path, work: str) -> None:
    """Write an apt-get that knows a mirror and then does `work`."""
    site = "https://me:secret@mirror.test/debian"
    known = f"if [ $1 = indextargets ]; then printf 'Debian\\t{site}\\n'; exit; fi"
    script(folder / "apt-get", f"{known}\n{work}")


@pytest.fixture
def fake_apt(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """PATH's folder on a machine with an empty Debian mirror, tools and keys."""
    monkeypatch.setattr(debian, "KEYRING", Path(__file__))
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    apt_get(nowhere, 'echo "E: 404" >&2; exit 100')
    script(nowhere / "apt-config", "exit 1")
    script(nowhere / "dpkg-deb", "exit 1")
    return nowhere


def fetch_refusal() -> str:
    with pytest.raises(binary.NoMicroPython) as caught:
        binary.fetch()
    assert str(caught.value).endswith(binary.WAYS)
    return str(caught.value)


def test_a_mirror_without_the_packages_is_reported(fake_apt: Path) -> None:
    text = fetch_refusal()
    assert "https://mirror.test/debian: E: 404" in text
    assert "secret" not in text
    assert os.listdir(cache_folder(binary.CACHE)) == []


def test_a_suite_whose_index_is_not_the_signed_one_is_passed_over(fake_apt: Path) -> None:
    """The mirror is being updated: apt-get fails for the first suite only."""
    fails = "echo 'E: File has unexpected size (1 != 2). Mirror sync in progress?' >&2; exit 100"
    works = "case $4 in download) : > micropython.deb;; esac"
    broken = f"read line < sources.list; case $line in *{binary.SUITES[0]}*) {fails};; esac"
    apt_get(fake_apt, f"{broken}; {works}")
    script(fake_apt / "dpkg-deb", "echo no space >&2; exit 2")
    messages: list[str] = []
    with pytest.raises(binary.NoMicroPython, match="fetched, but cannot be used"):
        binary.fetch(messages.append)
    assert f"{binary.SUITES[0]} cannot be had" in messages[1]
    assert "Mirror sync in progress?" in messages[1]
    assert [line.split()[0] for line in messages[2:]] == ["reading", "downloading", "unpacking"]


def test_a_machine_without_mirrors_is_reported(fake_apt: Path) -> None:
    script(fake_apt / "apt-get", "exit 1")
    assert "apt is not set up" in fetch_refusal()


def test_packages_that_do_not_unpack_are_reported(fake_apt: Path) -> None:
    apt_get(fake_apt, ": > micropython.deb")
    script(fake_apt / "dpkg-deb", "echo no space >&2; exit 2")
    assert "be used here (no space)" in fetch_refusal()
    assert os.listdir(cache_folder(binary.CACHE)) == []


@pytest.mark.parametrize("tool", ["apt-get", "dpkg-deb"])
def test_a_machine_without_the_tools_is_reported(fake_apt: Path, tool: str) -> None:
    (fake_apt / tool).unlink()
    assert f"needs {tool}, which is not here" in fetch_refusal()


def test_a_machine_without_the_keys_is_reported(
    fake_apt: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(debian, "KEYRING", Path("/no/such/keyring.gpg"))
    assert "/no/such/keyring.gpg (package debian-archive-keyring)" in fetch_refusal()


def test_a_machine_that_is_not_x86_is_reported(
    fake_apt: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    assert "this is linux on aarch64" in fetch_refusal()


def test_a_cache_that_cannot_be_written_is_reported(
    fake_apt: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MICROSHRUB_CACHE", __file__)
    assert "cache folder cannot be written" in fetch_refusal()


def test_a_cache_that_cannot_be_made_is_named(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MICROSHRUB_CACHE", __file__)
    assert "There is no cache (" in refusal()


def test_the_cache_folder_is_absolute(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MICROSHRUB_CACHE", "here")
    assert cache_folder("a") == tmp_path / "here" / "a"
    assert (tmp_path / "here" / "a").is_dir()


def test_files_of_a_killed_fetch_are_removed_after_a_day(fake_apt: Path) -> None:
    base = cache_folder(binary.CACHE)
    for name in ("fetch-old", "fetch-new"):
        (base / name).mkdir()
    os.utime(base / "fetch-old", (1, time.time() - 90_000))
    fetch_refusal()
    assert os.listdir(base) == ["fetch-new"]


def test_an_interrupted_fetch_leaves_no_files(fake_apt: Path) -> None:
    """A real Ctrl-C while apt-get works, in a process of its own."""
    cache = cache_folder(binary.CACHE)
    begun = fake_apt.parent / "begun"
    apt_get(fake_apt, f"/bin/sleep 60 & echo $! > {begun}; wait")
    code = (
        "import pathlib, platform\n"
        "from microshrub_host.base import debian_packages, micropython_binary\n"
        f"debian_packages.KEYRING = pathlib.Path({__file__!r})\n"
        "platform.machine = lambda: 'x86_64'\nmicropython_binary.fetch()"
    )
    env = {**os.environ, "PYTHONPATH": HOST}
    with subprocess.Popen([sys.executable, "-c", code], env=env, stderr=subprocess.PIPE) as child:
        deadline = time.monotonic() + PATIENCE
        while not (begun.exists() and begun.read_text()) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert [name[:6] for name in os.listdir(cache)] == ["fetch-"]
        child.send_signal(signal.SIGINT)
        _, complaint = child.communicate(timeout=PATIENCE)
    assert complaint.strip().endswith(b"KeyboardInterrupt")
    assert os.listdir(cache) == []
    helper, deadline = int(begun.read_text()), time.monotonic() + PATIENCE
    while alive(helper) and time.monotonic() < deadline:  # the helper has received a signal
        time.sleep(0.02)
    assert not alive(helper)  # apt-get's child processes have ended, too


def test_ctrl_c_waits_until_a_work_folder_is_removed(tmp_path: Path) -> None:
    strike = threading.Timer(
        0.05, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT)
    )
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012
        with work_folder(tmp_path) as work:
            for i in range(20_000):
                (work / str(i)).touch()
            strike.start()
        time.sleep(30)
    assert list(tmp_path.iterdir()) == []


def alive(pid: int) -> bool:
    """Return whether a process still runs; a zombie does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


# --- Mirrors -------------------------------------------------------------------------------------

STANZAS = """\
# Types: deb
# URIs: http://commented.test/debian
Types: deb deb-src
URIs: http://one.test/debian
  http://two.test/debian/
# a comment inside
Suites: bookworm

Types: deb-src
URIs: http://source.test/debian

types: deb
uris: http://off.test/debian
enabled: no

Types: deb
URIs: http://one.test/debian-security
"""

LINES = """\
# deb http://commented.test/debian bookworm main
deb cdrom:[Debian]/ bookworm main
deb-src http://source.test/debian bookworm main
deb [arch=amd64 signed-by=/k.gpg] http://three.test/debian bookworm main
 deb http://other.test/tools stable main
"""


def test_mirrors_come_from_sources_if_apt_has_no_index(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    parts = tmp_path / "sources.list.d"
    parts.mkdir()
    (parts / "debian.sources").write_text(STANZAS, encoding="utf-8")
    (parts / "ignored.sources.disabled").write_text(STANZAS.replace("one", "never"))
    (tmp_path / "sources.list").write_text(LINES, encoding="utf-8")
    script(nowhere / "apt-get", "exit 0")
    script(nowhere / "apt-config", f"echo \"MAIN='{tmp_path}/sources.list'\nPARTS='{parts}/'\"")
    assert debian._sites() == [
        "http://three.test/debian",
        "http://one.test/debian",
        "http://two.test/debian/",
        "http://other.test/tools",
    ]


def test_mirrors_of_the_indexes_come_first(nowhere: Path) -> None:
    rows = ["Debian\thttp://a.test/debian", "Debian-Security\thttp://b.test/debian-security"]
    rows += ["Tools\thttp://c.test/tools", "Debian\thttp://a.test/debian"]
    script(nowhere / "apt-get", "printf '%s\\n' " + " ".join(f"'{row}'" for row in rows))
    assert debian._sites() == ["http://a.test/debian"]


@needs_apt
def test_this_machine_has_mirrors() -> None:
    assert debian._sites_of_sources()
