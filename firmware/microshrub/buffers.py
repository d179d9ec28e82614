"""A learner is a table of named buffers: allocation, size, hash, save and load read that table.

A saved state is, little-endian:

    magic b"mshr" | version u8 | length of the configuration u16 | configuration, ASCII text
    | length of the buffers u32 | the buffers, in the order of the table | CRC32 of all before, u32
"""

import struct
from array import array
from binascii import crc32
from io import BytesIO

import micropython
from micropython import const

_MAGIC = b"mshr"
_VERSION = const(1)
_PIECE_ITEMS = const(512)  # written at once, each of up to four bytes
_OTHER_VERSION = (
    "the saved state is of version %d, and this microshrub reads version %d: save it again with it"
)
_ITEM_BYTES = {"B": 1, "H": 2, "i": 4}


def item_bytes(typecode):
    """Bytes of one item of a buffer: 'B' is unsigned 8 bit, 'H' unsigned 16, 'i' signed 32."""
    return _ITEM_BYTES[typecode]


def table_bytes(table):
    """Bytes of all buffers of a table, a list of (name, typecode, length)."""
    return sum(item_bytes(typecode) * length for _, typecode, length in table)


def allocate(typecode, length):
    """A zeroed buffer. For bytes it is a bytearray, which is made without a temporary copy."""
    if typecode == "B":
        return bytearray(length)
    return array(typecode, bytes(length * item_bytes(typecode)))


@micropython.viper
def write_addresses(buffers, table):
    """Write the addresses of the buffers, a tuple, to the table, array('i'), and return it."""
    address = ptr32(table)
    count = int(len(buffers))  # noqa: RUF046  (an object in viper)
    for i in range(count):
        address[i] = int(ptr8(buffers[i]))
    return table


def address_table(buffers):
    """The addresses of a tuple of buffers, as kernels take them; the buffers have to stay alive.

    ptr8(ptr32(table)[i]) takes a fiftieth of the time of ptr8(buffers[i]).
    """
    return write_addresses(buffers, array("i", bytes(4 * len(buffers))))


def read_header(data):
    """Check a saved state and return (configuration text, offset of its first buffer).

    Raises ValueError if data is not a saved state, was cut or changed, or is of another version.
    """
    if len(data) < 15 or bytes(data[:4]) != _MAGIC:
        raise ValueError("this is not a saved microshrub state")
    if data[4] != _VERSION:
        raise ValueError(_OTHER_VERSION % (data[4], _VERSION))
    view = memoryview(data)
    if crc32(view[: len(data) - 4]) != struct.unpack_from("<I", data, len(data) - 4)[0]:
        raise ValueError("the saved state is damaged: its checksum does not match")
    start = 7 + struct.unpack_from("<H", data, 5)[0]
    return str(bytes(data[7:start]), "ascii"), start + 4


def _words_at(places):
    """The words at places, (buffer, words) each."""
    return [buffer[word] for buffer, words in places for word in words]


class Buffers:
    """State that lives in the buffers of one table.

    A subclass defines its table (`_table`), its fresh state (`_start`) and its configuration
    (`configuration`); size, hash, save, load and reset follow from these.
    """

    def _allocate(self):
        self._make_buffers(self._table())
        self._start()

    def _make_buffers(self, table):
        self._flat = tuple([allocate(typecode, n) for _, typecode, n in table])
        self._size = table_bytes(table)  # kept, as a table may take more than 4 KB for a moment

    def _table(self):
        """The list of (name, typecode, length), in the order in which they are saved."""
        raise NotImplementedError

    def _start(self):
        """Write what a fresh state needs besides zeros."""

    _FIXED = ()  # type: tuple  # pairs of a buffer's name and its words that the configuration fixes

    def _is_sound(self):
        """Whether a state that was read can be used, apart from its fixed words.

        Every index in it has to be within the buffers, and no count may overflow later. A class
        without this method refuses all states.
        """
        return False

    def _fixed(self):
        """The places of the words that no state changes, a list of (buffer, words)."""
        if not self._FIXED:
            return []
        names = [row[0] for row in self._table()]
        return [
            (self._flat[names.index(name)], words) for name, words in self._FIXED if name in names
        ]

    def configuration(self):
        """Everything that the state depends on, as one line of text."""
        raise NotImplementedError

    def buffers(self):
        """The buffers as a list of (name, typecode, buffer)."""
        table = self._table()
        return [(table[i][0], table[i][1], self._flat[i]) for i in range(len(table))]

    def state_crc32(self):
        """CRC32 over the bytes of every buffer, in the order of the table."""
        crc = 0
        for buffer in self._flat:
            crc = crc32(buffer, crc)
        return crc

    def reset(self):
        """Forget everything: the state is as it was after construction."""
        for buffer in self._flat:
            for i in range(len(buffer)):
                buffer[i] = 0
        self._start()

    def _head(self):
        """The part of a saved state before the buffers."""
        text = self.configuration().encode()
        head = _MAGIC + struct.pack("<BH", _VERSION, len(text)) + text
        return head + struct.pack("<I", self._size)

    def saved_bytes(self):
        """Bytes of a saved state."""
        return len(self._head()) + self._size + 4

    def write(self, stream):
        """Write the whole state to a binary file or the like, with no copy of it in memory."""
        for _ in self.write_pieces(stream):
            pass

    def write_pieces(self, stream):
        """Save in steps, an iterator: pieces of up to 2 KB."""
        head = self._head()
        crc = crc32(head)
        stream.write(head)
        for buffer in self._flat:
            whole = memoryview(buffer)
            for at in range(0, len(whole), _PIECE_ITEMS):
                piece = whole[at : at + _PIECE_ITEMS]
                crc = crc32(piece, crc)
                stream.write(piece)
                yield
        stream.write(struct.pack("<I", crc))

    def read(self, stream):
        """Read the state that write() wrote, with no copy of it in memory.

        Raises ValueError, with this object untouched, if the state is of another version or
        configuration; and with this object fresh, as after reset(), if the state was cut or
        changed, or if a word in it is not possible.
        """
        expected = self._head()
        head = stream.read(len(expected))
        same = head == expected
        taken = False
        try:
            taken = same and self._take(stream, crc32(expected))
        finally:  # after Ctrl-C and a failing disk, too
            if same and not taken:
                self.reset()
        if not taken:
            if head[:4] == _MAGIC and head[4:5] != expected[4:5]:
                raise ValueError(_OTHER_VERSION % (head[4], _VERSION))
            raise ValueError("the saved state is damaged, or is not for %s" % self.configuration())

    def _take(self, stream, crc):
        """Read the buffers; returns whether they are as they were written, and can be used."""
        fixed = self._fixed()
        before = _words_at(fixed)
        for buffer in self._flat:
            stream.readinto(buffer)  # if bytes are missing, the checksum is wrong
            crc = crc32(buffer, crc)
        if stream.read(4) != struct.pack("<I", crc):
            return False
        return _words_at(fixed) == before and self._is_sound()

    def save(self):
        """The whole state as bytes."""
        stream = BytesIO()
        self.write(stream)
        return stream.getvalue()

    def load(self, data):
        """Restore the state that save() returned; data is bytes or bytearray.

        Raises ValueError: with this object untouched if data is damaged, of another version or
        of another configuration; with this object fresh, as after reset(), if a word in it is not
        possible although its checksum is right.
        """
        text, at = read_header(data)
        if text != self.configuration():
            raise ValueError("the saved state is of %s, this is %s" % (text, self.configuration()))
        size = self._size
        if len(data) != at + size + 4 or struct.unpack_from("<I", data, at - 4)[0] != size:
            raise ValueError("the saved state's buffers have another length than this one's")
        self.read(BytesIO(data))
