"""Opens the connection to a broker; unloaded once it is open.

Looking up a host's name waits for the router, and the TLS handshake, once the connection is open,
waits for the broker. A certificate has dates, so if the clock was not set since the board was
switched on, the time is read from the network first.
"""

import errno
import select
import socket

from micropython import const

_SET = const(2024)  # a year from which on the clock has been set

_REFUSALS = (  # for the return codes of CONNACK, from 1 on
    "the broker speaks another version of MQTT",
    "the broker refuses the board's name",
    "the broker is not ready",
    "the broker refuses the user or the password",  # 4, and so does 5, which mosquitto answers
)


class MqttConnect:
    """Opens a connection to a host's port; ca: the file of a TLS certificate, or None."""

    def __init__(self, host, port, ca):
        self._host = host
        self._port = port
        self._ca = ca
        self.socket = self._poll = None

    def find(self, address):
        """Begin to connect, to a known address if there is one; returns the address."""
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
        """Return whether `socket` is connected. Raises OSError or ValueError if that fails."""
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
    """Set the clock from the network, if it is not set; waits for a second at most."""
    import time

    if time.gmtime()[0] >= _SET:
        return
    try:
        import ntptime

        ntptime.settime()
    except (ImportError, OSError):  # TLS reports it if the certificate's dates are wrong then
        pass


def refusal(code):
    """Return the message for a return code of CONNACK."""
    return _REFUSALS[min(code, len(_REFUSALS)) - 1]
