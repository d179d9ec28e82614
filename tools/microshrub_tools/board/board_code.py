"""What `microshrub flash` has a board run: lines of MicroPython, sent as they are.

Paths are relative to where a board starts, which is not the root on every one.
"""

# main.py of a board that was flashed
LOADER = """\
# microshrub: starts the newest program that `microshrub flash` has put here
import micropython

micropython.kbd_intr(-1)  # what a PC sends meanwhile may hold Ctrl-C
import os
import sys

os.chdir(max([name for name in os.listdir() if name[:11] == "microshrub."]))
sys.path.insert(0, "lib")
exec(open("main.py").read())
"""

# What the steps of a flash are written with; sent once after a reset
HELPERS = """
import binascii, gc, json, os, sys
def listing(path):
    try:
        return [(entry[0], entry[1]) for entry in os.ilistdir(path)]
    except OSError:
        return []
def watchdog():
    # that of the program goes on when the program was stopped
    try:
        newest = max([name for name in os.listdir() if name[:11] == "microshrub."])
        with open(newest + "/config.json") as f:
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

# The self-test of the program in a folder, %r, of the board, behind the above
SELFTEST = """
root = os.getcwd()
os.chdir(%r)
sys.path.insert(0, "lib")
gc.collect()
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
with open("config.json") as f:
    config = json.load(f)
model = getattr(microshrub, config["learner"])(**config["parameters"])
crc, took = selftest(model, microshrub.Quantizer(model.features), clock)
gc.collect()
print(repr((crc, took, before, gc.mem_free())))
os.chdir(root)
"""
