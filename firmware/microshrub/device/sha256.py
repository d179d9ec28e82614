"""SHA-256 and HMAC without allocation: FIPS 180-4 and RFC 2104.

MicroPython's hashlib makes two objects for each hash, which only a collection frees. These kernels
wrap at 32 bits, as viper and C do; bytecode does not, so `build` refuses it for them.
"""

from array import array

import micropython
from micropython import const

_BLOCK = const(64)  # bytes that are hashed at once
_INNER = const(54)  # 0x36, and 0x5C, of RFC 2104
_OUTER = const(92)

# What is left of a word that is shifted by 32 - n bits, as of an unsigned one
_LOW_30 = const(1073741823)
_LOW_29 = const(536870911)
_LOW_27 = const(134217727)
_LOW_26 = const(67108863)
_LOW_25 = const(33554431)
_LOW_23 = const(8388607)
_LOW_22 = const(4194303)
_LOW_21 = const(2097151)
_LOW_18 = const(262143)
_LOW_15 = const(32767)
_LOW_14 = const(16383)
_LOW_13 = const(8191)


def roots(power, count):
    """Return the first 32 fractional bits of the roots of the first `count` primes, array('i').

    power is 2 or 3, for square or cube roots.
    """
    digest = array("i", bytes(4 * count))
    prime = 2
    for n in range(count):
        wide = prime << 32 * power
        root = 0
        for bit in range(35, -1, -1):
            more = root | 1 << bit
            if more * more * (more if power == 3 else 1) <= wide:
                root = more
        root &= 0xFFFFFFFF
        digest[n] = root - (root >> 31 << 32)
        prime += 1
        while not all([prime % k for k in range(2, prime)]):
            prime += 1
    return digest


@micropython.viper
def compress(table, words, state, data, at: int):
    """Hash data[at : at + 64] into the 8 words of a state; `words` is array('i') of 16."""
    k = ptr32(table)
    w = ptr32(words)
    s = ptr32(state)
    source = ptr8(data)
    a = s[0]
    b = s[1]
    c = s[2]
    d = s[3]
    e = s[4]
    f = s[5]
    g = s[6]
    h = s[7]
    for i in range(64):
        if i < 16:
            x = source[at] << 24 | source[at + 1] << 16 | source[at + 2] << 8 | source[at + 3]
            at += 4
        else:
            y = w[(i + 1) & 15]
            x = ((y >> 7) & _LOW_25 | y << 25) ^ ((y >> 18) & _LOW_14 | y << 14)
            x = w[i & 15] + w[(i + 9) & 15] + (x ^ (y >> 3) & _LOW_29)
            y = w[(i + 14) & 15]
            z = ((y >> 17) & _LOW_15 | y << 15) ^ ((y >> 19) & _LOW_13 | y << 13)
            x += z ^ (y >> 10) & _LOW_22
        w[i & 15] = x
        y = e ^ ((e >> 14) & _LOW_18 | e << 18)  # rotated by 6, 11 and 25 bits
        y = e ^ ((y >> 5) & _LOW_27 | y << 27)
        x += h + k[i] + (g ^ e & (f ^ g)) + ((y >> 6) & _LOW_26 | y << 26)
        y = a ^ ((a >> 9) & _LOW_23 | a << 23)  # by 2, 13 and 22
        y = a ^ ((y >> 11) & _LOW_21 | y << 21)
        h = g
        g = f
        f = e
        e = d + x
        x += ((y >> 2) & _LOW_30 | y << 30) + (a & b | c & (a | b))
        d = c
        c = b
        b = a
        a = x
    s[0] = s[0] + a
    s[1] = s[1] + b
    s[2] = s[2] + c
    s[3] = s[3] + d
    s[4] = s[4] + e
    s[5] = s[5] + f
    s[6] = s[6] + g
    s[7] = s[7] + h


@micropython.viper
def finish(table, words, state, block, data, at: int, n: int):
    """Hash the last n bytes of a message, data[at : at + n], which has one block before them.

    `block` is a bytearray of 64.
    """
    bits = 8 * (n + 64)
    while n >= 64:
        compress(table, words, state, data, at)
        at += 64
        n -= 64
    source = ptr8(data)
    target = ptr8(block)
    for i in range(n):
        target[i] = source[at + i]
    target[n] = 128
    for i in range(n + 1, 64):
        target[i] = 0
    if n >= 56:
        compress(table, words, state, block, 0)
        for i in range(64):
            target[i] = 0
    for i in range(4):
        target[60 + i] = (bits >> (24 - 8 * i)) & 255
    compress(table, words, state, block, 0)


@micropython.viper
def finish_of(rooms, data, at: int, n: int):
    """Like finish(), with the four buffers in one tuple: a call with fewer arguments."""
    finish(rooms[0], rooms[1], rooms[2], rooms[3], data, at, n)


@micropython.viper
def begin(state, source):
    """Set a state to a copy of another one."""
    to = ptr32(state)
    words = ptr32(source)
    for i in range(8):
        to[i] = words[i]


@micropython.viper
def put_words(state, out, to: int, n: int):
    """Write the first n bytes of a state's words to out[to : to + n]."""
    words = ptr32(state)
    target = ptr8(out)
    for i in range(n):
        target[to + i] = (words[i >> 2] >> (24 - 8 * (i & 3))) & 255


@micropython.viper
def same(data, at: int, other, n: int) -> int:
    """Return whether data[at : at + n] equals other[:n]; the time does not depend on the bytes."""
    one = ptr8(data)
    two = ptr8(other)
    different = 0
    for i in range(n):
        different |= one[at + i] ^ two[i]
    return int(different == 0)


class Sha256:
    """The constants, and the work buffers that all keys share."""

    def __init__(self):
        self.table = roots(3, 64)
        self.first = roots(2, 8)
        self.words = array("i", bytes(64))
        self.state = array("i", bytes(32))
        self.block = bytearray(_BLOCK)
        self.digest = bytearray(32)
        self.rooms = (self.table, self.words, self.state, self.block)


class Hmac:
    """HMAC-SHA256 with a key of 32 bytes. Allocates nothing after construction."""

    def __init__(self, sha):
        self._sha = sha
        self._inner = array("i", bytes(32))
        self._outer = array("i", bytes(32))

    def take(self, key):
        """Set the key: the first 32 bytes of a bytearray."""
        self._pad(self._inner, key, _INNER)
        self._pad(self._outer, key, _OUTER)

    def _pad(self, state, key, pad):
        sha = self._sha
        for i in range(_BLOCK):
            sha.block[i] = pad ^ (key[i] if i < 32 else 0)
        begin(state, sha.first)
        compress(sha.table, sha.words, state, sha.block, 0)

    def sign(self, data, at, n):
        """Compute the code of data[at : at + n], for give() or is_right()."""
        sha = self._sha
        begin(sha.state, self._inner)
        finish_of(sha.rooms, data, at, n)
        put_words(sha.state, sha.digest, 0, 32)
        begin(sha.state, self._outer)
        finish_of(sha.rooms, sha.digest, 0, 32)

    def give(self, out, to, size):
        """Write the first `size` bytes of the code that sign() computed to out[to :]."""
        put_words(self._sha.state, out, to, size)

    def is_right(self, code, start, size):
        """Return whether code[start : start + size] begins the code that sign() computed."""
        self.give(self._sha.digest, 0, 32)
        return bool(same(code, start, self._sha.digest, size))
