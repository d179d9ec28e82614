"""Texts of errors that a program has in a file beside it, and not in RAM: see `build`."""


def error_text(at, values=0):
    """The text at that byte of errors.txt, which takes so many values behind %.

    Where it cannot be read, the number has to do.
    """
    try:
        with open(__file__[:-12] + "errors.txt") as file:  # this is in __init__.mpy
            file.seek(at)
            return file.readline()[:-1]
    except (OSError, MemoryError):
        return "error %d of errors.txt" % at + " %r" * values
