"""Checkpoints on a real 32-bit MicroPython: real files and file systems, and the RAM they take."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from microshrub_host.library import loader

Run = Callable[[str], str]

# The saved parts, and their operation; also run on CPython
BOARD = """

def make():
    return (
        microshrub.ShrubEnsemble(2, 3, window=WINDOW, trees=TREES, depth=4),
        microshrub.Metrics(3),
        microshrub.DriftAlarm("adwin"),
    )

def live(parts, samples, state=7):
    model, metrics, alarm = parts
    x = array("H", bytes(4))
    for i in range(samples):
        for f in range(2):
            state = (state * 4093 + 12345) % 262139
            x[f] = state & 65535
        label = x[0] // 22000
        guess = model.learn(x, label)
        metrics.update(label, guess)
        alarm.update(guess != label)

def states(parts):
    return [part.state_crc32() & 0xFFFFFFFF for part in parts]
"""
HEAD = "from array import array\nimport gc, os\nimport microshrub\n"


def on_cpython(window: int, trees: int) -> dict[str, Any]:
    names = {
        "array": array,
        "microshrub": loader.load("python"),
        "WINDOW": window,
        "TREES": trees,
    }
    exec(BOARD, names)
    return names


def script(window: int, trees: int, body: str) -> str:
    board = BOARD
    return f"{HEAD}WINDOW, TREES = {window}, {trees}\n{board}{body}"


def test_a_slot_is_the_same_on_both_and_can_be_read_by_the_other(
    run_micropython: Run, tmp_path: Path
) -> None:
    here = on_cpython(16, 4)
    parts = here["make"]()
    here["live"](parts, 60)
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    assert loader.load("python").Checkpoint(parts, str(ours)).save()
    body = f"""
parts = make()
live(parts, 60)
checkpoint = microshrub.Checkpoint(parts, {str(theirs)!r})
print(checkpoint.restore(), checkpoint.message.count("missing"))
print(checkpoint.save())
again = make()
checkpoint = microshrub.Checkpoint(again, {str(ours)!r})
print(checkpoint.restore(), states(again) == states(parts))
print(checkpoint.message)
print(states(parts))
"""
    lines = run_micropython(script(16, 4, body)).splitlines()
    assert lines == [
        "False 2",
        "True",
        "True True",
        f"checkpoint 1 restored: {ours}.0 is valid, {ours}.1 is missing",
        str(here["states"](parts)),
    ]
    assert Path(f"{theirs}.0").read_bytes() == Path(f"{ours}.0").read_bytes()


def test_saving_and_restoring_need_no_copy_of_the_state(
    run_micropython: Run, tmp_path: Path
) -> None:
    """With 5 KB of heap left, a state of over 20 KB is saved and restored, and no RAM is kept."""
    body = f"""
parts = make()
live(parts, 20)
checkpoint = microshrub.Checkpoint(parts, {str(tmp_path / "x")!r})
checkpoint.save()
checkpoint.restore()  # what it imports stays
gc.collect()
before = states(parts)
parts[0].reset()
gc.collect()
ballast = [None] * 4000
ballast[0] = bytearray(gc.mem_free() - 400000)
gc.collect()
for i in range((gc.mem_free() - 5000) // 128):
    ballast[i + 1] = bytearray(100)
gc.collect()
used = gc.mem_alloc()
free = gc.mem_free()
done = checkpoint.restore(), checkpoint.save()
gc.collect()
grown = gc.mem_alloc() - used
ballast = None
print(done, free, grown, before == states(parts), sum([part.saved_bytes() for part in parts]))
"""
    done, size = run_micropython(script(512, 32, body)).rsplit(" ", 1)
    state = int(size)
    assert state > 20000
    answer, free, grown, same = done.rsplit(" ", 3)
    assert (answer, same) == ("(True, True)", "True")
    assert 4000 < int(free) < 5200
    assert int(grown) <= 256  # the new message, and numbers


def test_due_allocates_nothing(run_micropython: Run) -> None:
    body = """
from micropython import heap_lock, heap_unlock
checkpoint = microshrub.Checkpoint((microshrub.Metrics(2),), "x", 1000000)
checkpoint.due(0, 0)
def ask():
    count = 0
    for i in range(20000):
        count += checkpoint.due(i & 0x3FFFFFFF, (i * 50021) & 0x3FFFFFFF)
    return count
heap_lock()
try:
    count = ask()
finally:
    heap_unlock()
print(count)
"""
    assert int(run_micropython(script(4, 2, body))) > 100


# Real file systems on a flash that loses its power

FLASH = """
class PowerCut(BaseException):
    pass

class Flash:
    # Stops within its n-th write or erasure, of which `part` / 4 happens.
    def __init__(self, size, count, data=None):
        self.size = size
        self.data = data or bytearray(size * count)
        self.left = -1
        self.part = 0
        self.dead = False

    def spend(self, at, buf):
        if self.dead:
            return True
        if self.left < 0 or self.left > 0:
            self.left -= self.left > 0
            return False
        self.dead = True
        part = len(buf) * self.part // 4
        self.data[at : at + part] = buf[:part]
        raise PowerCut

    def readblocks(self, block, buf, offset=0):
        at = block * self.size + offset
        for i in range(len(buf)):
            buf[i] = self.data[at + i]

    def writeblocks(self, block, buf, offset=0):
        at = block * self.size + offset
        if not self.spend(at, buf):
            self.data[at : at + len(buf)] = buf

    def ioctl(self, op, arg):
        if op == 4:
            return len(self.data) // self.size
        if op == 5:
            return self.size
        if op == 6:
            blank = b"\\xff" * self.size
            if ERASES and not self.spend(arg * self.size, blank):
                self.data[arg * self.size : (arg + 1) * self.size] = blank
            return 0

def boot(data=None):
    flash = Flash(SIZE, COUNT, data)
    if data is None:
        VFS.mkfs(flash)
    os.mount(VFS(flash), "/flash")
    return flash

def shutdown(flash):
    flash.dead = True
    os.umount("/flash")

def restored():
    parts = make()
    checkpoint = microshrub.Checkpoint(parts, "/flash/model")
    checkpoint.restore()
    return parts, checkpoint, states(parts)

"""

CUTS = """
flash = boot()
parts, checkpoint, fresh = restored()
for round in range(2):
    live(parts, 9, 5 + round)
    checkpoint.save()
earlier = states(parts)
flash.left = -1
shutdown(flash)
image = bytes(flash.data)

outcomes = [0, 0, 0]
cut = 0
finished = False
while not finished:
    for part in range(4):
        flash = boot(bytearray(image))
        parts, checkpoint, restored_states = restored()
        if restored_states != earlier:
            raise RuntimeError("before the cut %d" % cut)
        live(parts, 9, 99)
        later = states(parts)
        flash.left, flash.part = cut, part
        try:
            finished = checkpoint.save()
        except PowerCut:
            pass
        shutdown(flash)
        flash = boot(flash.data)
        parts, checkpoint, restored_states = restored()
        outcomes[0 if restored_states == earlier else 1 if restored_states == later else 2] += 1
        live(parts, 5, 3)
        checkpoint.save()
        if restored()[2] != states(parts):
            raise RuntimeError("the save after the cut %d" % cut)
        shutdown(flash)
    cut += 1
print(cut, *outcomes)
"""


FULL = """
flash = boot()
parts, checkpoint, fresh = restored()
live(parts, 9)
print(checkpoint.save())
earlier = states(parts)
with open("/flash/recording.csv", "wb") as file:
    try:
        while True:
            file.write(bytes(64))
            file.flush()
    except OSError as error:
        print(error.errno)
live(parts, 9)
later = states(parts)
print(checkpoint.save(), checkpoint.message)
print(states(parts) == later, restored()[2] == earlier)
os.remove("/flash/recording.csv")
print(checkpoint.save(), restored()[2] == later)
"""

SYSTEMS = pytest.mark.parametrize(
    "system",
    [
        "VFS, SIZE, COUNT, ERASES = os.VfsLfs2, 512, 40, True\n",
        "VFS, SIZE, COUNT, ERASES = os.VfsFat, 512, 60, False\n",
    ],
    ids=["littlefs", "FAT"],
)


@SYSTEMS
def test_a_power_cut_at_every_write_of_a_real_file_system(
    system: str, run_micropython: Run
) -> None:
    output = run_micropython(script(4, 2, system + FLASH + CUTS))
    cuts, earlier, later, neither = map(int, output.split())
    assert cuts >= 10
    assert neither == 0
    assert earlier > 20
    assert later >= 4


@SYSTEMS
def test_a_full_file_system_costs_only_the_checkpoint(system: str, run_micropython: Run) -> None:
    assert run_micropython(script(4, 2, system + FLASH + FULL)).splitlines() == [
        "True",
        "28",
        "False checkpoint 2 was not saved to /flash/model.1: OSError 28",
        "True True",
        "True True",
    ]
