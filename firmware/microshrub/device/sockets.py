"""What is done with sockets that never wait; all of it allocates nothing."""

import micropython


@micropython.viper
def copy(target, at: int, source, start: int, n: int):
    """Copy n bytes, from the first one on."""
    out = ptr8(target)
    data = ptr8(source)
    for k in range(n):
        out[at + k] = data[start + k]


def send(socket, data, at, end):
    """Write what the socket takes of data[at : end]; returns where the rest begins."""
    while at < end:
        n = socket.write(data, at, end - at)
        if not n:
            break
        at += n
    return at


def close(socket):
    """Close it, if there is one."""
    if socket:
        try:  # noqa: SIM105  (MicroPython has no contextlib)
            socket.close()
        except OSError:  # it is closed
            pass
