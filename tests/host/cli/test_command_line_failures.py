"""The command line when it is stopped or cannot write: one line, and an exit code."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from patience import PATIENCE

from microshrub_tools.cli import main

SIZE = ["budget", "--features", "3", "--classes", "2", "--bytes", "16384"]
LEARN = ["simulate", "river:ImageSegments", "--model", "shrub", "--window", "16", "--limit", "300"]
BUFFERED = {name: text for name, text in os.environ.items() if name != "PYTHONUNBUFFERED"}
LINUX = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")


def microshrub(
    *words: str | Path, stdout: str | None = None, cache: str | None = None
) -> tuple[int, str, str]:
    """Return exit code, output and errors of a separate process."""
    env = BUFFERED | ({"MICROSHRUB_CACHE": cache} if cache else {})
    command = [sys.executable, "-m", "microshrub_tools.cli.main", *map(str, words)]
    with open(stdout or os.devnull, "wb") as file:
        done = subprocess.run(
            command,
            stdout=file if stdout else subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=env,
            check=False,
        )
    return done.returncode, done.stdout or "", done.stderr


def interrupted(cache: Path, seconds: float) -> tuple[int, str]:
    """Return exit code and error of a long simulation that gets Ctrl-C after `seconds` seconds."""
    command = [
        *(sys.executable, "-m", "microshrub_tools.cli.main", "simulate"),
        *("synth:agrawal_a", "--limit", "2000000"),  # takes minutes, even on a fast machine
    ]
    env = os.environ | {"MICROSHRUB_CACHE": str(cache)}
    with subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True) as child:
        time.sleep(seconds)
        child.send_signal(signal.SIGINT)
        err = child.communicate(timeout=PATIENCE)[1]
    return child.returncode, err


@pytest.mark.parametrize("seconds", [0.3, 1.0, 2.0, 3.5])
def test_ctrl_c_is_one_line(tmp_path: Path, seconds: float) -> None:
    """Ctrl-C may come while Python imports, while kernels are compiled, or while they learn."""
    code, output = interrupted(tmp_path, seconds)
    while "microshrub: stopped" not in output and (
        code == -signal.SIGINT or ("Traceback" in output and "microshrub_tools" not in output)
    ):
        assert seconds < PATIENCE, "Python itself does not start"
        seconds *= 2  # it had not started yet, or none of our modules but its name was loaded
        code, output = interrupted(tmp_path, seconds)
    # Python itself ends if the signal comes within exec() of a text: in a shell that is 130, too
    assert code in (130, -signal.SIGINT)
    assert output.splitlines()[-1] == "microshrub: stopped"
    assert "Traceback" not in output
    assert "Error" not in output


def test_ctrl_c_is_handled_between_blocks_of_rows() -> None:
    """The signal comes after the first progress: many rows are one call of a kernel,
    but never all.
    """
    program = (
        "import sys; from microshrub_host.base import terminal; terminal._SECONDS = 0; "
        "from microshrub_tools.cli.main import main; sys.exit(main(sys.argv[1:]))"
    )
    command = [
        *(sys.executable, "-c", program, "simulate", "synth:friedman"),
        *("--target", "target", "--limit", "300000", "--bytes", "100000"),
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as child:
        assert child.stderr
        messages = []
        for line in child.stderr:
            messages.append(line)
            if "learning: 10 %" in line:
                child.send_signal(signal.SIGINT)
    assert child.returncode == 130
    assert messages[-1] == "microshrub: stopped\n"
    assert not [line for line in messages if "learning: 90 %" in line]


def test_an_error_caused_by_ctrl_c_counts_as_ctrl_c(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def struck(argv: object) -> int:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise RuntimeError("no compiled object yet") from None
        return 0

    monkeypatch.setattr(main, "_run", struck)
    assert main.main([]) == 130
    assert capsys.readouterr().err == "microshrub: stopped\n"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_that_a_callback_loses_is_raised_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Loses:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGINT)

    def struck(argv: object) -> int:
        Loses()
        time.sleep(100)
        return 0

    monkeypatch.setattr(main, "_run", struck)
    assert main.main([]) == 130
    assert capsys.readouterr().err == "microshrub: stopped\n"


def test_ctrl_c_that_is_suppressed_is_raised_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def struck(argv: object) -> int:
        with contextlib.suppress(BaseException):
            signal.raise_signal(signal.SIGINT)
        time.sleep(100)
        return 0

    monkeypatch.setattr(main, "_run", struck)
    assert main.main([]) == 130
    assert capsys.readouterr().err == "microshrub: stopped\n"


def test_a_bug_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(argv: object) -> int:
        raise RuntimeError("a bug")

    monkeypatch.setattr(main, "_run", wrong)
    with pytest.raises(RuntimeError, match="a bug"):
        main.main([])


@pytest.mark.parametrize(
    "words",
    [["boards"], pytest.param([*LEARN[:-1], "120"], marks=pytest.mark.long)],
)
def test_a_cache_that_cannot_be_written_is_reported(tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "file").touch()
    code, _, output = microshrub(*words, cache=str(tmp_path / "file" / "cache"))
    assert code == 0
    lines = [line for line in output.splitlines() if "cannot be used" in line]
    assert len(lines) == 1
    assert "temporary folder" in lines[0]
    assert "Traceback" not in output


def test_the_temporary_cache_is_removed(tmp_path: Path) -> None:
    from microshrub_host.base import cache

    (tmp_path / "file").touch()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MICROSHRUB_CACHE", str(tmp_path / "file"))
        messages: list[str] = []
        with cache.usable(messages.append):
            folder = cache.cache_folder("x")
            assert folder.is_dir()
        assert not folder.exists()
        assert os.environ["MICROSHRUB_CACHE"] == str(tmp_path / "file")
        assert len(messages) == 1
        patch.setenv("MICROSHRUB_CACHE", str(tmp_path / "good"))
        with cache.usable(messages.append):
            assert cache.cache_folder("x") == tmp_path / "good" / "x"
        assert len(messages) == 1


@pytest.mark.parametrize("option", ["--json", "--plot", "--save"])
def test_targets_are_refused_before_the_run(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, option: str
) -> None:
    folder = tmp_path / "a.png"
    folder.mkdir()
    (tmp_path / "file").touch()
    dangling = tmp_path / "link.png"
    dangling.symlink_to(tmp_path / "no" / "folder.png")
    for target in (folder, tmp_path / "file" / "x.png", tmp_path / "no" / "x.png", dangling):
        assert main.main(["simulate", "nowhere.csv", option, str(target)]) == 2
        err = capsys.readouterr().err
        assert err.startswith(f"microshrub: {option} {target}: ")
        assert len(err.splitlines()) == 1
    good = tmp_path / "good.png"
    assert main.main(["simulate", "nowhere.csv", option, str(good)]) == 2
    assert "no file nowhere.csv" in capsys.readouterr().err
    assert not good.exists()
    good.write_text("kept")
    assert main.main(["simulate", "nowhere.csv", option, str(good)]) == 2
    assert good.read_text() == "kept"


@LINUX
@pytest.mark.parametrize("words", [["-h"], SIZE, [*SIZE, "--json", "-"]])
def test_a_full_disk_is_reported(words: list[str]) -> None:
    code, _, output = microshrub(*words, stdout="/dev/full")
    assert re.fullmatch("microshrub: .* No space left on device\n", output)
    assert code == 2


@LINUX
def test_a_full_disk_is_reported_for_json() -> None:
    code, _, output = microshrub(*SIZE, "--json", "/dev/full")
    assert re.fullmatch("microshrub: --json /dev/full: .* No space .*\n", output)
    assert code == 2


@pytest.mark.parametrize("words", [["simulate", "-h"], SIZE, [*SIZE, "--json", "-"]])
def test_a_closed_pipe_ends_the_command_without_a_message(words: list[str]) -> None:
    command = [sys.executable, "-m", "microshrub_tools.cli.main", *words]
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        command, stdout=writer, stderr=subprocess.PIPE, env=BUFFERED, check=False
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")
