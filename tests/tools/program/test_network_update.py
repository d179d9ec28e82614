"""A new program comes over TCP from a PC that then reads nothing."""

from __future__ import annotations

import socket
import struct
import subprocess

from patience import PATIENCE

from microshrub_host.base.micropython_binary import code_words
from microshrub_host.library import library_files
from microshrub_tools.link.tcp_line import SignedRecords

KEY = bytes(32)
# Its sleeps are only counted. The socket's buffer is small, like a board's.
BOARD = """
import socket, sys
fed, slept = [0], [0]
class Machine:
    @staticmethod
    def reset():
        print(fed[0], slept[0])
        sys.exit()
sys.modules["machine"] = Machine
from microshrub.device import network_update
from microshrub.device.tcp import Records
from microshrub.device.sha256 import Sha256
class Time:
    @staticmethod
    def sleep_ms(n):
        slept[0] += n
def feed():
    fed[0] += 1
network_update.time = Time
records = Records(Sha256(), 256)
records._up.take(bytearray(32))
records._down.take(bytearray(32))
line = socket.socket()
line.setsockopt(1, 7, 4096)
line.connect(socket.getaddrinfo("127.0.0.1", {port})[0][-1])
line.setblocking(False)
network_update.renew(feed, line, records)
"""


def test_the_board_starts_again_after_a_minute_and_feeds_its_watchdog(
    micropython_command: tuple[str, ...],
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listens:
        listens.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        code = BOARD.format(port=listens.getsockname()[1])
        words = code_words(code, library_files.folder().parent)
        board = subprocess.Popen(
            [*micropython_command, "-X", "heapsize=2m", *words], stdout=subprocess.PIPE, text=True
        )
        with board, listens.accept()[0] as line:
            line_of_python = b"print('x' * 200000)"
            line.sendall(
                SignedRecords(KEY).seal(struct.pack("<I", len(line_of_python)) + line_of_python)
            )
            try:
                output = board.communicate(timeout=PATIENCE)[0]
            finally:
                board.kill()
    fed, slept = map(int, output.split())
    assert slept == 60_000
    assert fed >= 1000
