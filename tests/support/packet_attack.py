"""Packets with altered bytes, forged lengths and a valid checksum; a board must learn none.

python tests/support/packet_attack.py --packets 100000 --seed 1
"""

from __future__ import annotations

import argparse
import random
import struct
import sys

from packet_support import Board, sealed

from microshrub_host.library import loader

_JUDGED = 50  # one readable packet in 50 is also evaluated, which takes long
_EDGES = (0, 1, 127, 128, 254, 255)


def altered(data: bytes, dice: random.Random) -> bytes:
    """Return a packet with bytes changed, lost or repeated; most have a valid checksum."""
    written = bytearray(data)
    for _ in range(dice.choice((1, 1, 1, 2, 4, 16))):
        at = dice.randrange(len(written))
        change = dice.randrange(6)
        if change == 0:
            written[at] = dice.choice(_EDGES)
        elif change == 1:
            written[at] ^= 1 << dice.randrange(8)
        elif change == 2:
            written[at : at + 2] = struct.pack("<H", dice.choice((0, 1, 255, 256, 32768, 65535)))
        elif change == 3:
            written[at : at + 4] = struct.pack("<i", dice.choice((-(2**31), -1, 2**30, 2**31 - 1)))
        elif change == 4:
            del written[at : at + dice.randrange(1, 40)]
        else:
            written[at:at] = written[at : at + dice.randrange(1, 40)]
        if not written:
            return b""
    return bytes(written) if dice.random() < 0.1 else sealed(written)


def attack(packets: int, seed: int) -> tuple[int, int]:
    """Return the numbers of refused and of read packets. Raises for any other result."""
    library = loader.load(loader.fastest())
    whole = Board(library, (40, 40, 40)).sharing.collect("kitchen", ("rest", "walk", "run"), 5)
    board = Board(library, (40, 40, 0), seed=1)
    before = board.bits()
    dice = random.Random(seed)
    refused = 0
    for _ in range(packets):
        try:
            packet = library.SamplePacket(altered(whole, dice))
        except ValueError:
            refused += 1
            continue
        for i in (0, packet.samples - 1) if packet.samples else ():
            for f in range(len(packet.feature_names)):
                assert -(2**29) <= packet.raw(i, f) < 2**29
        if dice.randrange(_JUDGED) == 0:
            try:
                board.sharing.judge(packet)
            except ValueError:
                refused += 1
    assert board.bits() == before, "a packet that was only judged has changed what is known"
    return refused, packets - refused


def main() -> int:
    """Run the attack, and print the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--packets", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    refused, read = attack(arguments.packets, arguments.seed)
    print(
        f"{arguments.packets:,} altered packets: {refused:,} refused, {read:,} read, none learned"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
