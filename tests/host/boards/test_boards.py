"""Board files: the shipped ones, and the error messages for wrong ones."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from board_file_support import GOOD, KINDS, refusal, write
from script_support import run
from tests_support import ROOT

from microshrub_host.boards import board_files, toml_section
from microshrub_host.reports import board_page

SHIPPED = {
    "esp32": "xtensawin",
    "esp32_wrover": "xtensawin",
    "esp32c3": "rv32imc",
    "esp32c6": "rv32imc",
    "esp32p4": "rv32imc",
    "esp32s2": "xtensawin",
    "esp32s3": "xtensawin",
    "esp32s3_n8r8": "xtensawin",
    "feather_rp2040": "armv6m",
    "m5stack_atom": "xtensawin",
    "nano_rp2040_connect": "armv6m",
    "nrf52840_dk": "armv7emsp",
    "nucleo_h743zi": "armv7emsp",
    "nucleo_l476rg": "armv7emsp",
    "pyboard": "armv7emsp",
    "rpi_pico": "armv6m",
    "rpi_pico2": "armv7emsp",
    "rpi_pico2_riscv": "rv32imc",
    "rpi_pico2_w": "armv7emsp",
    "rpi_pico_w": "armv6m",
    "teensy41": "armv7emsp",
    "thingplus_rp2350": "armv7emsp",
    "xiao_esp32c3": "rv32imc",
    "xiao_rp2040": "armv6m",
}


def test_names_are_those_of_the_shipped_boards() -> None:
    assert board_files.names() == sorted(SHIPPED)


@pytest.mark.parametrize("name", sorted(SHIPPED))
def test_a_shipped_board_is_plausible(name: str) -> None:
    board = board_files.load(name)
    assert board.key == name
    assert board.arch == SHIPPED[name]
    has_code_ram = SHIPPED[name] == "xtensawin" or name.endswith("esp32c3")  # RAM for machine code
    assert board.native != has_code_ram
    assert board.model_budget_bytes * 4 >= board.heap_free_bytes  # a quarter to 30 %
    assert board.model_budget_bytes * 10 <= board.heap_free_bytes * 3
    assert re.match("derived|emulated|reported", board.heap_source)
    assert board.heap_free_bytes % 16 == 0  # whole blocks of the GC
    assert (board.executable_bytes is None) == board.native
    assert board.native or re.match("derived|the largest block", board.executable_source)


@pytest.mark.parametrize("name", sorted(SHIPPED))
def test_every_figure_of_a_shipped_board_has_a_source(name: str) -> None:
    """There is a comment or a source in each line with a figure, or near it."""
    text = (ROOT / "boards" / f"{name}.toml").read_text(encoding="utf-8")
    lines = text.split("\n[")[0].splitlines()
    board = board_files.load(name)
    for figure in ("clock_hz", "sram_bytes", "flash_bytes", "heap_free_bytes"):
        at = next(i for i, line in enumerate(lines) if line.startswith(figure))
        context = "\n".join(lines[max(0, at - 3) : at + 3])
        assert "#" in context or "_source" in context, figure
    assert board.firmware
    assert "derived" in text or "measured" in text
    assert not board.growth or re.match("derived|reported", board.growth.source)


def test_every_board_is_of_a_tested_kind() -> None:
    boards = {key: board_files.load(key) for key in board_files.names()}
    kinds = {key: (b.arch, b.native, b.executable_bytes is None) for key, b in boards.items()}
    assert {kinds[key] for key in KINDS} == set(kinds.values())


@pytest.mark.parametrize("name", KINDS)
def test_budget_works_for_every_kind_of_board(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["budget", "--features", 3, "--classes", 2, "--board", name]
    fits = run(*words, "--json", "-") == 0
    result = json.loads(capsys.readouterr().out)
    assert result["fits"] is fits
    assert fits or "does not fit" in result["advice"] or "fits" in result["advice"]
    assert run(*words, "--model", "shrub", "--window", 8, "--trees", 2, "--depth", 3) == 0
    shown = capsys.readouterr().out
    board = board_files.load(name)
    grown = board.heap_free_bytes + board.grown_bytes(0)
    assert any(f" of {free:,}\n" in shown for free in range(board.heap_free_bytes, grown + 1, 16))
    assert ("microseconds per learn" in shown) <= (board.cost is not None)


@pytest.mark.parametrize("name", ["esp32_wrover", "esp32s3_n8r8", "thingplus_rp2350"])
def test_psram_holds_the_largest_thicket(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["budget", "--features", 36, "--classes", 6, "--bytes", 1_048_576, "--json", "-"]
    run(*words, "--board", name)
    result = json.loads(capsys.readouterr().out)
    board = board_files.load(name)
    assert board.heap_free_bytes > 4_000_000
    assert 500_000 < result["model_bytes"] <= board.model_budget_bytes
    assert result["ram_bytes"] < board.heap_free_bytes
    assert run(*words, "--board", "esp32s3") != 0


def test_the_page_of_boards_matches_their_files() -> None:
    path = "docs/reference/boards.md"
    command = f"microshrub boards --markdown {path}"
    assert (ROOT / path).read_text(encoding="utf-8") == board_page.page(command)


def test_boards_lists_all_boards(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    page = tmp_path / "boards.md"
    assert run("boards", "--markdown", page) == 0
    shown = capsys.readouterr().out
    written = page.read_text(encoding="utf-8")
    for name in board_files.names():
        assert name[:6] in shown
        assert f"| `{name}` | {board_files.load(name).name} |" in written


@pytest.mark.parametrize(
    "like", ['"quantum9000"', '"esp32"', '"../boards/rpi_pico"', '"mine"', "1"]
)
def test_a_reference_to_a_board_without_a_table_is_refused(tmp_path: Path, like: str) -> None:
    message = refusal(tmp_path, f"{GOOD}\n[cost]\nlike = {like}\n")
    assert "cost.like has to be" in message


def test_a_board_may_use_another_boards_table(tmp_path: Path) -> None:
    board = board_files.load(write(tmp_path, f'{GOOD}\n[cost]\nlike = "rpi_pico"\n'))
    assert board.cost == board_files.load("rpi_pico").cost


def test_a_board_is_immutable() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        board_files.load("esp32").sram_bytes = 1  # type: ignore[misc]


@pytest.mark.parametrize(
    ("given", "near"),
    [
        *(("rpi_pcio", "rpi_pico"), ("ESP32-C3", "esp32c3"), ("esp32s9", "esp32s3")),
        *(("Raspberry Pi Pico", "rpi_pico"), ("raspberry pi pico 2", "rpi_pico2")),
    ],
)
def test_an_unknown_name_lists_the_boards_and_suggests_one(given: str, near: str) -> None:
    with pytest.raises(toml_section.BoardFileError) as caught:
        board_files.load(given)
    assert f"Did you mean {near}?" in str(caught.value)
    assert all(name in str(caught.value) for name in SHIPPED)


@pytest.mark.parametrize("given", ["quantum9000", "", "../boards/esp32"])
def test_an_unknown_name_that_is_near_nothing_lists_the_boards(given: str) -> None:
    with pytest.raises(toml_section.BoardFileError, match=r"no board .*: esp32,"):
        board_files.load(given)


def test_a_users_file_is_read(tmp_path: Path) -> None:
    board = board_files.load(write(tmp_path, GOOD))
    assert board.key == "mine"
    assert board.name == "Test board"
    assert board.heap_free_bytes == 200_000
    assert board.serial == board_files.Serial(interface="usb", baud=115_200)
    assert board.pins == board_files.Pins(adc=26, led="LED")


def test_a_users_file_may_be_a_path_object(tmp_path: Path) -> None:
    assert board_files.load(Path(write(tmp_path, GOOD))) == board_files.load(
        str(tmp_path / "mine.toml")
    )


def test_the_led_may_be_left_out(tmp_path: Path) -> None:
    assert board_files.load(write(tmp_path, GOOD.replace('led = "LED"\n', ""))).pins.led is None


def test_executable_ram_is_for_boards_that_separate_machine_code(tmp_path: Path) -> None:
    more = 'executable_bytes = 4096\nexecutable_source = "measured"\n'
    top, rest = GOOD.split("\n[", 1)
    apart = re.sub("native = true.*", "native = false", top)
    board = board_files.load(write(tmp_path, f"{apart}\n{more}[{rest}"))
    assert (board.executable_bytes, board.executable_source) == (4096, "measured")
    with pytest.raises(toml_section.BoardFileError, match="whose native is false"):
        board_files.load(write(tmp_path, f"{top}\n{more}[{rest}"))
    with pytest.raises(toml_section.BoardFileError, match="executable_source is missing"):
        board_files.load(write(tmp_path, f"{apart}\nexecutable_bytes = 4096\n[{rest}"))


def test_a_heap_grows_while_no_radio_is_on(tmp_path: Path) -> None:
    more = '\n[growth]\nblock_bytes = 53_248\nsource = "measured"\n'
    board = board_files.load(write(tmp_path, GOOD + more))
    alone = board.grown_bytes(0)
    assert 0.93 * 53_248 < alone < 53_248  # without the area's tables
    assert alone - 24_576 - 4_096 < board.grown_bytes(24_576) < alone - 24_576 + 2_048
    assert board.grown_bytes(53_248) == board.grown_bytes(1_000_000) == 0
    sizes = [board.grown_bytes(code) for code in range(0, 54_000, 100)]
    assert sizes == sorted(sizes, reverse=True)
    assert all(size % 64 == 0 for size in sizes)  # the GC's alignment of an area
    assert board_files.load(write(tmp_path, GOOD)).grown_bytes(0) == 0
    assert "growth.source is missing" in refusal(
        tmp_path, GOOD + "\n[growth]\nblock_bytes = 4096\n"
    )
    assert "growth.block_bytes has to be" in refusal(tmp_path, GOOD + more.replace("53_248", "-1"))


_REPORT = """
[[report]]
firmware = "MicroPython 1.28.0 RPI_PICO"
date = 2026-12-01
source = "Ada, issue 1"
heap_free_bytes = 239_000
served = 1200
"""


def test_reports_of_physical_boards_are_read(tmp_path: Path) -> None:
    older = _REPORT.replace("2026-12-01", "2026-11-30").replace("1.28.0", "1.27.0")
    board = board_files.load(write(tmp_path, GOOD + _REPORT + older))
    assert [report.firmware[12:18] for report in board.reports] == ["1.27.0", "1.28.0"]
    newest = board.reports[-1]
    assert (newest.heap_free_bytes, newest.served, newest.sample_us) == (239_000, 1200, None)
    assert board_page.ran(board) == "reported: MicroPython 1.28.0 RPI_PICO, 2026-12-01"
    board = board_files.load(write(tmp_path, GOOD))
    assert board.reports == ()
    assert board_page.ran(board).startswith("emulated")
    for old, new, complaint in (
        ("date = 2026-12-01", 'date = "yesterday"', "report[0].date has to be"),
        ("date = 2026-12-01\n", "", "report[0].date is missing"),
        ("239_000", "0", "report[0].heap_free_bytes has to be"),
        ("Ada, issue 1", f"{board_files.REPORTER}, and", "report[0].source has to say who"),
        ("served", "swerved", "report[0].swerved is not a key"),
    ):
        assert complaint in refusal(tmp_path, GOOD + _REPORT.replace(old, new))


def test_the_page_of_boards_lists_reports_or_says_that_there_are_none() -> None:
    boards = [board_files.load(name) for name in board_files.names()]
    page = board_page.page("")
    assert (board_page.NO_REPORT in page) == (not any(board.reports for board in boards))


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(toml_section.BoardFileError, match=r"none\.toml: No such file"):
        board_files.load(str(tmp_path / "none.toml"))


def test_a_file_that_is_not_toml_is_refused(tmp_path: Path) -> None:
    assert "mine.toml is not a TOML" in refusal(tmp_path, "name is missing")


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(toml_section.BoardFileError, match="is not a TOML file"):
        board_files.load(str(tmp_path / "mine.toml"))


@pytest.mark.parametrize(
    ("line", "key"),
    [(line, line.split(" =")[0]) for line in GOOD.split("\n[")[0].strip().splitlines()],
)
def test_a_missing_key_is_reported(tmp_path: Path, line: str, key: str) -> None:
    assert f"mine.toml: {key} is missing" in refusal(tmp_path, GOOD.replace(line + "\n", ""))


def test_a_missing_section_and_a_missing_key_in_a_section_are_reported(tmp_path: Path) -> None:
    assert "serial is missing" in refusal(tmp_path, GOOD.replace("[serial]", "[cereal]"))
    assert "serial.baud is missing" in refusal(tmp_path, GOOD.replace("baud = 115_200\n", ""))
    assert "pins.adc is missing" in refusal(tmp_path, GOOD.replace("adc = 26\n", ""))


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("sram_bytes = 270_336", 'sram_bytes = "264k"', "sram_bytes has to be"),
        ("sram_bytes = 270_336", "sram_bytes = 2.7e5", "sram_bytes has to be"),
        ("sram_bytes = 270_336", "sram_bytes = true", "sram_bytes has to be"),
        ("200_000", "-1", "heap_free_bytes has to be a whole number above 0, not -1"),
        ("125_000_000", "0", "clock_hz has to be a whole number above 0, not 0"),
        ("50_000", "200_001", "model_budget_bytes is above heap_free_bytes (200000)"),
        ("200_000", "300_000", "heap_free_bytes is above sram_bytes (270336)"),
        ('"armv6m"', '"z80"', "arch has to be"),
        ('"armv6m"', "6", "arch has to be"),
        ("native = true", "native = 1", "native has to be true or false, not 1"),
        ('name = "Test board"', 'name = " "', "name is empty"),
        ('"usb"', '"bluetooth"', "serial.interface has to be"),
        ("115_200", "-9600", "serial.baud has to be a whole number above 0, not -9600"),
        ("adc = 26", "adc = -26", "pins.adc has to be a GPIO number or a pin's name, not -26"),
        ('"LED"', "[1]", "pins.led has to be a GPIO number or a pin's name, not [1]"),
        ("clock_hz", "clock = 1\nclock_hz", "clock is not a key"),
        ("adc = 26", "adc = 26\ndac = 27", "pins.dac is not a key"),
        ("adc = 26", "adc = 26\ntaken = [25]", "pins.taken_by is missing"),
        ("adc = 26", "adc = 26\ninputs = 34", "pins.inputs has to be a list of whole numbers"),
        ("adc = 26", "adc = 26\ninputs = [-1]", "pins.inputs has to be a list of whole numbers"),
    ],
)
def test_a_wrong_value_is_refused(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    assert f"mine.toml: {complaint}" in refusal(tmp_path, GOOD.replace(old, new, 1))


def test_a_section_that_is_a_number_is_refused(tmp_path: Path) -> None:
    text = "serial = 5\n" + GOOD.replace('[serial]\ninterface = "usb"\nbaud = 115_200\n', "")
    assert "section [serial], not 5" in refusal(tmp_path, text)


def test_board_files_are_found_when_installed(tmp_path: Path) -> None:
    """The wheel's layout is board_files.py with data/ in the same folder."""
    package = tmp_path / "microshrub_host"
    package.mkdir()
    source = Path(board_files.__file__).parents[1]
    shutil.copy(source / "__init__.py", package)
    for room in ("boards", "base"):
        shutil.copytree(source / room, package / room)
    (package / "boards" / "data").mkdir()
    (package / "boards" / "data" / "mine.toml").write_text(GOOD, encoding="utf-8")
    code = (
        "from microshrub_host.boards import board_files as boards; "
        "print(boards.names(), boards.load('mine').name)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "['mine'] Test board"
