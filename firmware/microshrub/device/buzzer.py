"""A passive buzzer that sounds a tone of its own for each class, by machine.PWM.

config.json's `switches` names it as [pin, hertz] of 20..20000. While a class without a tone is the
newest prediction, it is silent; so it is when the program has ended, for whatever reason.
"""

from micropython import const

_HALF = const(32768)  # of 65536: as long high as low, which is loudest
_FIRST = const(440)  # hertz, never heard: some ports would sound one of their own
_SILENT = (0,)


class Buzzer:
    """A buzzer and its tone for each class."""

    def __init__(self, board, pin, classes):
        pin = board.of_machine("Pin")(pin)
        self._pwm = board.of_machine("PWM")(pin, freq=_FIRST, duty_u16=0)
        self._sounds = 0  # hertz; 0: it is silent
        self.of_class = [_SILENT] * classes

    def show(self, c):
        self._sound(self.of_class[c][0])

    def _sound(self, hertz):
        if hertz != self._sounds:
            self._sounds = hertz
            if hertz:
                self._pwm.freq(hertz)
            self._pwm.duty_u16(_HALF if hertz else 0)

    def silent_after(self, service):
        """Have it fall silent when serving ends."""
        serve = service.serve

        def serve_then_silence():
            try:
                return serve()
            finally:
                self._sound(0)

        service.serve = serve_then_silence
