"""Keys for classes: stock MicroPython on an emulated Pico, and the PC's end of USB."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
from node_support import run_in_node
from patience import PATIENCE
from pico_support import Pico, plugged_in

from microshrub_tools.board.board_repl import Device
from microshrub_tools.cli.main import main
from microshrub_tools.link.client import HostLink
from microshrub_tools.link.messages import STATUS, DeviceStatus, Prediction, sample
from microshrub_tools.link.serial_line import SerialLine

UP, SPACE, NONE = (bytes.fromhex(text.ljust(16, "0")) for text in ("000052", "02002c", ""))
OF_CLASS = UP, SPACE, NONE
ROWS = [(i % 3, i % 3 * 5, i % 7) for i in range(300)]
KEYS = ["a=key:ArrowUp", "b=key:space+key:ShiftLeft"]

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a program that `build` has made."""
    work = tmp_path_factory.mktemp("keys")
    lines = ["x,y,z,class", *(f"{x},{y},{z},{'abc'[x]}" for x, y, z in ROWS)]
    (work / "three.csv").write_text("\n".join(lines))
    words = ["--model", "hoeffding", "--warmup", "20", "--switch", *KEYS]
    words += ["--checkpoint-seconds", "0", "--output", str(work / "program")]
    assert main(["build", str(work / "three.csv"), "--board", "rpi_pico", *words]) == 0
    return work / "program"


@pytest.fixture(scope="module")
def pico(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pico]:
    """A Pico that is switched on once, with a keyboard that the PC has recognised."""
    with plugged_in(built, tmp_path_factory.mktemp("pico")) as plugged:
        plugged.wait(lambda: bool(plugged.reports()) and plugged.is_there())
        assert plugged.reports() == [NONE]
        yield plugged


def test_only_the_keys_of_the_predicted_class_are_down(pico: Pico) -> None:
    *before, now = pico.reports()
    expected = [now]
    with HostLink(SerialLine(pico.port)) as link:
        link.connect()
        for row in ROWS[:24]:
            answer = link.ask(sample(row, row[0]))
            assert isinstance(answer, Prediction)
            expected.append(OF_CLASS[answer.label])
        used = heap_of(link)
        for label in (0, 0, 1, 2, 1, 0, 2, 0):
            answer = link.ask(sample([label, label * 5, 0]))
            assert isinstance(answer, Prediction)
            assert answer.label == label
            expected.append(OF_CLASS[label])
        assert heap_of(link) == used
    reports = [*before, *(report for report, _ in itertools.groupby(expected))]
    pico.wait(lambda: len(pico.reports()) >= len(reports))
    assert pico.reports() == reports


def heap_of(link: HostLink) -> int:
    status = link.ask(STATUS)
    assert isinstance(status, DeviceStatus)
    return status.heap_used


def test_the_tools_reach_and_start_the_board_though_its_port_disappears(pico: Pico) -> None:
    """The port disappears when the program, a keyboard, ends by a reset,
    and when it starts again.
    """
    with HostLink(SerialLine(pico.port)) as link:
        link.connect()
        link.ask(sample([0, 0, 0]))
    pico.wait(lambda: pico.reports()[-1] == UP)
    with Device(pico.port) as device:
        assert pico.reports()[-1] == NONE  # no key stays down after the end of the program
        assert device.value("__import__('machine').USBDevice().active()") is False
        assert device.value("6 * 7") == 42
        started, output = device.start(PATIENCE)
        assert started
        assert "HoeffdingTree of" in output
    with HostLink(SerialLine(pico.port)) as link:
        link.connect()
        link.ask(sample([0, 0, 0]))
    pico.wait(lambda: pico.reports()[-1] == UP)


# Stand-in for WebSerial in node: a port by its path, which may disappear
PROGRAM = """
import fs from "node:fs";
import tty from "node:tty";

const given = JSON.parse(fs.readFileSync(0, "utf8"));
globalThis.location = { hash: "" };
globalThis.document = { documentElement: {} };
globalThis.navigator ??= {};
const { setTimeout } = globalThis;
const now = performance.now.bind(performance);
const SLOWER = 20; // than a chip: the emulator, on a machine that has more to do
performance.now = () => now() / SLOWER;
globalThis.setTimeout = (then, milliseconds) => setTimeout(then, SLOWER * milliseconds);

class Device extends EventTarget {
  getInfo() { return {}; }
  async open() {
    const flags = fs.constants.O_RDWR | fs.constants.O_NOCTTY | fs.constants.O_NONBLOCK;
    const fd = fs.openSync(given.port, flags);
    const stream = this.stream = new tty.ReadStream(fd);
    const lost = () => this.dispatchEvent(new Event("disconnect"));
    this.readable = new ReadableStream({
      start(to) {
        stream.on("data", (data) => to.enqueue(new Uint8Array(data)));
        for (const end of ["end", "error", "close"]) {
          stream.on(end, () => { lost(); try { to.close(); } catch {} });
        }
      },
    });
    this.writable = new WritableStream({ write: (data) => void fs.writeSync(fd, data) });
  }
  async close() { this.stream.destroy(); }
}

const { Port, RawRepl } = await import("./bundle.mjs");
const port = await Port.open(new Device(), 115200);
const repl = await RawRepl.enter(port);
const answer = await repl.value("6 * 7");
const output = await repl.start(60_000);
await port.close();
process.stdout.write(JSON.stringify([answer, output]), () => process.exit());
"""


def test_the_page_reaches_it_too(pico: Pico, tmp_path: Path) -> None:
    exports = {"board/port": "Port", "board/raw_repl": "RawRepl"}
    answer, output = run_in_node(tmp_path, PROGRAM, exports, {"port": pico.port})
    assert answer == 42
    assert "HoeffdingTree of" in output
