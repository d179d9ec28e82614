"""`microshrub build`: a folder for every board, which runs on a real MicroPython unchanged."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import itertools
import json
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from board_file_support import KINDS
from patience import PATIENCE
from program_support import MODELS, PROGRAM_FIELDS, blobs, program, x86
from tests_support import ROOT, make_blobs

import microshrub_tools
from microshrub_host.api.sklearn_adapter import ShrubClassifier
from microshrub_host.base.errors import UserError
from microshrub_host.boards import board_files
from microshrub_host.boards.program_library import modules
from microshrub_host.evaluation import prequential
from microshrub_host.library import library_files, loader
from microshrub_host.models import model_files
from microshrub_host.programs import mpy
from microshrub_host.streams.stream import Stream
from microshrub_tools.board import (
    board_code,
    build,
    flash,
    package_list,
    program_config,
)
from microshrub_tools.cli.main import main

VIPER = ["--emit", "viper"]


def codes(code: mpy.Code) -> Iterator[mpy.Code]:
    yield code
    for child in code.children:
        yield from codes(child)


def configuration(data: bytes) -> Any:
    """Read config.json with the device's own reader."""
    name = loader.load("python").__name__
    return importlib.import_module(f"{name}.device.config").Configuration(data)


@pytest.mark.parametrize(
    ("key", "emit"),
    [*itertools.product(KINDS, ["viper", "native"]), ("rpi_pico", "bytecode")],
)
def test_every_kind_of_board_gets_its_folder(
    tmp_path: Path, key: str, emit: str, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "blobs.csv"
    rows, labels = make_blobs(300)
    lines = [f"{a},{b},{'ny'[c]}" for (a, b), c in zip(rows, labels, strict=True)]
    data.write_text("a,b,class\n" + "\n".join(lines))
    folder = tmp_path / "out"
    words = ["build", data, "--board", key, "--emit", emit, "--output", folder]
    words += ["--model", "shrub", "--window", 16]
    assert main([str(word) for word in words]) == 0
    output, _ = capsys.readouterr()
    files = build.read(folder)
    assert f"flash   {sum(map(len, files.values())):>9,} bytes in {len(files)} files" in output
    assert "bytes for the imported code" in output
    assert "It fits" in output
    config = configuration(files["config.json"])
    assert (config.learner, config.parameters["window"]) == ("ShrubEnsemble", 16)
    assert (config.class_names, config.quantizer) == (("n", "y"), "quantizer.state")
    assert "learner.state" not in files
    modules = {library_files.module_name(Path(name)) for name in files if name.endswith(".mpy")}
    needed = {"device.program", "device.selftest", "shrub.ensemble", "quantizer"}
    assert {"__init__", *needed} <= modules
    unused = {"hoeffding.tree", "device.sensors", "explanation"}
    assert not unused & modules
    for name in files:
        if name.endswith(".mpy"):
            module = mpy.read(folder / name)
            assert not (emit == "bytecode" and any(c.native for c in codes(module.code))), name
    in_c = "native" in modules
    assert in_c == (emit == "native")
    merged = mpy.read(folder / build.LIBRARY / "__init__.mpy")
    kernels = sum(code.native for code in codes(merged.code))
    assert (kernels > 10) == (emit != "bytecode" and not in_c)  # a few are never translated


def run_selftest(command: tuple[str, ...], folder: Path) -> tuple[int, int, int, int]:
    """Return the results that a real MicroPython prints for the folder's self-test."""
    script = folder.parent / "selftest.py"
    script.write_text(board_code.HELPERS + board_code.SELFTEST % str(folder))
    done = subprocess.run(
        [*command, "-X", "heapsize=512k", str(script)],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    crc, took, before, after = ast.literal_eval(done.stdout)
    return crc, took, before, after


@pytest.mark.parametrize("emit", ["viper", "native", "bytecode"])
@pytest.mark.parametrize("name", list(MODELS))
def test_the_program_learns_the_same_as_the_simulator(
    tmp_path: Path, name: str, emit: str, micropython_command: tuple[str, ...]
) -> None:
    made = build.make(program(name), x86(tmp_path), tmp_path / "out", emit)
    crc, took, before, after = run_selftest(micropython_command, made.folder)
    assert crc == flash.expected_crc32(build.read(made.folder))
    assert took > 0
    assert before > after


@pytest.mark.long
def test_bytecode_learns_a_stream_as_the_simulator(
    tmp_path: Path, micropython_command: tuple[str, ...]
) -> None:
    stream = blobs()
    for name, (model, options) in MODELS.items():
        parameters = {"features": 2, "classes": 2, **options}
        folder = tmp_path / name
        build.make(program(name), x86(tmp_path), folder, "bytecode")
        rows = stream.raw_rows().tolist()
        script = tmp_path / "learn.py"
        script.write_text(
            f"import os, sys, json\nos.chdir({str(folder)!r})\nsys.path.insert(0, 'lib')\n"
            "from array import array\nimport microshrub\n"
            "config = json.load(open('config.json'))\n"
            "model = getattr(microshrub, config['learner'])(**config['parameters'])\n"
            "quantizer = microshrub.Quantizer(2)\n"
            "quantizer.read(open('quantizer.state', 'rb'))\nx = array('H', [0, 0])\n"
            f"for row, label in zip({rows}, {stream.labels.tolist()}):\n"
            "    quantizer.encode(array('i', row), x)\n    model.learn(x, label)\n"
            "print(model.state_crc32())\n"
        )
        command = [*micropython_command, "-X", "heapsize=2m", str(script)]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        result = prequential.evaluate(stream, model, parameters, engine="python")
        assert done.stdout.strip() == str(result.state_crc32), done.stdout + done.stderr


def test_a_saved_model_continues(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stream = blobs()
    model, options = MODELS["tree"]
    parameters = {"features": 2, "classes": 2, **options}
    result = prequential.evaluate(stream, model, parameters, engine="python")
    path = tmp_path / "blobs.mshrub"
    model_files.write(path, model_files.of_run(result, stream))
    folder = tmp_path / "out"
    words = ["build", "--model", str(path), "--board", "rpi_pico", "--output", str(folder)]
    assert main([*words, "--sensor", "adc", "pins=26,27"]) == 0
    assert re.search("HoeffdingTree .*Raspberry Pi Pico", capsys.readouterr().out)
    files = build.read(folder)
    assert files["learner.state"] == result.states.learner
    assert files["quantizer.state"] == result.states.quantizer
    config = configuration(files["config.json"])
    assert config.sensor == {"kind": "adc", "pins": [26, 27], "rate": 50}
    assert config.text
    assert f"{build.LIBRARY}/device/sensors.mpy" in files
    for extra, message in (
        (["data.csv"], "DATA data.csv is not used"),
        (["--depth", "3"], "--depth is not used"),
        (["--classes", "no,yes"], "--classes is not used"),
        (["--sensor", "adc", "pins=26"], "gives 1 value, and the model has 2 features"),
        (["--sensor", "mpu6050", "scl=1", "sda=0"], "gives 6 values, and the model has 2"),
        (["--sensor", "mpu6050", "scl=1", "hop=9"], "mpu6050 has no window: write --features"),
        (["--sensor", "adc", "pin=26"], "--sensor adc has no pin. Did you mean pins?"),
        (["--sensor", "adc", "pins=26,30"], "no pin 30: the last one of the Raspberry Pi Pico is"),
        (["--sensor", "mpu6050", "scl=1", "sda=30"], "There is no pin 30"),
        (["--label-pin", "30"], "There is no pin 30: the last one of the Raspberry Pi Pico is 29"),
        (["--watchdog", "8389"], "--watchdog has to be 0..8,388, not 8,389"),
        (["--sensor", "dht"], "--sensor 'dht' is unknown"),
        (
            ["--label-pin", "15", "pressed=maybe"],
            "has no class 'maybe'. Choose from: no, yes",
        ),
        (["--watchdog", "100"], "--watchdog has to be 0, or at least 5,000"),
        (["--pending", "0"], "--pending has to be 1..32,768, not 0"),
    ):
        assert main([*words, *extra]) == 2
        assert message in capsys.readouterr().err


def test_a_data_frame_becomes_a_program_that_keeps_learning(
    tmp_path: Path, micropython_command: tuple[str, ...]
) -> None:
    rows, labels = make_blobs(400)
    frame = pd.DataFrame(rows, columns=["ax", "ay"])
    model = ShrubClassifier(window=16, trees=4, depth=3, digits=0).fit(frame, labels)
    model.save(tmp_path / "m.mshrub")
    x86(tmp_path)
    folder = microshrub_tools.build(
        tmp_path / "m.mshrub", str(tmp_path / "x86.toml"), output=tmp_path / "out"
    ).folder
    assert run_selftest(micropython_command, folder)[0] == flash.expected_crc32(build.read(folder))
    opened = model_files.open_model(tmp_path / "m.mshrub")
    assert (folder / "learner.state").read_bytes() == opened.learner.save()
    with pytest.raises(UserError, match=r"adx' .*mean adc"):
        microshrub_tools.build(
            tmp_path / "m.mshrub", "rpi_pico", sensor=microshrub_tools.Sensor.driver("adx")
        )


def test_units_that_a_sensor_does_not_have_are_refused(tmp_path: Path) -> None:
    rows, labels = make_blobs(300)
    stream = Stream("b", rows / 100, labels, ("a", "b"), ("no", "yes"))
    model, options = MODELS["shrub"]
    parameters = {"features": 2, "classes": 2, **options}
    result = prequential.evaluate(stream, model, parameters, engine="python")
    file = model_files.of_run(result, stream)
    adc = PROGRAM_FIELDS | {"sensor": {"kind": "adc", "pins": [26, 27], "rate": 50}}
    assert program_config.of_model(file, PROGRAM_FIELDS).units == [(0, 2), (0, 2)]
    with pytest.raises(UserError, match="a was learned in units"):
        program_config.of_model(file, adc)
    with pytest.raises(UserError, match=r"a has .*whole numbers"):
        program_config.of_stream(stream, model, parameters, 256, adc)


def test_a_failed_build_leaves_the_folder_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = x86(tmp_path)
    out = tmp_path / "new" / "out"
    build.make(program(), board, out)
    before = build.read(out)
    written: list[Path] = []
    real: Callable[[Path, bytes], int] = Path.write_bytes

    def full(path: Path, data: bytes) -> int:
        written.extend([path] if tmp_path in path.parents else [])  # without the cache's files
        if len(written) == 9:
            raise OSError(28, "No space left on device")
        return real(path, data)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        with pytest.raises(UserError, match="written: No space left"):
            build.make(program("tree"), board, out)
    assert build.read(out) == before
    assert [path.name for path in out.parent.iterdir()] == ["out"]
    build.make(program("tree"), board, out)
    assert json.loads(build.read(out)["config.json"])["learner"] == "HoeffdingTree"
    assert [path.name for path in out.parent.iterdir()] == ["out"]


def test_other_folders_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "a.txt").touch()
    with pytest.raises(UserError, match=r"--output .*is not a build"):
        build.make(program(), x86(tmp_path), tmp_path / "thesis")
    with pytest.raises(UserError, match="is not a build"):
        build.read(tmp_path / "thesis")
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="not a build"):
        build.make(program(), x86(tmp_path), tmp_path / "file")


SHRUB = ["--model", "shrub"]


def test_a_program_that_does_not_fit_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["build", "synth:agrawal_a", "--limit", "500", "--board", "esp32c3"]
    assert main([*words, "--output", str(tmp_path / "out"), *SHRUB, "--window", "1000"]) == 2
    err = capsys.readouterr().err
    assert "The program does not fit" in err
    assert "--window" in err
    assert not (tmp_path / "out").exists()
    # The model alone would fit, even where kernels may be bytecode
    board = x86(tmp_path)
    tree = program("tree")
    tree = dataclasses.replace(tree, parameters={**tree.parameters, "nodes": 255, "leaves": 128})
    made = build.make(tree, board, tmp_path / "out", emit="bytecode")
    small = dataclasses.replace(board, heap_free_bytes=made.budget.peak_bytes - 16)
    with pytest.raises(UserError, match=r"not fit: .*--leaves \d+"):
        build.make(tree, small, tmp_path / "out")


def little_room(folder: Path, executable: int) -> str:
    """Return the board file of an ESP32 with this many bytes for machine code."""
    text = (ROOT / "boards" / "esp32.toml").read_text(encoding="utf-8")
    assert "executable_bytes = 39_805" in text
    file = folder / "narrow.toml"
    file.write_text(text.replace("executable_bytes = 39_805", f"executable_bytes = {executable}"))
    return str(file)


_EIGHT = ["--features", "8", "--classes", "4", "--json", "-", *VIPER]


def budget_of_eight(
    board: str, capsys: pytest.CaptureFixture[str], *options: str
) -> tuple[dict[str, Any], str]:
    """Return the result of `budget` for the default learner with 8 features and 4 classes, and the
    expected row about its kernels in docs/how-to/put-a-model-on-a-board.md.
    """
    assert main(["budget", "--board", board, *_EIGHT, *options]) == 0
    result = json.loads(capsys.readouterr().out)
    of = f"{result['kernels_as_bytecode']} of {result['kernels']}"
    return result, f"{of} | {result['slower']} |"


def built_of_eight(
    folder: Path, board: str, capsys: pytest.CaptureFixture[str], *options: str
) -> tuple[str, str]:
    """Build the same learner; return the printed text and the notes."""
    data = folder / "eight.csv"
    rows = [",".join(str(k * n % 997) for n in range(11, 19)) + f",{k % 4}" for k in range(300)]
    data.write_text("\n".join(["a,b,c,d,e,f,g,h,class", *rows]))
    where = ["--board", board, "--output", str(folder / board)]
    assert main(["build", str(data), *where, *VIPER, *options]) == 0
    return capsys.readouterr()


def test_kernels_stay_bytecode_where_memory_for_machine_code_is_too_small(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """On ESP32s, without options, `budget` and `build` differ by up to 6 kernels."""
    page = (ROOT / "docs/how-to/put-a-model-on-a-board.md").read_text(encoding="utf-8")
    results = {}
    for board in ("esp32", "esp32s2", "esp32s3", "esp32c3"):
        results[board], row = budget_of_eight(board, capsys, "--bytes", "8192")
        assert f"| {board_files.load(board).name} | {row}" in page
        room = board_files.load(board).executable_bytes
        assert room is not None
        assert results[board]["machine_code_bytes"] <= room
    # the only board with instruction counts
    assert "kernels as bytecode" in results["esp32c3"]["sample_time"]["basis"]
    for board in ("esp32", "esp32c3"):  # the other boards have an ESP32's processor
        output, noted = built_of_eight(tmp_path, board, capsys, "--bytes", "8192")
        match = re.search(r"(\d+) of (\d+) kernels stay bytecode", noted)
        assert match
        machine = re.search(r"([\d,]+) bytes for machine code", output)
        assert machine
        room = board_files.load(board).executable_bytes
        assert room is not None
        assert 0.95 * room < int(machine[1].replace(",", "")) <= room
        assert abs(results[board]["kernels_as_bytecode"] - int(match[1])) <= 6


def test_kernels_stay_bytecode_where_machine_code_takes_too_much_of_the_heap(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The default learner fits without options; `budget` and `build` differ by up to 6 kernels."""
    page = (ROOT / "docs/how-to/put-a-model-on-a-board.md").read_text(encoding="utf-8")
    results = {}
    for board, most in (("rpi_pico_w", 1.5), ("nrf52840_dk", 50), ("esp32c6", 50)):
        result, row = budget_of_eight(board, capsys)
        results[board] = result
        name = board_files.load(board).name
        sized = re.search(rf"\| {name} \| ([\d,]+) \| {re.escape(row)}", page)
        assert sized
        assert 0 <= int(sized[1].replace(",", "")) - result["model_bytes"] < 1024
        assert result["fits"]
        assert result["model_bytes"] >= 6000
        assert 1.1 <= result["slower"] < most
        assert f"{result['slower']:.1f} times as long with" in result["sample_time"]["basis"]
    output, noted = built_of_eight(tmp_path, "nrf52840_dk", capsys)  # most kernels stay bytecode
    match = re.search(r"(\d+) of (\d+) kernels stay bytecode.* no more RAM for", noted)
    assert match
    assert "It fits" in output
    kept = results["nrf52840_dk"]["kernels_as_bytecode"]
    assert abs(kept - int(match[1])) <= 6  # small kernels, of 1 % of the RAM


def test_machine_code_that_the_board_cannot_hold_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The machine code of the link and of the metrics alone is too large."""
    words = ["build", "synth:sea_a", "--limit", "500", "--board", little_room(tmp_path, 3000)]
    words += ["--model", "hoeffding", "--adaptive", "--nodes", "31", "--leaves", "8"]
    where = ["--output", str(tmp_path / "out")]
    assert main([*words, *where]) == 2
    assert re.search("executable RAM, .*ESP32", capsys.readouterr().err)
    assert not (tmp_path / "out").exists()
    for way in (["--emit", "bytecode"], ["--freeze"]):
        assert main([*words, *where, *way]) == 0
        assert "executable" not in capsys.readouterr().out


def test_package_lists_are_up_to_date() -> None:
    expected = package_list.package_lists()
    files = (ROOT / "firmware").glob("package*.json")
    assert {path.name: path.read_text() for path in files} == expected
    for text in expected.values():
        for target, source in json.loads(text)["urls"]:
            assert target.startswith("microshrub/")
            assert (ROOT / "firmware" / source).is_file()


def test_a_package_has_all_that_its_modules_import() -> None:
    """This includes what a function imports, such as the check of a saved state."""
    for name, text in package_list.package_lists().items():
        paths = [target for target, _ in json.loads(text)["urls"]]
        modules = {
            path.removeprefix("microshrub/").removesuffix(".py").replace("/", ".")
            for path in paths
        }
        for module in modules:
            assert library_files.imports(module) <= modules, (name, module)


def test_manifest_names_the_library() -> None:
    messages: list[str] = []
    exec((ROOT / "firmware" / "manifest.py").read_text(), {"package": messages.append})
    assert messages == ["microshrub"]
    assert (ROOT / "firmware" / "microshrub" / "__init__.py").is_file()


@pytest.mark.parametrize("name", list(MODELS))
def test_a_program_has_exactly_the_modules_it_needs(
    tmp_path: Path, name: str, micropython_command: tuple[str, ...]
) -> None:
    some = PROGRAM_FIELDS | {"alarm": {"detector": "adwin", "hook": "forget"}, "text": True}
    some["anomaly"] = {"period": 100, "window": 0, "reach": 4}
    some["checkpoint"] = {"path": "checkpoint", "seconds": 240}
    some["spare_classes"] = {"classes": 2, "room": 16}
    for k, fields in enumerate((PROGRAM_FIELDS, some)):
        # a native program has no modules that hold only kernels
        wanted = program(name, **fields)
        made = build.make(wanted, x86(tmp_path), tmp_path / f"out{k}", "viper")
        modules = {
            library_files.module_name(Path(path)) for path in made.files if path.endswith(".mpy")
        }
        optional = {"drift_alarm", "anomaly", "checkpoint", "device.watchers", "novelty_detection"}
        optional |= {
            "spare_classes",
            "class_names",
            "labelled_memory",
            "novelty_candidates",
            "device.novel_classes",
        }
        assert optional & modules == (optional if k else set())
        command = [*micropython_command, "-X", "heapsize=512k", "-c", _START]
        done = subprocess.run(
            command, cwd=made.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=PATIENCE, check=False,
        )  # fmt: skip
        assert "stopped: the input has ended" in done.stdout, done.stdout + done.stderr


_IMPORTS = """
import os, sys
sys.path[:] = ["lib"]
import microshrub
from microshrub import Checkpoint, Metrics, Quantizer, ShrubEnsemble
for name, cls in (("quantizer", Quantizer), ("shrub.ensemble", ShrubEnsemble)):
    name = "microshrub." + name
    __import__(name)
    assert getattr(sys.modules[name], cls.__name__) is cls, name
from microshrub.learner import Learner, check_row
from microshrub.learners import learner_names
from microshrub.device.config import read_configuration
assert issubclass(ShrubEnsemble, Learner)
read_configuration()
assert "microshrub.learner" in sys.modules
assert "microshrub.device.config_fields" not in sys.modules
assert not hasattr(microshrub.device, "config_fields")
read_configuration()
try:
    check_row(None, 3)
except ValueError as error:
    print(microshrub.__version__, learner_names(), error)
os.remove("lib/microshrub/errors.txt")
try:
    check_row(None, 3)
except ValueError as error:
    print(error)
try:
    from microshrub import HoeffdingTree
except ImportError as error:
    print(error)
"""


def test_a_users_own_program_imports_the_library_on_the_board(
    tmp_path: Path, micropython_command: tuple[str, ...]
) -> None:
    checkpoint = {"path": "checkpoint", "seconds": 240}
    made = build.make(program(checkpoint=checkpoint), x86(tmp_path), tmp_path / "out")
    done = subprocess.run(
        [*micropython_command, "-c", _IMPORTS], cwd=made.folder, capture_output=True, text=True,
        timeout=PATIENCE, check=False,
    )  # fmt: skip
    first, second, third = done.stdout.splitlines()
    assert first == "0.1.0 ['ShrubEnsemble'] x has to be array('H') of 3 codes", done.stderr
    assert re.fullmatch(r"error \d+ of errors\.txt 3", second)
    assert third == "no module named 'microshrub.HoeffdingTree'"


def test_lights_and_a_neopixel_are_built_and_named_by_the_configuration(tmp_path: Path) -> None:
    words = ["--switch", "0=16", "1=15:green", "--limit", "300", "--output", str(tmp_path / "out")]
    assert main(["build", "synth:sea_0", "--board", "rpi_pico", *words]) == 0
    config = json.loads((tmp_path / "out" / "config.json").read_text())
    assert config["switches"] == [[16], [[15, 0, 64, 0]]]


def test_only_a_program_with_a_buzzer_carries_its_code(tmp_path: Path) -> None:
    for word, carries in (("0=16:880Hz", True), ("0=16", False)):
        words = ["--switch", word, "--limit", "300", "--output", str(tmp_path / "out")]
        assert main(["build", "synth:sea_0", "--board", "rpi_pico", *words]) == 0
        config = json.loads((tmp_path / "out" / "config.json").read_text())
        assert config["switches"] == [[[16, 880]] if carries else [16], []]
        library = b"".join(path.read_bytes() for path in (tmp_path / "out").rglob("*.mpy"))
        assert (b"duty_u16" in library) == carries


def test_only_a_program_with_a_key_carries_its_code(tmp_path: Path) -> None:
    for word, carries in (("0=key:Space", True), ("0=16", False)):
        words = ["--switch", word, "--limit", "300", "--output", str(tmp_path / "out")]
        assert main(["build", "synth:sea_0", "--board", "rpi_pico", *words]) == 0
        config = json.loads((tmp_path / "out" / "config.json").read_text())
        assert config["switches"] == [[[44] if carries else 16], []]
        library = b"".join(path.read_bytes() for path in (tmp_path / "out").rglob("*.mpy"))
        assert (b"USBDevice" in library) == carries


def test_rarely_used_parts_take_no_ram_of_other_programs(tmp_path: Path) -> None:
    """One name too many would make MicroPython's next pool of names, of 4.5 KB."""
    for detector in ("page_hinkley", "adwin"):
        alarm = {"detector": detector, "hook": "reset"}
        assert ("adwin" in modules(program(alarm=alarm))) == (detector == "adwin")
    checkpoint = {"path": "checkpoint", "seconds": 240}
    alarm = {"detector": "page_hinkley", "hook": "nothing"}
    whole = program(checkpoint=checkpoint, alarm=alarm)
    made = build.make(whole, board_files.load("rpi_pico"), tmp_path / "out")
    assert made.code_bytes < 76_000
    rooms = {part.name: part.bytes for part in made.budget.code}
    assert rooms.keys() == {"__init__", "native", "device", "names", "modules"}
    assert rooms["device"] + rooms["modules"] < 300  # the cost of the library's folders


def test_only_a_thicket_with_a_label_budget_rehearses() -> None:
    def rehearses(learner: str, queries: dict[str, int] | None) -> bool:
        parameters = {"features": 2, "classes": 2}
        fields = PROGRAM_FIELDS | {"queries": queries}
        made = program_config.of_stream(blobs(), learner, parameters, 256, fields)
        return "thicket.rehearsal" in modules(made)

    queries = {"labels": 1, "samples": 10}
    assert rehearses("thicket", queries)
    assert not rehearses("thicket", None)
    assert not rehearses("shrub", queries)


_START = "import sys; sys.path[:] = ['', 'lib']; exec(open('main.py').read())"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"{", "config.json is damaged: it is not JSON"),
        (b"\xff", "config.json is damaged: it is not JSON"),
        (b"[" * 100_000, "config.json is damaged: it is nested too deeply"),
        (b"null", "config.json: it has to hold an object"),
        (b'{"version": 2}', "it is of version 2"),
        (b'{"version": 1, "learner": "Majority"}', "MICROSHRUB_LEARNERS=FILE.py:Majority"),
    ],
)
def test_a_damaged_configuration_is_reported(data: bytes, message: str, tmp_path: Path) -> None:
    made = build.make(program(), x86(tmp_path), tmp_path / "out")
    (made.folder / "config.json").write_bytes(data)
    with pytest.raises(UserError, match=message):
        build.read(made.folder)


def test_a_missing_state_is_reported(tmp_path: Path) -> None:
    made = build.make(program(), x86(tmp_path), tmp_path / "out")
    (made.folder / "quantizer.state").unlink()
    with pytest.raises(UserError, match=r"names quantizer\.state"):
        build.read(made.folder)
