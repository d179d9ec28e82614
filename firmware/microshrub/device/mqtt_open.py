"""How a line to a broker is opened: imported for it, and given back.

A host that is given by its name is looked up, which waits for the router; TLS greets when the line
has opened, which waits for the broker. A certificate has dates: where nobody has set the clock
since the board was switched on, the network is asked for the time before that.
"""

import errno
import select
import socket

from micropython import const

_SET = const(2024)  # a year from which on the clock has been set

_REFUSALS = (  # of a CONNACK, from 1 on
    "the broker speaks another version of MQTT",
    "the broker refuses the board's name",
    "the broker is not ready",
    "the broker refuses the user or the password",  # 4, and so does 5, which mosquitto answers
)


class Opening:
    """A line to a host's port that opens; ca: None, or the file of a certificate, for TLS."""

    def __init__(self, host, port, ca):
        self._host = host
        self._port = port
        self._ca = ca
        self.socket = self._poll = None

    def find(self, address):
        """Begin, at an address that was found before, if there is one; returns the address."""
        address = address or self._look_up()
        self.socket = socket.socket(address[0])
        self.socket.setblocking(False)
        try:
            self.socket.connect(address[-1])
        except OSError as error:
            if error.args[0] not in (errno.EINPROGRESS, errno.EALREADY, errno.EAGAIN):
                raise self._nobody() from None
        self._poll = select.poll()
        self._poll.register(self.socket, select.POLLOUT)
        return address

    def _look_up(self):
        try:
            return socket.getaddrinfo(self._host, self._port, 0, socket.SOCK_STREAM)[0]
        except (OSError, IndexError):
            raise OSError("the network knows no host called %s" % self._host) from None

    def _nobody(self):
        return OSError("no broker answers at %s:%d" % (self._host, self._port))

    def is_done(self):
        """Whether the line, `socket`, is open. Raises OSError or ValueError if it cannot be."""
        for _, flags in self._poll.ipoll(0):  # type: ignore[union-attr]
            if flags & (select.POLLERR | select.POLLHUP):
                raise self._nobody()
            if self._ca:
                self._secure()
            return True
        return False

    def _secure(self):
        """Speak TLS from now on."""
        import tls

        _set_clock()
        context = tls.SSLContext(tls.PROTOCOL_TLS_CLIENT)
        with open(self._ca, "rb") as file:
            context.load_verify_locations(file.read())
        self.socket = context.wrap_socket(
            self.socket, server_hostname=self._host, do_handshake_on_connect=False
        )


def _set_clock():
    """Ask the network for the time, if the clock is not set; waits for a second at most."""
    import time

    if time.gmtime()[0] >= _SET:
        return
    try:
        import ntptime

        ntptime.settime()
    except (ImportError, OSError):  # TLS says what is wrong with the certificate's dates
        pass


def refusal(code):
    """What a broker says with the code of a CONNACK, in words."""
    return _REFUSALS[min(code, len(_REFUSALS)) - 1]
