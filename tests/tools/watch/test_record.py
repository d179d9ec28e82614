"""Recording from a real MicroPython over a real pty: the file's content, whatever happens."""

from __future__ import annotations

import csv
import os
import pty
import random
import re
import resource
import signal
import time
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from patience import PATIENCE, wait_until
from script_support import (
    PLOTTER,
    RESET_ONCE,
    SERVER,
    Device,
    output_in_time,
    run,
    spawn,
)

from microshrub_host.base.errors import UserError
from microshrub_tools.link.frames import Frame, pack
from microshrub_tools.link.messages import OBSERVED
from microshrub_tools.watch.feature_readings import FeatureReadings
from microshrub_tools.watch.line_samples import Reading, read_line
from microshrub_tools.watch.readings import TextLines
from microshrub_tools.watch.sample_file import SampleFile, SampleFileError


def rows_of(path: Path) -> list[dict[str, str]]:
    """Return the rows of a file that has to be complete."""
    text = path.read_text()
    assert text.endswith("\n")
    assert len({len(cells) for cells in csv.reader(text.splitlines())}) == 1
    return list(csv.DictReader(text.splitlines()))


def check_plotter(path: Path, least: int = 1) -> None:
    """Check that the file has at least `least` samples of PLOTTER in a row, without a gap."""
    rows = rows_of(path)
    assert len(rows) >= least
    assert list(rows[0]) == ["n", "z", "label"]
    begin = int(rows[0]["n"])
    for k, row in enumerate(rows, begin):
        assert row == {"n": str(k), "z": str(-3 * k), "label": str(k // 50 % 2)}


def test_plotter_lines_go_straight_into_simulate(
    device: Device, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "walk.csv"
    assert run("record", "--port", device(PLOTTER), "-o", file, "--limit", 300) == 0
    check_plotter(file, 300)
    assert len(rows_of(file)) == 300
    assert "300 samples" in capsys.readouterr().err
    assert (
        run(
            "simulate",
            file,
            "--model",
            "shrub",
            "--window",
            16,
            "--trees",
            4,
            "--engine",
            "python",
        )
        == 0
    )
    assert "300 samples, 2 features, 2 classes" in capsys.readouterr().out


def test_turns_without_room_at_all_lags_are_reported_as_by_other_commands() -> None:
    for values, note in ((11, ""), (12, "Note: --features: 256 features have no room")):
        names = tuple(f"v{i}" for i in range(values))
        features = FeatureReadings(["turns=all", "window=16", "scale=1"])
        features.take(Reading(names, (0,) * values, None, False))
        assert features.note.startswith(note)
        assert bool(features.note) == bool(note)


def test_features_are_recorded_as_the_board_makes_them(
    device: Device, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, port = tmp_path / "walk.csv", device(PLOTTER)
    words = ["--features", "window=32", "hop=10", "statistics=min,max", "bands=3-20", "rate=100"]
    assert run("record", "--port", port, "-o", file, "--limit", 12, *words) == 0
    rows = rows_of(file)
    assert list(rows[0]) == [
        *("n_min", "n_max", "n_3-20Hz", "z_min", "z_max", "z_3-20Hz", "label"),
    ]
    begin = int(rows[0]["n_min"])
    for k, row in enumerate(rows):
        low = begin + 10 * k
        assert (row["n_min"], row["n_max"]) == (str(low), str(low + 31))
        assert (row["z_min"], row["z_max"]) == (str(-3 * (low + 31)), str(-3 * low))
        assert row["label"] == str((low + 31) // 50 % 2)
        assert int(row["z_3-20Hz"]) - int(row["n_3-20Hz"]) == pytest.approx(2 * 405.8, abs=8)
    assert run("record", "--port", port, "-o", file, "--force", "--features", "bands=1-9") == 2
    assert ": rate=100" in capsys.readouterr().err


DECIMALS = """
import time
n = 0
while True:
    turn = 600 - abs(n % 1200 - 600)  # up and down again, so that a factor of 100 has room
    print("ax: %s, ay: %s, on: %d" % (turn / 4, START - turn / 4, n % 2))
    n += 1
    time.sleep_ms(20)
"""


def test_decimals_are_multiplied_and_the_factors_reported(
    device: Device, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The axes of a sensor have one factor; samples with another factor cannot be appended."""
    file, port = tmp_path / "walk.csv", device(DECIMALS.replace("START", "0"))
    words = ["record", "--port", port, "-o", file, "--limit", 6]
    features = ["--features", "window=8", "hop=4", "statistics=min,max"]
    assert run(*words, "--label", "walk", *features) == 0
    rows = rows_of(file)
    assert {row["label"] for row in rows} == {"walk"}
    low = [int(row["ax_min"]) for row in rows]
    assert low == list(range(low[0], low[0] + 600, 100))[:6]  # a quarter per reading
    assert [int(row["ax_max"]) - int(row["ax_min"]) for row in rows] == [175] * 6
    assert [int(row["ay_max"]) for row in rows] == [-each for each in low]
    assert {row["on_min"] for row in rows} == {"0"}
    err = capsys.readouterr().err
    assert re.search("ax by 100, ay by 100.* scale=100,100,1", " ".join(err.split()))
    assert run(*words, "--append", "--label", "walk", *features) == 2
    assert "such as scale=100,100,1" in " ".join(capsys.readouterr().err.split())
    assert len(rows_of(file)) == 6
    assert run(*words, "--append", "--label", "rest", *features, "scale=100,100,1") == 0
    assert [row["label"] for row in rows_of(file)] == ["walk"] * 6 + ["rest"] * 6


def test_a_decimal_too_large_for_its_factor_is_refused(
    device: Device, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--features", "window=4", "statistics=max", "scale=1024"]
    port = device(DECIMALS.replace("START", "30"))
    assert run("record", "--port", port, "-o", tmp_path / "a.csv", *words) == 2
    err = " ".join(capsys.readouterr().err.split())
    assert re.search(r"factor 1024 .*-32\.\.32", err)
    assert "scale=512" in err


def test_text_of_the_board_is_shown_and_splits_the_windows(
    device: Device, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, program_line = tmp_path / "walk.csv", 'print("microshrub: the FIFO overran 2 times")'
    program = PLOTTER.replace(
        "while True:", f"while True:\n    if n % 40 == 0:\n        {program_line}"
    )
    words = ["--features", "window=16", "hop=8", "statistics=min,max"]
    assert run("record", "--port", device(program), "-o", file, "--limit", 12, *words) == 0
    rows = [(int(row["n_min"]), int(row["n_max"])) for row in rows_of(file)]
    assert {high - low for low, high in rows} == {15}
    assert all(low // 40 == high // 40 for low, high in rows)
    assert "FIFO overran 2 times" in capsys.readouterr().err


def test_observations_of_the_link(
    device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("microshrub_tools.watch.readings._LISTEN", 0.5)
    file = tmp_path / "seen.csv"
    assert run("record", "--port", device(SERVER), "-o", file, "--limit", 90) == 0
    rows = rows_of(file)
    numbers = [int(row["x0"]) for row in rows]
    begin = numbers[0]
    assert numbers == [n for n in range(begin, begin + 200) if n % 4][:90]
    for row, n in zip(rows, numbers, strict=True):
        assert row["x1"] == ("" if n % 10 == 3 else str(-3 * n))
        assert row["label"] == str(n // 50 % 2)


def test_a_device_gets_a_new_hello_after_a_reset(
    device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("microshrub_tools.watch.readings._LISTEN", 0.5)
    monkeypatch.setattr("microshrub_tools.watch.readings._RESTARTED", 1.0)
    file = tmp_path / "reset.csv"
    assert run("record", "--port", device(RESET_ONCE), "-o", file, "--limit", 150) == 0
    numbers = [int(row["x0"]) for row in rows_of(file)]
    assert numbers == sorted(set(numbers))
    assert numbers[0] < 150 < 200 < numbers[-1]


def test_keys_set_the_label(device: Device, tmp_path: Path) -> None:
    walk = "walk, or = 2"  # characters that separate words elsewhere
    file, printed = tmp_path / "keys.csv", tmp_path / "printed"
    master, slave = pty.openpty()
    note = f"    with open({str(printed)!r}, 'w') as file:\n        file.write(str(n))\n"
    words = ["record", "--port", device(PLOTTER + note), "-o", file]
    with spawn(*words, "--label-keys", "0=rest", f"1={walk}", "--time", stdin=slave) as process:
        # more than an unread line holds; so record reads it, and listens to keys
        wait_until(lambda: printed.exists() and int(printed.read_text() or 0) > 1000)
        assert not file.exists()  # no label, no sample

        def labels() -> list[str]:
            return [row["label"] for row in rows_of(file)]

        os.write(master, b"1")
        wait_until(lambda: file.exists() and len(labels()) > 100)
        os.write(master, b"x0")
        wait_until(lambda: labels()[-1:] == ["rest"])
        os.write(master, b"\3")  # a terminal's Ctrl-C goes to its own processes only
        os.kill(process.pid, signal.SIGINT)
        error = process.communicate(timeout=PATIENCE)[1]
    os.close(master)
    os.close(slave)
    assert process.returncode == 130
    assert f"label {walk}" in error
    assert "without a label skipped" in error
    rows = rows_of(file)
    assert list(rows[0]) == ["time", "n", "z", "label"]
    switch = labels().index("rest")
    assert labels() == [walk] * switch + ["rest"] * (len(rows) - switch)
    times = [int(row["time"]) for row in rows]
    assert times == sorted(times)


def test_ctrl_c_at_any_moment(device: Device, tmp_path: Path) -> None:
    port = device(PLOTTER)
    rng = random.Random(4)
    for k in range(6):
        file = tmp_path / f"{k}.csv"
        with spawn("record", "--port", port, "-o", file) as process:
            if k:
                wait_until(file.exists)
            time.sleep(rng.random() * 0.3)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=PATIENCE)
        assert process.returncode == (130 if k else process.returncode)
        if file.exists():
            check_plotter(file)


def test_a_full_disk_leaves_complete_lines(device: Device, tmp_path: Path) -> None:
    file = tmp_path / "full.csv"

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    port = device(PLOTTER)
    with spawn("record", "--port", port, "-o", file, preexec_fn=limit) as process:
        error = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 2
    check_plotter(file, 100)
    assert 1980 < file.stat().st_size <= 2000
    assert f"{len(rows_of(file))} samples of this recording" in error
    assert "can no longer be written" in error


def test_a_full_output_device_is_reported(
    device: Device, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("record", "--port", device(PLOTTER), "-o", "/dev/full") == 2
    assert "left on device; 0 samples" in capsys.readouterr().err


def test_an_existing_file_is_kept_without_append_or_force(
    device: Device, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "twice.csv"
    words = ["record", "--port", device(PLOTTER), "-o", file, "--limit", 20]
    assert run(*words) == 0
    before = file.read_text()
    assert run(*words) == 2
    assert re.search("--append .*--force", capsys.readouterr().err)
    assert file.read_text() == before
    assert run(*words, "--append") == 0
    assert file.read_text().startswith(before)
    assert len(rows_of(file)) == 40
    assert run(*words, "--force") == 0
    assert len(rows_of(file)) == 20
    file.write_text("a,b\n1,2\n")
    assert run(*words, "--append") == 2
    assert re.search("n, z, label, .*a, b", capsys.readouterr().err)
    assert file.read_text() == "a,b\n1,2\n"


def test_another_set_of_names_is_an_error(
    device: Device, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "names.csv"
    script = "import time\nfor k in range(999):\n    time.sleep_ms(5)\n    "
    port = device(script + "print('x:%d' % k if k < 300 else 'x:1 y:2')")
    assert run("record", "--port", port, "-o", file) == 2
    err = capsys.readouterr().err
    assert re.search("x, y, .*had x: ", err)
    assert f"{len(rows_of(file))} samples of this recording" in err


def test_lines_without_a_sample_are_counted(
    device: Device, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "some.csv"
    script = (
        "import time\nwhile True:\n    print('x:5\\nhello\\n\\ny:4.5')\n    time.sleep_ms(20)\n"
    )
    assert run("record", "--port", device(script), "-o", file, "--limit", 10) == 0
    assert rows_of(file) == [{"x": "5"}] * 10
    assert "not samples skipped" in capsys.readouterr().err


def test_samples_of_a_board_that_learns_wait_for_their_label(
    device: Device, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "late.csv"
    script = """
import time
n = 0
while True:
    n += 1
    print("a:%d b:0 c:0 d:0 e:0 f:0%s pred:1" % (n, " label:1" if n % 3 == LABELLED else ""))
    time.sleep_ms(1)
"""
    words = ["record", "--port", device(script.replace("LABELLED", "0")), "-o", file]
    assert run(*words, "--limit", 40) == 0
    numbers = [int(row["a"]) for row in rows_of(file)]
    assert numbers == list(range(numbers[0], numbers[0] + 120, 3))
    assert "Without text in" in capsys.readouterr().err
    words = ["record", "--port", device(script.replace("LABELLED", "9")), "-o", tmp_path / "no"]

    def recorded(seconds: float) -> str:
        assert run(*words, "--seconds", seconds) == 1
        return capsys.readouterr().err

    missing = "No sample had a label: --label-keys"
    assert missing in output_in_time(recorded, missing)


def test_a_port_that_disappears_is_reported(tmp_path: Path) -> None:
    file, port = tmp_path / "gone.csv", tmp_path / "port"
    master, slave = pty.openpty()
    port.symlink_to(os.ttyname(slave))
    with spawn("record", "--port", port, "-o", file) as process:
        os.close(slave)
        numbers = count()
        wait_until(lambda: os.write(master, b"n:%d\n" % next(numbers)) and file.exists())
        port.unlink()  # before another test gets the port's number
        os.close(master)
        error = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 2
    assert "is gone: the board" in error
    assert "--append continues it" in error
    assert rows_of(file)


def test_silence_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    master, slave = pty.openpty()
    words = ["record", "--port", os.ttyname(slave), "-o", tmp_path / "none.csv"]
    assert run(*words, "--seconds", 0.5) == 1
    err = capsys.readouterr().err
    assert "0 samples" in err
    assert "No sample came: a board sends those of its own sensor" in err
    assert not (tmp_path / "none.csv").exists()
    os.close(master)
    os.close(slave)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--label-keys", "rest"], "has to be like 0=rest 1=walk"),
        (["--label-keys", "0=a", "0=b"], "has the key 0 twice"),
        (["--label-keys", "0=rest,1=walk"], "has to be words such as 0=rest 1=walk, not"),
        (["--label-keys", "0=rest, 1=walk"], "has to be words such as 0=rest 1=walk, not"),
        (["--label", " "], "has to be a name such as walk"),
        (["--label", "walk", "--label-keys", "0=a"], "not allowed with"),
        (["--limit", "0"], "--limit has to be above 0"),
        (["--seconds", "-1"], "--seconds has to be above 0"),
        (["--append", "--force"], "not allowed with"),
    ],
)
def test_wrong_options(
    words: list[str], complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("record", "--port", "/dev/null", "-o", tmp_path / "a.csv", *words) == 2
    assert complaint in capsys.readouterr().err


@pytest.mark.usefixtures("no_virtual_board")
def test_without_a_board_a_port_is_needed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("record", "-o", tmp_path / "a.csv") == 2
    assert "--port" in capsys.readouterr().err


# Without a device


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("x:12 y:-3 label:1 pred:1 acc:934", Reading(("x", "y"), (12, -3), "1", True, True)),
        ("x:12,\ty:+3\r", Reading(("x", "y"), (12, 3), None, False)),
        ("x:-536870912 y:1", Reading(("x", "y"), (None, 1), None, False)),
        ("x:1 pred:1 acc:5 anomaly:90", Reading(("x",), (1,), None, True, True)),
        ("x:1 pred_mid:4", Reading(("x",), (1,), None, False, True)),
        ("x:1 pred_mid:4 pred_low:-1 pred_high:9", Reading(("x",), (1,), None, False, True)),
        ("x:1 pred:1 acc:5", Reading(("x",), (1,), None, True, True)),
        (
            "a:1 b:1 c:1 d:1 e:1 f:1 pred:0",
            Reading(tuple("abcdef"), (1,) * 6, None, True, True, cut=True),
        ),
        ("x:1 label:-1", Reading(("x",), (1,), None, True)),
        ("label:1 pred:1", None),
        ("x:1 x:2", None),
        ("x:1 y", None),
        ("x:1.5", None),
        ("x:", None),
        (">>> ", None),
    ],
)
def test_the_samples_of_a_line(line: str, expected: Reading | None) -> None:
    assert read_line(line) == expected


@given(st.lists(st.one_of(st.binary(max_size=30), st.integers(0, 999)), max_size=20), st.data())
def test_text_between_frames_is_found(parts: list[bytes | int], data: st.DataObject) -> None:
    """Lines arrive complete, however the bytes are split; frames between lines do no harm."""
    stream = b"\n"
    for part in parts:
        frame = isinstance(part, bytes)
        stream += pack(Frame(OBSERVED, 9, 9, part, 8)) if frame else b"x:%d\n" % part
    lines, texts = TextLines(), []
    while stream:
        n = data.draw(st.integers(1, len(stream)))
        texts += lines.feed(stream[:n])
        stream = stream[n:]
    assert texts == [f"x:{part}" for part in parts if isinstance(part, int)]


@given(st.lists(st.binary(max_size=5000), max_size=10))
def test_noise_does_no_harm(pieces: list[bytes]) -> None:
    lines = TextLines()
    for piece in pieces:
        for line in lines.feed(piece):
            read_line(line)
        assert len(lines._rest) <= 4096


def test_a_partial_line_is_not_appended_to(tmp_path: Path) -> None:
    path = tmp_path / "half.csv"
    path.write_text("x,y\n1")
    with pytest.raises(Exception, match="the last line is incomplete"):
        SampleFile(path, append=True)


@pytest.mark.parametrize("data", [b"PK\3\4\0\0", b"\xff\xfea\0,\0b\0\n\0", b"\x89PNG\r\n"])
def test_a_file_that_is_no_csv_is_not_appended_to(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "model.mshrub"
    path.write_bytes(data)
    with pytest.raises(UserError, match=r"no CSV file .*--append"):
        SampleFile(path, append=True)
    assert path.read_bytes() == data


def test_names_with_commas_and_quotes_are_read_back(tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    with SampleFile(path) as file:
        file.write(["a", "label"], [1, 'say "a"'])
        file.write(["a", "label"], [None, "b"])
        with pytest.raises(SampleFileError, match="2 samples of this recording"):
            file.write(["a"], [1])
    assert path.read_text() == 'a,label\n1,"say ""a"""\n,b\n'


def test_the_help_names_all_options(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("record", "monitor", "bench"):
        assert run(command, "-h") == 0
        assert "--port" in capsys.readouterr().out
