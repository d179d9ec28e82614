"""The MicroPython code that `microshrub flash` runs on a board.

Paths are relative to the folder in which a board starts, which is not the root on every board.
"""

import textwrap

# The programs' folders; other entries with such a name are left alone
_PROGRAMS = """[
    entry[0] for entry in os.ilistdir()
    if entry[1] == 0x4000 and entry[0][:11] == "microshrub."
    and len(entry[0]) == 15 and entry[0][11:].isdigit() and "main.py" in os.listdir(entry[0])
    and not {"tested", "tried"}.intersection(os.listdir(entry[0]))
]"""

# A program that came over the network is on trial. An empty file in its folder is renamed before
# each step: after a cut or a failure, the folder no longer counts as a program, and the previous
# program starts.
#     trial -> tested    trial.py tests the program's library
#     tested -> ready    the bits are the simulator's; the board restarts
#     ready -> tried     the program runs until the PC connects and removes the file

# Where a program's library is. rom.py has the library's part of ROM: its bytes, and their CRC32
ROM_PATH = "/rom/microshrub.lib"
_PATHS = """\
    sys.path.insert(0, "lib")
    if "rom.py" in os.listdir():
        exec(open("rom.py").read())
"""
ROM_PROGRAM = f"""\
try:
    import binascii
    import vfs

    if binascii.crc32(memoryview(vfs.rom_ioctl(2, 0))[:%d]) == %d:
        sys.path.insert(0, "{ROM_PATH}")
except (ImportError, AttributeError, TypeError, OSError):
    pass  # another firmware
"""

# main.py of a flashed board, and its first line
LOADER_MARK = "# microshrub: starts the newest program that `microshrub flash` has put here"
LOADER = f"""\
{LOADER_MARK}
import micropython

micropython.kbd_intr(-1)  # what a PC sends meanwhile may hold Ctrl-C
import os
import sys

found = {_PROGRAMS}
if found:
    os.chdir(max(found))
{_PATHS}    name = "main.py"
    for step, then in (("trial", "tested"), ("ready", "tried")):
        if step in os.listdir():
            os.rename(step, then)
            name = "trial.py" if step == "trial" else name
            break
    try:
        exec(open(name).read())
    finally:
        if {{"tested", "tried"}}.intersection(os.listdir()):
            import machine
            machine.reset()
else:
    print("microshrub: there is no program here: flash the board")
"""

# The functions that the steps of a flash use; sent once after a reset
HELPERS = f"""
import binascii, gc, json, os, sys
def programs():
    return sorted({_PROGRAMS})
def install(folder):
    # as the next program; after 9999 comes 1
    before = programs()
    number = int(before[-1][11:]) if before else 0
    if number == 9999:
        os.rename(before[-1], "microshrub.0000")
        number = 0
    name = folder
    while name in os.listdir():
        number += 1
        name = "microshrub.%04d" % number
    os.rename(folder, name)
def keep_main():
    # but for one of ours
    with open("main.py", "rb") as f:
        ours = f.readline().strip() == {LOADER_MARK.encode()!r}
    if not ours:
        copy("main.py", "main.old")
def listing(path):
    try:
        return [(entry[0], entry[1]) for entry in os.ilistdir(path)]
    except OSError:
        return []
def watchdog():
    # that of the program goes on when the program was stopped
    try:
        with open(max(programs()) + "/config.json") as f:
            if json.load(f)["watchdog"]:
                import machine
                return machine.WDT(timeout=8000).feed
    except (OSError, ValueError, KeyError, ImportError, AttributeError):
        pass
    return lambda: None
feed = watchdog()
def write(f, text):
    feed()
    f.write(binascii.a2b_base64(text))
def digest(path):
    import hashlib
    h, part = hashlib.sha256(), bytearray(256)
    with open(path, "rb") as f:
        while True:
            n = f.readinto(part)
            if not n:
                break
            feed()
            h.update(memoryview(part)[:n])
    return str(binascii.hexlify(h.digest()), "ascii")
def copy(source, target):
    part = bytearray(256)
    with open(source, "rb") as f, open(target, "wb") as g:
        while True:
            n = f.readinto(part)
            if not n:
                break
            feed()
            g.write(memoryview(part)[:n])
"""

# The functions that write the ROM file system, sent after HELPERS
ROM_HELPERS = """
rom = None
try:
    import vfs
    if vfs.rom_ioctl(1) > 0:
        rom = memoryview(vfs.rom_ioctl(2, 0))
except (ImportError, AttributeError, TypeError):
    pass  # there is none
def rom_is_blank():
    return bytes(rom[:4]) in (bytes(4), b"\\xff" * 4)
def rom_names():
    try:
        return [entry[0] for entry in vfs.VfsRom(rom).ilistdir("/")]
    except OSError:
        return None
"""

# The self-test of the program in the board's folder %r, sent after HELPERS
SELFTEST = f"""
root = os.getcwd()
os.chdir(%r)
{textwrap.dedent(_PATHS)}gc.collect()
before = gc.mem_free()
if hasattr(gc, "threshold"):
    gc.threshold(2048)  # what the import leaves behind is not to spread over the heap
try:
    from time import ticks_us
except ImportError:
    ticks_us = lambda: 0
def clock():
    feed()
    return ticks_us()
import microshrub
from microshrub.device.selftest import selftest
with open("main.py") as f:
    for line in f.read().split("\\n"):  # the library may not know the user's own learner yet
        if line.startswith("register("):
            from microshrub.learners import register
            exec(line)
            break
with open("config.json") as f:
    config = json.load(f)
model = getattr(microshrub, config["learner"])(**config["parameters"])
if config["warmup"] is None:
    quantizer = microshrub.GrowingQuantizer(model.features, (model,))
else:
    quantizer = microshrub.Quantizer(model.features)
crc, took = selftest(model, quantizer, clock)
gc.collect()
print(repr((crc, took, before, gc.mem_free())))
os.chdir(root)
"""

# Starts the program in the board's folder %r, as LOADER does
START = """
import os, sys
os.chdir(%r)
sys.path.insert(0, "lib")
exec(open("main.py").read())
"""

# trial.py of a program that came over the network, after HELPERS; %d is the simulator's CRC32
TRIAL = f"""
printed = []
print = printed.append
{SELFTEST % "."}
if int(printed[0].strip("(").split(",")[0]) == %d:
    with open("selftest", "w") as f:
        f.write(printed[0])
    os.rename("tested", "ready")
import machine
machine.reset()
"""
