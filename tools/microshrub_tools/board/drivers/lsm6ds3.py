"""An LSM6DS3, acceleration and rotation: --sensor lsm6ds3 scl=1 sda=0 rate=100.

Data sheets: ST, LSM6DS3 (revision 10); the LSM6DS3TR-C, LSM6DSL, LSM6DSM, LSM6DSR, LSM6DSO and
LSM6DSOX have the same registers. Thousandths of g, up to 16 g, and tenths of a degree a second,
up to 2000 degrees. `hz` is how often the chip measures: 104, 208, 416, 833; of the acceleration,
it damps what is faster than half of that.
"""

_IDENTITY = 0x0F
_ACCELERATION = 0x10
_ROTATION = 0x11
_CONTROL = 0x12
_FIRST = 0x22  # of the rotation; two bytes for each axis, the lower one first
_PACES = (104, 208, 416, 833)


class Lsm6ds3:
    names = ("ax", "ay", "az", "gx", "gy", "gz")

    def __init__(self, board, scl, sda, i2c=0, address=106, hz=104):
        if hz not in _PACES:
            raise ValueError("hz of an LSM6DS3 has to be 104, 208, 416 or 833")
        self._bus = board.i2c(i2c, scl, sda)
        self._address = address
        self._data = bytearray(12)
        if not 0x69 <= self._bus.readfrom_mem(address, _IDENTITY, 1)[0] <= 0x6C:
            raise OSError("what answers is no LSM6DS3, nor one of its family")
        pace = 4 + _PACES.index(hz) << 4
        self._bus.writeto_mem(address, _CONTROL, b"\x44")  # both bytes of one measurement
        self._bus.writeto_mem(address, _ACCELERATION, bytes((pace | 4,)))  # 16 g
        self._bus.writeto_mem(address, _ROTATION, bytes((pace | 12,)))  # 2000 degrees a second

    def read(self, values):
        data = self._data
        self._bus.readfrom_mem_into(self._address, _FIRST, data)
        for k in range(6):
            count = data[2 * k] | data[2 * k + 1] << 8
            count = count - 65536 if count & 0x8000 else count
            if k < 3:
                values[k + 3] = (count * 7 + 5) // 10  # 70 thousandths of a degree a second
            else:
                values[k - 3] = (count * 61 + 62) // 125  # 0.488 thousandths of g
        return True
