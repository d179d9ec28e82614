"""The RAM that how-tos give for parts of a program is close to the RAM that `budget` prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from microshrub_host.programs import native_files
from microshrub_tools.cli.main import main

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to"
SHAPE = ["budget", "--features", "3", "--classes", "4"]
PICO, PICO_2_W = ["--board", "rpi_pico"], ["--board", "rpi_pico2_w", "--bytes", "8192"]
THICKET, SHRUB = [*PICO, "--bytes", "8192"], [*PICO, "--model", "shrub"]
TREE = [*PICO, "--model", "hoeffding"]
ASK, SPARE, UNUSUAL = ["--label-budget", "10%"], ["--spare-classes", "4"], ["--anomaly", "0.001"]
QUERIES = r"code and objects take (\d+) KB on a Pico, (\d+) KB with a thicket"
NOVEL = r"takes (\d+) KB more, or\s(\d+) KB more with a thicket"
ANOMALIES = r"(\d+) KB on a Pico, or (\d+) KB with a thicket"
MQTT = r"about (\d+) KB of buffers; .*\sand\s(\d+) KB if it is copied to the board"
SHARE = r"sharing takes (\d+) KB for the code if it is copied .* and (\d+) KB of heap"
TCP = r"TCP takes \d+ KB of RAM: (\d+) for its code .* and (\d+) for\sbuffers"


@pytest.mark.parametrize(
    ("page", "pattern", "group", "program", "more", "part"),
    [
        ("active-learning", QUERIES, 1, SHRUB, ASK, "all"),
        ("active-learning", QUERIES, 1, TREE, ASK, "all"),
        ("active-learning", QUERIES, 2, THICKET, ASK, "all"),
        ("name-new-classes", NOVEL, 1, SHRUB, SPARE, "code"),
        ("name-new-classes", NOVEL, 1, TREE, SPARE, "code"),
        ("name-new-classes", NOVEL, 2, THICKET, SPARE, "code"),
        ("find-anomalies", ANOMALIES, 1, SHRUB, UNUSUAL, "code"),
        ("find-anomalies", ANOMALIES, 1, TREE, UNUSUAL, "code"),
        ("find-anomalies", ANOMALIES, 2, THICKET, UNUSUAL, "code"),
        ("home-assistant", MQTT, 1, PICO_2_W, ["--mqtt"], "objects"),
        ("home-assistant", MQTT, 2, PICO_2_W, ["--mqtt"], "code"),
        ("boards-that-share", SHARE, 1, [*PICO_2_W, "--mqtt"], ["--share"], "code"),
        ("boards-that-share", SHARE, 2, [*PICO_2_W, "--mqtt"], ["--share"], "objects"),
        ("security-of-the-link", TCP, 1, PICO_2_W, ["--tcp"], "code"),
        ("security-of-the-link", TCP, 2, PICO_2_W, ["--tcp"], "objects"),
    ],
)
def test_a_part_of_a_program_takes_what_its_page_says(
    page: str,
    pattern: str,
    group: int,
    program: list[str],
    more: list[str],
    part: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if not native_files.can_be_made("armv6m"):
        pytest.skip("no C compiler")
    text = (HOW_TO / f"{page}.md").read_text(encoding="utf-8")
    found = re.search(pattern, text, re.DOTALL)
    assert found

    def taken(options: list[str]) -> int:
        assert main([*SHAPE, *options]) == 0
        table = capsys.readouterr().out
        code, everything = (
            int(re.search(rf"│ {row} +│ +([\d,]+)", table)[1].replace(",", ""))  # type: ignore[index]
            for row in ("code", "all")
        )
        return {"code": code, "all": everything, "objects": everything - code}[part]

    kilobytes = (taken([*program, *more]) - taken(program)) / 1024
    assert kilobytes == pytest.approx(int(found[group]), abs=1)


def test_programs_on_boards_with_wifi_have_the_room_that_their_pages_give(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    memory = (HOW_TO / "put-a-model-on-a-board.md").read_text(encoding="utf-8")
    native = re.search(r"a thicket with a sensor and features takes (\d+) KB", memory)
    page = (HOW_TO / "home-assistant.md").read_text(encoding="utf-8")
    beside_mqtt = re.search(r"On a Pico W, a thicket of (\d+) KB fits beside MQTT", page)
    assert native
    assert beside_mqtt
    monkeypatch.chdir(tmp_path)
    Path("wifi.txt").write_text("password")
    Path("wifi.txt").chmod(0o600)
    program = ["build", "gestures.csv", "--features", "window=64", "--sensor", "mpu6050", "axes=3"]
    network = ["--mqtt", "192.168.1.5", "--name", "kitchen"]
    network += ["--wifi", "Home", "--wifi-password-file", "wifi.txt"]
    assert main(["example", "gestures"]) == 0
    assert main([*program, "scl=22", "sda=21", "--board", "esp32"]) == 0
    printed = re.search(r"([\d,]+) bytes for machine code", capsys.readouterr().out)
    assert printed
    machine_code = int(printed[1].replace(",", "")) / 1024
    assert machine_code == pytest.approx(int(native[1]), abs=1)
    assert main([*program, "scl=1", "sda=0", "--board", "rpi_pico_w", *network]) == 0
    printed = re.search(r"--bytes (\d+),", capsys.readouterr().err)
    assert printed
    assert int(printed[1]) / 1024 == pytest.approx(int(beside_mqtt[1]), abs=2)
