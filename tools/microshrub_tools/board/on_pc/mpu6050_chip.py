"""The MPU6050's registers and FIFO, after its register map, revision 4.2; for MicroPython, too.

The chip is on an I2C bus of 400 kHz: a transfer advances the clock by 23 microseconds a byte, and
nothing else does. `reading(n)` returns the seven values of the n-th reading.
"""

ADDRESS = 104
BYTE = 23  # microseconds, with the acknowledgement


class Clock:
    """Microseconds, which wrap around as time.ticks_us() does."""

    def __init__(self):
        self.now = 0

    def __call__(self):
        return self.now & 0x3FFFFFFF


class Chip:
    def __init__(self, clock, reading, room=1024):
        self.clock = clock
        self.reading = reading
        self.registers = bytearray(128)
        self.registers[0x6B] = 0x40  # asleep after power-on
        self.registers[0x75] = 0x68 if room == 1024 else 0x70  # an MPU6500
        self.room = room
        self.fifo = bytearray(room)
        self.oldest = self.there = 0  # the place of the oldest byte, and how many there are
        self.last = 0
        self.taken = 0  # readings that the chip has taken
        self.lost = 0  # bytes that were overwritten
        self.next = 0  # the time of the next reading
        self.breaks = ()  # numbers of transfers that fail half-way
        self.transfers = 0

    def period(self):
        """Return microseconds from one reading to the next."""
        slow = self.registers[0x1A] & 7 in range(1, 7)
        return (1000 if slow else 125) * (1 + self.registers[0x19])

    def run(self):
        """Take the readings that are due by now."""
        now = self.clock.now
        if self.registers[0x6B] & 0x40:
            self.next = now
        while self.next + self.period() <= now:
            self.next += self.period()
            values = self.reading(self.taken)
            self.taken += 1
            for k in range(7):
                self.registers[0x3B + 2 * k] = values[k] >> 8 & 255
                self.registers[0x3C + 2 * k] = values[k] & 255
            if self.registers[0x6A] & 0x40:
                self.fill()

    def fill(self):
        """Write the registers that FIFO_EN names, in their order."""
        wanted = self.registers[0x23]
        for bit, first, count in ((8, 0x3B, 6), (128, 0x41, 2), (64, 0x43, 2), (32, 0x45, 2),
                                  (16, 0x47, 2)):  # fmt: skip
            if wanted & bit:
                for register in range(first, first + count):
                    self.push(self.registers[register])

    def push(self, byte):
        if self.there == self.room:
            self.oldest = (self.oldest + 1) % self.room
            self.there -= 1
            self.lost += 1
            if self.registers[0x38] & 0x10:
                self.registers[0x3A] |= 0x10
        self.fifo[(self.oldest + self.there) % self.room] = byte
        self.there += 1

    def pull(self):
        if self.there:
            self.last = self.fifo[self.oldest]
            self.oldest = (self.oldest + 1) % self.room
            self.there -= 1
        return self.last  # the same byte again, if the FIFO is empty

    # The bus

    def writeto_mem(self, address, register, data):
        self.transfer(address, 2 + len(data))
        for value in data:
            if register == 0x6A and value & 4:
                assert not value & 0x40, "FIFO_RESET needs FIFO_EN to be 0"
                self.there = 0
                value &= ~4
            self.registers[register] = value
            register += 1

    def readfrom_mem_into(self, address, register, buffer):
        self.transfer(address, 3)
        self.transfers += 1
        for k in range(len(buffer)):
            if k == 5 and self.transfers in self.breaks:
                raise OSError(110)
            self.clock.now += BYTE
            self.run()
            buffer[k] = self.at(register)
            if register != 0x74:
                register += 1

    def transfer(self, address, count):
        if address != ADDRESS:
            raise OSError(5)
        self.clock.now += BYTE * count
        self.run()

    def at(self, register):
        if register == 0x72:  # reading this register latches both
            self.registers[0x72] = self.there >> 8
            self.registers[0x73] = self.there & 255
        if register == 0x74:
            return self.pull()
        value = self.registers[register]
        if register == 0x3A:
            self.registers[0x3A] = 0
        return value
