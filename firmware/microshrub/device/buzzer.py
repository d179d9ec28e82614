"""A passive buzzer that sounds a different tone for each class, by machine.PWM.

config.json's `switches` has it as [pin, hertz], 20..20000 hertz. It is silent while the newest
prediction is a class without a tone, and after the program has ended, for whatever reason.
"""

from micropython import const

_HALF = const(32768)  # of 65536: high and low for equal times, which is loudest
_FIRST = const(440)  # hertz, never heard: without it, some ports would sound their default
_SILENT = (0,)


class Buzzer:
    """A buzzer and its tone for each class."""

    def __init__(self, board, pin, classes):
        pin = board.of_machine("Pin")(pin)
        self._pwm = board.of_machine("PWM")(pin, freq=_FIRST, duty_u16=0)
        self._sounds = 0  # the present tone in hertz; 0: silent
        self.of_class = [_SILENT] * (classes + 1)  # the last entry is for no class

    def show(self, c):
        self._sound(self.of_class[c][0])

    def _sound(self, hertz):
        if hertz != self._sounds:
            self._sounds = hertz
            if hertz:
                self._pwm.freq(hertz)
            self._pwm.duty_u16(_HALF if hertz else 0)

    def silence(self):
        """Fall silent."""
        self._sound(0)
