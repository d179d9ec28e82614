"""A USB keyboard beside the board's serial port, by machine.USBDevice.

config.json's `switches` has a key as [usage], of the keyboard's page of USB HID: 4..115, and
224..231 for the keys that are held with others. The keys of a class are down while it is the
newest prediction, and go up when it goes or the program ends. Nothing waits for the PC: while it
does not ask for keys, it misses them, and gets the present ones when it asks again.

The serial port goes away and comes back when the keyboard comes, see start().
"""

from micropython import const

_HELD = const(224)  # the first key of those in a report's first byte, a bit each
_KEYS = const(8)  # bytes of a report: those bits, 0, and up to six keys
_TICKS = const(1073741823)
_COMES = const(2000)  # milliseconds for the PC to find the keyboard
_GOES = const(100)  # milliseconds for it to take the last report
_SETUP = const(1)  # the stage of a request in which it is answered
_REPORT = const(0x22)  # a kind of description

# What a report is: eight keys that are held, a bit each; a byte of 0; six keys of 0..115
_DESCRIPTION = (
    b"\x05\x01\x09\x06\xa1\x01"
    b"\x05\x07\x19\xe0\x29\xe7\x15\x00\x25\x01\x75\x01\x95\x08\x81\x02"
    b"\x75\x08\x95\x01\x81\x01"
    b"\x19\x00\x29\x73\x15\x00\x25\x73\x75\x08\x95\x06\x81\x00"
    b"\xc0"
)


def _interface(number, endpoint):
    """Describe the keyboard: its interface, what its reports are, and where they come from."""
    what = bytes((9, 0x21, 0x11, 1, 0, 1, _REPORT, len(_DESCRIPTION), 0))
    come = bytes((7, 5, 0x80 | endpoint, 3, _KEYS, 0, 8))  # asked for each 8 ms
    return bytes((9, 4, number, 0, 1, 3, 1, 1, 0)) + what + come


class UsbKeyboard:
    """The keys of each class."""

    def __init__(self, board, classes):
        self._milliseconds = board.milliseconds
        self._usb = board.of_machine("USBDevice")()
        self._none = bytes(_KEYS)
        self._of_class = [self._none] * (classes + 1)  # reports; the last one: of no class
        self._wanted = self._down = classes  # of which class the keys are to be down, and are
        self._is_asked = False  # the PC has found the keyboard
        self._is_sending = False

    def add(self, c, usage):
        """Have a key down while class c is predicted; up to six, beside those that are held.

        Raises ValueError.
        """
        if type(usage) is not int or not (4 <= usage <= 115 or _HELD <= usage < _HELD + 8):
            raise ValueError("a key is 4..115 or 224..231, not %r" % (usage,))
        report = bytearray(self._of_class[c])
        at = 0 if usage >= _HELD else 2
        while at and report[at]:
            at += 1
            if at == _KEYS:
                raise ValueError("a class has at most six keys")
        report[at] |= usage if at else 1 << (usage - _HELD)
        self._of_class[c] = bytes(report)

    def start(self):
        """Show the keyboard to the PC, which takes the board for unplugged and plugged in again.

        Waits until the PC has found it: what is printed then comes to whoever opens the port anew.
        """
        usb = self._usb
        port = usb.BUILTIN_DEFAULT
        self._number = port.itf_max
        self._endpoint = 0x80 | port.ep_max
        whole = bytearray(port.desc_cfg) + _interface(port.itf_max, port.ep_max)
        whole[2], whole[3] = len(whole) & 255, len(whole) >> 8
        whole[4] = port.itf_max + 1
        self._is_asked = bool(usb.active())  # with a configuration before this one
        if not self._is_asked:
            usb.builtin_driver = port
        called = self._opened, self._lost, self._answer, self._sent
        self._kept = whole, called  # which MicroPython keeps: so they count as the program's
        usb.config(port.desc_dev, whole, None, *called)
        usb.active(True)
        began = self._milliseconds()
        while usb.active() and not self._is_asked:
            if (self._milliseconds() - began) & _TICKS >= _COMES:
                break

    def show(self, c):
        """Have the keys of class c down, and no others."""
        if c != self._wanted:
            self._wanted = c
            self._send()

    def silence(self):
        """Let go of all keys."""
        self.show(len(self._of_class) - 1)
        began = self._milliseconds()
        while self._is_asked and (self._is_sending or self._down != self._wanted):
            if (self._milliseconds() - began) & _TICKS >= _GOES:
                break

    def _send(self):
        if self._is_asked and not self._is_sending and self._down != self._wanted:
            self._is_sending = True
            self._down = self._wanted
            if not self._usb.submit_xfer(self._endpoint, self._of_class[self._down]):
                self._lost()

    # What MicroPython calls

    def _opened(self, _):
        self._is_asked = True
        self._send()

    def _lost(self):
        """The PC starts anew, or the cable is out: no key is down there."""
        self._is_asked = self._is_sending = False
        self._down = len(self._of_class) - 1

    def _sent(self, _, __, ___):
        self._is_sending = False
        self._send()

    def _answer(self, stage, request):
        """Answer a request to the keyboard: what to send, True for nothing, False to refuse it."""
        if stage != _SETUP:
            return True
        kind, what = request[0], request[1]
        if request[4] != self._number:
            return False
        if kind == 0x81 and what == 6:  # standard: a description
            return _DESCRIPTION if request[3] == _REPORT else False
        if kind == 0xA1 and what == 1:  # of keyboards: the present report
            return self._of_class[self._down]
        # Send only what is new, and as a simple keyboard or not, which here is the same
        return kind == 0x21 and (what == 10 or what == 11)
