"""50 samples per second from a board's own pins, with a monitor attached, on an emulated
Cortex-M0.

The clock is a Raspberry Pi Pico's: a fixed time per instruction, and per byte on USB. The rest is
the program of `build`, with a smaller thicket, as the emulated board has less room.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from emulated_support import board_file
from patience import PATIENCE

from microshrub_host.boards import board_files, counted_times, emulated_boards
from microshrub_host.boards.emulator import EmulatedBoard
from microshrub_host.boards.instruction_counts import TICKS
from microshrub_host.programs import mpy
from microshrub_tools.board import build
from microshrub_tools.cli.main import main
from microshrub_tools.link.frames import Frame, pack
from microshrub_tools.link.messages import HELLO, STATUS, confusion

SECONDS = 10
RATE = 50
CLASSES = 2
LONGEST_US = 25_000  # from one sample to the next
ON_BOARD = r"""
import gc
import sys
gc.threshold(2048)
from array import array
from binascii import unhexlify
from machine import mem32

mem32[0x40008508], mem32[0x40008510], mem32[0x40008000] = 3, 9, 1  # 32 bits, every 512th tick

class Clock:
    "Microseconds of a Pico, of what QEMU counts and of bytes on USB; no number leaves 30 bits."

    def __init__(self):
        self.seen = self.rest = self.now = 0

    def __call__(self):
        mem32[0x40008040] = 1
        seen = mem32[0x40008540]
        self.rest += (seen - self.seen) * SCALE
        self.seen = seen
        self.now += self.rest >> 12
        self.rest &= 4095
        return self.now

clock = Clock()

class Line:
    def write(self, data, n=-1):
        clock.now += USB * (len(data) if n < 0 else n)

class Text:
    buffer = Line()

class System:
    stdin = stdout = Text

    def __getattr__(self, name):
        return getattr(real, name)

real = sys
sys.modules["sys"] = System()
sys.path.insert(0, "lib")
from microshrub import Service

class Voltage:
    def __init__(self, first):
        self.state = 1
        self.first = first

    def read_u16(self):
        if self.first:
            now = clock()
            if read[COUNT]:
                read[LONGEST] = max(read[LONGEST], now - read[LAST])
            read[COUNT] += 1
            read[LAST] = now
        self.state = self.state * 997 % 1048573
        return self.state % 16000 + (20000 if clock.now // 2000000 % 2 else 0)

class Pressed:
    def value(self):
        return clock.now // 2000000 % 2

class Board:
    microseconds = clock

    def milliseconds(self):
        return clock() // 1000

    def adc(self, pin):
        return Voltage(pin == 26)

    def button(self, pin):
        return Pressed()

class Inputs:
    "A monitor, which asks once a second, each time when it was answered."

    at = asked = 0

    def take(self, link, wait):
        until = clock() + 1000 * wait
        came = 0
        if clock.now >= self.at:
            frame = requests[self.asked]
            self.asked += 1
            came = len(frame)
            clock.now += USB * came
            link.feed(frame, came)
            if self.asked % PER_SECOND == 0:
                self.at += 1000000
            until = 0
        while clock() < until:
            pass
        if self.asked == len(requests):
            link.app.restart = True
        return came

COUNT, LAST, LONGEST = 0, 1, 2
read = array("i", (0, 0, 0))
service = Service(Board(), "", Inputs(), print)
with open("/requests") as file:
    requests = [bytearray(unhexlify(line)) for line in file.read().split()]
gc.collect()
service._sensor.pace.due()
clock()
Inputs.at = clock.now
before = gc.mem_alloc()
service.serve()
left = gc.mem_alloc() - before
print(read[COUNT], read[LONGEST], service._app.metrics.samples, left)
"""


def requests() -> str:
    """Return a monitor's requests, as it sends them each second,
    with a hello as the very first.
    """
    requested = [STATUS, *(confusion(c) for c in range(CLASSES))] * (SECONDS + 1)
    frames = [Frame(each.kind, 77, k, each.payload) for k, each in enumerate(requested)]
    frames[0] = Frame(HELLO, 77, 0, b"")
    return "\n".join(pack(frame).hex() for frame in frames)


@pytest.mark.long
def test_a_board_keeps_fifty_samples_per_second_with_a_monitor(tmp_path: Path) -> None:
    try:
        emulator = emulated_boards.find_or_build("cortex-m0")
    except emulated_boards.NoEmulator as reason:
        pytest.skip(str(reason))
    pico = board_files.load("rpi_pico")
    assert pico.cost
    instruction_us = pico.cost.cycles * 1e6 / pico.clock_hz
    tick_us = 512 / TICKS[emulator.board.name] * instruction_us
    recording = tmp_path / "recording.csv"
    rows = [f"{k % 97},{k % 89},{'rest' if k // 50 % 2 else 'move'}" for k in range(300)]
    recording.write_text("\n".join(["a,b,label", *rows]))
    options = f"--sensor adc pins=26,27 rate={RATE} --checkpoint-seconds 0 --bytes 6144"
    button = ["--label-pin", "15", "pressed=rest", "released=move"]
    where = ["--board", str(board_file(tmp_path, emulator.board.arch))]
    folder = tmp_path / "program"
    source = ["build", str(recording), *options.split(), *button]
    assert main([*source, *where, "--output", str(folder)]) == 0
    files = {f"/{path}": data for path, data in build.read(folder).items()}
    files["/requests"] = requests().encode()
    scale, usb = round(tick_us * 4096), round(counted_times.USB_BYTE_US)
    program = tmp_path / "rate.py"
    program.write_text(f"SCALE, USB, PER_SECOND = {scale}, {usb}, {1 + CLASSES}\n{ON_BOARD}")
    files["/rate.mpy"] = mpy.compiled_program(program, emulator.board.arch).read_bytes()
    with EmulatedBoard(emulator, files) as board:
        output = board.exec("import rate", PATIENCE)
    came, longest_us, samples, left = map(int, output.splitlines()[-1].split())
    assert abs(came - SECONDS * RATE) <= 1
    assert samples == came
    assert longest_us <= LONGEST_US
    assert left <= 16  # one block: not more after 20 seconds than after 5
