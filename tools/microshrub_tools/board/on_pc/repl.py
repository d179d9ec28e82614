"""A board's REPL for MicroPython on the PC, which has no raw REPL: repl.py FLASH boot|raw.

The script also starts main.py after a reset, as a board does. Exit code 42 is a reset, and 41 is a
reset to the raw REPL. A third and a fourth argument are for sensors: see machine_on_pc.py.
"""

import os
import sys

import micropython
import vfs


class Flash:
    """A folder as "/", as on a board.

    VfsPosix alone would always import from the root: its import_stat() ignores os.chdir(), and
    stat(), which replaces import_stat() here, does not.
    """

    def __init__(self, folder):
        self._files = vfs.VfsPosix(folder)

    def __getattr__(self, name):
        return getattr(self._files, name)


micropython.kbd_intr(-1)  # a REPL reads Ctrl-C as a byte; only executed code is interrupted
sys.stdout.buffer.write(b"\0")  # ready for input
folder, mode = sys.argv[1:3]
if len(sys.argv) > 3:  # a board with sensors, see machine_on_pc.py
    sys.path.insert(0, sys.argv[3])
    import machine_on_pc

    sys.modules["machine"] = machine_on_pc.Machine(sys.argv[4])
vfs.umount("/")
vfs.mount(Flash(folder), "/")
os.chdir("/")
sys.path[:] = ["", ".frozen", "/lib"]
read = sys.stdin.buffer.read


def say(text):
    sys.stdout.buffer.write(text.encode())


def leave(code):
    """Exit at once, with all threads, as a reset does; sys.exit() would wait for them or fail."""
    try:
        import ffi

        ffi.open(None).func("v", "_exit", "i")(code)
    except (ImportError, OSError):
        sys.exit(code)


def execute(code, space):
    micropython.kbd_intr(3)
    try:
        exec(code, space)
    except SystemExit:
        pass
    except BaseException as error:
        return error
    finally:
        micropython.kbd_intr(-1)
        if getattr(sys.modules.get("machine"), "is_reset", False):
            leave(42)


def line():
    code = bytearray()
    while True:
        byte = read(1)
        if byte == b"\x03":
            code = bytearray()
            continue
        if not byte:
            sys.exit(9)
        if byte in (b"\x01", b"\x02", b"\x04", b"\x05"):
            return byte, bytes(code)
        code += byte


def paste():
    if read(1) != b"A":
        say("R\x00")  # unknown command
        return b""
    read(1)
    say("R\x01\x40\x00\x01")  # windows of 64 bytes, two of them
    code = bytearray()
    while True:
        byte = read(1)
        if byte == b"\x04":
            say("\x04")
            return bytes(code)
        code += byte
        if len(code) % 64 == 0:
            say("\x01")


def paste_mode():
    say("\r\npaste mode; Ctrl-C to cancel, Ctrl-D to finish\r\n=== ")
    while read(1) not in (b"\x03", b"\x04"):
        pass
    say("\r\n>>> ")


def answer(code, space):
    error = execute(str(code, "utf-8"), space)
    say("\x04")
    if error:
        sys.print_exception(error, sys.stdout)
    say("\x04>")


def serve(raw):
    space = {"__name__": "__main__"}
    while True:
        end, code = line()
        if end == b"\x01":
            raw = True
            say("raw REPL; CTRL-B to exit\r\n>")
        elif end == b"\x02":
            raw = False
            say("\r\n>>> ")
        elif end == b"\x05" and not raw:
            paste_mode()
        elif end == b"\x05":
            pasted = paste()
            if pasted:
                answer(pasted, space)
        elif not code.strip():
            say("OK\r\nMPY: soft reboot\r\n" if raw else "\r\nMPY: soft reboot\r\n")
            leave(41 if raw else 42)
        elif raw:
            say("OK")
            answer(code, space)


if mode == "raw":
    say("raw REPL; CTRL-B to exit\r\n>")
else:
    try:
        main = open("main.py").read()
    except OSError:
        main = ""
    error = execute(main, {"__name__": "__main__"})
    if error:
        sys.print_exception(error, sys.stdout)
    say("\r\n>>> ")
serve(mode == "raw")
